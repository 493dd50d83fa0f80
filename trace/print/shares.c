/* trace/print/shares.c - how each process spent its time; see shares.h. */
#include <trace/print/shares.h>

const char *const trace_share_names[TRACE_SHARES] = {
    [TRACE_SHARE_PROGRAM] = "program",
    [TRACE_SHARE_SYSCALLS] = "syscalls",
    [TRACE_SHARE_CALLS] = "calls",
    [TRACE_SHARE_FAULTS] = "faults",
    [TRACE_SHARE_INTERRUPTS] = "interrupts",
    [TRACE_SHARE_IDLE] = "idle",
    [TRACE_SHARE_OTHERS] = "others",
    [TRACE_SHARE_READY] = "ready",
    [TRACE_SHARE_SEND] = "send",
    [TRACE_SHARE_RECEIVE] = "receive",
    [TRACE_SHARE_REPLY] = "reply",
    [TRACE_SHARE_NOTIFICATION] = "notification",
    [TRACE_SHARE_FUTEX] = "futex",
    [TRACE_SHARE_SLEEP] = "sleep",
    [TRACE_SHARE_FAULT] = "fault",
    [TRACE_SHARE_SUSPENDED] = "suspended",
    [TRACE_SHARE_AWAY] = "away",
};

/* By enum thread_state of tarn/abi.h, of a thread that is switched away from. */
static const uint8_t out_shares[] = {TRACE_SHARE_AWAY,     TRACE_SHARE_READY, TRACE_SHARE_SEND,
                                     TRACE_SHARE_RECEIVE,  TRACE_SHARE_REPLY, TRACE_SHARE_NOTIFICATION,
                                     TRACE_SHARE_FUTEX,    TRACE_SHARE_SLEEP, TRACE_SHARE_FAULT,
                                     TRACE_SHARE_SUSPENDED};

static const uint8_t kind_shares[TRACE_ROUTINE_KINDS] = {
    [TRACE_ROUTINE_SYSCALL] = TRACE_SHARE_SYSCALLS, [TRACE_ROUTINE_FAULT] = TRACE_SHARE_FAULTS,
    [TRACE_ROUTINE_EXCEPTION] = TRACE_SHARE_FAULTS, [TRACE_ROUTINE_INTERRUPT] = TRACE_SHARE_INTERRUPTS,
    [TRACE_ROUTINE_IPI] = TRACE_SHARE_INTERRUPTS,   [TRACE_ROUTINE_TIMER] = TRACE_SHARE_INTERRUPTS,
    [TRACE_ROUTINE_IDLE] = TRACE_SHARE_IDLE,        [TRACE_ROUTINE_CALL] = TRACE_SHARE_CALLS,
    [TRACE_ROUTINE_SERVED] = TRACE_SHARE_OTHERS,    [TRACE_ROUTINE_OTHERS] = TRACE_SHARE_OTHERS,
    [TRACE_ROUTINE_PROGRAM] = TRACE_SHARE_PROGRAM,
};

static enum trace_share share_of(uint64_t key)
{
    const uint64_t argument = trace_routine_argument(key);
    const enum trace_routine_kind kind = trace_routine_kind(key);
    if (kind == TRACE_ROUTINE_OUT)
        return argument < sizeof out_shares ? (enum trace_share)out_shares[argument] : TRACE_SHARE_SUSPENDED;
    return kind < TRACE_ROUTINE_KINDS ? (enum trace_share)kind_shares[kind] : TRACE_SHARE_OTHERS;
}

bool trace_shares_add(struct trace_process_shares *process, const struct trace_routines *head,
                      const struct trace_routines_row *rows)
{
    if (!trace_shares_are_of_process(head))
        return false;
    process->pid = head->pid;
    if (head->of == TRACE_ROUTINES_THREAD)
        process->until += (uint64_t)((int64_t)(head->until - process->until) / (int64_t)++process->threads);
    else if (process->threads == 0)
        process->until = head->until;
    if (head->of == TRACE_ROUTINES_THREAD || !process->name[0])
        for (unsigned i = 0; i < sizeof process->name; i++)
            process->name[i] = head->name[i];
    for (uint32_t i = 0; i < head->rows; i++)
        if (trace_routine_kind(rows[i].routine) != TRACE_ROUTINE_SERVED)
            process->ticks[share_of(rows[i].routine)] += rows[i].own;
    return true;
}

uint64_t trace_shares_running(const struct trace_process_shares *process)
{
    uint64_t ticks = 0;
    for (unsigned i = 0; i < TRACE_SHARE_READY; i++)
        ticks += process->ticks[i];
    return ticks;
}

void trace_shares_subtract(struct trace_process_shares *now, const struct trace_process_shares *before)
{
    for (unsigned i = 0; i < TRACE_SHARES; i++)
        if (now->ticks[i] < before->ticks[i])
            return;
    for (unsigned i = 0; i < TRACE_SHARES; i++)
        now->ticks[i] -= before->ticks[i];
    now->interval = now->until - before->until;
}
