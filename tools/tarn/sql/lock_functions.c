/* lock_functions.c - SQL functions: names of locks and call chains (database.h). */
#include <inttypes.h>
#include <stdio.h>
#include <tools/tarn/sql/database.h>
#include <tools/tarn/symbols/symbols.h>

#define CHAIN_BYTES 400u

static const struct analysis *analysis_of(sqlite3_context *context)
{
    struct relations *relations = database_final(sqlite3_user_data(context));
    return relations != NULL ? relations->analysis : NULL;
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

void sql_lock_name(sqlite3_context *context, int argc, sqlite3_value **argv)
{
    const struct analysis *analysis = analysis_of(context);
    uint32_t pid = (uint32_t)sqlite3_value_int64(argv[0]);
    uint64_t address = (uint64_t)sqlite3_value_int64(argv[1]);
    const char *name = analysis != NULL ? names_of(&analysis->model->names, pid, address) : NULL;
    const struct symbol *symbol =
        analysis != NULL && name == NULL ? find_symbol(analysis, pid, address) : NULL;
    char text[SYMBOL_NAME_BYTES];
    if (sqlite3_value_type(argv[1]) == SQLITE_NULL)
        return;
    snprintf(text, sizeof(text), "0x%" PRIx64, address);
    if (symbol != NULL && symbol->offset != 0)
        snprintf(text, sizeof(text), "%s+0x%" PRIx64, symbol->function, symbol->offset);
    else if (symbol != NULL)
        name = symbol->function;
    sqlite3_result_text(context, name != NULL ? name : text, -1, SQLITE_TRANSIENT);
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
    char text[CHAIN_BYTES];
    size_t used;
    sqlite3_int64 functions, most;
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

/* The addresses are return addresses: the call is before them. */
void sql_call_chain(sqlite3_context *context, int argc, sqlite3_value **argv)
{
    const struct analysis *analysis = analysis_of(context);
    const char *at = (const char *)sqlite3_value_text(argv[1]);
    struct chain_text chain = {.text = "(unknown)", .most = sqlite3_value_int64(argv[2])};
    if (analysis == NULL || at == NULL)
        return;
    while (*at != '\0') {
        const char *begin = at + strspn(at, " ");
        char *end, number[24];
        uint64_t address = strtoull(begin, &end, 16);
        const struct symbol *symbol =
            find_symbol(analysis, (uint32_t)sqlite3_value_int64(argv[0]), address - 1);
        if (end == begin)
            break;
        snprintf(number, sizeof(number), "0x%" PRIx64, address);
        if (symbol == NULL)
            add_function(&chain, number);
        for (; symbol != NULL; symbol = symbol->outer)
            add_function(&chain, symbol->function != NULL ? symbol->function : number);
        at = end;
    }
    sqlite3_result_text(context, chain.text, -1, SQLITE_TRANSIENT);
}
