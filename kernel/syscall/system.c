/*
 * system.c - system_read: facts about the system, for ps, top and leak tests.
 *
 * Lists are gathered into a buffer under their lock, and copied out without it.
 */
#include <arch/boot.h>
#include <arch/clock.h>
#include <kernel/cpu/cpu.h>
#include <kernel/cpu/explore.h>
#include <kernel/cpu/lock.h>
#include <kernel/diagnosis/counters.h>
#include <kernel/ipc/user_copy.h>
#include <kernel/kernel.h>
#include <kernel/memory/frame.h>
#include <kernel/memory/slab.h>
#include <kernel/sched/sched.h>
#include <kernel/sched/thread.h>
#include <kernel/space/space.h>
#include <tarn/error.h>
#include <tarn/syscall_kernel.h>

#define BUFFER_BYTES 4096u /* of the kernel stack */

struct gathering {
    uint64_t skip;            /* elements before the first one wanted */
    uint64_t count, capacity; /* elements */
    void *elements;
};

static void *next_element(struct gathering *gathering, size_t size)
{
    if (gathering->skip > 0) {
        gathering->skip--;
        return NULL;
    }
    if (gathering->count == gathering->capacity)
        return NULL;
    return (char *)gathering->elements + gathering->count++ * size;
}

/* If the CPU is switching, the thread's last run may count twice, but never the time before it, which would
 * be enormous. */
static uint64_t ticks_of(const struct thread *thread, const struct cpu *cpu)
{
    uint64_t since = __atomic_load_n(&cpu->switched_at, __ATOMIC_ACQUIRE);
    uint64_t ticks = __atomic_load_n(&thread->run_ticks, __ATOMIC_RELAXED), now = arch_clock();
    return __atomic_load_n(&cpu->current, __ATOMIC_RELAXED) == thread && now > since ? ticks + now - since
                                                                                     : ticks;
}

static void gather_thread(struct thread *thread, void *context)
{
    struct system_thread *element = next_element(context, sizeof *element);
    if (!element)
        return;
    struct cpu *cpu = atomic_load(&thread->cpu);
    *element = (struct system_thread){.tid = thread->tid,
                                      .pid = thread->block->pid,
                                      .state = atomic_load(&thread->state),
                                      .cpu = cpu->index,
                                      .priority = thread->priority,
                                      .affinity = atomic_load(&thread->affinity),
                                      .run_ns = timer_nanoseconds(ticks_of(thread, cpu))};
    memcpy(element->name, thread->block->name, sizeof element->name);
}

static void gather_space(struct space *space, void *context)
{
    struct system_space *element = next_element(context, sizeof *element);
    if (!element)
        return;
    *element = (struct system_space){.pid = space->pid,
                                     .parent_pid = space->parent_pid,
                                     .threads = __atomic_load_n(&space->thread_count, __ATOMIC_RELAXED),
                                     .dying = __atomic_load_n(&space->dying, __ATOMIC_RELAXED),
                                     .resident = __atomic_load_n(&space->resident, __ATOMIC_RELAXED),
                                     .trace = cap_authority(&space->caps, CAP_TRACE),
                                     .machine = cap_authority(&space->caps, CAP_MACHINE),
                                     .device = cap_authority(&space->caps, CAP_DEVICE)};
    memcpy(element->name, space->name, sizeof element->name);
}

static uint64_t total_idle_ticks(void)
{
    uint64_t ticks = 0;
    for (uint32_t i = 0; i < cpu_count; i++) {
        const struct cpu *cpu = &cpus[i];
        if (cpu->idle)
            ticks += ticks_of(cpu->idle, cpu);
    }
    return ticks;
}

static uint64_t gather_stats(uint64_t index, void *buffer)
{
    if (index > 0)
        return 0;
    *(struct system_stats *)buffer = (struct system_stats){
        .frames_total = frame_count_total(),
        .frames_free = frame_count_free(),
        .spaces = slab_count("space"),
        .threads = slab_count("thread"),
        .endpoints = slab_count("endpoint"),
        .notifications = slab_count("notification"),
        .memories = slab_count("memory"),
        .irqs = slab_count("irq"),
        .replies = slab_count("reply"),
        .mappings = slab_count("mapping"),
        .cpus = cpu_count,
        .idle_ns = timer_nanoseconds(total_idle_ticks()),
        .slab_frames = slab_frames_total(),
    };
    return sizeof(struct system_stats);
}

static int64_t gather_text(const char *text, uint64_t index, char *buffer, uint64_t size)
{
    if (!text)
        return -E_NOT_FOUND;
    uint64_t length = strlen(text);
    if (index >= length)
        return 0;
    uint64_t count = length - index < size ? length - index : size;
    memcpy(buffer, text + index, count);
    return (int64_t)count;
}

/* A path of its own, because programs measure short pieces of code with it. */
static int64_t read_own_counters(uint64_t index, void *user_buffer, uint64_t size)
{
    uint64_t sums[COUNTER_SLOTS];
    if (index > 0 || size < sizeof sums)
        return -E_BAD_ARGUMENT;
    if (!counters_own(sums))
        return -E_NOT_FOUND;
    int64_t error = user_write(user_buffer, sums, sizeof sums);
    return error ? error : (int64_t)sizeof sums;
}

/* Fills a buffer with whole elements. Returns the number of bytes, or an error. */
static int64_t gather(uint32_t kind, uint64_t index, void *buffer, uint64_t size)
{
    struct gathering gathering = {.skip = index, .elements = buffer};
    switch (kind) {
    case SYSTEM_STATS: {
        uint64_t bytes = gather_stats(index, buffer);
        return (int64_t)(bytes < size ? bytes : size); /* an older program knows fewer members */
    }
    case SYSTEM_THREADS:
        gathering.capacity = size / sizeof(struct system_thread);
        thread_for_each(gather_thread, &gathering);
        return (int64_t)(gathering.count * sizeof(struct system_thread));
    case SYSTEM_SPACES:
        gathering.capacity = size / sizeof(struct system_space);
        space_for_each(gather_space, &gathering);
        return (int64_t)(gathering.count * sizeof(struct system_space));
    case SYSTEM_COMMAND_LINE:
        return gather_text(boot_info.command_line, index, buffer, size);
    case SYSTEM_LOCK_CLASSES:
        return (int64_t)(lock_class_list(index, buffer, size / sizeof(struct system_lock_class)) *
                         sizeof(struct system_lock_class));
    case SYSTEM_COUNTERS:
        return (int64_t)(counters_list(index, buffer, size / sizeof(struct system_counter)) *
                         sizeof(struct system_counter));
    case SYSTEM_COUNTERS_MISSING:
        return gather_text(counters_missing(), index, buffer, size);
    default:
        return -E_BAD_ARGUMENT;
    }
}

int64_t sys_system_read(uint32_t kind, uint64_t index, void *user_buffer, uint64_t size)
{
    char buffer[BUFFER_BYTES] __attribute__((aligned(8)));
    int64_t result;
    if (kind == SYSTEM_OWN_COUNTERS)
        return read_own_counters(index, user_buffer, size);
    if (explore_program(kind, index, user_buffer, size, &result))
        return result;
    result = gather(kind, index, buffer, size < sizeof buffer ? size : sizeof buffer);
    const int64_t error = result > 0 ? user_write(user_buffer, buffer, (uint64_t)result) : 0;
    return error ? error : result;
}
