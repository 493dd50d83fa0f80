/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * key_names.h - names for the keys of tables of counters: lock classes, processes, locks, functions.
 *
 * A key is recognised by its name in trace/schema: lock_class, pid, lock, site, what, routine. Names come
 * from the guest (lock classes, over a link; routines of programs) and from a trace of the same system, if
 * there is one.
 */
#ifndef TARN_TABLES_KEY_NAMES_H
#define TARN_TABLES_KEY_NAMES_H

#include <tools/tarn/model/model.h>
#include <tools/tarn/symbols/symbols.h>
#include <tools/tarn/tables/routines.h>

/* A running guest's, asked for over a link. */
struct lock_classes {
    uint32_t count;
    struct wire_lock_class class[WIRE_LOCK_CLASSES_MAX]; /* names are printable */
};

struct key_names {
    struct lock_classes classes; /* the guest's; none: not asked */
    bool has_trace;
    struct trace trace;
    struct model model;
    struct symbols *symbols;
    const struct routines *routines; /* NULL: not of routines */
    bool knows_arguments;            /* of routines, because the guest has the schema of this program */
};

#define KEY_NAME_BYTES SYMBOL_NAME_BYTES

/* Reads the names that SOURCE can give, and those of the trace in DIRECTORY (NULL: none). PATH: where to
 * search executables first, or NULL. False: FAIL, and nothing to close. */
bool key_names_open(struct key_names *names, struct source *source, const char *directory, const char *path,
                    struct fail *fail);
/* Of routines. PATH: where executables are searched, which name functions of programs; NULL: only in the
 * default places. */
void key_names_open_routines(struct key_names *names, const struct routines *routines, const char *path);
void key_names_close(struct key_names *names);
/* Returns the name of a key's value; NULL: it has none. PID is that of the row, 0 if it has none. The result
 * is in TEXT, or constant. */
const char *key_name(struct key_names *names, const char *key, uint64_t value, uint32_t pid,
                     char text[KEY_NAME_BYTES]);

/* Returns the name of a routine, without its context, or that of the context; NULL: it has none. */
const char *routine_name(const struct key_names *names, uint64_t key, char text[KEY_NAME_BYTES]);
const char *context_name(const struct key_names *names, uint64_t key, char text[KEY_NAME_BYTES]);

#endif
