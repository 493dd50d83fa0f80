/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/goto/places.h - where a journey reads the guest's memory: the rings' indexes, and the words of
 * the event.
 *
 * The boot processor's first events are committed in a ring in the kernel's image, and copied into its own
 * ring later (kernel/trace/rings.c). They are met where they are committed, not where they are copied.
 */
#ifndef TARN_GOTO_PLACES_H
#define TARN_GOTO_PLACES_H

#include <tools/tarn/command/recipe.h>
#include <tools/tarn/goto/aim.h>
#include <tools/tarn/goto/checkpoint.h>
#include <tools/tarn/source/memory.h>

/* Of words of the guest's memory. */
struct places {
    uint64_t store;  /* its magic word: it stands there once the rings are made */
    bool is_at_boot; /* the event is in the ring of the kernel's image, which is there before */
    uint64_t indexes[CHECKPOINT_CPUS]; /* how far the processors' rings are filled: words since boot */
    unsigned cpus;                     /* that have one; 0 if they are too many */
    uint64_t index;                    /* the one of the event's processor */
    uint64_t packet;                   /* the number of the packet that has the event's buffer */
    uint64_t count;                    /* of words that are committed to it */
    uint64_t event;
};

/* False: the guest has not come so far, or its rings are not those of the trace. MEMORY may be NULL. */
bool places_find(struct places *places, struct memory *memory, const struct recipe *recipe,
                 const struct aim *aim);

#endif
