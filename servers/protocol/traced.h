/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * traced.h - requests to the trace server (SLOT_TRACED). For conventions see server.h.
 *
 * Programs in the guest control the trace by system calls (SLOT_TRACE, <tarn/trace_control.h>). From traced
 * they only query the state of the links to hosts. For the protocol on those links see trace/format/WIRE.md.
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
};

#endif
