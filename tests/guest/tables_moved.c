/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tables_moved.c - far more programs and locks than tables have rows, one after another: the newest have
 * rows, and totals are exact.
 *
 * It starts itself many times, as `tables_moved child`. Such a child takes each of its locks a known number
 * of times, and exits with the number of its rows that it does not find.
 */
#include <pthread.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tests/guest/tables.h>
#include <tests/guest/trace_help.h>
#include <trace/event/lock_tables.h>
#include <trace/events.h>

#define CHILDREN 420u
#define LOCKS    4u /* of a child; of a class that nothing else uses */
#define TIMES    5u
#define ROUNDS   40u /* servers, one after another */
#define CALLERS  4u
#define CALLS    20u /* of each */
#define READ_MAX 100u

/* ---- tables ---------------------------------------------------------------------------------------- */

union row {
    uint64_t words[TRACE_TABLE_ROW_WORDS_MAX];
    struct trace_lock_classes_row of_class;
    struct trace_locks_row lock;
    struct trace_lock_sites_row site;
};

/* Adds what `value` returns for each row of a table. Again, if rows were moved meanwhile. */
static uint64_t add_rows(const char *name, uint64_t (*value)(const union row *row))
{
    static struct trace_table_walk walk;
    uint64_t sum = 0;
    for (unsigned i = 0; i < READ_MAX; i++) {
        sum = 0;
        walk = walk_table(name);
        for (union row row; trace_table_next(&walk, row.words);)
            sum += value(&row);
        if (!trace_table_moves(&walk) && !walk.damaged)
            return sum;
    }
    printf("Bail out! rows of %s are always moved\n", name);
    exit(2);
}

static uint64_t head_of(const char *name, unsigned word)
{
    const struct trace_table_walk walk = walk_table(name);
    return trace_table_head_sum(&walk, word);
}

/* ---- a child --------------------------------------------------------------------------------------- */

static pthread_rwlock_t shelves[LOCKS];

static uint64_t is_own_shelf(const union row *row)
{
    return row->lock.pid == process_id() && row->lock.lock_class == TARN_LOCK_READ &&
           row->lock.sampled == TIMES;
}

static int be_child(void)
{
    for (unsigned i = 0; i < LOCKS; i++)
        pthread_rwlock_init(&shelves[i], NULL);
    for (unsigned i = 0; i < LOCKS * TIMES; i++) {
        pthread_rwlock_rdlock(&shelves[i % LOCKS]);
        pthread_rwlock_unlock(&shelves[i % LOCKS]);
    }
    return (int)(LOCKS - add_rows("locks", is_own_shelf));
}

/* ---- programs -------------------------------------------------------------------------------------- */

static uint64_t acquisitions(const union row *row)
{
    return row->of_class.lock_class == TARN_LOCK_READ ? row->of_class.acquisitions : 0;
}

static uint64_t buckets(const union row *row)
{
    uint64_t sum = 0;
    for (unsigned b = 0; b < TRACE_TABLE_BUCKETS && row->of_class.lock_class == TARN_LOCK_READ; b++)
        sum += row->of_class.hold_times[b];
    return sum;
}

static uint64_t held_times(const union row *row)
{
    return row->site.lock_class == TARN_LOCK_READ && row->site.what == LOCK_SITE_HELD ? row->site.times : 0;
}

/* Returns the child's exit status. */
static int run_child(const char *self)
{
    char *argv[] = {(char *)self, "child", NULL};
    pid_t pid;
    int status = -1;
    if (posix_spawn(&pid, self, NULL, NULL, argv, environ) || waitpid(pid, &status, 0) != pid ||
        !WIFEXITED(status))
        return 102;
    return WEXITSTATUS(status);
}

static void test_programs(const char *self)
{
    unsigned missing = 0, failed = 0, less = 0;
    uint64_t last = 0;
    process_set_affinity(1); /* and the children's: all rows are in the tables of one CPU */
    sample(TARN_LOCK_READ, 1);
    for (unsigned i = 0; i < CHILDREN; i++) {
        const int status = run_child(self);
        const uint64_t sum = add_rows("lock_classes", acquisitions);
        failed += status > (int)LOCKS;
        missing += (unsigned)status;
        less += sum != last + LOCKS * TIMES;
        last = sum;
    }
    sample(TARN_LOCK_READ, 0);
    printf("# %u rows of children missing; rows moved: %llu of locks, %llu of lock_sites\n", missing,
           (unsigned long long)head_of("locks", TRACE_TABLE_MOVED),
           (unsigned long long)head_of("lock_sites", TRACE_TABLE_MOVED));
    check(!failed, "all children ended by themselves");
    check(missing <= CHILDREN * LOCKS / 100, "99 of 100 of their locks had a row, also in the last child");
    check(head_of("locks", TRACE_TABLE_MOVED) > trace_table_named("locks")->rows &&
              head_of("lock_sites", TRACE_TABLE_MOVED) > 0,
          "because rows of children that had ended were given back");
    check(!less && last == CHILDREN * LOCKS * TIMES,
          "after each child the class has exactly its acquisitions");
    check(add_rows("lock_classes", buckets) == CHILDREN * LOCKS * TIMES,
          "and all hold times, by their length");
    const uint64_t lost = head_of("lock_sites", TRACE_TABLE_NO_SPACE);
    check(add_rows("lock_sites", held_times) + lost == CHILDREN * LOCKS * TIMES &&
              lost <= CHILDREN * LOCKS * TIMES / 100,
          "so have the places that held the locks, but for the hundredth that found no row, and is counted");
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return be_child();
    test_programs(argv[0]);
    return finish_tests();
}
