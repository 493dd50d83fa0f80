/* SPDX-License-Identifier: BSD-2-Clause */
/* breakdown_tables.c - groups the times of threads into tables; see breakdown.h. */
#include <tools/tarn/analysis/breakdown.h>
#include <tools/tarn/analysis/rows.h>

const struct breakdown_kind breakdown_kinds[WHAT_KINDS] = {
    [WHAT_USER] = {"user code", GROUP_USER},
    [WHAT_POSIX] = {"POSIX call", GROUP_POSIX},
    [WHAT_SYSCALL] = {"system call", GROUP_SYSCALL},
    [WHAT_FAULT] = {"page fault", GROUP_FAULT},
    [WHAT_EXCEPTION] = {"exception", GROUP_FAULT},
    [WHAT_IRQ] = {"interrupt", GROUP_INTERRUPT},
    [WHAT_IPI] = {"IPI", GROUP_INTERRUPT},
    [WHAT_BOOT] = {"boot", GROUP_KERNEL},
    [WHAT_KERNEL] = {"kernel work", GROUP_KERNEL},
    [WHAT_IDLE] = {"idle", GROUP_IDLE},
    [WHAT_EX] = {"ex-process", GROUP_EX},
    [WHAT_TAKE] = {"waits for a server", GROUP_TAKE},
    [WHAT_DEFERRED] = {"waits for a reply", GROUP_DEFERRED},
    [WHAT_READY] = {"ready", GROUP_READY},
    [WHAT_WAIT] = {"waits", GROUP_WAIT},
    [WHAT_UNKNOWN] = {"unknown", GROUP_UNKNOWN},
};

/* clang-format off */
#define GROUP_COLUMNS                                                                             \
    TIME_COLUMN("wall_ns"), TIME_COLUMN("user_ns"), TIME_COLUMN("posix_ns"), \
    TIME_COLUMN("syscalls_ns"), TIME_COLUMN("faults_ns"),                   \
    TIME_COLUMN("interrupts_ns"), TIME_COLUMN("kernel_work_ns"), TIME_COLUMN("idle_ns"),                        \
    TIME_COLUMN("ex_process_ns"), TIME_COLUMN("to_server_ns"),         \
    TIME_COLUMN("deferred_ns"), TIME_COLUMN("ready_ns"),                     \
    TIME_COLUMN("waits_ns"), TIME_COLUMN("untold_ns")
/* clang-format on */
static const struct table_column process_columns[] = {NUMBER_COLUMN("pid"), COUNT_COLUMN("threads"),
                                                      GROUP_COLUMNS};
static const struct table_column thread_columns[] = {NUMBER_COLUMN("tid"), NUMBER_COLUMN("pid"),
                                                     GROUP_COLUMNS};
#define ACTIVITY_COLUMNS \
    COUNT_COLUMN("times"), TIME_COLUMN("total_ns"), REAL_COLUMN("percent", 2), TIME_OF_ONE("mean_ns")
static const struct table_column activity_columns[] = {TEXT_KEY("kind"), ACTIVITY_COLUMNS};
static const struct table_column use_columns[] = {TEXT_KEY("kind"), ACTIVITY_COLUMNS, NUMBER_COLUMN("pid"),
                                                  TEXT_KEY("process")};
static const struct table_column thread_use_columns[] = {
    TEXT_KEY("kind"), ACTIVITY_COLUMNS, NUMBER_COLUMN("tid"), NUMBER_COLUMN("pid"), TEXT_KEY("thread")};
static const struct table_column call_columns[] = {COUNT_COLUMN("calls"), COUNT_COLUMN("fault_count"),
                                                   COUNT_COLUMN("ipc_count"), GROUP_COLUMNS};
static const struct table_column served_columns[] = {NUMBER_COLUMN("pid"),     COUNT_COLUMN("calls"),
                                                     TIME_COLUMN("total_ns"),  TIME_COLUMN("ran_ns"),
                                                     TIME_COLUMN("waited_ns"), TIME_OF_ONE("mean_ns")};

const struct table breakdown_tables[BREAKDOWN_TABLES] = {
    [BY_PROCESS] =
        TABLE("process", "process", "processes", process_columns, "wall_ns", "the times above, by process"),
    [BY_THREAD] =
        TABLE_EXTRA("thread", "thread", "threads", thread_columns, "wall_ns", "the times above, by thread"),
    [BY_ACTIVITY] = TABLE("activity", "activity", "activities", activity_columns, "total_ns",
                          "single activities, with requests to servers by name"),
    [BY_USE] = TABLE_EXTRA("use", "activity", "uses", use_columns, "total_ns", "activities of each process"),
    [BY_THREAD_USE] = TABLE_EXTRA("thread_use", "activity", "uses", thread_use_columns, "total_ns",
                                  "activities of each thread"),
    [BY_CALL] = TABLE("call", "in POSIX call", "calls", call_columns, "wall_ns",
                      "what happened in each POSIX call, with its page faults and IPCs"),
    [BY_SERVED] = TABLE("served", "served", "functions", served_columns, "total_ns",
                        "what server threads did, by the function that they served"),
};
enum { TOTAL_THREADS, TOTAL_WALL };
static const struct table_column total_columns[] = {COUNT_COLUMN("threads"), TIME_COLUMN("wall_ns")};
const struct table breakdown_totals = TABLE("total", "all", "", total_columns, TABLE_AS_FILLED);

static uint64_t sum_of(const uint64_t ticks[GROUPS])
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < GROUPS; i++)
        sum += ticks[i];
    return sum;
}

static void fill_groups(const struct analysis *analysis, const struct table *table, struct table_row *row,
                        const uint64_t ticks[GROUPS])
{
    union table_cell *wall = row_cell(table, row, "wall_ns");
    struct analysis_accumulator accumulator = {.analysis = analysis};

    for (unsigned i = 0; i < GROUPS; i++)
        wall[1 + i].count = analysis_add(&accumulator, ticks[i]);
    wall->count = analysis_ns(analysis, accumulator.ticks);
}

static const struct part *part_in(const struct map_entry *entry)
{
    return (const struct part *)(const void *)entry->value;
}

struct sum {
    uint64_t ticks[GROUPS];
    uint64_t calls, faults, ipcs;
};

static void fill_threads(struct breakdown *breakdown)
{
    struct analysis *analysis = &breakdown->analysis;
    struct table *threads = &analysis->tables[BY_THREAD], *processes = &analysis->tables[BY_PROCESS];
    uint64_t wall = 0;

    for (uint32_t n = 0; n < breakdown->progress.count && n < analysis->model->thread_count; n++) {
        const struct model_thread *thread = analysis->model->threads[n];
        const struct progress *progress = slots_at(&breakdown->progress, n);
        uint64_t ticks = sum_of(progress->ticks);
        struct sum *process;
        struct table_row *row;

        if (thread == NULL || ticks == 0)
            continue;
        wall += ticks;
        row = table_row(threads, n, analysis_thread_name(analysis, thread));
        cells_put(row->cells, {.count = thread->tid}, {.count = thread->pid});
        fill_groups(analysis, threads, row, progress->ticks);
        row = row_of_process(analysis, processes, thread->pid);
        row_cell(processes, row, "threads")->count++;
        process = table_sum(processes, row, sizeof(*process));
        for (unsigned i = 0; i < GROUPS; i++)
            process->ticks[i] += progress->ticks[i];
        analysis->total->cells[TOTAL_THREADS].count++;
    }
    analysis->total->cells[TOTAL_WALL].count = analysis_ns(analysis, wall);
    for (size_t i = 0; i < processes->count; i++)
        fill_groups(analysis, processes, processes->rows[i], ((struct sum *)processes->rows[i]->sum)->ticks);
}

static const char *function_name(struct breakdown *breakdown, struct table *table,
                                 const struct map_entry *function)
{
    char text[FUNCTION_NAME_BYTES];

    return table_text(
        table, functions_name(&breakdown->names_of_functions, function->key[0], function->key[1], text));
}

static const char *what_name(struct breakdown *breakdown, struct table *table, struct what what)
{
    char number[ANALYSIS_NAME_BYTES];

    switch (what.kind) {
    case WHAT_EX:
    case WHAT_TAKE:
    case WHAT_DEFERRED:
        return what.detail - 1 < breakdown->functions.count
                   ? function_name(breakdown, table, breakdown->functions.entries[what.detail - 1])
                   : "others";
    case WHAT_WAIT:
        return model_state_names[what.detail];
    case WHAT_FAULT:
        if (what.detail == UINT32_MAX)
            return "(end not seen)";
        break;
    case WHAT_USER:
    case WHAT_BOOT:
    case WHAT_KERNEL:
    case WHAT_IDLE:
    case WHAT_READY:
    case WHAT_UNKNOWN:
        return breakdown_kinds[what.kind].name;
    default:
        break;
    }
    return table_text(table, label_of(breakdown->names[what.kind], what.detail, number));
}

/* Merges parts into rows: by name, and in the tables of uses (WHICH) by process or thread, too. */
static void add_part(struct breakdown *breakdown, unsigned which, const struct map_entry *entry)
{
    struct analysis *analysis = &breakdown->analysis;
    struct table *table = &analysis->tables[which];
    struct what what = {(enum what_kind)(entry->key[1] & 0xff), entry->key[2]};
    const struct model_thread *thread = analysis->model->threads[entry->key[0]];
    uint64_t who = which == BY_USE ? thread->pid : which == BY_THREAD_USE ? entry->key[0] : 0;
    struct table_row *row = table_row(table, who << 8 | what.kind, what_name(breakdown, table, what));
    struct part *sum = table_sum(table, row, sizeof(*sum));

    sum->ticks += part_in(entry)->ticks;
    sum->count += part_in(entry)->count;
    row->cells[0].text = breakdown_kinds[what.kind].name;
    if (which == BY_USE)
        cells_put(row_cell(table, row, "pid"), {.count = thread->pid},
                  {.text = table_text(table, analysis_process_name(analysis, thread->pid))});
    else if (which == BY_THREAD_USE)
        cells_put(row_cell(table, row, "tid"), {.count = thread->tid}, {.count = thread->pid},
                  {.text = table_text(table, analysis_thread_name(analysis, thread))});
}

static void fill_activities(struct breakdown *breakdown, unsigned which)
{
    struct analysis *analysis = &breakdown->analysis;
    struct analysis_accumulator accumulator = {.analysis = analysis};
    struct table *table = &analysis->tables[which];
    uint64_t wall = 0;

    for (size_t i = 0; i < breakdown->parts.count; i++) {
        add_part(breakdown, which, breakdown->parts.entries[i]);
        wall += part_in(breakdown->parts.entries[i])->ticks;
    }
    for (size_t i = 0; i < table->count; i++) {
        struct table_row *row = table->rows[i];
        const struct part *sum = row->sum;

        cells_put(row_cell(table, row, "times"), {.count = sum->count},
                  {.count = analysis_add(&accumulator, sum->ticks)},
                  {.real = wall ? 100.0 * (double)sum->ticks / (double)wall : 0},
                  {.count = sum->count ? analysis_ns(analysis, sum->ticks / sum->count) : TABLE_NONE});
    }
}

/* Adds a row for each POSIX call with everything that happened in it, and one for the rest. */
static void fill_calls(struct breakdown *breakdown)
{
    struct analysis *analysis = &breakdown->analysis;
    struct table *table = &analysis->tables[BY_CALL];
    char number[ANALYSIS_NAME_BYTES];

    for (size_t i = 0; i < breakdown->parts.count; i++) {
        const struct map_entry *entry = breakdown->parts.entries[i];
        enum what_kind kind = (enum what_kind)(entry->key[1] & 0xff);
        uint64_t context = entry->key[1] >> 8;
        const char *name =
            context == 0 ? "(none)" : label_of(breakdown->names[WHAT_POSIX], context - 1, number);
        struct table_row *row = table_row(table, context, name);
        struct sum *sum = table_sum(table, row, sizeof(*sum));

        sum->ticks[breakdown_kinds[kind].group] += part_in(entry)->ticks;
        sum->calls += kind == WHAT_POSIX ? part_in(entry)->count : 0;
        sum->faults += kind == WHAT_FAULT ? part_in(entry)->count : 0;
        sum->ipcs += kind == WHAT_EX ? part_in(entry)->count : 0;
    }
    for (size_t i = 0; i < table->count; i++) {
        struct table_row *row = table->rows[i];
        const struct sum *sum = row->sum;

        cells_put(row->cells, {.count = sum->calls}, {.count = sum->faults}, {.count = sum->ipcs});
        fill_groups(analysis, table, row, sum->ticks);
    }
}

static void fill_served(struct breakdown *breakdown)
{
    struct analysis *analysis = &breakdown->analysis;
    struct table *table = &analysis->tables[BY_SERVED];

    for (size_t i = 0; i < breakdown->functions.count; i++) {
        const struct map_entry *entry = breakdown->functions.entries[i];
        const struct function *function = (const struct function *)(const void *)entry->value;
        struct analysis_accumulator accumulator = {.analysis = analysis};
        uint64_t ran, waited;
        struct table_row *row;

        if (function->ran + function->waited + function->calls == 0)
            continue;
        row = table_row(table, i, function_name(breakdown, table, entry));
        ran = analysis_add(&accumulator, function->ran);
        waited = analysis_add(&accumulator, function->waited);
        cells_put(row->cells, {.count = entry->key[0]}, {.count = function->calls},
                  {.count = analysis_ns(analysis, accumulator.ticks)}, {.count = ran}, {.count = waited},
                  {.count = function->calls ? analysis_ns(analysis, accumulator.ticks / function->calls)
                                            : TABLE_NONE});
    }
}

void breakdown_fill(struct analysis *analysis)
{
    struct breakdown *breakdown = (struct breakdown *)analysis;

    fill_threads(breakdown);
    fill_activities(breakdown, BY_ACTIVITY);
    for (unsigned which = BY_USE; which <= BY_THREAD_USE; which++)
        if (analysis->tables[which].is_wanted)
            fill_activities(breakdown, which);
    fill_calls(breakdown);
    fill_served(breakdown);
}
