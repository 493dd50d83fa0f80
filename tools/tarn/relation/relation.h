/*
 * relation.h - a trace as relations: named tables of rows with typed columns, each declared once.
 *
 * There is one relation for each event type of the trace, and those of relation.c for what the model knows
 * and what it ends with. A catalog lists them. Their readers are `tarn sql` (sql/), the analyses that are
 * written in SQL, and `tarn export` (csv, sqlite). Rows are computed while the trace is read, and nothing is
 * kept: they are given to sinks during a walk, or by scan.h one by one.
 */
#pragma once

#include <tools/tarn/analysis/analysis.h>
#include <tools/tarn/map.h>

enum value_kind {
    VALUE_NULL,
    VALUE_SIGNED,
    VALUE_UNSIGNED,
    VALUE_HEX,
    VALUE_TEXT,
    VALUE_WHEN, /* ticks of the trace's clock; value_plain makes nanoseconds of it */
    VALUE_SPAN, /* the same; a duration from `begin` on */
};
struct value {
    enum value_kind kind;
    uint64_t number; /* VALUE_SIGNED: the bits of an int64_t */
    union {
        const char *text; /* VALUE_TEXT; not NUL-terminated */
        uint64_t begin;   /* VALUE_SPAN */
    };
    size_t length;
};

#define VALUE_NUMBER(n)        ((struct value){.kind = VALUE_UNSIGNED, .number = (n)})
#define VALUE_OF(kind_, n)     ((struct value){.kind = (kind_), .number = (uint64_t)(n)})
#define VALUE_TICKS(n, begin_) ((struct value){.kind = VALUE_SPAN, .number = (n), .begin = (begin_)})
#define VALUE_BYTES(t, n)      ((struct value){.kind = VALUE_TEXT, .text = (t), .length = (n)})
#define NOTHING                ((struct value){.kind = VALUE_NULL})
#define VALUE_IF(known, value) ((known) ? (value) : NOTHING)
struct value value_text(const char *text); /* NULL: VALUE_NULL */
/* Times become numbers in nanoseconds: begin and duration of a row add up to its end. */
struct value value_plain(const struct schema *schema, struct value value);
/* Returns the value of an event's field: for an enumeration its label, if any; for a list its JSON in
 * LIST_TEXT, which has value_list_bytes. */
struct value value_of_field(const struct field *field, const struct event *event, char *list_text);
size_t value_list_bytes(const struct schema *schema);

/* When a relation's rows exist. */
enum relation_source {
    SOURCE_EVENT,    /* with an event; of all types, or of relation->type */
    SOURCE_ACTIVITY, /* when it ends */
    SOURCE_STATE,    /* when an interval of one state ends */
    SOURCE_RUN,      /* the same, of running threads */
    SOURCE_WAKEUP,
    SOURCE_SWITCH,
    SOURCE_IPI,       /* when one is taken, or joins one that is not taken yet */
    SOURCE_STATEDUMP, /* with an event of a statedump */
    SOURCE_MADE,      /* when relation->maker gives them */
    SOURCE_STREAMS,   /* the sources above; the others are known at the end of the walk */
    SOURCE_PROCESS = SOURCE_STREAMS,
    SOURCE_THREAD,
    SOURCE_CPU,
    SOURCE_EXECUTABLE,
    SOURCE_LOCK_CLASS,
    SOURCE_IRQ,
    SOURCE_EVENT_TYPE,
    SOURCE_ANOMALY,
    SOURCE_LOSS,
    SOURCE_TRACE,
    SOURCES
};

enum relation_unit { UNIT_NUMBER, UNIT_TEXT, UNIT_WHEN, UNIT_SPAN, UNIT_ADDRESS, RELATION_UNITS };

struct relation_row;
struct relation_column {
    const char *name;
    const char *text; /* a sentence without capital and full stop; NULL: the event's declaration has it */
    enum relation_unit unit;
    unsigned cell;             /* of SOURCE_MADE: its number */
    const struct field *field; /* of an event; NULL: another column */
    bool needs_model;          /* of an event: not only the event; left out of SELECT * */
    uint8_t parameter;         /* its number, from 1 on: a condition on it tells the maker what to do */
    struct value (*value)(const struct relation_row *row, const struct relation_column *column);
};

#define RELATION_PARAMETERS 6u

struct relation {
    const char *name, *text;
    enum relation_source source;
    const struct maker *maker;     /* of SOURCE_MADE (maker.h) */
    unsigned part;                 /* its number among those of the maker */
    const struct event_type *type; /* of SOURCE_EVENT; NULL: all types */
    const struct field *ip;        /* of the type: the field with the program's address; NULL: none */
    const struct relation_column *columns;
    unsigned column_count;
};

struct catalog {
    struct relation *relations; /* first those of the model, then by event index */
    unsigned count, own;        /* own: how many are not of an event type */
    struct arena arena;
};
/* SCHEMA may be NULL: only the model's. Freed with the arena. */
void catalog_open(struct catalog *catalog, const struct schema *schema);
const struct relation *catalog_find(const struct catalog *catalog, const char *name); /* or NULL */
/* -1: none. */
int relation_find_column(const struct relation *relation, const char *name);

/* A time in which a thread was in one state, on one CPU. The model's segments also end at every change of
 * activity. */
struct thread_state {
    const struct model_thread *thread; /* NULL: none yet */
    enum model_state state;
    uint32_t cpu;   /* rank of the stream */
    bool is_asleep; /* model_is_asleep */
    uint64_t from, to;
    uint64_t ticks; /* that count: model_segment_ticks */
};
struct thread_states {
    struct slots slots; /* by thread number: the current one */
    void (*take)(struct thread_states *self, const struct thread_state *interval);
};
void thread_states_open(struct thread_states *states, struct analysis *analysis,
                        void (*take)(struct thread_states *self, const struct thread_state *interval));
/* Takes a segment that the analysis wants. */
void thread_states_add(struct thread_states *states, const struct model_thread *thread, uint64_t from,
                       uint64_t to);
void thread_states_finish(struct thread_states *states);

/* One row, valid while its sink takes it. Fields that its relation lacks are zero. */
struct relation_row {
    struct relations *relations;
    const struct model_thread *thread, *other;
    uint32_t cpu; /* rank */
    uint64_t begin, end, ticks;
    const struct cursor *cursor;
    const struct model_frame *frame;
    const struct thread_state *interval;
    const struct value *cells; /* by column, of SOURCE_MADE */
    const char *const *parameters;
    const void *item; /* the object that a row of SOURCE_PROCESS and later sources lists */
    enum model_state state;
    bool is_so;
    uint64_t number;
    const char *name, *more;
};
/* Its text is valid until the next one. */
struct value value_of_label(const struct relation_row *row, const struct field *field, uint64_t number);
static inline struct value relation_value(const struct relation_row *row,
                                          const struct relation_column *column)
{
    return column->value(row, column);
}

/*
 * Names of the functions that servers offer: "fs read".
 *
 * A function is identified by the target of the call and its label. The target is the server's process, or
 * the endpoint while no server has received the call. An endpoint is named after a server that was seen on
 * it at another time.
 */
#define FUNCTION_BY_ENDPOINT (1ull << 32)

struct functions {
    const struct analysis *analysis;
    const struct field *labels;
    struct map servers; /* pid + 1, by endpoint */
};

/* Call it from the observer's `call`. */
void functions_learn(struct functions *functions, const struct model_call *call);
static inline uint64_t functions_whom(const struct model_call *call)
{
    return call->server != NULL ? call->server->pid : FUNCTION_BY_ENDPOINT | call->endpoint;
}
/* MODEL_NOBODY: unknown. */
uint32_t functions_pid(const struct functions *functions, uint64_t whom);
/* Both write to TEXT. The server's name is "fs", or "endpoint 7". */
#define FUNCTION_NAME_BYTES 128u
const char *functions_server(const struct functions *functions, uint64_t whom,
                             char text[FUNCTION_NAME_BYTES]);
const char *functions_name(const struct functions *functions, uint64_t whom, uint64_t label,
                           char text[FUNCTION_NAME_BYTES]);

/* ---- rows, given to sinks during a walk that the caller makes ---- */

struct relation_sink {
    const struct relation *relation;
    void (*take)(struct relation_sink *self, const struct relation_row *row);
    struct relation_sink *next;                  /* of the same source */
    const char *parameters[RELATION_PARAMETERS]; /* NULL: not given */
    bool is_without_idle; /* it ignores rows of idle threads, which may then be wrong */
};

struct relations {
    struct model_observer observer;
    struct analysis *analysis;
    struct relation_sink *sinks[SOURCE_STREAMS]; /* of all events, then by source */
    struct relation_sink **of_type;              /* by event index */
    struct thread_states states;
    /* for what a thread waits for, when an idle one is awake, and whether an interrupt woke a thread */
    bool needs_activities;
    struct functions functions;                    /* names of calls */
    const struct field *details[ACTIVITIES];       /* whose labels name activities */
    const struct event_type *ipi_send, *ipi_entry; /* NULL: the trace lacks them */
    const struct field *ipi_send_fields[2], *ipi_entry_fields[1];
    uint32_t statedump_class; /* UINT32_MAX: the trace lacks it */
    struct map ipis;          /* of struct pending_ipi by target and kind: sent and not yet taken */
    struct making *makings;   /* those that are wanted */
    struct fail fail;
    char *list_text;
    char text[1024];             /* of the value that was asked for last */
    const struct losses *losses; /* for SOURCE_TRACE; NULL: unknown */
    struct report *reports;      /* for SOURCE_ANOMALY, once one is asked for; in the order of time */
    size_t report_count;
};

/* ANALYSIS is open, and has the memory. Add sinks, then observe its model; after the walk, finish. */
void relations_open(struct relations *relations, struct analysis *analysis);
/* SINK's relation is of a source before SOURCE_STREAMS. */
void relations_add(struct relations *relations, struct relation_sink *sink);
bool relations_observe(struct relations *relations); /* false: `fail` says which parameters are wrong */
/* Gives the rows that have not ended, with a valid model. */
void relations_finish(struct relations *relations);
/* Fills row number NUMBER of a relation of a later source, from the finished model; false: there are no more.
 * *IS_ONE: it exists, and the filter selects it. */
bool relations_final(struct relations *relations, enum relation_source source, uint64_t number,
                     struct relation_row *row, bool *is_one);
