/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probe.h - finds out whether a guest that is silent was reset.
 *
 * A connection through QEMU's user network outlives the guest: after a reset nobody closes it, and nothing
 * comes through it ever again. So after a second of silence a second connection is made, again and again; the
 * HELLO on it tells the boot. A link without connections shows a new boot by itself.
 */
#ifndef TARN_PROBE_H
#define TARN_PROBE_H

#include <tools/tarn/source/link.h>

struct probe {
    const char *address;
    const struct link_class *link; /* NULL: no probe is needed */
    struct link connection;        /* its buffer is NULL: there is none */
    double next;                   /* no earlier than that: now_seconds() */
};

void probe_open(struct probe *probe, const struct source *source, const char *name);
/* Call it often while nothing comes; HEARD: when something came last. It never waits. True: HELLO came. */
bool probe_step(struct probe *probe, double heard, struct wire_hello *hello);
void probe_close(struct probe *probe);

#endif
