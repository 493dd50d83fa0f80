/* top_routines.c - `tarn top --routines`: what processes do with their time. The tables of routines of two
 * moments, read from the source every so often, make an interval. */
#include <math.h>
#include <tools/tarn/command/top.h>
#include <tools/tarn/print/print_table.h>
#include <trace/print/shares.h>

#define ROWS_BATCH 20u
#define NAMES_CUT  16u
#define COLUMNS    (TRACE_SHARES + 4u) /* pid, threads, interval, running, and all shares */

/* Takes the next moment as the end of an interval. */
static int next_interval(struct top *top, struct fail *fail)
{
    struct routines routines;
    const bool is_first = top->now.count == 0;
    const double now = now_seconds();
    fail->text[0] = '\0';
    if (now < top->due)
        return 0;
    top->due += top->due + top->interval > now ? top->interval : now - top->due + top->interval;
    struct source *source = open_source(top->name, 0, fail);
    const bool ok = source != NULL && routines_read(&routines, source, fail);
    if (source != NULL)
        source->class->close(source);
    if (!ok)
        return -1;
    routines_free(&top->before);
    top->before = top->now;
    top->now = routines;
    top->has_screen = !is_first;
    if (routines.count == 0)
        fail_set(fail, ROUTINES_ARE_OFF);
    return routines.count == 0 ? -1 : is_first ? 0 : 1;
}

enum { PID, THREADS, INTERVAL, RUNNING, FIRST_SHARE };

static const char *name_of_column(unsigned column)
{
    return column == RUNNING ? "running" : trace_share_names[column - FIRST_SHARE];
}

/* Opens a map from pids to struct trace_process_shares. */
static void collect(struct map *processes, const struct routines *routines)
{
    map_open(processes, sizeof(struct trace_process_shares));
    for (size_t i = 0; i < routines->count; i++) {
        const struct routines_copy *copy = &routines->copies[i];
        if (trace_shares_are_of_process(&copy->head))
            trace_shares_add(map_at(processes, copy->head.pid, 0, 0), &copy->head, copy->rows);
    }
}

static double in_ns(const struct routines *routines, uint64_t ticks)
{
    return (double)ticks * 1e9 / (double)(routines->hello.clock_hz ? routines->hello.clock_hz : 1);
}

static const char *name_of(const struct trace_process_shares *process, char name[ROUTINES_NAME_BYTES])
{
    struct trace_routines head = {.of = TRACE_ROUTINES_THREAD};
    memcpy(head.name, process->name, sizeof(head.name));
    return process->pid == 0 ? "idle" : routines_name(&head, name);
}

static void add_row(struct table *table, const struct routines *routines,
                    const struct trace_process_shares *process, double seconds)
{
    char name[ROUTINES_NAME_BYTES];
    struct table_row *row = table_add(table, name_of(process, name));
    row->cells[PID].count = process->pid;
    row->cells[THREADS].count = process->threads;
    const double interval = process->interval != 0 ? in_ns(routines, process->interval) : seconds * 1e9;
    row->cells[INTERVAL].count = (uint64_t)interval;
    for (unsigned c = RUNNING; c < COLUMNS; c++) {
        const double ns =
            in_ns(routines, c == RUNNING ? trace_shares_running(process) : process->ticks[c - FIRST_SHARE]);
        row->cells[c].count = ns < (double)TABLE_NONE ? (uint64_t)ns : TABLE_NONE - 1;
    }
}

/* Makes a table, to be freed by table_free, of what the processes did between the moments, which are *seconds
 * apart. COLUMNS is the table's. */
static void fill(struct table *table, struct table_column columns[COLUMNS], const struct top *top,
                 double *seconds)
{
    const struct routines *now = &top->now, *before = &top->before;
    struct map processes, earlier;
    char name[ROUTINES_NAME_BYTES];
    *table = (struct table){.key = "process",
                            .heading = "process",
                            .others = "processes",
                            .columns = columns,
                            .column_count = COLUMNS};
    columns[PID] = (struct table_column)NUMBER_COLUMN("pid");
    columns[THREADS] = (struct table_column)NUMBER_COLUMN("threads");
    columns[INTERVAL] = (struct table_column)TIME_OF_ONE("interval_ns");
    for (unsigned c = RUNNING; c < COLUMNS; c++)
        columns[c] = (struct table_column)TIME_COLUMN(table_format(table, "%s_ns", name_of_column(c)));
    collect(&processes, now);
    collect(&earlier, before);
    *seconds = now->moment > before->moment ? in_ns(now, now->moment - before->moment) * 1e-9 : 0;
    for (size_t i = 0; i < processes.count; i++) {
        struct trace_process_shares *process = map_value(&processes, i);
        const struct trace_process_shares *old = map_find(&earlier, process->pid, 0, 0);
        if (old != NULL)
            trace_shares_subtract(process, old);
        if (top->pattern[0] == '\0' || match_glob(top->pattern, name_of(process, name)))
            add_row(table, now, process, *seconds);
    }
    map_close(&processes);
    map_close(&earlier);
}

/* Times become percent of the interval. Removes columns in which no process has any, and that of intervals.
 */
static void make_percent(struct table *table, struct table_column columns[COLUMNS])
{
    unsigned kept = INTERVAL;
    for (size_t i = 0; i < table->count; i++) {
        union table_cell *cells = table->rows[i]->cells;
        for (unsigned c = RUNNING; c < COLUMNS; c++)
            cells[c].real = (double)cells[c].count / (double)cells[INTERVAL].count * 100;
    }
    for (unsigned c = RUNNING; c < COLUMNS; c++) {
        bool has_any = c == RUNNING;
        for (size_t i = 0; i < table->count; i++)
            has_any |= table->rows[i]->cells[c].real >= 0.05;
        if (!has_any)
            continue;
        columns[kept] = (struct table_column)REAL_COLUMN(columns[c].key);
        columns[kept].heading = table_format(table, "%s %%", name_of_column(c));
        for (size_t i = 0; i < table->count; i++)
            table->rows[i]->cells[kept] = table->rows[i]->cells[c];
        kept++;
    }
    table->column_count = kept;
}

static void print_text(FILE *to, const struct top *top, struct table *table, double seconds, unsigned width,
                       unsigned height)
{
    unsigned lines = 2 + (top->line != NULL) + (top->pattern[0] != '\0');
    fprintf(to, "%s%s: %.2f s, %zu processes\n", top->state, top->name, seconds, table->count);
    if (top->line != NULL)
        fprintf(to, "%s\n", top->line);
    if (top->pattern[0] != '\0')
        fprintf(to, "only processes matching %s\n", top->pattern);
    const uint64_t rows = height == 0          ? table_top(&top->tables, ROWS_BATCH)
                          : height > lines + 2 ? height - lines - 2
                                               : 1;
    table_print_text(to, table, rows, height != 0 ? width : UINT_MAX, NAMES_CUT);
}

static void print(FILE *to, const struct top *top, unsigned width, unsigned height)
{
    struct table_column columns[COLUMNS];
    struct table table;
    double seconds;
    fill(&table, columns, top, &seconds);
    table_sort(&table, top->sort == SORT_NAME    ? TABLE_BY_NAME
                       : top->sort == SORT_READY ? FIRST_SHARE + TRACE_SHARE_READY
                                                 : RUNNING);
    if (top->tables.format == TABLES_TEXT) {
        make_percent(&table, columns);
        print_text(to, top, &table, seconds, width, height);
    } else {
        if (top->tables.format == TABLES_JSON)
            fprintf(to, "{\"seconds\":%.9f,", seconds);
        table_print(to, &top->tables, &table, UINT64_MAX);
        if (top->tables.format == TABLES_JSON)
            fputs("}\n", to);
    }
    table_free(&table);
}

const struct top_ways top_of_routines = {
    .keys = "q quit  s sort  f filter  +/- interval  space pause  h hide help",
    .end = "end of the file",
    .next = next_interval,
    .print = print};
