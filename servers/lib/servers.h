/* servers.h - the table of servers from servers/protocol/servers.def, for init and proc. */
#pragma once

#include <servers/protocol/server.h>
#include <tarn/abi.h>

enum server_flag {
    NEEDS_TRACE = 1,
    NEEDS_MACHINE = 2, /* all of it, for programs that proc starts */
    NEEDS_ARCHIVE = 4,
    MAY_BADGE = 8,      /* gets the other servers' endpoints unbadged, and badges them for programs */
    OPTIONAL = 16,      /* the system runs without it */
    HAS_FILES = 32,     /* its handles can be open files, which children inherit (SERVER_INHERIT) */
    NEEDS_CONSOLE = 64, /* the machine, but only its raw console */
};

struct server_declaration {
    const char *path; /* in the archive */
    cap_t slot;       /* its endpoint with the right to call, in all processes */
    uint32_t labels, flags, device;
};

#define SERVER(NAME, program, labels, flags, device) {"sbin/" #program, SLOT_##NAME, labels, flags, device},
static const struct server_declaration server_declarations[] = {
#include <servers/protocol/servers.def>
};
#undef SERVER
#define SERVER_COUNT (sizeof(server_declarations) / sizeof(server_declarations[0]))

/* Compilation fails if two servers share a slot or a label range, or if either is out of range. */
#define SERVER(NAME, program, labels, flags, device)                                                     \
    _Static_assert(SLOT_##NAME < SLOT_FIRST_FREE && SLOT_##NAME != SLOT_SERVICE, #NAME ": its slot");    \
    _Static_assert((labels) % 0x100 == 0 && (labels) >= SERVER_LABEL_MIN && (labels) < SERVER_LABEL_OWN, \
                   #NAME ": its labels");
#include <servers/protocol/servers.def>
#undef SERVER

static inline void check_servers_differ(uint32_t number)
{
    switch (number) {
#define SERVER(NAME, program, labels, flags, device) case SLOT_##NAME:
#include <servers/protocol/servers.def>
#undef SERVER
    default:
        break;
    }
    switch (number) {
#define SERVER(NAME, program, labels, flags, device) case labels:
#include <servers/protocol/servers.def>
#undef SERVER
    default:
        break;
    }
}
