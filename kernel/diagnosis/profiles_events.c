/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * profiles_events.c - the times of events that this CPU has just logged, for profiles. Interface: profiles.h.
 *
 * Log functions return nothing: a value would keep a register and cost instructions where no profile needs
 * it. So the event is read back from the end of this CPU's ring. Interrupts are off, so only an interrupt
 * that cannot be masked may have logged something behind it.
 */
#include <arch/clock.h>
#include <kernel/cpu/cpu.h>
#include <kernel/diagnosis/profile_rows.h>
#include <kernel/sched/thread.h>
#include <kernel/sched/traced_state.h>
#include <kernel/trace/control.h>

#define STAMP_AGE_MAX (1u << 26) /* ticks; an event that was just logged is younger */

/* The event that begins `back` words before the end of what this CPU has logged, if it has that id and
 * length; else NULL. */
static inline const struct trace_header *find_logged(uint32_t back, uint32_t id, uint32_t words)
{
    const char *ring = arch_trace_ring();
    const uint64_t index = trace_control_of(ring)->index;
    const uint64_t place = (trace_index_words(index) - back) * 8 & trace_info_page.ring_mask;
    const struct trace_header *event = (const void *)(ring + TRACE_BUFFERS_OFFSET + place);
    return index & TRACE_INDEX_CLOSED || event->id != id || event->length != words ? NULL : event;
}

/* `now` if it cannot be so old: programs can write to rings. */
static inline uint64_t time_of_logged(const struct trace_header *event, uint64_t now)
{
    const uint32_t age = (uint32_t)now - event->timestamp;
    return age < STAMP_AGE_MAX ? now - age : now;
}

uint64_t profiles_time_of(uint32_t id, uint32_t words)
{
    const uint64_t now = arch_clock();
    const struct trace_header *event = find_logged(words, id, words);
    return event ? time_of_logged(event, now) : now;
}

/* The fields of sched_switch (trace/schema/sched.ev) that are compared, or used. */
struct logged_switch {
    struct trace_header header;
    char prev_comm[TRACE_NAME_BYTES];
    uint32_t prev_tid;
    uint16_t prev_state, prev_prio;
    char next_comm[TRACE_NAME_BYTES];
    uint32_t next_tid;
};
_Static_assert(TRACE_WORDS_SCHED_SWITCH == 8, "struct logged_switch");

/* What may be logged between the event of a switch and the switch: the end of prev's wait. */
#define LOGGED_SINCE_MAX 32u

/* NULL: it was not logged. One of the same threads that is not later than the switch before is an older one.
 */
static const struct logged_switch *find_logged_switch(const struct cpu *cpu, const struct thread *prev,
                                                      const struct thread *next)
{
    for (uint32_t since = 0; since <= LOGGED_SINCE_MAX; since++) {
        const struct logged_switch *event = (const void *)find_logged(
            TRACE_WORDS_SCHED_SWITCH + since, TRACE_ID_SCHED_SWITCH, TRACE_WORDS_SCHED_SWITCH);
        if (event && event->prev_tid == prev->tid && event->next_tid == next->tid)
            return time_of_logged(&event->header, cpu->switched_at) > cpu->switch_logged_at ? event : NULL;
    }
    return NULL;
}

uint32_t profiles_take_logged_switch(struct cpu *cpu, struct thread *prev, const struct thread *next)
{
    const struct logged_switch *event = find_logged_switch(cpu, prev, next);
    if (!event)
        return atomic_load_explicit(&prev->state, memory_order_relaxed);
    const uint64_t late = cpu->switched_at - time_of_logged(&event->header, cpu->switched_at);
    prev->run_ticks -= late;
    prev->slice_used -= late;
    cpu->switched_at -= late;
    return state_of_traced(event->prev_state);
}
