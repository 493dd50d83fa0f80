/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * servers/protocol/traced.h - requests to the trace server (SLOT_TRACED). Conventions: server.h.
 *
 * Programs in the guest control the trace by system calls (SLOT_TRACE, <tarn/trace_control.h>); here they
 * only ask how the links to the host are doing. Hosts talk to traced over links: trace/format/WIRE.md.
 */
#ifndef SERVERS_PROTOCOL_TRACED_H
#define SERVERS_PROTOCOL_TRACED_H

#include <servers/protocol/server.h>

enum {
    /* -> word[0] = 1 while a pull runs, [1] = packets sent since boot, [2] = bytes sent, [3] = packets lost
     * (overwritten before they were sent), [4] = connections now */
    TRACED_STATUS = 0x500,
};

#endif
