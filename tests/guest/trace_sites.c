/*
 * trace_sites.c - trace points are switched in place: at once on all CPUs, in all programs that run the text,
 * and in programs that are loaded later. Tables of trace points are not believed.
 *
 * The tables under test are copies of this program's own, with copies of its text.
 */
#include <sched.h>

#include <tests/guest/run.h>
#include <tests/guest/threads.h>
#include <tests/guest/trace_help.h>

extern const char __text_end[], __trace_sites[], __trace_sites_end[]; /* user.ld */
static const char *self;

#define TEXT USER_TRACE_TEXT_END /* text begins here */

static void set_class(bool on)
{
    control(TRACE_OP_SET_MASK, on ? CLASS_USER_BIT : 0, 0);
}

/* Of an open packet, a reader may get nothing. */
static void close_packets(void)
{
    control(TRACE_OP_FLUSH, ~0ull, 0);
}

/* ---- threads that log while the class is switched ---------------------------------------------------- */

#define PHASES       (10 + REPEATS(20))
#define FLICKERS     4u /* changes before that of the phase, while CPUs take in those before */
#define IN_A_PHASE   32u
#define MEANWHILE    1000u     /* more events, until the phase ends */
#define MEANWHILE_IS 1ull      /* their number */
#define PHASE_BEGIN  (1 << 20) /* number of the first event of phase 1 */

static _Atomic uint32_t phase; /* odd: on. 0: a change is being made */
static _Atomic uint32_t ready; /* threads that have logged all that the phase wants */
static _Atomic bool ended;

static void log_in_phase(uint32_t now, uint64_t thread)
{
    const uint64_t first = PHASE_BEGIN + (now * THREADS + thread) * IN_A_PHASE;
    log_numbers(first, first + IN_A_PHASE);
    atomic_fetch_add(&ready, 1);
    for (uint32_t i = 0; atomic_load(&phase) == now || atomic_load(&phase) == 0; i++)
        if (i < MEANWHILE)
            trace_user_stopwatch_start(MEANWHILE_IS);
        else
            sched_yield();
}

static void *log_in_phases(void *thread)
{
    pthread_setaffinity_mask_np(pthread_self(), 1ull << (uintptr_t)thread % arch_trace_info()->cpu_count);
    for (uint32_t last = 0; !atomic_load(&ended);) {
        const uint32_t now = atomic_load(&phase);
        if (now != 0 && now != last)
            log_in_phase(last = now, (uint64_t)thread);
        sched_yield();
    }
    return NULL;
}

/* By the mask, or by the event's switch. */
static void switch_phase(uint32_t number)
{
    const bool on = number & 1;
    atomic_store(&phase, 0);
    atomic_store(&ready, 0);
    for (uint32_t i = 0; i < FLICKERS; i++)
        set_class(i & 1);
    if (number & 2)
        control(TRACE_OP_SET_SWITCHES, TRACE_CLASS_USER, on ? ~0ull : ~(1ull << 3));
    else
        set_class(on);
    if (on) { /* the other one may be off */
        set_class(true);
        control(TRACE_OP_SET_SWITCHES, TRACE_CLASS_USER, ~0ull);
    }
    atomic_store(&phase, number);
}

static void count_in_phases(void *logged, uint32_t cpu, const struct trace_header *event, uint64_t time)
{
    const uint64_t number = event->length > 1 ? *(const uint64_t *)(event + 1) : 0;
    if (event->id == ID_STOPWATCH && number >= PHASE_BEGIN)
        ((uint64_t *)logged)[(number - PHASE_BEGIN) / (THREADS * IN_A_PHASE) & 1]++;
}

static void test_switching(void)
{
    pthread_t threads[THREADS];
    start_threads(threads, THREADS, log_in_phases);
    for (uint32_t number = 1; number <= PHASES; number++) {
        switch_phase(number);
        while (atomic_load(&ready) < THREADS)
            usleep(100);
    }
    atomic_store(&ended, true);
    atomic_store(&phase, PHASES + 1);
    join_threads(threads, THREADS);
    uint64_t logged[2] = {0}; /* while off, while on */
    struct ring_findings findings;
    close_packets();
    visit_rings(count_in_phases, logged, &findings);
    const uint64_t expected = (PHASES + 1) / 2 * THREADS * IN_A_PHASE;
    check(logged[0] == 0, "once a class or an event is off, no CPU logs it: %lu events", logged[0]);
    check(logged[1] == expected, "once it is on, every CPU logs it: %lu of %lu", logged[1], expected);
    control(TRACE_OP_SET_SWITCHES, TRACE_CLASS_USER, ~0ull);
}

/* ---- copies of text and table ------------------------------------------------------------------------ */

#define COPY_AT 0x40000000ull /* address of a copy, and of a second mapping of it */
#define ALSO_AT 0x50000000ull

/* Places are offsets. */
struct copy {
    cap_t memory;
    char *bytes;
    uint64_t size, text_end, table, table_bytes;
};

static struct copy make_copy(void)
{
    struct copy copy = {
        .text_end = round_to_pages((uint64_t)__text_end - TEXT),
        .table = (uint64_t)__trace_sites - TEXT,
        .table_bytes = (uint64_t)(__trace_sites_end - __trace_sites),
    };
    copy.size = round_to_pages(copy.table + copy.table_bytes);
    copy.bytes = calloc(1, copy.size);
    memcpy(copy.bytes, (const void *)TEXT, copy.table + copy.table_bytes);
    copy.memory = (cap_t)sys_memory_create(copy.size);
    return copy;
}

static struct trace_site *entry_of(const struct copy *copy, uint32_t i)
{
    return (struct trace_site *)(copy->bytes + copy->table) + i;
}

static int64_t map_copy(const struct copy *copy, uint64_t address, uint32_t flags)
{
    int64_t result =
        sys_space_map(SLOT_SPACE, copy->memory, address, copy->text_end, 0, flags | MAP_EXECUTE | MAP_FIXED);
    if (result >= 0)
        result = sys_space_map(SLOT_SPACE, copy->memory, address + copy->text_end,
                               copy->size - copy->text_end, copy->text_end, flags | MAP_FIXED);
    return result;
}

static int64_t register_copy(const struct copy *copy, uint64_t address)
{
    return sys_trace_sites(SLOT_TRACE, SLOT_SPACE, address, address + copy->table, copy->table_bytes);
}

static void drop_copy(const struct copy *copy)
{
    sys_space_unmap(SLOT_SPACE, COPY_AT, copy->size);
    sys_cap_close(copy->memory);
    free(copy->bytes);
}

/* Whether the object's text differs from the bytes that were written to it. */
static bool is_changed(const struct copy *copy)
{
    static char now[TARN_PAGE_SIZE];
    for (uint64_t at = 0; at < copy->text_end; at += sizeof now)
        if (sys_memory_read(copy->memory, at, now, sizeof now) != sizeof now ||
            memcmp(now, copy->bytes + at, sizeof now) != 0)
            return true;
    return false;
}

static void test_sharing(void)
{
    const struct copy copy = make_copy();
    check(!memory_write_all(copy.memory, 0, copy.bytes, copy.size) &&
              map_copy(&copy, COPY_AT, MAP_READ) >= 0 && map_copy(&copy, ALSO_AT, MAP_READ) >= 0,
          "text that is mapped twice");
    check(register_copy(&copy, COPY_AT) == 0 && !is_changed(&copy),
          "its table is accepted, while all is off");
    set_class(true);
    check(is_changed(&copy), "its sites are switched on");
    check(register_copy(&copy, ALSO_AT) == 0, "the same table at the other place");
    set_class(false);
    check(!is_changed(&copy), "the sites that the mappings share are switched off");
    check(sys_memory_resize(copy.memory, TARN_PAGE_SIZE) == -E_BUSY,
          "it keeps its frames while it is mapped");
    sys_space_unmap(SLOT_SPACE, ALSO_AT, copy.size);
    sys_space_unmap(SLOT_SPACE, COPY_AT, copy.size);
    check(sys_memory_resize(copy.memory, TARN_PAGE_SIZE) == -E_BUSY, "and when it is not");
    drop_copy(&copy);
    set_class(true);
    set_class(false);
}

#define LIES 11u

/* The first is an entry without a site; others are of an entry's words, or of how many there are. */
static void tell(struct copy *copy, unsigned lie)
{
    const uint64_t entry = sizeof(struct trace_site), bytes = copy->table_bytes;
    const struct trace_site honest = *entry_of(copy, 1);
    const int32_t site = honest.site, target = honest.target;
    const struct {
        struct trace_site entry;
        uint64_t bytes;
    } lies[LIES] = {
        {honest, bytes},
        {{site + (int32_t)copy->size, target, honest.id}, bytes}, /* outside */
        {{INT32_MIN, target, honest.id}, bytes},                  /* below */
        {{0, target, honest.id}, bytes},                          /* in the table */
        {{site, INT32_MAX, honest.id}, bytes},
        {{site, target, TRACE_ID(TRACE_CLASS_COUNT, 0)}, bytes},
        {{site, target, ~0u}, bytes},
        {honest, bytes - 4},
        {honest, 0},
        {honest, (TRACE_SITES_MAX + 1) * entry},
        {honest, ((copy->size - copy->table) / entry + 1) * entry},
    };
    if (lie == 0)
        memset((char *)&entry_of(copy, 1)->site + site, 0, 4);
    *entry_of(copy, 1) = lies[lie].entry;
    copy->table_bytes = lies[lie].bytes;
}

static void test_lies(void)
{
    set_class(true);
    for (unsigned lie = 0; lie < LIES; lie++) {
        struct copy copy = make_copy();
        tell(&copy, lie);
        const bool mapped = !memory_write_all(copy.memory, 0, copy.bytes, copy.size) &&
                            map_copy(&copy, COPY_AT, MAP_READ) >= 0;
        const int64_t result = mapped ? register_copy(&copy, COPY_AT) : 0;
        check(result == -E_BAD_ARGUMENT && !is_changed(&copy), "lie %u is refused, and nothing changed: %ld",
              lie, result);
        drop_copy(&copy);
    }
    set_class(false);
}

static void test_authority(void)
{
    const struct copy copy = make_copy();
    memory_write_all(copy.memory, 0, copy.bytes, copy.size);
    const int64_t reader = sys_cap_copy(SLOT_SPACE, SLOT_TRACE, 0, RIGHT_READ, 0),
                  space = sys_cap_copy(SLOT_SPACE, SLOT_SPACE, 0, RIGHT_READ, 0);
    const uint64_t table = COPY_AT + copy.table;
    check(register_copy(&copy, COPY_AT) == -E_BAD_ARGUMENT, "a table that is not mapped");
    check(map_copy(&copy, COPY_AT, MAP_READ | MAP_PRIVATE) >= 0 &&
              register_copy(&copy, COPY_AT) == -E_BAD_ARGUMENT,
          "text that is mapped privately");
    check(sys_trace_sites((cap_t)reader, SLOT_SPACE, COPY_AT, table, copy.table_bytes) == -E_BAD_RIGHT,
          "the right to read the trace does not suffice");
    check(sys_trace_sites(SLOT_TRACE, (cap_t)space, COPY_AT, table, copy.table_bytes) == -E_BAD_RIGHT,
          "nor does a space that the caller may not change");
    sys_cap_close((cap_t)reader);
    sys_cap_close((cap_t)space);
    drop_copy(&copy);
}

#define CHILD_COPY "/tmp/trace_sites_copy"

/* Runs a program with a number to log, and waits for it. */
static bool run_child(const char *path, uint64_t number)
{
    char text[24];
    snprintf(text, sizeof text, "%lu", number);
    return run_program(path, text) == 0;
}

static bool is_logged(uint64_t number)
{
    close_packets();
    return find_numbers(number, number + 1).found == 1;
}

static void test_children(void)
{
    set_class(false);
    check(run_child(self, 100) && !is_logged(100), "a child while the class is off");
    set_class(true);
    check(run_child(self, 101) && is_logged(101), "and while it is on");
    check(copy_file(self, CHILD_COPY), "a copy of the executable, made while the class is on");
    check(run_child(CHILD_COPY, 102) && is_logged(102), "a program that is loaded for the first time logs");
    set_class(false);
    check(run_child(CHILD_COPY, 103) && !is_logged(103), "switched off, it does not");
    set_class(true);
    check(copy_file(self, CHILD_COPY), "another copy");
    set_class(false);
    check(run_child(CHILD_COPY, 104) && !is_logged(104), "loaded while the class is off, it does not log");
    set_class(true);
    check(run_child(CHILD_COPY, 105) && is_logged(105), "switched on, it does");
    unlink(CHILD_COPY);
}

/* While system calls are sampled, the timer may interrupt them, wherever they are. */
static void test_samples(void)
{
    const int64_t result = control(TRACE_OP_SET_PROFILE, 20000, 0);
    for (unsigned i = 0; result == 0 && i < 100; i++)
        set_class(i % 2);
    control(TRACE_OP_SET_PROFILE, 0, 0);
    check(result == 0, "the timer may come between two stores to sites");
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        const uint64_t number = strtoull(argv[1], NULL, 10);
        log_numbers(number, number + 1);
        return 0;
    }
    self = program_startup()->path;
    set_class(false);
    test_sharing();
    test_lies();
    test_authority();
    test_children();
    test_switching();
    test_samples();
    return finish_tests();
}
