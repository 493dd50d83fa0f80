/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ctl.c - `tarn ctl SOURCE COMMAND`: shows and sets what a running guest traces.
 *
 * Each command is one request of the link protocol (trace/format/WIRE.md), except `snapshot`, which is a
 * pull.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tarn/error.h>
#include <tools/tarn/command/commands.h>
#include <tools/tarn/command/ctl_counters.h>
#include <tools/tarn/help.h>
#include <tools/tarn/source/lock_classes.h>
#include <trace/events.h>
#include <trace/print/words.h>

struct ctl {
    struct source *source;
    bool json;
    double wait;
};

/* ---- arguments ------------------------------------------------------------------- */

static bool parse_number(const char *text, uint64_t *number, struct fail *fail)
{
    char *end;

    errno = 0;
    *number = strtoull(text, &end, 0);
    uint64_t unit = 1;
    if (end != text && (*end == 'k' || *end == 'K'))
        unit = 1024, end++;
    else if (end != text && (*end == 'm' || *end == 'M'))
        unit = 1 << 20, end++;
    if (end == text || *end || errno || text[0] == '-' || *number > ~0ull / unit)
        return fail_set(fail, "'%s' is not a number", text);
    *number *= unit;
    return true;
}

static bool parse_microseconds(const char *text, uint64_t *ns, struct fail *fail)
{
    if (!parse_number(text, ns, fail))
        return false;
    if (*ns > UINT64_MAX / 1000)
        return fail_set(fail, "'%s' is too large", text);
    *ns *= 1000;
    return true;
}

static bool parse_on(const char *text, uint64_t *on, struct fail *fail)
{
    *on = strcmp(text, "on") == 0;
    return *on || strcmp(text, "off") == 0 || fail_set(fail, "'%s' is neither on nor off", text);
}

static bool parse_mode_word(const char *text, uint64_t *mode, struct fail *fail)
{
    uint32_t number;
    bool ok = parse_mode(text, &number, fail);
    *mode = number;
    return ok;
}

static bool parse_percent(const char *text, uint64_t *percent, struct fail *fail)
{
    struct fail ignored;
    return (parse_number(text, percent, &ignored) && *percent <= 100) ||
           fail_set(fail, "'%s' is not a percentage of a ring, 0 to 100", text);
}

static bool parse_profiles(const char *text, uint64_t *level, struct fail *fail)
{
    static const char *const levels[] = {"off", "on", "all"};

    for (*level = 0; *level < 3; ++*level)
        if (strcmp(text, levels[*level]) == 0)
            return true;
    return fail_set(fail, "'%s' is none of on, all and off", text);
}

static const struct ctl_command {
    const char *name, *arguments; /* NULL: none */
    uint32_t operation;
    bool (*parse_a)(const char *, uint64_t *, struct fail *);
    bool (*parse_b)(const char *, uint64_t *, struct fail *);
    const char *text;
} commands[] = {
    {"statistics", NULL, WIRE_OP_STATISTICS, NULL, NULL,
     "show mask, mode, geometry and the counters of each CPU (the default)"},
    {"mask", "MASK", WIRE_OP_SET_MASK, parse_mask, NULL,
     "set the event classes to trace: all, basic (without " TRACE_DETAIL_NAMES "), none, a number, or names "
     "separated by commas"},
    {"mode", "MODE", WIRE_OP_SET_MODE, parse_mode_word, NULL,
     "flight (overwrite the oldest), stream (wait for a pull), once (stop when full)"},
    {"low-water", "PERCENT", WIRE_OP_SET_LOW_WATER, parse_percent, NULL,
     "set the low-water mark: in mode stream, wake the trace server when at most so much of a CPU's ring is "
     "free; 0: nothing, 100: at every packet. It may change during a pull"},
    {"start", NULL, WIRE_OP_START, NULL, NULL,
     "resume tracing with the mask from before the last stop, or with all classes"},
    {"stop", NULL, WIRE_OP_STOP, NULL, NULL, "stop tracing; a running pull copies what is left and ends"},
    {"switch", "EVENTS on|off", WIRE_OP_SWITCH_EVENTS, NULL, NULL,
     "switch single events, also those of applications: sched.wakeup, ipc.call,ipc.return, or sched for the "
     "whole class; * stands for any letters: sched.*queue. Events are logged only while their class is "
     "traced"},
    {"sample", "EVENTS N", WIRE_OP_SAMPLE_EVENTS, NULL, NULL,
     "log only one in N of the events with these names on each CPU; 1: all. `trace sample` in the guest "
     "lists the events that can be sampled, `tarn stats` estimates how many there were"},
    {"threshold", "EVENTS DURATION", WIRE_OP_SET_THRESHOLD, NULL, NULL,
     "log only events with these names that lasted at least DURATION (500ns, 10us, 2ms, 1s); 0: all."
     " `trace threshold` in the guest lists the events that have a threshold"},
    {"buffers", "COUNT [SIZE]|boot", WIRE_OP_SET_GEOMETRY, NULL, NULL,
     "set the number of each CPU's buffers, and their size (16k to 4m), powers of two; boot: as after the "
     "boot. Nothing in the "
     "buffers is lost, also during a pull; a flight recorder that gets smaller keeps the newest. Refused (in "
     "use) if what no pull has taken would not fit: pull it first, or clear"},
    {"clear", NULL, WIRE_OP_CLEAR, NULL, NULL,
     "discard all logged events, and release the event classes of ended programs; refused during a pull"},
    {"flush", NULL, WIRE_OP_FLUSH, NULL, NULL, "close the open packets"},
    {"statedump", NULL, WIRE_OP_STATEDUMP, NULL, NULL,
     "log what exists: processes, threads, executables, lock classes, interrupts"},
    {"drop-previous", NULL, WIRE_OP_DROP_PREVIOUS, NULL, NULL,
     "discard the trace of the previous boot and free its memory"},
    {"profile", "US", WIRE_OP_SET_PROFILE, parse_microseconds, NULL,
     "sample every busy CPU each US microseconds on average (20 to 10000000); 0: stop sampling. `tarn "
     "profile` shows the samples"},
    {"profile", "COUNT COUNTER", WIRE_OP_SET_PROFILE, NULL, NULL,
     "sample every busy CPU each COUNT counts (20000 to 10^12) of a hardware counter, such as instructions"},
    {"profiles", "on|all|off", WIRE_OP_SET_PROFILES, parse_profiles, NULL,
     "count how often and how long each thread is in each routine of the kernel, and of programs that "
     "declare "
     "theirs; all: also in POSIX calls, requests to servers and allocation. Begins anew. `tarn profiles` "
     "shows "
     "the result"},
    {"counters", "[NAMES]", WIRE_OP_COUNTERS, NULL, NULL,
     "log what up to 4 hardware counters count, for each run of a thread and each system call, as events of "
     "class counter; NAMES is a list such as instructions,cycles, or none. Without NAMES: list the "
     "counters of the guest. `tarn counters` shows the results"},
    {"locks", NULL, WIRE_OP_LOCK_CLASSES, NULL, NULL,
     "list lock classes, their sampling, and how many acquisitions had to wait"},
    {"watch", "CLASS [N]", WIRE_OP_SAMPLE_LOCKS, NULL, NULL,
     "sample one of N acquisitions of a lock class, with its hold time; without N: each one; 0: none. They "
     "are "
     "counted in the tables, and logged if class lock is on. "
     "CLASS is a name, in which spaces may be written as underscores, or all or none. `tarn locks` shows the "
     "results"},
    {"snapshot", "DIR", 0, NULL, NULL,
     "write the current contents of the buffers to DIR, as `tarn pull --snapshot`"},
};
#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

static void describe_commands(struct page *page, const struct command *self)
{
    page_heading(page, "Commands");
    for (size_t i = 0; i < COMMANDS; i++)
        page_entry(page, commands[i].name, commands[i].arguments, commands[i].text);
}

/* ---- statistics ---------------------------------------------------------------------------------- */

struct statistics {
    struct wire_hello hello;
    uint32_t count, low_water;
    struct wire_cpu_status cpu[WIRE_CPUS_MAX];
    uint64_t switches[WIRE_CLASSES];
};

static bool parse_statistics(struct statistics *statistics, const uint8_t *data, size_t size,
                             struct fail *fail)
{
    if (size < WIRE_HELLO_BYTES + 8)
        return fail_set(fail, "the guest's statistics are only %zu bytes long", WIRE_HELLO_BYTES + 8 - size);
    wire_get_hello(data, &statistics->hello);
    statistics->count = wire_get32(data + WIRE_HELLO_BYTES);
    statistics->low_water = wire_get32(data + WIRE_HELLO_BYTES + 4);
    if (statistics->count > WIRE_CPUS_MAX ||
        size < WIRE_HELLO_BYTES + 8 + statistics->count * WIRE_CPU_STATUS_BYTES + 8 * WIRE_CLASSES)
        return fail_set(fail, "the guest's statistics are invalid");
    data += WIRE_HELLO_BYTES + 8;
    for (uint32_t cpu = 0; cpu < statistics->count; cpu++, data += WIRE_CPU_STATUS_BYTES)
        wire_get_cpu_status(data, &statistics->cpu[cpu]);
    for (uint32_t class = 0; class < WIRE_CLASSES; class ++, data += 8)
        statistics->switches[class] = wire_get64(data);
    return true;
}

static void print_statistics(const struct statistics *statistics)
{
    const struct wire_hello *hello = &statistics->hello;

    printf("machine   %s, %u CPUs, %s-endian, clock %.3f MHz\n", hello->machine, hello->cpu_count,
           hello->byte_order == 1 ? "little" : "big", (double)hello->clock_hz * 1e-6);
    printf("mode      %s%s\n", trace_mode_name(hello->mode),
           hello->flags & WIRE_HELLO_PULLING ? ", being pulled" : "");
    printf("low water %u %% of a CPU's ring\n", statistics->low_water);
    if (hello->flags & WIRE_HELLO_PREVIOUS)
        printf("previous  the trace of the previous boot is in memory: tarn pull --previous\n");
    printf("buffers   %llu of %llu KiB per CPU\n", (unsigned long long)hello->buffer_count,
           (unsigned long long)hello->buffer_bytes >> 10);
    printf("mask      0x%016llx\n", (unsigned long long)hello->mask);
    printf("classes  ");
    for (uint32_t class = 0; class < WIRE_CLASSES; class ++)
        if (hello->mask >> class & 1 && trace_class_table[class].name)
            printf(" %s", trace_class_table[class].name);
    printf("\n");
    for (uint32_t class = 0; class < WIRE_CLASSES; class ++)
        if (statistics->switches[class] != ~0ull && trace_class_table[class].name)
            printf("switches  %s 0x%016llx\n", trace_class_table[class].name,
                   (unsigned long long)statistics->switches[class]);
    printf("\n%4s %12s %12s %12s %12s\n", "cpu", "packet", "consumed", "discarded", "torn words");
    for (uint32_t cpu = 0; cpu < statistics->count; cpu++)
        printf("%4u %12llu %12llu %12llu %12llu\n", cpu, (unsigned long long)statistics->cpu[cpu].head,
               (unsigned long long)statistics->cpu[cpu].next,
               (unsigned long long)statistics->cpu[cpu].discarded,
               (unsigned long long)statistics->cpu[cpu].torn);
}

static void print_statistics_json(const struct statistics *statistics)
{
    const struct wire_hello *hello = &statistics->hello;
    const char *comma = "";
    char machine[2 * sizeof(hello->machine)] = "";

    for (size_t i = 0, to = 0; i < sizeof(hello->machine) && hello->machine[i]; i++)
        if (hello->machine[i] >= ' ' && hello->machine[i] < 127 && !strchr("\"\\", hello->machine[i]))
            machine[to++] = hello->machine[i];
    printf(
        "{\"machine\": \"%s\", \"cpus\": %u, \"byte_order\": \"%s\", \"clock_hz\": %llu, \"mode\": \"%s\", "
        "\"pulling\": %s, \"low_water\": %u, \"buffer_bytes\": %llu, \"buffer_count\": %llu, \"mask\": "
        "\"0x%016llx\", "
        "\"switches\": {",
        machine, hello->cpu_count, hello->byte_order == 1 ? "little" : "big",
        (unsigned long long)hello->clock_hz, trace_mode_name(hello->mode),
        hello->flags & WIRE_HELLO_PULLING ? "true" : "false", statistics->low_water,
        (unsigned long long)hello->buffer_bytes, (unsigned long long)hello->buffer_count,
        (unsigned long long)hello->mask);
    for (uint32_t class = 0; class < WIRE_CLASSES; class ++)
        if (trace_class_table[class].name) {
            printf("%s\"%s\": \"0x%016llx\"", comma, trace_class_table[class].name,
                   (unsigned long long)statistics->switches[class]);
            comma = ", ";
        }
    printf("}, \"processors\": [");
    for (uint32_t cpu = 0; cpu < statistics->count; cpu++)
        printf("%s{\"cpu\": %u, \"packet\": %llu, \"consumed\": %llu, \"discarded\": %llu, \"torn_words\": "
               "%llu}",
               cpu ? ", " : "", cpu, (unsigned long long)statistics->cpu[cpu].head,
               (unsigned long long)statistics->cpu[cpu].next,
               (unsigned long long)statistics->cpu[cpu].discarded,
               (unsigned long long)statistics->cpu[cpu].torn);
    printf("]}\n");
}

/* ---- requests ------------------------------------------------------------------------------------- */

/* Introduces the guest's error. */
static const char *what_is_missing(uint32_t operation)
{
    if (operation == WIRE_OP_SWITCH_EVENTS)
        return "an event with one of these names: ";
    if (operation == WIRE_OP_SAMPLE_EVENTS)
        return "an event with one of these names that can be sampled (`trace sample` in the guest lists "
               "them): ";
    if (operation == WIRE_OP_SET_THRESHOLD)
        return "an event with one of these names that has a threshold (`trace threshold` in the guest lists "
               "them): ";
    return "";
}

static bool run_request(struct ctl *ctl, const struct wire_request *request, struct fail *fail)
{
    struct statistics statistics;
    struct source_reply reply = {0};

    if (!source_control(ctl->source, request, what_is_missing(request->operation), &reply, fail)) {
        if (request->operation == WIRE_OP_SET_GEOMETRY && reply.status == -E_BUSY)
            fail_set(fail,
                     "the smaller buffers do not hold what no reader has taken: pull it first, or clear "
                     "the trace; or other sizes are just being set");
        return false;
    }
    if (request->operation != WIRE_OP_STATISTICS) {
        if (ctl->json)
            printf("{\"status\": %d}\n", reply.status);
        return true;
    }
    if (!parse_statistics(&statistics, reply.data, reply.size, fail))
        return false;
    (ctl->json ? print_statistics_json : print_statistics)(&statistics);
    return true;
}

/* ---- classes of locks ---------------------------------------------------------------------------- */

static void print_lock_classes(const struct lock_classes *classes)
{
    printf("%-20s %12s %14s\n", "class", "sampled", "contended");
    for (uint32_t i = 0; i < classes->count; i++) {
        const struct wire_lock_class *class = &classes->class[i];
        char sampled[32] = "-", contended[32] = "-";

        if (class->sample_every != 0)
            snprintf(sampled, sizeof(sampled), "1 of %u", class->sample_every);
        if (strncmp(class->name, "user ", 5) != 0) /* contention in programs is not counted */
            snprintf(contended, sizeof(contended), "%llu", (unsigned long long)class->contended);
        printf("%-20s %12s %14s\n", class->name, sampled, contended);
    }
}

static void print_lock_classes_json(const struct lock_classes *classes)
{
    printf("{\"lock_classes\": [");
    for (uint32_t i = 0; i < classes->count; i++)
        printf("%s{\"name\": \"%s\", \"number\": %u, \"watch\": %u, \"contended\": %llu}", i ? ", " : "",
               classes->class[i].name, classes->class[i].number, classes->class[i].sample_every,
               (unsigned long long)classes->class[i].contended);
    printf("]}\n");
}

/* Spaces in a name may be written as underscores. */
static bool is_lock_class(const char *name, const char *word)
{
    for (; *name != '\0' && (*name == *word || (*name == ' ' && *word == '_')); name++)
        word++;
    return *name == '\0' && *word == '\0';
}

/* The generic kernel and the port may have classes of the same name. */
static bool sample_locks(struct ctl *ctl, const char *word, const struct wire_request *wanted,
                         struct fail *fail)
{
    struct wire_request request = *wanted;
    struct lock_classes classes;
    bool found = false, ok = true;

    if (strcmp(word, "all") == 0 || strcmp(word, "none") == 0)
        return run_request(ctl, wanted, fail);
    if (!lock_classes_ask(ctl->source, &classes, fail))
        return false;
    for (uint32_t i = 0; i < classes.count && ok; i++) {
        if (!is_lock_class(classes.class[i].name, word))
            continue;
        request.a = classes.class[i].number;
        ok = run_request(ctl, &request, fail);
        found = true;
    }
    return found ? ok : fail_set(fail, "no lock class '%s'; tarn ctl ... locks lists them", word);
}

static bool list_locks(struct ctl *ctl, struct fail *fail)
{
    struct lock_classes classes;

    if (!lock_classes_ask(ctl->source, &classes, fail))
        return false;
    (ctl->json ? print_lock_classes_json : print_lock_classes)(&classes);
    return true;
}

static bool parse_sampling(int argc, char **argv, struct wire_request *request, struct fail *fail)
{
    request->operation = WIRE_OP_SAMPLE_LOCKS;
    request->a = UINT64_MAX;
    request->b = 1;
    if (argc != 2 && argc != 3)
        return fail_set(fail, "watch takes a class and optionally a number; see tarn ctl --help");
    if (argc == 3 && !parse_number(argv[2], &request->b, fail))
        return false;
    if (strcmp(argv[1], "none") == 0)
        request->b = 0;
    return true;
}

/* ---- hardware counters --------------------------------------------------------------------------- */

/* WORDS: counters [NAMES]. */
static bool bind_counters(struct ctl *ctl, char **words, struct fail *fail)
{
    struct wire_request request = {.operation = WIRE_OP_BIND_COUNTERS};
    struct counter_list counters;

    if (!counters_ask(ctl->source, &counters, fail))
        return false;
    if (words[1] != NULL)
        return counters_parse(&counters, words[1], &request.a, fail) && run_request(ctl, &request, fail);
    counters_print(&counters, ctl->json);
    return true;
}

/* WORDS: profile COUNT COUNTER. */
static bool profile_counter(struct ctl *ctl, char **words, const struct wire_request *wanted,
                            struct fail *fail)
{
    struct wire_request request = *wanted;
    struct counter_list counters;

    return counters_ask(ctl->source, &counters, fail) &&
           counters_parse_one(&counters, words[2], &request.b, fail) && run_request(ctl, &request, fail);
}

static bool parse_switch(int argc, char **argv, struct wire_request *request, struct fail *fail)
{
    request->operation = WIRE_OP_SWITCH_EVENTS;
    if (argc != 3)
        return fail_set(fail, "switch takes names of events, and on or off; see tarn ctl --help");
    request->text = argv[1];
    return parse_on(argv[2], &request->a, fail);
}

static bool parse_sample(int argc, char **argv, struct wire_request *request, struct fail *fail)
{
    request->operation = WIRE_OP_SAMPLE_EVENTS;
    if (argc != 3)
        return fail_set(fail, "sample takes names of events, and a number; see tarn ctl --help");
    request->text = argv[1];
    if (!parse_number(argv[2], &request->a, fail))
        return false;
    return (request->a > 0 && request->a <= TRACE_SAMPLE_EVERY_MAX) ||
           fail_set(fail, "'%s': one event in 1 to %u can be logged", argv[2], TRACE_SAMPLE_EVERY_MAX);
}

static bool parse_threshold(int argc, char **argv, struct wire_request *request, struct fail *fail)
{
    request->operation = WIRE_OP_SET_THRESHOLD;
    if (argc != 3)
        return fail_set(fail, "threshold takes names of events, and a duration; see tarn ctl --help");
    request->text = argv[1];
    return strcmp(argv[2], "0") == 0 || trace_parse_duration(argv[2], strlen(argv[2]), &request->a) ||
           fail_set(fail, "'%s' is not a duration, such as 500ns, 10us, 2ms or 1s; 0: log all", argv[2]);
}

/* Without SIZE, the guest keeps the size. `boot`: both stay 0. */
static bool parse_buffers(int argc, char **argv, struct wire_request *request, struct fail *fail)
{
    request->operation = WIRE_OP_SET_GEOMETRY;
    if (argc != 2 && argc != 3)
        return fail_set(fail, "buffers takes a number, and optionally a size, or boot; see tarn ctl --help");
    if (argc == 2 && strcmp(argv[1], "boot") == 0)
        return true;
    return parse_number(argv[1], &request->b, fail) &&
           (argc == 2 || parse_number(argv[2], &request->a, fail));
}

/* ---- running ------------------------------------------------------------------------------------- */

static bool parse_request(int argc, char **argv, struct wire_request *request, struct fail *fail)
{
    if (strcmp(argv[0], "watch") == 0)
        return parse_sampling(argc, argv, request, fail);
    if (strcmp(argv[0], "switch") == 0)
        return parse_switch(argc, argv, request, fail);
    if (strcmp(argv[0], "sample") == 0)
        return parse_sample(argc, argv, request, fail);
    if (strcmp(argv[0], "threshold") == 0)
        return parse_threshold(argc, argv, request, fail);
    if (strcmp(argv[0], "buffers") == 0)
        return parse_buffers(argc, argv, request, fail);
    if (strcmp(argv[0], "counters") == 0) {
        request->operation = WIRE_OP_COUNTERS;
        return argc <= 2 || fail_set(fail, "counters takes at most one argument; see tarn ctl --help");
    }
    if (strcmp(argv[0], "profile") == 0 && argc == 3) {
        request->operation = WIRE_OP_SET_PROFILE;
        return parse_number(argv[1], &request->a, fail);
    }
    for (size_t i = 0; i < COMMANDS; i++) {
        const struct ctl_command *command = &commands[i];
        int wanted = 1 + (command->parse_a != NULL) + (command->parse_b != NULL);
        if (strcmp(argv[0], command->name) != 0)
            continue;
        if (argc != wanted)
            return fail_set(fail, "%s takes %s; see tarn ctl --help", command->name,
                            wanted == 1   ? "no argument"
                            : wanted == 2 ? "one argument"
                                          : "two arguments");
        request->operation = command->operation;
        return (!command->parse_a || command->parse_a(argv[1], &request->a, fail)) &&
               (!command->parse_b || command->parse_b(argv[2], &request->b, fail));
    }
    return fail_set(fail, "no command '%s'; see tarn ctl --help", argv[0]);
}

static bool run_words(struct ctl *ctl, char **words, const struct wire_request *request, struct fail *fail)
{
    if (request->operation == WIRE_OP_SAMPLE_LOCKS)
        return sample_locks(ctl, words[1], request, fail);
    if (request->operation == WIRE_OP_LOCK_CLASSES)
        return list_locks(ctl, fail);
    if (request->operation == WIRE_OP_COUNTERS)
        return bind_counters(ctl, words, fail);
    if (request->operation == WIRE_OP_SET_PROFILE && words[2] != NULL)
        return profile_counter(ctl, words, request, fail);
    return run_request(ctl, request, fail);
}

static const struct command_option known[] = {
    {FLAG("json", struct ctl, json, "print JSON")},
    {REAL("wait", "SEC", struct ctl, wait, 0, 1e9, "keep trying to connect for SEC seconds (0)")},
    {.name = NULL}};

static int run_ctl(int argc, char **argv)
{
    static char *default_words[] = {"statistics", NULL, NULL};
    struct wire_request request = {0};
    struct ctl ctl = {0};
    struct fail fail;
    int status = command_parse(&ctl_command, (void *[]){&ctl}, argc, argv);

    if (status >= 0)
        return status;
    const char *name = argv[optind++];
    if (optind < argc && strcmp(argv[optind], "snapshot") == 0 && optind + 2 == argc) {
        char *words[] = {"pull", (char *)name, "--snapshot", "-o", argv[optind + 1], NULL};
        return pull_command.run(5, words);
    }
    char **words = optind < argc ? argv + optind : default_words;
    bool ok = parse_request(optind < argc ? argc - optind : 1, words, &request, &fail);
    if (ok) {
        ctl.source = open_source(name, ctl.wait, &fail);
        ok = ctl.source && run_words(&ctl, words, &request, &fail);
        if (ctl.source)
            ctl.source->class->close(ctl.source);
    }
    return ok ? EXIT_OK : fail_report(&fail, EXIT_USAGE);
}

const struct command ctl_command = {.name = "ctl",
                                    .summary = "show and set what a running guest traces",
                                    .forms = "SOURCE [OPTION]... [COMMAND [ARGUMENT]...]",
                                    .groups = {{NULL, known}},
                                    .least = 1,
                                    .most = INT_MAX,
                                    .run = run_ctl,
                                    .describe = describe_commands};
