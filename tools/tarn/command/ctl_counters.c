/* SPDX-License-Identifier: BSD-2-Clause */
/* ctl_counters.c - hardware counters of a guest. Interface: ctl_counters.h. */
#include <stdio.h>
#include <string.h>
#include <tools/tarn/command/ctl_counters.h>

static void copy_text(char *to, const uint8_t *from, size_t size)
{
    memcpy(to, from, size - 1);
    to[size - 1] = '\0';
    for (char *at = to; *at != '\0'; at++)
        if (*at < ' ' || *at > '~' || *at == '"' || *at == '\\')
            *at = '?';
}

/* The reason why there are none follows the counters. */
static bool has_none(const uint8_t *data, size_t size, struct fail *fail)
{
    char reason[WIRE_COUNTER_REASON_BYTES] = "it gives no reason";

    if (size >= WIRE_COUNTER_REASON_BYTES)
        copy_text(reason, data, sizeof(reason));
    return fail_set(fail, "the guest's CPUs have no hardware counters that the system can use: %s", reason);
}

bool counters_ask(struct source *source, struct counter_list *counters, struct fail *fail)
{
    const struct wire_request request = {.operation = WIRE_OP_COUNTERS};
    struct source_reply reply;
    const uint8_t *data;

    if (!source_control(source, &request, "", &reply, fail))
        return false;
    data = reply.data;
    counters->count = reply.size >= 8 ? wire_get32(data) : UINT32_MAX;
    if (counters->count > WIRE_COUNTERS_MAX || reply.size < 8 + counters->count * WIRE_COUNTER_BYTES)
        return fail_set(fail, "the guest's list of counters is invalid");
    data += 8;
    if (counters->count == 0)
        return has_none(data, reply.size - 8, fail);
    for (uint32_t i = 0; i < counters->count; i++, data += WIRE_COUNTER_BYTES) {
        counters->counter[i] = (struct wire_counter){wire_get32(data), wire_get32(data + 4),
                                                     wire_get32(data + 8), wire_get32(data + 12), ""};
        copy_text(counters->counter[i].name, data + 16, WIRE_COUNTER_NAME_BYTES);
    }
    return true;
}

void counters_print_json(const struct counter_list *counters)
{
    printf("{\"counters\": [");
    for (uint32_t i = 0; i < counters->count; i++) {
        const struct wire_counter *counter = &counters->counter[i];

        printf("%s{\"name\": \"%s\", \"number\": %u, \"bits\": %u, \"slot\": ", i ? ", " : "", counter->name,
               counter->number, counter->bits);
        printf(counter->slot != 0 ? "%u" : "null", counter->slot - 1);
        printf(", \"samples\": %s}", counter->samples ? "true" : "false");
    }
    printf("]}\n");
}
