/*
 * tests/unit/trace/table_move_test.c - rows of tables of counters that are given back: what has ended is
 * moved, while threads update, take and read rows; totals stay exact, and readers know what they do not see
 * at once.
 */
#include "trace/events.h" /* generated */
#include <pthread.h>
#include <sched.h>
#include <tests/tap.h>
#include <trace/event/lock_tables.h>
#include <trace/ring/table_move.h>
#include <trace/ring/table_read.h>
#include <trace/tables.h>

#define CLASS 5u

struct trace_info test_info; /* of the port */

static uint64_t memory[TRACE_TABLES_BYTES / 8]; /* the tables */
static const struct trace_table_info *const classes = &trace_table_list[TRACE_TABLE_LOCK_CLASSES];
static const struct trace_table_info *const locks = &trace_table_list[TRACE_TABLE_LOCKS];
static const struct trace_table_info *const sites = &trace_table_list[TRACE_TABLE_LOCK_SITES];

static char *ring(void)
{
    return (char *)((uintptr_t)memory - TRACE_TABLES_OFFSET);
}

static void setup(void)
{
    memset(memory, 0, sizeof(memory));
    test_info.table_bytes = TRACE_TABLES_BYTES;
}

static struct trace_table_walk walk_of(const struct trace_table_info *table)
{
    return (struct trace_table_walk){.table = table, .ring = ring()};
}

/* Updates the row of a lock, or, if there is none, that of its class, as programs do. */
static void update(uint64_t lock, uint32_t pid, uint64_t value)
{
    const struct lock_row row = lock_row_of(ring(), (struct lock_key){lock, CLASS, pid});
    trace_row_begin(row.begun, TRACE_ROW_OF_MANY);
    trace_row_add(&row.columns->sampled, 1, TRACE_ROW_OF_MANY);
    trace_row_add(&row.columns->acquisitions, 3, TRACE_ROW_OF_MANY);
    trace_row_add(&row.columns->wait, value, TRACE_ROW_OF_MANY);
    trace_row_raise(&row.columns->wait_longest, value, TRACE_ROW_OF_MANY);
    trace_row_bucket(row.columns->wait_times, value, TRACE_ROW_OF_MANY);
    trace_row_end(&row.columns->ended, TRACE_ROW_OF_MANY);
}

/* The sum of its rows: two writers that take one at once, while others are freed, may get two. */
static struct trace_locks_row find_lock(uint64_t lock, uint32_t pid)
{
    struct trace_locks_row row, sum = {0};
    struct trace_table_walk walk = walk_of(locks);
    while (trace_table_next(&walk, (uint64_t *)&row))
        if (row.lock == lock && row.pid == pid)
            trace_table_add_row(locks, (uint64_t *)&sum, (const uint64_t *)&row);
    return sum;
}

/* The sum of the rows of the class, of both tables. */
static struct trace_lock_classes_row read_class(struct trace_table_walk *walk)
{
    struct trace_lock_classes_row sum = {0};
    uint64_t row[TRACE_TABLE_ROW_WORDS_MAX];
    *walk = walk_of(classes);
    while (trace_table_next(walk, row))
        if (row[TRACE_ROW_KEYS] == CLASS)
            trace_table_add_row(classes, (uint64_t *)&sum, row);
    return sum;
}

/* ---- one at a time ---------------------------------------------------------------------------------- */

static uint32_t first_alive; /* processes and threads below have ended */

static bool is_below(const struct trace_table_info *table, const uint64_t *keys)
{
    for (unsigned k = 0; k < table->key_count; k++) {
        const unsigned owner = table->columns[k].owner;
        if (owner == TRACE_OWNER_PROCESS && keys[k] &&
            keys[k] < __atomic_load_n(&first_alive, __ATOMIC_ACQUIRE))
            return true;
    }
    return false;
}

static struct trace_table_mover mover = {.has_ended = is_below};

static uint32_t move(const struct trace_table_info *table)
{
    mover.ring = ring();
    mover.into = table == locks ? classes : NULL;
    return trace_table_move(&mover, table);
}

static uint64_t word_of(const struct trace_table_info *table, unsigned word)
{
    return trace_table_head_word(table, ring(), word);
}

static void test_locks(void)
{
    struct trace_table_walk walk;
    setup();
    for (uint32_t pid = 1; pid <= 200; pid++)
        update(64 * pid, pid, pid);
    update(64, 0, 1000); /* the kernel's */
    trace_row_begin(&trace_locks_row(ring(), 64 * 7, CLASS, 7)->begun,
                    TRACE_ROW_OF_MANY); /* its thread is killed */
    first_alive = 151;
    check(move(locks) == 150 && word_of(locks, TRACE_TABLE_USED) == 51 &&
              word_of(locks, TRACE_TABLE_MOVED) == 150,
          "rows of processes that have ended are free, and counted");
    check(!find_lock(64 * 150, 150).begun && find_lock(64 * 151, 151).wait == 151 &&
              find_lock(64, 0).wait == 1000,
          "those of others, and of the kernel, are not");
    const struct trace_lock_classes_row row = read_class(&walk);
    check(row.sampled == 201 && row.acquisitions == 603 && row.wait == 200 * 201 / 2 + 1000 &&
              row.wait_longest == 1000 && row.wait_times[7] == 73 && row.ended == 201 && row.begun == 202,
          "the class has all of them, with the update that a killed thread did not end");
    check(memory[(classes->offset + TRACE_TABLE_HEAD_WORDS * 8) / 8 + CLASS * classes->row_words] == 151,
          "in its own row what the ended ones had");
    check(move(locks) == 0 && word_of(locks, TRACE_TABLE_MOVED) == 150, "they are moved once");
}

static void test_of_ended(void)
{
    setup();
    for (uint32_t i = 1; i <= 80; i++) {
        struct trace_lock_sites_row *site = trace_lock_sites_row(ring(), 0x1000 * i, CLASS, i, i & 1);
        trace_row_begin(&site->begun, TRACE_ROW_OF_MANY);
        trace_row_add(&site->ticks, i, TRACE_ROW_OF_MANY),
            trace_row_raise(&site->longest, i, TRACE_ROW_OF_MANY);
        trace_row_end(&site->ended, TRACE_ROW_OF_MANY);
    }
    first_alive = 41;
    check(move(sites) == 40 && word_of(sites, TRACE_TABLE_USED) == 42,
          "two rows have places of processes that ended");
    struct trace_lock_sites_row row;
    struct trace_table_walk walk = walk_of(sites);
    uint64_t ticks[2] = {0}, sum = 0;
    for (; trace_table_next(&walk, (uint64_t *)&row); sum += row.ticks)
        if (row.site == TRACE_KEY_ENDED && row.pid == TRACE_KEY_ENDED && row.lock_class == CLASS &&
            row.what < 2 && row.longest == 39 + !row.what && row.ended == 20)
            ticks[row.what] += row.ticks;
    check(ticks[0] == 420 && ticks[1] == 400 && sum == 80 * 81 / 2 && !walk.damaged &&
              !trace_table_moves(&walk),
          "one for waits and one for holds: their other keys say so");
    check(move(sites) == 0, "rows of the ended stay");
    first_alive = 1000;
    check(move(sites) == 40 && word_of(sites, TRACE_TABLE_USED) == 2, "later ones are added to them");
}

/* Far more than there is space for, one after another. */
static void test_newest(void)
{
    static struct trace_places places;
    struct trace_table_walk walk;
    uint64_t sum = 0, missing = 0;
    setup();
    for (uint32_t pid = 1; pid <= 20000; pid++) {
        first_alive = pid;
        if (word_of(locks, TRACE_TABLE_USED) >= locks->rows / 2)
            move(locks);
        for (unsigned i = 0; i < 5; i++, sum += pid) {
            update(0x1000 + 64 * i, pid, pid);
            missing += !trace_locks_row_again(ring(), 0x1000 + 64 * i, CLASS, pid, &places);
        }
    }
    const struct trace_lock_classes_row row = read_class(&walk);
    check(missing < 100 && word_of(locks, TRACE_TABLE_NO_SPACE) == 2 * missing,
          "20000 processes have a row for nearly each lock: others may be in all that one could be in");
    check(row.wait == sum && row.sampled == 100000 && row.ended == 100000 && row.begun == 100000,
          "and the class has each of their updates");
}

/* A program that found no row must find one when there is one again. */
static void test_full(void)
{
    static struct trace_places places;
    unsigned refused = 0, found = 0;
    setup();
    first_alive = 0;
    trace_locks_row_again(ring(), 64, CLASS, 1, &places);
    for (uint32_t pid = 1; pid <= 4096; pid++)
        update(64, pid, 1);
    for (unsigned i = 0; i < 2; i++)
        refused += !trace_locks_row_again(ring(), 64, CLASS, 99999, &places);
    check(trace_locks_row_again(ring(), 64, CLASS, 1, &places) && refused == 2,
          "in a full table there is no row");
    refused = !trace_locks_row_again(ring(), 64, CLASS, 99999, &places); /* is remembered */
    first_alive = 3;
    move(locks);
    found = trace_locks_row_again(ring(), 64, CLASS, 99999, &places) != NULL;
    check(refused && found, "until one is free, also for a program that remembers that it has none");
}

/* What a reader finds that looks in the middle of a move. */
static void test_half_moved(void)
{
    struct trace_table_walk walk = walk_of(locks);
    uint64_t copy[TRACE_TABLE_ROW_WORDS_MAX];
    setup();
    update(64, 7, 10);
    struct trace_locks_row *row = trace_locks_row(ring(), 64, CLASS, 7);
    const uint32_t place = (uint32_t)(row->tag % locks->rows);
    row->lock = row->pid = row->begun = 0; /* half of it is free */
    check(trace_table_read_row(locks, ring(), place, copy) == TRACE_ROW_DAMAGED,
          "a row without its keys is damaged");
    memory[TRACE_TABLE_MOVES_BEGUN] = 1;
    check(trace_table_read_row(locks, ring(), place, copy) == TRACE_ROW_FREE &&
              !trace_table_next(&walk, copy) && !walk.damaged && trace_table_moves(&walk) == 1,
          "but not while rows are moved: then it is elsewhere, and the reader knows that it may have missed "
          "it");
    memory[TRACE_TABLE_MOVES_BEGUN] = 1000000;
    check(trace_table_read_row(locks, ring(), place, copy) == TRACE_ROW_DAMAGED,
          "counts of moves that are damaged themselves excuse nothing");
}

/* ---- threads ---------------------------------------------------------------------------------------- */

#define WRITERS   3u
#define LIVES     5000u /* processes, one after another, of each writer */
#define LIFE      20u   /* updates of each */
#define FIRST_PID 1u
#define SHARED    0x9000u /* a lock of the kernel, of all writers */

static uint8_t ended[FIRST_PID + WRITERS * LIVES];
static unsigned running;

static bool is_marked(const struct trace_table_info *table, const uint64_t *keys)
{
    (void)table;
    return keys[2] && keys[2] < sizeof(ended) && __atomic_load_n(&ended[keys[2]], __ATOMIC_ACQUIRE);
}

static void *live(void *argument)
{
    const uint32_t first = FIRST_PID + (uint32_t)(uintptr_t)argument * LIVES;
    for (uint32_t pid = first; pid < first + LIVES; pid++) {
        for (unsigned i = 0; i < LIFE; i++)
            update(64 * (i % 4), pid, i), update(SHARED, 0, i);
        __atomic_store_n(&ended[pid], 1, __ATOMIC_RELEASE);
        if (pid % 16 == 0)
            do /* a busy host may not run the mover for long */
                sched_yield();
            while (word_of(locks, TRACE_TABLE_USED) >= TRACE_TABLE_ROWS_USED(locks->rows));
    }
    __atomic_fetch_sub(&running, 1, __ATOMIC_RELEASE);
    return NULL;
}

static void *keep_moving(void *unused)
{
    mover = (struct trace_table_mover){.ring = ring(), .into = classes, .has_ended = is_marked};
    while (__atomic_load_n(&running, __ATOMIC_ACQUIRE)) {
        if (word_of(locks, TRACE_TABLE_USED) >= locks->rows / 2)
            trace_table_move(&mover, locks);
        sched_yield();
    }
    return unused;
}

static bool is_of_one_moment(const uint64_t *acquisitions, uint64_t sampled, const uint64_t *times)
{
    uint64_t in_buckets = 0;
    for (unsigned b = 0; b < TRACE_TABLE_BUCKETS; b++)
        in_buckets += times[b];
    return *acquisitions == 3 * sampled && in_buckets == sampled;
}

static void test_threads(void)
{
    pthread_t threads[WRITERS], moving;
    uint64_t whole = 0, wrong = 0, damaged = 0, settled = 0, less = 0, last = 0;
    struct trace_locks_row row;
    struct trace_table_walk walk;
    setup();
    running = WRITERS;
    for (uintptr_t i = 0; i < WRITERS; i++)
        pthread_create(&threads[i], NULL, live, (void *)i);
    pthread_create(&moving, NULL, keep_moving, NULL);
    while (__atomic_load_n(&running, __ATOMIC_ACQUIRE)) {
        for (uint32_t i = 0; i < locks->rows; i++) {
            const enum trace_row_state state = trace_table_read_row(locks, ring(), i, (uint64_t *)&row);
            damaged += state == TRACE_ROW_DAMAGED;
            whole += state == TRACE_ROW_WHOLE;
            wrong += state == TRACE_ROW_WHOLE &&
                     (!is_of_one_moment(&row.acquisitions, row.sampled, row.wait_times) ||
                      (row.pid && row.sampled > LIFE));
        }
        const struct trace_lock_classes_row class_row = read_class(&walk);
        if (trace_table_moves(&walk))
            continue;
        settled++;
        less += class_row.ended < last;
        last = class_row.ended;
    }
    for (unsigned i = 0; i < WRITERS; i++)
        pthread_join(threads[i], NULL);
    pthread_join(moving, NULL);
    check(whole > 0 && wrong == 0 && damaged == 0,
          "rows that are read while others are moved and taken are of one moment");
    printf("# %lu sums without a move meanwhile, %lu of them less than before; %lu rows moved\n", settled,
           less, word_of(locks, TRACE_TABLE_MOVED));
    check(settled > 0 && less == 0, "sums never become less, unless the reader knows that rows were moved");
    const struct trace_lock_classes_row class_row = read_class(&walk);
    const uint64_t all = (uint64_t)WRITERS * LIVES * LIFE;
    printf("# %lu updates of %lu, %lu of the shared lock; damaged %u, moved %lu\n", class_row.ended, 2 * all,
           find_lock(SHARED, 0).sampled, (unsigned)walk.damaged, word_of(locks, TRACE_TABLE_MOVED));
    check(class_row.ended == 2 * all && class_row.begun == 2 * all && class_row.sampled == 2 * all &&
              find_lock(SHARED, 0).sampled == all && !walk.damaged &&
              word_of(locks, TRACE_TABLE_MOVED) > locks->rows,
          "no update of any thread is lost, or counted twice");
}

/* ---- hostile programs ------------------------------------------------------------------------------- */

static bool all_have(const struct trace_table_info *table, const uint64_t *keys)
{
    (void)table, (void)keys;
    return true;
}

static void test_garbage(void)
{
    unsigned seed = 1, sound = 0;
    for (unsigned round = 0; round < 30; round++) {
        setup();
        for (uint32_t pid = 1; pid < 200; pid++)
            update(64, pid, pid);
        for (unsigned i = 0; i < TRACE_TABLES_BYTES / 8; i += 1 + (unsigned)rand_r(&seed) % (1 + round * 4))
            memory[i] = round == 0 ? ~0ull : (uint64_t)rand_r(&seed) << (rand_r(&seed) % 64);
        mover = (struct trace_table_mover){.ring = ring(), .has_ended = all_have};
        for (const struct trace_table_info *table = trace_table_list; table->name; table++) {
            mover.into = table == locks ? classes : NULL;
            if (table->is_hashed)
                trace_table_move(&mover, table);
        }
        const uint64_t *at = memory;
        sound += at[TRACE_TABLE_MOVES_BEGUN] == mover.moves && at[classes->moves_ended / 8] == mover.moves;
    }
    check(sound > 0, "garbage in all tables leads nowhere, and the counts of moves are right afterwards");
}

int main(void)
{
    test_locks();
    test_of_ended();
    test_newest();
    test_full();
    test_half_moved();
    test_threads();
    test_garbage();
    return finish_tests();
}
