/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * answer.h - interface of an analysis: a subcommand, a tab of the view, a part of a diff.
 *
 * An analysis is one file in this folder: a struct answer_kind, listed in answers.c. It observes the model
 * (model/model.h) during one walk over the trace and fills tables (table.h). Everything around it is shared:
 * options, opening, walking, losses, printing (answer_command.c). `tarn diff`, `tarn top` and the view use
 * the same analyses, for a range of time, several in one walk, on a growing trace. So an analysis neither
 * prints nor exits, and keeps all state in its struct.
 *
 * To add one: the file, a line in answers.c, a description in columns.c for each column with a new meaning
 * (tools/columns copies them into the manual), a section in docs/man/tarn-answers.1, and a trace with known
 * results in tests/answers_test.c.
 */
#ifndef TARN_ANSWER_H
#define TARN_ANSWER_H

#include <stdio.h>
#include <tools/tarn/answer/distribution.h>
#include <tools/tarn/model/model.h>
#include <tools/tarn/read/filter.h>
#include <tools/tarn/read/losses.h>
#include <tools/tarn/table.h>

struct answer;
struct symbols;

/* An option of one analysis. Lists of them end with a NULL name. */
struct answer_option {
    const char *name;
    bool has_argument;
    const char *help; /* the rest of the help line after " --name" */
};

struct answer_kind {
    const char *name, *summary;          /* of the subcommand */
    const char *help;                    /* what it computes, in sentences; the options are appended */
    const struct answer_option *options; /* NULL: none */
    /* options, separated by commas, that `tarn diff` does not accept: those for other output than tables, or
     * about one event */
    const char *not_compared;
    const struct table *tables; /* empty templates; copied */
    unsigned table_count;
    const struct table *totals; /* a table of one row, printed above the others; NULL: none */
    bool chooses_events;        /* it observes each event, so --class and --event apply */
    bool uses_symbols;          /* it converts addresses to names: answer->symbols */
    size_t size;                /* of its state, which begins with struct answer */
    /* Handles an option. All callbacks but `open` are optional.
     * VALUE is NULL for an option without a value. */
    bool (*set)(struct answer *answer, const char *option, const char *value, struct fail *fail);
    /* Sets the functions of answer->observer. Trace, model and filter are valid. */
    bool (*open)(struct answer *answer, struct fail *fail);
    void (*finish)(struct answer *answer); /* after the walk, with a valid model: fills the tables */
    /* Prints what an option requests in addition to the tables, or instead of them (IS_ALL). */
    bool (*print)(struct answer *answer, FILE *to, bool *is_all, struct fail *fail);
    void (*close)(struct answer *answer); /* called even if `open` was not */
};

/* Walks a part of the trace again, for an analysis that examines something its first walk found. The owner
 * may know a shorter way than from the start of the trace, and may cancel it. */
struct answer_walker {
    /* Opens MODEL for FROM <= t < TO (ticks), reports to OBSERVER what is in it, and finishes it. False:
     * cancelled. The caller closes the model in both cases. */
    bool (*walk)(struct answer_walker *self, struct model *model, uint64_t from, uint64_t to,
                 struct model_observer *observer);
};

struct answer {
    const struct answer_kind *kind;
    const struct trace *trace;
    struct model *model; /* valid from open to finish, else NULL */
    const struct filter *filter;
    struct symbols *symbols;      /* or NULL */
    struct answer_walker *walker; /* NULL: walk from the start of the trace */
    struct model_observer observer;
    struct table *tables; /* kind->table_count */
    struct table totals;
    struct table_row *total; /* its row; NULL without totals */
    uint64_t from, to;       /* ticks: the range analysed, within the trace */
    uint64_t worked;         /* ticks of all CPUs, without boot; set after the walk */
    char note[200];          /* a message of finish for the user; "": none */
    struct chosen *chosen;   /* by thread number: cache of answer_wants */
    uint32_t chosen_size;
    bool chose_nobody; /* the filter matches no thread or process; set after the walk */
};

/* All analyses, NULL-terminated. */
extern const struct answer_kind *const answer_kinds[];
const struct answer_kind *answer_find(const char *name); /* or NULL */

struct answer *answer_new(const struct answer_kind *kind);
void answer_free(struct answer *answer);
bool answer_set(struct answer *answer, const char *option, const char *value, struct fail *fail);
bool answer_has_option(const struct answer_kind *kind, const char *name);
/* Selects the tables in the comma-separated LIST, or "all"; NULL: the default ones. */
bool answer_choose_tables(struct answer *answer, const char *list, struct fail *fail);
/* Sorts every table that has COLUMN by it; an error if none has. NULL: each table by its default. */
bool answer_sort(struct answer *answer, const char *column, bool reverse, struct fail *fail);

/* Runs several analyses in one walk over all of TRACE. FILTER is resolved; its `from` and `to` limit what
 * counts, not what the model learns from. SYMBOLS may be NULL. */
bool answers_ask(struct answer **answers, unsigned count, const struct trace *trace,
                 const struct filter *filter, struct symbols *symbols, struct reporter *reporter,
                 struct fail *fail);
/* Returns the reason why the trace, the range or the chosen threads cannot give results, or NULL. */
const char *answer_has_nothing(const struct answer *answer);
/* For callers that walk themselves: call these before the first event and after model_finish. */
bool answers_open(struct answer **answers, unsigned count, struct model *model, const struct filter *filter,
                  struct symbols *symbols, struct fail *fail);
void answers_finish(struct answer **answers, unsigned count);

/* Prints the wanted tables, at most TOP rows of each. */
enum answer_format { ANSWER_TEXT, ANSWER_JSON, ANSWER_CSV };
void answer_print(FILE *to, const struct answer *answer, enum answer_format format, uint64_t top,
                  const struct losses *losses);

/* `tarn NAME ...`; argv[0] is the analysis's name. */
int run_answer(int argc, char **argv);

/* ---- for analyses ---- */

/* The analysis that contains the observer SELF. */
#define ANSWER_OF(self, type) ((type *)(void *)((char *)(self)-offsetof(struct answer, observer)))

bool answer_wants_slow(struct answer *answer, const struct model_thread *thread);
/* Whether the filter selects the thread and the CPU of that rank. */
static inline bool answer_wants_on(struct answer *answer, const struct model_thread *thread, uint32_t cpu)
{
    const struct filter *filter = answer->filter;

    if (__builtin_expect(filter->streams != NULL, 0) && !filter->streams[cpu])
        return false;
    return __builtin_expect(!filter->by_running, 1) || answer_wants_slow(answer, thread);
}
/* The same with the CPU where the thread runs or last ran. */
static inline bool answer_wants(struct answer *answer, const struct model_thread *thread)
{
    return answer_wants_on(answer, thread, thread->cpu);
}
/* Whether the filter selects the event's type, its CPU, and THREAD. */
static inline bool answer_wants_event(struct answer *answer, const struct cursor *cursor,
                                      const struct model_thread *thread)
{
    const struct filter *filter = answer->filter;

    if (filter->types != NULL && !filter->types[cursor->event.type->index])
        return false;
    return answer_wants_on(answer, thread, cursor->stream->rank);
}

static inline uint64_t answer_ns(const struct answer *answer, uint64_t ticks)
{
    return ticks_to_ns(&answer->trace->schema, ticks);
}
/* Converts consecutive parts to nanoseconds, rounded so that they add up to the converted sum. */
struct answer_adder {
    const struct answer *answer;
    uint64_t ticks;
};
static inline uint64_t answer_add(struct answer_adder *adder, uint64_t ticks)
{
    uint64_t before = answer_ns(adder->answer, adder->ticks);

    adder->ticks += ticks;
    return answer_ns(adder->answer, adder->ticks) - before;
}
uint64_t answer_when(const struct answer *answer, uint64_t ticks);
double answer_seconds(const struct answer *answer); /* length of the range */

bool answer_walk(const struct answer *answer, struct model *model, uint64_t from, uint64_t to,
                 struct model_observer *observer);

/* Return names; never NULL. */
#define ANSWER_NAME_BYTES 64u
const char *answer_process_name(const struct answer *answer, uint32_t pid);
const char *answer_thread_name(const struct answer *answer, const struct model_thread *thread);
/* NULL: the trace does not have it. */
const struct field *answer_field(const struct answer *answer, const char *event, const char *field);
/* Returns the label of VALUE in FIELD's enumeration (FIELD may be NULL), or else the number, in TEXT. */
const char *label_of(const struct field *field, uint64_t value, char text[ANSWER_NAME_BYTES]);

#endif
