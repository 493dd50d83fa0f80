/*
 * pairs.h - which end event belongs to a begin event: the language of `tarn intervals`, and of triggers.
 *
 * Two events belong together if they have equal values in chosen fields and, optionally, come from the same
 * thread, process or CPU.
 */
#pragma once

#include <tools/tarn/read/decode.h>

#define MATCHES_MAX 4u

/* The thing that begin and end of an interval must share. */
enum same { SAME_ANY, SAME_THREAD, SAME_PROCESS, SAME_CPU };

/* The parts of a description, as text; NULL: not given. */
enum pair_part { PAIR_BEGIN, PAIR_END, PAIR_MATCH, PAIR_SAME, PAIR_GROUP, PAIR_NAME, PAIR_PARTS };

/* The names of all presets. */
#define PAIR_PRESETS                                                                                        \
    "stopwatch, fs, ipc, ipc-wait, ipc-serve, libc, process, thread, shootdown, syscall, fault, irq, ipi, " \
    "timer"

struct match {
    const struct field *begin, *end;
};

/* For one schema. */
struct pair {
    const struct event_type *begin, *end;
    enum same same;
    struct match matches[MATCHES_MAX];
    unsigned match_count;
};

/* The values that the two events share; they do not depend on the schema. */
struct pair_key {
    uint64_t first, others; /* values of matched fields */
    uint64_t whom;          /* thread, process or CPU */
};

/* Fills in what PARTS leave open; false: there is no such preset. */
bool pair_preset(const char *parts[PAIR_PARTS], const char *name);
/* PARTS have a begin and an end. */
bool pair_resolve(struct pair *pair, const struct schema *schema, const char *const parts[PAIR_PARTS],
                  struct fail *fail);
/* WHOM: EVENT's thread, process or CPU, as pair->same selects. */
struct pair_key pair_key(const struct pair *pair, const struct event *event, bool is_begin, uint64_t whom);

bool pair_is_comparable(const struct field *field);
bool pair_field(const struct event_type *type, const char *name, size_t length, const struct field **field,
                struct fail *fail);
/* Texts are represented by their hash. */
uint64_t pair_value(const struct field *field, const struct event *event);
