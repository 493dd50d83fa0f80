/* SPDX-License-Identifier: BSD-2-Clause */
/* irq_names.c - names of interrupts; see irq_names.h. */
#include <inttypes.h>
#include <stdio.h>
#include <tools/tarn/answer/irq_names.h>

void irq_names_open(struct irq_names *names, const struct answer *answer)
{
    names->model = answer->model;
    names->kinds = model_detail_field(&answer->trace->schema, ACTIVITY_IPI);
}

const char *irq_name(const struct irq_names *names, uint64_t key, char text[ANSWER_NAME_BYTES])
{
    const char *known;
    char number[ANSWER_NAME_BYTES];

    if ((key & IRQ_IPI) != 0) {
        snprintf(text, ANSWER_NAME_BYTES, "ipi %.40s", label_of(names->kinds, key & ~IRQ_IPI, number));
        return text;
    }
    known = model_irq_name(names->model, (uint32_t)key);
    snprintf(text, ANSWER_NAME_BYTES, "irq %" PRIu64 "%s%.40s", key, known ? " " : "", known ? known : "");
    return text;
}
