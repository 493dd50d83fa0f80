/*
 * load.c - everyday work on many CPUs, repeated: it succeeds, and its resources are freed.
 *
 *     load [rounds]
 *
 * The first round fills caches of the servers and the allocators; later rounds must not add to them.
 */
/* Servers' heaps fragment and sometimes grow by a memory object, and their page tables grow until each shared
 * buffer's address has been used. This is far less than one for each of the hundreds of processes of a round.
 */
#define FRAMES_OF_SERVERS   512u
#define MEMORIES_OF_SERVERS 16u
#include "leak.h"
#include "run.h"
#include "tap.h"

static void work(void)
{
    check(run_program("sdet", "-n", "16") == 0, "sixteen shells at once");
    check(run_program("lockstorm", "16", "500") == 0, "sixteen threads and a lock");
    check(run_program("market", "8", "100") == 0, "eight clients and a server");
}

int main(int argc, char **argv)
{
    unsigned rounds = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 2;
    work();
    struct system_stats before = quiet_stats();
    for (unsigned i = 0; i < rounds; i++)
        work();
    check(same_stats_soon(&before), "as many kernel objects and page frames as before");
    return finish_tests();
}
