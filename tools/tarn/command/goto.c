/* SPDX-License-Identifier: BSD-2-Clause */
/* tools/tarn/command/goto.c - `tarn goto`: from an event of a deterministic run to the machine at that
 * instant. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tools/tarn/goto/child.h>
#include <tools/tarn/goto/journey.h>
#include <tools/tarn/goto/recipe_check.h>
#include <tools/tarn/goto/session.h>
#include <tools/tarn/goto/verify.h>
#include <tools/tarn/options.h>

static const char help[] =
    "Runs a deterministic guest again (make run DETERMINISTIC=1), stops it where it logs an event, and\n"
    "opens gdb there, with the symbols of the kernel and of the program that runs, and the commands of\n"
    "tools/gdb. What the run has logged by then is compared with the trace.\n\n"
    "EVENT is a number as `tarn list --numbers` shows it. TIME is seconds since the trace's start, with a\n"
    "point (0.5), or @SECONDS on its clock; it means the first event that is not before it.\n\n"
    "  --exec COMMAND      run this command of gdb, and end; may be given several times\n"
    "  --core FILE         write a memory dump, for `tarn pull core:FILE` and gdb, instead\n"
    "  --help              this text\n";

struct options {
    char *commands[SESSION_COMMANDS_MAX];
    unsigned count;
    const char *core;
};

static bool take_option(void *context, int option, const char *value, struct fail *fail)
{
    struct options *options = context;

    if (option == 'c')
        options->core = value;
    else if (options->count == SESSION_COMMANDS_MAX)
        return fail_set(fail, "at most %u commands", SESSION_COMMANDS_MAX);
    else
        options->commands[options->count++] = (char *)value;
    return true;
}

static const struct option known[] = {{"exec", required_argument, NULL, 'e'},
                                      {"core", required_argument, NULL, 'c'},
                                      {"help", no_argument, NULL, 'h'},
                                      {NULL, 0, NULL, 0}};
static const struct command_line line = {.words = "[OPTION]... DIRECTORY EVENT|TIME",
                                         .help = help,
                                         .known = known,
                                         .letters = "",
                                         .least = 2,
                                         .most = 2,
                                         .take = take_option};

/* Says whether the run is the trace's, as far as can be seen where it stands. */
static bool is_same_run(const struct trace *trace, struct emulator *emulator, enum journey_end end)
{
    struct difference difference;
    struct fail fail;

    if (!verify_rings(&difference, trace, emulator->memory, &fail)) {
        if (end == JOURNEY_THERE) /* early in boot */
            fprintf(stderr, "the event agrees with the trace; no other can be compared yet\n");
        else
            complain("the run cannot be compared with the trace: %s", fail.text);
        return end == JOURNEY_THERE;
    }
    if (difference.found) {
        complain("this is not the run of the trace; the first difference:");
        difference_print(&difference, trace);
    } else if (end == JOURNEY_MISSED) {
        complain("the run does not come to the event: what is left of it agrees with the trace in %" PRIu64
                 " events",
                 difference.compared);
    } else {
        fprintf(stderr, "%" PRIu64 " events agree with the trace\n", difference.compared);
    }
    difference_free(&difference);
    return !difference.found && end == JOURNEY_THERE;
}

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
    unsigned begun; /* of the commands */
};

/* gdb at the event. A command that leads to another event is the last one here. */
static bool debug(struct visit *visit, uint32_t cpu, bool *wants_before, struct fail *fail)
{
    const struct options *options = visit->options;
    unsigned first = visit->begun, end = first;

    while (end < options->count)
        if (strcmp(options->commands[end++], SESSION_BEFORE) == 0)
            break;
    visit->begun = end;
    bool is_over = options->count > 0 && first == end;
    return is_over || session_gdb(&visit->emulator, visit->recipe, cpu, &options->commands[first],
                                  end - first, wants_before, fail);
}

static int go(struct visit *visit, const struct aim *aim, bool *wants_before)
{
    const struct options *options = visit->options;
    const struct trace *trace = visit->trace;
    struct fail fail = {""};

    *wants_before = false;
    enum journey_end end = journey(&visit->emulator, visit->recipe, aim, trace->schema.big_endian, &fail);
    if (end == JOURNEY_FAILED || child_is_interrupted()) {
        complain_of(&fail);
        return EXIT_USAGE;
    }
    if (!is_same_run(trace, &visit->emulator, end))
        return EXIT_DAMAGE;
    fprintf(stderr, "event %" PRIu64 " of the trace, on processor %u\n", aim->number, aim->stream->cpu);
    bool fine = options->core == NULL || session_dump(&visit->emulator, options->core, &fail);
    if (fine && (options->core == NULL || options->count > 0))
        fine = debug(visit, aim->stream->cpu, wants_before, &fail);
    if (!fine)
        complain_of(&fail);
    return fine ? EXIT_FINE : EXIT_USAGE;
}

static int go_all(struct visit *visit, struct aim *aim)
{
    bool wants_before;
    struct fail fail;
    int status;

    while ((status = go(visit, aim, &wants_before)) == EXIT_FINE && wants_before)
        if (!aim_before(aim, visit->trace, &fail)) {
            complain("%s", fail.text);
            return EXIT_USAGE;
        }
    return status;
}

/* Can the trace's run be started again? */
static bool read_recipe(struct recipe *recipe, const struct trace *trace, struct fail *fail)
{
    struct fail why = {""};

    switch (recipe_judge(trace->directory, &trace->schema, &why)) {
    case RECIPE_NONE:
        return fail_set(fail,
                        "%.200s has no recipe: only a deterministic run can be gone back to (make run "
                        "DETERMINISTIC=1)",
                        trace->directory);
    case RECIPE_DIFFERS:
        return fail_set(fail, "the recipe is not that of the trace: %.400s", why.text);
    default:
        return recipe_read(recipe, trace->directory, fail) && recipe_check(recipe, fail);
    }
}

int run_goto(int argc, char **argv)
{
    struct options options = {.count = 0};
    struct visit visit = {.options = &options};
    struct recipe recipe = {0};
    struct trace trace;
    struct fail fail;
    struct aim aim;
    int status = take_command_line(&line, &options, argc, argv);

    if (status >= 0)
        return status;
    if (!trace_open(&trace, argv[optind], &fail)) {
        complain("%s", fail.text);
        return EXIT_DAMAGE;
    }
    visit.trace = &trace, visit.recipe = &recipe;
    status = EXIT_USAGE;
    if (read_recipe(&recipe, &trace, &fail) && aim_find(&aim, &trace, argv[optind + 1], &fail)) {
        if (emulator_open(&visit.emulator, &fail))
            status = go_all(&visit, &aim);
        else
            complain("%s", fail.text);
        emulator_close(&visit.emulator);
    } else {
        complain("%s", fail.text);
    }
    recipe_free(&recipe);
    trace_close(&trace);
    return status;
}
