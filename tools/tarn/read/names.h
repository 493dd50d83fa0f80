/*
 * names.h - names of processes, of the locks to which programs gave one, and of interrupts.
 *
 * Those of processes are learned here. Until an event names a process, it has the name of the first of its
 * threads that an event names. Process 0 is the kernel.
 */
#pragma once

#include <tools/tarn/map.h>
#include <tools/tarn/read/decode.h>

#define NAMES_MAX     131072u
#define NAMES_OF_IRQS (UINT32_MAX - 1) /* as pid; in place of an address, the interrupt's number */

#define NAME_SOURCES 10u

struct name_source {
    const struct field *pid, *name;
    bool is_thread; /* a thread's name: used only while the process has none */
};

struct names {
    struct name_source sources[NAME_SOURCES];
    uint16_t *told_by; /* by event index: a bit for each source in the event */
    struct map table;  /* of struct known_name, by pid and thing */
    uint64_t changes;  /* how many times a new name was learned */
};

struct known_name {
    uint64_t thing; /* 0: the process */
    uint32_t pid;
    bool is_changed; /* a reader sets it to false */
    char name[35];   /* empty: no name any more */
};

void names_open(struct names *names, const struct schema *schema);
void names_close(struct names *names);
/* The name of a thing of a process; of the process; NULL: unknown. */
const char *names_of(const struct names *names, uint32_t pid, uint64_t thing);
static inline const char *names_find(const struct names *names, uint32_t pid)
{
    return names_of(names, pid, 0);
}
/* NAME is LENGTH bytes, or ends earlier with a NUL. */
void names_set(struct names *names, uint32_t pid, uint64_t thing, const char *name, size_t length);
void names_copy(struct names *to, const struct names *from);
void names_learn_from(struct names *names, const struct event *event);
/* Returns the name that SOURCE's event contains (of a path, the last component), not NUL-terminated, and its
 * process. NULL: none. */
const char *names_told(const struct name_source *source, const struct event *event, uint32_t *pid,
                       size_t *length);

static inline void names_learn(struct names *names, const struct event *event)
{
    if (__builtin_expect(names->told_by[event->type->index] != 0, 0))
        names_learn_from(names, event);
}
