/* space.h - address spaces: mappings, page tables, thread blocks, capability table. */
#pragma once

#include <arch/mmu.h>
#include <base/tree.h>
#include <kernel/cpu/cpu.h>
#include <kernel/cpu/lock.h>
#include <kernel/hook.h>
#include <kernel/lib/list.h>
#include <kernel/object/cap_table.h>
#include <kernel/space/memory.h>
#include <tarn/abi.h>

struct routine_table;
struct endpoint;
struct notification;

/* A range of a space that maps a range of a memory object; a node of the space's tree (mapping.c). */
struct mapping {
    uint64_t start, end;   /* user addresses, page aligned */
    uint64_t offset;       /* in the object */
    struct memory *memory; /* a reference */
    /* MAP_PRIVATE: frames written to, at the same offsets; a reference, or NULL */
    struct memory *private;
    /* MAP_*: in force; the capability's maximum; MAP_WRITE and MAP_EXECUTE as counted in the object */
    uint32_t flags, allowed, uses;
    struct tree_node node;
    uint64_t first, last, hole; /* of this subtree: extent, largest gap; mapping.c */
    struct mapping *next_gone;  /* sys_space_unmap */
};

/* Where threads wait for words of memory (ipc/futex.c). Each space has its own buckets: programs never share
 * one, and a bucket has no more waiters than the space has threads, whatever addresses it uses. */
#define FUTEX_BUCKET_BITS 4u
struct futex_bucket {
    struct spinlock lock;
    struct list waiters; /* under lock: thread.link */
};

struct space {
    struct arch_space arch; /* tables are under lock */
    struct spinlock lock;
    _Atomic uint32_t references;
    _Atomic uint32_t holders;  /* capabilities to it in other spaces */
    uint32_t pid, creator_pid; /* the space that made it, with which it ends */
    uint32_t parent_pid;       /* the process that asked for it: for people, and for the trace */
    bool system;               /* init or a server (scarce.c); constant once others know the space */
    bool is_parent;            /* has ever created a space; written by its threads, read when they are gone */
    char name[TARN_NAME_BYTES];
    _Atomic uint64_t cpus; /* CPUs that have run it; each sets its own bit, see space_activate */
    struct cap_table caps; /* own lock, see cap_table.h */
    struct futex_bucket futexes[1u << FUTEX_BUCKET_BITS];
    /* under lock: */
    struct tree_node *mappings; /* mapping.c */
    uint64_t mapping_count, private_frames;
    uint64_t resident;         /* pages of its mappings that are in its tables */
    uint64_t block_frames[16]; /* thread blocks: 32 per page frame, up to 512 threads */
    uint64_t block_used[8];
    uint64_t counting_blocks[8]; /* blocks with page frames of routines_map, which are private frames */
    uint32_t counting_frames;
    uint32_t named_routines; /* in this epoch of routines (routine_names.c, under its lock) */
    uint64_t named_epoch;
    struct list threads; /* see thread.h (the list's lock is the space's) */
    uint32_t thread_count;
    uint16_t trace_classes; /* application classes that it registered, a bit each */
    bool dying;             /* accepts no more mappings, threads or capabilities */
    bool released;          /* its memory is freed */
    bool returned;          /* it is dead, and everything is freed */
    int32_t status;
    /* routines.c, under routines_lock: */
    struct routine_table *routine_tables[2]; /* of ended threads, and of ended children */
    struct space *heir;                      /* a reference, or NULL: its children's table inherits these */
    bool has_routines;                       /* or may get some from others */
    _Atomic uint32_t routine_frames;         /* of its routines, its living threads' included; without lock */
    struct endpoint *fault_handler;          /* a reference, or NULL; ipc_fast.c reads it without the lock */
    struct notification *watcher;            /* a reference, or NULL */
    uint64_t watcher_bits;
    char executable_path[128]; /* from trace_image, for statedumps */
    uint64_t executable_base, executable_size, build_id[2];
    struct list all;                   /* in the list of all spaces: under space_list_lock */
    void (*work)(struct space *space); /* space_defer; belongs to the CPU that does the work */
    struct space *work_next;
};

/* Returns one reference; NULL: no memory. `system`: see scarce.c. */
struct space *space_new(const char *name, uint32_t creator_pid, uint32_t parent_pid, bool system);
static inline void space_get(struct space *space)
{
    atomic_fetch_add_explicit(&space->references, 1, memory_order_relaxed);
}
void space_put(struct space *space);
/* Calls work(space) now or, inside such work, right after it. Hold no locks. Destroying a space may drop the
 * last capability to another one, and so on: a chain too long for recursion. */
void space_defer(struct space *space, void (*work)(struct space *space));
/* The space after `previous` (NULL: the newest) among all, dying ones included, with a reference; NULL: no
 * more. Drops the reference to `previous`. */
struct space *space_next(struct space *previous);
/* Frees all memory and page tables. Once, by the last step of space_kill (space_exit.c): no threads,
 * capabilities closed. */
void space_release_memory(struct space *space);

/* Returns the address, or -E_*. */
int64_t space_map(struct space *space, struct memory *memory, uint64_t address, uint64_t size,
                  uint64_t offset, uint32_t flags, uint32_t allowed);

/* mapping.c: the tree of mappings, without locks and references. */
/* The mapping that contains `address`, else the first one above it; NULL: none. */
struct mapping *mapping_find(struct tree_node *root, uint64_t address);
void mapping_insert(struct tree_node **root, struct mapping *mapping); /* must not overlap another */
void mapping_remove(struct tree_node **root, struct mapping *mapping);
/* Shortens it. */
void mapping_end_at(struct tree_node **root, struct mapping *mapping, uint64_t end);
struct mapping *mapping_take_any(struct tree_node **root); /* as tree_take_any() */
/* The lowest address >= `from` with `size` free bytes below `limit`; 0: none. Leaves a free page at each
 * end, so that overruns fault. Takes a few descents of the tree, however many gaps are too small. */
uint64_t mapping_find_gap(struct tree_node *root, uint64_t from, uint64_t limit, uint64_t size);

/* sched/space_exit.c: death. */

/* The last capability in another space was closed: kills the space, because no program could do so later.
 * Has no effect on init, which no space created. */
HOOK(space_abandon, void, struct space *space);
/* From anywhere, any number of times, no locks held. True the first time: this call's status counts. */
bool space_kill(struct space *space, int32_t status);
void space_finish(struct space *space); /* after the last thread has ended; once */
/* Has space_finish call function(space), when the memory is freed; hold no locks. Steps: 1_routines,
 * 2_watcher. */
typedef void space_end(struct space *space);
extern space_end *const space_ends_first[], *const space_ends_last[];
#define SPACE_END(step, function) LISTEN(space_ends, step, space_end, function)

/* What to do about a fault. */
enum fault_result {
    FAULT_RESOLVED,  /* resume */
    FAULT_ASK_PAGER, /* ask *pager for *object_offset; the caller drops the reference to the pager */
    FAULT_REFUSED,   /* not mapped or not allowed */
    FAULT_NO_MEMORY,
};
#define FAULT_ACCESS_WRITE   1u
#define FAULT_ACCESS_EXECUTE 2u
#define FAULT_ACCESS_KERNEL  4u
struct fault_request {
    uint64_t address;
    uint32_t access;
    /* results: */
    uint32_t kind; /* enum fault_kind of trace/schema/fault.ev */
    struct endpoint *pager;
    uint32_t object_number;
    uint64_t object_offset;
};
enum fault_result space_fault(struct space *space, struct fault_request *request);

/* Allocates a thread block; returns its kernel and user address. -E_NO_MEMORY, -E_NO_SLOT. Takes the lock. */
int space_alloc_block(struct space *space, struct thread_block **block, uint64_t *user_address);
void space_free_block(struct space *space, uint64_t user_address);
/* The user address of the page frames in which the thread with a block counts routines
 * (routines_map). They stay until the space ends, also for the block's next thread. */
uint64_t space_counting_address(uint64_t block_user);
/* Maps the page frame with this number there. -E_NO_MEMORY, also if the space has too many; -E_DEAD. Takes
 * the lock. */
int space_map_counting(struct space *space, uint64_t block_user, uint32_t number);
/* FRAME_NONE: it is not mapped. For the thread itself, or when it runs no more: needs no lock. */
paddr_t space_counting_frame(struct space *space, uint64_t block_user, uint32_t number);

#define SPACE_CHANGING ((struct space *)1)
void space_add_cpu(struct space *space, struct cpu *cpu); /* on the first run on that CPU */

/* Loads the space's page tables; every switch to a thread calls this. A TLB shootdown changes the tables,
 * then reads space->cpus and cpu->space (tlb.c). Here the bit and SPACE_CHANGING are written before the
 * tables are loaded, which arch_space_switch orders: the shootdown sees them, or this CPU loads the changed
 * tables. The old space's tables may be freed once no cpu->space shows it: it is replaced after they are out
 * of use, which arch_space_switch orders, too. */
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

/* Loads the kernel's page tables; this CPU then gets no TLB shootdowns. */
static inline void space_unload(struct cpu *cpu)
{
    if (!cpu->space)
        return;
    arch_space_switch(arch_kernel_space);
    __atomic_store_n(&cpu->space, NULL, __ATOMIC_RELEASE); /* as in space_activate */
}

/* Makes all CPUs that run the space drop translations of [address, address + size) (size 0: all), and waits
 * for them. The tables are changed already. Locks may be held: CPUs that spin for them respond. */
void tlb_shootdown(struct space *space, uint64_t address, uint64_t size);

/* Under space_list_lock; for statedumps and system_read. */
void space_for_each(void (*visit)(struct space *space, void *context), void *context);
/* The newest space's: it is in the list, as are all older ones that exist. */
uint32_t space_newest_pid(void);
/* The next one; NULL: no more. For the debugger, without the lock, while all CPUs are stopped. */
struct space *space_next_unlocked(const struct space *previous);
