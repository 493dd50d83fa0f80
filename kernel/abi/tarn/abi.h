/*
 * abi.h - the interface between kernel and programs: capabilities, messages, memory, addresses.
 *
 * kernel/syscalls.def declares system calls and kernel/errors.def errors; <tarn/syscall.h> and
 * <tarn/error.h> are generated from them (kernel/gen).
 *
 * A system call returns >= 0, or a negative E_*. Sizes and offsets are bytes; memory is mapped in whole
 * pages. Deadlines are absolute nanoseconds of the monotonic clock (0: do not wait, TARN_FOREVER: no
 * limit).
 */
#pragma once

#include <stdint.h>

typedef uint32_t cap_t; /* a slot of the calling space's capability table; 0 is never valid */

#define TARN_FOREVER     (~0ull)
#define TARN_PAGE_SIZE   4096ull
#define TARN_NAME_BYTES  16
#define TARN_PRIORITIES  32 /* 0 lowest to 31 highest */
#define TARN_PRIO_USER   8  /* programs that proc starts */
#define TARN_PRIO_SERVER 16

/* Lock classes of programs (libc-glue); the kernel's follow. */
enum tarn_lock_class {
    TARN_LOCK_MUTEX, /* everything based on a lock word, including spin locks and newlib's locks */
    TARN_LOCK_READ,  /* readers of a read-write lock */
    TARN_LOCK_WRITE, /* its writers */
    TARN_LOCK_ONCE,
    /* from here on there is no holder: a wait is for another thread to make progress */
    TARN_LOCK_SEMAPHORE,
    TARN_LOCK_CONDITION,
    TARN_LOCK_BARRIER,
    TARN_LOCK_JOIN,
    TARN_LOCK_WINDOW, /* all of the memory shared with a server is in use */
    TARN_LOCK_CLASSES_USER,
};

/* ---- Capabilities ---- */

enum cap_type {
    CAP_NONE,
    CAP_SPACE,
    CAP_THREAD,
    CAP_ENDPOINT,
    CAP_NOTIFICATION,
    CAP_MEMORY,
    CAP_IRQ,
    CAP_TRACE,
    CAP_MACHINE, /* authority over the machine: raw console, interrupt lines, devices, debugger, power */
    CAP_DEVICE,  /* authority over one PCI device, for its driver */
    CAP_REPLY,   /* a caller that waits for its reply; used up by ipc_reply_to */
};
#define CAP_TYPES (CAP_REPLY + 1)

/* Rights of a capability. cap_copy can only remove them. */
#define RIGHT_READ                                                                          \
    1u /* memory: map readable; notification: wait; trace: read; machine: read the console; \
        * device: read its configuration */
#define RIGHT_WRITE                                                                         \
    2u /* memory: map writable; notification: signal; trace: control; machine: write to the \
        * console; device: write its configuration */
#define RIGHT_EXECUTE 4u  /* memory: map executable */
#define RIGHT_SEND    8u  /* endpoint: call and send */
#define RIGHT_RECEIVE 16u /* endpoint: receive and reply */
#define RIGHT_MANAGE                                                                                         \
    32u                 /* space, thread: change and kill; machine: all but the console; device: its memory, \
                         * interrupts and DMA */
#define RIGHT_GRANT 64u /* may be copied by cap_copy or passed in a message */
#define RIGHT_ALL   127u

/* Slots of a new process, filled by its creator (init or proc). */
enum {
    SLOT_SPACE = 1,  /* its own space */
    SLOT_THREAD = 2, /* its first thread */
    SLOT_PROC = 3,   /* endpoints of the servers; badge: pid of the holder */
    SLOT_FS = 4,
    SLOT_CONSOLE = 5,
    SLOT_NET = 6,
    SLOT_TRACED = 7,
    SLOT_SERVICE = 8, /* a server's own endpoint, with RIGHT_RECEIVE */
    SLOT_TRACE = 9,   /* trace object */
    SLOT_MACHINE = 10,
    SLOT_BOOT_ARCHIVE = 11, /* memory object with the boot archive (init, fs) */
    SLOT_DEVICE = 12,       /* the device that a server drives (servers/protocol/servers.def) */
    SLOT_FIRST_FREE = 16,
};

/* ---- Messages ---- */

/* An undefined register value, for a message word that nobody reads. Costs no instruction. Volatile, or the
 * compiler might treat two of these as the same value, and copy it. */
static inline __attribute__((always_inline)) uint64_t any_value(void)
{
    uint64_t value;
    __asm__ volatile("" : "=r"(value));
    return value;
}

#define IPC_WORDS              6
#define IPC_CAPS               4
/* Added to the endpoint of ipc_reply_receive: the reply's capabilities are moved, not copied. Once it is
 * sent, or its caller is gone, the sender's slots are closed. */
#define IPC_CLOSE_SENT         (1ull << 32)
/* Received in place of a message: word[0] holds the bits of the bound notification. */
#define IPC_LABEL_NOTIFICATION (~0ull)
/* Sent to a fault handler. Words: reason, address, ip, access, tid, pid. */
#define IPC_LABEL_FAULT        (~1ull)
/* Sent to a pager. Words: object, offset, access, tid, pid. */
#define IPC_LABEL_PAGE         (~2ull)

/* A message. In flight it is in registers (<arch/syscall_stub.h>), all capabilities in one, laid out as here.
 * Sent capabilities are the sender's slots (copied with their rights; needs RIGHT_GRANT), received ones are
 * new slots. */
struct ipc_message {
    uint64_t label;
    uint64_t word[IPC_WORDS];
    union {
        uint16_t cap[IPC_CAPS]; /* 0: none */
        uint64_t caps;          /* all of them */
    };
    uint64_t badge; /* received only: badge of the capability that was called */
};

enum fault_reason {
    FAULT_PAGE = 1,
    FAULT_ILLEGAL,
    FAULT_ARITHMETIC,
    FAULT_BREAKPOINT,
    FAULT_PROTECTION,
    FAULT_ALIGNMENT,
};
#define FAULT_REPLY_RESUME 0u /* reply label: retry the instruction */
#define FAULT_REPLY_KILL   1u /* reply label: kill the thread */

/* ---- Memory ---- */

#define MAP_READ     1u
#define MAP_WRITE    2u
#define MAP_EXECUTE  4u  /* not together with MAP_WRITE */
#define MAP_PRIVATE  8u  /* copy-on-write: writes go to the mapping's own page frames */
#define MAP_FIXED    16u /* at exactly the given address; else the kernel chooses */
#define MAP_UNCACHED 32u

#define USER_BASE           0x0000000000010000ull
/* Trace info page, read-only. A 32-bit displacement reaches it. */
#define USER_TRACE_INFO     0x0000000000100000ull
#define USER_LINK_ADDRESS   0x0000000000200000ull /* programs are linked to this address */
/* Between these two only blocks of restartable logging (trace/ring/restart.h). */
#define USER_TRACE_TEXT     0x0000000000210000ull
#define USER_TRACE_TEXT_END 0x0000000000404000ull /* text begins here: user.ld */
#define USER_MMAP_BASE      0x0000001000000000ull /* space_map places mappings without a fixed address here */
#define USER_MMAP_END       0x0000600000000000ull
#define USER_THREAD_BLOCKS  0x0000600000000000ull /* struct thread_block, one per thread, read-only */
#define USER_ROUTINES       0x0000600000020000ull /* struct trace_program, per thread: routines_map */
#define USER_END            0x0000600000000000ull /* space_map refuses addresses from here on */
#define USER_TRACE_RINGS    0x0000700000000000ull /* trace rings of all CPUs */

/* ---- Threads and processes ---- */

struct thread_config {
    uint64_t entry; /* user address */
    uint64_t stack; /* initial stack pointer */
    uint64_t arg;   /* first argument of the entry function */
    uint64_t tls;   /* thread pointer */
    uint32_t priority;
    uint32_t flags;    /* must be 0 */
    uint64_t affinity; /* a bit for each CPU; 0: all */
    char name[TARN_NAME_BYTES];
};

/* What system_read returns (syscalls.def). Structures grow only at their end. */
enum system_read_kind {
    SYSTEM_STATS = 1,
    SYSTEM_THREADS = 2,
    SYSTEM_SPACES = 3,
    SYSTEM_COMMAND_LINE = 4,
    SYSTEM_LOCK_CLASSES = 5,
    SYSTEM_COUNTERS = 6,         /* struct system_counter, each hardware counter of a CPU */
    SYSTEM_COUNTERS_MISSING = 7, /* text: why there are none; -E_NOT_FOUND: there are */
    /* uint64_t[COUNTER_SLOTS]: this thread's counts. -E_NOT_FOUND: nothing is counted (class counter). */
    SYSTEM_OWN_COUNTERS = 8,
};

#define COUNTER_SLOTS 4u /* hardware counters that events can have */
struct system_counter {
    char name[24];
    uint32_t number; /* for TRACE_OP_BIND_COUNTERS */
    uint32_t bits;   /* a CPU counts modulo 2^bits */
    uint32_t slot;   /* 1 + slot that it is bound to; 0: none */
};

struct system_lock_class {
    char name[32];
    uint32_t number;       /* as in the trace */
    uint32_t sample_every; /* of each `sample_every` acquisitions one is sampled; 0: none */
    uint64_t contended;    /* contended acquisitions; not counted for programs' mutexes */
};

struct system_stats {
    uint64_t frames_total, frames_free; /* free ones include those in per-CPU caches */
    uint64_t spaces, threads, endpoints, notifications, memories, irqs, replies, mappings; /* that exist */
    uint64_t cpus;
    uint64_t idle_ns;     /* sum over all CPUs, since boot */
    uint64_t slab_frames; /* page frames in caches of kernel objects */
};

/* Operations of machine_debug. */
enum machine_debug_operation {
    MACHINE_DEBUG_ENTER,      /* start a session of the kernel debugger on the console */
    MACHINE_DEBUG_BREAKPOINT, /* the same, by a breakpoint instruction in the kernel */
    /* Hang with interrupts off: for milliseconds (lower 32 bits), this CPU or those of the upper 32 bits.
     * For tests and demonstrations; needs the boot option debug.hang=1. */
    MACHINE_DEBUG_HANG,
    MACHINE_DEBUG_LOCK,  /* the same with a kernel lock held, always the same one */
    MACHINE_DEBUG_PANIC, /* enum machine_debug_panic; for tests, needs debug.panic=1 */
};
/* In place of milliseconds: until the watchdog has reported all these CPUs and done its action, or a
 * debugger session ends. */
#define MACHINE_HANG_NOTICED UINT32_MAX
enum machine_debug_panic {
    MACHINE_PANIC_PLAIN,
    MACHINE_PANIC_NULL,    /* the kernel stores to address 0 */
    MACHINE_PANIC_CONSOLE, /* while holding the console's lock */
    MACHINE_PANIC_ALL,     /* all CPUs at once */
    MACHINE_PANIC_FAULTS,  /* every step of the panic faults */
};

/* A lock of a program (libc-glue) is a word: 0 when free, else the holder's tid and whether a thread may be
 * in futex_wait. While a read-write lock is held by readers, it is their number. The kernel debugger reads
 * these words. */
#define LOCK_WORD_HELD   0x40000000u
#define LOCK_WORD_WANTED 0x80000000u
#define LOCK_WORD_TIMED  0x20000000u /* the hold time is measured */
#define LOCK_WORD_TID    0x1fffffffu

/* The trace numbers them differently: kernel/sched/switch.h. */
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
    uint64_t resident; /* pages of its mappings in memory, shared ones included */
    char name[TARN_NAME_BYTES];
    /* RIGHT_READ, _WRITE and _MANAGE over the trace, the machine and any device that it holds now */
    uint32_t trace, machine, device, reserved;
};

/* What to write into a device's MSI-X table. */
struct irq_message {
    uint64_t address; /* 0: nothing, it is done already */
    uint32_t data;
    uint32_t reserved;
};

/* ---- Start of a program ---- */

/* The first thread's argument points to a struct startup on its stack; pointers are addresses in its
 * space. */
#define STARTUP_MAGIC 0x54617274u
struct startup_fd {
    int32_t fd;
    uint32_t kind;   /* libc-glue's type of file */
    uint32_t server; /* slot of the server's endpoint: SLOT_FS, SLOT_CONSOLE, ... */
    uint32_t flags;  /* O_* */
    uint64_t handle; /* the server's handle of the open file */
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
    const char *path; /* of the executable */
    uint64_t executable_base, executable_size;
    uint64_t stack_low, stack_high;
    /* CPUs of the process and its children, a bit each; 0: all */
    uint64_t affinity;
    uint64_t priority; /* of the first thread, and of others that do not ask for another one */
};
