/* tools/tarn/goto/copies.h - what tarn and the runners of tools/emulator/copies.c send each other, one packet
 * each. */
#pragma once

#include <stdint.h>

#define COPIES_PATH_MAX 108u /* size of a socket's path, with its NUL */

enum copies_request {
    COPIES_GO,   /* continue, until a store changes the word at PLACE, or UNTIL */
    COPIES_COPY, /* make a copy that waits at PATH; only if the runner has stopped at a time */
    COPIES_GDB,  /* start gdb's server at PATH, and stop the machine at the next branch */
    COPIES_END,  /* end, and end the copy from which it came */
};

struct copies_command {
    uint64_t what;
    uint64_t place; /* offset in the guest's memory; UINT64_MAX: none */
    uint64_t until; /* nanoseconds of the guest's clock */
    char path[COPIES_PATH_MAX];
};

/* A new runner, and one that has executed COPIES_COPY or COPIES_GDB, says STOPPED. */
enum copies_reply { COPIES_STOPPED, COPIES_STORED, COPIES_ENDED };

struct copies_reply_packet {
    uint64_t what, pid;
    uint64_t clock;       /* nanoseconds */
    uint64_t base, bytes; /* the guest's memory in it */
};
