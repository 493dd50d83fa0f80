/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace.c - shows and sets what is traced, from inside the guest: `trace --help`.
 *
 * The current settings are in the trace info page, which every program can read; changes are system calls on
 * the trace object in SLOT_TRACE. trace_rings.c reads the rings, and trace_list.c prints their events.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tarn/runtime.h>
#include <tarn/trace_control.h>

#include <arch/trace.h>
#include <trace/counter.h>
#include <trace/event/schemas.h>
#include <trace/event/sizes.h>
#include <trace/events.h>
#include <trace/print/words.h>
#include <trace/user.h>
#include <user/bin/trace_bench.h>
#include <user/bin/trace_counters.h>
#include <user/bin/trace_list.h>
#include <user/bin/trace_previous.h>
#include <user/bin/trace_rings.h>
#include <user/bin/trace_study.h>
#include <user/bin/trace_tables.h>
#include <user/bin/util.h>

static const char help[] =
    "usage: trace [COMMAND [ARGUMENT]...]\n\n"
    "Shows and sets what the system traces.\n\n"
    "  status                 classes, mode, buffers, counters of each CPU, losses (the default)\n"
    "  mask [MASK]            set the event classes to trace: all, basic (without\n"
    "                         " TRACE_DETAIL_NAMES "), none, sched,ipc, +lock,-frame\n"
    "                         (changes the current mask), or a number. Without MASK: list all classes\n"
    "  switch EVENTS on|off   enable or disable single events: sched.wakeup, ipc.call,ipc.return, a whole\n"
    "                         class (sched); `*` stands for any letters (sched.*queue, '*')\n"
    "  sample [EVENTS N]      log only one in N of the events with these names on each CPU; 1: all.\n"
    "                         Without arguments: list the events that can be sampled\n"
    "  threshold [EVENTS DURATION]  log only events that lasted at least DURATION (10us); 0: "
    "all.\n"
    "                         Without arguments: list the events that have a threshold\n"
    "  mode [MODE]            flight (overwrite the oldest), stream (wait for a reader), once (stop when "
    "full)\n"
    "  low-water [PERCENT]    in mode stream, wake the trace server when at most so much of a CPU's ring is\n"
    "                         free (0: nothing; 100: at every packet). Without PERCENT: print it\n"
    "  buffers COUNT [SIZE]   number of buffers per CPU, and their size (16k to 4m); powers of two.\n"
    "                         Logged events stay, as far as they fit. `buffers boot`: as after the boot\n"
    "  clear                  discard all logged events, and schemas of programs that have ended\n"
    "  flush                  close the open buffers, for readers of closed ones\n"
    "  statedump              log what exists: processes, threads, programs, locks, interrupts\n"
    "  profile US             sample each busy CPU every US microseconds (20 to 10000000) on average;\n"
    "                         0: stop\n"
    "  profile COUNT COUNTER  the same every COUNT counts of a hardware counter (20000 to 10^12)\n"
    "  counters [NAMES]       log what up to 4 hardware counters count, for each run of a thread and each\n"
    "                         system call: class counter. NAMES is instructions,cycles or none. Without\n"
    "                         NAMES: list the counters of this machine\n"
    "  profiles on|all|off    count how often and how long each thread is in each routine of the kernel,\n"
    "                         and of programs that declare theirs; all: also in POSIX calls, requests to\n"
    "                         servers and allocation. Begins anew\n"
    "  watch [CLASS [EVERY]]  sample one of EVERY (1) acquisitions of the locks of a class, with its hold\n"
    "                         time, and count all waits: in the tables, and in the trace if class lock is\n"
    "                         on; 0: none. CLASS may be all or none. Without CLASS: list the classes\n"
    "  bench [PROGRAM [ARGUMENT]...]  measure what logging each of the system's events costs, and add that\n"
    "                         to the metadata of the trace, for `tarn --subtract-cost`. Logs nothing. With\n"
    "                         PROGRAM: run it; it measures its own events when it registers them\n"
    "  study [NAME]           set what a question needs, by the commands in /etc/studies/NAME.study or in a "
    "file\n"
    "                         (a path); `tarn study` on the host answers it. Without NAME: list them\n"
    "  mark NUMBER [TEXT]     log a mark\n"
    "  text TEXT              log a line of text\n"
    "  stats                  count events and words in the buffers, by class and event\n"
    "  tables [NAME [--by COLUMN] [--top N] [--interval DURATION]] [--previous]\n"
    "                         print a table of counters, all CPUs together, the rows with the most first:\n"
    "                         by COLUMN, at most N, only what was counted in the next DURATION (500ms, 5s).\n"
    "                         Without NAME: list them, with rows used and updates lost\n"
    "                         --previous: those of the previous boot\n"
    "  last [COUNT] [MASK]    print the newest events (20) of all CPUs, of the classes in MASK\n"
    "  previous [COUNT] [MASK]  the same for the previous boot, whose trace survived a reset\n"
    "  previous drop          free the memory of the previous boot's trace\n";

static const struct trace_info *info; /* set by main */

/* ---- arguments ------------------------------------------------------------------------------------- */

static bool parse_number(const char *text, uint64_t *number)
{
    if (trace_parse_number(text, strlen(text), number))
        return true;
    refuse("'%s' is not a number", text);
    return false;
}

static bool parse_mask(const char *text, uint64_t *mask)
{
    const char *bad;
    if (trace_parse_mask(text, trace_known_class, mask, &bad))
        return true;
    refuse("'%s': no class of events has that name; `trace mask` lists them", bad);
    return false;
}

static int control(uint32_t operation, uint64_t a, uint64_t b)
{
    if (!slot_is_filled(SLOT_TRACE))
        return refuse_without("trace");
    int64_t result = sys_trace_control(SLOT_TRACE, operation, a, b);
    return result < 0 ? refuse("refused: %s", tarn_error_text(result)) : 0;
}

/* ---- showing --------------------------------------------------------------------------------------- */

static bool is_known(uint32_t class_number)
{
    char digits[16];
    snprintf(digits, sizeof digits, "%u", (unsigned)class_number);
    return strcmp(trace_known_class_name(class_number), digits) != 0;
}

static void print_classes(const char *title, uint64_t classes)
{
    int column = printf("%s", title);
    for (uint32_t i = 0; i < TRACE_CLASS_COUNT; i++) {
        if (!(classes >> i & 1) || !is_known(i))
            continue;
        if (column + strlen(trace_known_class_name(i)) >= 78)
            column = printf("\n%*s", (int)strlen(title), "") - 1;
        column += printf(" %s", trace_known_class_name(i));
    }
    putchar('\n');
}

static void print_switched_off(void)
{
    for (uint32_t class_number = 0; class_number < TRACE_CLASS_COUNT; class_number++) {
        for (uint32_t minor = 0; minor < TRACE_MINORS_SWITCHED; minor++) {
            const struct trace_event_info *event = trace_known_event(TRACE_ID(class_number, minor));
            if (event && !(info->switches[class_number] >> minor & 1))
                printf("switched off     %s\n", event->full_name);
        }
    }
}

static int show_status(int argc, char **argv)
{
    uint64_t discarded = 0, torn = 0;
    print_classes("traced          ", info->mask);
    if (~info->mask)
        print_classes("not traced      ", ~info->mask);
    print_switched_off();
    printf("mode             %s\n", trace_mode_name(info->mode));
    printf("low-water mark   %u %%\n", (unsigned)info->low_water);
    printf("buffers          %" PRIu64 " of %" PRIu64 " KiB on each of %u CPUs\n", info->buffer_count,
           trace_buffer_bytes(info) >> 10, (unsigned)info->cpu_count);
    printf("clock            %" PRIu64 " kHz\n\n", info->clock_hz / 1000);
    printf("cpu        index     packet       events   consumed  discarded torn words\n");
    for (uint32_t cpu = 0; cpu < info->cpu_count; cpu++) {
        struct trace_reader ring = ring_of(cpu);
        printf("%3u %12" PRIu64 " %10" PRIu64 " %12" PRIu64 " %10" PRIu64 " %10" PRIu64 " %10" PRIu64 "\n",
               (unsigned)cpu,
               trace_index_words(__atomic_load_n(&trace_control_of(ring.ring)->index, __ATOMIC_RELAXED)),
               trace_reader_head(&ring), trace_reader_events(&ring), info->consumed[cpu],
               trace_reader_discarded(&ring), trace_reader_torn(&ring));
        discarded += trace_reader_discarded(&ring);
        torn += trace_reader_torn(&ring);
    }
    printf("\nlosses           %" PRIu64 " events discarded, %" PRIu64 " words reserved but not committed\n",
           discarded, torn);
    return 0;
}

/* ---- commands -------------------------------------------------------------------------------------- */

static int set_mask(int argc, char **argv)
{
    uint64_t mask = info->mask;
    if (argc == 1) {
        print_classes("traced    ", mask);
        print_classes("not traced", ~mask);
        return 0;
    }
    return parse_mask(argv[1], &mask) ? control(TRACE_OP_SET_MASK, mask, 0) : 1;
}

static int refuse_name(const char *bad)
{
    return refuse("'%s': no event has that name; `trace mask` lists the classes, `trace stats` events that "
                  "were logged",
                  bad);
}

static int switch_events(int argc, char **argv)
{
    const char *bad;
    bool on = !strcmp(argv[2], "on");
    if (!on && strcmp(argv[2], "off") != 0)
        return refuse("'%s' is neither on nor off", argv[2]);
    if (!slot_is_filled(SLOT_TRACE))
        return refuse_without("trace");
    int64_t error = trace_switch(SLOT_TRACE, argv[1], on, &bad);
    if (error == -E_NOT_FOUND)
        return refuse_name(bad);
    return error ? refuse("refused: %s", tarn_error_text(error)) : 0;
}

static void print_limit(const struct trace_event_info *event)
{
    const uint64_t limit = trace_known_limit(event);
    if (limit <= 1)
        puts("all");
    else if (event->above)
        printf("%s from %" PRIu64 " ns\n", event->above, limit * 1000000000 / info->clock_hz);
    else
        printf("1 of %" PRIu64 "\n", limit);
}

static int list_limited(bool is_threshold)
{
    puts("event                 logged");
    for (uint32_t i = 0; i < TRACE_CLASS_COUNT * TRACE_MINORS_SWITCHED; i++) {
        const struct trace_event_info *event =
            trace_known_event(TRACE_ID(i / TRACE_MINORS_SWITCHED, i % TRACE_MINORS_SWITCHED));
        char name[64];
        if (!event || event->limit_kind != (is_threshold ? TRACE_LIMIT_ABOVE : TRACE_LIMIT_SAMPLED))
            continue;
        snprintf(name, sizeof name, "%s.%s", event->class_name, event->name);
        printf("%-21s ", name);
        print_limit(event);
    }
    return 0;
}

static int limit_events(const char *names, bool is_threshold, uint64_t limit)
{
    const char *bad;
    if (!slot_is_filled(SLOT_TRACE))
        return refuse_without("trace");
    int64_t error = trace_limit(SLOT_TRACE, names, is_threshold, limit, &bad);
    if (error == -E_NOT_FOUND && bad)
        return refuse_name(bad);
    if (error == -E_NOT_FOUND && is_threshold)
        return refuse("'%s': none of these events has a threshold; `trace threshold` lists those that do",
                      names);
    if (error == -E_NOT_FOUND)
        return refuse("'%s': none of these events can be sampled; `trace sample` lists those that can",
                      names);
    return error ? refuse("refused: %s", tarn_error_text(error)) : 0;
}

static int sample_events(int argc, char **argv)
{
    uint64_t every;
    if (argc == 1)
        return list_limited(false);
    if (argc == 2)
        return refuse("usage: trace sample EVENTS N: log one in N of these events");
    if (!parse_number(argv[2], &every))
        return 1;
    if (!every || every > TRACE_SAMPLE_EVERY_MAX)
        return refuse("'%s': one event in 1 to %u can be logged", argv[2], TRACE_SAMPLE_EVERY_MAX);
    return limit_events(argv[1], false, every);
}

static int set_threshold(int argc, char **argv)
{
    uint64_t ns = 0;
    if (argc == 1)
        return list_limited(true);
    if (argc == 2)
        return refuse("from which duration on is it to be logged? trace threshold %s 10us", argv[1]);
    if (strcmp(argv[2], "0") && !trace_parse_duration(argv[2], strlen(argv[2]), &ns))
        return refuse("'%s' is not a duration, such as 500ns, 10us, 2ms or 1s; 0: log all", argv[2]);
    return limit_events(argv[1], true, ns);
}

static int set_mode(int argc, char **argv)
{
    uint32_t mode;
    if (argc == 1)
        return puts(trace_mode_name(info->mode)), 0;
    if (!trace_parse_mode(argv[1], &mode))
        return refuse("'%s' is not a mode; modes are flight, stream and once", argv[1]);
    return control(TRACE_OP_SET_MODE, mode, 0);
}

static int set_low_water(int argc, char **argv)
{
    uint64_t percent;
    if (argc == 1)
        return printf("%u\n", (unsigned)info->low_water), 0;
    if (!trace_parse_number(argv[1], strlen(argv[1]), &percent) || percent > 100)
        return refuse("'%s' is not a percentage of a ring, 0 to 100", argv[1]);
    return control(TRACE_OP_SET_LOW_WATER, percent, 0);
}

static int set_buffers(int argc, char **argv)
{
    const bool as_after_boot = argc == 2 && !strcmp(argv[1], "boot");
    uint64_t count = 0, size = as_after_boot ? 0 : trace_buffer_bytes(info);
    if (!as_after_boot && (!parse_number(argv[1], &count) || (argc == 3 && !parse_number(argv[2], &size))))
        return 1;
    if (!slot_is_filled(SLOT_TRACE))
        return refuse_without("trace");
    const int64_t error = trace_set_sizes(SLOT_TRACE, size, count);
    if (error == -E_BUSY)
        return refuse(
            "refused: a reader has not taken what would not fit: pull it first, or `trace clear`; or "
            "other sizes are just being set");
    return error ? refuse("refused: %s", tarn_error_text((int)error)) : 0;
}

static int clear_rings(int argc, char **argv)
{
    return control(TRACE_OP_CLEAR, 0, 0);
}

static int set_profile(int argc, char **argv)
{
    uint64_t period, counter = 0;
    if (!parse_number(argv[1], &period) || (argc == 3 && !parse_counter(argv[2], &counter)))
        return 1;
    if (!counter)
        period = period > UINT64_MAX / 1000 ? UINT64_MAX : period * 1000;
    return control(TRACE_OP_SET_PROFILE, period, counter);
}

static int switch_profiles(int argc, char **argv)
{
    (void)argc;
    static const char *const levels[] = {"off", "on", "all"};
    for (uint64_t level = 0; level < 3; level++)
        if (!strcmp(argv[1], levels[level]))
            return control(TRACE_OP_SET_PROFILES, level, 0);
    return refuse("'%s' is none of on, all and off", argv[1]);
}

static int bind_counters(int argc, char **argv)
{
    uint64_t packed;
    if (argc == 1)
        return list_counters();
    if (!parse_counters(argv[1], &packed))
        return 1;
    int status = control(TRACE_OP_BIND_COUNTERS, packed, 0);
    if (!status && packed && !(info->mask >> TRACE_CLASS_COUNTER & 1))
        puts("class counter is not traced: `trace mask +counter` logs what they count");
    return status;
}

/* ---- classes of locks ------------------------------------------------------------------------------ */

#define LOCK_CLASSES_MAX 128

static int read_lock_classes(struct system_lock_class classes[LOCK_CLASSES_MAX])
{
    int64_t bytes = sys_system_read(SYSTEM_LOCK_CLASSES, 0, classes, LOCK_CLASSES_MAX * sizeof *classes);
    return bytes < 0 ? 0 : (int)((uint64_t)bytes / sizeof *classes);
}

static int list_lock_classes(const struct system_lock_class *classes, int count)
{
    puts("class                sampled     contended");
    for (int i = 0; i < count; i++) {
        char sampled[32] = "-";
        if (classes[i].sample_every)
            snprintf(sampled, sizeof sampled, "1 of %" PRIu32, classes[i].sample_every);
        printf("%-18s %10s", classes[i].name, sampled);
        if (classes[i].number >= TARN_LOCK_CLASSES_USER)
            printf(" %13" PRIu64, classes[i].contended);
        putchar('\n');
    }
    return 0;
}

/* Spaces in a name may be written as underscores. */
static bool is_lock_class(const char *name, const char *word)
{
    for (; *name && (*name == *word || (*name == ' ' && *word == '_')); name++)
        word++;
    return !*name && !*word;
}

/* Several classes may have the same name: one of the kernel and one of its port. */
static int sample_named(const char *word, uint64_t every)
{
    static struct system_lock_class classes[LOCK_CLASSES_MAX];
    int count = read_lock_classes(classes), status = -1;
    for (int i = 0; i < count; i++)
        if (is_lock_class(classes[i].name, word))
            status = control(TRACE_OP_SAMPLE_LOCKS, classes[i].number, every);
    return status < 0 ? refuse("'%s': no class of locks has that name; `trace watch` lists them", word)
                      : status;
}

static int sample_locks(int argc, char **argv)
{
    static struct system_lock_class classes[LOCK_CLASSES_MAX];
    uint64_t every = 1;
    if (argc == 1)
        return list_lock_classes(classes, read_lock_classes(classes));
    if (argc == 3 && !parse_number(argv[2], &every))
        return 1;
    if (!strcmp(argv[1], "none"))
        return control(TRACE_OP_SAMPLE_LOCKS, ~0ull, 0);
    if (!strcmp(argv[1], "all"))
        return control(TRACE_OP_SAMPLE_LOCKS, ~0ull, every);
    return sample_named(argv[1], every);
}

static int flush_rings(int argc, char **argv)
{
    return control(TRACE_OP_FLUSH, ~0ull, 0);
}

static int dump_state(int argc, char **argv)
{
    return control(TRACE_OP_STATEDUMP, 0, 0);
}

static int warn_if_off(void)
{
    return TRACE_ON_USER() ? 0 : refuse("not logged: class user is off");
}

static int log_mark(int argc, char **argv)
{
    uint64_t number;
    if (!parse_number(argv[1], &number))
        return 1;
    trace_user_mark(number, argc == 3 ? argv[2] : "");
    return warn_if_off();
}

static int log_text(int argc, char **argv)
{
    trace_user_text(argv[1]);
    return warn_if_off();
}

static int show_counts(int argc, char **argv)
{
    return print_counts();
}

/* Either argument may be omitted. A lone number is COUNT; a numeric mask needs both. */
static int parse_last(int argc, char **argv, uint64_t *count, uint64_t *mask)
{
    *count = 20;
    *mask = ~0ull;
    bool counted = argc > 1 && argv[1][0] >= '0' && argv[1][0] <= '9';
    if (argc == 3 && !counted)
        return refuse("'%s' is not a number", argv[1]);
    if (counted && !parse_number(argv[1], count))
        return 1;
    return argc - counted > 1 && !parse_mask(argv[argc - 1], mask);
}

static int show_last(int argc, char **argv)
{
    uint64_t count, mask;
    int status = parse_last(argc, argv, &count, &mask);
    return status ? status : print_last(count, mask);
}

/* open_previous loads the class names of that boot before they are parsed. */
static int show_previous(int argc, char **argv)
{
    uint64_t count, mask;
    if (argc == 2 && !strcmp(argv[1], "drop"))
        return control(TRACE_OP_DROP_PREVIOUS, 0, 0);
    int status = open_previous();
    if (!status)
        status = parse_last(argc, argv, &count, &mask);
    return status ? status : print_previous(count, mask);
}

static int run_bench(int argc, char **argv)
{
    return bench_events(argv + 1);
}

static int print_tables(int argc, char **argv)
{
    return show_tables(argc, argv);
}

static trace_run run_command;

static int choose_study(int argc, char **argv)
{
    return argc == 1 ? list_studies() : run_study(argv[1], run_command);
}

static const struct command {
    const char *name;
    int least, most; /* arguments */
    int (*run)(int argc, char **argv);
} commands[] = {
    {"status", 0, 0, show_status},
    {"mask", 0, 1, set_mask},
    {"switch", 2, 2, switch_events},
    {"mode", 0, 1, set_mode},
    {"buffers", 1, 2, set_buffers},
    {"clear", 0, 0, clear_rings},
    {"flush", 0, 0, flush_rings},
    {"statedump", 0, 0, dump_state},
    {"mark", 1, 2, log_mark},
    {"text", 1, 1, log_text},
    {"stats", 0, 0, show_counts},
    {"last", 0, 2, show_last},
    {"previous", 0, 2, show_previous},
    {"profile", 1, 2, set_profile},
    {"watch", 0, 2, sample_locks},
    {"sample", 0, 2, sample_events},
    {"threshold", 0, 2, set_threshold},
    {"counters", 0, 1, bind_counters},
    {"bench", 0, INT_MAX, run_bench},
    {"study", 0, 1, choose_study},
    {"low-water", 0, 1, set_low_water},
    {"tables", 0, 8, print_tables},
    {"profiles", 1, 1, switch_profiles},
};

static int run_command(int argc, char **argv)
{
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        const struct command *command = &commands[i];
        if (strcmp(argv[0], command->name) != 0)
            continue;
        if (argc - 1 < command->least || argc - 1 > command->most)
            return refuse("wrong number of arguments for %s; see trace --help", argv[0]), 2;
        return command->run(argc, argv);
    }
    return refuse("no command '%s'; see trace --help", argv[0]), 2;
}

int main(int argc, char **argv)
{
    static char *status_words[] = {"status", NULL};
    program_name = "trace";
    info = arch_trace_info();
    if (argc == 2 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")))
        return fputs(help, stdout), 0;
    if (slot_is_filled(SLOT_TRACE))
        trace_schemas_load(SLOT_TRACE);
    return argc > 1 ? run_command(argc - 1, argv + 1) : run_command(1, status_words);
}
