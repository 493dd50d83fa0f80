/*
 * counters.c - hardware counters in the trace. Interface: counters.h.
 *
 * All bindings are in one word, `bound`, a byte for each slot. Each CPU copies it in an smp call, so it never
 * reads half of a change. If two changes race, every CPU follows the word stored last.
 *
 * `counters_generation` grows when counting ends (sites.c). A CPU whose copy differs has not read its
 * counters since: it starts anew at its next switch, and drops its counts.
 */
#include <arch/counter.h>
#include <kernel/cpu/cpu.h>
#include <kernel/diagnosis/counters.h>
#include <kernel/kernel.h>
#include <kernel/sched/sched.h>
#include <kernel/sched/thread.h>
#include <kernel/trace/control.h>
#include <tarn/error.h>
#include <trace/counter.h>
#include <trace/print/words.h>

#define SLOTS_MASK ((1ull << 8 * COUNTER_SLOTS) - 1)
_Static_assert(COUNTER_SLOTS == TRACE_COUNTER_SLOTS, "one number for programs and hosts");
_Static_assert(COUNTER_SLOTS <= ARCH_COUNTED_MAX, "and for the machine");

static _Atomic uint64_t bound;

/* ---- Available counters ---- */

static const struct arch_counter *find_counter(uint32_t number)
{
    const struct arch_counter *first;
    const char *missing;
    return number < arch_counters(&first, &missing) ? first + number : NULL;
}

const char *counters_missing(void)
{
    const struct arch_counter *first;
    const char *missing;
    return arch_counters(&first, &missing) ? NULL : missing;
}

static uint32_t count_slots(uint64_t packed)
{
    uint32_t slots = 0;
    while (slots < COUNTER_SLOTS && packed >> 8 * slots & 0xff)
        slots++;
    return slots;
}

/* 1 + number of the counter in a slot; 0: none */
static uint32_t in_slot(uint64_t packed, uint32_t slot)
{
    return packed >> 8 * slot & 0xff;
}

uint64_t counters_list(uint64_t index, struct system_counter *to, uint64_t capacity)
{
    const struct arch_counter *counter;
    uint64_t packed = atomic_load_explicit(&bound, memory_order_relaxed), count = 0;
    for (; count < capacity && index < ARCH_COUNTERS_MAX && (counter = find_counter((uint32_t)index));
         index++, count++) {
        to[count] = (struct system_counter){.number = (uint32_t)index, .bits = counter->bits};
        for (uint32_t slot = 0; slot < count_slots(packed); slot++)
            if (in_slot(packed, slot) == index + 1)
                to[count].slot = slot + 1;
        format_text(to[count].name, sizeof to[count].name, "%s", counter->name);
    }
    return count;
}

/* ---- Counting ---- */

static uint64_t mask_of(uint32_t bits)
{
    return ~0ull >> (64 - bits);
}

static uint64_t read_slot(const struct counters *counters, uint32_t slot)
{
    return arch_counter_read(counters->number[slot]) & mask_of(counters->bits[slot]);
}

/* Starts counting on this CPU; earlier counts are unknown. */
static void begin(struct counters *counters)
{
    for (uint32_t slot = 0; slot < counters->slots; slot++)
        counters->since[slot] = read_slot(counters, slot);
    counters->generation = atomic_load_explicit(&counters_generation, memory_order_relaxed);
}

static bool has_begun(const struct counters *counters)
{
    return counters->generation == atomic_load_explicit(&counters_generation, memory_order_relaxed);
}

/* Reads the counters, and the counts since `counters->since`, which the caller updates or not. */
static void read_all(const struct counters *counters, uint64_t now[COUNTER_SLOTS],
                     uint64_t ran[COUNTER_SLOTS])
{
    for (uint32_t slot = 0; slot < COUNTER_SLOTS; slot++) {
        now[slot] = slot < counters->slots ? read_slot(counters, slot) : 0;
        ran[slot] =
            slot < counters->slots ? (now[slot] - counters->since[slot]) & mask_of(counters->bits[slot]) : 0;
    }
}

static void count_run(struct cpu *cpu, struct thread *thread, bool ended)
{
    struct counters *counters = &cpu->counters;
    uint64_t now[COUNTER_SLOTS], ran[COUNTER_SLOTS];
    if (!counters->slots)
        return;
    if (!has_begun(counters)) {
        begin(counters);
        return;
    }
    read_all(counters, now, ran);
    for (uint32_t slot = 0; slot < counters->slots; slot++) {
        counters->since[slot] = now[slot];
        thread->counters.sum[slot] += ran[slot];
    }
    trace_counter_run(thread->tid, thread->block->pid, ended, ran[0], ran[1], ran[2], ran[3]);
}

__attribute__((cold)) void counters_switch(struct cpu *cpu, struct thread *prev)
{
    count_run(cpu, prev, true);
}

void counters_beat(void)
{
    struct cpu *cpu = this_cpu();
    if (TRACE_ON_COUNTER())
        count_run(cpu, cpu->current, false);
}

/* The thread's sums up to now. False: nothing is counted. */
static bool sum_up(struct thread *self, uint64_t sums[COUNTER_SLOTS])
{
    struct counters *counters = &this_cpu()->counters;
    uint64_t now[COUNTER_SLOTS], ran[COUNTER_SLOTS];
    if (!counters->slots)
        return false;
    if (!has_begun(counters))
        begin(counters);
    read_all(counters, now, ran);
    for (uint32_t slot = 0; slot < COUNTER_SLOTS; slot++)
        sums[slot] = self->counters.sum[slot] + ran[slot];
    return true;
}

uint32_t counters_own(uint64_t sums[COUNTER_SLOTS])
{
    return TRACE_ON_COUNTER() && sum_up(current_thread(), sums) ? this_cpu()->counters.slots : 0;
}

__attribute__((cold)) void counters_enter(struct thread *self)
{
    self->counters.entry_generation =
        sum_up(self, self->counters.entry) ? this_cpu()->counters.generation : 0;
}

/* A call that began before counting did is not logged. */
__attribute__((cold)) void counters_leave(struct thread *self, uint32_t number)
{
    const uint64_t *entry = self->counters.entry;
    uint64_t sums[COUNTER_SLOTS];
    if (!sum_up(self, sums) || self->counters.entry_generation != this_cpu()->counters.generation)
        return;
    self->counters.entry_generation = 0;
    trace_counter_syscall(number, self->tid, sums[0] - entry[0], sums[1] - entry[1], sums[2] - entry[2],
                          sums[3] - entry[3]);
}

/* ---- Binding ---- */

/* Starts the counters in `packed` on this CPU. */
static void start(struct counters *counters, uint64_t packed)
{
    uint8_t chosen[COUNTER_SLOTS] = {0};
    uint32_t numbers[COUNTER_SLOTS];
    const uint32_t slots = count_slots(packed);
    for (uint32_t slot = 0; slot < slots; slot++)
        chosen[slot] = (uint8_t)(in_slot(packed, slot) - 1);
    arch_counters_start(chosen, slots, numbers);
    counters->slots = slots;
    for (uint32_t slot = 0; slot < slots; slot++) {
        counters->number[slot] = numbers[slot];
        counters->bits[slot] = (uint8_t)find_counter(chosen[slot])->bits;
    }
    begin(counters);
}

static void start_here(void *unused)
{
    (void)unused;
    start(&this_cpu()->counters, atomic_load(&bound));
}

void counters_init_cpu(struct cpu *cpu)
{
    start(&cpu->counters, atomic_load(&bound));
}

static void log_bound(uint64_t packed)
{
    const uint32_t slots = count_slots(packed);
    for (uint32_t slot = 0; slot < slots; slot++) {
        const struct arch_counter *counter = find_counter(in_slot(packed, slot) - 1);
        trace_counter_bound(slot, slots, counter->bits, counter->name);
    }
    if (!slots)
        trace_counter_bound(0, 0, 0, "");
}

void counters_statedump(void)
{
    if (counters_are_bound)
        log_bound(atomic_load(&bound));
}

/* Whether all these counters exist, each named once. */
static int64_t check(uint64_t packed)
{
    const uint32_t slots = count_slots(packed);
    if (packed & ~SLOTS_MASK || packed >> 8 * slots)
        return -E_BAD_ARGUMENT;
    for (uint32_t slot = 0; slot < slots; slot++) {
        if (!find_counter(in_slot(packed, slot) - 1))
            return -E_NOT_FOUND;
        for (uint32_t other = 0; other < slot; other++)
            if (in_slot(packed, other) == in_slot(packed, slot))
                return -E_BAD_ARGUMENT;
    }
    return 0;
}

int64_t counters_bind(uint64_t packed)
{
    const int64_t error = check(packed);
    if (error)
        return error;
    spin_lock(&trace_lock); /* also logs what holds now before another change */
    if (!packed && counters_are_bound)
        log_bound(0);
    atomic_store(&bound, packed);
    counters_are_bound = packed != 0;
    atomic_fetch_add(&counters_generation, 1); /* calls in progress began with other counters */
    trace_on_every_cpu(start_here);
    trace_sites_agree();
    if (packed)
        log_bound(packed);
    spin_unlock(&trace_lock);
    return 0;
}
