/*
 * fuzz_syscalls.c - a million system calls with random and hostile arguments: errors, but no panic and no
 * leak.
 *
 * Children make the calls. Each runs until it has destroyed itself or makes no more progress; then the next
 * ones follow. They have capabilities of every type except the machine and the trace, whose holders are
 * allowed to stop the system; calls on those two use wrong slots.
 */
#include "child.h"
#include "leak.h"
#include "tap.h"

#include <arch/syscall_stub.h>

#define CALLS   REPEATS(1000000ull)
#define MS      1000000ull
#define AT_ONCE 3
#define THREADS 3

enum { SLOT_MEMORY = 16, SLOT_ENDPOINT, SLOT_SIGNAL, SLOT_OTHER, SLOT_LAST };

struct shared {
    _Atomic uint64_t calls;
    _Atomic uint64_t good; /* number of those that succeeded */
};

/* ---- in the child ---------------------------------------------------------------------------------- */

/* clang-format off */
static const uint64_t nasty[] = {
    0, 1, 2, 7, 8, 4095, 4096, 4097, 0x7fffffff, 0x80000000, 0xffffffff, 0x100000000, USER_BASE,
    USER_BASE - 1, USER_END - 1, USER_END, USER_END + 4096, USER_TRACE_INFO, USER_TRACE_RINGS,
    USER_THREAD_BLOCKS, USER_LINK_ADDRESS, USER_MMAP_BASE, USER_MMAP_END - 4096, 0x7fffffffffff,
    0x800000000000, 0x4000000000000000, 0xc000000000000000, 0xc000000000400000, 0xc008000000000000,
    0xffff800000000000, 0xffffffff80000000, 0xffffffff80100000, 0xfffffffffffff000, ~0ull, ~0ull >> 1,
    1ull << 63, CHILD_SHARED + 4096 - 4, CHILD_STACKS, CHILD_STACKS + 8,
};
/* clang-format on */

static uint64_t hostile_argument(uint64_t *random)
{
    const uint64_t choice = child_random(random), kind = choice % 6, rest = choice / 6;
    return kind == 0   ? nasty[rest % (sizeof nasty / sizeof nasty[0])]
           : kind < 3  ? rest % (SLOT_LAST + 8) /* a slot or a small number */
           : kind == 3 ? SLOT_FIRST_FREE + rest % 64
           : kind == 4 ? CHILD_STACKS + rest % (CHILD_STACK_BYTES * 4) /* existing memory */
                       : child_random(random) >> rest % 64;
}

/* Calls that wait or end the child are rare, because they slow the test down. */
static bool is_boring(uint64_t number, uint64_t choice)
{
    bool waits = number == SYS_thread_sleep || number == SYS_notification_wait || number == SYS_futex_wait ||
                 number == SYS_ipc_receive || number == SYS_ipc_call || number == SYS_ipc_send ||
                 number == SYS_ipc_reply_receive;
    bool ends = number == SYS_thread_exit || number == SYS_space_kill || number == SYS_thread_kill ||
                number == SYS_thread_suspend || number == SYS_space_unmap || number == SYS_space_protect;
    return number == SYS_debug_write || (waits && choice % 16) || (ends && choice % 64);
}

static void fuzz(uint64_t seed)
{
    struct shared *shared = (struct shared *)CHILD_SHARED;
    uint64_t random = seed, a[6];
    for (;;) {
        uint64_t number = child_random(&random) % (SYS_COUNT + 2);
        for (int i = 0; i < 6; i++)
            a[i] = hostile_argument(&random);
        if (child_random(&random) % 64 == 0)
            number = child_random(&random);
        if (is_boring(number, child_random(&random)))
            continue;
        shared->calls++;
        shared->good += arch_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]) >= 0;
    }
}

/* ---- the test -------------------------------------------------------------------------------------- */

static cap_t shared_memory;

static void start_child(struct child *child, uint64_t *random)
{
    cap_t memory = must(sys_memory_create(0x10000)), endpoint = must(sys_endpoint_create());
    cap_t signal = must(sys_notification_create()), other = must(sys_space_create("other", 0));
    must(child_create(child, "fuzzer"));
    child_map(child, shared_memory, CHILD_SHARED, TARN_PAGE_SIZE, MAP_READ | MAP_WRITE);
    const cap_t given[] = {memory, endpoint, signal, other};
    for (cap_t i = 0; i < 4; i++)
        must(child_give(child, given[i], SLOT_MEMORY + i, RIGHT_ALL));
    /* Its own endpoint: no messages on the console, and its faults wait there. */
    must(sys_space_set_fault_handler(child->space, endpoint));
    for (cap_t i = 0; i < 4; i++)
        sys_cap_close(given[i]);
    for (unsigned i = 0; i < THREADS; i++) {
        int64_t thread = child_thread(child, fuzz, child_random(random) | 1, TARN_PRIO_USER, 0);
        if (thread == -E_DEAD) /* threads that are running have killed the space already */
            break;
        must(thread);
        sys_cap_copy(child->space, (cap_t)thread, SLOT_THREAD + 1 + i, RIGHT_ALL, 0);
        sys_thread_resume((cap_t)thread);
        sys_cap_close((cap_t)thread);
    }
}

/* Runs children until this many calls have been made. */
static void fuzz_until(struct shared *shared, uint64_t calls, uint64_t *random)
{
    struct child children[AT_ONCE];
    while (shared->calls < calls) {
        for (int i = 0; i < AT_ONCE; i++)
            start_child(&children[i], random);
        uint64_t seen;
        int turns = 0;
        do { /* while they make progress */
            seen = shared->calls;
            sys_thread_sleep(deadline_after(5 * MS));
        } while (shared->calls > seen + 20 && ++turns < 40);
        for (int i = 0; i < AT_ONCE; i++)
            child_end(&children[i]);
    }
}

int main(void)
{
    uint64_t random = 88172645463325252ull;
    child_prepare();
    shared_memory = must(sys_memory_create(TARN_PAGE_SIZE));
    struct shared *shared = memory_map(shared_memory, TARN_PAGE_SIZE, MAP_READ | MAP_WRITE);
    fuzz_until(shared, CALLS / 50, &random);
    struct system_stats before = first_stats();
    fuzz_until(shared, CALLS, &random);
    check(shared->calls >= CALLS, "the system survives %lu hostile system calls", shared->calls);
    check(shared->good > CALLS / 100, "some of them succeed: %lu", shared->good);
    check(same_stats_soon(&before), "all page frames and objects are freed");
    return finish_tests();
}
