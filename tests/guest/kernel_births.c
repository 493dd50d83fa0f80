/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel_births.c - kills a space while threads are created in it: each thread is created completely or not
 * at all.
 *
 * The killer may find a new thread at the first moment at which it is visible. `kernel_births ROUNDS` runs
 * fewer rounds.
 */
#include "child.h"
#include "leak.h"
#include "tap.h"

#include <arch/runtime.h>
#include <stdlib.h>

#define ROUNDS   60u
#define BREEDERS 3
#define LATEST   200000u /* latest time of the kill, in ns after the last breeder was started */

/* ---- in the child ---------------------------------------------------------------------------------- */

static void end_at_once(uint64_t argument)
{
    sys_thread_exit();
}

static void breed(uint64_t seed)
{
    struct thread_config config = {.entry = (uint64_t)end_at_once,
                                   .stack =
                                       arch_stack_start(CHILD_STACKS + CHILD_STACKS_MAX * CHILD_STACK_BYTES),
                                   .priority = TARN_PRIO_USER};
    for (uint64_t random = seed;;) {
        int64_t thread = sys_thread_create(SLOT_SPACE, &config);
        if (thread < 0)
            continue;
        if (child_random(&random) % 2) /* otherwise it is killed before it has run */
            sys_thread_resume((cap_t)thread);
        else
            sys_thread_kill((cap_t)thread);
        sys_cap_close((cap_t)thread);
    }
}

/* ---- the test -------------------------------------------------------------------------------------- */

static void kill_breeders(uint64_t *random)
{
    struct child child;
    if (child_create(&child, "breeders") < 0) {
        printf("Bail out! no space\n");
        exit(1);
    }
    for (unsigned i = 0; i < BREEDERS; i++)
        child_start(&child, breed, child_random(random) | 1);
    sys_thread_sleep(deadline_after(child_random(random) % LATEST));
    child_end(&child);
}

int main(int argc, char **argv)
{
    unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : ROUNDS;
    uint64_t random = 88172645463325252ull;
    child_prepare();
    for (unsigned i = 0; i < 10; i++) /* warm up slabs and caches */
        kill_breeders(&random);
    struct system_stats before = first_stats();
    for (unsigned i = 0; i < rounds; i++)
        kill_breeders(&random);
    check(same_stats_soon(&before),
          "spaces killed while threads are created in them: all page frames and objects are freed");
    return finish_tests();
}
