/*
 * routines_memory.c - tables take a bounded amount of memory, which counts as that of their process: a
 * program with many threads and many routines cannot use up memory, and when memory runs out, that program
 * ends, not another one.
 *
 *     routines_memory hostile    makes as many rows as it can, and stays
 *     routines_memory PAGES      writes to that many pages, and ends
 *
 * Booted with `trace.routines=on` and little memory.
 */
#define THREADS 400u
#include "leak.h"
#include "routine_tables.h"
#include "run.h"
#include "threads.h"

#include <sys/mman.h>

#define ROWS       100u /* for each: more than fit */
/* Page frames: two for each thread, one of them of its program, and ROUTINES_MORE_FRAMES_MAX
 * (routine_rows.h).
 */
#define LIMIT      1824u
#define SLACK      64u  /* page frames that others may use meanwhile */
#define SMALL_PART 64u  /* of memory: the reserve, and what counts as little (scarce.c) */
#define FREE_MORE  700u /* page frames that are left besides; the file server leaves more */
#define TOO_MANY   100u /* pages: the modest program uses more than are left */
#define PIECE      (64u << 10)
#define MS         1000000ull

static pthread_barrier_t together; /* before the rows are made, after it, and before the ends */

static void *make_rows(void *unused)
{
    volatile uint64_t *context =
        (volatile uint64_t *)sys_routines_map(1); /* struct trace_program begins with it */
    pthread_barrier_wait(&together);
    for (uint64_t i = 1; i <= ROWS && (int64_t)context > 0; i++) {
        *context = i;
        sys_null();
    }
    *context = 0;
    pthread_barrier_wait(&together);
    pthread_barrier_wait(&together);
    return unused;
}

static pthread_t threads[THREADS];

static void begin_threads(void)
{
    pthread_barrier_init(&together, NULL, THREADS + 1);
    start_threads(threads, THREADS, make_rows);
}

/* Rows of all threads of this process; `right`: times add up to lives. */
static uint64_t count_rows(bool *right)
{
    uint64_t rows = 0;
    *right = true;
    for (table.serial = 0; next(TARNPROF_OWN); rows += table.head->rows)
        *right &= adds_up();
    tarnprof_free(&table);
    return rows;
}

static void test_limit(void)
{
    bool right;
    begin_threads();
    const struct system_stats before = quiet_stats();
    pthread_barrier_wait(&together);
    pthread_barrier_wait(&together);
    const struct system_stats during = quiet_stats();
    const uint64_t used = before.frames_free - during.frames_free, rows = count_rows(&right);
    check(used > LIMIT / 2 && used <= LIMIT + SLACK, "tables of a process take at most %u page frames: %lu",
          LIMIT, used);
    check(rows > THREADS * 5u && rows < THREADS * ROWS, "so not all rows are there: %lu", rows);
    check(right, "but times add up");
    pthread_barrier_wait(&together);
    join_threads(threads, THREADS);
    const struct system_stats after = quiet_stats();
    check(after.frames_free + SLACK >= before.frames_free, "at the threads' ends their frames are free");
    count_rows(&right);
    check(right, "and times add up");
}

/* ---- when memory runs out ---------------------------------------------------------------------------- */

static int stay_hostile(void)
{
    begin_threads();
    pthread_barrier_wait(&together);
    pthread_barrier_wait(&together);
    close(open("/tmp/ready", O_CREAT | O_WRONLY, 0666));
    sys_thread_sleep(TARN_FOREVER);
    return 0;
}

static int be_modest(unsigned count)
{
    volatile char *pages = memory_map_anonymous(count * TARN_PAGE_SIZE);
    for (unsigned i = 0; i < count; i++)
        pages[i * TARN_PAGE_SIZE] = 1;
    return 0;
}

/* A server holds it, which never ends. */
static void fill_memory(void)
{
    static char bytes[PIECE];
    int fd = open("/tmp/large", O_CREAT | O_WRONLY, 0666);
    memset(bytes, 1, sizeof bytes);
    for (;;) {
        const struct system_stats stats = read_stats();
        if (stats.frames_free < stats.frames_total / SMALL_PART + FREE_MORE ||
            write(fd, bytes, sizeof bytes) != (ssize_t)sizeof bytes)
            break;
    }
    close(fd);
}

static void test_choice(void)
{
    int hostile_status = 0;
    const struct system_stats before = quiet_stats();
    const pid_t hostile = start_program("/test/routines_memory", "hostile");
    for (int i = 0; i < 2000 && access("/tmp/ready", F_OK) != 0; i++)
        sys_thread_sleep(deadline_after(10 * MS));
    const uint64_t held = before.frames_free - read_stats().frames_free;
    fill_memory();
    const struct system_stats left = read_stats();
    const uint64_t pages = left.frames_free - left.frames_total / SMALL_PART + TOO_MANY;
    char argument[16];
    snprintf(argument, sizeof argument, "%llu", (unsigned long long)pages);
    check(pages > LIMIT / 3 && pages < held,
          "there is memory for less than the hostile program has: %lu, %lu", pages, held);
    check(run_program("/test/routines_memory", argument) == 0,
          "memory runs out, and a modest program goes on");
    pid_t ended = 0; /* its end becomes known a little later than its memory is free */
    for (int i = 0; i < 500 && !(ended = waitpid(hostile, &hostile_status, WNOHANG)); i++)
        sys_thread_sleep(deadline_after(10 * MS));
    check(ended == hostile && WIFSIGNALED(hostile_status) && WTERMSIG(hostile_status) == SIGKILL,
          "the one that ends is that whose tables hold memory");
    kill(hostile, SIGTERM);
    unlink("/tmp/large");
    const struct system_stats after = quiet_stats();
    check(after.frames_free + held / 2 >= before.frames_free, "which is free then");
}

int main(int argc, char *argv[])
{
    if (argc > 1)
        return strcmp(argv[1], "hostile") ? be_modest((unsigned)atoi(argv[1])) : stay_hostile();
    test_limit();
    test_choice();
    return finish_tests();
}
