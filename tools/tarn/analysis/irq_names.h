/* SPDX-License-Identifier: BSD-2-Clause */
/* irq_names.h - names of interrupts, from the trace, and
 * of kinds of inter-processor interrupts, from the schema. */
#ifndef TARN_IRQ_NAMES_H
#define TARN_IRQ_NAMES_H

#include <tools/tarn/analysis/analysis.h>

#define IRQ_IPI 0x100000000ull /* marks an inter-processor interrupt in a key */

struct irq_names {
    const struct model *model;
    const struct field *kinds;
};

void irq_names_open(struct irq_names *names, const struct analysis *analysis);

/* Returns the interrupt's number, or IRQ_IPI and its kind. */
static inline uint64_t irq_key(const struct model_frame *frame)
{
    return frame->kind == ACTIVITY_IPI ? IRQ_IPI | frame->detail : frame->detail;
}
const char *irq_name(const struct irq_names *names, uint64_t key, char text[ANALYSIS_NAME_BYTES]);

#endif
