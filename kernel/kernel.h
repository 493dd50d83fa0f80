/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel/kernel.h - log lines, panic, asserts, and the entry points that the port calls.
 */
#ifndef KERNEL_KERNEL_H
#define KERNEL_KERNEL_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arch_frame;
struct kernel_regs;
struct thread;

void log_line(const char *format, ...)
    __attribute__((format(printf, 1, 2))); /* one line on the raw console; its \n may be left out */
/* Lines of this processor from now on stand together, and are printed even if who has the console does not
 * let go of it. One processor at a time; log_end_urgent takes what log_begin_urgent gave. */
bool log_begin_urgent(void);
void log_end_urgent(bool locked);
/* The end of the system (panic.c): reports, and does what the boot option `panic=` says. From anywhere, with
 * whatever locks held. panic_trap: of what a trap interrupted. */
void panic(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));
void panic_trap(struct kernel_regs *regs, const char *format, ...)
    __attribute__((noreturn, format(printf, 2, 3)));
#define PANIC_STATUS      101u /* what arch_shutdown tells the outside */
#define assert(condition) ((condition) ? (void)0 : panic("%s:%d: %s", __FILE__, __LINE__, #condition))

/* Strings for freestanding code: GCC calls the first four by itself. */
void *memcpy(void *to, const void *from, size_t size);
void *memmove(void *to, const void *from, size_t size);
void *memset(void *to, int byte, size_t size);
int memcmp(const void *a, const void *b, size_t size);
size_t strlen(const char *s);
int format_text(char *buffer, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
int format_text_list(char *buffer, size_t size, const char *format, va_list arguments);
/* Value of `name=` in the boot command line, copied and terminated; false if absent. */
bool boot_option(const char *name, char *value, size_t size);
/* Which of the names it is; 0 if it is absent, or none of them, which is said. */
uint32_t boot_choice(const char *name, const char *const *names, uint32_t count);

/* System calls: kernel/syscall.h.
 * From the port's trap code, on the processor's stack, interrupts off, user registers in current->frame. When
 * they return to user mode is next, the port calls kernel_leave() if need_resched is set, and restores
 * cpu->current. An interrupt of the idle loop or of a user copy returns to where it was without it. */
/* A page fault. `from_kernel`: a user copy is interrupted; true: resolved, go on; false: stop the copy. For
 * user faults the return value has no meaning: whatever is needed was done to the thread. */
bool handle_page_fault(uint64_t address, uint32_t access, uint64_t ip, bool from_kernel);
void handle_exception(uint32_t vector, uint32_t reason, uint64_t code,
                      uint64_t ip); /* of user mode; reason: FAULT_* */
void handle_wake(void); /* before anything else of an interrupt: if it ends a sleep, that is logged */
void handle_interrupt(uint32_t irq, uint64_t ip); /* a device, at `ip`; arch_irq_end was not yet called */
void handle_timer(void);
void handle_ipi(uint32_t kind);            /* enum ipi_kind */
void handle_nmi(struct kernel_regs *regs); /* from outside, not maskable (nmi.c) */
void nmi_boot_options(void);
void kernel_leave(void); /* reschedules if asked to, waits while idle; then cpu->current may run */

#endif
