/* goto.c - `tarn goto`: from an event of a deterministic run to the machine at that instant. */
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <tools/tarn/command/commands.h>
#include <tools/tarn/goto/child.h>
#include <tools/tarn/goto/journey.h>
#include <unistd.h>

#define COMMANDS_MAX 64u
#define GDB_BEFORE   "tarn before" /* command of tools/gdb: go to the previous event */
#define BEFORE_TEXT  "70"          /* exit status of gdb after it */

struct options {
    char *commands[COMMANDS_MAX];
    unsigned count;
    bool forgets, prepares;
};

static bool add_command(void *context, const struct command_option *option, const char *value,
                        struct fail *fail)
{
    struct options *options = context;
    if (options->count == COMMANDS_MAX)
        return fail_set(fail, "at most %u commands", COMMANDS_MAX);
    options->commands[options->count++] = (char *)value;
    return true;
}

static const struct command_option known[] = {
    {CALL("exec", "COMMAND", add_command, "run this command of gdb, and end; may be given several times")},
    {FLAG("forget", struct options, forgets,
          "end the copies of this run; with an EVENT, go there afterwards")},
    {FLAG("prepare", struct options, prepares,
          "make the copies of the whole run now, so that every later goto starts at one near its event"),
     .with = "forget"},
    {.name = NULL}};

#if __has_include(<asm/debugreg.h>) /* only x86 has it; see tools/emulator/copies.c */

/* A signal that ends tarn makes much fail, and is the reason. */
static void complain_of(const struct fail *fail)
{
    complain("%s", child_is_interrupted() ? "interrupted" : fail->text);
}

struct visit {
    const struct trace *trace;
    const struct recipe *recipe;
    const struct options *options;
    struct emulator emulator;
    bool has_event; /* to go to */
    unsigned begun; /* of the commands */
};

/* Runs gdb-multiarch on the stopped machine, at CPU, with tools/gdb and the symbols of kernel and program.
 * With COMMANDS, it executes them and ends; without, it uses the terminal.
 * WANTS_BEFORE: gdb ended to go to the previous event. */
static bool run_gdb(struct emulator *emulator, const struct recipe *recipe, uint32_t cpu,
                    char *const commands[], unsigned count, bool *wants_before, struct fail *fail)
{
    char script[PATH_MAX], root[PATH_MAX], sources[PATH_MAX + 20], remote[EMULATOR_PATH_MAX + 40], thread[40];
    char *words[2 * COMMANDS_MAX + 20] = {"gdb-multiarch",   "-nx",  "-q",   "-iex",
                                          "set confirm off", "-iex", sources};
    unsigned n = 7;
    if (!source_file("tools/gdb/tarn.py", script, fail) || !source_file(".", root, fail))
        return false;
    snprintf(sources, sizeof(sources), "directory %s", root); /* compiled with names from there on */
    snprintf(remote, sizeof(remote), "target remote %s", emulator->socket_path);
    snprintf(thread, sizeof(thread), "thread %u", cpu + 1);
    if (count > 0)
        words[n++] = "-batch";
    words[n++] = "-x", words[n++] = script, words[n++] = (char *)recipe->kernel.path;
    words[n++] = "-ex", words[n++] = remote, words[n++] = "-ex", words[n++] = thread;
    words[n++] = "-ex", words[n++] = "tarn program";
    for (unsigned i = 0; i < count; i++)
        words[n++] = "-ex", words[n++] = commands[i];
    setenv("TARN_GOTO_BEFORE", BEFORE_TEXT, 1);
    void (*before)(int) = signal(SIGINT, SIG_IGN); /* it is for gdb, which is asked to end at its
                                                      prompt, so that it restores the terminal */
    pid_t gdb = child_start(words, -1, count > 0 ? SIGKILL : SIGTERM);
    int status = gdb > 0 ? child_wait(gdb) : -1;
    signal(SIGINT, before);
    *wants_before = status == atoi(BEFORE_TEXT);
    return status == 0 || *wants_before ||
           fail_set(fail, status == CHILD_NOT_STARTED ? "cannot start gdb-multiarch; `make deps` installs it"
                                                      : "gdb ended with an error");
}

/* gdb at the event. A command that leads to another event is the last one here. */
static bool debug(struct visit *visit, uint32_t cpu, bool *wants_before, struct fail *fail)
{
    const struct options *options = visit->options;
    unsigned first = visit->begun, end = first;
    while (end < options->count)
        if (strcmp(options->commands[end++], GDB_BEFORE) == 0)
            break;
    visit->begun = end;
    bool is_over = options->count > 0 && first == end;
    return is_over || run_gdb(&visit->emulator, visit->recipe, cpu, &options->commands[first], end - first,
                              wants_before, fail);
}

static int go(struct visit *visit, const struct aim *aim, bool *wants_before)
{
    const struct options *options = visit->options;
    struct journey way = {.emulator = &visit->emulator, .aim = aim, .trace = visit->trace};
    struct fail fail = {""};
    *wants_before = false;
    enum journey_end end = journey(&way, &fail);
    if (end == JOURNEY_FAILED || child_is_interrupted()) {
        complain_of(&fail);
        return EXIT_USAGE;
    }
    if (end == JOURNEY_MISSED) {
        complain("this is not the run of the trace: it does not come to the event; for the first difference, "
                 "run it "
                 "again, and compare both traces by `tarn diff --first`");
        emulator_forget(&visit->emulator);
        return EXIT_DAMAGE;
    }
    fprintf(stderr, "event %" PRIu64 " of the trace, on CPU %u\n", aim->number, aim->stream->cpu);
    fprintf(stderr, "emulated %.2f s, from ", way.took);
    if (visit->emulator.began > 0)
        fprintf(stderr, "a copy at %.2f s of the guest's time\n", (double)visit->emulator.began / 1e9);
    else
        fprintf(stderr, "the start\n");
    fprintf(stderr,
            "%u copies of the emulator wait until %u minutes after their last use (--forget ends them)\n",
            emulator_count_copies(&visit->emulator), EMULATOR_MINUTES);
    if (options->prepares)
        return EXIT_OK;
    if (debug(visit, aim->stream->cpu, wants_before, &fail))
        return EXIT_OK;
    complain_of(&fail);
    return EXIT_USAGE;
}

static int run_visit(struct visit *visit, struct aim *aim)
{
    int status = EXIT_OK;
    bool wants_before = false;
    struct fail fail;
    if (!emulator_open(&visit->emulator, visit->recipe, &fail))
        status = fail_report(&fail, EXIT_USAGE);
    else if (visit->options->forgets)
        emulator_forget(&visit->emulator);
    while (status == EXIT_OK && visit->has_event) {
        status = go(visit, aim, &wants_before);
        if (status != EXIT_OK || !wants_before)
            break;
        if (!aim_before(aim, visit->trace, &fail))
            status = fail_report(&fail, EXIT_USAGE);
    }
    emulator_close(&visit->emulator);
    return status;
}

/* Reads the recipe of the trace's run. */
static bool read_recipe(struct recipe *recipe, const struct trace *trace, struct fail *fail)
{
    struct fail why = {""};
    const enum recipe_state state = recipe_judge(trace->directory, &trace->schema, &why);
    if (state == RECIPE_NONE)
        return fail_set(fail,
                        "%.200s has no recipe: `tarn goto` needs the trace of a deterministic run (make run "
                        "DETERMINISTIC=1)",
                        trace->directory);
    return state == RECIPE_DIFFERS ? fail_set(fail, "the recipe is not that of the trace: %.400s", why.text)
                                   : recipe_read(recipe, trace->directory, fail);
}

static int run_goto(int argc, char **argv)
{
    struct options options = {0};
    struct visit visit = {.options = &options};
    struct recipe recipe = {0};
    struct trace trace;
    struct fail fail;
    struct aim aim;
    int status = command_parse(&goto_command, (void *[]){&options}, argc, argv);
    if (status >= 0)
        return status;
    const char *event = argv[optind + 1];
    if (event == NULL && !options.forgets && !options.prepares)
        return complain_of_words(&goto_command, "an argument is missing");
    if (event != NULL && options.prepares)
        return complain_of_words(&goto_command, "--prepare takes no EVENT");
    if (!trace_open(&trace, argv[optind], &fail))
        return fail_report(&fail, EXIT_DAMAGE);
    visit.trace = &trace, visit.recipe = &recipe, visit.has_event = event != NULL || options.prepares;
    status = EXIT_USAGE;
    if (read_recipe(&recipe, &trace, &fail) &&
        (!visit.has_event ||
         (emulator_check_recipe(&recipe, &fail) &&
          (options.prepares ? aim_last(&aim, &trace, &fail) : aim_find(&aim, &trace, event, &fail))))) {
        status = run_visit(&visit, &aim);
    } else {
        complain("%s", fail.text);
    }
    recipe_free(&recipe);
    trace_close(&trace);
    return status;
}

#else
static int run_goto(int argc, char **argv)
{
    struct options options;
    int status = command_parse(&goto_command, (void *[]){&options}, argc, argv);
    if (status < 0)
        complain("goto does not work on this host (see Host in tarn-goto(1))");
    return status < 0 ? EXIT_USAGE : status;
}
#endif

const struct command goto_command =
    COMMAND("goto", "run a deterministic guest again up to an event, and open gdb there",
            "[OPTION]... DIRECTORY EVENT|TIME\n--prepare DIRECTORY\n--forget DIRECTORY", 1, 2, run_goto, NULL,
            {NULL, known});
