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
    /* Sets functions of making->observer; memory is the analysis's. Sets relations->fail if it cannot open
     * with these parameters. */
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

/* A column may have a `value` of its own, if only some readers want it. */
/* clang-format off */
#define MADE_COLUMN(name_, unit_, text_) {.name = (name_), .text = (text_), .unit = (unit_)}
/* They come last, and rows have no cells for them. The maker gets the value of a condition `= 'value'`. */
#define MADE_PARAMETER(name_, number_, text_) \
    {.name = (name_), .text = (text_), .unit = UNIT_TEXT, .parameter = (number_) + 1}
#define MADE_RELATION(name_, text_, columns_) \
    {(name_), (text_), (columns_), sizeof(columns_) / sizeof((columns_)[0])}
/* clang-format on */

/* Gives a row of relation number WHICH that began at BEGIN (ticks). */
void making_give(struct making *making, unsigned which, uint64_t begin, const struct value *cells);
/* The same with each cell as an argument. */
#define MAKING_GIVE(making, which, begin, ...) \
    making_give(making, which, begin, (const struct value[]){__VA_ARGS__})

static inline struct value value_of_thread(const struct model_thread *thread)
{
    return VALUE_IF(thread != NULL, VALUE_NUMBER(thread->number));
}

extern const struct maker counted_maker, lock_maker, time_use_maker, interval_maker, scheduling_maker,
    noise_maker, ipc_maker, ipc_path_maker, sample_maker;
