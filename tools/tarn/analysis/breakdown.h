/* SPDX-License-Identifier: BSD-2-Clause */
/* breakdown.h - data of `tarn breakdown`: collected in breakdown.c, shown by breakdown_tables.c. */
#ifndef TARN_BREAKDOWN_H
#define TARN_BREAKDOWN_H

#include <tools/tarn/analysis/functions.h>
#include <tools/tarn/analysis/kinds.h>
#include <tools/tarn/map.h>

enum what_kind {
    WHAT_USER,
    WHAT_POSIX,     /* detail: libc_call. Time in the C library itself */
    WHAT_SYSCALL,   /* detail: syscall_number */
    WHAT_FAULT,     /* detail: fault_kind, or UINT32_MAX */
    WHAT_EXCEPTION, /* detail: vector */
    WHAT_IRQ,       /* detail: irq */
    WHAT_IPI,       /* detail: ipi_kind */
    WHAT_BOOT,      /* this and the next two: of an idle thread */
    WHAT_KERNEL,    /* kernel work outside boot */
    WHAT_IDLE,
    WHAT_EX,       /* a server works on its call; detail: function, see struct breakdown */
    WHAT_TAKE,     /* no server has received its call yet; detail: function */
    WHAT_DEFERRED, /* the server received its call and will reply later; detail: function */
    WHAT_READY,
    WHAT_WAIT, /* detail: model_state */
    WHAT_UNKNOWN,
    WHAT_KINDS
};

enum group {
    GROUP_USER,
    GROUP_POSIX,
    GROUP_SYSCALL,
    GROUP_FAULT,
    GROUP_INTERRUPT,
    GROUP_KERNEL,
    GROUP_IDLE,
    GROUP_EX,
    GROUP_TAKE,
    GROUP_DEFERRED,
    GROUP_READY,
    GROUP_WAIT,
    GROUP_UNKNOWN,
    GROUPS
};

extern const struct breakdown_kind {
    const char *name;
    enum group group;
} breakdown_kinds[WHAT_KINDS];

struct what {
    enum what_kind kind;
    uint64_t detail;
};

struct part {
    uint64_t ticks, count;
};

struct function {
    uint64_t number;      /* 1, 2, ...; 0: new */
    uint64_t calls;       /* calls received */
    uint64_t ran, waited; /* ticks of the server's threads while they worked on it */
};

struct progress { /* of one thread */
    uint64_t ticks[GROUPS];
    uint64_t fault;  /* ticks in the current fault, whose kind is known at its end */
    uint64_t key[2]; /* of the part that got its last segment */
    uint64_t end;    /* end of that segment */
};

enum { BY_PROCESS, BY_THREAD, BY_ACTIVITY, BY_USE, BY_THREAD_USE, BY_CALL, BY_SERVED, BREAKDOWN_TABLES };

struct breakdown {
    struct analysis analysis;
    struct map parts;     /* struct part by thread, by context and kind, by detail */
    struct map functions; /* struct function by functions_whom and label */
    struct functions names_of_functions;
    struct slots progress;
    const struct field *names[WHAT_KINDS];
};

/* The key of a part: the innermost POSIX call (0: none) and the kind. */
#define CONTEXT_KEY(context, kind) ((uint64_t)(context) << 8 | (kind))

extern const struct table breakdown_tables[BREAKDOWN_TABLES], breakdown_totals;

void breakdown_fill(struct analysis *analysis);

#endif
