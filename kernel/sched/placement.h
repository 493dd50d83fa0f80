/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * placement.h - puts callers on the CPU of their server, where the table `partners` says that this pays
 * (boot option feedback=placement; docs/feedback.md).
 *
 * A server that replies to a caller while others wait for it goes on with the next message. The scheduler
 * would give the caller an idle CPU. There it runs for a moment, calls the same server again, and waits: two
 * interrupts, two switches and the general path of IPC, to overlap that moment with the server's work. Beside
 * the server, the caller waits until the server has no messages left, and both take the fast path from then
 * on.
 *
 * So a caller is put beside its server if it usually runs for a shorter time than it takes to begin on an
 * idle CPU. Both times are measured, in the row of this pair in the table of the server's CPU
 * (trace/schema/sched.ev). Of the last PLACEMENT_WINDOW replies three quarters decide for the next ones. Rows
 * are for pairs that meet again and again: a thread has one partner, the server that replied most often, by
 * majority vote (Boyer and Moore).
 *
 * No thread starves. The caller only gets a CPU that its affinity allows, goes behind its equals in that
 * CPU's queue, so it takes no turn from them, and is put there only if its priority is not below the
 * server's, so it gets a turn after one time slice of each of these, however busy others keep the server. An
 * idle CPU's heartbeat takes it from the queue. So a program wins no time that it could not win by binding
 * its threads to that CPU. Programs can write to the tables: a false row makes a thread wait longer or move
 * more often, no more.
 *
 * A struct partner belongs to what owns its thread (thread.h); rows are written by their CPU. No lock.
 */
#ifndef KERNEL_PLACEMENT_H
#define KERNEL_PLACEMENT_H

#include <stdbool.h>
#include <stdint.h>

#define PLACEMENT_WINDOW  16u /* replies between two decisions */
#define PLACEMENT_PARTNER 8u  /* replies more than by others: the server is its partner */
#define PLACEMENT_WEIGHT  64u /* the vote counts no further, so that a new partner is found soon */

struct thread;

/* Columns of a row. */
struct partner_sums {
    uint64_t replies, brief;
};

struct partner {
    uint32_t caller; /* thread number of the thread itself; another one: all is of a thread that ended */
    uint32_t server; /* thread number of the candidate; 0: none */
    uint32_t weight; /* of the vote */
    uint32_t cpu;    /* whose row `since` is of */
    bool beside;     /* the decision */
    bool was_beside; /* after the last reply */
    uint64_t replied_at, delay; /* ticks: of that reply; until the caller ran, 0: not measured */
    struct partner_sums since;  /* the row at the last decision */
};

extern bool placement_on;

/* What the window says. `before` and `now`: the row at the window's begin and end, whatever is in it. */
bool placement_decides(const struct partner_sums *before, const struct partner_sums *now);
/* Wakes a caller whose reply has been sent, while the current thread has the next message already. */
void placement_wake_caller(struct thread *caller);
/* The caller runs. */
void placement_note_delay(struct thread *caller, uint64_t now);
void feedback_boot(void); /* feedback.c: reads the boot option, once all CPUs have started */

#endif
