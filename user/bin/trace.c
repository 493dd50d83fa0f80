/*
 * trace.c - shows and sets what is traced, from inside the guest: `trace --help`.
 *
 * The current settings are in the trace info page, which every program can read; changes are system calls on
 * the trace object in SLOT_TRACE. trace_rings.c reads the rings, and trace_list.c prints their events.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tarn/runtime.h>

#include <arch/trace.h>
#include <trace/event/schemas.h>
#include <trace/events.h>
#include <trace/print/words.h>
#include <trace/user.h>
#include <user/bin/trace.h>
#include <user/bin/util.h>

/* Commands of this program only; the others are in trace/print/commands.h. */
static const char help_here[] =
    "  bench                  measure what logging each event costs, and add that to the metadata of the\n"
    "                         trace, for `tarn --subtract-cost`. Logs nothing\n"
    "  study [NAME]           set what a question needs, by the commands in /etc/studies/NAME.study or in a "
    "file\n"
    "                         (a path); `tarn study` on the host answers it. Without NAME: list them\n"
    "  mark NUMBER [TEXT]     log a mark\n"
    "  text TEXT              log a line of text\n"
    "  stats                  count events and words in the buffers, by class and event\n"
    "  tables [NAME [--by COLUMN] [--top N]]\n"
    "                         print a table of counters, all CPUs together, the rows with the most first:\n"
    "                         by COLUMN, at most N.\n"
    "                         Without NAME: list them, with rows used and updates lost\n"
    "  last [COUNT] [MASK]    print the newest events (20) of all CPUs, of the classes in MASK\n"
    "  previous [COUNT] [MASK]  the same for the previous boot, whose trace survived a reset\n";

#define HELP_INDENT  25
#define HELP_COLUMNS 100

static void print_command(const struct trace_command *command)
{
    int column = printf("  %s %s", command->name, command->arguments);
    if (column < HELP_INDENT)
        column += printf("%*s", HELP_INDENT - 1 - column, "");
    for (const char *word = command->help; *word;) {
        const int length = (int)strcspn(word, " ");
        if (column + 1 + length > HELP_COLUMNS)
            column = printf("\n%*s", HELP_INDENT - 1, "") - 1;
        column += printf(" %.*s", length, word);
        word += length + (word[length] == ' ');
    }
    putchar('\n');
}

static int print_help(void)
{
    puts("usage: trace [COMMAND [ARGUMENT]...]\n\nShows and sets what the system traces.\n");
    for (uint32_t i = 0; i < trace_command_count; i++)
        print_command(&trace_commands[i]);
    fputs(help_here, stdout);
    return 0;
}

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

/* ---- settings -------------------------------------------------------------------------------------- */

static void print(struct trace_settings *unused, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
}

int run_shared(int argc, char **argv)
{
    struct trace_settings settings;
    const struct trace_command *command = trace_command_find(argv[0]);
    if (!trace_command_check((uint32_t)argc, argv, settings.error))
        return refuse("%s; see `trace --help`", settings.error), 2;
    if ((argc > 1 || !command->list) && !slot_is_filled(SLOT_TRACE))
        return refuse_without("trace");
    trace_settings_open(&settings);
    settings.print = print;
    return trace_command_run(&settings, (uint32_t)argc, argv) ? refuse("%s", settings.error) : 0;
}

static int show_status(int argc, char **argv)
{
    uint64_t discarded = 0;
    struct trace_settings settings;
    trace_settings_open(&settings);
    settings.print = print;
    trace_list_classes(&settings);
    trace_list_switches(&settings);
    printf("mode             %s\n", trace_mode_name(info->mode));
    printf("low-water mark   %u %%\n", (unsigned)info->low_water);
    printf("buffers          %" PRIu64 " of %" PRIu64 " KiB on each of %u CPUs\n", info->buffer_count,
           trace_buffer_bytes(info) >> 10, (unsigned)info->cpu_count);
    printf("clock            %" PRIu64 " kHz\n\n", info->clock_hz / 1000);
    printf("cpu        index     packet       events   consumed  discarded\n");
    for (uint32_t cpu = 0; cpu < info->cpu_count; cpu++) {
        struct trace_reader ring = ring_of(cpu);
        printf("%3u %12" PRIu64 " %10" PRIu64 " %12" PRIu64 " %10" PRIu64 " %10" PRIu64 "\n", (unsigned)cpu,
               trace_index_words(__atomic_load_n(&trace_control_of(ring.ring)->index, __ATOMIC_RELAXED)),
               trace_reader_head(&ring), trace_reader_events(&ring), info->consumed[cpu],
               trace_reader_load(&ring, TRACE_CONTROL_AT(discarded)));
        discarded += trace_reader_load(&ring, TRACE_CONTROL_AT(discarded));
    }
    printf("\nlosses           %" PRIu64 " events discarded\n", discarded);
    return 0;
}

/* ---- commands -------------------------------------------------------------------------------------- */

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
    int status = open_previous();
    if (!status)
        status = parse_last(argc, argv, &count, &mask);
    return status ? status : print_previous(count, mask);
}

static const struct command {
    const char *name;
    int least, most; /* arguments */
    trace_run *run;
} commands[] = {
    {"status", 0, 0, show_status}, {"mark", 1, 2, log_mark},      {"text", 1, 1, log_text},
    {"stats", 0, 0, show_counts},  {"last", 0, 2, show_last},     {"previous", 0, 2, show_previous},
    {"bench", 0, 0, bench_events}, {"study", 0, 1, choose_study}, {"tables", 0, 8, show_tables},
};

static int run_command(int argc, char **argv)
{
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        const struct command *command = &commands[i];
        if (strcmp(argv[0], command->name) != 0)
            continue;
        if (argc - 1 < command->least || argc - 1 > command->most)
            return refuse("wrong number of arguments for `%s`; see `trace --help`", argv[0]), 2;
        return command->run(argc, argv);
    }
    return run_shared(argc, argv);
}

int main(int argc, char **argv)
{
    static char *status_words[] = {"status", NULL};
    program_name = "trace";
    info = arch_trace_info();
    if (argc == 2 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")))
        return print_help();
    if (slot_is_filled(SLOT_TRACE))
        trace_schemas_load(SLOT_TRACE);
    return argc > 1 ? run_command(argc - 1, argv + 1) : run_command(1, status_words);
}
