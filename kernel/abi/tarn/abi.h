/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel/abi/tarn/abi.h - what kernel and programs agree on: capabilities, messages, memory, addresses.
 *
 * System calls are declared in kernel/syscalls.def, errors in kernel/errors.def; build/gen/include/tarn/
 * holds what is generated from them: <tarn/syscall.h> (stubs, numbers), <tarn/error.h>.
 * Conventions: a system call returns >= 0, or a negative E_*. Sizes and offsets are bytes; memory is
 * mapped in whole pages. Deadlines are absolute nanoseconds of the monotonic clock (0 = do not wait,
 * TARN_FOREVER = no limit).
 */
#ifndef TARN_ABI_H
#define TARN_ABI_H

#include <stdint.h>

typedef uint32_t cap_t; /* a slot of the calling space's capability table; 0 is never valid */

#define TARN_FOREVER     (~0ull)
#define TARN_PAGE_SIZE   4096ull
#define TARN_NAME_BYTES  16
#define TARN_PRIORITIES  32 /* 0 lowest .. 31 highest */
#define TARN_PRIO_USER   8  /* what proc gives to programs */
#define TARN_PRIO_SERVER 16

/* lock_class of what programs wait for in libc-glue; the kernel's own follow. */
enum tarn_lock_class {
    TARN_LOCK_MUTEX, /* all that is made of a lock word: spin locks and newlib's locks, too */
    TARN_LOCK_READ,  /* a read-write lock by its readers */
    TARN_LOCK_WRITE, /* and by its writers */
    TARN_LOCK_ONCE,
    TARN_LOCK_SEMAPHORE, /* from here on nobody holds it: a wait is for another thread to go on */
    TARN_LOCK_CONDITION,
    TARN_LOCK_BARRIER,
    TARN_LOCK_JOIN,
    TARN_LOCK_WINDOW, /* for memory shared with a server, when all of it is lent */
    TARN_LOCK_CLASSES_USER,
};

/* ---- capabilities ------------------------------------------------------------------------------- */

enum cap_type {
    CAP_NONE,
    CAP_SPACE,
    CAP_THREAD,
    CAP_ENDPOINT,
    CAP_NOTIFICATION,
    CAP_MEMORY,
    CAP_IRQ,
    CAP_TRACE,
    CAP_MACHINE, /* authority over the machine: devices, interrupts, raw console, shutdown */
    CAP_REPLY,   /* a caller that waits for its answer; used up by ipc_reply_to */
};

/* Rights of a capability. cap_copy can only take away. */
#define RIGHT_READ    1u  /* memory: map readable; notification: wait; trace: read */
#define RIGHT_WRITE   2u  /* memory: map writable; notification: signal; trace: control */
#define RIGHT_EXECUTE 4u  /* memory: map executable */
#define RIGHT_SEND    8u  /* endpoint: call and send */
#define RIGHT_RECEIVE 16u /* endpoint: receive and reply */
#define RIGHT_MANAGE  32u /* space, thread: change and kill */
#define RIGHT_GRANT   64u /* may be passed on: by cap_copy or in a message */
#define RIGHT_ALL     127u

/* Slots that a new process finds filled by whoever made it (init or proc). */
enum {
    SLOT_SPACE = 1,  /* its own space */
    SLOT_THREAD = 2, /* its first thread */
    SLOT_PROC = 3,   /* endpoints of the servers, badge = pid of the holder */
    SLOT_FS = 4,
    SLOT_CONSOLE = 5,
    SLOT_NET = 6,
    SLOT_TRACED = 7,
    SLOT_SERVICE = 8, /* a server's own endpoint, right to receive */
    SLOT_TRACE = 9,   /* trace object */
    SLOT_MACHINE = 10,
    SLOT_BOOT_ARCHIVE = 11, /* memory: the boot archive (init, fs) */
    SLOT_FIRST_FREE = 16,
};

/* ---- messages ----------------------------------------------------------------------------------- */

#define IPC_WORDS              6
#define IPC_CAPS               4
#define IPC_LABEL_NOTIFICATION (~0ull) /* receive: no message; word[0] = bits of the bound notification */
#define IPC_LABEL_FAULT        (~1ull) /* to a fault handler; words: reason, address, ip, access, tid, pid */
#define IPC_LABEL_PAGE         (~2ull) /* to a pager; words: object, offset, access, tid, pid */

/* A message as C sees it; in flight it lies in registers (<arch/ipc_stub.h>), the capabilities in one, as
 * they lie here in memory. They are the sender's slots when sent (copied with their rights; needs
 * RIGHT_GRANT), fresh slots of the receiver when received. */
struct ipc_message {
    uint64_t label;
    uint64_t word[IPC_WORDS];
    uint16_t cap[IPC_CAPS]; /* 0 = none */
    uint64_t badge;         /* received only: badge of the capability that was called */
};

enum fault_reason {
    FAULT_PAGE = 1,
    FAULT_ILLEGAL,
    FAULT_ARITHMETIC,
    FAULT_BREAKPOINT,
    FAULT_PROTECTION,
    FAULT_ALIGNMENT,
};
#define FAULT_REPLY_RESUME 0u /* label of the answer: run again at the same instruction */
#define FAULT_REPLY_KILL   1u /* or: end the thread */

/* ---- memory ------------------------------------------------------------------------------------- */

#define MAP_READ     1u
#define MAP_WRITE    2u
#define MAP_EXECUTE  4u  /* never together with MAP_WRITE */
#define MAP_PRIVATE  8u  /* copy on write: writes go to frames of this mapping alone */
#define MAP_FIXED    16u /* exactly at the address given; else the kernel chooses */
#define MAP_UNCACHED 32u

/* User addresses, the same on every port. */
#define USER_BASE 0x0000000000010000ull
#define USER_TRACE_INFO \
    0x0000000000100000ull /* trace info page, read-only; a 32-bit displacement reaches it */
#define USER_IMAGE         0x0000000000400000ull /* programs are linked here */
#define USER_MMAP_BASE     0x0000001000000000ull /* where space_map places what has no fixed address */
#define USER_MMAP_END      0x0000600000000000ull
#define USER_THREAD_BLOCKS 0x0000600000000000ull /* struct thread_block, one per thread, read-only */
#define USER_END           0x0000600000000000ull /* space_map refuses what is not below */
#define USER_TRACE_WINDOWS 0x0000700000000000ull /* trace windows of all processors */

/* ---- threads and processes ----------------------------------------------------------------------- */

struct thread_config {
    uint64_t entry; /* user address */
    uint64_t stack; /* initial stack pointer */
    uint64_t arg;   /* first argument of the entry function */
    uint64_t tls;   /* thread pointer */
    uint32_t priority;
    uint32_t flags;    /* 0 */
    uint64_t affinity; /* bit per processor; 0 = all */
    char name[TARN_NAME_BYTES];
};

/* What system_read gives (syscalls.def). Structures only grow at their end. */
enum system_read_kind {
    SYSTEM_STATS = 1,
    SYSTEM_THREADS = 2,
    SYSTEM_SPACES = 3,
    SYSTEM_COMMAND_LINE = 4,
    SYSTEM_LOCK_CLASSES = 5,
};

struct system_lock_class {
    char name[32];
    uint32_t number;    /* as in the trace */
    uint32_t watch;     /* of so many acquisitions one is logged; 0: none */
    uint64_t contended; /* how often somebody had to wait; not counted of programs' mutexes */
};

struct system_stats {
    uint64_t frames_total, frames_free; /* page frames; free ones count those in the processors' caches */
    uint64_t spaces, threads, endpoints, notifications, memories, irqs, replies, mappings; /* that exist */
    uint64_t cpus;
    uint64_t idle_ns;     /* of all processors together, since boot */
    uint64_t slab_frames; /* frames held by caches of kernel objects */
};

/* What machine_debug does. */
enum machine_debug_operation {
    MACHINE_DEBUG_ENTER,      /* a session of the kernel's debugger on the console */
    MACHINE_DEBUG_BREAKPOINT, /* the same, by a breakpoint instruction in the kernel */
    MACHINE_DEBUG_HANG,  /* the processor does nothing for so many milliseconds, and takes no interrupts; with
                            bits above the lower 32, the processors do so that they name: for tests and
                            demonstrations, and only with the boot option debug.hang=1 */
    MACHINE_DEBUG_LOCK,  /* the same, while it holds a lock of the kernel, always the same one */
    MACHINE_DEBUG_PANIC, /* enum machine_debug_panic: for tests, and only with debug.panic=1 */
};
/* In place of milliseconds: until the watchdog has reported all that hang so, and done what it is to do, or a
 * session of the debugger ends. */
#define MACHINE_HANG_NOTICED UINT32_MAX
enum machine_debug_panic {
    MACHINE_PANIC_PLAIN,
    MACHINE_PANIC_NULL,    /* the kernel stores to address 0 */
    MACHINE_PANIC_CONSOLE, /* while it holds the console's lock */
    MACHINE_PANIC_ALL,     /* all other processors at the same moment, while this one waits for them */
    MACHINE_PANIC_FAULTS,  /* each step of the panic meets a fault */
};

/* Locks of programs (libc-glue) are words: 0 when free, else who holds it, and whether somebody may be
 * waiting in futex_wait. A read-write lock that is read has the number of readers instead. The kernel's
 * debugger reads them. */
#define LOCK_WORD_HELD   0x40000000u
#define LOCK_WORD_WANTED 0x80000000u
#define LOCK_WORD_TIMED  0x20000000u /* the holder knows since when, and will log how long it was */
#define LOCK_WORD_TID    0x1fffffffu

/* The trace has numbers of its own for them: kernel/traced_state.h. */
enum thread_state {
    THREAD_RUNNING = 0,
    THREAD_READY = 1,
    THREAD_BLOCKED_SEND = 2,
    THREAD_BLOCKED_RECEIVE = 3,
    THREAD_BLOCKED_REPLY = 4,
    THREAD_BLOCKED_NOTIFICATION = 5,
    THREAD_BLOCKED_FUTEX = 6,
    THREAD_SLEEPING = 7,
    THREAD_BLOCKED_FAULT = 8,
    THREAD_SUSPENDED = 9,
    THREAD_DEAD = 10,
};

struct system_thread {
    uint32_t tid, pid;
    uint32_t state; /* enum thread_state */
    uint32_t cpu, priority, reserved;
    uint64_t affinity, run_ns;
    char name[TARN_NAME_BYTES];
};

struct system_space {
    uint32_t pid, parent_pid, threads, dying;
    uint64_t resident; /* pages of its mappings that are in memory, shared ones included */
    char name[TARN_NAME_BYTES];
};

struct irq_message {  /* what to write into a device's MSI-X table */
    uint64_t address; /* 0: nothing, it is written already */
    uint32_t data;
    uint32_t reserved;
};

/* ---- start of a program -------------------------------------------------------------------------- */

/* The first thread's argument points to this, in its stack's top pages; pointers are valid in its space. */
#define STARTUP_MAGIC 0x54617274u
struct startup_fd {
    int32_t fd;
    uint32_t kind;   /* libc-glue's kind of file */
    uint32_t server; /* slot of the server's endpoint: SLOT_FS, SLOT_CONSOLE, ... */
    uint32_t flags;  /* O_* */
    uint64_t handle; /* the server's number for the open file */
};
struct startup {
    uint32_t magic;
    uint32_t pid, parent_pid;
    int32_t argc;
    char **argv;
    char **envp;
    uint64_t fd_count; /* inherited open files */
    struct startup_fd *fds;
    const char *cwd;
    const char *path; /* of the image */
    uint64_t image_base, image_size;
    uint64_t stack_low, stack_high;
    uint64_t affinity; /* processors for the process and its children: bit each, 0 = all */
    uint64_t priority; /* of the first thread, and of others that say nothing else */
};

#endif
