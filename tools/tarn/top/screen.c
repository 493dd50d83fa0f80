/* screen.c - an interval on a screen; see screen.h. */
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tools/tarn/print/print_table.h>
#include <tools/tarn/top/screen.h>

#define PICKED_MAX  6u
#define NAMES_CUT   20u /* of processes and threads on narrow screens; fits the heading */
#define EDGES_CUT   26u
#define LINE_BYTES  512u
#define ROWS_BATCH  10u
#define LINES_MAX   8u /* of a secondary table */
#define LINES_MIN   4u /* the blank line, the heading, a row, and the sum of the others */
#define HEIGHT_MAIN 8u /* minimum number of lines of the first table */

const char *const screen_sorts[SORTS + 1] = {"running", "ready", "switches", "wakeups", "name"};
const char *const screen_analyses[SCREEN_ANALYSES] = {"stats", "threads", "syscalls", "ipc", "locks"};

/* A table on the screen: some columns of an analysis's table. */
struct part {
    unsigned analysis;
    const char *table, *heading;
    const char *keys[PICKED_MAX]; /* the most important first */
    unsigned name_width;          /* to which names are cut on narrow screens */
};

static const struct part threads_part = {SCREEN_THREADS,
                                         "thread",
                                         "thread",
                                         {"tid", "pid", "running_ns", "ready_ns", "switches", "wakeups"},
                                         NAMES_CUT};
static const struct part processes_part = {
    SCREEN_THREADS,
    "process",
    "process",
    {"pid", "threads", "running_ns", "ready_ns", "switches", "wakeups"},
    NAMES_CUT};
static const struct part other_parts[] = {
    {SCREEN_SYSCALLS,
     "call",
     "system call",
     {"total_ns", "calls", "errors", "own_ns", "mean_ns", "max_ns"},
     NAMES_CUT},
    {SCREEN_IPC, "edge", "IPC", {"total_ns", "calls", "errors", "mean_ns", "p99_ns", "max_ns"}, EDGES_CUT},
    {SCREEN_LOCKS,
     "class",
     "lock class",
     {"waited_ns", "contentions", "wait_mean_ns", "wait_max_ns", "spins", "acquisitions"},
     NAMES_CUT},
};
#define OTHERS (sizeof(other_parts) / sizeof(other_parts[0]))

static struct table *find_table(const struct analysis *analysis, const char *key)
{
    struct table *table = analysis->tables;
    while (strcmp(table->key, key) != 0)
        table++;
    return table;
}

bool screen_choose(struct analysis *const analyses[SCREEN_ANALYSES], struct fail *fail)
{
    static const char *const needed[SCREEN_ANALYSES] = {"cpu", "thread,process", "call", "edge", NULL};
    for (unsigned i = 0; i < SCREEN_ANALYSES; i++)
        if (!analysis_choose_tables(analyses[i], needed[i], fail))
            return false;
    return true;
}

/* ---- tables ---- */

/* Counts per second, and times in percent. */
static bool is_rate(const struct table_column *from)
{
    return from->sum == SUM_ADDED && (from->kind == COLUMN_COUNT || from->kind == COLUMN_TIME) &&
           strcmp(from->key, "threads") != 0;
}

static struct table_column column_of(struct table *table, const struct table_column *from)
{
    const char *format = from->kind == COLUMN_TIME ? "%s %%" : "%s/s";
    struct table_column rate = REAL_COLUMN(from->key);
    char text[HEADING_BYTES];
    if (strcmp(from->key, "threads") == 0)
        return (struct table_column)NUMBER_COLUMN("threads");
    if (!is_rate(from))
        return *from;
    rate.heading = table_format(table, format, column_heading(from, text));
    return rate;
}

static union table_cell cell_of(const struct table_column *from, union table_cell cell, double seconds)
{
    const double unit = from->kind == COLUMN_TIME ? 1e-7 : 1;
    if (!is_rate(from))
        return cell;
    return (union table_cell){.real = table_cell_is_known(from, cell) ? (double)cell.count / seconds * unit
                                                                      : NAN};
}

static bool is_nothing(const struct table *table, const struct table_row *row)
{
    for (unsigned i = 0; i < table->column_count; i++)
        if (table->columns[i].kind == COLUMN_REAL && row->cells[i].real > 0)
            return false;
    return true;
}

/* Rows of FROM whose names match PATTERN, sorted by column SORT. */
static void pick(struct table *table, struct table_column columns[PICKED_MAX], const struct table *from,
                 const struct part *part, const char *sort, const char *pattern, double seconds)
{
    int places[PICKED_MAX];
    *table = (struct table){.key = from->key, .heading = part->heading, .others = from->others};
    for (unsigned i = 0; i < PICKED_MAX; i++) {
        int place = part->keys[i] != NULL ? table_find_column(from, part->keys[i]) : TABLE_NO_COLUMN;
        if (place < 0)
            continue;
        columns[table->column_count] = column_of(table, &from->columns[place]);
        places[table->column_count++] = place;
    }
    table->columns = columns;
    for (size_t i = 0; i < from->count; i++) {
        struct table_row *row;
        if (*pattern != '\0' && !match_glob(pattern, from->rows[i]->name))
            continue;
        row = table_add(table, from->rows[i]->name);
        for (unsigned c = 0; c < table->column_count; c++)
            row->cells[c] = cell_of(&from->columns[places[c]], from->rows[i]->cells[places[c]], seconds);
        if (is_nothing(table, row))
            table->count--; /* it stays in the arena */
    }
    if (table_find_column(table, sort) >= TABLE_BY_NAME)
        table_sort(table, table_find_column(table, sort));
}

/* Prints at most LINES of WIDTH, including the heading and the blank line above. */
static void print_part(FILE *to, const struct screen *screen, const struct part *part, const char *sort,
                       const char *pattern, double seconds, unsigned width, unsigned lines)
{
    const struct table *from = find_table(screen->analyses[part->analysis], part->table);
    struct table_column columns[PICKED_MAX];
    struct table table;
    unsigned rows;
    if (lines < LINES_MIN)
        return;
    pick(&table, columns, from, part, sort, pattern, seconds);
    rows = table.count <= lines - 2 ? (unsigned)table.count : lines - 3;
    table_print_text_within(to, &table, rows, width, part->name_width);
    table_free(&table);
}

/* ---- above the tables ---- */

/* Prints entries separated by two blanks, on as many lines as needed. Returns the number of lines. */
static unsigned print_wrapped(FILE *to, const char *text, unsigned width)
{
    unsigned lines = 1, used = 0;
    while (*text != '\0') {
        const char *blanks = strstr(text, "  ");
        unsigned length = (unsigned)(blanks != NULL ? (size_t)(blanks - text) : strlen(text));
        if (used != 0 && used + 2 + length > width) {
            fputc('\n', to);
            lines++;
            used = 0;
        }
        fprintf(to, "%s%.*s", used != 0 ? "  " : "", (int)length, text);
        used += length + (used != 0 ? 2 : 0);
        text += length + (blanks != NULL ? 2 : 0);
    }
    fputc('\n', to);
    return lines;
}

/* Prints why rows are missing; on a screen also how to show them again. Returns the number of lines. */
static unsigned print_filter(FILE *to, const struct screen *screen, bool is_screen, unsigned width)
{
    char line[LINE_BYTES];
    if (screen->pattern[0] == '\0')
        return 0;
    snprintf(line, sizeof(line), "only %s matching %s%s", screen->by_thread ? "threads" : "processes",
             screen->pattern, is_screen ? "  (f, Enter: all)" : "");
    return print_wrapped(to, line, width);
}

static unsigned print_head(FILE *to, const struct screen *screen, double seconds, bool is_screen,
                           unsigned width)
{
    const struct analysis *stats = screen->analyses[SCREEN_STATS];
    double rate = stats->total->cells[table_find_column(&stats->totals, "events_per_second")].real;
    char line[LINE_BYTES], behind[40] = "", packets[40] = "";
    if (screen->behind >= 0)
        snprintf(behind, sizeof(behind), "  %.1f s behind", screen->behind);
    if (screen->all.lost_packets != 0)
        snprintf(packets, sizeof(packets), ", %" PRIu64 " packets", screen->all.lost_packets);
    snprintf(line, sizeof(line),
             "%s%s at %.3f s  %.2f s  %.0f events/s%s  lost %" PRIu64 " events (in all %" PRIu64 "%s)",
             screen->state, screen->source, (double)analysis_when(stats, stats->to) * 1e-9, seconds, rate,
             behind, screen->losses.lost_events, screen->all.lost_events, packets);
    return print_wrapped(to, line, width) +
           (screen->line != NULL ? print_wrapped(to, screen->line, width) : 0) +
           print_filter(to, screen, is_screen, width);
}

static void print_bar(FILE *to, double percent, unsigned width)
{
    unsigned full = percent > 0 ? (unsigned)(percent / 100 * width + 0.5) : 0;
    for (unsigned i = 0; i < width; i++)
        fputc(i < full ? '#' : '.', to);
}

/* Prints as many side by side as fit. */
static unsigned print_cpus(FILE *to, const struct screen *screen, unsigned width, unsigned most)
{
    const struct table *cpus = find_table(screen->analyses[SCREEN_STATS], "cpu");
    unsigned beside = width >= 80 ? width / 40 : 1, lines = 0;
    int busy = table_find_column(cpus, "busy_percent");
    if ((cpus->count + beside - 1) / beside > most)
        beside = width / 26 != 0 ? width / 26 : 1;
    for (size_t i = 0; i < cpus->count && lines < most; i++) {
        const struct table_row *row = cpus->rows[i];
        bool is_last = i + 1 == cpus->count || i % beside == beside - 1;
        unsigned bar = width / beside > 24 ? width / beside - 20 : 4;
        fprintf(to, "%-7s", row->name);
        print_bar(to, row->cells[busy].real, bar);
        fprintf(to, " %5.1f %%%s", isnan(row->cells[busy].real) ? 0 : row->cells[busy].real,
                is_last ? "\n" : "    ");
        lines += is_last;
    }
    return lines;
}

static const char *const sorts[SORTS] = {"running_ns", "ready_ns", "switches", "wakeups", "name"};

void screen_print(FILE *to, const struct screen *screen, unsigned width, unsigned height)
{
    double seconds = analysis_seconds(screen->analyses[SCREEN_STATS]);
    struct part main = screen->by_thread ? threads_part : processes_part;
    char heading[40];
    unsigned used, left = ROWS_BATCH + 3, others = left, bars = width;
    seconds = seconds > 0 ? seconds : 1e-9;
    width = height != 0 ? width : UINT_MAX; /* without a screen nothing is cut */
    used = print_head(to, screen, seconds, height != 0, width);
    used += print_cpus(to, screen, bars, height != 0 ? height / 4 + 1 : 64);
    if (height != 0) {
        left = height > used ? height - used : 0;
        others = left > HEIGHT_MAIN ? (left - HEIGHT_MAIN) / OTHERS : 0;
        others = others < LINES_MIN ? 0 : others < LINES_MAX ? others : LINES_MAX;
        left -= OTHERS * others;
        snprintf(heading, sizeof(heading), "%s by %s", main.heading, screen_sorts[screen->sort]);
        main.heading = heading;
    }
    print_part(to, screen, &main, sorts[screen->sort], screen->pattern, seconds, width, left);
    for (unsigned i = 0; i < OTHERS; i++)
        print_part(to, screen, &other_parts[i], other_parts[i].keys[0], "", seconds, width, others);
}

/* ---- JSON and CSV ---- */

/* Rows whose names match PATTERN, sorted. */
static void write_part(FILE *to, const struct screen *screen, const struct part *part, const char *sort,
                       const char *pattern, const struct table_options *output)
{
    const struct table *from = find_table(screen->analyses[part->analysis], part->table);
    struct table some = *from;
    some.count = 0;
    some.rows = alloc_zero(from->count + 1, sizeof(some.rows[0]));
    for (size_t i = 0; i < from->count; i++)
        if (*pattern == '\0' || match_glob(pattern, from->rows[i]->name))
            some.rows[some.count++] = from->rows[i];
    if (table_find_column(&some, sort) >= TABLE_BY_NAME)
        table_sort(&some, table_find_column(&some, sort));
    fputc(output->format == TABLES_JSON ? ',' : '\n', to);
    table_print(to, output, &some, UINT64_MAX);
    free(some.rows);
}

void screen_write(FILE *to, const struct screen *screen, const struct table_options *output)
{
    static const struct table_column columns[] = {NUMBER_COLUMN("from_ns"),     NUMBER_COLUMN("to_ns"),
                                                  COUNT_COLUMN("events"),       COUNT_COLUMN("lost_events"),
                                                  COUNT_COLUMN("lost_packets"), COUNT_COLUMN("unfinished")};
    static const struct part cpus = {SCREEN_STATS, "cpu", NULL, {NULL}, 0};
    const struct analysis *stats = screen->analyses[SCREEN_STATS];
    struct table interval = TABLE("interval", "interval", "intervals", columns);
    struct table_row *row = table_add(&interval, screen->source);
    row->cells[0].count = analysis_when(stats, stats->from);
    row->cells[1].count = analysis_when(stats, stats->to);
    row->cells[2] = stats->total->cells[table_find_column(&stats->totals, "events")];
    row->cells[3].count = screen->losses.lost_events;
    row->cells[4].count = screen->losses.lost_packets;
    row->cells[5].count = screen->losses.is_unfinished;
    if (output->format == TABLES_JSON)
        fputc('{', to);
    table_print(to, output, &interval, UINT64_MAX);
    write_part(to, screen, &cpus, "name", "", &(struct table_options){.format = output->format});
    write_part(to, screen, screen->by_thread ? &threads_part : &processes_part, sorts[screen->sort],
               screen->pattern, output);
    for (unsigned i = 0; i < OTHERS; i++)
        write_part(to, screen, &other_parts[i], "total_ns", "", output);
    if (output->format == TABLES_JSON)
        fputs("}\n", to);
    table_free(&interval);
}
