/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/answer/answer.h - what a question to a trace is: a subcommand, a tab of the view, a part of a
 * diff.
 *
 * An answer is one file in this folder: a struct answer_kind, in the list of answers.c. It observes the model
 * (model/model.h) during one walk over the trace and fills tables (table.h). Everything around it is shared:
 * options, opening, walking, losses, printing (answer_command.c). The same answers are asked by `tarn diff`,
 * `tarn top` and the view, for a range of time, several in one walk, of a trace that goes on growing: so they
 * neither print nor exit and keep nothing outside their struct.
 *
 * To add one: the file, a line in answers.c, a sentence in columns.c for each column that means something new
 * (tools/columns puts them into the manual), a section in docs/man/tarn-answers.1, a trace with a known
 * answer in tests/answers_test.c.
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

/* An option of its own; set gets the value. A list of them ends with a name of NULL. */
struct answer_option {
    const char *name;
    bool has_argument;
    const char *help; /* as it stands in the help text, with what is left of the line after "  --name" */
};

struct answer_kind {
    const char *name, *summary;          /* of the subcommand */
    const char *help;                    /* what it tells, in sentences; the options are appended */
    const struct answer_option *options; /* NULL: none */
    const char *not_compared;   /* those, with commas, that ask for more than tables, or about one event:
                                 * `tarn diff` does not have them */
    const struct table *tables; /* as they are when empty; copied */
    unsigned table_count;
    const struct table *totals; /* of one row, which stands above the tables; NULL: none */
    bool chooses_events;        /* looks at each event: --class and --event mean something */
    bool uses_symbols;          /* names addresses: answer->symbols */
    size_t size;                /* of its state, which begins with struct answer */
    /* All but observe are optional. VALUE is NULL for an option without argument. */
    bool (*set)(struct answer *answer, const char *option, const char *value, struct fail *fail);
    /* Trace, model and filter are there: fill answer->observer with functions. */
    bool (*open)(struct answer *answer, struct fail *fail);
    void (*finish)(struct answer *answer); /* after the walk, model still there: fill tables */
    /* What an option asked for besides tables, or instead of them (IS_ALL). */
    bool (*print)(struct answer *answer, FILE *to, bool *is_all, struct fail *fail);
    void (*close)(struct answer *answer); /* whether opened or not */
};

/* Walks a part of the trace once more, for an answer that wants to look closely at what its walk has found.
 * Who asks may know a shorter way there than from the trace's begin, and give up on the way. */
struct answer_walker {
    /* Opens MODEL for FROM <= t < TO (ticks), tells OBSERVER what lies there, and ends that range. The caller
     * closes the model, also when this was given up: false. */
    bool (*walk)(struct answer_walker *self, struct model *model, uint64_t from, uint64_t to,
                 struct model_observer *observer);
};

struct answer {
    const struct answer_kind *kind;
    const struct trace *trace;
    struct model *model; /* NULL outside of open ... finish */
    const struct filter *filter;
    struct symbols *symbols;      /* or NULL */
    struct answer_walker *walker; /* NULL: from the trace's begin */
    struct model_observer observer;
    struct table *tables; /* kind->table_count */
    struct table totals;
    struct table_row *total; /* its row; NULL without totals */
    uint64_t from, to;       /* ticks: what was looked at, within the trace */
    uint64_t worked;         /* ticks of all processors, boot apart; set after the walk */
    char note[200];          /* what finish has to say to people; "": nothing */
    struct chosen *chosen;   /* by a thread's number: cache of answer_wants */
    uint32_t chosen_size;
    bool chose_nobody; /* by its threads and processes, of those that were heard of; set after the walk */
};

/* All kinds, ended by NULL. */
extern const struct answer_kind *const answer_kinds[];
const struct answer_kind *answer_find(const char *name); /* or NULL */

struct answer *answer_new(const struct answer_kind *kind);
void answer_free(struct answer *answer);
/* An option of the kind's own. */
bool answer_set(struct answer *answer, const char *option, const char *value, struct fail *fail);
bool answer_has_option(const struct answer_kind *kind, const char *name);
/* Only the tables of a comma-separated LIST, or "all"; NULL: those that are shown by default. */
bool answer_choose_tables(struct answer *answer, const char *list, struct fail *fail);
/* Tables that have the column are sorted by it; it is an error when none has. NULL: each as fits it. */
bool answer_sort(struct answer *answer, const char *column, bool reverse, struct fail *fail);

/* Asks several at once in one walk over all of TRACE. FILTER is resolved; its from and to bound what counts,
 * not what the model learns from. SYMBOLS may be NULL. */
bool answers_ask(struct answer **answers, unsigned count, const struct trace *trace,
                 const struct filter *filter, struct symbols *symbols, struct reporter *reporter,
                 struct fail *fail);
/* What to tell people when the trace, the range or the threads that were chosen can have nothing; or NULL. */
const char *answer_has_nothing(const struct answer *answer);
/* The same for who walks himself: before the first event, and after model_finish. */
bool answers_open(struct answer **answers, unsigned count, struct model *model, const struct filter *filter,
                  struct symbols *symbols, struct fail *fail);
void answers_finish(struct answer **answers, unsigned count);

/* Prints the tables that are wanted. TOP: at most so many rows of each. */
enum answer_format { ANSWER_TEXT, ANSWER_JSON, ANSWER_CSV };
void answer_print(FILE *to, const struct answer *answer, enum answer_format format, uint64_t top,
                  const struct losses *losses);

/* `tarn NAME ...`; argv[0] is the kind's name. */
int run_answer(int argc, char **argv);

/* For kinds. */

/* The answer that an observer's function was called for. */
#define ANSWER_OF(self, type) ((type *)(void *)((char *)(self)-offsetof(struct answer, observer)))

bool answer_wants_slow(struct answer *answer, const struct model_thread *thread);
/* Does the filter choose the thread, and the processor of that rank? */
static inline bool answer_wants_on(struct answer *answer, const struct model_thread *thread, uint32_t cpu)
{
    const struct filter *filter = answer->filter;

    if (__builtin_expect(filter->streams != NULL, 0) && !filter->streams[cpu])
        return false;
    return __builtin_expect(!filter->by_running, 1) || answer_wants_slow(answer, thread);
}
/* ... and the processor where it runs or ran last? */
static inline bool answer_wants(struct answer *answer, const struct model_thread *thread)
{
    return answer_wants_on(answer, thread, thread->cpu);
}
/* ... and of EVENT's kind and processor? */
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
/* Nanoseconds of parts, one after the other, rounded so that they add up to those of their sum. */
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
/* A time as COLUMN_WHEN has it. */
uint64_t answer_when(const struct answer *answer, uint64_t ticks);
double answer_seconds(const struct answer *answer); /* from ... to */

/* As struct answer_walker says. */
bool answer_walk(const struct answer *answer, struct model *model, uint64_t from, uint64_t to,
                 struct model_observer *observer);

/* What to call them; never NULL. */
#define ANSWER_NAME_BYTES 64u
const char *answer_process_name(const struct answer *answer, uint32_t pid);
const char *answer_thread_name(const struct answer *answer, const struct model_thread *thread);
/* NULL: the trace has none. */
const struct field *answer_field(const struct answer *answer, const char *event, const char *field);
/* The label of VALUE in FIELD's enumeration (FIELD may be NULL); otherwise the number, in TEXT. */
const char *label_of(const struct field *field, uint64_t value, char text[ANSWER_NAME_BYTES]);

#endif
