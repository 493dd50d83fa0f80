/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel/space.h - address spaces: mappings, page tables, threads' blocks, capability table.
 */
#ifndef KERNEL_SPACE_H
#define KERNEL_SPACE_H

#include <arch/mmu.h>
#include <base/tree.h>
#include <kernel/cap.h>
#include <kernel/cpu.h>
#include <kernel/futex.h>
#include <kernel/lock.h>
#include <kernel/memory.h>
#include <tarn/abi.h>

struct thread;
struct endpoint;
struct notification;

/* A range of a space that shows a range of an object. Node of the space's tree (mapping.h). */
struct mapping {
    uint64_t start, end;   /* user addresses, page aligned */
    uint64_t offset;       /* in the object */
    struct memory *memory; /* a reference */
    struct memory
        *private; /* MAP_PRIVATE: frames written to, by the same offsets; a reference, or NULL so far */
    uint32_t flags, allowed; /* MAP_*: in force, and the most that the capability allowed */
    struct tree_node node;
    uint64_t first, last,
        hole; /* of all below in the tree: the extent, the largest hole between two. mapping.c */
    struct mapping *next_gone; /* space_unmap */
};

struct space {
    struct arch_space arch; /* tables under lock */
    struct spinlock lock;
    _Atomic uint32_t references;
    _Atomic uint32_t holders; /* capabilities to it in other spaces' tables: cap.c */
    uint32_t pid, parent_pid;
    bool system;    /* init, or a server that it made: constant once others know the space (scarce.h) */
    bool is_parent; /* has ever created a space; written by its own threads, read when they are gone */
    char name[TARN_NAME_BYTES];
    _Atomic uint64_t cpus;      /* processors that have run it; each sets its own bit, see space_activate */
    struct cap_table caps;      /* own lock, see cap.h */
    struct futex_table futexes; /* own locks */
    /* under lock */
    struct tree_node *mappings; /* mapping.h */
    uint64_t mapping_count, private_frames;
    uint64_t resident;         /* pages of its mappings that its tables show */
    uint64_t block_frames[16]; /* thread blocks: 32 to a frame, up to 512 threads */
    uint64_t block_used[8];
    /* threads: see thread.h (the list's lock is the space's) */
    struct thread *threads;
    uint32_t thread_count;
    uint16_t trace_classes; /* of applications that it has registered, a bit each: trace_lock */
    bool dying;             /* no more mappings, threads or capabilities */
    bool released;          /* its memory is gone */
    bool returned;          /* it is dead, and all of that has been given back */
    int32_t status;
    struct endpoint *fault_handler; /* a reference, or NULL. Also read without the lock: fault_fast.c */
    struct notification *watcher;   /* a reference, or NULL */
    uint64_t watcher_bits;
    char image_path[128]; /* what trace_image told, for statedumps */
    uint64_t image_base, image_size, build_id[2];
    struct space *next, *previous;     /* of the list of all spaces: space_list_lock */
    void (*work)(struct space *space); /* space_do_in_turn; belongs to the processor that does it */
    struct space *work_next;
};

/* One reference; NULL: no memory. `system`: scarce.h. */
struct space *space_new(const char *name, uint32_t parent_pid, bool system);
static inline void space_get(struct space *space)
{
    atomic_fetch_add_explicit(&space->references, 1, memory_order_relaxed);
}
void space_put(struct space *space);
/* Does work(space) now, or, when called out of such work, right after it. Whatever destroys a space drops
 * capabilities, which may be the last to other spaces, and so on: a program can make the chain as long as it
 * likes, so it must not be walked by recursion. No locks held. */
void space_do_in_turn(struct space *space, void (*work)(struct space *space));
/* Walks the spaces that `pid` created and that are not dying: the next one behind `previous` (NULL: the
 * first), with a reference, which the caller gives back after the step from it; NULL: no more. */
struct space *space_next_child(uint32_t pid, const struct space *previous);
struct space *space_next(const struct space *previous); /* the same of all spaces, dying ones included */
/* Memory of a space whose last thread is gone: unmaps everything, frees tables. Called once, by space_kill's
 * last step (process.c in kernel/); capabilities were closed before. */
void space_release_memory(struct space *space);

int64_t space_map(struct space *space, struct memory *memory, uint64_t address, uint64_t size,
                  uint64_t offset, uint32_t flags, uint32_t allowed); /* the address, or -E_* */
int space_unmap(struct space *space, uint64_t address, uint64_t size);
int space_protect(struct space *space, uint64_t address, uint64_t size, uint32_t flags);

/* What a fault turned out to be. */
enum fault_result {
    FAULT_RESOLVED,  /* go on */
    FAULT_ASK_PAGER, /* *pager and *object_offset say whom: the pager reference is the caller's to put */
    FAULT_REFUSED,   /* not mapped or not allowed */
    FAULT_NO_MEMORY,
};
#define FAULT_ACCESS_WRITE   1u
#define FAULT_ACCESS_EXECUTE 2u
#define FAULT_ACCESS_KERNEL  4u
struct fault_request {
    uint64_t address;
    uint32_t access;
    /* answers */
    uint32_t kind; /* enum fault_kind of trace/schema/fault.ev */
    struct endpoint *pager;
    uint32_t object_number;
    uint64_t object_offset;
};
enum fault_result space_fault(struct space *space, struct fault_request *request);

/* Thread blocks. The kernel address and the user address of a fresh one; -E_NO_MEMORY, -E_NO_SLOT. Lock taken
 * inside. */
struct thread_block;
int space_alloc_block(struct space *space, struct thread_block **block, uint64_t *user_address);
void space_free_block(struct space *space, uint64_t user_address);

#define SPACE_CHANGING ((struct space *)1)
void space_add_cpu(struct space *space, struct cpu *cpu); /* the first time that it runs there */

/* This processor uses the space's tables from now on; every switch to a thread goes through here.
 *
 * Who shoots down changes the tables, then looks at space->cpus and cpu->space (tlb.c). Bit and
 * SPACE_CHANGING are written before the tables are loaded, which arch_space_switch orders: either they are
 * seen, or the changed tables are. The old space's tables may be freed once it is not seen here: written
 * after they are out of use, which arch_space_switch orders too. */
static inline void space_activate(struct cpu *cpu, struct space *space)
{
    if (cpu->space == space)
        return;
    if (__builtin_expect(!(atomic_load_explicit(&space->cpus, memory_order_relaxed) & cpu->bit), 0))
        space_add_cpu(space, cpu);
    __atomic_store_n(&cpu->space, SPACE_CHANGING, __ATOMIC_RELAXED);
    arch_space_switch(&space->arch);
    __atomic_store_n(&cpu->space, space, __ATOMIC_RELAXED);
}

/* Nobody needs to ask this processor to forget translations of users any more. */
static inline void space_leave(struct cpu *cpu)
{
    if (!cpu->space)
        return;
    arch_space_switch(arch_kernel_space);
    __atomic_store_n(&cpu->space, NULL, __ATOMIC_RELEASE); /* as in space_activate */
}

/* Makes all processors that run the space forget [address, address + size) (size 0: everything). The tables
 * have been changed; waits for all answers. Locks may be held: waiting processors answer while they spin. */
void tlb_shootdown(struct space *space, uint64_t address, uint64_t size);
void tlb_handle_request(void);                  /* from the interrupt, and from spinning processors */
uint64_t tlb_unanswered(const struct cpu *cpu); /* for the debugger: the processors that it waits for there */

/* All spaces, for statedump and system_read: calls visit with each, under space_list_lock. */
void space_for_each(void (*visit)(struct space *space, void *context), void *context);
uint64_t space_count_live(void);
/* The newest, without the list's lock: for the debugger, while all processors stand. `next` leads on. */
struct space *space_first_unlocked(void);
uint64_t space_count_mappings(void); /* of all spaces */

#endif
