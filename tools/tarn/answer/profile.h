/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/answer/profile.h - inside `tarn profile`: what it keeps of samples, and the tables it fills.
 *
 * During the walk chains are kept as a tree of addresses, so that a sample costs a look-up for each of its
 * addresses and no more. Symbols are asked for once it is over.
 */
#ifndef TARN_PROFILE_H
#define TARN_PROFILE_H

#include <tools/tarn/answer/answer.h>
#include <tools/tarn/answer/call_tree.h>
#include <tools/tarn/symbols/symbols.h>

/* An address of a chain, called from `outer`. */
struct stack_node {
    const struct stack_node *outer; /* NULL: a process */
    const struct image *image;
    uint64_t address;
    uint32_t pid, depth;
    bool is_kernel;
    bool is_return;    /* look up the call before it; else the address itself */
    bool is_innermost; /* of the kernel's or the program's part of the chain */
    struct sums self;
};

/* Of a thread. */
struct thread_sums {
    const struct model_thread *thread;
    struct sums user, kernel;
};

struct line_sums {
    const char *file, *function, *image;
    unsigned line;
    struct sums self;
};

enum {
    BY_PROCESS,
    BY_THREAD,
    BY_IMAGE,
    BY_FUNCTION,
    BY_LINE,
    BY_CALLS,
    BY_CALLERS,
    BY_LATENESS,
    PROFILE_TABLES
};

struct profile {
    struct answer answer;
    struct map stacks;  /* struct stack_node by outer node, address, and pid with flags */
    struct map threads; /* struct thread_sums by number */
    struct map lines;   /* struct line_sums by hash of file and line, function */
    struct call_tree calls, callers;
    struct sums whole, user, kernel;
    struct distribution late;
    struct arena arena;
    uint64_t period;  /* ticks, as was set last; 0: not known */
    bool has_counter; /* samples tell instructions */
    const struct event_type *sample;
    const struct field *ip, *busy, *instructions, *lateness, *tid, *pid, *mode, *kernel_depth, *chain;
    uint64_t syscall_mode; /* value of `mode`; UINT64_MAX: the trace does not tell system calls */
    /* options */
    enum weight weight;
    bool has_least;
    double least; /* percent: branches of calls and callers that are lighter are left out */
    bool folded;
    const char *flame;
};

extern const struct table profile_tables[PROFILE_TABLES], profile_totals;
void profile_fill(struct profile *profile);

#endif
