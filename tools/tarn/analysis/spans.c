/* SPDX-License-Identifier: BSD-2-Clause */
/* spans.c - adds up activities; see spans.h. */
#include <stdio.h>
#include <stdlib.h>
#include <tools/tarn/analysis/spans.h>

void span_add(struct span *span, struct arena *arena, const struct model_frame *frame, uint64_t end,
              bool is_error)
{
    uint64_t ticks = end - frame->begin;

    span->count++;
    span->errors += is_error;
    span->total += ticks;
    span->own += frame->ran - frame->inner;
    span->inside += frame->inner;
    if (!frame->is_cut)
        distribution_add(&span->whole, arena, ticks);
}

void span_fill(const struct span *span, const struct schema *schema, struct table_row *row,
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

void span_merge(struct span *into, struct arena *arena, const struct span *from)
{
    into->count += from->count;
    into->errors += from->errors;
    into->total += from->total;
    into->own += from->own;
    into->inside += from->inside;
    distribution_merge(&into->whole, arena, &from->whole);
}

struct group {
    uint64_t what;
    const struct model_thread *thread; /* or one of its process; NULL: none */
    uint32_t rank;
    bool is_rest; /* beyond the map's limit */
};

static const char *group_name(const struct analysis *analysis, const struct group *group, enum spans_by by,
                              span_name *name, char text[ANALYSIS_NAME_BYTES])
{
    if (group->is_rest)
        return "(others)";
    switch (by) {
    case SPANS_BY_WHAT:
        return name(analysis, group->what, text);
    case SPANS_BY_THREAD:
        return analysis_thread_name(analysis, group->thread);
    case SPANS_BY_CPU:
        snprintf(text, ANALYSIS_NAME_BYTES, "cpu %u", analysis->trace->streams[group->rank].cpu);
        return text;
    default:
        return analysis_process_name(analysis, group->thread->pid);
    }
}

static void add_group(struct analysis *analysis, struct table *table, const struct group *group,
                      const struct span *span, enum spans_by by, span_name *name)
{
    char text[ANALYSIS_NAME_BYTES], what[ANALYSIS_NAME_BYTES];
    struct table_row *row = table_add(table, group_name(analysis, group, by, name, text));
    int place = table_find_column(table, "what");
    uint64_t none = (uint64_t)TABLE_NONE;

    row_set(table, row, "number", group->is_rest ? none : group->what);
    row_set(table, row, "pid", group->is_rest ? none : group->thread->pid);
    row_set(table, row, "tid", group->is_rest ? none : group->thread->tid);
    row_set(table, row, "cpu", group->is_rest ? none : analysis->trace->streams[group->rank].cpu);
    row_set(table, row, "errors", span->errors);
    if (place >= 0 && !group->is_rest)
        row->cells[place].text = table_text(table, name(analysis, group->what, what));
    span_fill(span, &analysis->trace->schema, row,
              (unsigned)table_find_column(table, "total_ns") - SPAN_TOTAL);
}

static struct span *sum_of(struct map *sums, const struct group *group, enum spans_by by)
{
    switch (by) {
    case SPANS_BY_WHAT:
        return map_at(sums, group->what, 0, 0);
    case SPANS_BY_THREAD:
        return map_at(sums, group->thread->number, 0, 0);
    case SPANS_BY_CPU:
        return map_at(sums, group->rank, 0, 0);
    case SPANS_BY_PROCESS:
        return map_at(sums, group->thread->pid, 0, 0);
    default:
        return map_at(sums, group->what, group->thread->pid, 0);
    }
}

static struct group group_of(const struct analysis *analysis, const struct map_entry *entry)
{
    return (struct group){.what = entry->key[0],
                          .thread = analysis->model->threads[entry->key[1]],
                          .rank = (uint32_t)entry->key[2]};
}

void spans_fill(struct analysis *analysis, struct table *table, const struct map *spans, enum spans_by by,
                span_name *name)
{
    struct group *groups = alloc_zero(spans->count, sizeof(groups[0])), rest = {.is_rest = true};
    size_t count = 0;
    struct map sums;

    if (!table->is_wanted) {
        free(groups);
        return;
    }
    map_open(&sums, sizeof(struct span));
    for (size_t i = 0; i < spans->count; i++) {
        struct group group = group_of(analysis, spans->entries[i]);
        struct span *sum = sum_of(&sums, &group, by);

        if (sums.count > count) /* sums are in the order of their first entries */
            groups[count++] = group;
        span_merge(sum, &sums.arena, (const void *)spans->entries[i]->value);
    }
    for (size_t i = 0; i < count; i++)
        add_group(analysis, table, &groups[i], (const void *)sums.entries[i]->value, by, name);
    if (spans->others != NULL)
        add_group(analysis, table, &rest, (const void *)spans->others->value, by, name);
    map_close(&sums);
    free(groups);
}

void spans_histogram(struct analysis *analysis, struct table *table, const struct map *spans)
{
    struct distribution all = {0};

    for (size_t i = 0; i < map_total(spans) && table->is_wanted; i++)
        distribution_merge(&all, &analysis->arena,
                           &((const struct span *)(const void *)map_entry(spans, i)->value)->whole);
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
