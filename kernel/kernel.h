/* kernel.h - log lines, panic, asserts, and the entry points that the port calls. */
#pragma once

#include <kernel/hook.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kernel_regs;

/* Prints one line on the raw console. The format may omit the final \n. */
void log_line(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Keeps this CPU's lines together from now on, and prints them even if the console's owner does not release
 * it. One CPU at a time; log_end_urgent takes the result. */
bool log_begin_urgent(void);
void log_end_urgent(bool locked);
/* One CPU at a time. */
void console_write(const char *text, size_t size);
bool console_is_busy(void);                              /* another CPU is writing */
void console_test_panic(void) __attribute__((noreturn)); /* panics inside console_write */
/* Writes to the raw console, even if another CPU does; "\n" becomes "\r\n". */
void panic_console_put(const char *text, size_t size);
/* A line with one \n at its end, cut if it is longer; returns its size. */
#define LOG_LINE_MAX 256
size_t log_format(char line[LOG_LINE_MAX], const char *format, va_list arguments);
/* Panics (panic.c): reports, and does what the boot option `panic=` says. From anywhere, with any locks held.
 * panic_trap reports on the interrupted code. */
HOOK(panic, void, const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));
HOOK(panic_trap, void, struct kernel_regs *regs, const char *format, ...)
__attribute__((noreturn, format(printf, 2, 3)));
/* Has a CPU panicked? Then that CPU owns the console: it takes no lock, and output of others is dropped. */
HOOK(panic_is_on, bool, void);
HOOK(panic_is_here, bool, void); /* on this CPU */
#define PANIC_STATUS      101u   /* exit status that arch_shutdown reports to the outside */
#define assert(condition) ((condition) ? (void)0 : panic("%s:%d: %s", __FILE__, __LINE__, #condition))

/* For freestanding code; GCC calls the first four itself. */
void *memcpy(void *to, const void *from, size_t size);
void *memmove(void *to, const void *from, size_t size);
void *memset(void *to, int byte, size_t size);
int memcmp(const void *a, const void *b, size_t size);
size_t strlen(const char *s);
int strcmp(const char *a, const char *b);
int format_text(char *buffer, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
int format_text_list(char *buffer, size_t size, const char *format, va_list arguments);
/* Returns a file of the boot archive and its size, or NULL; `path` has no leading slash. Takes no lock. */
const char *archive_file(const char *path, uint64_t *file_size);
/* Copies the value of `name=` in the boot command line; false if absent. */
bool boot_option(const char *name, char *value, size_t size);
/* The same for a number, as trace_parse_number reads it. False: absent, or not a number, which is logged. */
bool boot_number(const char *name, uint64_t *number);
/* Returns the option's index in `names`; 0 if absent, or unknown, which is logged. */
uint32_t boot_choice(const char *name, const char *const *names, uint32_t count);

/* The port's trap code calls these functions on the CPU's stack, with interrupts off and the user registers
 * in current->frame. Before it returns to user mode, it calls kernel_exit() if need_resched is set, and
 * restores cpu->current. An interrupt of the idle loop or of a user copy returns there without that. */
/* A page fault. `from_kernel`: in a user copy; true: resolved, false: stop the copy. For user faults the
 * return value has no meaning. */
bool handle_page_fault(uint64_t address, uint32_t access, uint64_t ip, bool from_kernel);
void handle_exception(uint32_t vector, uint32_t reason, uint64_t code,
                      uint64_t ip); /* from user mode; reason: FAULT_* */
void handle_wake(void);             /* first step of every interrupt: logs the end of an idle sleep */
void handle_interrupt(uint32_t irq,
                      uint64_t ip); /* a device interrupted at `ip`; arch_irq_end was not called yet */
void handle_timer(void);
void handle_ipi(uint32_t kind);            /* enum ipi_kind */
void handle_nmi(struct kernel_regs *regs); /* a non-maskable interrupt from outside (panic.c) */
/* On the boot CPU, once, in this order, when all else is set up: measures, and starts the first program. */
void measure_trace_points(void);
void loader_start_init(void);
void kernel_exit(void); /* reschedules if asked to and sleeps while idle; then cpu->current may run */
