/*
 * thread.c - stacks and thread-local variables.
 *
 * A thread created here owns one mapping and frees it with its last instructions:
 *
 *     mapping                                                    mapping + mapping_size
 *     | guard page, read-only | stack, grows down | thread-local variables |
 *
 * The thread-local variables include newlib's state with errno: __getreent().
 */
#include "internal.h"

#include <string.h>

/* The initial values of thread-local variables
 * (arch/user.ld). __tls_align's address is the alignment. */
extern const char __tls_data[], __tls_data_end[], __tls_end[], __tls_align[];

static __thread struct _reent state;
_Thread_local struct pthread *this_thread;

static struct pthread first_thread = {.slot = SLOT_THREAD};

struct _reent *__getreent(void)
{
    return &state;
}

uint32_t thread_id(void)
{
    return arch_thread_block()->tid;
}

uint32_t process_id(void)
{
    return arch_thread_block()->pid;
}

static uint64_t affinity; /* atomic */

uint64_t process_affinity(void)
{
    return __atomic_load_n(&affinity, __ATOMIC_RELAXED);
}

int process_set_affinity(uint64_t cpus)
{
    int64_t result = sys_thread_set_affinity(this_thread->slot, cpus ? cpus : ~0ull);
    if (result >= 0)
        __atomic_store_n(&affinity, cpus, __ATOMIC_RELAXED);
    return (int)result;
}

static uint64_t tls_size(void)
{
    return (uint64_t)(__tls_end - __tls_data);
}

static uint64_t tls_align(void)
{
    uint64_t align = (uint64_t)__tls_align;
    return align ? align : 1;
}

static uint64_t tls_bytes(void)
{
    return (arch_tls_bytes(tls_size(), tls_align()) + 63) & ~63ull;
}

/* Copies the initial values to a zeroed block. Returns the thread pointer for it. */
static uint64_t init_variables(void *block)
{
    void *variables;
    uint64_t pointer = arch_tls_place(block, tls_size(), tls_align(), &variables);
    memcpy(variables, __tls_data, (size_t)(__tls_data_end - __tls_data));
    return pointer;
}

static void begin_thread(struct pthread *thread)
{
    _REENT_INIT_PTR_ZEROED(&state);
    this_thread = thread;
    __atomic_store_n(&thread->tid, thread_id(), __ATOMIC_RELAXED);
}

void init_first_thread(const struct startup *startup)
{
    /* large enough for most programs; saves a mapping */
    static char spare[2048] __attribute__((aligned(64)));
    void *block = tls_bytes() <= sizeof(spare) ? spare : memory_map_anonymous(tls_bytes());
    if (!block) {
        static const char text[] = "libc: no memory for the first thread's variables\n";
        sys_debug_write(text, sizeof(text) - 1);
        sys_space_kill(SLOT_SPACE, -1);
    }
    arch_set_thread_pointer(init_variables(block));
    affinity = startup->affinity;
    first_thread.stack_low = startup->stack_low;
    first_thread.stack_high = startup->stack_high;
    begin_thread(&first_thread);
}

static int map_stack(struct pthread *thread, uint64_t guard, uint64_t stack)
{
    uint64_t size = guard + round_to_pages(stack + tls_bytes());
    char *mapping = memory_map_anonymous(size);
    if (!mapping)
        return -E_NO_MEMORY;
    /* Stack overflows are writes, so a readable guard page suffices, and it reserves the addresses. */
    int64_t result = guard ? sys_space_protect(SLOT_SPACE, (uint64_t)mapping, guard, MAP_READ) : 0;
    if (result < 0) {
        memory_unmap(mapping, size);
        return (int)result;
    }
    thread->mapping = mapping;
    thread->mapping_size = size;
    thread->stack_low = (uint64_t)mapping + guard;
    thread->stack_high = (uint64_t)mapping + size - tls_bytes();
    return 0;
}

int create_thread(struct pthread *thread, const pthread_attr_t *attr)
{
    int result = map_stack(thread, round_to_pages(attr->guard_size), round_to_pages(attr->stack_size));
    if (result < 0)
        return result;
    struct thread_config config = {
        .entry = (uint64_t)arch_thread_entry,
        .stack = thread->stack_high,
        .arg = (uint64_t)thread,
        .tls = init_variables((void *)thread->stack_high),
        .priority = (uint32_t)attr->schedparam.sched_priority,
        .affinity = attr->affinity ? attr->affinity : process_affinity(),
    };
    memcpy(config.name, arch_thread_block()->name, sizeof(config.name));
    int64_t slot = sys_thread_create(SLOT_SPACE, &config);
    if (slot < 0) {
        memory_unmap(thread->mapping, thread->mapping_size);
        return (int)slot;
    }
    thread->slot = (cap_t)slot;
    return 0;
}

void run_thread(struct pthread *thread)
{
    begin_thread(thread);
    end_pthread(thread, thread->routine(thread->argument));
}

void exit_thread(char *mapping, uint64_t size)
{
    arch_thread_leave(SLOT_SPACE, (uint64_t)mapping, size);
}
