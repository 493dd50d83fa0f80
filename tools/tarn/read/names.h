/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/read/names.h - names of processes, learned from the events that tell them.
 *
 * state_process, process_rename and process_exec name a process. Until one of them does, a process is called
 * like its first thread that an event names. Process 0 is the kernel. A hash table from pid to name; the
 * number of processes it remembers is bounded.
 */
#ifndef TARN_NAMES_H
#define TARN_NAMES_H

#include <tools/tarn/read/decode.h>

#define NAMES_MAX 65536u

#define NAME_SOURCES 9u

/* An event that tells a name, and of which process. */
struct name_source {
    const struct field *pid, *name;
    bool is_thread; /* it is a thread's: counts only while the process has none */
};

struct names {
    struct name_source sources[NAME_SOURCES];
    uint16_t *told_by;          /* by event index: a bit for each source in such an event */
    struct process_name *table; /* open addressing */
    uint32_t size, count;
    uint64_t changes; /* times that a name was told that was not known */
};

struct process_name {
    uint32_t pid;
    bool is_used;
    bool is_changed; /* since somebody last set it to false */
    char name[32];
};

void names_open(struct names *names, const struct schema *schema);
void names_close(struct names *names);
const char *names_find(const struct names *names, uint32_t pid); /* NULL: never told */
void names_set(struct names *names, uint32_t pid, const char *name, size_t length);
void names_learn_from(struct names *names, const struct event *event);
/* The name that a source tells in its event, without an end, and of which process: of a path, the last part.
 * NULL: none. */
const char *names_told(const struct name_source *source, const struct event *event, uint32_t *pid,
                       size_t *length);

static inline void names_learn(struct names *names, const struct event *event)
{
    if (__builtin_expect(names->told_by[event->type->index] != 0, 0))
        names_learn_from(names, event);
}

#endif
