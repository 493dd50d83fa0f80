/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * faults.c - `tarn faults`: page faults by kind, process, page, mapped file and instruction, and their
 * durations.
 */
#include <inttypes.h>
#include <string.h>
#include <tools/tarn/analysis/kinds.h>
#include <tools/tarn/analysis/spans.h>
#include <tools/tarn/symbols/symbols.h>

#define PAGE_BYTES 4096u /* on both architectures */

enum {
    BY_KIND,
    BY_PROCESS,
    BY_THREAD,
    BY_USE,
    BY_REGION,
    BY_PAGE,
    BY_INSTRUCTION,
    BY_FUNCTION,
    BY_DURATION,
    BY_LONGEST,
    TABLES
};

struct faults {
    struct analysis analysis;
    struct map uses;         /* struct span by kind and thread number */
    struct map pages;        /* struct tally by pid and page */
    struct map instructions; /* struct tally by pid and address */
    struct map regions;      /* struct tally by pid and address of the executable's path */
    struct longest_list longest;
    const struct field *kinds; /* whose labels are the names of kinds */
};

#define ALL_COLUMNS SPAN_COLUMNS("faults")
static const struct table_column kind_columns[] = {NUMBER_COLUMN("number"), ALL_COLUMNS};
static const struct table_column process_columns[] = {NUMBER_COLUMN("pid"), ALL_COLUMNS};
static const struct table_column thread_columns[] = {NUMBER_COLUMN("tid"), NUMBER_COLUMN("pid"), ALL_COLUMNS};
static const struct table_column use_columns[] = {NUMBER_COLUMN("pid"), TEXT_KEY("what"), ALL_COLUMNS};
#define PLACE_COLUMNS                                                                             \
    NUMBER_COLUMN("pid"), HEX_COLUMN("address"), COUNT_COLUMN("faults"), TIME_COLUMN("total_ns"), \
        TIME_OF_ONE("mean_ns"), TIME_LARGEST("max_ns"), TEXT_COLUMN("file")
static const struct table_column region_columns[] = {PLACE_COLUMNS};
static const struct table_column page_columns[] = {PLACE_COLUMNS};
static const struct table_column instruction_columns[] = {PLACE_COLUMNS, TEXT_COLUMN("function"),
                                                          TEXT_COLUMN("source")};
static const struct table_column function_columns[] = {COUNT_COLUMN("faults"), TIME_COLUMN("total_ns"),
                                                       TIME_OF_ONE("mean_ns"), TIME_LARGEST("max_ns"),
                                                       TEXT_COLUMN("file")};
static const struct table_column longest_columns[] = {LONGEST_COLUMNS, HEX_COLUMN("address"),
                                                      HEX_COLUMN("ip")};
static const struct table tables[TABLES] = {
    [BY_KIND] = TABLE("kind", "fault type", "kinds", kind_columns, "total_ns", "types of faults"),
    [BY_PROCESS] =
        TABLE("process", "process", "processes", process_columns, "total_ns", "faults of each process"),
    [BY_THREAD] =
        TABLE_EXTRA("thread", "thread", "threads", thread_columns, "total_ns", "faults of each thread"),
    [BY_USE] =
        TABLE_EXTRA("use", "process", "uses", use_columns, "total_ns", "types of faults of each process"),
    [BY_REGION] = TABLE("region", "process", "regions", region_columns, "total_ns",
                        "mapped files and other memory that was accessed"),
    [BY_PAGE] = TABLE_EXTRA("page", "process", "pages", page_columns, "faults", "pages that were accessed"),
    [BY_INSTRUCTION] = TABLE_EXTRA("instruction", "process", "instructions", instruction_columns, "total_ns",
                                   "faulting instructions, with their function and line"),
    [BY_FUNCTION] = TABLE_EXTRA("function", "function", "functions", function_columns, "total_ns",
                                "functions of the faulting instructions"),
    [BY_DURATION] = HISTOGRAM_TABLE("duration", "duration", "histogram of durations"),
    [BY_LONGEST] = TABLE_EXTRA("longest", "longest faults", "faults", longest_columns, TABLE_AS_FILLED,
                               "the longest faults"),
};

static const char *name_of(const struct analysis *analysis, uint64_t kind, char text[ANALYSIS_NAME_BYTES])
{
    if (kind == UINT32_MAX)
        return "(not seen)"; /* the end was not seen */
    return label_of(((const struct faults *)analysis)->kinds, kind, text);
}

/* Faults of kernel code on user memory have an address in the process, too. */
static void add_places(struct faults *faults, uint32_t pid, const struct model_frame *frame, uint64_t ticks)
{
    const struct table *tables = faults->analysis.tables;
    const struct executable *executable;

    if (tables[BY_PAGE].is_wanted)
        tally_add(map_at(&faults->pages, pid, frame->args[0] / PAGE_BYTES * PAGE_BYTES, 0), ticks);
    if (tables[BY_INSTRUCTION].is_wanted || tables[BY_FUNCTION].is_wanted)
        tally_add(map_at(&faults->instructions, pid, frame->args[1], 0), ticks);
    if (tables[BY_REGION].is_wanted) {
        executable = executables_find(&faults->analysis.model->executables, pid, frame->args[0]);
        tally_add(map_at(&faults->regions, pid, executable != NULL ? executable->base : 0, 0), ticks);
    }
}

static void leave(struct model_observer *self, const struct model_thread *thread,
                  const struct model_frame *frame, uint64_t end)
{
    struct faults *faults = ANALYSIS_OF(self, struct faults);
    uint64_t ticks = model_span(frame, end);

    if (frame->kind != ACTIVITY_FAULT || !analysis_wants(&faults->analysis, thread))
        return;
    span_add(map_at(&faults->uses, frame->detail, thread->number, 0), &faults->uses.arena, frame, end, false);
    if (frame->is_cut)
        return;
    add_places(faults, thread->pid, frame, ticks);
    longest_add(&faults->longest, &(struct longest){.ticks = ticks,
                                                    .begin = frame->begin,
                                                    .thread = thread,
                                                    .what = frame->detail,
                                                    .args = {frame->args[0], frame->args[1]}});
}

static bool open_faults(struct analysis *analysis, struct fail *fail)
{
    struct faults *faults = (struct faults *)analysis;

    analysis_map(analysis, &faults->uses, sizeof(struct span))->limit = MAP_DISTRIBUTIONS_MAX;
    analysis_map(analysis, &faults->pages, sizeof(struct tally));
    analysis_map(analysis, &faults->instructions, sizeof(struct tally));
    analysis_map(analysis, &faults->regions, sizeof(struct tally));
    faults->kinds = model_detail_field(&analysis->trace->schema, ACTIVITY_FAULT);
    analysis->observer.leave = leave;
    return true;
}

/* Fills in the function and source line, if there are symbols. */
static void fill_source(struct analysis *analysis, struct table *table, struct table_row *row,
                        const struct executable *executable, uint64_t address)
{
    const struct symbol *symbol = analysis->symbols != NULL && executable != NULL
                                      ? symbols_find(analysis->symbols, executable, address)
                                      : NULL;

    if (symbol == NULL || symbol->function == NULL)
        return;
    row_cell(table, row, "function")->text = table_text(table, symbol->function);
    if (symbol->file != NULL)
        row_cell(table, row, "source")->text = table_format(table, "%s:%u", symbol->file, symbol->line);
}

/* NONE: the name of addresses in no file. */
static void fill_places(struct analysis *analysis, struct table *table, const struct map *map,
                        const char *none)
{
    for (size_t i = 0; i < map->count; i++) {
        uint32_t pid = (uint32_t)map->entries[i]->key[0];
        uint64_t address = map->entries[i]->key[1];
        const struct executable *executable = executables_find(&analysis->model->executables, pid, address);
        struct table_row *row = table_add(table, analysis_process_name(analysis, pid));

        cells_put(row->cells, {.count = pid}, {.count = address});
        tally_fill_mean(analysis, map_value(map, i), row_cell(table, row, "faults"));
        row_cell(table, row, "file")->text = executable != NULL ? table_text(table, executable->path) : none;
        if (table == &analysis->tables[BY_INSTRUCTION] && table->is_wanted)
            fill_source(analysis, table, row, executable, address);
    }
    if (map->others != NULL) {
        struct table_row *row = table_add(table, "(others)");

        table_clear_cells(table, row);
        tally_fill_mean(analysis, (const void *)map->others->value, row_cell(table, row, "faults"));
    }
}

/* Functions with the same name in different files are different. */
static void add_to_function(struct analysis *analysis, const struct executable *executable,
                            const char *function, const struct tally *place)
{
    struct table *table = &analysis->tables[BY_FUNCTION];
    struct table_row *row =
        table_row(table, hash_text(HASH_SEED, executable != NULL ? executable->path : ""), function);
    union table_cell *cells = row->cells; /* count, total, mean, longest, file */
    uint64_t max = analysis_ns(analysis, place->max);

    cells[0].count += place->count;
    cells[1].count += analysis_ns(analysis, place->total);
    cells[2].count = cells[1].count / cells[0].count;
    if (max > cells[3].count)
        cells[3].count = max;
    cells[4].text = executable != NULL ? table_text(table, executable->path) : NULL;
}

static void fill_functions(struct analysis *analysis, const struct map *instructions)
{
    for (size_t i = 0; i < map_total(instructions) && analysis->tables[BY_FUNCTION].is_wanted; i++) {
        const struct map_entry *entry = map_entry(instructions, i);
        bool is_rest = entry == instructions->others;
        const struct executable *executable =
            is_rest ? NULL
                    : executables_find(&analysis->model->executables, (uint32_t)entry->key[0], entry->key[1]);
        const struct symbol *symbol = analysis->symbols != NULL && executable != NULL
                                          ? symbols_find(analysis->symbols, executable, entry->key[1])
                                          : NULL;
        const char *name = symbol != NULL && symbol->function != NULL ? symbol->function : "(unknown)";

        add_to_function(analysis, executable, is_rest ? "(others)" : name, (const void *)entry->value);
    }
}

static struct table_row *add_longest(struct analysis *analysis, struct table *table,
                                     const struct longest *item)
{
    char text[ANALYSIS_NAME_BYTES];
    struct table_row *row = table_add(table, name_of(analysis, item->what, text));

    cells_put(row_cell(table, row, "address"), {.count = item->args[0]}, {.count = item->args[1]});
    return row;
}

static void finish_faults(struct analysis *analysis)
{
    struct faults *faults = (struct faults *)analysis;

    spans_fill(analysis, &analysis->tables[BY_KIND], &faults->uses, SPANS_BY_WHAT, name_of);
    spans_fill(analysis, &analysis->tables[BY_PROCESS], &faults->uses, SPANS_BY_PROCESS, name_of);
    spans_fill(analysis, &analysis->tables[BY_THREAD], &faults->uses, SPANS_BY_THREAD, name_of);
    spans_fill(analysis, &analysis->tables[BY_USE], &faults->uses, SPANS_BY_USE, name_of);
    fill_places(analysis, &analysis->tables[BY_REGION], &faults->regions, "(in no file: heap, stack, ...)");
    fill_places(analysis, &analysis->tables[BY_PAGE], &faults->pages, NULL);
    fill_places(analysis, &analysis->tables[BY_INSTRUCTION], &faults->instructions, NULL);
    fill_functions(analysis, &faults->instructions);
    map_histogram(analysis, &analysis->tables[BY_DURATION], &faults->uses, offsetof(struct span, whole));
    longest_rows(analysis, &analysis->tables[BY_LONGEST], &faults->longest, add_longest);
}

const struct analysis_kind faults_analysis = {
    .name = "faults",
    .summary = "page faults by type, process and place, and how long they took",
    .tables = tables,
    .table_count = TABLES,
    .uses_symbols = true,
    .size = sizeof(struct faults),
    .open = open_faults,
    .finish = finish_faults,
};
