/*
 * top_trace.c - the trace of `tarn top`, its link, and an interval on a screen; see top.h.
 *
 * Each event is read once: at the end of an interval, the model and the positions in the streams are saved,
 * and the next interval continues from there.
 */
#include <inttypes.h>
#include <math.h>
#include <tools/tarn/command/top.h>
#include <tools/tarn/model/walk.h>
#include <tools/tarn/print/print_table.h>
#include <tools/tarn/read/judge.h>
#include <unistd.h>

#define LAG_SECONDS 1.3 /* traced sends partly filled packets after one second */
#define OLD_SECONDS 1.0 /* for events that were in the guest's buffers when the pull began */
#define PICKED_MAX  6u
#define NAMES_CUT   20u /* of processes and threads on narrow screens; fits the heading */
#define EDGES_CUT   26u
#define LINE_BYTES  512u
#define ROWS_BATCH  10u
#define LINES_MAX   8u /* of a secondary table */
#define LINES_MIN   4u /* the blank line, the heading, a row, and the sum of the others */
#define HEIGHT_MAIN 8u /* minimum number of lines of the first table */

static const char *const analysis_names[TOP_ANALYSES] = {"stats", "threads", "syscalls", "ipc", "locks"};
/* The tables that are shown; NULL: those that the analysis prints by default. */
static const char *const needed[TOP_ANALYSES] = {"cpu", "thread,process", "call", "edge", NULL};

/* Walks on to TO, and computes ANALYSES for that time. */
static bool walk(struct top *top, uint64_t to, struct analysis **analyses, unsigned count,
                 struct reporter *reporter, struct fail *fail)
{
    struct filter filter = {.from_ticks = top->from, .to_ticks = to};
    struct model model;
    struct merge merge;
    bool ok;
    model_open(&model, &top->trace, filter.from_ticks, to);
    if (top->model.used == 0) {
        merge_open(&merge, &top->trace, NULL, 0, reporter);
    } else {
        merge_open_at(&merge, &top->trace, top->positions, reporter);
        names_copy(&model.names, &top->names); /* the saved model has none */
        model_restore(&model, top->model.bytes, top->model.used);
    }
    ok = analyses_open(analyses, count, &model, &filter, NULL, fail);
    if (ok) {
        model_walk(&model, &merge);
        top->model.used = 0;
        model_save(&model, &top->model);
        merge_save(&merge, top->positions);
        names_copy(&top->names, &model.names);
        model_finish_range(&model, &merge);
        analyses_finish(analyses, count);
        top->from = to;
    }
    merge_close(&merge);
    model_close(&model);
    return ok;
}

static void forget_screen(struct top *top)
{
    for (unsigned i = 0; i < TOP_ANALYSES; i++)
        if (top->analyses[i] != NULL)
            analysis_free(top->analyses[i]);
    memset(top->analyses, 0, sizeof(top->analyses));
    top->has_screen = false;
}

static void close_trace(struct top *top)
{
    forget_screen(top);
    if (top->is_open) {
        names_close(&top->names);
        free(top->positions);
        trace_close(&top->trace);
    }
    top->is_open = false;
}

void top_close(struct top *top)
{
    close_trace(top);
    free(top->model.bytes);
    routines_free(&top->now);
    routines_free(&top->before);
}

static bool open_trace(struct top *top, const char *directory, struct fail *fail)
{
    close_trace(top);
    if (!trace_open(&top->trace, directory, fail))
        return false;
    trace_cut_partial(&top->trace);
    top->from = top->trace.begin;
    top->model.used = 0;
    top->positions = alloc_zero(top->trace.stream_count + 1, sizeof(struct position));
    names_open(&top->names, &top->trace.schema);
    return top->is_open = true;
}

static void begin_losses(struct top *top)
{
    struct losses *all = &top->all;
    losses_open(all, &top->trace);
    model_lacks(&top->trace.schema, false, all->lacks, sizeof(all->lacks));
}

/* A file that ends within a packet is damaged, unless it is still being written. */
int top_status(struct top *top)
{
    struct losses *all = &top->all;
    if (top->is_open && !top->is_source) {
        all->damaged += trace_count_partial(&top->trace);
        losses_judge(all);
    }
    losses_summary(all);
    losses_durations(all);
    if (!top->has_broken)
        return top->is_source ? EXIT_OK : losses_status(all);
    complain("%s: the link to the guest broke", top->name);
    return EXIT_DAMAGE;
}

static uint64_t ticks_of(const struct top *top, double seconds)
{
    return (uint64_t)(seconds * (double)top->trace.schema.clock_freq);
}

bool top_is_live(struct top *top)
{
    return top->is_source && puller_runs(&top->puller);
}

/* Returns the time up to which the packets of all CPUs have arrived. */
static uint64_t known_until(struct top *top)
{
    uint64_t lag = top_is_live(top) ? ticks_of(top, LAG_SECONDS) : 0, end = top->trace.end + 1;
    return end > top->trace.begin + lag ? end - lag : top->trace.begin;
}

/* Walks to TO without running analyses. */
static bool skip(struct top *top, uint64_t to, struct fail *fail)
{
    return to <= top->from || walk(top, to, NULL, 0, NULL, fail);
}

/* Reads new packets. After a new stream the trace is opened again, and all of it is walked up to the same
 * time. */
static bool refresh(struct top *top, struct fail *fail)
{
    uint64_t from, shown = top->from;
    bool has_begun = top->model.used != 0;
    if (trace_refresh(&top->trace, &from) != TRACE_CHANGED)
        return true;
    return open_trace(top, top->puller.directory[0] != '\0' ? top->puller.directory : top->name, fail) &&
           (!has_begun || skip(top, shown, fail));
}

bool top_link_broke(struct top *top)
{
    return top->is_source && !puller_runs(&top->puller) && top->puller.status != EXIT_OK;
}

bool top_launch(struct top *top, struct fail *fail)
{
    if (top->log != NULL) { /* keep messages of the last attempt only */
        rewind(top->log);
        if (ftruncate(fileno(top->log), 0) != 0)
            return fail_set(fail, "cannot write a temporary file");
        top->puller.log = fileno(top->log);
    }
    return puller_launch(&top->puller, top->name, top->output, fail);
}

bool top_try_again(struct top *top, struct fail *fail)
{
    if (top->output != NULL)
        return true; /* the requested trace ends here */
    if (!puller_runs(&top->puller)) {
        puller_stop(&top->puller);
        return top_launch(top, fail);
    }
    if (!puller_has_begun(&top->puller))
        return true;
    top->has_broken = false;
    top->old_until = 0;
    top->at = -1;
    top->came = now_seconds();
    if (!open_trace(top, top->puller.directory, fail))
        return false;
    begin_losses(top);
    return true;
}

static bool ask(struct top *top, uint64_t to, struct fail *fail)
{
    forget_screen(top);
    for (unsigned i = 0; i < TOP_ANALYSES; i++)
        top->analyses[i] = analysis_new(analysis_find(analysis_names[i]));
    losses_open(&top->losses, &top->trace);
    top->losses.quiet = true;
    top->losses.is_unfinished = trace_is_unfinished(&top->trace) && to > trace_known_end(&top->trace);
    for (unsigned i = 0; i < TOP_ANALYSES; i++)
        if (!analysis_choose_tables(top->analyses[i], needed[i], fail))
            return false;
    if (!walk(top, to, top->analyses, TOP_ANALYSES, &top->losses.reporter, fail))
        return false;
    losses_add(&top->all, &top->losses);
    top->behind =
        top_is_live(top) ? (double)(top->trace.end - to) / (double)top->trace.schema.clock_freq : -1;
    return top->has_screen = true;
}

bool top_begin(struct top *top, struct fail *fail)
{
    uint64_t at;
    top->is_connecting = false;
    if (!open_trace(top, top->is_source ? top->puller.directory : top->name, fail))
        return false;
    begin_losses(top);
    at = top->at >= 0 ? top->trace.begin + ticks_of(top, top->at) : top->trace.begin;
    if (top->at >= 0 && !top->is_source && at >= top->trace.end)
        return fail_set(fail, "the trace ends before %g s", top->at);
    top->came = now_seconds();
    return skip(top, at, fail);
}

bool top_connect(struct top *top, struct fail *fail)
{
    if (puller_has_begun(&top->puller))
        return top_begin(top, fail);
    return puller_runs(&top->puller) || fail_set(fail, "nothing came from %s", top->name);
}

/* Skips what the guest logged before the pull. Returns false while such data is still expected, or if FAIL is
 * set. */
static bool pass_old(struct top *top, uint64_t until, struct fail *fail)
{
    double now = now_seconds();
    if (top->old_until < 0)
        return true;
    if (top->old_until == 0)
        top->old_until = now + OLD_SECONDS;
    if (now < top->old_until || !skip(top, until, fail))
        return false;
    top->old_until = -1;
    return true;
}

static int next(struct top *top, struct fail *fail)
{
    uint64_t span, until, from;
    fail->text[0] = '\0';
    if (!refresh(top, fail))
        return -1;
    if (top->trace.stream_count == 0)
        return top_is_live(top) || top->is_source ? 0 : -1;
    until = known_until(top);
    if (top_is_live(top) && top->at < 0 && !pass_old(top, until, fail))
        return fail->text[0] != '\0' ? -1 : 0;
    span = ticks_of(top, top->interval);
    from = top->from > top->trace.begin ? top->from : top->trace.begin;
    if (until < from + span && (top_is_live(top) || until <= from))
        return top_is_live(top) ? 0 : -1;
    /* The rest of a finished trace is the last interval. A live top that is behind skips intervals. */
    if (until < from + span)
        span = until - from;
    if (top_is_live(top) && top->batch < 0 && until > from + 2 * span && !skip(top, until - span, fail))
        return -1;
    from = top->from > top->trace.begin ? top->from : top->trace.begin;
    return ask(top, from + span, fail) ? 1 : -1;
}

/* A table on the screen: some columns of an analysis's table. */
struct part {
    unsigned analysis;
    const char *table, *heading;
    const char *keys[PICKED_MAX]; /* the most important first */
    unsigned name_width;          /* to which names are cut on narrow screens */
};

static const struct part threads_part = {TOP_THREADS,
                                         "thread",
                                         "thread",
                                         {"tid", "pid", "running_ns", "ready_ns", "switches", "wakeups"},
                                         NAMES_CUT};
static const struct part processes_part = {
    TOP_THREADS,
    "process",
    "process",
    {"pid", "threads", "running_ns", "ready_ns", "switches", "wakeups"},
    NAMES_CUT};
static const struct part other_parts[] = {
    {TOP_SYSCALLS,
     "call",
     "system call",
     {"total_ns", "calls", "errors", "own_ns", "mean_ns", "max_ns"},
     NAMES_CUT},
    {TOP_IPC, "edge", "IPC", {"total_ns", "calls", "errors", "mean_ns", "p99_ns", "max_ns"}, EDGES_CUT},
    {TOP_LOCKS,
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
static void print_part(FILE *to, const struct top *top, const struct part *part, const char *sort,
                       const char *pattern, double seconds, unsigned width, unsigned lines)
{
    const struct table *from = find_table(top->analyses[part->analysis], part->table);
    struct table_column columns[PICKED_MAX];
    struct table table;
    unsigned rows;
    if (lines < LINES_MIN)
        return;
    pick(&table, columns, from, part, sort, pattern, seconds);
    rows = table.count <= lines - 2 ? (unsigned)table.count : lines - 3;
    table_print_text(to, &table, rows, width, part->name_width);
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

/* Returns the number of lines. */
static unsigned print_head(FILE *to, const struct top *top, double seconds, bool is_screen, unsigned width)
{
    const struct analysis *stats = top->analyses[TOP_STATS];
    double rate = stats->total->cells[table_find_column(&stats->totals, "events_per_second")].real;
    char line[LINE_BYTES], behind[40] = "", packets[40] = "";
    if (top->behind >= 0)
        snprintf(behind, sizeof(behind), "  %.1f s behind", top->behind);
    if (top->all.lost_packets != 0)
        snprintf(packets, sizeof(packets), ", %" PRIu64 " packets", top->all.lost_packets);
    snprintf(line, sizeof(line),
             "%s%s at %.3f s  %.2f s  %.0f events/s%s  lost %" PRIu64 " events (in all %" PRIu64 "%s)",
             top->state, top->name, (double)analysis_when(stats, stats->to) * 1e-9, seconds, rate, behind,
             top->losses.lost_events, top->all.lost_events, packets);
    unsigned lines = print_wrapped(to, line, width);
    if (top->line != NULL)
        lines += print_wrapped(to, top->line, width);
    if (top->pattern[0] == '\0')
        return lines;
    snprintf(line, sizeof(line), "only %s matching %s%s", top->by_thread ? "threads" : "processes",
             top->pattern, is_screen ? "  (f, Enter: all)" : "");
    return lines + print_wrapped(to, line, width);
}

static void print_bar(FILE *to, double percent, unsigned width)
{
    unsigned full = percent > 0 ? (unsigned)(percent / 100 * width + 0.5) : 0;
    for (unsigned i = 0; i < width; i++)
        fputc(i < full ? '#' : '.', to);
}

/* Prints as many side by side as fit. */
static unsigned print_cpus(FILE *to, const struct top *top, unsigned width, unsigned most)
{
    const struct table *cpus = find_table(top->analyses[TOP_STATS], "cpu");
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

/* Rows whose names match PATTERN, sorted. */
static void write_part(FILE *to, const struct top *top, const struct part *part, const char *sort,
                       const char *pattern, const struct table_options *output)
{
    const struct table *from = find_table(top->analyses[part->analysis], part->table);
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

static void write_tables(FILE *to, const struct top *top)
{
    static const struct table_column columns[] = {NUMBER_COLUMN("from_ns"),     NUMBER_COLUMN("to_ns"),
                                                  COUNT_COLUMN("events"),       COUNT_COLUMN("lost_events"),
                                                  COUNT_COLUMN("lost_packets"), COUNT_COLUMN("unfinished")};
    static const struct part cpus = {TOP_STATS, "cpu", NULL, {NULL}, 0};
    const struct table_options *output = &top->tables;
    const struct analysis *stats = top->analyses[TOP_STATS];
    struct table interval = TABLE("interval", "interval", "intervals", columns);
    struct table_row *row = table_add(&interval, top->name);
    row->cells[0].count = analysis_when(stats, stats->from);
    row->cells[1].count = analysis_when(stats, stats->to);
    row->cells[2] = stats->total->cells[table_find_column(&stats->totals, "events")];
    row->cells[3].count = top->losses.lost_events;
    row->cells[4].count = top->losses.lost_packets;
    row->cells[5].count = top->losses.is_unfinished;
    if (output->format == TABLES_JSON)
        fputc('{', to);
    table_print(to, output, &interval, UINT64_MAX);
    write_part(to, top, &cpus, "name", "", &(struct table_options){.format = output->format});
    write_part(to, top, top->by_thread ? &threads_part : &processes_part, sorts[top->sort], top->pattern,
               output);
    for (unsigned i = 0; i < OTHERS; i++)
        write_part(to, top, &other_parts[i], "total_ns", "", output);
    if (output->format == TABLES_JSON)
        fputs("}\n", to);
    table_free(&interval);
}

static void print(FILE *to, const struct top *top, unsigned width, unsigned height)
{
    if (top->tables.format != TABLES_TEXT) {
        write_tables(to, top);
        return;
    }
    double seconds = analysis_seconds(top->analyses[TOP_STATS]);
    struct part main = top->by_thread ? threads_part : processes_part;
    char heading[40];
    unsigned used, left = ROWS_BATCH + 3, others = left, bars = width;
    seconds = seconds > 0 ? seconds : 1e-9;
    width = height != 0 ? width : UINT_MAX; /* without a screen nothing is cut */
    used = print_head(to, top, seconds, height != 0, width);
    used += print_cpus(to, top, bars, height != 0 ? height / 4 + 1 : 64);
    if (height != 0) {
        left = height > used ? height - used : 0;
        others = left > HEIGHT_MAIN ? (left - HEIGHT_MAIN) / OTHERS : 0;
        others = others < LINES_MIN ? 0 : others < LINES_MAX ? others : LINES_MAX;
        left -= OTHERS * others;
        snprintf(heading, sizeof(heading), "%s by %s", main.heading, top_sorts[top->sort]);
        main.heading = heading;
    }
    print_part(to, top, &main, sorts[top->sort], top->pattern, seconds, width, left);
    for (unsigned i = 0; i < OTHERS; i++)
        print_part(to, top, &other_parts[i], other_parts[i].keys[0], "", seconds, width, others);
}

const struct top_ways top_of_trace = {
    .keys = "q quit  s sort  t threads/processes  f filter  +/- interval  space pause  h hide help",
    .end = "end of the trace",
    .next = next,
    .print = print};
