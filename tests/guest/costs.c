/*
 * costs.c - work between stopwatches, for tests/host/costs: what logging adds to its time.
 *
 * Stopwatch CALLS is around system calls that do nothing, FAULTS around first touches of pages, FILES around
 * requests to fs, whose server logs events, too, and OWN around events of the program's own.
 *
 *     costs         works
 *     costs only    only registers its events, so that `trace bench` knows them
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#define TRACE_DEFINE_SAMPLE
#include <app/sample.h>
#include <tarn/runtime.h>
#include <trace/user.h>

enum { CALLS = 1, FAULTS = 2, FILES = 3, OWN = 4 };
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

/* Call sites as those that `trace bench` measures: arguments are in registers. */
#define OWN_EVENT(name, call)                                                                               \
    static __attribute__((noinline, aligned(32))) void name(uint64_t a, uint64_t b, uint64_t c, uint64_t d, \
                                                            const char *text, const uint64_t *words)        \
    {                                                                                                       \
        call;                                                                                               \
    }
OWN_EVENT(log_numbers, trace_sample_numbers(a, b, c, d, a, b))
OWN_EVENT(log_named, trace_sample_named(text, b, text))
OWN_EVENT(log_list, trace_sample_list(8, words))

static void log_own(void)
{
    const uint64_t words[8] = {0};
    for (int i = 0; i < TIMES; i++) {
        log_numbers(1, ~1ull, 3, ~4ull, "fifteen letters", words);
        log_named(1, 2, 3, 4, "fifteen letters", words);
        log_list(1, 2, 3, 4, "fifteen letters", words);
        for (volatile int work = 0; work < 20; work++)
            ;
    }
}

int main(int argc, char **argv)
{
    if (trace_register_schema(&trace_schema_sample) < 0)
        return 1;
    if (argc > 1)
        return 0;
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
        trace_user_stopwatch_start(OWN);
        log_own();
        trace_user_stopwatch_stop(OWN, 0);
    }
    puts("costs: done");
    return 0;
}
