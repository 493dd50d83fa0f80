/* SPDX-License-Identifier: BSD-2-Clause */
/* probe.c - a second connection to a silent guest; see probe.h. */
#include <string.h>
#include <tools/tarn/source/probe.h>

#define SILENT_SECONDS 1.0 /* the guest reports its losses twice a second */
#define RETRY_SECONDS  0.3

void probe_open(struct probe *probe, const struct source *source, const char *name)
{
    const struct link_class *link = source->class->link;

    *probe = (struct probe){.address = strchr(name, ':') + 1,
                            .link = link != NULL && link->start_with == LINK_BEGINS ? link : NULL};
}

void probe_close(struct probe *probe)
{
    if (probe->connection.buffer != NULL)
        link_close(&probe->connection);
}

bool probe_step(struct probe *probe, double heard, struct wire_hello *hello)
{
    const double now = now_seconds();
    struct wire_frame frame;
    const uint8_t *payload;
    struct fail fail;
    enum source_got got;

    if (probe->link == NULL || now - heard < SILENT_SECONDS) {
        probe_close(probe);
        return false;
    }
    if (probe->connection.buffer == NULL) {
        int fd = now >= probe->next ? probe->link->connect(probe->address, &fail) : -1;

        probe->next = now >= probe->next ? now + RETRY_SECONDS : probe->next;
        if (fd >= 0)
            link_open(&probe->connection, fd, LINK_BEGINS);
        return false;
    }
    got = link_receive(&probe->connection, &frame, &payload, 0, &fail);
    if (got == SOURCE_NOTHING)
        return false;
    if (got == SOURCE_ITEM && frame.type == WIRE_HELLO && frame.length >= WIRE_HELLO_BYTES)
        wire_get_hello(payload, hello);
    else
        got = SOURCE_BROKEN;
    probe_close(probe);
    probe->next = now + RETRY_SECONDS;
    return got == SOURCE_ITEM && check_hello(hello, &fail);
}
