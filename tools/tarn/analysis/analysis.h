/*
 * analysis.h - interface of an analysis: a subcommand, a tab of the view, a part of a diff.
 *
 * An analysis is one file of SQL in this folder (relation/README.md says how to write one), of which
 * sql/view.c makes a struct analysis_kind. It counts rows of relations during one walk over the trace and
 * fills tables (table.h). Everything around it is shared: options, opening, walking, losses, printing
 * (analysis_command.c). `tarn diff`, `tarn top` and the view use the same analyses, for a range of time,
 * several in one walk, on a growing trace.
 *
 * To add one: the file, its name in analyses.c, its prose in docs/man, and a trace with known results in
 * tests/unit/tarn/stories.
 */
#pragma once

#include <stdio.h>
#include <tools/tarn/analysis/distribution.h>
#include <tools/tarn/model/model.h>
#include <tools/tarn/read/filter.h>
#include <tools/tarn/read/losses.h>
#include <tools/tarn/table.h>

struct analysis;
struct database;
struct merge;
struct page;
struct statement;
struct symbols;

/* What a column means. shared.sql and each analysis declare it (relation/README.md): the last one that fits
 * counts. */
struct column_text {
    const char *key, *tables; /* tables: NULL: all */
    const char *text;         /* one sentence, without capital and full stop */
};

struct analysis_kind {
    const char *name, *summary;           /* of the subcommand */
    const struct command_option *options; /* of its own; NULL: none */
    const struct table *tables;           /* empty templates; copied */
    unsigned table_count;
    const struct column_text *texts; /* of columns */
    unsigned text_count;
    const struct table *totals;         /* a table of one row, members of the JSON object; NULL: none */
    bool chooses_events;                /* it observes each event, so --class and --event apply */
    bool uses_symbols;                  /* it converts addresses to names: analysis->symbols */
    const struct statement *statements; /* of sql/view.c */
    unsigned statement_count;
};

#define ANALYSIS_OPTIONS 8u

struct analysis {
    const struct analysis_kind *kind;
    const struct trace *trace;
    struct model *model; /* valid from open to finish, else NULL */
    const struct filter *filter;
    struct symbols *symbols; /* or NULL */
    struct table *tables;    /* kind->table_count */
    struct table totals;
    struct table_row *total;            /* its row; NULL without totals */
    uint64_t from, to;                  /* ticks: the range analysed, within the trace */
    uint64_t worked;                    /* ticks of all CPUs, without boot and drain; set after the walk */
    bool only_scheduling;               /* it needs neither activities nor calls */
    bool subtracts;                     /* with --subtract-cost; set after the walk */
    struct model_subtracted subtracted; /* the same */
    struct model_left_out left_out;     /* with --without-drain; set after the walk */
    uint64_t *drained;                  /* the same: ticks by the stream's rank, in the arena; NULL: none */
    const char *options[ANALYSIS_OPTIONS];   /* values of its options; NULL: not given */
    struct buffer printed[ANALYSIS_OPTIONS]; /* by option: what it prints in place of tables */
    struct database *database;               /* of sql/view.c; NULL: not open */
    const char *answer;                      /* a sentence that answers its question; NULL: none */
    char note[200];                          /* a message of finish for the user; "": none */
    struct slots chosen;                     /* by thread number: cache of analysis_wants */
    /* freed with the analysis */
    struct map *maps;
    struct slots *slots;
    struct arena arena;
    bool chose_nobody; /* the filter matches no thread or process; set after the walk */
};

/* All analyses, NULL-terminated: the tool's, then a user's own. */
const struct analysis_kind *const *analysis_list(void);
const struct analysis_kind *analysis_find(const char *name); /* or NULL */
const char *analysis_sql(const char *name);                  /* the text of NAME.sql of this folder */

struct analysis *analysis_new(const struct analysis_kind *kind);
void analysis_free(struct analysis *analysis);
/* NAME is an option of its kind. VALUE is ignored if the option has none. */
bool analysis_set(struct analysis *analysis, const char *name, const char *value, struct fail *fail);
/* Selects the tables in the comma-separated LIST, or "all"; NULL: the default ones. */
bool analysis_choose_tables(struct analysis *analysis, const char *list, struct fail *fail);
/* table_sort_as for every table; an error if none has the column. */
bool analysis_sort(struct analysis *analysis, const struct table_options *options, struct fail *fail);

/* Runs several analyses in one walk over TRACE. FILTER is resolved; its `from` and `to` limit what counts,
 * not what the model learns from. SYMBOLS may be NULL. */
bool analyses_ask(struct analysis **analyses, unsigned count, const struct trace *trace,
                  const struct filter *filter, struct symbols *symbols, struct reporter *reporter,
                  struct fail *fail);
/* The same with a walk that is open, which it closes; GOES_ON as in model_walk_range. */
bool analyses_walk(struct analysis **analyses, unsigned count, struct model *model, struct merge *merge,
                   const struct filter *filter, struct symbols *symbols, bool (*goes_on)(void *owner),
                   void *owner, struct fail *fail);
/* Returns the reason why the trace, the range or the chosen threads cannot give results, or NULL. */
const char *analysis_has_nothing(const struct analysis *analysis);
/* For callers that walk themselves: call these before the first event and after model_finish. */
bool analyses_open(struct analysis **analyses, unsigned count, struct model *model,
                   const struct filter *filter, struct symbols *symbols, struct fail *fail);
void analyses_finish(struct analysis **analyses, unsigned count);

/* Opens an analysis without tables, for modules that walk and observe MODEL themselves: for names, and for
 * analysis_wants. MODEL may be NULL if they need neither. */
struct analysis *analysis_plain(const struct trace *trace, const struct filter *filter,
                                struct symbols *symbols, struct model *model);

/* Describes what the results leave out; "": that was not requested. */
void analysis_describe_left_out(const struct analysis *analysis, char *text, size_t size);

/* Prints the wanted tables. */
void analysis_print(FILE *to, const struct analysis *analysis, const struct table_options *output,
                    const struct losses *losses);

/* sql/view.c. What precedes the first table of an analysis runs before the walk and makes folds (sql/fold.c),
 * which count during the walk. Afterwards each SELECT fills its table. Without statements, nothing is done.
 */

/* Returns the analysis that TEXT declares, to be kept until the program ends; NULL: FAIL. SHARED has
 * definitions for all. */
const struct analysis_kind *sql_analysis(const char *text, const char *shared, struct fail *fail);
bool sql_open(struct analysis *analysis, struct fail *fail);
void sql_finish(struct analysis *analysis); /* after the walk, with a valid model: fills the tables */
/* Prints what an option requests instead of the tables (IS_ALL). */
bool sql_print(struct analysis *analysis, FILE *to, bool *is_all, struct fail *fail);
void sql_close(struct analysis *analysis); /* also if it was not opened */

/* Returns the description of column KEY in TABLE of KIND; NULL: none. */
const struct column_text *column_text_of(const struct analysis_kind *kind, const struct table *table,
                                         const char *key);
/* Describes KIND's columns, for --help and the manual, naming the tables where descriptions differ. */
void columns_describe(struct page *page, const struct analysis_kind *kind);
void columns_print_all(FILE *to);

/* The subcommand; NULL: the options that all share, for the manual. */
struct command analysis_command(const struct analysis_kind *kind);

/* ---- for analyses ---- */

/* Open a map or slots of the analysis's state, which are closed with it. */
struct map *analysis_map(struct analysis *analysis, struct map *map, size_t value_size);
void analysis_slots(struct analysis *analysis, struct slots *slots, size_t value_size);

bool analysis_wants_slow(struct analysis *analysis, const struct model_thread *thread);
/* Whether the filter selects the thread and the CPU of that rank. */
static inline bool analysis_wants_on(struct analysis *analysis, const struct model_thread *thread,
                                     uint32_t cpu)
{
    const struct filter *filter = analysis->filter;
    if (__builtin_expect(filter->streams != NULL, 0) && !filter->streams[cpu])
        return false;
    return __builtin_expect(!filter->by_running, 1) || analysis_wants_slow(analysis, thread);
}
/* The same with the CPU where the thread runs or last ran. */
static inline bool analysis_wants(struct analysis *analysis, const struct model_thread *thread)
{
    return analysis_wants_on(analysis, thread, thread->cpu);
}
/* Whether the filter selects the event's type, its CPU, and THREAD. */
static inline bool analysis_wants_event(struct analysis *analysis, const struct cursor *cursor,
                                        const struct model_thread *thread)
{
    const struct filter *filter = analysis->filter;
    if (filter->types != NULL && !filter->types[cursor->event.type->index])
        return false;
    return analysis_wants_on(analysis, thread, cursor->stream->rank);
}

static inline uint64_t analysis_ns(const struct analysis *analysis, uint64_t ticks)
{
    return ticks_to_ns(&analysis->trace->schema, ticks);
}
/* Converts consecutive parts to nanoseconds, rounded so that they add up to the converted sum. */
struct analysis_accumulator {
    const struct analysis *analysis;
    uint64_t ticks;
};
static inline uint64_t analysis_add(struct analysis_accumulator *accumulator, uint64_t ticks)
{
    uint64_t before = analysis_ns(accumulator->analysis, accumulator->ticks);
    accumulator->ticks += ticks;
    return analysis_ns(accumulator->analysis, accumulator->ticks) - before;
}
uint64_t analysis_when(const struct analysis *analysis, uint64_t ticks);
double analysis_seconds(const struct analysis *analysis); /* length of the range */

/* Return names; never NULL. */
#define ANALYSIS_NAME_BYTES 64u
const char *analysis_process_name(const struct analysis *analysis, uint32_t pid);
const char *analysis_thread_name(const struct analysis *analysis, const struct model_thread *thread);
/* NULL: the trace does not have it. */
const struct field *analysis_field(const struct analysis *analysis, const char *event, const char *field);
/* Finds the fields NAMES of an event; where NAMES is NULL, FIELDS stays NULL. Returns its type; NULL: the
 * trace does not have it, or lacks one of the fields. */
const struct event_type *analysis_fields(const struct analysis *analysis, const char *event,
                                         const char *const *names, unsigned count,
                                         const struct field **fields);
/* Returns the label of VALUE in FIELD's enumeration (FIELD may be NULL), or else the number, in TEXT. */
const char *label_of(const struct field *field, uint64_t value, char text[ANALYSIS_NAME_BYTES]);
