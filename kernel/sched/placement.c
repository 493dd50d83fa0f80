/* SPDX-License-Identifier: BSD-2-Clause */
/* placement.c - where callers run after a reply. Interface and policy: placement.h. */
#include <arch/clock.h>
#include <arch/trace.h>
#include <kernel/cpu/cpu.h>
#include <kernel/kernel.h>
#include <kernel/sched/placement.h>
#include <kernel/sched/sched.h>
#include <kernel/sched/thread.h>
#include <trace/tables.h>

bool placement_on;

/* ---- The decision ---- */

/* A row that something else wrote may hold anything. Differences wrap; no result leads anywhere. */
bool placement_decides(const struct partner_sums *before, const struct partner_sums *now)
{
    const uint64_t replies = now->replies - before->replies, brief = now->brief - before->brief;
    return brief >= replies - replies / 4;
}

static struct partner_sums sums_of(const struct trace_partners_row *row)
{
    return (struct partner_sums){__atomic_load_n(&row->replies, __ATOMIC_RELAXED),
                                 __atomic_load_n(&row->brief, __ATOMIC_RELAXED)};
}

static void decide(struct partner *partner, const struct trace_partners_row *row, uint32_t cpu)
{
    const struct partner_sums now = sums_of(row);
    if (partner->cpu == cpu && now.replies - partner->since.replies < PLACEMENT_WINDOW)
        return;
    if (partner->cpu == cpu)
        partner->beside = placement_decides(&partner->since, &now);
    partner->cpu = cpu; /* a server that moved begins a window in the other CPU's row */
    partner->since = now;
}

/* ---- The measurement ---- */

/* Whether the server is the caller's partner. The first reply to a thread resets what an earlier one in the
 * same memory left, so that creating threads costs nothing. */
static bool is_partner(struct thread *caller, uint32_t server)
{
    struct partner *partner = &caller->partner;
    if (partner->caller != caller->tid || (partner->server != server && !partner->weight)) {
        *partner = (struct partner){.caller = caller->tid, .server = server, .weight = 1, .cpu = CPUS_MAX};
        return false;
    }
    if (partner->server != server) {
        partner->weight--;
        return false;
    }
    if (partner->weight < PLACEMENT_WEIGHT)
        partner->weight++;
    return partner->weight > PLACEMENT_PARTNER;
}

/* Shorter than coming and going: to leave an idle CPU takes about as long as the delay until it runs. */
static bool is_brief(const struct trace_partners_row *row, uint64_t ran)
{
    const uint64_t elsewhere = __atomic_load_n(&row->elsewhere, __ATOMIC_RELAXED);
    return elsewhere && ran < 2 * (__atomic_load_n(&row->elsewhere_delay, __ATOMIC_RELAXED) / elsewhere);
}

/* slice_used is the caller's run up to this call, because a thread that blocks begins a new slice; after
 * calls on the fast path, the run since the last call that was not. */
static void count_reply(struct trace_partners_row *row, const struct thread *caller)
{
    const struct partner *partner = &caller->partner;
    trace_row_begin_as(&row->begun, TRACE_ROW_OF_ONE);
    trace_row_add_as(&row->replies, 1, TRACE_ROW_OF_ONE);
    trace_row_add_as(&row->ran, caller->slice_used, TRACE_ROW_OF_ONE);
    if (partner->delay) { /* after the reply before this one */
        trace_row_add_as(partner->was_beside ? &row->beside : &row->elsewhere, 1, TRACE_ROW_OF_ONE);
        trace_row_add_as(partner->was_beside ? &row->beside_delay : &row->elsewhere_delay, partner->delay,
                         TRACE_ROW_OF_ONE);
    }
    if (is_brief(row, caller->slice_used))
        trace_row_add_as(&row->brief, 1, TRACE_ROW_OF_ONE);
    trace_row_end_as(&row->ended, TRACE_ROW_OF_ONE);
}

void placement_note_delay(struct thread *caller, uint64_t now)
{
    caller->partner.delay = now - caller->partner.replied_at;
}

/* Below the server's priority the caller would get no time for as long as others keep the server busy. */
static bool may_wait_beside(const struct cpu *cpu, const struct thread *caller)
{
    return atomic_load(&caller->affinity) & cpu->bit &&
           thread_priority(caller) >= thread_priority(cpu->current);
}

void placement_wake_caller(struct thread *caller)
{
    const struct cpu *cpu = this_cpu();
    struct partner *partner = &caller->partner;
    struct trace_partners_row *row = NULL;
    const uint32_t server = cpu->current->tid;
    if (is_partner(caller, server))
        row = trace_partners_row(arch_trace_ring(), server, caller->tid);
    if (!row) {
        sched_wake(caller);
        return;
    }
    count_reply(row, caller);
    decide(partner, row, cpu->index);
    const bool others_idle = atomic_load(&sched_idle_cpus) & atomic_load(&caller->affinity);
    partner->was_beside = partner->beside && others_idle && may_wait_beside(cpu, caller);
    partner->delay = 0;
    if (others_idle) {
        partner->replied_at = arch_clock();
        caller->traced |= TRACED_PLACED;
    }
    if (partner->was_beside)
        sched_put_beside(caller);
    else
        sched_wake(caller);
}
