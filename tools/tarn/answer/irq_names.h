/* SPDX-License-Identifier: BSD-2-Clause */
/* tools/tarn/answer/irq_names.h - what interrupts are called: as state_irq says, and kinds of those between
 * processors by the schema. */
#ifndef TARN_IRQ_NAMES_H
#define TARN_IRQ_NAMES_H

#include <tools/tarn/answer/answer.h>
#include <tools/tarn/answer/map.h>

#define IRQ_IPI 0x100000000ull /* in a key, to tell those between processors from the others */

struct irq_names {
    struct map names;              /* char * by number */
    const struct event_type *type; /* state_irq; NULL: there is none that can be read */
    const struct field *irq, *name, *kinds;
};

void irq_names_open(struct irq_names *names, const struct answer *answer);
void irq_names_close(struct irq_names *names);
void irq_names_learn(struct irq_names *names, const struct event *event);
static inline void irq_names_event(struct irq_names *names, const struct event *event)
{
    if (__builtin_expect(event->type == names->type, 0))
        irq_names_learn(names, event);
}

/* The number of the interrupt, or IRQ_IPI and its kind. */
static inline uint64_t irq_key(const struct model_frame *frame)
{
    return frame->kind == ACTIVITY_IPI ? IRQ_IPI | frame->detail : frame->detail;
}
const char *irq_name(const struct irq_names *names, uint64_t key, char text[ANSWER_NAME_BYTES]);

#endif
