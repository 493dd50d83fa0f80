/* analyses.c - the list of analyses, and one walk for several; see analysis.h. */
#include <fcntl.h>
#include <glob.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <tools/tarn/analysis/analysis.h>
#include <tools/tarn/buffer.h>
#include <tools/tarn/embedded.h>
#include <tools/tarn/index/index.h>
#include <tools/tarn/out.h>

#define ANALYSES_MAX  64u
#define OWN_BYTES_MAX (1u << 20)

/* The most used ones first, for the help and the view. Then come a user's own. */
static const char *const in_order[] = {"stats",     "breakdown", "locks",     "profile", "sched",
                                       "ipc",       "syscalls",  "faults",    "irq",     "threads",
                                       "processes", "noise",     "intervals", "counters"};

static const struct analysis_kind *kinds[ANALYSES_MAX + 1];
static unsigned kind_count;

const char *analysis_sql(const char *name)
{
    const struct page_file *file = sql_files;
    size_t length = strlen(name);
    while (strncmp(file->name, name, length) != 0 || strcmp(file->name + length, ".sql") != 0)
        file++;
    return (const char *)file->bytes;
}

static void add(const char *path, const char *text)
{
    struct fail fail;
    if (kind_count == ANALYSES_MAX)
        return;
    kinds[kind_count] = sql_analysis(text, analysis_sql("shared"), &fail);
    if (kinds[kind_count] == NULL)
        complain("%s: %s", path, fail.text);
    else
        kind_count++;
}

static void list_kinds(void)
{
    const char *home = getenv("HOME");
    char pattern[PATH_MAX];
    size_t length;
    glob_t found;
    for (size_t i = 0; i < sizeof(in_order) / sizeof(in_order[0]); i++)
        add(in_order[i], analysis_sql(in_order[i]));
    snprintf(pattern, sizeof(pattern), "%s/.config/tarn/*.sql", home != NULL ? home : "");
    if (glob(pattern, 0, NULL, &found) == 0)
        for (size_t i = 0; i < found.gl_pathc; i++) {
            char *text = file_read(AT_FDCWD, found.gl_pathv[i], OWN_BYTES_MAX, &length);
            if (text != NULL && *text != '\0')
                add(found.gl_pathv[i], text);
            free(text);
        }
    globfree(&found);
}

const struct analysis_kind *const *analysis_list(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, list_kinds);
    return kinds;
}

const struct analysis_kind *analysis_find(const char *name)
{
    const struct analysis_kind *const *kind = analysis_list();
    while (*kind != NULL && strcmp((*kind)->name, name) != 0)
        kind++;
    return *kind;
}

struct analysis *analysis_new(const struct analysis_kind *kind)
{
    struct analysis *analysis = alloc_zero(1, sizeof(struct analysis));
    analysis->kind = kind;
    analysis->tables = alloc_zero(kind->table_count, sizeof(analysis->tables[0]));
    if (kind->table_count != 0)
        memcpy(analysis->tables, kind->tables, kind->table_count * sizeof(analysis->tables[0]));
    if (kind->totals != NULL) {
        analysis->totals = *kind->totals;
        analysis->total = table_add(&analysis->totals, "total");
    }
    return analysis;
}

void analysis_free(struct analysis *analysis)
{
    sql_close(analysis);
    for (unsigned i = 0; i < analysis->kind->table_count; i++)
        table_free(&analysis->tables[i]);
    table_free(&analysis->totals);
    free(analysis->tables);
    for (struct map *map = analysis->maps, *next; map != NULL; map = next) {
        next = map->next;
        map_close(map);
    }
    for (struct slots *slots = analysis->slots; slots != NULL; slots = slots->next)
        slots_close(slots);
    arena_free(&analysis->arena);
    free(analysis);
}

struct map *analysis_map(struct analysis *analysis, struct map *map, size_t value_size)
{
    map_open(map, value_size);
    map->next = analysis->maps;
    return analysis->maps = map;
}

void analysis_slots(struct analysis *analysis, struct slots *slots, size_t value_size)
{
    slots_open(slots, value_size);
    slots->next = analysis->slots;
    analysis->slots = slots;
}

bool analysis_set(struct analysis *analysis, const char *name, const char *value, struct fail *fail)
{
    const struct command_option *option = option_find(analysis->kind->options, name);
    struct fail why;
    return option_set(option, analysis, value, &why) ||
           fail_set(fail, "--%s %.40s: %.400s", name, value, why.text);
}

/* Returns the option that the table needs, if it is not given. */
static const char *missing_option(const struct analysis *analysis, const struct table *table)
{
    const struct command_option *option = option_find(analysis->kind->options, table->needs);
    return option != NULL &&
                   *(const char *const *)(const void *)((const char *)analysis + option->place) == NULL
               ? table->needs
               : NULL;
}

static void add_word(char *text, size_t size, const char *word)
{
    size_t used = strlen(text);
    snprintf(text + used, size - used, "%s%s", used ? ", " : "", word);
}

bool analysis_choose_tables(struct analysis *analysis, const char *list, struct fail *fail)
{
    const char *only = list != NULL && strcmp(list, "all") != 0 ? list : NULL;
    bool only_needing = false;
    char known[400] = "", name[64];
    /* an option that tables need shows only these */
    for (unsigned i = 0; i < analysis->kind->table_count; i++)
        only_needing |=
            analysis->tables[i].needs != NULL && missing_option(analysis, &analysis->tables[i]) == NULL;
    for (unsigned i = 0; i < analysis->kind->table_count; i++) {
        struct table *table = &analysis->tables[i];
        bool has_need = missing_option(analysis, table) == NULL;
        if (only != NULL && !has_need && list_names(only, table->key))
            return fail_set(fail, "table '%s' needs --%s", table->key, table->needs);
        table->is_wanted = only != NULL ? list_names(only, table->key)
                           : list != NULL
                               ? has_need
                               : has_need && !table->is_extra && (!only_needing || table->needs != NULL);
        add_word(known, sizeof(known), table->key);
    }
    for (size_t length; only != NULL; only = only[length] == ',' ? only + length + 1 : NULL) {
        length = strcspn(only, ",");
        snprintf(name, sizeof(name), "%.*s", (int)length, only);
        if (!list_names(known, name))
            return fail_set(fail, "%s has no table '%.60s'; it has %s", analysis->kind->name, name, known);
    }
    return true;
}

static bool no_column(const struct analysis *analysis, const char *column, struct fail *fail)
{
    char known[400] = "name";
    for (unsigned i = 0; i < analysis->kind->table_count; i++)
        for (unsigned c = 0; analysis->tables[i].is_wanted && c < analysis->tables[i].column_count; c++) {
            char text[HEADING_BYTES];
            const char *heading = column_heading(&analysis->tables[i].columns[c], text);
            if (*heading != '\0' && !list_names(known, heading))
                add_word(known, sizeof(known), heading);
        }
    return fail_set(fail, "no table has a column '%.40s'; columns: %s", column, known);
}

bool analysis_sort(struct analysis *analysis, const struct table_options *options, struct fail *fail)
{
    bool any = options->sort == NULL;
    for (unsigned i = 0; i < analysis->kind->table_count; i++)
        any |= analysis->tables[i].is_wanted && table_sort_as(&analysis->tables[i], options);
    return any || no_column(analysis, options->sort, fail);
}

/* Cache: whether the filter selects a thread, and the names of it and its process on which that is based. */
struct chosen {
    bool is_known, is_chosen;
    uint32_t pid;
    uint64_t changes; /* of names */
    char comm[TRACE_NAME_BYTES];
};

static bool choose_thread(const struct analysis *analysis, const struct model_thread *thread)
{
    struct running running = {.pid = thread->pid, .tid = thread->tid, .is_known = true};
    memcpy(running.comm, thread->comm, sizeof(running.comm));
    return filter_running(analysis->filter, &running, &analysis->model->names);
}

/* Processes without threads count, too, because `tarn processes` shows them. */
static bool choose_nobody(const struct analysis *analysis)
{
    const struct model *model = analysis->model;
    if (!analysis->filter->by_running)
        return false;
    for (uint32_t i = 0; i < model->thread_count; i++)
        if (choose_thread(analysis, model->threads[i]))
            return false;
    for (size_t i = 0; i < model->processes.count; i++) {
        const struct model_process *process = map_value(&model->processes, i);
        struct running running = {.is_known = true, .pid = process->pid};
        if (filter_running(analysis->filter, &running, &model->names))
            return false;
    }
    return true;
}

bool analyses_open(struct analysis **analyses, unsigned count, struct model *model,
                   const struct filter *filter, struct symbols *symbols, struct fail *fail)
{
    if (filter->without_drain)
        model_leave_out_drain(model);
    if (filter->subtract_cost)
        model_subtract_costs(model);
    for (unsigned i = 0; i < count; i++) {
        struct analysis *analysis = analyses[i];
        const struct trace *trace = model->trace;
        analysis->trace = trace;
        analysis->model = model;
        analysis->filter = filter;
        analysis->symbols = symbols;
        analysis_slots(analysis, &analysis->chosen, sizeof(struct chosen));
        analysis->from = later(filter->from_ticks, trace->begin);
        analysis->to = later(sooner(filter->to_ticks, trace->end), analysis->from);
        if (!sql_open(analysis, fail))
            return false;
    }
    return true;
}

struct analysis *analysis_plain(const struct trace *trace, const struct filter *filter,
                                struct symbols *symbols, struct model *model)
{
    static const struct analysis_kind plain = {.name = "plain"};
    struct analysis *analysis = analysis_new(&plain);
    struct fail fail;
    analysis->trace = trace;
    analysis->filter = filter;
    if (model != NULL)
        analyses_open(&analysis, 1, model, filter, symbols, &fail);
    return analysis;
}

static void keep_totals(struct analysis *analysis)
{
    const struct model *model = analysis->model;
    analysis->subtracts = model->subtracts_costs;
    analysis->subtracted = model->subtracted;
    analysis->left_out = model->left_out;
    analysis->worked = 0;
    if (analysis->filter->without_drain)
        analysis->drained =
            arena_alloc(&analysis->arena, (model->trace->stream_count + 1) * sizeof(uint64_t));
    for (unsigned i = 0; i < model->trace->stream_count; i++) {
        const struct model_cpu *cpu = &model->cpus[i];
        analysis->worked += cpu->busy - cpu->boot - cpu->drained;
        if (analysis->drained != NULL)
            analysis->drained[i] = cpu->drained;
    }
    analysis->worked -= sooner(analysis->worked, model->subtracted.ticks);
}

void analysis_describe_left_out(const struct analysis *analysis, char *text, size_t size)
{
    const struct model_left_out *left_out = &analysis->left_out;
    uint64_t ran = 0;
    size_t used;
    *text = '\0';
    if (analysis->drained == NULL)
        return;
    for (unsigned i = 0; i < analysis->trace->stream_count; i++)
        ran += analysis->drained[i];
    used = (size_t)snprintf(text, size,
                            "drain: %.3f ms of CPU time left out, %.3f ms of waits, %" PRIu64
                            " events, %" PRIu64 " activities, %" PRIu64 " calls",
                            (double)analysis_ns(analysis, ran) / 1e6,
                            (double)analysis_ns(analysis, left_out->waited) / 1e6, left_out->events,
                            left_out->activities, left_out->calls);
    for (unsigned i = 0; i < analysis->trace->stream_count && used < size; i++)
        if (analysis->drained[i] != 0)
            used += (size_t)snprintf(text + used, size - used, "; cpu %u %.3f ms",
                                     analysis->trace->streams[i].cpu,
                                     (double)analysis_ns(analysis, analysis->drained[i]) / 1e6);
}

void analyses_finish(struct analysis **analyses, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        keep_totals(analyses[i]);
        sql_finish(analyses[i]);
        analyses[i]->chose_nobody = choose_nobody(analyses[i]);
        for (unsigned t = 0; t < analyses[i]->kind->table_count; t++)
            table_sort(&analyses[i]->tables[t], table_order(&analyses[i]->tables[t]));
        analyses[i]->model = NULL;
    }
}

const char *analysis_has_nothing(const struct analysis *analysis)
{
    if (analysis->trace->begin >= analysis->trace->end)
        return "the trace is empty";
    if (analysis->from >= analysis->to)
        return "the trace has nothing in this time range; `tarn info` shows when it begins and ends";
    if (analysis->chose_nobody)
        return "no thread matches --pid, --tid and --process; `tarn threads --top 0` lists all";
    return NULL;
}

bool analyses_walk(struct analysis **analyses, unsigned count, struct model *model, struct merge *merge,
                   const struct filter *filter, struct symbols *symbols, bool (*goes_on)(void *owner),
                   void *owner, struct fail *fail)
{
    bool ok =
        analyses_open(analyses, count, model, filter, symbols, fail) &&
        (model_walk_range(model, merge, goes_on, owner) || fail_set(fail, "the analysis was cancelled"));
    if (ok)
        analyses_finish(analyses, count);
    merge_close(merge);
    model_close(model);
    return ok;
}

/* No checkpoint has what logging cost before. */
bool analyses_ask(struct analysis **analyses, unsigned count, const struct trace *trace,
                  const struct filter *filter, struct symbols *symbols, struct reporter *reporter,
                  struct fail *fail)
{
    struct model model;
    struct merge merge;
    model_open(&model, trace, filter->from_ticks, filter->to_ticks);
    walk_open_late(&model, &merge, filter->subtract_cost ? 0 : model.from, reporter);
    return analyses_walk(analyses, count, &model, &merge, filter, symbols, NULL, NULL, fail);
}

/* In a valid trace, a known pid does not change, and a damaged one does not matter; names do change. */
static bool is_current(const struct analysis *analysis, const struct chosen *chosen,
                       const struct model_thread *thread)
{
    if (!chosen->is_known || (chosen->pid == MODEL_NOBODY && thread->pid != MODEL_NOBODY))
        return false;
    return analysis->filter->process == NULL || (chosen->changes == analysis->model->names.changes &&
                                                 memcmp(chosen->comm, thread->comm, TRACE_NAME_BYTES) == 0);
}

bool analysis_wants_slow(struct analysis *analysis, const struct model_thread *thread)
{
    struct chosen *chosen = slots_at(&analysis->chosen, thread->number);
    if (is_current(analysis, chosen, thread))
        return chosen->is_chosen;
    *chosen = (struct chosen){.is_known = true,
                              .is_chosen = choose_thread(analysis, thread),
                              .pid = thread->pid,
                              .changes = analysis->model->names.changes};
    memcpy(chosen->comm, thread->comm, TRACE_NAME_BYTES);
    return chosen->is_chosen;
}

uint64_t analysis_when(const struct analysis *analysis, uint64_t ticks)
{
    return schema_elapsed_ns(&analysis->trace->schema, analysis->trace->begin, ticks);
}

double analysis_seconds(const struct analysis *analysis)
{
    return (double)schema_elapsed_ns(&analysis->trace->schema, analysis->from, analysis->to) / 1e9;
}

const char *analysis_process_name(const struct analysis *analysis, uint32_t pid)
{
    const char *name = names_find(&analysis->model->names, pid);
    return name != NULL ? name : pid == MODEL_NOBODY ? "(unknown)" : "(nameless)";
}

const char *analysis_thread_name(const struct analysis *analysis, const struct model_thread *thread)
{
    return model_thread_name(analysis->model, thread);
}

const struct field *analysis_field(const struct analysis *analysis, const char *event, const char *field)
{
    return schema_find_field(schema_find_event(&analysis->trace->schema, event), field);
}

const struct event_type *analysis_fields(const struct analysis *analysis, const char *event,
                                         const char *const *names, unsigned count,
                                         const struct field **fields)
{
    bool has_all = true;
    for (unsigned i = 0; i < count; i++)
        if (names[i] != NULL) {
            fields[i] = analysis_field(analysis, event, names[i]);
            has_all &= fields[i] != NULL;
        }
    return has_all ? schema_find_event(&analysis->trace->schema, event) : NULL;
}

const char *label_of(const struct field *field, uint64_t value, char text[ANALYSIS_NAME_BYTES])
{
    const char *label = field_label(field, value);
    if (label != NULL)
        return label;
    *put_unsigned(text, value) = '\0';
    return text;
}
