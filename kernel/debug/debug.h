/*
 * debug.h - shared by the debugger's files, which run in a session, on one CPU, with the others stopped.
 *
 * A command may end in any debug_print or fault (debug_end_command does not return), so it holds nothing
 * that must be released.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cpu;
struct endpoint;
struct space;
struct thread;

/* ---- enter.c ---- */

enum stop_state {
    STOP_RUNNING, /* does not respond */
    STOP_ASKED,   /* stopped by an interrupt */
    STOP_FORCED,  /* took no interrupt: stopped by an NMI */
    STOP_ENDED,   /* stopped for good by a panic */
    STOP_SESSION, /* runs the session */
};
enum stop_state debug_stop_state(uint32_t cpu);
/* Continues to stop CPUs that do not respond, while the session waits. */
void debug_force_stops(void);

/* ---- session.c ---- */

/* `continues`: what `continue` does, as text */
void debug_session(const char *reason, const char *continues);
void debug_end_command(void) __attribute__((noreturn));

#define DEBUG_WORDS_MAX 12
struct debug_words {
    uint32_t count;
    const char *word[DEBUG_WORDS_MAX];
};
typedef void debug_run(const struct debug_words *words); /* word[0] is the command's name */

void debug_print(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The text after "NAME=" if the word begins so; else NULL. */
const char *debug_value(const char *word, const char *name);
/* A number as trace_parse_number reads it. Otherwise prints an error and ends the command. */
uint64_t debug_number(const char *text);
/* Parses a number, a symbol, or either + number. */
uint64_t debug_address(const char *text);
/* The CPU with this number. */
struct cpu *debug_cpu(const char *text);
/* Prints that the command has no such argument as word[index], and ends it. */
void debug_refuse(const struct debug_words *words, uint32_t index) __attribute__((noreturn));

/* ---- symbols.c, user_symbols.c ---- */

/* The table of the kernel's own symbols, in order of address. gen/symbolgen makes it. */
struct debug_symbol_entry {
    uint32_t offset; /* bytes from kernel_start (link script) */
    uint32_t name;   /* offset in debug_symbol_names */
};
extern const uint32_t debug_symbol_count;
extern const struct debug_symbol_entry debug_symbol_entries[];
extern const char debug_symbol_names[];

struct debug_symbol {
    const char *name;
    uint64_t address;
};
bool debug_symbol_named(const char *name, struct debug_symbol *symbol);
/* debugger_symbol's text; valid until the next call. */
const char *debug_name_of(const struct space *space, uint64_t address);
/* The function of the space's program that contains an address. */
bool debug_user_symbol_at(const struct space *space, uint64_t address, struct debug_symbol *symbol);

/* ---- memory.c: memory that may not be present ---- */

/* Reads up to `size` bytes; returns how many are present without a gap. space NULL: the kernel's memory. */
uint64_t debug_read(const struct space *space, uint64_t address, void *to, uint64_t size);
bool debug_read_user_word(void *space, uint64_t address, uint64_t *word);

/* ---- objects.c: kernel objects ---- */

/* The next one (`previous` NULL: the first); NULL: no more. Ends even if a list is damaged. */
struct thread *debug_next_thread(struct thread *previous);
struct space *debug_next_space(struct space *previous);
struct thread *debug_find_thread(uint64_t tid); /* not idle threads */
struct space *debug_find_space(uint64_t pid);
/* Visits each object of the slab, free ones included. */
void debug_each_object(const char *slab, void (*visit)(void *object, void *context), void *context);
/* Has the space a capability to the object with these rights? */
bool debug_space_holds(const struct space *space, uint32_t type, const void *object, uint32_t rights);
/* "sh(12)" for a thread, "sh[3]" for a space. Several may be in use at once. */
const char *debug_thread_name(const struct thread *thread);
const char *debug_space_name(const struct space *space);
const char *debug_thread_state(const struct thread *thread);
/* As in "call to endpoint 3 of fs[4]"; empty if it does not wait. */
const char *debug_wait_reason(const struct thread *thread);
struct endpoint *debug_waits_at_endpoint(const struct thread *thread); /* NULL: not at an endpoint */
/* The CPU on which it is current; NULL: none. */
struct cpu *debug_cpu_of(const struct thread *thread);
/* The index-th holder of a right to receive; NULL: no more. */
struct space *debug_receiver_space(const struct endpoint *endpoint, uint32_t index);

/* ---- Commands ---- */

debug_run debug_trace;                                                            /* trace.c */
debug_run debug_cpus, debug_threads, debug_thread, debug_spaces, debug_backtrace; /* threads.c */
debug_run debug_waits;                                                            /* chains.c */
debug_run debug_memory, debug_symbols;                                            /* memory.c */
