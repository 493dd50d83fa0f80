/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/names.h - names of processes, learned from the events that tell them.
 *
 * state_process, process_rename and process_exec name a process. A hash table from pid to name; the number
 * of processes it remembers is bounded.
 */
#ifndef TARN_NAMES_H
#define TARN_NAMES_H

#include <tools/tarn/decode.h>

#define NAMES_MAX 65536u

struct name_source {
    const struct event_type *type;
    const struct field *pid, *name;
};

struct names {
    struct name_source sources[3];
    struct process_name *table; /* open addressing */
    uint32_t size, count;
};

struct process_name {
    uint32_t pid;
    bool is_used;
    char name[32];
};

void names_open(struct names *names, const struct schema *schema);
void names_close(struct names *names);
const char *names_find(const struct names *names, uint32_t pid); /* NULL: never told */
void names_set(struct names *names, uint32_t pid, const char *name, size_t length);
void names_learn_from(struct names *names, const struct name_source *source, const struct event *event);

static inline void names_learn(struct names *names, const struct event *event)
{
    for (unsigned i = 0; i < 3; i++)
        if (__builtin_expect(event->type == names->sources[i].type, 0))
            names_learn_from(names, &names->sources[i], event);
}

#endif
