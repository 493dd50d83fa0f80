/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace/gen/hash.c - computes a schema's UUID: SHA-1 of its canonical text, cut and marked as an RFC 4122
 * version 5 UUID.
 *
 * The canonical text is the events' and the tables' part of the metadata: the UUID changes when the layout of
 * bytes changes, not when a description does. Of an application's class it has also which events can be
 * limited, because the kernel takes that from the descriptor, and takes each UUID for one descriptor. sha1sum
 * (coreutils) computes the hash.
 */
#include "model.h"

#include <stdlib.h>
#include <unistd.h>

static void emit_app_limits(FILE *out, const struct schema *schema)
{
    for (unsigned i = 0; i < schema->class_count; i++)
        for (unsigned k = 0; schema->classes[i].number < 0 && k < schema->classes[i].event_count; k++) {
            const struct event *event = &schema->classes[i].events[k];
            if (event->limit >= 0)
                fprintf(out, "%s limited %s\n", event->full_name, event->above ? event->above : "");
        }
}

void hash_schema(struct schema *schema)
{
    FILE *text = tmpfile(), *sum;
    if (!text)
        abort();
    emit_events_tsdl(text, schema);
    emit_tables_tsdl(text, schema, false);
    emit_app_limits(text, schema);
    rewind(text);
    if (dup2(fileno(text), STDIN_FILENO) < 0 || !(sum = popen("sha1sum", "r")))
        abort();
    for (unsigned i = 0; i < 16; i++)
        if (fscanf(sum, "%2hhx", &schema->uuid[i]) != 1)
            abort(); /* there is no sha1sum */
    pclose(sum);
    fclose(text);
    schema->uuid[6] = (schema->uuid[6] & 0x0f) | 0x50;
    schema->uuid[8] = (schema->uuid[8] & 0x3f) | 0x80;
}

void format_uuid(char out[37], const uint8_t uuid[16])
{
    for (unsigned i = 0; i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            *out++ = '-';
        snprintf(out, 3, "%02x", uuid[i]);
        out += 2;
    }
}
