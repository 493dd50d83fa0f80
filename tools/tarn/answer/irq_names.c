/* SPDX-License-Identifier: BSD-2-Clause */
/* tools/tarn/answer/irq_names.c - what interrupts are called; see irq_names.h. */
#include <inttypes.h>
#include <stdio.h>
#include <tools/tarn/answer/irq_names.h>

void irq_names_open(struct irq_names *names, const struct answer *answer)
{
    map_open(&names->names, sizeof(char *));
    names->kinds = model_detail_field(&answer->trace->schema, ACTIVITY_IPI);
    names->irq = answer_field(answer, "state_irq", "irq");
    names->name = answer_field(answer, "state_irq", "name");
    if (names->irq != NULL && names->name != NULL &&
        (names->name->kind == FIELD_STRING || names->name->kind == FIELD_TEXT))
        names->type = schema_find_event(&answer->trace->schema, "state_irq");
}

void irq_names_close(struct irq_names *names)
{
    map_close(&names->names);
}

void irq_names_learn(struct irq_names *names, const struct event *event)
{
    const char **name = map_at(&names->names, field_integer(names->irq, event->bytes), 0, 0);

    if (*name == NULL)
        *name = arena_string(&names->names.arena, (const char *)event->bytes + names->name->offset,
                             field_text_length(names->name, event));
}

const char *irq_name(const struct irq_names *names, uint64_t key, char text[ANSWER_NAME_BYTES])
{
    const char *const *known;
    char number[ANSWER_NAME_BYTES];

    if ((key & IRQ_IPI) != 0) {
        snprintf(text, ANSWER_NAME_BYTES, "ipi %.40s", label_of(names->kinds, key & ~IRQ_IPI, number));
        return text;
    }
    known = map_find(&names->names, key, 0, 0);
    snprintf(text, ANSWER_NAME_BYTES, "irq %" PRIu64 "%s%.40s", key, known ? " " : "", known ? *known : "");
    return text;
}
