/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/goto/places.h - the words of the guest's memory that a journey watches.
 *
 * The boot CPU's first events are committed to a ring in the kernel's executable, and copied into the CPU's
 * own ring later (kernel/trace/rings.c). The journey goes to where they are committed.
 */
#ifndef TARN_GOTO_PLACES_H
#define TARN_GOTO_PLACES_H

#include <tools/tarn/command/recipe.h>
#include <tools/tarn/goto/aim.h>
#include <tools/tarn/source/memory.h>
#include <trace/format/layout.h>

/* Offsets in the guest's memory. */
struct places {
    uint64_t store;  /* of its magic word, which is there once the rings exist */
    bool is_at_boot; /* the event is in the boot ring, which always exists */
    uint64_t index;  /* that of the event's CPU */
    uint64_t event;
    uint64_t count; /* the words committed to its packet */
};

/* Whether a ring's index means that more than WORDS words are reserved. */
static inline bool places_passed(uint64_t index, uint64_t words)
{
    return trace_index_words(index) + (index >> 63) > words;
}
/* False: the rings do not exist yet, or are not those of the trace. MEMORY may be NULL. */
bool places_find(struct places *places, struct memory *memory, const struct recipe *recipe,
                 const struct aim *aim);

#endif
