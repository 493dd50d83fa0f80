/*
 * key_names.h - names for the keys of tables of counters: lock classes, routines.
 *
 * A key is recognised by its name in trace/schema: lock_class, pid, what, routine. Names come from the guest:
 * of lock classes over a link, of routines always. A trace with rows (log_rows.c) has more.
 */
#pragma once

#include <tools/tarn/symbols/symbols.h>
#include <tools/tarn/tables/moment.h>

struct key_names {
    struct lock_class_name {
        uint32_t number;
        char name[WIRE_LOCK_NAME_BYTES]; /* printable */
    } classes[WIRE_LOCK_CLASSES_MAX];    /* a running guest's, over a link */
    uint32_t class_count;
    struct symbols *symbols;
    const struct routines *routines; /* NULL: not of routines */
    bool knows_arguments;            /* of routines, because the guest has the schema of this program */
};

#define KEY_NAME_BYTES SYMBOL_NAME_BYTES

/* Asks SOURCE for the names that it can give. */
void key_names_open(struct key_names *names, struct source *source);
/* Of routines. PATH: where executables are searched, which name functions of programs; NULL: only in the
 * default places. */
void key_names_open_routines(struct key_names *names, const struct routines *routines, const char *path);
void key_names_close(struct key_names *names);
/* Returns the name of a key's value; NULL: it has none. The result is in TEXT, or constant. */
const char *key_name(const struct key_names *names, const char *key, uint64_t value,
                     char text[KEY_NAME_BYTES]);

/* Returns the name of a routine, without its context, or that of the context; NULL: it has none. */
const char *routine_name(const struct key_names *names, uint64_t key, char text[KEY_NAME_BYTES]);
const char *context_name(const struct key_names *names, uint64_t key, char text[KEY_NAME_BYTES]);

/* Makes the directory if there is none, and writes a file of TAU for each table of routines. False: FAIL. */
bool write_tau(const struct routines *routines, const struct key_names *names, const char *directory,
               struct fail *fail);
