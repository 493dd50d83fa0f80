/*
 * traced.h - requests to the trace server (SLOT_TRACED). For conventions see server.h.
 *
 * Programs in the guest control the trace by system calls (SLOT_TRACE, <tarn/trace_control.h>). traced closes
 * connections over the loopback that were not admitted, so that no program without authority controls the
 * trace as a host does. For the protocol on the links to hosts see trace/format/WIRE.md.
 */
#pragma once

#include <servers/protocol/server.h>

enum {
    /* The machine is about to be switched off. Sends the host of a pull the rest, and replies when that host
     * has left, or receives no more. cap[0]: the machine, with RIGHT_MANAGE; else -EPERM */
    TRACED_GOODBYE = 0x500,
    /* The next connection from port word[0] of this machine is served as a host's. cap[0]: the trace, with
     * RIGHT_READ and RIGHT_WRITE; else -EPERM. Only the last 16 ports that are not used yet count. */
    TRACED_ADMIT,
};
