/*
 * maker.h - relations whose rows a module makes: what a sum cannot say, such as who held a lock meanwhile.
 *
 * A maker observes the model itself, and only if somebody wants one of its relations. It gives rows during
 * the walk or at its end. A row's cells are the values of the relation's columns, in their order.
 */
#pragma once

#include <tools/tarn/relation/relation.h>

#define MAKER_RELATIONS 4u

struct maker {
    struct made_relation {
        const char *name, *text;
        const struct relation_column *columns;
        unsigned column_count;
    } relations[MAKER_RELATIONS]; /* ended by a NULL name */
    size_t size;                  /* of its state, which begins with struct making */
    struct model_observer observer;
    /* May set more functions of making->observer; memory is the analysis's. Sets relations->fail if it cannot
     * open with these parameters. */
    void (*open)(struct making *making);
    void (*finish)(struct making *making); /* after the walk, with a valid model; or NULL */
};

/* The state of a maker during a walk. */
struct making {
    struct model_observer observer;
    const struct maker *maker;
    struct relations *relations;
    struct analysis *analysis;
    struct relation_sink *sinks[MAKER_RELATIONS]; /* NULL: nobody wants that relation */
    const char *const *parameters;                /* RELATION_PARAMETERS; NULL: not given */
    struct making *next;
};
/* The state of type TYPE, which contains the observer SELF. */
#define MAKING_OF(self, type) ((type *)(void *)(self))

/*
 * A relation is declared as a list of columns with their cells:
 *     #define RUN_COLUMNS(C) C("cpu", NUMBER, NUMBER(cpu), "the CPU's number") ...
 * Its maker gives RUN_COLUMNS(CELL_OF), computed from variables that are there. A column that is
 * LAZY(function), because only some readers want it, and a PARAMETER(number, unit) have the cell NOTHING.
 * Parameters come last: the maker gets the value of a condition `= 'value'`.
 */
/* clang-format off */
#define COLUMN_OF(name_, unit_, cell_, text_) {.name = (name_), .text = (text_), .unit = UNIT_##unit_},
#define CELL_OF(name_, unit_, cell_, text_)   cell_,
#define UNIT_LAZY(function)                   UNIT_TEXT, .value = (function)
#define UNIT_PARAMETER(number, unit)          UNIT_##unit, .parameter = (number) + 1
#define MADE_RELATION(name_, text_, list_)                                     \
    {(name_), (text_), (const struct relation_column[]){list_(COLUMN_OF)},     \
     sizeof((const struct relation_column[]){list_(COLUMN_OF)}) / sizeof(struct relation_column)}
/* clang-format on */
#define IF        VALUE_IF
#define NUMBER    VALUE_NUMBER
#define STRING    value_text
#define SIGNED(n) VALUE_OF(VALUE_SIGNED, n)
#define HEX(n)    VALUE_OF(VALUE_HEX, n)
#define WHEN(t)   VALUE_OF(VALUE_WHEN, t)
#define SPAN(t)   VALUE_TICKS(t, 0)
#define THREAD_OF value_of_thread

void making_give(struct making *making, unsigned which, uint64_t begin, const struct value *cells);
/* Gives a row of relation number WHICH, which has the columns of LIST, that began at BEGIN (ticks). */
#define MAKING_GIVE(making, which, begin, list) \
    making_give(making, which, begin, (const struct value[]){list(CELL_OF)})

static inline struct value value_of_thread(const struct model_thread *thread)
{
    return VALUE_IF(thread != NULL, VALUE_NUMBER(thread->number));
}

extern const struct maker counted_maker, lock_maker, time_use_maker, interval_maker, scheduling_maker,
    noise_maker, ipc_maker, ipc_path_maker, sample_maker;
