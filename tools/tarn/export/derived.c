/* SPDX-License-Identifier: BSD-2-Clause */
/* derived.c - fields in ticks, converted to nanoseconds; see derived.h. */
#include <string.h>
#include <tools/tarn/export/derived.h>

static const struct {
    const char *event, *field, *column;
} known[] = {
    {"fault_exit", "duration", "duration_ns"}, {"tlb_shootdown_end", "duration", "duration_ns"},
    {"lock_contended", "wait", "wait_ns"},     {"lock_held", "held", "held_ns"},
    {"profile_sample", "busy", "busy_ns"},     {"profile_sample", "late", "late_ns"},
    {"profile_rate", "period", "period_ns"},
};

unsigned derived_columns(const struct event_type *type, struct derived columns[DERIVED_MAX])
{
    unsigned count = 0;

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]) && count < DERIVED_MAX; i++) {
        const struct field *field =
            strcmp(known[i].event, type->name) == 0 ? schema_find_field(type, known[i].field) : NULL;

        if (field != NULL && field->kind == FIELD_INTEGER && schema_find_field(type, known[i].column) == NULL)
            columns[count++] = (struct derived){field, known[i].column};
    }
    return count;
}
