/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * costs.c - work between stopwatches, for tests/host/costs: what logging adds to its time.
 *
 * Stopwatch CALLS is around system calls that do nothing, FAULTS around first touches of pages, and FILES
 * around requests to fs, whose server logs events, too.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include <tarn/runtime.h>
#include <trace/user.h>

enum { CALLS = 1, FAULTS = 2, FILES = 3 };
#define REPEATS 20
#define TIMES   50
#define PAGE    4096

static void make_calls(void)
{
    for (int i = 0; i < TIMES; i++)
        sys_null();
}

static void touch_pages(volatile char *pages)
{
    for (int i = 0; i < TIMES; i++)
        pages[i * PAGE] = 1;
}

static void write_file(int file)
{
    for (int i = 0; i < TIMES; i++)
        write(file, "text", 4);
}

int main(void)
{
    int file = open("/tmp/costs", O_CREAT | O_WRONLY, 0666);
    char *pages =
        mmap(NULL, REPEATS * TIMES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (file < 0 || pages == MAP_FAILED)
        return 1;
    for (int round = 0; round < REPEATS; round++) {
        trace_user_stopwatch_start(CALLS);
        make_calls();
        trace_user_stopwatch_stop(CALLS, 0);
        trace_user_stopwatch_start(FAULTS);
        touch_pages(pages + round * TIMES * PAGE);
        trace_user_stopwatch_stop(FAULTS, 0);
        trace_user_stopwatch_start(FILES);
        write_file(file);
        trace_user_stopwatch_stop(FILES, 0);
    }
    puts("costs: done");
    return 0;
}
