/*
 * tables_work.c - locks of programs and of the kernel, all sampled while threads take them and wait for them,
 * and then all rows of the tables of locks, as text.
 *
 *     did CLASS ACQUISITIONS TRIED FAILED   to a lock of a class that only this program uses
 *     about CLASS LEAST MOST                times that the busiest lock of a class of the kernel was taken
 *     TABLE COLUMN:BUCKET:VALUE...          a row, without the zeros
 *     sampled FROM TO                       in ticks
 *     full TABLE TIMES, moved TABLE ROWS    no row was free; rows were moved because programs had ended
 *
 * As tables_work_many it samples mutexes only, and starts many programs that take some, one after another:
 * itself, as `tables_work child`. As tables_work_thin it samples one of 8, of one class one of 2. Run by
 * tests/host/tables_equal.
 */
#include <sched.h>
#include <semaphore.h>

#define THREADS 6
#include <tests/guest/run.h>
#include <tests/guest/tables.h>
#include <tests/guest/threads.h>
#include <tests/guest/trace_help.h>

#define ROUNDS      150u
#define TRIES       20u
#define HOLD        2000u /* turns of a loop */
#define MS          1000000ull
#define ALL         UINT64_MAX
#define CHILDREN    150u
#define CHILD_LOCKS 6u
#define ALONE       6400u
#define THIN        8u
#define THIN_ERROR  1060u /* five times the deviation of an estimate of ALONE, sqrt(ALONE * (THIN - 1)) */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t shelf = PTHREAD_RWLOCK_INITIALIZER;
static sem_t tickets;
static pthread_barrier_t together;

/* Sometimes the holder loses its CPU, and others must wait. */
static void hold(unsigned round)
{
    for (volatile unsigned i = 0; i < HOLD; i++)
        ;
    if (round % 8 == 0)
        sched_yield();
}

static void *work(void *unused)
{
    static uint32_t word;
    pthread_barrier_wait(&together);
    for (unsigned i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&mutex);
        hold(i);
        pthread_mutex_unlock(&mutex);
        pthread_rwlock_rdlock(&shelf);
        hold(i + 1);
        pthread_rwlock_unlock(&shelf);
        pthread_rwlock_wrlock(&shelf);
        pthread_rwlock_unlock(&shelf);
        sem_wait(&tickets);
        hold(i + 2);
        sem_post(&tickets);
        sys_futex_wake(&word, 1);
    }
    return unused;
}

/* All fail while a reader is there. */
static void *try_often(void *unused)
{
    for (unsigned i = 0; i < TRIES; i++)
        if (pthread_rwlock_trywrlock(&shelf) == 0)
            printf("Bail out! a writer beside a reader\n");
    return unused;
}

static void try_locks(void)
{
    pthread_rwlock_rdlock(&shelf);
    result_of(try_often, NULL);
    pthread_rwlock_unlock(&shelf);
    for (unsigned i = 0; i < TRIES; i++)
        if (pthread_rwlock_trywrlock(&shelf) == 0)
            pthread_rwlock_unlock(&shelf);
}

static void run_all(void)
{
    sem_init(&tickets, 0, 2);
    pthread_barrier_init(&together, NULL, THREADS);
    run_threads(work);
    try_locks();
    printf("did %d %u 0 0\n", TARN_LOCK_READ, THREADS * ROUNDS + 1);
    printf("did %d %u %u %u\n", TARN_LOCK_WRITE, THREADS * ROUNDS + TRIES, TRIES, TRIES);
    printf("did %d %u 0 0\n", TARN_LOCK_SEMAPHORE, THREADS * ROUNDS);
}

/* Only this thread does so: takes the lock of a futex bucket that only this process has, and that of a memory
 * object, once for a page (docs/studies.md, "Lock tables"). */
static void take_kernel_locks(bool is_thin)
{
    static char page[TARN_PAGE_SIZE];
    static uint32_t word;
    const uint32_t classes[] = {find_class("futex bucket"), find_class("memory object")};
    const cap_t object = (cap_t)sys_memory_create(sizeof page);
    page[0] = 1; /* it has its frame, and so gets the object */
    sys_memory_write(object, 0, page, sizeof page);
    for (unsigned i = 0; i < ALONE; i++) {
        sys_futex_wake(&word, 1);
        if (sys_memory_read(object, 0, page, sizeof page) != sizeof page)
            printf("Bail out! the object cannot be read\n");
    }
    sys_cap_close(object);
    for (unsigned i = 0; i < 2; i++)
        printf("about %u %u %u\n", classes[i], ALONE - (is_thin ? THIN_ERROR : 0), ALONE + ALONE / 2);
}

static int be_child(void)
{
    static pthread_mutex_t own[CHILD_LOCKS];
    for (unsigned i = 0; i < CHILD_LOCKS; i++)
        pthread_mutex_init(&own[i], NULL);
    for (unsigned i = 0; i < 3 * CHILD_LOCKS; i++) {
        pthread_mutex_lock(&own[i % CHILD_LOCKS]);
        pthread_mutex_unlock(&own[i % CHILD_LOCKS]);
    }
    return 0;
}

static void run_many(const char *self)
{
    for (unsigned i = 0; i < CHILDREN; i++) {
        process_set_affinity(i % 8 ? 1 : ALL); /* most on one CPU, so that all its tables become full */
        const int status = run_program(self, "child");
        if (status)
            printf("Bail out! child %u: status %d\n", i, status);
    }
}

static void print_row(const struct trace_table_info *table, const uint64_t *row)
{
    printf("%s", table->name);
    for (uint32_t i = 0; i < table->column_count; i++)
        for (unsigned word = 0; word < table->columns[i].words; word++)
            if (row[table->columns[i].word + word])
                printf(" %s:%u:%lx", table->columns[i].name, word, row[table->columns[i].word + word]);
    printf("\n");
}

static void print_tables(void)
{
    static const char *const names[] = {"lock_classes", "locks", "lock_sites"};
    for (unsigned table = 0; table < 3; table++) {
        struct trace_rows rows = all_rows(names[table]);
        for (uint32_t i = 0; i < rows.count; i++)
            print_row(rows.table, rows.words + (size_t)i * rows.table->row_words);
        printf("full %s %lu\n", names[table], table_head(names[table], TRACE_TABLE_NO_SPACE));
        printf("moved %s %lu\n", names[table], table_head(names[table], TRACE_TABLE_MOVED));
        trace_rows_free(&rows);
    }
}

/* Until no server works for us any more: whether a wait counts that ends while sampling is switched, no event
 * says. Then all that was noted is released, too. */
static void wait_for_others(void)
{
    sys_thread_sleep(deadline_after(20 * MS));
}

int main(int argc, char **argv)
{
    const bool is_many = strstr(argv[0], "many") != NULL, is_thin = strstr(argv[0], "thin") != NULL;
    const uint64_t classes = is_many ? TARN_LOCK_MUTEX : ALL;
    if (argc > 1)
        return be_child();
    wait_for_others();
    const uint64_t from = arch_trace_clock();
    sample(classes, is_thin ? THIN : 1);
    if (is_thin)
        sample(find_class("run queue"), 2);
    if (is_many)
        run_many(argv[0]);
    else
        run_all(), take_kernel_locks(is_thin);
    wait_for_others();
    sample(ALL, 0);
    const uint64_t to = arch_trace_clock();
    try_locks(); /* is not counted any more */
    wait_for_others();
    control(TRACE_OP_SET_MASK, 0, 0);
    printf("sampled %lu %lu\n", from, to);
    print_tables();
    printf("end of tables\n");
    return 0;
}
