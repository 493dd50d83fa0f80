/* SPDX-License-Identifier: BSD-2-Clause */
/* spans.c - adds up activities; see spans.h. */
#include <stdio.h>
#include <stdlib.h>
#include <tools/tarn/analysis/spans.h>

void span_add(struct span *span, struct arena *arena, const struct model_frame *frame, uint64_t end,
              bool is_error)
{
    uint64_t ticks = model_span(frame, end);

    span->count++;
    span->errors += is_error;
    span->total += ticks;
    span->own += frame->ran - frame->inner;
    span->inside += frame->inner;
    if (!frame->is_cut)
        distribution_add(&span->whole, arena, ticks);
}

static void span_fill(const struct span *span, const struct schema *schema, struct table_row *row,
                      unsigned first_column)
{
    union table_cell *cells = &row->cells[first_column];

    /* its count and total go to the two cells before SPAN_MIN, which are overwritten below */
    distribution_fill(&span->whole, schema, &cells[SPAN_MIN - 2]);
    cells[SPAN_COUNT].count = span->count;
    cells[SPAN_TOTAL].count = ticks_to_ns(schema, span->total);
    cells[SPAN_OWN].count = ticks_to_ns(schema, span->own);
    cells[SPAN_INSIDE].count = ticks_to_ns(schema, span->inside);
    cells[SPAN_WAITING].count = ticks_to_ns(schema, span->total - span->own - span->inside);
}

static void span_merge(struct span *into, struct arena *arena, const struct span *from)
{
    into->count += from->count;
    into->errors += from->errors;
    into->total += from->total;
    into->own += from->own;
    into->inside += from->inside;
    distribution_merge(&into->whole, arena, &from->whole);
}

/* Returns the row of the group that the entry belongs to. */
static struct table_row *row_of_group(const struct analysis *analysis, struct table *table,
                                      const struct map_entry *entry, enum spans_by by, span_name *name)
{
    const struct model_thread *thread = analysis->model->threads[entry->key[1]];
    uint64_t what = entry->key[0], rank = entry->key[2];
    char text[ANALYSIS_NAME_BYTES];
    struct table_row *row;

    switch (by) {
    case SPANS_BY_WHAT:
        row = table_row(table, what, name(analysis, what, text));
        row_set(table, row, "number", what);
        return row;
    case SPANS_BY_CPU:
        snprintf(text, sizeof(text), "cpu %u", analysis->trace->streams[rank].cpu);
        row = table_row(table, rank, text);
        row_set(table, row, "cpu", analysis->trace->streams[rank].cpu);
        return row;
    case SPANS_BY_THREAD:
        row = table_row(table, thread->number, analysis_thread_name(analysis, thread));
        row_set(table, row, "tid", thread->tid);
        break;
    case SPANS_BY_USE:
        row = table_row(table, what << 32 | thread->pid, analysis_process_name(analysis, thread->pid));
        row->cells[table_find_column(table, "what")].text = table_text(table, name(analysis, what, text));
        break;
    default:
        return row_of_process(analysis, table, thread->pid);
    }
    row_set(table, row, "pid", thread->pid);
    return row;
}

/* Of the spans beyond the map's limit only the sums are known. */
static struct table_row *row_of_rest(struct table *table)
{
    struct table_row *row = table_add(table, "(others)");

    for (unsigned i = 0; i < table->column_count; i++)
        if (table->columns[i].kind == COLUMN_NUMBER)
            row->cells[i] = table_unknown(&table->columns[i]);
    return row;
}

void spans_fill(struct analysis *analysis, struct table *table, const struct map *spans, enum spans_by by,
                span_name *name)
{
    unsigned first = (unsigned)table_find_column(table, "total_ns") - SPAN_TOTAL;

    for (size_t i = 0; i < map_total(spans) && table->is_wanted; i++) {
        const struct map_entry *entry = map_entry(spans, i);
        struct table_row *row =
            entry == spans->others ? row_of_rest(table) : row_of_group(analysis, table, entry, by, name);

        span_merge(table_sum(table, row, sizeof(struct span)), &table->arena, (const void *)entry->value);
    }
    for (size_t i = 0; i < table->count; i++) {
        const struct span *span = table->rows[i]->sum;

        row_set(table, table->rows[i], "errors", span->errors);
        span_fill(span, &analysis->trace->schema, table->rows[i], first);
    }
}

void map_histogram(struct analysis *analysis, struct table *table, const struct map *map, size_t at)
{
    struct distribution all = {0};

    for (size_t i = 0; i < map_total(map) && table->is_wanted; i++)
        distribution_merge(&all, &analysis->arena, (const void *)(map_entry(map, i)->value + at));
    distribution_histogram(&all, &analysis->trace->schema, table);
}

/* Restores the heap if the item at PLACE is longer than those below it. */
static void sift_down(struct longest_list *list, unsigned place)
{
    struct longest item = list->items[place];

    for (;;) {
        unsigned child = 2 * place + 1;

        if (child >= list->count)
            break;
        if (child + 1 < list->count && list->items[child + 1].ticks < list->items[child].ticks)
            child++;
        if (item.ticks <= list->items[child].ticks)
            break;
        list->items[place] = list->items[child];
        place = child;
    }
    list->items[place] = item;
}

void longest_add(struct longest_list *list, const struct longest *item)
{
    if (list->count < LONGEST_KEPT) {
        list->items[list->count++] = *item;
        if (list->count == LONGEST_KEPT)
            for (unsigned place = LONGEST_KEPT / 2; place-- > 0;)
                sift_down(list, place);
    } else if (item->ticks > list->items[0].ticks) {
        list->items[0] = *item;
        sift_down(list, 0);
    }
}

static int compare(const void *left, const void *right)
{
    const struct longest *a = left, *b = right;

    return a->ticks != b->ticks ? (a->ticks < b->ticks ? 1 : -1)
                                : (a->begin > b->begin) - (a->begin < b->begin);
}

void longest_sort(struct longest_list *list)
{
    if (list->count > 1)
        qsort(list->items, list->count, sizeof(list->items[0]), compare);
}

static void fill_longest(const struct analysis *analysis, struct table *table, struct table_row *row,
                         const struct longest *item)
{
    const char *name = item->thread ? analysis_thread_name(analysis, item->thread) : "(unknown)";

    row->cells[LONGEST_AT].count = analysis_when(analysis, item->begin);
    row->cells[LONGEST_DURATION].count = analysis_ns(analysis, item->ticks);
    row->cells[LONGEST_TID].count = item->thread ? item->thread->tid : (uint64_t)TABLE_NONE;
    row->cells[LONGEST_PID].count = item->thread ? item->thread->pid : (uint64_t)TABLE_NONE;
    row->cells[LONGEST_THREAD].text = table_text(table, name);
}

void longest_rows(struct analysis *analysis, struct table *table, struct longest_list *list,
                  longest_row *add_row)
{
    longest_sort(list);
    for (unsigned i = 0; i < list->count; i++)
        fill_longest(analysis, table, add_row(analysis, table, &list->items[i]), &list->items[i]);
}
