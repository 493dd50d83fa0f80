/* authority.h - the table of authority.def. Sets of authorities are bits: 1 << index. */
#pragma once

#include <stdint.h>
#include <tarn/abi.h>

struct authority {
    const char *name;
    cap_t slot;
    uint32_t type, rights;
};

#define AUTHORITY(name, object, rights) {name, SLOT_##object, CAP_##object, rights},
static const struct authority authorities[] = {
#include <servers/protocol/authority.def>
};
#undef AUTHORITY
#define AUTHORITIES (sizeof authorities / sizeof *authorities)
