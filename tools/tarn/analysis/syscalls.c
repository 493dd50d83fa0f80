/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * syscalls.c - `tarn syscalls`: the system calls, how long they took and why, and what they returned.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tarn/error.h>
#include <tools/tarn/analysis/kinds.h>
#include <tools/tarn/analysis/spans.h>

enum { BY_CALL, BY_PROCESS, BY_THREAD, BY_USE, BY_ERROR, BY_DURATION, BY_LONGEST, TABLES };

struct syscalls {
    struct analysis analysis;
    struct map uses;   /* struct span by call and thread number */
    struct map errors; /* count by call and result */
    struct longest_list longest;
    const char *pattern;         /* --call */
    const struct field *numbers; /* whose labels are the names of the calls */
};

/* spans_fill finds its columns by their keys. */
#define ALL_COLUMNS COUNT_COLUMN("errors"), SPAN_COLUMNS("calls")
static const struct table_column call_columns[] = {NUMBER_COLUMN("number"), ALL_COLUMNS};
static const struct table_column process_columns[] = {NUMBER_COLUMN("pid"), ALL_COLUMNS};
static const struct table_column thread_columns[] = {NUMBER_COLUMN("tid"), NUMBER_COLUMN("pid"), ALL_COLUMNS};
static const struct table_column use_columns[] = {NUMBER_COLUMN("pid"), TEXT_KEY("what"), ALL_COLUMNS};
static const struct table_column error_columns[] = {SIGNED_COLUMN("result"), COUNT_COLUMN("count"),
                                                    TEXT_KEY("meaning")};
static const struct table_column longest_columns[] = {LONGEST_COLUMNS, HEX_COLUMN("arg0"), HEX_COLUMN("arg1"),
                                                      SIGNED_COLUMN("result")};
static const struct table tables[TABLES] = {
    [BY_CALL] = TABLE("call", "system call", "calls", call_columns, "total_ns", "system calls"),
    [BY_PROCESS] =
        TABLE("process", "process", "processes", process_columns, "total_ns", "system calls of each process"),
    [BY_THREAD] =
        TABLE_EXTRA("thread", "thread", "threads", thread_columns, "total_ns", "system calls of each thread"),
    [BY_USE] =
        TABLE_EXTRA("use", "process", "uses", use_columns, "total_ns", "each system call of each process"),
    [BY_ERROR] =
        TABLE("error", "system call", "errors", error_columns, "count", "errors that calls returned"),
    [BY_DURATION] = HISTOGRAM_TABLE_EXTRA("duration", "duration", "histogram of durations"),
    [BY_LONGEST] = TABLE_EXTRA("longest", "longest calls", "calls", longest_columns, TABLE_AS_FILLED,
                               "the longest calls"),
};

static const struct command_option options[] = {
    {TEXT("call", "PATTERN", struct syscalls, pattern, "only these system calls: ipc_*")}, {.name = NULL}};

static const char *name_of(const struct analysis *analysis, uint64_t number, char text[ANALYSIS_NAME_BYTES])
{
    return label_of(((const struct syscalls *)analysis)->numbers, number, text);
}

static bool wants_call(const struct syscalls *calls, uint64_t number)
{
    char text[ANALYSIS_NAME_BYTES];

    return calls->pattern == NULL || match_glob(calls->pattern, name_of(&calls->analysis, number, text));
}

static void leave(struct model_observer *self, const struct model_thread *thread,
                  const struct model_frame *frame, uint64_t end)
{
    struct syscalls *calls = ANALYSIS_OF(self, struct syscalls);
    bool is_error = frame->result < 0;

    if (frame->kind != ACTIVITY_SYSCALL || !analysis_wants(&calls->analysis, thread) ||
        !wants_call(calls, frame->detail))
        return;
    span_add(map_at(&calls->uses, frame->detail, thread->number, 0), &calls->uses.arena, frame, end,
             is_error);
    if (is_error)
        ++*(uint64_t *)map_at(&calls->errors, frame->detail, (uint64_t)frame->result, 0);
    if (!frame->is_cut)
        longest_add(&calls->longest, &(struct longest){.ticks = model_span(frame, end),
                                                       .begin = frame->begin,
                                                       .thread = thread,
                                                       .what = frame->detail,
                                                       .args = {frame->args[0], frame->args[1]},
                                                       .result = frame->result});
}

static bool open_syscalls(struct analysis *analysis, struct fail *fail)
{
    struct syscalls *calls = (struct syscalls *)analysis;

    analysis_map(analysis, &calls->uses, sizeof(struct span))->limit = MAP_DISTRIBUTIONS_MAX;
    analysis_map(analysis, &calls->errors, sizeof(uint64_t));
    calls->numbers = model_detail_field(&analysis->trace->schema, ACTIVITY_SYSCALL);
    analysis->observer.leave = leave;
    return true;
}

static void fill_errors(struct syscalls *calls)
{
    struct table *table = &calls->analysis.tables[BY_ERROR];
    const bool is_tarn = schema_other_system(&calls->analysis.trace->schema) == NULL;
    char text[ANALYSIS_NAME_BYTES];

    for (size_t i = 0; i < map_total(&calls->errors); i++) {
        const struct map_entry *entry = map_entry(&calls->errors, i);
        bool is_rest = entry == calls->errors.others;
        struct table_row *row =
            table_add(table, is_rest ? "(others)" : name_of(&calls->analysis, entry->key[0], text));

        cells_put(row->cells, {.number = is_rest ? TABLE_NONE : (int64_t)entry->key[1]},
                  {.count = *(const uint64_t *)(const void *)entry->value},
                  {.text = is_rest || !is_tarn ? NULL : tarn_error_text((int64_t)entry->key[1])});
    }
}

static struct table_row *add_longest(struct analysis *analysis, struct table *table,
                                     const struct longest *item)
{
    char text[ANALYSIS_NAME_BYTES];
    struct table_row *row = table_add(table, name_of(analysis, item->what, text));

    cells_put(row_cell(table, row, "arg0"), {.count = item->args[0]}, {.count = item->args[1]},
              {.number = item->result});
    return row;
}

static void finish_syscalls(struct analysis *analysis)
{
    struct syscalls *calls = (struct syscalls *)analysis;

    spans_fill(analysis, &analysis->tables[BY_CALL], &calls->uses, SPANS_BY_WHAT, name_of);
    spans_fill(analysis, &analysis->tables[BY_PROCESS], &calls->uses, SPANS_BY_PROCESS, name_of);
    spans_fill(analysis, &analysis->tables[BY_THREAD], &calls->uses, SPANS_BY_THREAD, name_of);
    spans_fill(analysis, &analysis->tables[BY_USE], &calls->uses, SPANS_BY_USE, name_of);
    fill_errors(calls);
    map_histogram(analysis, &analysis->tables[BY_DURATION], &calls->uses, offsetof(struct span, whole));
    longest_rows(analysis, &analysis->tables[BY_LONGEST], &calls->longest, add_longest);
    if (calls->pattern != NULL && map_total(&calls->uses) == 0)
        snprintf(analysis->note, sizeof(analysis->note),
                 "no system call matches --call %.40s; `tarn syscalls --top 0` lists all", calls->pattern);
}

const struct analysis_kind syscalls_analysis = {
    .name = "syscalls",
    .summary = "system calls: how many, how long and why, errors",
    .options = options,
    .tables = tables,
    .table_count = TABLES,
    .size = sizeof(struct syscalls),
    .open = open_syscalls,
    .finish = finish_syscalls,
};
