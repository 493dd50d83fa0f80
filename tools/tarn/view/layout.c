/* SPDX-License-Identifier: BSD-2-Clause */
/* layout.c - the rows of the timeline; see layout.h. */
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <tools/tarn/read/filter.h>
#include <tools/tarn/source/source.h>
#include <tools/tarn/view/cover.h>
#include <tools/tarn/view/layout.h>

struct times {
    uint64_t ran, busy; /* busy: with the time in which it was ready */
};

struct layout_thread {
    uint32_t number, pid, tid;
    struct times times;
    const struct times *process;
};

/* ---- names ----------------------------------------------------------------------------------------- */

const char *view_title(const struct view *view)
{
    const char *name = view_name(view);
    size_t slashes = is_source(name) ? 2 : 0;

    for (const char *at = name + strlen(name); at > name && slashes < 2; at--)
        if (at[-1] == '/' && at[0] != '\0' && ++slashes == 2)
            return at;
    return name;
}

const char *view_process_name(const struct view *view, uint32_t pid, char text[VIEW_NAME_BYTES])
{
    const struct model *model = view->index.model;
    const char *name = model != NULL ? names_find(&model->names, pid) : NULL;

    if (name != NULL)
        return name;
    snprintf(text, VIEW_NAME_BYTES, pid == MODEL_NOBODY ? "unknown" : "process %u", pid);
    return text;
}

const char *view_thread_name(const struct view *view, uint32_t number, char text[VIEW_NAME_BYTES])
{
    const struct index_thread *thread = index_thread(&view->index, number);

    return thread->name[0] != '\0' ? thread->name : view_process_name(view, thread->pid, text);
}

static const struct index_thread *thread_of(const struct layout *layout, uint32_t number)
{
    return index_thread(&layout->view->index, number);
}

void layout_name(const struct layout *layout, const struct layout_row *row, struct layout_texts *texts)
{
    const struct view *view = layout->view;
    int pid = row->pid == MODEL_NOBODY ? -1 : (int)row->pid;
    char text[VIEW_NAME_BYTES];

#define NAME(field, ...) snprintf(texts->field, sizeof(texts->field), __VA_ARGS__)
    if (row->kind == LAYOUT_OF_CPU) {
        NAME(label, "CPU %u", row->cpu);
        NAME(number, "%s", "");
        NAME(title, "%s", texts->label);
    } else if (row->kind == LAYOUT_OF_PROCESS) {
        NAME(label, "%s", view_process_name(view, row->pid, text));
        NAME(number, "%d \u00d7%u", pid, row->count);
        NAME(title, "process %d, %s: %u threads", pid, texts->label, row->count);
    } else {
        uint32_t tid = thread_of(layout, row->number)->tid;

        NAME(label, "%s", view_thread_name(view, row->number, text));
        NAME(number, "%u", tid);
        NAME(title, "thread %u, %s, of process %d", tid, texts->label, pid);
    }
#undef NAME
}

/* ---- choice of threads ----------------------------------------------------------------------------- */

static bool matches(const struct layout *layout, const struct index_thread *thread)
{
    char text[2 * VIEW_NAME_BYTES + 16], name[VIEW_NAME_BYTES];

    if (layout->options.filter == NULL)
        return true;
    snprintf(text, sizeof(text), "%s %s %u", thread->name, view_process_name(layout->view, thread->pid, name),
             thread->tid);
    return strcasestr(text, layout->options.filter) != NULL;
}

static uint64_t time_run(const struct layout *layout, uint32_t number)
{
    const uint64_t *ticks = tally_ticks(&layout->tally, number);

    return ticks[NODE_USER] + ticks[NODE_KERNEL] + ticks[NODE_INTERRUPT];
}

static void add_thread(struct layout *layout, uint32_t number)
{
    const struct index_thread *thread = thread_of(layout, number);
    uint64_t ran = time_run(layout, number);

    if (layout->options.tids != NULL ||
        ((ran > 0 || !layout->options.only_ran) && !thread->is_idle && matches(layout, thread)))
        layout->threads[layout->thread_count++] =
            (struct layout_thread){.number = number,
                                   .pid = thread->pid,
                                   .tid = thread->tid,
                                   .times = {ran, ran + tally_ticks(&layout->tally, number)[NODE_READY]}};
}

static int compare(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int by_time(const void *left, const void *right)
{
    const struct layout_thread *a = left, *b = right;

    return a->times.ran != b->times.ran ? compare(b->times.ran, a->times.ran) : compare(a->number, b->number);
}

static void add_active(struct layout *layout)
{
    for (uint32_t i = 0; i < layout->tally.touched_count; i++)
        if (layout->tally.touched[i] < index_thread_count(&layout->view->index))
            add_thread(layout, layout->tally.touched[i]);
    qsort(layout->threads, layout->thread_count, sizeof(layout->threads[0]), by_time);
    if (layout->thread_count > layout->options.most) {
        layout->hidden = layout->thread_count - layout->options.most;
        layout->thread_count = layout->options.most;
    }
}

static void add_chosen(struct layout *layout)
{
    for (uint32_t i = 0; i < layout->thread_count; i++)
        if (layout->threads[i].number == layout->options.chosen)
            return;
    if (layout->options.chosen < index_thread_count(&layout->view->index))
        add_thread(layout, layout->options.chosen);
}

static bool choose_threads(struct layout *layout, struct fail *fail)
{
    const struct layout_options *options = &layout->options;
    uint32_t count = index_thread_count(&layout->view->index);

    layout->threads = alloc_zero((size_t)count + 1, sizeof(layout->threads[0]));
    for (uint32_t i = 0; options->tids != NULL && i < count; i++)
        if (list_has(options->tids, thread_of(layout, i)->tid))
            add_thread(layout, i);
    if (options->tids != NULL)
        return layout->thread_count > 0 ||
               fail_set(fail, "the trace has no thread %.100s; `tarn threads --top 0` lists its threads",
                        options->tids);
    add_active(layout);
    add_chosen(layout);
    return true;
}

/* ---- order ----------------------------------------------------------------------------------------- */

static void sum_processes(struct layout *layout)
{
    map_open(&layout->processes, sizeof(struct times));
    for (uint32_t i = 0; i < layout->thread_count; i++) {
        struct layout_thread *thread = &layout->threads[i];
        struct times *process = map_at(&layout->processes, thread->pid, 0, 0);

        process->ran += thread->times.ran;
        process->busy += thread->times.busy;
        thread->process = process;
    }
}

/* Keeps processes together. Those without a busy thread come last, then those that ran for less time. */
static int by_process(const void *left, const void *right)
{
    const struct layout_thread *a = left, *b = right;
    int order = compare(b->process->busy > 0, a->process->busy > 0);

    if (order == 0)
        order = compare(b->process->ran, a->process->ran);
    if (order == 0)
        order = compare(a->pid, b->pid);
    if (order == 0)
        order = compare(b->times.ran, a->times.ran);
    return order != 0 ? order : compare(a->tid, b->tid);
}

/* ---- rows ------------------------------------------------------------------------------------------ */

static void add_row(struct layout *layout, const struct layout_row *row)
{
    buffer_add(&layout->rows, row, sizeof(*row));
}

static void add_thread_row(struct layout *layout, uint32_t number, bool is_pinned, bool is_inner)
{
    add_row(layout, &(struct layout_row){.kind = LAYOUT_OF_THREAD,
                                         .number = number,
                                         .pid = thread_of(layout, number)->pid,
                                         .ran = time_run(layout, number),
                                         .is_pinned = is_pinned,
                                         .is_inner = is_inner});
}

static int by_cpu(const void *left, const void *right)
{
    const struct layout_row *a = left, *b = right;

    return compare(a->cpu, b->cpu);
}

/* By CPU number, because streams are sorted by name. */
static void add_cpus(struct layout *layout)
{
    for (uint32_t rank = 0; rank < lanes_cpu_count(layout->view); rank++)
        add_row(layout, &(struct layout_row){
                            .kind = LAYOUT_OF_CPU, .number = rank, .cpu = lanes_cpu(layout->view, rank)});
    qsort(layout->rows.bytes, layout_count(layout), sizeof(struct layout_row), by_cpu);
}

static void add_pins(struct layout *layout)
{
    const char *at = layout->options.pins;
    uint64_t number, last;

    while (at != NULL && *at != '\0' && (at = list_next(at, &number, &last)) != NULL)
        if (number < index_thread_count(&layout->view->index))
            add_thread_row(layout, (uint32_t)number, true, false);
}

/* Adds the process of COUNT threads from FIRST on. One with a single thread appears as that thread. */
static void add_process(struct layout *layout, uint32_t first, uint32_t count)
{
    const struct layout_thread *members = &layout->threads[first];
    bool has_head = count > 1 && layout->options.has_heads;

    if (has_head)
        add_row(layout, &(struct layout_row){.kind = LAYOUT_OF_PROCESS,
                                             .number = members->pid,
                                             .pid = members->pid,
                                             .first = first,
                                             .count = count,
                                             .ran = members->process->ran});
    for (uint32_t i = 0; i < count; i++)
        if (!list_has(layout->options.pins, members[i].number))
            add_thread_row(layout, members[i].number, false, has_head);
}

bool layout_open(struct layout *layout, const struct view *view, const struct layout_options *options,
                 struct fail *fail)
{
    memset(layout, 0, sizeof(*layout));
    layout->options = *options;
    layout->view = view;
    tally_open(&layout->tally, &view->trace);
    cover_sum(&view->index, &view->trace, options->from, options->to, &layout->tally);
    if (!choose_threads(layout, fail))
        return false;
    sum_processes(layout);
    qsort(layout->threads, layout->thread_count, sizeof(layout->threads[0]), by_process);
    add_cpus(layout);
    add_pins(layout);
    for (uint32_t first = 0, end; first < layout->thread_count; first = end) {
        for (end = first;
             end < layout->thread_count && layout->threads[end].process == layout->threads[first].process;)
            end++;
        add_process(layout, first, end - first);
    }
    return true;
}

uint32_t layout_member(const struct layout *layout, uint32_t number)
{
    return layout->threads[number].number;
}

void layout_close(struct layout *layout)
{
    tally_close(&layout->tally);
    map_close(&layout->processes);
    free(layout->threads);
    free(layout->rows.bytes);
}
