/*
 * trace_load.c - all that can be switched is switched by several programs in tight loops, while others start,
 * work and are killed; then the trace works as before.
 *
 * As trace_load_long it takes ten minutes.
 */
#include "child.h"
#include "routine_tables.h"
#include "run.h"
#include "settings.h"

#define MS 1000000ull

enum { ONLY_ROUTINES = 2 };

static int64_t set_drain(uint64_t bits)
{
    const int64_t notification = sys_notification_create();
    const int64_t result = control(TRACE_OP_SET_DRAIN, (uint64_t)notification, bits);
    sys_cap_close((cap_t)notification);
    return result;
}

/* `kind`: of set_something, or any. */
static int64_t switch_something(uint64_t *random, uint64_t kind)
{
    const struct trace_info *info = arch_trace_info();
    const uint64_t a = child_random(random), b = child_random(random),
                   any = child_random(random) % (SETTINGS + 4);
    switch (kind ? kind : any) {
    case SETTINGS:
        return set_drain(1 + a % 7);
    case SETTINGS + 1:
        return sys_trace_consume(SLOT_TRACE, (uint32_t)(a % 5),
                                 info->consumed[a % 5 % info->cpu_count] + b % 3);
    case SETTINGS + 2:
        return control(TRACE_OP_BIND_COUNTERS, a & 1 ? 0 : a & 2 ? 1 : b, 0);
    case SETTINGS + 3:
        return control(TRACE_OP_SET_PROFILE, a & 1 ? 0 : 50000 + b % 1000000, (a >> 1) % 3);
    default:
        return set_something(kind ? kind : any, a);
    }
}

static bool is_expected(int64_t result)
{
    return result >= 0 || result == -E_BUSY || result == -E_BAD_ARGUMENT || result == -E_NOT_FOUND ||
           result == -E_NO_MEMORY || result == -E_UNSUPPORTED || result == -E_TOO_LARGE;
}

/* `words`: kind, seed, nanoseconds. Returns its exit status. */
static int play_switcher(char *const *words)
{
    const uint64_t kind = strtoull(words[0], NULL, 0), seed = strtoull(words[1], NULL, 0),
                   end = deadline_after(strtoull(words[2], NULL, 0));
    uint64_t random = seed * 0x9e3779b97f4a7c15ull | 1;
    while (clock_monotonic_ns() < end) {
        const int64_t result = switch_something(&random, kind);
        if (!is_expected(result)) {
            printf("# %s\n", tarn_error_text((int)result));
            return 1;
        }
    }
    return 0;
}

/* An exchange whose market was killed would wait for orders, and keep its class of events, for ever. */
static void end_exchanges(void)
{
    static struct system_space spaces[64];
    int64_t bytes = sys_system_read(SYSTEM_SPACES, 0, spaces, sizeof spaces);
    for (uint64_t i = 0; bytes > 0 && i < (uint64_t)bytes / sizeof *spaces; i++)
        if (!strcmp(spaces[i].name, "market"))
            kill((pid_t)spaces[i].pid, SIGKILL);
}

/* Some of them, half of which are killed. */
static void start_and_kill(uint64_t *random, const posix_spawn_file_actions_t *actions)
{
    static const char *const programs[][5] = {
        {"true"},   {"ls", "/bin"}, {"sh", "-c", "ls /etc | wc"}, {"lockstorm", "4", "200"},
        {"market"}, {"ps"}};
    enum { AT_A_TIME = 5 };
    pid_t pid[AT_A_TIME];
    for (unsigned i = 0; i < AT_A_TIME; i++)
        pid[i] =
            start_words(programs[child_random(random) % (sizeof programs / sizeof *programs)], actions, NULL);
    sys_thread_sleep(deadline_after(child_random(random) % (30 * MS)));
    for (unsigned i = 0; i < AT_A_TIME; i++)
        if (pid[i] > 0 && child_random(random) % 2)
            kill(pid[i], SIGKILL);
    for (unsigned i = 0; i < AT_A_TIME; i++)
        status_of(pid[i]);
    end_exchanges();
}

static void switch_under_load(const char *self, unsigned kind, uint64_t ns)
{
    enum { SWITCHERS = 2 };
    uint64_t end = deadline_after(ns), random = 7;
    posix_spawn_file_actions_t actions;
    pid_t pid[SWITCHERS];
    bool good = true;
    for (unsigned i = 0; i < SWITCHERS; i++) {
        char word[3][24];
        snprintf(word[0], sizeof word[0], "%u", kind);
        snprintf(word[1], sizeof word[1], "%u", i + 1);
        snprintf(word[2], sizeof word[2], "%lu", ns);
        pid[i] = start_program(self, "switch", word[0], word[1], word[2]);
    }
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, "/tmp/trace_load", O_CREAT | O_WRONLY, 0666);
    while (clock_monotonic_ns() < end)
        start_and_kill(&random, &actions);
    posix_spawn_file_actions_destroy(&actions);
    for (unsigned i = 0; i < SWITCHERS; i++)
        good &= status_of(pid[i]) == 0;
    unlink("/tmp/trace_load");
    check(good, "%s switched under load", kind == ONLY_ROUTINES ? "routines are" : "everything is");
}

#define NUMBER 0x7e570000ull /* no other program logs such ones */

static void test_events(void)
{
    const uint32_t cpus = arch_trace_info()->cpu_count;
    const uint64_t mask = arch_trace_info()->mask;
    uint32_t heard = 0;
    control(TRACE_OP_SET_MASK, CLASS_USER_BIT, 0);
    for (uint32_t cpu = 0; cpu < cpus; cpu++) {
        move_to(cpu);
        log_numbers(NUMBER + cpu, NUMBER + cpu + 1);
        const struct numbers numbers = find_numbers(NUMBER + cpu, NUMBER + cpu + 1);
        heard += numbers.on_cpu[cpu] == 1;
    }
    check(heard == cpus, "each CPU logs: %u of %u", heard, cpus);
    process_set_affinity(~0ull);
    control(TRACE_OP_SET_MASK, mask, 0);
}

static void test_routines(void)
{
    uint32_t routines = 0, right = 0;
    check(switch_routines(1) == 0, "routines are switched on");
    sys_thread_sleep(deadline_after(20 * MS));
    for (; next(SLOT_TRACE); routines++)
        right += adds_up();
    check(routines > arch_trace_info()->cpu_count && right == routines, "and add up: %u of %u", right,
          routines);
    tarnprof_free(&table);
    switch_routines(0);
}

int main(int argc, char **argv)
{
    const bool is_long = strstr(argv[0], "_long");
    if (argc == 5)
        return play_switcher(argv + 2);
    const uint64_t ns = (is_long ? 600 : 1 + REPEATS(3)) * 500 * MS;
    switch_under_load(argv[0], ONLY_ROUTINES, ns); /* each change is followed by others at once */
    switch_under_load(argv[0], 0, ns);
    control(TRACE_OP_SET_ROUTINES, 0, 0);
    /* A switcher may have ended in the middle of a change of sizes, which the heartbeat completes. */
    bool is_back = false;
    for (uint64_t end = deadline_after(30000 * MS); !is_back && clock_monotonic_ns() < end;)
        is_back = run_program("trace", "study", "default") == 0;
    check(is_back, "the trace is set back");
    test_events();
    test_routines();
    return finish_tests();
}
