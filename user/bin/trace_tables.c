/* trace_tables.c - `trace tables [NAME [--by COLUMN] [--top N]]`: prints tables of counters. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tarn/abi.h>
#include <tarn/error.h>
#include <tarn/runtime.h>

#include <arch/trace.h>
#include <trace/events.h>
#include <trace/print/words.h>
#include <trace/ring/table_read.h>
#include <user/bin/trace.h>
#include <user/bin/util.h>
#include <user/tarnprof/tarnprof.h>

#define ROWS_SHOWN  1000u
#define CLASSES_MAX 128u

/* ---- names ----------------------------------------------------------------------------------------- */

static struct system_lock_class classes[CLASSES_MAX];
static uint64_t class_count;

static void read_classes(void)
{
    const int64_t bytes = sys_system_read(SYSTEM_LOCK_CLASSES, 0, classes, sizeof classes);
    class_count = bytes < 0 ? 0 : (uint64_t)bytes / sizeof *classes;
}

static const char *name_of(const char *key, uint64_t value, char unused[TRACE_TABLE_CELL_BYTES])
{
    (void)unused;
    if (!strcmp(key, "what") && value < 2)
        return value ? "hold" : "wait";
    for (uint64_t i = 0; i < class_count && !strcmp(key, "lock_class"); i++)
        if (classes[i].number == value)
            return classes[i].name;
    return NULL;
}

static const char *ring_at(uint32_t cpu)
{
    return (const char *)(USER_TRACE_RINGS + ((uint64_t)cpu << TRACE_RING_SHIFT));
}

/* ---- the command ----------------------------------------------------------------------------------- */

struct options {
    const char *name, *by;
    uint64_t top;
};

static bool read_option(struct options *options, const char *word, const char *value)
{
    if (!strcmp(word, "--by")) {
        options->by = value;
        return true;
    }
    return !strcmp(word, "--top") && trace_parse_number(value, strlen(value), &options->top) &&
           options->top > 0 && options->top <= ROWS_SHOWN;
}

static int refuse_option(const char *word, const char *value)
{
    return refuse("'%s %s': options are --by COLUMN and --top N (1 to %u)", word, value ? value : "",
                  ROWS_SHOWN);
}

static int refuse_column(const struct options *options)
{
    return refuse("'%s': table %s has no such column; without --by it prints those that are not 0",
                  options->by, options->name);
}

static int show_routines(const struct options *options)
{
    struct tarnprof_sum sum = {0};
    const int result = tarnprof_add_all(&sum, SLOT_TRACE, ~0u);
    if (result)
        return refuse("the tables cannot be read: %s", tarn_error_text(result));
    const bool ok = tarnprof_show(stdout, &sum, (uint32_t)options->top, options->by);
    tarnprof_free_sum(&sum);
    return ok ? 0 : refuse_column(options);
}

static int show_table(const struct options *options)
{
    const struct trace_table_info *table = trace_table_named(options->name);
    if (!table)
        return refuse("'%s': no table has that name; `trace tables` lists them", options->name);
    if (table->is_private)
        return show_routines(options);
    read_classes();
    struct trace_rows rows = {.table = table};
    if (!trace_rows_read(&rows, ring_at, arch_trace_info()->cpu_count))
        return refuse("no memory for the rows");
    const struct trace_rows_view view = {.clock_hz = arch_trace_info()->clock_hz,
                                         .top = (uint32_t)options->top,
                                         .by = options->by,
                                         .name_of = name_of};
    return trace_rows_print(stdout, &rows, &view) ? 0 : refuse_column(options);
}

static uint64_t head_sum(const struct trace_table_info *table, enum trace_table_head_word word)
{
    uint64_t sum = 0;
    for (uint32_t cpu = 0; cpu < arch_trace_info()->cpu_count; cpu++)
        sum += trace_table_head_word(table, ring_at(cpu), word);
    return sum;
}

static void list_tables(void)
{
    printf("%-20s%10s%9s%12s%14s  contents\n", "table", "rows used", "of all", "moved rows", "updates lost");
    for (const struct trace_table_info *table = trace_table_list; table->name; table++)
        if (table->is_private)
            printf("%-20s%10s%9s%12s%14s  %s\n", table->name, "-", "-", "-", "-", table->description);
        else
            printf("%-20s%10" PRIu64 "%9" PRIu32 "%12" PRIu64 "%14" PRIu64 "  %s\n", table->name,
                   head_sum(table, TRACE_TABLE_USED), table->rows * arch_trace_info()->cpu_count,
                   head_sum(table, TRACE_TABLE_MOVED), head_sum(table, TRACE_TABLE_NO_SPACE),
                   table->description);
}

/* False: it has said what is wrong. */
static bool parse_options(struct options *options, int argc, char **argv)
{
    int i = argc > 1 && strncmp(argv[1], "--", 2) ? 2 : 1;
    options->name = i == 2 ? argv[1] : NULL;
    for (; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (options->name && value && read_option(options, argv[i], value))
            i++;
        else
            return refuse_option(argv[i], value), false;
    }
    return true;
}

int show_tables(int argc, char **argv)
{
    struct options options = {.top = ROWS_SHOWN};
    if (!parse_options(&options, argc, argv))
        return EXIT_FAILURE;
    if (!arch_trace_info()->table_bytes)
        return refuse(
            "this system has no tables of counters: those of all its CPUs would take too much memory");
    if (options.name)
        return show_table(&options);
    list_tables();
    return 0;
}
