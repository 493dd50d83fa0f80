/*
 * debug.c - starts the kernel debugger, and causes hangs and panics for tests. During a debugger session all
 * CPUs are stopped and the debugger has the console until `continue` (kernel/debug/README.md).
 *
 *   debug             start a session
 *   debug breakpoint  the same, by a breakpoint instruction in the kernel
 *   debug hang MS|noticed [CPU]...
 *                     make one CPU, or those listed, hang for MS milliseconds with interrupts disabled;
 *                     `noticed`: until the watchdog has reported all of them or a debugger session ends.
 *                     Needs the boot option debug.hang=1
 *   debug lock MS|noticed
 *                     one CPU hangs as above while it holds a kernel lock, another one spins for the lock.
 *                     Needs debug.hang=1
 *   debug panic KIND  panic the kernel in one of several ways. Needs debug.panic=1
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <tarn/error.h>
#include <tarn/runtime.h>
#include <user/bin/util.h>

static const char synopsis[] =
    "[breakpoint | hang MS|noticed [CPU, 0 to 31]... | lock MS|noticed | panic KIND]";

/* Arguments of machine_debug. */
struct operation {
    uint32_t what;
    uint64_t argument;
};

static uint64_t duration(const char *word)
{
    return !strcmp(word, "noticed") ? MACHINE_HANG_NOTICED : read_number(word, 0, UINT32_MAX - 1, synopsis);
}

static uint64_t hang_argument(int count, char **words)
{
    uint64_t argument = duration(words[0]);
    for (int i = 1; i < count; i++)
        argument |= 1ull << (32 + read_number(words[i], 0, 31, synopsis));
    return argument;
}

static const char *const panics[] = {
    [MACHINE_PANIC_PLAIN] = "plain", [MACHINE_PANIC_NULL] = "null",     [MACHINE_PANIC_CONSOLE] = "console",
    [MACHINE_PANIC_ALL] = "all",     [MACHINE_PANIC_FAULTS] = "faults",
};
#define PANICS (sizeof panics / sizeof panics[0])

static uint64_t panic_named(const char *name)
{
    for (uint64_t kind = 0; kind < PANICS; kind++)
        if (!strcmp(panics[kind], name))
            return kind;
    usage("panic plain | null | console | all | faults");
}

static void parse(int argc, char **argv, struct operation *operation)
{
    if (argc == 1)
        operation->what = MACHINE_DEBUG_ENTER;
    else if (argc == 2 && !strcmp(argv[1], "breakpoint"))
        operation->what = MACHINE_DEBUG_BREAKPOINT;
    else if (argc >= 3 && !strcmp(argv[1], "hang"))
        operation->what = MACHINE_DEBUG_HANG, operation->argument = hang_argument(argc - 2, argv + 2);
    else if (argc == 3 && !strcmp(argv[1], "lock"))
        operation->what = MACHINE_DEBUG_LOCK, operation->argument = duration(argv[2]);
    else if (argc == 3 && !strcmp(argv[1], "panic"))
        operation->what = MACHINE_DEBUG_PANIC, operation->argument = panic_named(argv[2]);
    else
        usage(synopsis);
}

/* The boot option that the operation needs, or NULL. */
static const char *option_needed(uint64_t what)
{
    return what == MACHINE_DEBUG_PANIC                                ? "debug.panic=1"
           : what == MACHINE_DEBUG_HANG || what == MACHINE_DEBUG_LOCK ? "debug.hang=1"
                                                                      : NULL;
}

static int ask(struct operation operation)
{
    const char *option = option_needed(operation.what);
    int64_t error = sys_machine_debug(SLOT_MACHINE, operation.what, operation.argument);
    if (error == -E_UNSUPPORTED && option)
        return refuse("needs the boot option %s", option);
    return error ? refuse("the kernel refused: %s", tarn_error_text((int)error)) : 0;
}

static pthread_barrier_t both;

static void *ask_together(void *operation)
{
    pthread_barrier_wait(&both);
    ask(*(struct operation *)operation);
    return NULL;
}

/* Both threads must run before a CPU hangs, because creating a thread involves all CPUs. */
static int ask_twice(struct operation operation)
{
    pthread_t thread;
    pthread_barrier_init(&both, NULL, 2);
    if ((errno = pthread_create(&thread, NULL, ask_together, &operation)))
        return complain("cannot create a thread");
    ask_together(&operation);
    pthread_join(thread, NULL);
    return 0;
}

int main(int argc, char **argv)
{
    program_name = "debug";
    struct operation operation = {0};
    parse(argc, argv, &operation);
    if (!slot_is_filled(SLOT_MACHINE))
        return refuse_without("machine");
    return operation.what == MACHINE_DEBUG_LOCK ? ask_twice(operation) : ask(operation);
}
