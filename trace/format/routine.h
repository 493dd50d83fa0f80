/*
 * trace/format/routine.h - tables of routines: rows in memory, and the result of routines_read.
 *
 * FORMAT.md, "Routines", explains them, their times and reading. All times are in ticks.
 */
#pragma once

#include <stdint.h>
#include <trace/rows.h> /* generated */

/* Kinds of routines, at most 16; `argument` distinguishes routines of one kind. */
enum trace_routine_kind {
    TRACE_ROUTINE_SYSCALL = 0,   /* number */
    TRACE_ROUTINE_FAULT = 1,     /* enum fault_kind of fault.ev */
    TRACE_ROUTINE_EXCEPTION = 2, /* the CPU's vector */
    TRACE_ROUTINE_INTERRUPT = 3, /* its number */
    TRACE_ROUTINE_IPI = 4,       /* enum ipi_kind of irq.ev */
    TRACE_ROUTINE_TIMER = 5,     /* 0 */
    TRACE_ROUTINE_IDLE = 6,      /* 0: an idle CPU sleeps */
    TRACE_ROUTINE_CALL = 7,      /* label of a message, from the call to its return: ipc_call that sent one */
    TRACE_ROUTINE_OUT = 8,       /* enum thread_state: the thread does not run; nested in its wait */
    TRACE_ROUTINE_SERVED = 9,    /* label of a message, from its receipt to the reply; inside of nothing */
    TRACE_ROUTINE_OTHERS = 10,   /* 0: all routines that found no row of their own */
    /* 0: code of the program, in its routine `context`. Context 0 (in none of them) occurs only in results of
     * routines_read. */
    TRACE_ROUTINE_PROGRAM = 11,
};
#define TRACE_ROUTINE_KINDS 12u

/* A row's key. Bits 0 to 15 and 32 to 63: argument, 48 bits; 16 to 19: kind; 20 to 31: context. The lower
 * half is enough to find nearly all rows in one step. */
#define TRACE_ROUTINES_CONTEXT_SHIFT 20u
#define TRACE_ROUTINES_CONTEXT_MAX   0xfffu

static inline uint64_t trace_routine_key(enum trace_routine_kind kind, uint64_t argument)
{
    return (argument & 0xffff) | (uint64_t)kind << 16 | (argument >> 16) << 32;
}

static inline enum trace_routine_kind trace_routine_kind(uint64_t key)
{
    return (enum trace_routine_kind)(key >> 16 & 0xf);
}

static inline uint32_t trace_routine_context(uint64_t key)
{
    return (uint32_t)(key >> TRACE_ROUTINES_CONTEXT_SHIFT & TRACE_ROUTINES_CONTEXT_MAX);
}

/* Extends the sign: labels of the kernel's messages are small negative numbers. */
static inline uint64_t trace_routine_argument(uint64_t key)
{
    return (uint64_t)((int64_t)((key >> 32) << 32) >> 16) | (key & 0xffff);
}

/* struct trace_routines_row, which trace/schema/sched.ev declares: a row. `limit` is for the writer: times up
 * to this need no more than an addition. `ended` is how often the routine ended. */
#define TRACE_ROUTINE_ROW_BYTES ((unsigned)sizeof(struct trace_routines_row))

/* The owner of a table. */
enum trace_routines_of {
    TRACE_ROUTINES_THREAD = 0,   /* a thread that exists; tid 0: an idle thread */
    TRACE_ROUTINES_ENDED = 1,    /* the ended threads of a process, together */
    TRACE_ROUTINES_CHILDREN = 2, /* a process's ended children, and their children */
    TRACE_ROUTINES_ORPHANS = 3,  /* ended processes whose creators ended before them */
};

/* The result of routines_read, of one moment; `rows` rows follow. Open routines count up to then: the
 * exclusive times of all rows but TRACE_ROUTINE_SERVED add up to `life`. */
struct trace_routines {
    uint64_t serial; /* of this table, never reused; the next read's argument */
    uint64_t epoch;  /* how often counting was switched on */
    uint32_t of;     /* enum trace_routines_of */
    uint32_t pid, tid;
    uint32_t threads; /* in this sum */
    char name[16];
    uint64_t life;  /* from the first to the last moment that is counted */
    uint64_t until; /* the moment of the copy: ticks; a thread was born `life` before */
    uint32_t rows;
    uint32_t row_bytes;
    uint64_t refused; /* how often its programs entered a routine that found no number or no row */
};

/* A buffer of this size suffices for every table. */
#define TRACE_ROUTINES_BYTES_MAX (256u * 1024u)

/* ---- Routines of programs --------------------------------------------------------------------------------
 */

/* Contexts. 0 is none. Numbers below TRACE_CONTEXT_NAMED mean the same in all programs: */
#define TRACE_CONTEXT_CALLS    0x001u /* POSIX calls: enum libc_call of libc.ev */
#define TRACE_CONTEXT_HEAP     0x0e0u /* enum trace_heap_routine */
#define TRACE_CONTEXT_COMMON   0x0f0u /* requests, by label: from here on of all servers, */
#define TRACE_CONTEXT_REQUESTS 0x100u /* from here on of one server */
#define TRACE_CONTEXT_NAMED    0x600u /* from here on: the kernel gives them to names (struct trace_routine) */
#define TRACE_CONTEXTS         (TRACE_ROUTINES_CONTEXT_MAX + 1)

enum trace_heap_routine {
    TRACE_HEAP_MALLOC = TRACE_CONTEXT_HEAP,
    TRACE_HEAP_FREE,
    TRACE_HEAP_CALLOC,
    TRACE_HEAP_REALLOC,
    TRACE_HEAP_MEMALIGN,
};

/* The routine of a program that has the number; the whole system has one list of them, which begins anew when
 * counting is switched on. A name, or the address of a function: other programs use the same number for the
 * same name only if they are of the same file. */
struct trace_routine {
    uint32_t number;
    uint32_t reserved;
    uint64_t address;     /* 0: it has a name */
    uint64_t base, size;  /* of the executable, where it is mapped */
    uint8_t build_id[16]; /* the first bytes of the executable's; zeros: unknown */
    char program[32];     /* the executable's name without folders, NUL-terminated */
    char name[48];        /* NUL-terminated */
};
_Static_assert(sizeof(struct trace_routine) == 128, "32 in a page");

/* Where the list is, in the kernel's memory: in the order of their numbers, from TRACE_CONTEXT_NAMED on. */
#define TRACE_NAMES_PER_PAGE 32u
#define TRACE_NAME_PAGES     ((TRACE_CONTEXTS - TRACE_CONTEXT_NAMED) / TRACE_NAMES_PER_PAGE)
struct trace_routine_list {
    uint64_t epoch;                  /* how often counting was switched on; another one: the list is empty */
    uint32_t count;                  /* routines in it */
    uint32_t refused;                /* that found no number */
    uint64_t page[TRACE_NAME_PAGES]; /* physical addresses */
};

/*
 * A thread's own counts of its program's routines, in page frames that routines_map maps. The kernel reads
 * them when it copies or ends the table, and trusts none.
 *
 * Own time is time of the *program clock*: the clock less the time in routines of the kernel, and in which
 * the thread did not run, which the kernel counts in `kernel`. Inclusive time is of the clock, and of
 * outermost calls only: calls of a routine inside itself are part of these. `begun` counts entries.
 */
#define TRACE_PROGRAM_PAGES 32u
#define TRACE_PROGRAM_INDEX 512u
#define TRACE_PROGRAM_DEPTH 64u
#define TRACE_PROGRAM_UNIT  64u /* bytes; rows begin at multiples */
struct trace_program {
    /* The kernel uses these two each time that a routine of its own ends. */
    struct trace_program_clock {
        /* Written by the program: in bits 0 to 11 the routine that it is in, in 48 to 63 where its row is. */
        uint64_t context;
        uint64_t kernel; /* by the kernel: ticks in its routines, and not running */
    } clock;
    uint64_t since;      /* by the program: program clock; `context` has no time from here on */
    uint64_t epoch;      /* by the kernel: changes when counting begins anew */
    uint64_t rows_epoch; /* by the program: the epoch that its rows are of; another one: there are none */
    uint64_t refused;    /* by the program: entries that found no number or no row */
    uint32_t rows;       /* by the program: in use */
    uint32_t pages;      /* by the kernel: mapped page frames, this one included */
    /* The rest is for the program itself. */
    uint32_t depth; /* routines that the thread is in */
    uint32_t reserved;
    uint16_t index[TRACE_PROGRAM_INDEX]; /* where the row of a routine is, in units; 0: free */
    struct {
        uint64_t since; /* clock */
        uint64_t from;  /* clock.context before; ~0: it found no row, and its time is its caller's */
    } stack[TRACE_PROGRAM_DEPTH];
    /* The first one has context 0. */
    struct trace_routines_row first[6];
};
#define TRACE_PROGRAM_FIRST_ROWS 6u
#define TRACE_PROGRAM_PAGE_ROWS  (4096u / TRACE_ROUTINE_ROW_BYTES)
#define TRACE_PROGRAM_ROWS_MAX \
    (TRACE_PROGRAM_FIRST_ROWS + (TRACE_PROGRAM_PAGES - 1) * TRACE_PROGRAM_PAGE_ROWS)
_Static_assert(sizeof(struct trace_program) <= 4096, "one page frame");
_Static_assert(__builtin_offsetof(struct trace_program, first) % TRACE_PROGRAM_UNIT == 0 &&
                   TRACE_ROUTINE_ROW_BYTES % TRACE_PROGRAM_UNIT == 0,
               "units");
_Static_assert(TRACE_PROGRAM_ROWS_MAX < TRACE_PROGRAM_INDEX * 3 / 4, "the index always has free entries");

/* ---- In the kernel's memory ---- */

#define OPEN_ROUTINES_MAX 4u /* a system call, a fault in its user copy, not running; and one in reserve */

/* The routines that a thread is in. */
struct open_routines {
    struct open_routine {
        uint64_t since;  /* ticks; 0: since unknown */
        uint64_t nested; /* ticks in nested routines */
        uint64_t key;    /* without context */
    } at[OPEN_ROUTINES_MAX];
    uint32_t depth, reserved;
};

#define TRACE_ROUTINES_LIST_MAGIC 0x5461726e50726f74ull /* "TarnProt" */
#define TRACE_ROUTINES_HEAD_MAGIC 0x5461726e50726f66ull /* "TarnProf" */
#define TRACE_ROUTINES_PAGES      31u

/* Where readers of guest memory begin: `routines_list` of the info page is its physical address. All
 * addresses in it, and in the heads, are physical. */
struct trace_routines_list {
    uint64_t magic;
    uint64_t first;      /* head of the first table; 0: none. They are in order of serial. */
    uint64_t epoch;      /* tables of another epoch are void */
    uint64_t until;      /* ticks when counting was switched off; 0: it is on */
    uint64_t latest;     /* ticks: a moment in the last fraction of a second; of a panic, the moment itself */
    uint64_t routines;   /* struct trace_routine_list: names of routines of programs */
    uint32_t row_bytes;  /* of struct trace_routines_row */
    uint32_t rows_at;    /* bytes from a head to its first rows */
    uint32_t first_rows; /* rows there */
    uint32_t page_rows;  /* in each page behind them */
};

/* Each table has a head, and a page frame begins somewhere before it. */
struct trace_routines_head {
    uint64_t magic;   /* while it is in the list; else 0 */
    uint64_t self;    /* its own address */
    uint64_t next;    /* head of the next table; 0: none */
    uint64_t changes; /* odd while more changes than rows, their number and the open routines */
    uint64_t serial, epoch;
    uint32_t of; /* enum trace_routines_of */
    uint32_t pid, tid, threads;
    uint64_t name;          /* address of 16 bytes; 0: none */
    uint64_t born;          /* a living thread's: ticks */
    uint64_t life, refused; /* of ended threads */
    uint64_t open;          /* address of a living thread's struct open_routines; else 0 */
    uint64_t context;       /* address of the word with the thread's context; 0: context 0 */
    uint32_t count;         /* of rows. Each is complete when it is counted. */
    uint32_t program_pages;
    uint64_t program_page[TRACE_PROGRAM_PAGES]; /* page frames with a living thread's struct trace_program */
    uint64_t page[TRACE_ROUTINES_PAGES];        /* page frames with the rows behind the first ones */
};
