/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * profile.h - data of `tarn profile`: the samples, and the tables made from them.
 *
 * During the walk, chains are stored as a tree of addresses, so a sample costs one look-up per address.
 * Symbols are looked up afterwards.
 */
#ifndef TARN_PROFILE_H
#define TARN_PROFILE_H

#include <tools/tarn/analysis/analysis.h>
#include <tools/tarn/analysis/call_tree.h>
#include <tools/tarn/symbols/symbols.h>

/* An address in a chain, called from `outer`. */
struct stack_node {
    const struct stack_node *outer; /* NULL: a process */
    const struct executable *executable;
    uint64_t address;
    uint32_t pid, depth;
    bool is_kernel;
    bool is_return;    /* a return address: the symbol is that of the call before it */
    bool is_innermost; /* of the kernel's or the program's part of the chain */
    bool is_cut;       /* no address: stands for calls that the sample lacks */
    struct sums self;
};

struct thread_sums {
    const struct model_thread *thread;
    struct sums user, kernel;
};

struct line_sums {
    const char *file, *function, *executable;
    unsigned line;
    struct sums self;
};

enum {
    BY_PROCESS,
    BY_THREAD,
    BY_EXECUTABLE,
    BY_FUNCTION,
    BY_LINE,
    BY_CALLS,
    BY_CALLERS,
    BY_LATENESS,
    PROFILE_TABLES
};

struct profile {
    struct analysis analysis;
    struct map stacks;  /* struct stack_node by outer node, address, and pid with flags */
    struct map threads; /* struct thread_sums, by thread number */
    struct map lines;   /* struct line_sums by hash of file and line, function */
    struct call_tree calls, callers;
    struct sums whole, user, kernel;
    struct distribution late;
    uint64_t period;     /* ticks or counts, the latest setting; 0: unknown */
    const char *counter; /* hardware counter that drove the sampling; NULL: the clock did */
    bool has_counter;    /* samples contain instruction counts */
    const struct event_type *sample;
    const struct field *ip, *busy, *instructions, *lateness, *counted, *tid, *pid, *mode, *kernel_depth,
        *is_cut, *chain;
    uint64_t syscall_mode; /* value of `mode`; UINT64_MAX: the trace does not distinguish system calls */
    /* options */
    enum weight weight;
    bool has_least;
    double least; /* percent: lighter branches of calls and callers are left out */
    bool folded;
    const char *flame;
};

extern const struct table profile_tables[PROFILE_TABLES], profile_totals;
void profile_fill(struct profile *profile);

#endif
