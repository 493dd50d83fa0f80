/* SPDX-License-Identifier: BSD-2-Clause */
/* tools/tarn/answer/locks_tables.c - the tables of `tarn locks`; see locks.h. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <tools/tarn/answer/locks.h>
#include <tools/tarn/symbols/symbols.h>

/* clang-format off */
#define SUM_COLUMNS                                                                                  \
    COUNT_COLUMN("taken", "acquisitions"), COUNT_COLUMN("contended", "contentions"),                 \
    MEAN_COLUMN("%", "percent", 2), TIME_COLUMN("waited", "waited_ns"),                              \
    TIME_OF_ONE("mean", "wait_mean_ns"), TIME_LARGEST("longest", "wait_max_ns"),                     \
    COUNT_COLUMN("spins", "spins"), COUNT_COLUMN("holds", "holds"), TIME_COLUMN("held", "held_ns"),  \
    TIME_OF_ONE("mean", "held_mean_ns"), TIME_LARGEST("longest", "held_max_ns")
#define CAUSE_COLUMNS                                                                                \
    TIME_COLUMN("running", "running_ns"), TIME_COLUMN("preempted", "preempted_ns"),                  \
    TIME_COLUMN("blocked", "blocked_ns"), TIME_COLUMN("free", "free_ns"),                            \
    TIME_COLUMN("unknown", "unknown_ns")
/* clang-format on */
enum {
    SUM_TAKEN,
    SUM_CONTENDED,
    SUM_PERCENT,
    SUM_WAITED,
    SUM_MEAN,
    SUM_LONGEST,
    SUM_SPINS,
    SUM_HOLDS,
    SUM_HELD,
    SUM_HELD_MEAN,
    SUM_HELD_LONGEST,
    SUM_COUNT
};

enum { CLASS_NUMBER, CLASS_WATCH, CLASS_SUM, CLASS_P99 = CLASS_SUM + SUM_COUNT };
static const struct table_column class_columns[] = {NUMBER_COLUMN("class", "number"),
                                                    NUMBER_COLUMN("1 of", "watch"), SUM_COLUMNS,
                                                    TIME_OF_ONE("wait p99", "wait_p99_ns")};
enum { WHY_CONTENDED, WHY_WAITED, WHY_CAUSES };
static const struct table_column cause_columns[] = {COUNT_COLUMN("contended", "contentions"),
                                                    TIME_COLUMN("waited", "waited_ns"), CAUSE_COLUMNS};
enum { LOCK_PID, LOCK_CLASS, LOCK_ADDRESS, LOCK_SUM };
static const struct table_column lock_columns[] = {NUMBER_COLUMN("pid", "pid"), TEXT_COLUMN("class", "class"),
                                                   HEX_COLUMN("address", "address"), SUM_COLUMNS};
enum { CHAIN_CLASS, CHAIN_PROCESS, CHAIN_SUM };
static const struct table_column chain_columns[] = {TEXT_COLUMN("class", "class"),
                                                    TEXT_COLUMN("process", "process"), SUM_COLUMNS};
enum { PROCESS_PID, PROCESS_SUM };
static const struct table_column process_columns[] = {NUMBER_COLUMN("pid", "pid"), SUM_COLUMNS};
enum { THREAD_TID, THREAD_PID, THREAD_SUM };
static const struct table_column thread_columns[] = {NUMBER_COLUMN("tid", "tid"), NUMBER_COLUMN("pid", "pid"),
                                                     SUM_COLUMNS};
enum { HOLDER_TID, HOLDER_PID, HOLDER_CLASS, HOLDER_WAITS, HOLDER_WAITED, HOLDER_LONGEST, HOLDER_CAUSES };
static const struct table_column holder_columns[] = {
    NUMBER_COLUMN("tid", "tid"),          NUMBER_COLUMN("pid", "pid"),
    TEXT_COLUMN("class", "class"),        COUNT_COLUMN("waits", "waits"),
    TIME_COLUMN("waited", "waited_ns"),   TIME_LARGEST("longest", "longest_ns"),
    TIME_COLUMN("running", "running_ns"), TIME_COLUMN("preempted", "preempted_ns"),
    TIME_COLUMN("blocked", "blocked_ns"), TIME_COLUMN("unknown", "unknown_ns")};
enum { LONG_LOCK = LONGEST_COLUMN_COUNT, LONG_HOLDER, LONG_HOLDER_TID, LONG_CAUSES };
static const struct table_column longest_columns[] = {LONGEST_COLUMNS, HEX_COLUMN("lock", "lock"),
                                                      TEXT_COLUMN("mostly held by", "holder"),
                                                      NUMBER_COLUMN("tid", "holder_tid"), CAUSE_COLUMNS};
enum {
    WAITING_SINCE,
    WAITING_TID,
    WAITING_PID,
    WAITING_CLASS,
    WAITING_LOCK,
    WAITING_HOLDER,
    WAITING_HOLDER_TID
};
static const struct table_column waiting_columns[] = {
    WHEN_COLUMN("since s", "since_ns"), NUMBER_COLUMN("tid", "tid"), NUMBER_COLUMN("pid", "pid"),
    TEXT_COLUMN("class", "class"),      HEX_COLUMN("lock", "lock"),  TEXT_COLUMN("held by", "holder"),
    NUMBER_COLUMN("tid", "holder_tid")};

const struct table locks_tables[LOCKS_TABLES] = {
    [LOCKS_BY_CLASS] = TABLE("class", "class of locks", "classes", class_columns, CLASS_SUM + SUM_WAITED),
    [LOCKS_BY_CAUSE] = TABLE("cause", "the holder meanwhile", "classes", cause_columns, WHY_WAITED),
    [LOCKS_BY_LOCK] = TABLE("lock", "lock", "locks", lock_columns, LOCK_SUM + SUM_WAITED),
    [LOCKS_BY_CHAIN] = TABLE("chain", "call chain", "chains", chain_columns, CHAIN_SUM + SUM_WAITED),
    [LOCKS_BY_PROCESS] = TABLE("process", "process", "processes", process_columns, PROCESS_SUM + SUM_WAITED),
    [LOCKS_BY_THREAD] = TABLE_EXTRA("thread", "thread", "threads", thread_columns, THREAD_SUM + SUM_WAITED),
    [LOCKS_BY_HOLDER] = TABLE("holder", "who held it", "holders", holder_columns, HOLDER_WAITED),
    [LOCKS_BY_WAIT] = HISTOGRAM_TABLE_EXTRA("wait", "wait"),
    [LOCKS_BY_HOLD] = HISTOGRAM_TABLE_EXTRA("hold", "held"),
    [LOCKS_BY_LONGEST] = TABLE("longest", "longest waits", "waits", longest_columns, TABLE_AS_FILLED),
    [LOCKS_BY_WAITING] =
        TABLE_EXTRA("waiting", "still waiting at the end", "threads", waiting_columns, WAITING_SINCE),
};

/* ---- names ---- */

static const char *class_name(const struct answer *answer, uint32_t number, char text[ANSWER_NAME_BYTES])
{
    if (number < MODEL_LOCK_CLASSES && answer->model->lock_classes[number].name[0] != '\0')
        return answer->model->lock_classes[number].name;
    if (number == LOCK_CLASS_OTHERS)
        return "(others)";
    snprintf(text, ANSWER_NAME_BYTES, "class %" PRIu32, number);
    return text;
}

/* What is at an address of a process, or of the kernel; NULL: not known. */
static const struct symbol *find_symbol(const struct answer *answer, uint32_t pid, uint64_t address)
{
    const struct image *image = images_find(&answer->model->images, pid, address);
    const struct symbol *symbol =
        answer->symbols != NULL && image != NULL ? symbols_find(answer->symbols, image, address) : NULL;

    return symbol != NULL && symbol->function != NULL ? symbol : NULL;
}

static const char *lock_name(const struct answer *answer, struct table *table, uint32_t pid, uint64_t address)
{
    const struct symbol *symbol = find_symbol(answer, pid, address);

    if (symbol == NULL)
        return table_format(table, "0x%" PRIx64, address);
    return symbol->offset != 0 ? table_format(table, "%s+0x%" PRIx64, symbol->function, symbol->offset)
                               : symbol->function;
}

/* Functions that take locks: who called them is of interest. */
static bool is_part_of_locking(const char *function)
{
    static const char *const parts[] = {"spin_lock",
                                        "spin_try_lock",
                                        "spin_lock_contended",
                                        "spin_note_taken",
                                        "log_contended",
                                        "log_acquired",
                                        "acquire_contended",
                                        "note_acquired",
                                        "lock_acquire",
                                        "lock_try_acquire",
                                        "lock_word_acquire",
                                        "lock_word_try_acquire",
                                        "lock_until",
                                        "pthread_mutex_lock",
                                        "pthread_mutex_trylock",
                                        "pthread_mutex_timedlock",
                                        "pthread_spin_lock",
                                        "pthread_spin_trylock",
                                        "__retarget_lock_acquire",
                                        "__retarget_lock_acquire_recursive",
                                        "__retarget_lock_try_acquire",
                                        "__retarget_lock_try_acquire_recursive"};

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        if (strcmp(function, parts[i]) == 0)
            return true;
    return false;
}

#define CHAIN_BYTES 400u

struct chain_text {
    char text[CHAIN_BYTES];
    size_t used;
    unsigned functions, most;
};

static void add_function(struct chain_text *chain, const char *name)
{
    if (chain->functions == chain->most || (chain->functions == 0 && is_part_of_locking(name)))
        return;
    chain->used += (size_t)snprintf(chain->text + chain->used, CHAIN_BYTES - chain->used, "%s%.80s",
                                    chain->functions ? " < " : "", name);
    chain->used = chain->used < CHAIN_BYTES ? chain->used : CHAIN_BYTES - 1;
    chain->functions++;
}

/* Return addresses: the call is before. */
static void name_chain(const struct answer *answer, uint32_t pid, const struct lock_chain *chain,
                       struct chain_text *text)
{
    *text = (struct chain_text){.most = ((const struct locks *)answer)->depth};
    for (uint32_t i = 0; i < chain->depth; i++) {
        const struct symbol *symbol = find_symbol(answer, pid, chain->addresses[i] - 1);
        char number[24];

        snprintf(number, sizeof(number), "0x%" PRIx64, chain->addresses[i]);
        if (symbol == NULL)
            add_function(text, number);
        for (; symbol != NULL; symbol = symbol->outer)
            add_function(text, symbol->function != NULL ? symbol->function : number);
    }
    if (text->functions == 0)
        snprintf(text->text, CHAIN_BYTES, "(not known)");
}

/* ---- sums ---- */

static void add_sum(struct lock_sum *into, const struct lock_sum *from)
{
    into->acquisitions += from->acquisitions;
    into->contentions += from->contentions;
    into->contentions_watched += from->contentions_watched;
    into->waited += from->waited;
    into->spins += from->spins;
    into->holds += from->holds;
    into->held += from->held;
    if (from->longest > into->longest)
        into->longest = from->longest;
    if (from->held_longest > into->held_longest)
        into->held_longest = from->held_longest;
}

static void fill_sum(const struct answer *answer, const struct lock_sum *sum, union table_cell *cells)
{
    bool is_counted = sum->acquisitions != 0;

    cells[SUM_TAKEN].count = is_counted ? sum->acquisitions : TABLE_NONE;
    cells[SUM_CONTENDED].count = sum->contentions;
    cells[SUM_PERCENT].real =
        is_counted ? 100 * (double)sum->contentions_watched / (double)sum->acquisitions : NAN;
    cells[SUM_WAITED].count = answer_ns(answer, sum->waited);
    cells[SUM_MEAN].count =
        sum->contentions != 0 ? answer_ns(answer, sum->waited / sum->contentions) : TABLE_NONE;
    cells[SUM_LONGEST].count = sum->contentions != 0 ? answer_ns(answer, sum->longest) : TABLE_NONE;
    cells[SUM_SPINS].count = sum->spins;
    cells[SUM_HOLDS].count = sum->holds;
    cells[SUM_HELD].count = sum->holds != 0 ? answer_ns(answer, sum->held) : TABLE_NONE;
    cells[SUM_HELD_MEAN].count = sum->holds != 0 ? answer_ns(answer, sum->held / sum->holds) : TABLE_NONE;
    cells[SUM_HELD_LONGEST].count = sum->holds != 0 ? answer_ns(answer, sum->held_longest) : TABLE_NONE;
}

static bool is_empty(const struct lock_sum *sum)
{
    return sum->acquisitions == 0 && sum->contentions == 0 && sum->holds == 0;
}

/* Parts that add up to the wait. */
static void fill_causes(const struct answer *answer, const uint64_t causes[LOCK_CAUSES],
                        union table_cell *cells)
{
    struct answer_adder adder = {.answer = answer};

    for (unsigned i = 0; i < LOCK_CAUSES; i++)
        cells[i].count = answer_add(&adder, causes[i]);
}

/* ---- tables ---- */

static void fill_classes(struct locks *locks)
{
    struct answer *answer = &locks->answer;
    struct table *classes = &answer->tables[LOCKS_BY_CLASS], *causes = &answer->tables[LOCKS_BY_CAUSE];
    char text[ANSWER_NAME_BYTES];

    for (size_t i = 0; i < map_total(&locks->classes); i++) {
        const struct map_entry *entry = map_entry(&locks->classes, i);
        const struct lock_class *class = (const void *)entry->value;
        uint32_t number = (uint32_t)entry->key[0];
        const char *name = class_name(answer, number, text);
        struct table_row *row;

        if (is_empty(&class->sum))
            continue;
        row = table_add(classes, name);
        row->cells[CLASS_NUMBER].count = number;
        row->cells[CLASS_WATCH].count = TABLE_NONE;
        if (number < MODEL_LOCK_CLASSES && answer->model->lock_classes[number].watch != 0)
            row->cells[CLASS_WATCH].count = answer->model->lock_classes[number].watch;
        fill_sum(answer, &class->sum, row->cells + CLASS_SUM);
        row->cells[CLASS_P99].count = class->waits.count != 0
                                          ? answer_ns(answer, distribution_percentile(&class->waits, 0.99))
                                          : TABLE_NONE;
        if (class->sum.contentions == 0)
            continue;
        row = table_add(causes, name);
        row->cells[WHY_CONTENDED].count = class->sum.contentions;
        row->cells[WHY_WAITED].count = answer_ns(answer, class->sum.waited);
        fill_causes(answer, class->causes, row->cells + WHY_CAUSES);
    }
}

static void fill_locks(struct locks *locks)
{
    struct answer *answer = &locks->answer;
    struct table *table = &answer->tables[LOCKS_BY_LOCK];
    char text[ANSWER_NAME_BYTES];

    for (size_t i = 0; table->is_wanted && i < locks->locks.count; i++) {
        const struct map_entry *entry = locks->locks.entries[i];
        const struct lock *lock = (const void *)entry->value;
        uint32_t pid = (uint32_t)entry->key[0];
        struct table_row *row;

        if (is_empty(&lock->sum))
            continue;
        row = table_add(table, lock_name(answer, table, pid, entry->key[1]));
        row->cells[LOCK_PID].count = pid;
        row->cells[LOCK_CLASS].text = table_text(table, class_name(answer, lock->class, text));
        row->cells[LOCK_ADDRESS].count = entry->key[1];
        fill_sum(answer, &lock->sum, row->cells + LOCK_SUM);
    }
    if (locks->locks.others != NULL) {
        struct table_row *row = table_add(table, "(others)");

        table_clear_cells(table, row);
        fill_sum(answer, &((const struct lock *)(void *)locks->locks.others->value)->sum,
                 row->cells + LOCK_SUM);
    }
}

static uint64_t hash_text(const char *text)
{
    uint64_t hash = 0xcbf29ce484222325ull;

    for (; *text != '\0'; text++)
        hash = (hash ^ (uint8_t)*text) * 0x100000001b3ull;
    return hash;
}

/* Chains of the same functions are one, also those of several processes of one program. */
struct chain_group {
    struct lock_sum sum;
    const char *text, *process;
};

static void group_chain(struct locks *locks, struct map *groups, const struct map_entry *entry)
{
    const struct lock_chain *chain = (const void *)entry->value;
    const char *process = answer_process_name(&locks->answer, (uint32_t)entry->key[1]);
    struct chain_group *group;
    struct chain_text text;

    name_chain(&locks->answer, (uint32_t)entry->key[1], chain, &text);
    group = map_at(groups, entry->key[0], hash_text(process), hash_text(text.text));
    if (group->text == NULL) {
        group->text = arena_string(&groups->arena, text.text, strlen(text.text));
        group->process = process;
    }
    add_sum(&group->sum, &chain->sum);
}

static void fill_chains(struct locks *locks)
{
    struct answer *answer = &locks->answer;
    struct table *table = &answer->tables[LOCKS_BY_CHAIN];
    char text[ANSWER_NAME_BYTES];
    struct map groups;

    if (!table->is_wanted)
        return;
    map_open(&groups, sizeof(struct chain_group));
    for (size_t i = 0; i < map_total(&locks->chains); i++)
        group_chain(locks, &groups, map_entry(&locks->chains, i));
    for (size_t i = 0; i < map_total(&groups); i++) {
        const struct map_entry *entry = map_entry(&groups, i);
        const struct chain_group *group = (const void *)entry->value;
        struct table_row *row = table_add(table, group->text);

        row->cells[CHAIN_CLASS].text = table_text(table, class_name(answer, (uint32_t)entry->key[0], text));
        row->cells[CHAIN_PROCESS].text = table_text(table, group->process);
        fill_sum(answer, &group->sum, row->cells + CHAIN_SUM);
    }
    map_close(&groups);
}

static void fill_threads(struct locks *locks)
{
    struct answer *answer = &locks->answer;
    struct table *table = &answer->tables[LOCKS_BY_THREAD], *processes = &answer->tables[LOCKS_BY_PROCESS];
    struct map sums;

    map_open(&sums, sizeof(struct lock_sum));
    for (size_t i = 0; i < locks->threads.count; i++) {
        const struct map_entry *entry = locks->threads.entries[i];
        const struct model_thread *thread = answer->model->threads[entry->key[0]];
        const struct lock_sum *sum = (const void *)entry->value;
        struct table_row *row;

        if (is_empty(sum))
            continue;
        add_sum(map_at(&sums, thread->pid, 0, 0), sum);
        row = table_add(table, answer_thread_name(answer, thread));
        row->cells[THREAD_TID].count = thread->tid;
        row->cells[THREAD_PID].count = thread->pid;
        fill_sum(answer, sum, row->cells + THREAD_SUM);
    }
    for (size_t i = 0; i < sums.count; i++) {
        uint32_t pid = (uint32_t)sums.entries[i]->key[0];
        struct table_row *row = table_add(processes, answer_process_name(answer, pid));

        row->cells[PROCESS_PID].count = pid;
        fill_sum(answer, (const void *)sums.entries[i]->value, row->cells + PROCESS_SUM);
    }
    map_close(&sums);
}

static void fill_holders(struct locks *locks)
{
    struct answer *answer = &locks->answer;
    struct table *table = &answer->tables[LOCKS_BY_HOLDER];
    char text[ANSWER_NAME_BYTES];

    for (size_t i = 0; i < locks->holders.count; i++) {
        const struct map_entry *entry = locks->holders.entries[i];
        const struct model_thread *thread = answer->model->threads[entry->key[0]];
        const struct lock_holder *holder = (const void *)entry->value;
        struct table_row *row = table_add(table, answer_thread_name(answer, thread));
        union table_cell causes[LOCK_CAUSES];

        fill_causes(answer, holder->causes, causes);
        row->cells[HOLDER_TID].count = thread->tid;
        row->cells[HOLDER_PID].count = thread->pid;
        row->cells[HOLDER_CLASS].text = table_text(table, class_name(answer, (uint32_t)entry->key[1], text));
        row->cells[HOLDER_WAITS].count = holder->waits;
        row->cells[HOLDER_WAITED].count = answer_ns(answer, holder->waited);
        row->cells[HOLDER_LONGEST].count = answer_ns(answer, holder->longest);
        row->cells[HOLDER_CAUSES] = causes[CAUSE_RUNNING];
        row->cells[HOLDER_CAUSES + 1] = causes[CAUSE_PREEMPTED];
        row->cells[HOLDER_CAUSES + 2] = causes[CAUSE_BLOCKED];
        row->cells[HOLDER_CAUSES + 3] = causes[CAUSE_UNKNOWN];
    }
}

static void fill_longest(struct locks *locks)
{
    struct answer *answer = &locks->answer;
    struct table *table = &answer->tables[LOCKS_BY_LONGEST];
    char text[ANSWER_NAME_BYTES];

    longest_sort(&locks->longest);
    for (unsigned i = 0; i < locks->longest.count; i++) {
        const struct longest *item = &locks->longest.items[i];
        const struct lock_wait_record *record = (const void *)(uintptr_t)item->args[1];
        struct table_row *row = table_add(table, class_name(answer, (uint32_t)item->what, text));

        longest_fill(answer, table, row, item);
        row->cells[LONG_LOCK].count = item->args[0];
        row->cells[LONG_HOLDER_TID].count = TABLE_NONE;
        if (record->holder != NULL) {
            row->cells[LONG_HOLDER].text = table_text(table, answer_thread_name(answer, record->holder));
            row->cells[LONG_HOLDER_TID].count = record->holder->tid;
        }
        fill_causes(answer, record->causes, row->cells + LONG_CAUSES);
    }
}

/* Who went to sleep for a lock and has not been woken. */
static void fill_waiting(struct locks *locks)
{
    struct answer *answer = &locks->answer;
    struct table *table = &answer->tables[LOCKS_BY_WAITING];
    char text[ANSWER_NAME_BYTES];

    for (size_t i = 0; i < locks->sleepers.count; i++) {
        const struct lock_sleeper *sleeper = (const void *)locks->sleepers.entries[i]->value;
        const struct model_thread *thread = sleeper->thread;
        struct table_row *row;

        if (thread->state != MODEL_BLOCKED_FUTEX || thread->switches != sleeper->switches ||
            !answer_wants(answer, thread))
            continue;
        row = table_add(table, answer_thread_name(answer, thread));
        row->cells[WAITING_SINCE].count = answer_when(answer, sleeper->since);
        row->cells[WAITING_TID].count = thread->tid;
        row->cells[WAITING_PID].count = thread->pid;
        row->cells[WAITING_CLASS].text = table_text(table, class_name(answer, sleeper->class, text));
        row->cells[WAITING_LOCK].count = sleeper->lock;
        row->cells[WAITING_HOLDER_TID].count = TABLE_NONE;
        if (sleeper->holder != NULL) {
            row->cells[WAITING_HOLDER].text = table_text(table, answer_thread_name(answer, sleeper->holder));
            row->cells[WAITING_HOLDER_TID].count = sleeper->holder->tid;
        }
    }
}

void locks_fill(struct answer *answer)
{
    struct locks *locks = (struct locks *)answer;

    fill_classes(locks);
    fill_locks(locks);
    fill_chains(locks);
    fill_threads(locks);
    fill_holders(locks);
    distribution_histogram(&locks->waits, &answer->trace->schema, &answer->tables[LOCKS_BY_WAIT]);
    distribution_histogram(&locks->holds, &answer->trace->schema, &answer->tables[LOCKS_BY_HOLD]);
    fill_longest(locks);
    fill_waiting(locks);
}
