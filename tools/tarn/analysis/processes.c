/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * processes.c - `tarn processes`: the tree of processes: who created whom, when they lived, how they ended,
 * and what they used.
 */
#include <stdlib.h>
#include <string.h>
#include <tools/tarn/analysis/kinds.h>
#include <tools/tarn/map.h>

enum { BY_TREE, BY_PROGRAM, TABLES };

/* A process and its place in the tree: indexes + 1; 0: none. */
struct node {
    const struct model_process *process;
    uint64_t ran; /* ticks */
    uint32_t parent, first_child, next;
    bool is_shown, is_done;
};

struct processes {
    struct analysis analysis;
    struct slots ran;   /* uint64_t, by thread number */
    struct node *nodes; /* sorted by begin, then pid */
    uint32_t count;
    struct map places; /* uint32_t by pid: index + 1 */
};

static const struct table_column tree_columns[] = {NUMBER_COLUMN("pid"),          NUMBER_COLUMN("parent_pid"),
                                                   WHEN_COLUMN("begin_ns"),       WHEN_COLUMN("end_ns"),
                                                   TIME_COLUMN("life_ns"),        TIME_COLUMN("ran_ns"),
                                                   MEAN_COLUMN("cpu_percent", 1), COUNT_COLUMN("threads"),
                                                   SIGNED_COLUMN("status"),       TEXT_COLUMN("path")};
enum { PROGRAM_COUNT, PROGRAM_FAILED, PROGRAM_KILLED, PROGRAM_LIFE, PROGRAM_MEAN, PROGRAM_MAX, PROGRAM_RAN };
static const struct table_column program_columns[] = {
    COUNT_COLUMN("processes"), COUNT_COLUMN("failed"), COUNT_COLUMN("killed"), TIME_COLUMN("life_ns"),
    TIME_OF_ONE("mean_ns"),    TIME_LARGEST("max_ns"), TIME_COLUMN("ran_ns")};
static const struct table tables[TABLES] = {
    [BY_TREE] = TABLE("tree", "process", "processes", tree_columns, TABLE_AS_FILLED, "the tree of processes"),
    [BY_PROGRAM] = TABLE("program", "program", "programs", program_columns, "life_ns", "sums by program"),
};

static void on_segment(struct model_observer *self, const struct model_thread *thread, uint64_t from,
                       uint64_t to)
{
    struct processes *processes = ANALYSIS_OF(self, struct processes);

    if (thread->state == MODEL_RUNNING && !thread->is_idle)
        *(uint64_t *)slots_at(&processes->ran, thread->number) += model_segment_ticks(thread, from, to);
}

static bool open_processes(struct analysis *analysis, struct fail *fail)
{
    struct processes *processes = (struct processes *)analysis;

    analysis_slots(analysis, &processes->ran, sizeof(uint64_t));
    analysis_map(analysis, &processes->places, sizeof(uint32_t));
    analysis->observer.segment = on_segment;
    return true;
}

static int compare(const void *left, const void *right)
{
    const struct model_process *a = ((const struct node *)left)->process;
    const struct model_process *b = ((const struct node *)right)->process;

    return a->begin != b->begin ? (a->begin < b->begin ? -1 : 1) : (a->pid > b->pid) - (a->pid < b->pid);
}

/* Whether it lived in the range, and the filter selects it. */
static bool is_shown(const struct processes *processes, const struct model_process *process)
{
    const struct analysis *analysis = &processes->analysis;
    struct running running = {.pid = process->pid, .is_known = true};

    if (process->begin > analysis->to || (process->has_ended && process->end < analysis->from))
        return false;
    return !analysis->filter->by_running ||
           filter_running(analysis->filter, &running, &analysis->model->names);
}

static void collect(struct processes *processes)
{
    const struct model *model = processes->analysis.model;

    processes->nodes =
        arena_alloc(&processes->analysis.arena, model->processes.count * sizeof(processes->nodes[0]));
    for (size_t i = 0; i < model->processes.count; i++) {
        struct node *node = &processes->nodes[processes->count++];

        node->process = map_value(&model->processes, i);
        node->is_shown = is_shown(processes, node->process);
    }
    qsort(processes->nodes, processes->count, sizeof(processes->nodes[0]), compare);
    for (uint32_t i = 0; i < processes->count; i++)
        *(uint32_t *)map_at(&processes->places, processes->nodes[i].process->pid, 0, 0) = i + 1;
}

static struct node *find_node(const struct processes *processes, uint32_t pid)
{
    const uint32_t *place = map_find(&processes->places, pid, 0, 0);

    return place != NULL ? &processes->nodes[*place - 1] : NULL;
}

static void add_times(struct processes *processes)
{
    const struct model *model = processes->analysis.model;

    for (uint32_t i = 0; i < model->thread_count && i < processes->ran.count; i++) {
        struct node *node = model->threads[i] ? find_node(processes, model->threads[i]->pid) : NULL;

        if (node != NULL)
            node->ran += *(const uint64_t *)slots_find(&processes->ran, i);
    }
}

/* Links children in order of begin, by inserting at the front from last to first. */
static void link_children(struct processes *processes)
{
    for (uint32_t i = processes->count; i-- > 0;) {
        struct node *node = &processes->nodes[i];
        struct node *parent = find_node(processes, node->process->parent);

        if (parent == NULL || parent == node)
            continue;
        node->parent = (uint32_t)(parent - processes->nodes) + 1;
        node->next = parent->first_child;
        parent->first_child = i + 1;
    }
}

static uint64_t life_of(const struct analysis *analysis, const struct model_process *process)
{
    uint64_t begin = process->begin > analysis->from ? process->begin : analysis->from;
    uint64_t end = process->has_ended && process->end < analysis->to ? process->end : analysis->to;

    return end > begin ? analysis_ns(analysis, end - begin) : 0;
}

static void add_program(struct analysis *analysis, const struct node *node, const char *name)
{
    struct table_row *row = table_row(&analysis->tables[BY_PROGRAM], 0, name);
    const struct model_process *process = node->process;
    uint64_t life = life_of(analysis, process);

    row->cells[PROGRAM_COUNT].count++;
    row->cells[PROGRAM_FAILED].count += process->has_ended && process->status > 0;
    row->cells[PROGRAM_KILLED].count += process->has_ended && process->status < 0;
    row->cells[PROGRAM_LIFE].count += life;
    row->cells[PROGRAM_MEAN].count = row->cells[PROGRAM_LIFE].count / row->cells[PROGRAM_COUNT].count;
    if (life > row->cells[PROGRAM_MAX].count)
        row->cells[PROGRAM_MAX].count = life;
    row->cells[PROGRAM_RAN].count += analysis_ns(analysis, node->ran);
}

static void add_node(struct processes *processes, const struct node *node, uint32_t depth)
{
    struct analysis *analysis = &processes->analysis;
    const struct model_process *process = node->process;
    const char *name = analysis_process_name(analysis, process->pid);
    struct table *table = &analysis->tables[BY_TREE];
    struct table_row *row = table_add(table, name);
    uint64_t life = life_of(analysis, process), ran = analysis_ns(analysis, node->ran);

    row->indent = depth;
    cells_put(
        row->cells, {.count = process->pid},
        {.number = process->parent == MODEL_NOBODY ? TABLE_NONE : process->parent},
        {.number = process->was_created ? (int64_t)analysis_when(analysis, process->begin) : TABLE_NONE},
        {.number = process->has_ended ? (int64_t)analysis_when(analysis, process->end) : TABLE_NONE},
        {.count = life}, {.count = ran}, {.real = life ? 100.0 * (double)ran / (double)life : 0},
        {.count = process->threads}, {.number = process->has_ended ? process->status : TABLE_NONE},
        {.text = process->path ? table_text(table, process->path) : NULL});
    add_program(analysis, node, name);
}

/* Adds NODE and all nodes below it. Each node is visited once, so a damaged trace in which processes are
 * each other's parents is harmless. */
static void walk(struct processes *processes, struct node *root)
{
    struct node *node = root;
    uint32_t depth = 0;

    while (node != NULL) {
        if (!node->is_done && node->is_shown)
            add_node(processes, node, depth);
        if (!node->is_done && node->first_child != 0) {
            node->is_done = true;
            depth += node->is_shown;
            node = &processes->nodes[node->first_child - 1];
            continue;
        }
        node->is_done = true;
        while (node != root && node->next == 0) {
            node = &processes->nodes[node->parent - 1];
            depth -= node->is_shown;
        }
        node = node != root ? &processes->nodes[node->next - 1] : NULL;
    }
}

static void finish_processes(struct analysis *analysis)
{
    struct processes *processes = (struct processes *)analysis;

    collect(processes);
    add_times(processes);
    link_children(processes);
    for (uint32_t i = 0; i < processes->count; i++)
        if (processes->nodes[i].parent == 0)
            walk(processes, &processes->nodes[i]);
    for (uint32_t i = 0; i < processes->count; i++) /* those in a cycle */
        if (!processes->nodes[i].is_done)
            walk(processes, &processes->nodes[i]);
}

const struct analysis_kind processes_analysis = {
    .name = "processes",
    .summary = "the tree of processes: lifetimes, exit status, run time",
    .tables = tables,
    .table_count = TABLES,
    .size = sizeof(struct processes),
    .open = open_processes,
    .finish = finish_processes,
};
