/* SPDX-License-Identifier: BSD-2-Clause */
/* trace_tables.c - `trace tables [NAME [--by COLUMN] [--top N]] [--previous]`: prints tables of counters. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tarn/abi.h>
#include <tarn/runtime.h>

#include <arch/trace.h>
#include <trace/events.h>
#include <trace/print/tables.h>
#include <trace/print/words.h>
#include <user/bin/trace.h>
#include <user/bin/util.h>

#define ROWS_SHOWN  1000u
#define CLASSES_MAX 128u

static const char *ring_at(uint32_t cpu)
{
    return (const char *)(USER_TRACE_RINGS + ((uint64_t)cpu << TRACE_RING_SHIFT));
}

static void put_text(const char *text)
{
    fputs(text, stdout);
}

/* ---- names ----------------------------------------------------------------------------------------- */

static struct system_lock_class classes[CLASSES_MAX];
static uint64_t class_count;

static void read_classes(void)
{
    const int64_t bytes = sys_system_read(SYSTEM_LOCK_CLASSES, 0, classes, sizeof classes);
    class_count = bytes < 0 ? 0 : (uint64_t)bytes / sizeof *classes;
}

static const char *name_of(const char *key, uint64_t value)
{
    if (!strcmp(key, "what") && value < 2)
        return value ? "hold" : "wait";
    for (uint64_t i = 0; i < class_count && !strcmp(key, "lock_class"); i++)
        if (classes[i].number == value)
            return classes[i].name;
    return NULL;
}

/* ---- the previous boot ----------------------------------------------------------------------------- */

static const char *previous_ring(uint32_t cpu)
{
    return opened_previous()->rings[cpu];
}

/* Only tables that are declared as this system's can be read here. Returns an exit status. */
static int open_previous_tables(struct trace_table_print *print)
{
    const int status = open_previous();
    if (status)
        return status;
    print->ring_of = previous_ring;
    print->cpu_count = opened_previous()->info.cpu_count;
    print->clock_hz = opened_previous()->info.clock_hz;
    return 0;
}

/* ---- the command ----------------------------------------------------------------------------------- */

struct options {
    const char *name, *by;
    uint64_t top;
    bool previous;
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
    return refuse("'%s %s': options are --by COLUMN, --top N (1 to %u) and --previous", word,
                  value ? value : "", ROWS_SHOWN);
}

static int print_rows(struct trace_table_print *print, const struct trace_table_info *table,
                      const struct options *options)
{
    if (!options->previous)
        read_classes(); /* the numbers of another system may differ */
    if (trace_table_print(print, table))
        return 0;
    return refuse("'%s': table %s has no such column; without --by it prints those that are not 0",
                  options->by, table->name);
}

static int show_table(struct trace_table_print *print, const struct options *options)
{
    const struct trace_table_info *table = trace_table_named(options->name);
    if (!table)
        return refuse("'%s': no table has that name; `trace tables` lists them", options->name);
    print->by = options->by;
    print->capacity = (uint32_t)options->top;
    print->rows = malloc(options->top * TRACE_TABLE_ROW_WORDS_MAX * sizeof *print->rows);
    print->order = malloc(options->top * sizeof *print->order);
    const int status =
        print->rows && print->order ? print_rows(print, table, options) : refuse("no memory for the rows");
    free(print->rows);
    free(print->order);
    return status;
}

/* False: it has said what is wrong. */
static bool parse_options(struct options *options, int argc, char **argv)
{
    int i = argc > 1 && strncmp(argv[1], "--", 2) ? 2 : 1;
    options->name = i == 2 ? argv[1] : NULL;
    for (; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (!strcmp(argv[i], "--previous"))
            options->previous = true;
        else if (options->name && value && read_option(options, argv[i], value))
            i++;
        else
            return refuse_option(argv[i], value), false;
    }
    return true;
}

int show_tables(int argc, char **argv)
{
    static struct trace_table_print print = {.ring_of = ring_at, .put = put_text, .name_of = name_of};
    const struct trace_info *info = arch_trace_info();
    struct options options = {.top = ROWS_SHOWN};
    print.cpu_count = info->cpu_count;
    print.clock_hz = info->clock_hz;
    if (!parse_options(&options, argc, argv))
        return EXIT_FAILURE;
    if (options.previous) {
        const int status = open_previous_tables(&print);
        if (status)
            return status;
    } else if (info->table_bytes == 0) {
        return refuse(
            "this system has no tables of counters: those of all its CPUs would take too much memory");
    }
    if (!options.name)
        return trace_tables_list(&print), 0;
    return show_table(&print, &options);
}
