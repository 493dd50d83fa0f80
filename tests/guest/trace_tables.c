/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace_tables.c - tables of counters: each CPU has its own, every program can update and read them, threads
 * on all CPUs lose no update, and clearing or resizing the rings leaves them as they are.
 */
#include <pthread.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tests/guest/trace_help.h>
#include <trace/event/sizes.h>
#include <trace/events.h>
#include <trace/ring/table_read.h>
#include <trace/tables.h>

#define LOCK       0x7ab1e000ull /* keys that nothing else has */
#define LOCK_CLASS 40u
#define THREADS    4
#define ROUNDS     REPEATS(20000u)

static const struct trace_info *info;
static const struct trace_table_info *const locks = &trace_table_list[TRACE_TABLE_LOCKS];

static const char *ring_at(uint32_t cpu)
{
    return ring_of(cpu).ring;
}

static bool update(uint64_t lock, uint64_t value)
{
    struct trace_locks_row *row = trace_locks_row(arch_trace_ring(), lock, LOCK_CLASS, 1);
    if (!row)
        return false;
    trace_row_begin(&row->begun);
    trace_row_add(&row->sampled, 1);
    trace_row_add(&row->wait, value);
    trace_row_raise(&row->wait_longest, value);
    trace_row_bucket(row->wait_times, value);
    trace_row_end(&row->ended);
    return true;
}

/* The sum of a lock's rows. False: it has none. */
static bool read_sum(uint64_t lock, struct trace_locks_row *sum)
{
    static struct trace_table_walk walk;
    walk = (struct trace_table_walk){.table = locks, .ring_of = ring_at, .cpu_count = info->cpu_count};
    while (trace_table_next(&walk, (uint64_t *)sum))
        if (sum->lock == lock && sum->lock_class == LOCK_CLASS)
            return true;
    return false;
}

/* The CPU's own row. */
static bool find_on(uint32_t cpu, uint64_t lock, struct trace_locks_row *row)
{
    for (uint32_t i = 0; i < locks->rows; i++)
        if (trace_table_read_row(locks, ring_at(cpu), i, (uint64_t *)row) == TRACE_ROW_WHOLE &&
            row->lock == lock)
            return true;
    return false;
}

static void test_cpus(void)
{
    struct trace_locks_row row;
    uint32_t updated = 0, apart = 0;
    uint64_t wait = 0;
    check(info->table_bytes == TRACE_TABLES_BYTES, "the tables are mapped");
    check(!read_sum(LOCK, &row), "a row that nothing has updated is not there");
    for (uint32_t cpu = 0; cpu < info->cpu_count; cpu++) {
        move_to(cpu);
        updated += update(LOCK, 64 + cpu);
        wait += 64 + cpu;
    }
    for (uint32_t cpu = 0; cpu < info->cpu_count; cpu++)
        apart += find_on(cpu, LOCK, &row) && row.sampled == 1 && row.wait == 64 + cpu && row.pid == 1;
    check(updated == info->cpu_count && apart == updated, "each CPU has a row of its own");
    check(read_sum(LOCK, &row) && row.sampled == info->cpu_count && row.wait == wait &&
              row.wait_longest == 64 + info->cpu_count - 1 && row.wait_times[6] == info->cpu_count,
          "and they are added");
}

static void *update_often(void *unused)
{
    for (unsigned i = 0; i < ROUNDS; i++)
        update(LOCK + 1, i);
    return NULL;
}

static void test_threads(void)
{
    pthread_t threads[THREADS];
    struct trace_locks_row row;
    process_set_affinity(~0ull);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, update_often, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    check(read_sum(LOCK + 1, &row) && row.sampled == THREADS * (uint64_t)ROUNDS &&
              row.wait == THREADS * ((uint64_t)ROUNDS * (ROUNDS - 1) / 2) && row.wait_longest == ROUNDS - 1 &&
              trace_row_unfinished(locks, (uint64_t *)&row) == 0,
          "threads on all CPUs lose no update");
}

static void test_rings(void)
{
    struct trace_locks_row row;
    const uint64_t bytes = trace_buffer_bytes(info), count = info->buffer_count;
    check(control(TRACE_OP_CLEAR, 0, 0) == 0 && read_sum(LOCK, &row) && row.sampled == info->cpu_count,
          "clearing the rings leaves tables alone");
    check(trace_set_sizes(SLOT_TRACE, bytes / 2, count * 2) == 0 && read_sum(LOCK, &row) &&
              row.sampled == info->cpu_count,
          "so do other sizes of buffers");
    trace_set_sizes(SLOT_TRACE, bytes, count);
}

/* Of another process: this program again. */
static int run_child(char *path)
{
    char *argv[] = {path, "child", NULL};
    int status = -1;
    pid_t pid;
    return posix_spawn(&pid, path, NULL, NULL, argv, environ) || waitpid(pid, &status, 0) != pid ||
                   !WIFEXITED(status)
               ? -1
               : WEXITSTATUS(status);
}

static void test_processes(char *path)
{
    struct trace_locks_row row;
    check(run_child(path) == 0, "another process reads them");
    check(read_sum(LOCK, &row) && row.sampled == info->cpu_count + 1u, "and updates them");
}

static int be_child(void)
{
    struct trace_locks_row row;
    return read_sum(LOCK, &row) && row.sampled == info->cpu_count && update(LOCK, 1) ? 0 : 1;
}

int main(int argc, char **argv)
{
    info = arch_trace_info();
    if (argc > 1 && !strcmp(argv[1], "child"))
        return be_child();
    test_cpus();
    if (argc > 1 && !strcmp(argv[1], "update"))
        return finish_tests();
    test_threads();
    test_rings();
    test_processes(argv[0]);
    return finish_tests();
}
