/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tests/unit/tarn/breakdown_test.c - the rows of `tarn breakdown` add up to the time that threads lived;
 * prints TAP.
 *
 * usage: breakdown_test [DIRECTORY]...      real traces, too
 *
 * How long a thread lived is taken from its birth and death in the model, not from segments; how long an idle
 * thread ran, from its processor. For whole traces, for ranges drawn at random, and for some processes only.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tests/tap.h>
#include <tests/unit/scratch.h>
#include <tests/unit/tarn/synthetic.h>
#include <tools/tarn/analysis/analysis.h>
#include <tools/tarn/model/walk.h>

static const struct trace *trace;
static struct analysis *analysis;
static struct filter filter;
static bool has_losses;
static unsigned problems;

static void differ(const char *table, const char *row, uint64_t expected, uint64_t found)
{
    if (problems++ == 0)
        printf("# %s, %s: %" PRIu64 " ns, not %" PRIu64 "\n", table, row, found, expected);
}

static uint64_t cell(const struct table *table, const struct table_row *row, const char *key)
{
    return row->cells[table_find_column(table, key)].count;
}

static const struct table *find_table(const char *key)
{
    for (unsigned i = 0; i < analysis->kind->table_count; i++)
        if (strcmp(analysis->tables[i].key, key) == 0)
            return &analysis->tables[i];
    abort();
}

static uint64_t lived(const struct model *model, const struct model_thread *thread)
{
    uint64_t from = thread->begin > model->from ? thread->begin : model->from;
    uint64_t to = thread->end < model->to ? thread->end : model->to;

    if (thread == model->nobody || !analysis_wants(analysis, thread))
        return 0;
    return thread->is_idle ? thread->ran : to > from ? to - from : 0;
}

/* The columns of each row that are times add up to its wall time. */
static void check_columns(const char *key)
{
    const struct table *table = find_table(key);
    int wall = table_find_column(table, "wall_ns");

    for (size_t i = 0; i < table->count; i++) {
        uint64_t sum = 0;

        for (unsigned c = (unsigned)wall + 1; c < table->column_count; c++)
            sum += table->rows[i]->cells[c].count;
        if (sum != table->rows[i]->cells[wall].count)
            differ(key, table->rows[i]->name, table->rows[i]->cells[wall].count, sum);
    }
}

/* The rows of a table add up to the wall time of all; each may be rounded. */
static void check_rows(const char *key, const char *column, uint64_t wall, bool is_rounded)
{
    const struct table *table = find_table(key);
    uint64_t sum = 0;

    for (size_t i = 0; i < table->count; i++)
        sum += cell(table, table->rows[i], column);
    if (is_rounded ? sum > wall || wall - sum > table->count : sum != wall)
        differ(key, "all rows", wall, sum);
}

static void check_processes(const struct model *model, const uint64_t *ticks)
{
    const struct table *table = find_table("process");

    for (size_t i = 0; i < table->count; i++) {
        uint64_t pid = cell(table, table->rows[i], "pid"), sum = 0;

        for (uint32_t n = 0; n < model->thread_count; n++)
            sum += model->threads[n]->pid == pid ? ticks[n] : 0;
        if (cell(table, table->rows[i], "wall_ns") != analysis_ns(analysis, sum))
            differ("process", table->rows[i]->name, analysis_ns(analysis, sum),
                   cell(table, table->rows[i], "wall_ns"));
    }
}

static void check_threads(const struct model *model, const uint64_t *ticks)
{
    const struct table *table = find_table("thread");
    size_t rows = 0;

    for (uint32_t n = 0; n < model->thread_count; n++) {
        const struct model_thread *thread = model->threads[n];
        struct table_row *row;

        if (ticks[n] == 0)
            continue;
        rows++;
        row = table_row((struct table *)table, n, model_thread_name(model, thread));
        if (cell(table, row, "wall_ns") != analysis_ns(analysis, ticks[n]))
            differ("thread", row->name, analysis_ns(analysis, ticks[n]), cell(table, row, "wall_ns"));
    }
    if (rows != table->count)
        differ("thread", "rows", rows, table->count);
}

static void check_lives(const struct model *model)
{
    uint64_t *ticks = alloc_zero(model->thread_count + 1, sizeof(ticks[0])), all = 0, wall;

    for (uint32_t n = 0; n < model->thread_count; n++)
        all += ticks[n] = lived(model, model->threads[n]);
    check_threads(model, ticks);
    check_processes(model, ticks);
    free(ticks);
    wall = analysis_ns(analysis, all);
    if (cell(&analysis->totals, analysis->total, "wall_ns") != wall)
        differ("total", "wall", wall, cell(&analysis->totals, analysis->total, "wall_ns"));
}

static void check_sums(const struct model *model)
{
    uint64_t wall = cell(&analysis->totals, analysis->total, "wall_ns");

    /* Where events were lost, a thread's process may be known later than the thread. */
    if (!filter.by_running || !has_losses)
        check_lives(model);
    check_columns("thread");
    check_columns("process");
    check_columns("call");
    check_rows("thread", "wall_ns", wall, true);
    check_rows("process", "wall_ns", wall, true);
    check_rows("call", "wall_ns", wall, true);
    check_rows("activity", "total_ns", wall, false);
    check_rows("use", "total_ns", wall, false);
}

/* Returns the number of threads in the analysis. */
static uint64_t ask(void)
{
    struct model model;
    struct merge merge;
    struct fail fail;
    uint64_t threads = 0;

    analysis = analysis_new(analysis_find("breakdown"));
    model_open(&model, trace, filter.from_ticks, filter.to_ticks);
    if (analysis_choose_tables(analysis, "all", &fail) &&
        analyses_open(&analysis, 1, &model, &filter, NULL, &fail)) {
        merge_open(&merge, trace, NULL, 0, NULL);
        model_walk(&model, &merge);
        model_finish_range(&model, &merge);
        merge_close(&merge);
        if (analysis->kind->finish != NULL)
            analysis->kind->finish(analysis);
        check_sums(&model);
        threads = find_table("thread")->count;
    }
    analysis_free(analysis);
    model_close(&model);
    return threads;
}

static void test_trace(const char *name)
{
    static uint64_t random = 1;
    uint64_t length = trace->end - trace->begin, threads;
    char what[200];
    struct fail fail;

    problems = 0;
    memset(&filter, 0, sizeof(filter));
    filter.to_ticks = UINT64_MAX;
    threads = ask();
    snprintf(what, sizeof(what), "%s: rows add up for %" PRIu64 " threads", name, threads);
    check(problems == 0 && threads > 4, "%s", what);
    for (int i = 0; i < 8; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        filter.from_ticks = trace->begin + (random >> 20) % length;
        filter.to_ticks = filter.from_ticks + (random >> 8) % (length >> i);
        ask();
    }
    snprintf(what, sizeof(what), "%s: and in any range", name);
    check(problems == 0, "%s", what);
    memset(&filter, 0, sizeof(filter));
    filter.pids = "1-5";
    threads = filter_resolve(&filter, trace, &fail) ? ask() : 0;
    snprintf(what, sizeof(what), "%s: and for some processes (%" PRIu64 " threads)", name, threads);
    check(problems == 0 && threads > 0, "%s", what);
    filter_free(&filter);
}

static void test_directory(const char *directory, const char *name)
{
    struct trace opened;
    struct fail fail;

    if (!trace_open(&opened, directory, &fail)) {
        check(false, "%s", fail.text);
        return;
    }
    trace = &opened;
    test_trace(name);
    trace_close(&opened);
}

static void test_synthetic(const char *order, bool losses)
{
    struct synthetic_options options = SYNTHETIC_DEFAULTS;
    struct fail fail;
    char directory[128], name[64];

    snprintf(directory, sizeof(directory), "%s/%s%d", scratch, order, losses);
    snprintf(name, sizeof(name), "synthetic, %s%s", order, losses ? ", losses" : "");
    options.order = order;
    options.directory = directory;
    options.events = 50000;
    options.packet = 16384;
    options.losses = has_losses = losses;
    options.freq = 512000000;
    if (!synthetic_write(&options, NULL, &fail))
        check(false, "%s", fail.text);
    else
        test_directory(directory, name);
}

int main(int argc, char **argv)
{
    make_scratch();
    for (int losses = 0; losses < 2; losses++) {
        test_synthetic("le", losses != 0);
        test_synthetic("be", losses != 0);
    }
    has_losses = false;
    for (int i = 1; i < argc; i++)
        test_directory(argv[i], argv[i]);
    return finish_tests();
}
