/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace_tables.c - prints tables of counters; see trace_tables.h.
 *
 * They are read where they are mapped. For an interval they are copied at its begin and at its end. In the
 * first copy rows are moved as the kernel did until the second, which then becomes the difference, and is
 * printed as if it were mapped.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tarn/abi.h>
#include <tarn/runtime.h>
#include <unistd.h>

#include <arch/trace.h>
#include <trace/events.h>
#include <trace/print/tables.h>
#include <trace/print/words.h>
#include <trace/ring/table_move.h>
#include <user/bin/trace_previous.h>
#include <user/bin/trace_tables.h>
#include <user/bin/util.h>

#define ROWS_SHOWN  1000u
#define CLASSES_MAX 128u
#define COPIES_MAX  4u

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

/* ---- an interval ----------------------------------------------------------------------------------- */

static char *copies[2]; /* of all CPUs' tables: before, now */

static char *ring_of_copy(unsigned copy, uint32_t cpu)
{
    return copies[copy] + (uint64_t)cpu * TRACE_TABLES_BYTES - TRACE_TABLES_OFFSET;
}

static const char *copied_ring(uint32_t cpu)
{
    return ring_of_copy(1, cpu);
}

static uint64_t *copied_row(unsigned copy, const struct trace_table_info *table, uint32_t cpu, uint32_t row)
{
    return (uint64_t *)(copies[copy] + (uint64_t)cpu * TRACE_TABLES_BYTES + table->offset) +
           TRACE_TABLE_HEAD_WORDS + (uint64_t)row * table->row_words;
}

static void copy_table(unsigned copy, const struct trace_table_info *table, uint32_t cpu_count)
{
    for (uint32_t cpu = 0; cpu < cpu_count; cpu++) {
        uint64_t *head = copied_row(copy, table, cpu, 0) - TRACE_TABLE_HEAD_WORDS;
        memcpy(head, ring_at(cpu) + TRACE_TABLES_OFFSET + table->offset, TRACE_TABLE_HEAD_WORDS * 8);
        head[TRACE_TABLE_MOVES_BEGUN] = 0; /* in a copy nothing is moved */
        for (uint32_t row = 0; row < table->rows; row++) {
            uint64_t *words = copied_row(copy, table, cpu, row);
            if (trace_table_read_row(table, ring_at(cpu), row, words) == TRACE_ROW_FREE)
                words[TRACE_ROW_TAG] = 0;
        }
    }
}

/* A largest value counts if it occurred meanwhile. */
static void subtract_row(const struct trace_table_info *table, uint64_t *now, const uint64_t *before)
{
    if (now[TRACE_ROW_BEGUN] == before[TRACE_ROW_BEGUN])
        now[TRACE_ROW_TAG] = 0;
    if (!now[TRACE_ROW_TAG] || !before[TRACE_ROW_TAG])
        return;
    for (unsigned c = table->key_count; c < table->column_count; c++)
        for (unsigned i = table->columns[c].word, end = i + table->columns[c].words; i < end; i++)
            if (table->columns[c].kind != TRACE_COLUMN_MAX)
                now[i] -= before[i];
            else if (now[i] == before[i])
                now[i] = 0;
    now[TRACE_ROW_BEGUN] -= before[TRACE_ROW_BEGUN];
    now[table->row_words - 1] -= before[table->row_words - 1];
}

static void subtract_table(const struct trace_table_info *table, uint32_t cpu_count)
{
    for (uint32_t cpu = 0; cpu < cpu_count; cpu++) {
        uint64_t *now = copied_row(1, table, cpu, 0), *before = copied_row(0, table, cpu, 0);
        now[TRACE_TABLE_NO_SPACE - (int)TRACE_TABLE_HEAD_WORDS] -=
            before[TRACE_TABLE_NO_SPACE - (int)TRACE_TABLE_HEAD_WORDS];
        for (uint32_t row = 0; row < table->rows; row++)
            subtract_row(table, copied_row(1, table, cpu, row), copied_row(0, table, cpu, row));
    }
}

/* Moves of rows on all CPUs that have begun, or that have ended. */
static uint64_t count_moves(uint32_t cpu_count, uint32_t offset)
{
    uint64_t moves = 0;
    for (uint32_t cpu = 0; cpu < cpu_count; cpu++)
        moves += __atomic_load_n((const uint64_t *)(ring_at(cpu) + TRACE_TABLES_OFFSET + offset),
                                 __ATOMIC_ACQUIRE);
    return moves;
}

/* Again, if rows were moved meanwhile. Returns whether they were, each time. */
static bool copy_tables(unsigned copy, const struct trace_table_info *table, uint32_t cpu_count)
{
    bool is_moving = true;
    for (unsigned i = 0; i < COPIES_MAX && is_moving; i++) {
        const uint64_t moves = count_moves(cpu_count, table->moves_ended);
        copy_table(copy, table, cpu_count);
        if (table->adds)
            copy_table(copy, table->adds, cpu_count);
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        is_moving = moves != count_moves(cpu_count, TRACE_TABLE_MOVES_BEGUN * sizeof(uint64_t));
    }
    return is_moving;
}

static void follow_moves(const struct trace_table_info *table, const struct trace_table_info *into,
                         uint32_t cpu_count)
{
    for (uint32_t cpu = 0; cpu < cpu_count && table->is_hashed; cpu++)
        trace_table_follow(table, into, ring_of_copy(0, cpu), ring_of_copy(1, cpu));
}

/* Returns false if there is no memory. */
static bool watch_interval(struct trace_table_print *print, const struct trace_table_info *table, uint64_t ns)
{
    for (unsigned i = 0; i < 2; i++)
        copies[i] = calloc(print->cpu_count, TRACE_TABLES_BYTES);
    if (!copies[0] || !copies[1])
        return false;
    const uint64_t begin = arch_trace_clock();
    bool is_moving = copy_tables(0, table, print->cpu_count);
    usleep((useconds_t)(ns / 1000));
    is_moving |= copy_tables(1, table, print->cpu_count);
    print->elapsed = arch_trace_clock() - begin;
    if (is_moving)
        print->put("rows were moved while they were read: some updates may count twice, or not at all\n");
    follow_moves(table->adds ? table->adds : table, table->adds ? table : NULL, print->cpu_count);
    subtract_table(table, print->cpu_count);
    if (table->adds)
        subtract_table(table->adds, print->cpu_count);
    print->ring_of = copied_ring;
    return true;
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
    uint64_t top, interval_ns;
    bool previous;
};

static bool read_option(struct options *options, const char *word, const char *value)
{
    if (!strcmp(word, "--by")) {
        options->by = value;
        return true;
    }
    if (!strcmp(word, "--top"))
        return trace_parse_number(value, strlen(value), &options->top) && options->top > 0 &&
               options->top <= ROWS_SHOWN;
    return !strcmp(word, "--interval") && trace_parse_duration(value, strlen(value), &options->interval_ns) &&
           options->interval_ns / 1000 > 0 && options->interval_ns / 1000 <= UINT32_MAX;
}

static int refuse_option(const char *word, const char *value)
{
    return refuse(
        "'%s %s': options are --by COLUMN, --top N (1 to %u), --interval DURATION, such as 500ms or "
        "5s, and --previous",
        word, value ? value : "", ROWS_SHOWN);
}

static int print_rows(struct trace_table_print *print, const struct trace_table_info *table,
                      const struct options *options)
{
    if (!options->previous)
        read_classes(); /* the numbers of another system may differ */
    if (options->interval_ns && !watch_interval(print, table, options->interval_ns))
        return refuse("no memory to copy the tables");
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
    for (unsigned i = 0; i < 2; i++)
        free(copies[i]);
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
    if (options->previous && options->interval_ns)
        return refuse("the previous boot has ended, so nothing changes: remove --interval"), false;
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
