/* lock.c - lock classes, and the contended path of spinlocks. Interface: lock.h. */
#include <arch/clock.h>
#include <kernel/cpu/cpu.h>
#include <kernel/cpu/lock.h>
#include <kernel/cpu/smp_call.h>
#include <kernel/kernel.h>
#include <tarn/abi.h>
#include <trace/lock.h>

#define CHAIN_MAX 8

/* Programs' locks and other objects on which their threads wait (libc-glue/tarn/lock_trace.c). */
static struct lock_class user_classes[TARN_LOCK_CLASSES_USER]
    __attribute__((section(".lock_classes"), used, aligned(8))) = {
        [TARN_LOCK_MUTEX] = {.name = "user mutex"},
        [TARN_LOCK_READ] = {.name = "user rwlock read"},
        [TARN_LOCK_WRITE] = {.name = "user rwlock write"},
        [TARN_LOCK_ONCE] = {.name = "user once"},
        [TARN_LOCK_SEMAPHORE] = {.name = "user semaphore", .is_event = true},
        [TARN_LOCK_CONDITION] = {.name = "user condition", .is_event = true},
        [TARN_LOCK_BARRIER] = {.name = "user barrier", .is_event = true},
        [TARN_LOCK_JOIN] = {.name = "user join", .is_event = true},
        [TARN_LOCK_WINDOW] = {.name = "user window", .is_event = true},
};
_Static_assert(TARN_LOCK_CLASSES_USER <= TRACE_USER_LOCKS_MAX, "trace_info.lock_sample holds all");

bool lock_is_watched;

void lock_init(void)
{
    uint32_t number = TARN_LOCK_CLASSES_USER;
    assert(lock_class_last - lock_class_first <= LOCK_CLASSES_MAX);
    for (struct lock_class *class = lock_class_first; class < lock_class_last; class ++)
        class->number = class >= user_classes && class < user_classes + TARN_LOCK_CLASSES_USER
                            ? (uint32_t)(class - user_classes)
                            : number++;
    for (uint32_t i = 0; i < CPUS_MAX; i++)
        restart_lock_watch(&cpus[i].lock_watch, 0);
}

uint64_t lock_class_list(uint64_t index, struct system_lock_class *to, uint64_t capacity)
{
    const uint64_t classes = (uint64_t)(lock_class_last - lock_class_first);
    uint64_t count = 0;
    for (; count < capacity && index < classes; index++, count++) {
        const struct lock_class *class = &lock_class_first[index];
        to[count] = (struct system_lock_class){
            .number = class->number,
            .sample_every = lock_sample_every(class),
            .contended = atomic_load_explicit(&class->contended, memory_order_relaxed)};
        format_text(to[count].name, sizeof to[count].name, "%s", class->name);
    }
    return count;
}

void spin_init(struct spinlock *lock, struct lock_class *class)
{
    *lock = (struct spinlock)SPINLOCK(class);
}

/* ---- Waiting ---- */

static __attribute__((noinline)) void log_contended(struct spinlock *lock, const struct lock_holder *holder,
                                                    uint64_t waited, uint64_t spins)
{
    uint64_t chain[CHAIN_MAX];
    uint32_t depth = arch_backtrace(chain, CHAIN_MAX);
    trace_lock_contended((uint64_t)lock, waited, spins, lock->class->number, 0, holder->tid, holder->pid,
                         holder->cpu, 0, depth, chain);
}

/* Handles requests while it spins: the holder may be waiting for this CPU's TLB flush. */
void spin_lock_contended(struct spinlock *lock)
{
    uint64_t since = arch_clock(), spins = 0;
    const struct lock_holder holder = lock_holder_of(spin_holder(lock));
    struct cpu *cpu = this_cpu();
    assert(!spin_held(lock));
    const struct spinlock *outer = cpu->waiting_lock;
    atomic_store_explicit(&cpu->waiting_lock, lock, memory_order_relaxed);
    do {
        while (atomic_load_explicit(&lock->held, memory_order_relaxed) != 0) {
            smp_poll();
            cpu_spin(++spins);
            arch_relax();
        }
    } while (!spin_take_free(lock));
    explore_lock_taken(lock);
    atomic_store_explicit(&cpu->waiting_lock, outer, memory_order_relaxed);
    atomic_fetch_add_explicit(&lock->class->contended, 1, memory_order_relaxed);
    const uint64_t waited = arch_clock() - since, site = (uint64_t)__builtin_return_address(0);
    if (lock->class->sample_every)
        spin_count_wait(lock, site, waited, spins);
    if (TRACE_ON_LOCK())
        log_contended(lock, &holder, waited, spins);
    if (LOCKS_WATCHED() && --this_lock_watch()->left < 0)
        spin_note_taken_after_wait(lock, site);
}

struct cpu *spin_holder(const struct spinlock *lock)
{
    uint32_t offset = atomic_load_explicit(&lock->held, memory_order_relaxed) - (uint32_t)(uintptr_t)cpus;
    uint32_t index = offset / sizeof cpus[0];
    return offset % sizeof cpus[0] == 0 && index < cpu_count ? &cpus[index] : NULL;
}
