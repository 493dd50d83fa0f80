/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * servers/lib/servers.h - what servers/protocol/servers.def declares, as a table for init and proc.
 */
#ifndef SERVERS_LIB_SERVERS_H
#define SERVERS_LIB_SERVERS_H

#include <servers/protocol/server.h>
#include <tarn/abi.h>

enum server_flag {
    NEEDS_TRACE = 1,
    NEEDS_MACHINE = 2,
    NEEDS_ARCHIVE = 4,
    MAY_BADGE = 8, /* gets the others' endpoints without a badge, and badges them for programs */
    OPTIONAL = 16, /* the system goes on without it */
    HAS_FILES = 32 /* its handles can be open files: a child inherits them (SERVER_INHERIT) */
};

struct server_declaration {
    const char *path; /* in the archive */
    cap_t slot;
    uint32_t labels, flags;
};

#define SERVER(NAME, program, labels, flags) {"sbin/" #program, SLOT_##NAME, labels, flags},
static const struct server_declaration server_declarations[] = {
#include <servers/protocol/servers.def>
};
#undef SERVER
#define SERVER_COUNT (sizeof(server_declarations) / sizeof(server_declarations[0]))

/* Two servers with one slot or one range of labels do not compile; nor do those out of range. */
#define SERVER(NAME, program, labels, flags)                                                             \
    _Static_assert(SLOT_##NAME < SLOT_FIRST_FREE && SLOT_##NAME != SLOT_SERVICE, #NAME ": its slot");    \
    _Static_assert((labels) % 0x100 == 0 && (labels) >= SERVER_LABEL_MIN && (labels) < SERVER_LABEL_OWN, \
                   #NAME ": its labels");
#include <servers/protocol/servers.def>
#undef SERVER

static inline void check_servers_differ(uint32_t number)
{
    switch (number) {
#define SERVER(NAME, program, labels, flags) case SLOT_##NAME:
#include <servers/protocol/servers.def>
#undef SERVER
    default:
        break;
    }
    switch (number) {
#define SERVER(NAME, program, labels, flags) case labels:
#include <servers/protocol/servers.def>
#undef SERVER
    default:
        break;
    }
}

#endif
