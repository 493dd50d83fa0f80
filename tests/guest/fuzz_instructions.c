/*
 * fuzz_instructions.c - instructions that programs must not execute are refused and do no harm. Runs each
 * piece of the port's hostile.S, then such pieces with a few bits changed, and noise.
 *
 * A thread of a child runs each piece and should fault. If it does not fault in time, or ends its space, a
 * new child is made.
 */
#include "probe.h"

#define PIECE_BYTES   16u
#define POOL          PLACE
#define POOL_BYTES    (1ull << 20) /* of probe_scratch */
#define POOL_PIECES   (POOL_BYTES / PIECE_BYTES)
#define RANDOM_TRIALS 6000u
#define PATIENCE      20000000ull /* ns */

extern const uint8_t hostile_start[], hostile_end[]; /* arch/ARCH/user/hostile.S */

static unsigned faults, others;

static void start(struct child *child)
{
    probe_child(child, "hostile");
    child_map(child, probe_scratch, POOL, POOL_BYTES, MAP_READ | MAP_EXECUTE);
}

/* Returns true if the thread faulted; it has been killed. */
static bool run_piece(struct child *child, uint64_t entry, uint64_t argument)
{
    struct ipc_message message;
    if (child->threads % CHILD_STACKS_MAX == 0) /* the sleeping thread's stack */
        child->threads++;
    if (child_start(child, (void (*)(uint64_t))entry, argument) < 0 ||
        ipc_receive_deadline(probe_report, &message, deadline_after(PATIENCE)) < 0)
        return false;
    bool faulted = message.label == IPC_LABEL_FAULT;
    ipc_reply(&(struct ipc_message){.label = FAULT_REPLY_KILL});
    return faulted;
}

static void try_piece(struct child *child, uint64_t entry, uint64_t argument)
{
    if (run_piece(child, entry, argument)) {
        faults++;
        return;
    }
    others++;
    child_end(child);
    start(child);
}

static void try_all(struct child *child, uint64_t argument)
{
    for (const uint8_t *piece = hostile_start; piece < hostile_end; piece += PIECE_BYTES)
        try_piece(child, (uint64_t)piece, argument);
}

/* One half noise, the other half hostile pieces with up to three bits changed. */
static void fill_pool(uint64_t *random)
{
    uint64_t known = (uint64_t)(hostile_end - hostile_start) / PIECE_BYTES;
    uint8_t pieces[256][PIECE_BYTES];
    for (uint64_t at = 0; at < POOL_BYTES; at += sizeof pieces) {
        for (unsigned i = 0; i < 256; i++) {
            uint64_t noise[PIECE_BYTES / 8] = {child_random(random), child_random(random)};
            memcpy(pieces[i], noise, PIECE_BYTES);
            if (child_random(random) % 2)
                continue;
            memcpy(pieces[i], hostile_start + child_random(random) % known * PIECE_BYTES, PIECE_BYTES);
            for (unsigned bits = child_random(random) % 4; bits; bits--)
                pieces[i][child_random(random) % 8] ^= (uint8_t)(1u << child_random(random) % 8);
        }
        must(sys_memory_write(probe_scratch, at, pieces, sizeof pieces));
    }
}

int main(void)
{
    static const uint64_t arguments[] = {0, ~0ull, 0xc000000000400000, 0xffffffff80000000,
                                         0x0000800000000000};
    uint64_t random = 88172645463325252ull;
    struct child child;
    child_prepare();
    probe_prepare();
    fill_pool(&random); /* before any child executes it */
    start(&child);
    try_piece(&child, (uint64_t)hostile_start, 0);
    child_end(&child);
    struct system_stats before = first_stats();

    start(&child);
    for (unsigned i = 0; i < sizeof arguments / sizeof arguments[0]; i++)
        try_all(&child, arguments[i]);
    check(faults > others, "forbidden instructions are refused: %u faults, %u others", faults, others);
    faults = others = 0;
    for (unsigned i = 0; i < RANDOM_TRIALS; i++)
        try_piece(&child, POOL + child_random(&random) % POOL_PIECES * PIECE_BYTES,
                  arguments[i % (sizeof arguments / sizeof arguments[0])]);
    check(faults > others, "noise does no harm: %u faults, %u others", faults, others);
    child_end(&child);
    check(same_stats_soon(&before), "all page frames and objects are freed");
    return finish_tests();
}
