/* SPDX-License-Identifier: BSD-2-Clause */
/* profile_tables.c - converts samples to functions, and fills the tables; see profile.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tools/tarn/analysis/profile.h>
#include <tools/tarn/analysis/rows.h>

#define FRAMES_MAX 1024u

static const struct table_column total_columns[] = {
    COUNT_COLUMN("samples"),
    COLUMN_CALLED("worked", "time_ns", COLUMN_TIME, SUM_ADDED, 0),
    COLUMN_CALLED("in programs", "programs_ns", COLUMN_TIME, SUM_ADDED, 0),
    COLUMN_CALLED("in the kernel", "kernel_ns", COLUMN_TIME, SUM_ADDED, 0),
    COLUMN_CALLED("mean period", "period_ns", COLUMN_TIME, SUM_NOTHING, 0),
    COLUMN_CALLED("late (median)", "late_p50_ns", COLUMN_TIME, SUM_NOTHING, 0),
    COLUMN_CALLED("late (p99)", "late_p99_ns", COLUMN_TIME, SUM_NOTHING, 0),
    COLUMN_CALLED("late (max)", "late_max_ns", COLUMN_TIME, SUM_LARGEST, 0),
    COUNT_COLUMN("instructions"),
    COLUMN_CALLED("counted, the weight of samples", "counted", COLUMN_COUNT, SUM_ADDED, 0),
    COLUMN_CALLED("mean count of a period", "period_count", COLUMN_COUNT, SUM_NOTHING, 0),
    COLUMN_CALLED("drove the sampling", "counter", COLUMN_TEXT, SUM_NOTHING, 0)};
const struct table profile_totals = TABLE("totals", "", "", total_columns, TABLE_AS_FILLED);

/* Share of the chosen weight. */
#define SHARE_COLUMN(key) REAL_COLUMN(key, 2)
#define SUMS_COLUMNS                                                                \
    COUNT_COLUMN("samples"), TIME_COLUMN("time_ns"), SHARE_COLUMN("share_percent"), \
        COUNT_COLUMN("instructions")

#define MODE_COLUMNS TIME_COLUMN("programs_ns"), TIME_COLUMN("kernel_ns")
static const struct table_column process_columns[] = {NUMBER_COLUMN("pid"), SUMS_COLUMNS, MODE_COLUMNS};
static const struct table_column thread_columns[] = {NUMBER_COLUMN("tid"), NUMBER_COLUMN("pid"), SUMS_COLUMNS,
                                                     MODE_COLUMNS};
static const struct table_column executable_columns[] = {SUMS_COLUMNS};
static const struct table_column function_columns[] = {
    COUNT_COLUMN("samples"),         TIME_COLUMN("self_ns"),
    SHARE_COLUMN("self_percent"),    TIME_OF_ONE("total_ns"),
    MEAN_COLUMN("total_percent", 2), COUNT_COLUMN("instructions"),
    TEXT_COLUMN("executable"),       TEXT_COLUMN("mode")};
static const struct table_column line_columns[] = {SUMS_COLUMNS, TEXT_COLUMN("function"),
                                                   TEXT_COLUMN("executable")};
static const struct table_column tree_columns[] = {TIME_OF_ONE("total_ns"), MEAN_COLUMN("total_percent", 2),
                                                   TIME_COLUMN("self_ns"),  COUNT_COLUMN("samples"),
                                                   NUMBER_COLUMN("depth"),  TEXT_COLUMN("executable")};

const struct table profile_tables[PROFILE_TABLES] = {
    [BY_PROCESS] =
        TABLE("process", "process", "processes", process_columns, "share_percent", "time of each process"),
    [BY_THREAD] =
        TABLE_EXTRA("thread", "thread", "threads", thread_columns, "share_percent", "time of each thread"),
    [BY_EXECUTABLE] = TABLE("executable", "executable", "executables", executable_columns, "share_percent",
                            "time in each executable"),
    [BY_FUNCTION] =
        TABLE("function", "function", "functions", function_columns, "self_percent",
              "time in each function itself, and with its callees; inlined functions count separately"),
    [BY_LINE] = TABLE("line", "line", "lines", line_columns, "share_percent", "time in each source line"),
    [BY_CALLS] = TABLE_AS("calls", "calls, from the outermost", "calls", tree_columns, TABLE_AS_FILLED, true,
                          true, "tree of calls from the outermost function"),
    [BY_CALLERS] = TABLE_AS("callers", "callers, of the innermost", "callers", tree_columns, TABLE_AS_FILLED,
                            true, true, "tree of callers from the innermost function"),
    [BY_LATENESS] = HISTOGRAM_TABLE_EXTRA("lateness", "late", "histogram of sampling delays"),
};

static double share_of(const struct profile *profile, const struct sums *sums)
{
    uint64_t whole = sums_weight(&profile->whole, profile->weight);

    return whole ? 100.0 * (double)sums_weight(sums, profile->weight) / (double)whole : 0;
}

static void fill_sums(const struct profile *profile, union table_cell *cells, const struct sums *sums)
{
    cells_put(cells, {.count = sums->samples}, {.count = sums->ns}, {.real = share_of(profile, sums)},
              {.count = profile->has_counter ? sums->instructions : TABLE_NONE});
}

/* ---- chains of functions --------------------------------------------------------------------------- */

/* A chain as functions, innermost first. */
struct frames {
    struct call_function *functions[FRAMES_MAX];
    size_t count;
    const struct symbol *place; /* of the innermost */
};

static void put_frame(struct frames *frames, struct call_function *function)
{
    if (frames->count < FRAMES_MAX)
        frames->functions[frames->count++] = function;
}

static const struct executable *executable_of(const struct profile *profile, const struct stack_node *node)
{
    if (node->executable != NULL) /* otherwise the statedump may have named it later */
        return node->executable;
    return executables_find(&profile->analysis.model->executables, node->is_kernel ? 0 : node->pid,
                            node->address);
}

/* Returns the address of NODE's call, or of its instruction. */
static uint64_t place_of(const struct stack_node *node)
{
    return node->address - node->is_return;
}

/* Whether NODE, which follows INNER in the chain, is its caller. */
static bool is_caller(const struct profile *profile, const struct stack_node *node,
                      const struct stack_node *inner)
{
    return profile->analysis.symbols != NULL &&
           symbols_is_caller(profile->analysis.symbols, executable_of(profile, inner), place_of(inner),
                             executable_of(profile, node), node->address);
}

/* Whether NODE, which follows CALLER, is stale. CALLER was found in the link register. If the function had
 * made its frame but not yet stored the register, the frame's return address is left from an earlier call by
 * the same caller, or invalid. */
static bool is_stale(struct profile *profile, const struct stack_node *node, const struct stack_node *caller)
{
    const struct symbol *symbol, *inner;

    if (profile->analysis.symbols == NULL || executable_of(profile, node) == NULL)
        return true;
    symbol = symbol_outermost(
        symbols_find(profile->analysis.symbols, executable_of(profile, node), place_of(node)));
    inner = symbol_outermost(
        symbols_find(profile->analysis.symbols, executable_of(profile, caller), place_of(caller)));
    return symbol->function != NULL && inner->function != NULL && symbol->executable == inner->executable &&
           strcmp(symbol->function, inner->function) == 0;
}

/* Whether NODE belongs to the chain. BEHIND: the two nodes before it, nearest first. */
static bool is_in_chain(struct profile *profile, const struct stack_node *node,
                        const struct stack_node *const behind[2])
{
    if (behind[0] == NULL || behind[0]->is_kernel != node->is_kernel)
        return true;
    if (behind[0]->is_innermost)
        return is_caller(profile, node, behind[0]);
    if (behind[1] == NULL || behind[1]->is_kernel != node->is_kernel || !behind[1]->is_innermost)
        return true;
    return !is_caller(profile, behind[0], behind[1]) || !is_stale(profile, node, behind[0]);
}

static const struct symbol *symbol_of(struct profile *profile, const struct stack_node *node,
                                      struct symbol *none)
{
    const struct executable *executable = executable_of(profile, node);

    if (profile->analysis.symbols != NULL)
        return symbols_find(profile->analysis.symbols, executable, place_of(node));
    *none = (struct symbol){.executable = executable,
                            .offset = executable != NULL ? node->address - executable->base : node->address};
    return none;
}

/* Where the kernel enables interrupts, or sleeps, it takes samples that were due before
 * (kernel/diagnosis/profile.h). */
static const char *name_of(const struct stack_node *node, const struct symbol *symbol, char *text)
{
    const char *name = symbol_name(symbol, node->address, text);
    bool was_due = node->is_kernel && node->is_innermost &&
                   (strcmp(name, "profile_open_window") == 0 || strcmp(name, "profile_sleep") == 0);

    return was_due ? "(interrupts disabled)" : name;
}

static void put_symbols(struct profile *profile, struct call_tree *tree, const struct stack_node *node,
                        const struct symbol *symbol, struct frames *frames)
{
    char text[SYMBOL_NAME_BYTES];

    for (; symbol != NULL; symbol = symbol->outer)
        put_frame(frames,
                  call_tree_function(tree, name_of(node, symbol, text),
                                     symbol->executable != NULL ? executable_name(symbol->executable) : "",
                                     node->is_kernel));
}

static void resolve(struct profile *profile, const struct stack_node *node, struct frames *frames)
{
    const struct stack_node *behind[2] = {NULL, NULL};
    struct symbol none;

    frames->count = 0;
    frames->place = NULL;
    for (; node->outer != NULL; node = node->outer) {
        const struct symbol *symbol;

        if (node->is_cut) {
            put_frame(frames, call_tree_function(&profile->calls, "(calls cut off)", "", false));
            continue;
        }
        symbol = symbol_of(profile, node, &none);
        if (frames->place == NULL && profile->analysis.symbols != NULL)
            frames->place = symbol;
        if (is_in_chain(profile, node, behind))
            put_symbols(profile, &profile->calls, node, symbol, frames);
        behind[1] = behind[0];
        behind[0] = node;
    }
    put_frame(frames, call_tree_function(&profile->calls,
                                         analysis_process_name(&profile->analysis, node->pid), "", false));
}

static void reverse(struct frames *frames)
{
    for (size_t i = 0, j = frames->count; i + 1 < j; i++) {
        struct call_function *swap = frames->functions[i];

        frames->functions[i] = frames->functions[--j];
        frames->functions[j] = swap;
    }
}

static void add_line(struct profile *profile, const struct frames *frames, const struct stack_node *node)
{
    const struct symbol *place = frames->place;
    struct line_sums *line;

    if (place == NULL || place->file == NULL || place->line == 0)
        return;
    line = map_at(&profile->lines, (uint64_t)(uintptr_t)frames->functions[0], place->line,
                  hash_text(HASH_SEED, place->file));
    if (line->file == NULL) {
        line->file = place->file;
        line->line = place->line;
        line->function = frames->functions[0]->name;
        line->executable = frames->functions[0]->executable;
    }
    sums_add(&line->self, &node->self);
}

/* In the tree of calls, the process is a level, but not a function. */
static void add_chains(struct profile *profile)
{
    struct frames *frames = alloc_zero(1, sizeof(*frames));

    for (size_t i = 0; i < profile->stacks.count; i++) {
        const struct stack_node *node = (const void *)profile->stacks.entries[i]->value;

        if (node->self.samples == 0 || node->outer == NULL)
            continue;
        resolve(profile, node, frames);
        add_line(profile, frames, node);
        call_tree_add(&profile->callers, frames->functions, frames->count, &node->self);
        reverse(frames);
        call_tree_add(&profile->calls, frames->functions, frames->count, &node->self);
        call_tree_count(&profile->calls, frames->functions + 1, frames->count - 1, &node->self);
    }
    free(frames);
    call_tree_sort(&profile->calls, profile->weight);
    call_tree_sort(&profile->callers, profile->weight);
}

/* ---- tables ---------------------------------------------------------------------------------------- */

static void fill_modes(const struct profile *profile, const struct table *table, struct table_row *row,
                       const struct thread_sums *own)
{
    struct sums both = own->user;

    sums_add(&both, &own->kernel);
    fill_sums(profile, row_cell(table, row, "samples"), &both);
    cells_put(row_cell(table, row, "programs_ns"), {.count = own->user.ns}, {.count = own->kernel.ns});
}

static void fill_threads(struct profile *profile)
{
    struct analysis *analysis = &profile->analysis;
    struct table *threads = &analysis->tables[BY_THREAD], *processes = &analysis->tables[BY_PROCESS];

    for (size_t i = 0; i < profile->threads.count; i++) {
        const struct thread_sums *own = map_value(&profile->threads, i);
        struct table_row *row = row_of_process(analysis, processes, own->thread->pid);
        struct thread_sums *process = table_sum(processes, row, sizeof(*process));

        sums_add(&process->user, &own->user);
        sums_add(&process->kernel, &own->kernel);
        row = row_of_thread(analysis, threads, own->thread, NULL);
        fill_modes(profile, threads, row, own);
    }
    for (size_t i = 0; i < processes->count; i++)
        fill_modes(profile, processes, processes->rows[i], processes->rows[i]->sum);
}

static bool is_process(const struct call_function *function)
{
    return function->executable[0] == '\0' && function->total.samples == 0;
}

static void fill_functions(struct profile *profile)
{
    struct table *table = &profile->analysis.tables[BY_FUNCTION],
                 *executables = &profile->analysis.tables[BY_EXECUTABLE];

    for (size_t i = 0; i < profile->calls.functions.count; i++) {
        const struct call_function *function = (const void *)profile->calls.functions.entries[i]->value;
        const char *executable = function->executable[0] != '\0' ? function->executable : "(no executable)";
        struct table_row *row;

        if (is_process(function))
            continue;
        row = table_add(table, function->name);
        cells_put(row->cells, {.count = function->self.samples}, {.count = function->self.ns},
                  {.real = share_of(profile, &function->self)}, {.count = function->total.ns},
                  {.real = share_of(profile, &function->total)},
                  {.count = profile->has_counter ? function->self.instructions : TABLE_NONE},
                  {.text = table_text(table, executable)}, {.text = function->is_kernel ? "kernel" : "user"});
        if (function->self.samples == 0)
            continue;
        sums_add(table_sum(executables, table_row(executables, 0, executable), sizeof(struct sums)),
                 &function->self);
    }
    for (size_t i = 0; i < executables->count; i++)
        fill_sums(profile, executables->rows[i]->cells, executables->rows[i]->sum);
}

static void fill_lines(struct profile *profile)
{
    struct table *table = &profile->analysis.tables[BY_LINE];
    char name[400];

    for (size_t i = 0; i < profile->lines.count; i++) {
        const struct line_sums *line = (const void *)profile->lines.entries[i]->value;
        struct table_row *row;

        snprintf(name, sizeof(name), "%.360s:%u", line->file, line->line);
        row = table_add(table, name);
        fill_sums(profile, row->cells, &line->self);
        cells_put(row_cell(table, row, "function"), {.text = table_text(table, line->function)},
                  {.text = table_text(table, line->executable)});
    }
}

static void fill_node(struct profile *profile, struct table *table, const struct call_node *node,
                      unsigned depth)
{
    for (const struct call_node *child = node->first; child != NULL && depth < FRAMES_MAX;
         child = child->next) {
        struct table_row *row;

        if (share_of(profile, &child->total) < profile->least)
            return; /* they are sorted */
        row = table_add(table, child->function->name);
        row->indent = depth;
        cells_put(row->cells, {.count = child->total.ns}, {.real = share_of(profile, &child->total)},
                  {.count = child->self.ns}, {.count = child->self.samples}, {.count = depth},
                  {.text = table_text(table, child->function->executable)});
        fill_node(profile, table, child, depth + 1);
    }
}

static void fill_totals(struct profile *profile)
{
    const struct analysis *analysis = &profile->analysis;
    const struct distribution *late = &profile->late;
    bool by_counter = profile->counter != NULL;

    cells_put(analysis->total->cells, {.count = profile->whole.samples}, {.count = profile->whole.ns},
              {.count = profile->user.ns}, {.count = profile->kernel.ns},
              {.count = profile->period && !by_counter ? analysis_ns(analysis, profile->period) : TABLE_NONE},
              {.count = analysis_ns(analysis, distribution_percentile(late, 0.5))},
              {.count = analysis_ns(analysis, distribution_percentile(late, 0.99))},
              {.count = analysis_ns(analysis, late->max)},
              {.count = profile->has_counter ? profile->whole.instructions : TABLE_NONE},
              {.count = by_counter ? profile->whole.counted : TABLE_NONE},
              {.count = by_counter && profile->period ? profile->period : TABLE_NONE},
              {.text = profile->counter});
}

void profile_fill(struct profile *profile)
{
    struct table *tables = profile->analysis.tables;

    add_chains(profile);
    fill_totals(profile);
    fill_threads(profile);
    fill_functions(profile);
    fill_lines(profile);
    fill_node(profile, &tables[BY_CALLS], &profile->calls.root, 0);
    fill_node(profile, &tables[BY_CALLERS], &profile->callers.root, 0);
    distribution_histogram(&profile->late, &profile->analysis.trace->schema, &tables[BY_LATENESS]);
}
