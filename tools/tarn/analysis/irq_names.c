/* SPDX-License-Identifier: BSD-2-Clause */
/* irq_names.c - names of interrupts; see irq_names.h. */
#include <inttypes.h>
#include <stdio.h>
#include <tools/tarn/analysis/irq_names.h>

void irq_names_open(struct irq_names *names, const struct analysis *analysis)
{
    names->model = analysis->model;
    names->kinds = model_detail_field(&analysis->trace->schema, ACTIVITY_IPI);
}

const char *irq_name(const struct irq_names *names, uint64_t key, char text[ANALYSIS_NAME_BYTES])
{
    const char *known;
    char number[ANALYSIS_NAME_BYTES];

    if ((key & IRQ_IPI) != 0) {
        snprintf(text, ANALYSIS_NAME_BYTES, "ipi %.40s", label_of(names->kinds, key & ~IRQ_IPI, number));
        return text;
    }
    known = model_irq_name(names->model, (uint32_t)key);
    snprintf(text, ANALYSIS_NAME_BYTES, "irq %" PRIu64 "%s%.40s", key, known ? " " : "", known ? known : "");
    return text;
}
