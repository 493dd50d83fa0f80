/* SPDX-License-Identifier: BSD-2-Clause */
/* locks_names.c - names of lock classes, locks and call chains; see locks.h. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <tools/tarn/analysis/locks.h>
#include <tools/tarn/symbols/symbols.h>

const char *lock_class_name(const struct analysis *analysis, uint32_t number, char text[ANALYSIS_NAME_BYTES])
{
    if (number < MODEL_LOCK_CLASSES && analysis->model->lock_classes[number].name[0] != '\0')
        return analysis->model->lock_classes[number].name;
    if (number == LOCK_CLASS_OTHERS)
        return "(others)";
    snprintf(text, ANALYSIS_NAME_BYTES, "class %" PRIu32, number);
    return text;
}

/* Returns the symbol at an address of a process, or of the kernel; NULL: unknown. */
static const struct symbol *find_symbol(const struct analysis *analysis, uint32_t pid, uint64_t address)
{
    const struct executable *executable = executables_find(&analysis->model->executables, pid, address);
    const struct symbol *symbol = analysis->symbols != NULL && executable != NULL
                                      ? symbols_find(analysis->symbols, executable, address)
                                      : NULL;

    return symbol != NULL && symbol->function != NULL ? symbol : NULL;
}

const char *lock_name(const struct analysis *analysis, struct table *table, uint32_t pid, uint64_t address)
{
    const char *name = lock_names_find(&analysis->model->lock_names, pid, address);
    const struct symbol *symbol = name == NULL ? find_symbol(analysis, pid, address) : NULL;

    if (name != NULL)
        return table_text(table, name);
    if (symbol == NULL)
        return table_format(table, "0x%" PRIx64, address);
    return symbol->offset != 0 ? table_format(table, "%s+0x%" PRIx64, symbol->function, symbol->offset)
                               : symbol->function;
}

/* Functions that implement locks or waits for events; their callers are of interest. */
static bool is_part_of_locking(const char *function)
{
    static const char *const parts[] = {
        /* the kernel's */
        "spin_lock", "spin_try_lock", "spin_lock_contended", "spin_note_taken", "spin_note_tried",
        "spin_note_taken_after_wait", "note_with_care", "log_contended", "make_note", "log_acquired",
        /* libc-glue's: shared ones, then locks, then events */
        "end_lock_wait", "note_acquisition", "note_sample", "acquire_contended", "lock_acquire", "note_taken",
        "lock_word_acquire", "lock_word_try_acquire", "lock_until", "pthread_mutex_lock",
        "pthread_mutex_trylock", "pthread_mutex_timedlock", "pthread_spin_lock", "pthread_spin_trylock",
        "__retarget_lock_acquire", "__retarget_lock_acquire_recursive", "__retarget_lock_try_acquire",
        "__retarget_lock_try_acquire_recursive", "rwlock_wait", "rwlock_wait_to_write", "rwlock_read_until",
        "rwlock_write_until", "pthread_rwlock_rdlock", "pthread_rwlock_wrlock", "pthread_rwlock_tryrdlock",
        "pthread_rwlock_trywrlock", "pthread_rwlock_timedrdlock", "pthread_rwlock_timedwrlock", "once_wait",
        "pthread_once", "semaphore_wait", "semaphore_wait_until", "semaphore_note_taken", "sem_wait",
        "sem_trywait", "sem_timedwait", "condition_sleep_until", "condition_wait_until", "pthread_cond_wait",
        "pthread_cond_timedwait", "pthread_cond_clockwait", "pthread_barrier_wait", "join_wait",
        "join_pthread", "pthread_join", "wait_for_window", "borrow_window",
        /* from older versions */
        "note_acquired", "note_tried", "note_word_tried"};

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        if (strcmp(function, parts[i]) == 0)
            return true;
    return false;
}

struct chain_text {
    char *text;
    size_t used;
    unsigned functions, most;
};

static void add_function(struct chain_text *chain, const char *name)
{
    if (chain->functions == chain->most || (chain->functions == 0 && is_part_of_locking(name)))
        return;
    chain->used += (size_t)snprintf(chain->text + chain->used, LOCK_CHAIN_BYTES - chain->used, "%s%.80s",
                                    chain->functions ? " < " : "", name);
    chain->used = chain->used < LOCK_CHAIN_BYTES ? chain->used : LOCK_CHAIN_BYTES - 1;
    chain->functions++;
}

/* The addresses are return addresses: the call is before them. */
void lock_chain_name(const struct analysis *analysis, uint32_t pid, const struct lock_chain *chain,
                     char text[LOCK_CHAIN_BYTES])
{
    struct chain_text name = {.text = text, .most = ((const struct locks *)analysis)->depth};

    for (uint32_t i = 0; i < chain->depth; i++) {
        const struct symbol *symbol = find_symbol(analysis, pid, chain->addresses[i] - 1);
        char number[24];

        snprintf(number, sizeof(number), "0x%" PRIx64, chain->addresses[i]);
        if (symbol == NULL)
            add_function(&name, number);
        for (; symbol != NULL; symbol = symbol->outer)
            add_function(&name, symbol->function != NULL ? symbol->function : number);
    }
    if (name.functions == 0)
        snprintf(text, LOCK_CHAIN_BYTES, "(unknown)");
}

void lock_chain_group(struct locks *locks, struct map *groups, const struct map_entry *entry)
{
    const struct lock_chain *chain = (const void *)entry->value;
    const char *process = analysis_process_name(&locks->analysis, (uint32_t)entry->key[1]);
    struct lock_chain_group *group;
    char text[LOCK_CHAIN_BYTES];

    lock_chain_name(&locks->analysis, (uint32_t)entry->key[1], chain, text);
    group = map_at(groups, entry->key[0], hash_text(HASH_SEED, process), hash_text(HASH_SEED, text));
    if (group->text == NULL) {
        group->text = arena_string(&groups->arena, text, strlen(text));
        group->process = process;
    }
    lock_sum_add(&group->sum, &chain->sum);
}
