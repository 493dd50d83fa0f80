/* SPDX-License-Identifier: BSD-2-Clause */
/* spans.c - keeps the longest of what lasts; see spans.h. */
#include <stdio.h>
#include <stdlib.h>
#include <tools/tarn/analysis/spans.h>

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
