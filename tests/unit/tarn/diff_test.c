/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tests/unit/tarn/diff_test.c - a server that has become slower is what `tarn diff` finds first; prints TAP.
 *
 * shop (11, of process 1) asks fs (31, of 3) and log (41, of 4) again and again, as often as the trace is
 * long. In the second trace fs takes longer over its requests, and there is a process more.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tests/unit/scratch.h>
#include <tests/unit/tarn/known_results.h>
#include <tools/tarn/analysis/compare.h>
#include <tools/tarn/analysis/t_test.h>

/* One request: its number, its function, the server, the server's process, and how long that takes. */
static const char request[] = "+100 0 ipc_call call_id=%1$u label=%2$u endpoint=%3$u server_tid=%3$u\n"
                              "+0 0 ipc_receive call_id=%1$u label=%2$u endpoint=%3$u client_tid=11\n"
                              "+0 0 sched_switch prev_state=blocked_reply next=%3$u/%4$u/\n"
                              "+%5$u 0 ipc_reply call_id=%1$u label=0 client_tid=11\n"
                              "+0 0 sched_switch prev_state=blocked_ipc_receive next=11/1/\n"
                              "+100 0 ipc_return call_id=%1$u\n";

static void put_request(FILE *to, unsigned id, unsigned server, unsigned ticks)
{
    fprintf(to, request, id, 1000 * server, server, server / 10, ticks);
}

static unsigned idle_ticks; /* before the first thread runs, and after the last */

static void write_trace(FILE *to, unsigned rounds, unsigned fs_ticks, bool has_more)
{
    fprintf(to,
            "%u 0 trace_context\n"
            "+0 0 process_create pid=1\n+0 0 process_rename pid=1 name=shop\n"
            "+0 0 process_create pid=3\n+0 0 process_rename pid=3 name=fs\n"
            "+0 0 process_create pid=4\n+0 0 process_rename pid=4 name=log\n"
            "+0 0 sched_switch prev_state=ready next=31/3/\n"
            "+0 0 sched_switch prev_state=blocked_ipc_receive next=41/4/\n"
            "+0 0 sched_switch prev_state=blocked_ipc_receive next=11/1/\n",
            1000 + idle_ticks);
    for (unsigned i = 0; i < rounds; i++) {
        put_request(to, 2 * i + 1, 31, fs_ticks);
        put_request(to, 2 * i + 2, 41, 1000);
    }
    fprintf(to, "%s%s+%u 0 user_text text=end\n", has_more ? "+0 0 process_create pid=9\n" : "",
            idle_ticks != 0 ? "+0 0 sched_switch prev_state=blocked_reply\n" : "", idle_ticks);
}

/* An analysis of the trace that is written like that. */
static struct analysis *ask_of(const char *order, const char *kind, unsigned rounds, unsigned fs_ticks,
                               bool has_more, double *seconds)
{
    struct fail fail = {""};
    struct analysis *analysis;
    char *text;
    size_t size;
    FILE *to = open_memstream(&text, &size);

    write_trace(to, rounds, fs_ticks, has_more);
    fclose(to);
    open_known(text, "", order);
    free(text);
    analysis = ask(kind, (const char *const[]){NULL}, &fail);
    if (analysis == NULL)
        bail_out(fail.text);
    *seconds = analysis_seconds(analysis);
    trace_close(&known_trace);
    return analysis;
}

static struct table compare(struct analysis *const analyses[2], const double units[2], const char *key,
                            const char *column, double threshold)
{
    struct comparison comparison = {
        .tables = {{find_table(analyses[0], key)}, {find_table(analyses[1], key)}},
        .units = {{units[0]}, {units[1]}},
        .runs = {1, 1},
        .work = COMPARE_BY_UNIT,
        .threshold = threshold};
    struct table result;

    comparison.column = (unsigned)table_find_column(comparison.tables[0][0], column);
    compare_tables(&comparison, key, &result);
    return result;
}

static bool has_row(const struct table *table, size_t place, const char *name, double a, double b)
{
    union table_cell *cells;
    double change, slack = table->columns[COMPARE_A].kind == COLUMN_TIME ? 1 : 0.01;

    if (place >= table->count || strcmp(table->rows[place]->name, name) != 0)
        return false;
    cells = table->rows[place]->cells;
    if (table->columns[COMPARE_A].kind == COLUMN_TIME) {
        change = (double)cells[COMPARE_CHANGE].number;
        cells[COMPARE_A].real = (double)cells[COMPARE_A].count;
        cells[COMPARE_B].real = (double)cells[COMPARE_B].count;
    } else {
        change = cells[COMPARE_CHANGE].real;
    }
    return cells[COMPARE_A].real > a - slack && cells[COMPARE_A].real < a + slack &&
           cells[COMPARE_B].real > b - slack && cells[COMPARE_B].real < b + slack && change > b - a - slack &&
           change < b - a + slack;
}

/* Each side is as long as it has rounds; what is counted per round does not depend on that. */
static void test_slower(const char *order)
{
    double seconds[2], rounds[2] = {10, 40};
    struct analysis *analyses[2] = {ask_of(order, "ipc", 10, 2000, false, &seconds[0]),
                                    ask_of(order, "ipc", 40, 9000, true, &seconds[1])};
    struct table result = compare(analyses, rounds, "function", "total_ns", 0);
    double tick = (double)tick_ns;

    check(has_row(&result, 0, "fs 31000", 2100 * tick, 9100 * tick) && result.count == 1,
          "a slower server is the only change of times per round");
    table_free(&result);
    result = compare(analyses, rounds, "edge", "max_ns", 0);
    check(has_row(&result, 0, "shop -> fs 31000", 2100 * tick, 9100 * tick) && result.count == 1,
          "a maximum is not divided");
    table_free(&result);
    result = compare(analyses, seconds, "function", "calls", 0);
    check(result.count == 2 && result.rows[0]->cells[COMPARE_RATIO].real < 0.5,
          "per second, both have fewer calls");
    table_free(&result);
    result = compare(analyses, rounds, "function", "calls", 0);
    check(result.count == 0, "per round, both have the same calls");
    table_free(&result);
    result = compare(analyses, rounds, "function", "total_ns", 90);
    check(result.count == 0, "changes below the threshold are left out");
    table_free(&result);
    result = compare((struct analysis *[2]){analyses[0], analyses[0]}, rounds, "function", "running_ns", 0);
    check(result.count == 2, "another unit changes the result");
    table_free(&result);
    result = compare((struct analysis *[2]){analyses[1], analyses[1]}, (const double[2]){7, 7}, "function",
                     "running_ns", 0);
    check(result.count == 0, "an analysis does not differ from itself");
    table_free(&result);
    analysis_free(analyses[0]);
    analysis_free(analyses[1]);
}

/* Rows that are in one trace only, and several of one name. */
static void test_rows(const char *order)
{
    double seconds[2], units[2] = {1, 1};
    struct analysis *analyses[2] = {ask_of(order, "processes", 5, 1000, false, &seconds[0]),
                                    ask_of(order, "processes", 5, 1000, true, &seconds[1])};
    struct table result = compare(analyses, units, "tree", "threads", 0);

    check(result.count == 0, "a process without threads changes no number of threads");
    table_free(&result);
    result = compare(analyses, units, "program", "processes", 0);
    check(result.count == 1 && has_row(&result, 0, "(nameless)", 0, 1), "a new row has no earlier value");
    table_free(&result);
    result = compare((struct analysis *[2]){analyses[1], analyses[0]}, units, "program", "processes", 0);
    check(result.count == 1 && has_row(&result, 0, "(nameless)", 1, 0), "a removed row has no later value");
    table_free(&result);
    check(compare_refuses(find_table(analyses[0], "tree")) == NULL, "processes can be compared, by name");
    analysis_free(analyses[0]);
    analysis_free(analyses[1]);
}

/* ---- several runs --------------------------------------------------------------------------------- */

#define RUNS 3u

/* Runs of both sides, that long in fs, are compared by call, as `tarn diff` does it; each is asked for
 * `function` of ipc and `process` of sched. */
struct runs {
    struct analysis *analyses[2][RUNS];
    struct comparison comparison;
};

static void ask_runs(struct runs *runs, const char *order, const char *kind, const unsigned ticks[2][RUNS],
                     const unsigned idle[2])
{
    double seconds;

    *runs = (struct runs){.comparison = {.runs = {RUNS, RUNS}}};
    for (unsigned side = 0; side < 2; side++)
        for (unsigned run = 0; run < RUNS; run++) {
            idle_ticks = idle[side] * (run + 1);
            runs->analyses[side][run] = ask_of(order, kind, 20, ticks[side][run], false, &seconds);
            runs->comparison.units[side][run] = seconds;
        }
    idle_ticks = 0;
}

static struct table compare_runs(struct runs *runs, const char *key, const char *column)
{
    struct comparison *comparison = &runs->comparison;
    struct table result;

    for (unsigned side = 0; side < 2; side++)
        for (unsigned run = 0; run < RUNS; run++)
            comparison->tables[side][run] = find_table(runs->analyses[side][run], key);
    comparison->column = (unsigned)table_find_column(comparison->tables[0][0], column);
    comparison->work = compare_work(comparison->tables[0][0], comparison->column);
    compare_tables(comparison, key, &result);
    compare_judge(&result, 1000); /* as if there were many more */
    return result;
}

static void free_runs(struct runs *runs)
{
    for (unsigned side = 0; side < 2; side++)
        for (unsigned run = 0; run < RUNS; run++)
            analysis_free(runs->analyses[side][run]);
}

static void test_noise(const char *order)
{
    static const unsigned same[2][RUNS] = {{2000, 2060, 1950}, {2010, 1930, 2080}};
    static const unsigned slower[2][RUNS] = {{2000, 2060, 1950}, {120000, 118000, 123000}};
    static const unsigned idle[2] = {100, 90000};
    struct table result;
    struct runs runs;

    ask_runs(&runs, order, "ipc", same, idle);
    result = compare_runs(&runs, "function", "total_ns");
    check(result.count == 1 && !compare_is_significant(result.rows[0]) &&
              strcmp(result.rows[0]->cells[COMPARE_VERDICT].text, "noise") == 0,
          "differences as large as those on one side are noise, whatever the idle time");
    check(result.count == 1 && result.rows[0]->cells[COMPARE_SPREAD_A].real > 2 &&
              result.rows[0]->cells[COMPARE_SPREAD_A].real < 4,
          "the spread of runs is given");
    table_free(&result);
    free_runs(&runs);
    ask_runs(&runs, order, "ipc", slower, idle);
    result = compare_runs(&runs, "function", "total_ns");
    check(result.count == 1 && strcmp(result.rows[0]->name, "fs 31000") == 0 &&
              compare_is_significant(result.rows[0]) && result.rows[0]->cells[COMPARE_RATIO].real > 50,
          "a server that takes 60 times longer over a call is significant");
    table_free(&result);
    free_runs(&runs);
    ask_runs(&runs, order, "sched", slower, idle);
    result = compare_runs(&runs, "process", "ran_ns");
    check(result.count >= 1 && strcmp(result.rows[0]->name, "fs") == 0 &&
              compare_is_significant(result.rows[0]) && result.rows[0]->cells[COMPARE_RATIO].real > 50,
          "its CPU time is significant, too, and comes first");
    table_free(&result);
    free_runs(&runs);
}

static void test_chance(void)
{
    const double a[] = {1, 2, 3}, b[] = {4, 5, 6};
    double chance = chance_of(sample_of(a, 3), sample_of(b, 3)),
           same = chance_of(sample_of(a, 3), sample_of(a, 3));

    /* t = 3.674 with 4 degrees of freedom: p = 0.0213 (any table of Student's t) */
    check(chance > 0.0212 && chance < 0.0214 && same == 1, "Student's t agrees with published tables");
}

static void test_byte_order(const char *order)
{
    test_chance();
    test_noise(order);
    test_slower(order);
    test_rows(order);
}

int main(void)
{
    return test_both_orders(test_byte_order);
}
