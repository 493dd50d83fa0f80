/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * traced.h - requests to the trace server (SLOT_TRACED). For conventions see server.h.
 *
 * Programs in the guest control the trace by system calls (SLOT_TRACE, <tarn/trace_control.h>). From traced
 * they only query the state of the links to hosts: traced closes connections over the loopback, so that no
 * program without authority controls the trace as a host does, unless they are admitted. For the protocol on
 * those links see trace/format/WIRE.md.
 */
#ifndef SERVERS_PROTOCOL_TRACED_H
#define SERVERS_PROTOCOL_TRACED_H

#include <servers/protocol/server.h>

enum {
    /* -> word[0] = 1 while a pull runs, [1] = packets sent since boot, [2] = bytes sent, [3] = packets lost
     * (overwritten before they were sent), [4] = open connections */
    TRACED_STATUS = 0x500,
    /* The machine is about to be switched off. Sends the host of a pull the rest, and replies when that host
     * has left, or receives no more. cap[0]: the machine, with RIGHT_MANAGE; else -EPERM */
    TRACED_GOODBYE,
    /* The next connection from port word[0] of this machine is served as a host's. cap[0]: the trace, with
     * RIGHT_READ and RIGHT_WRITE; else -EPERM. Only the last 16 ports that are not used yet count. */
    TRACED_ADMIT,
};

#endif
