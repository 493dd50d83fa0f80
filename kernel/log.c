/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel/log.c - lines on the raw console, and the end of everything: panic.
 *
 * console_lock keeps lines of several processors apart. A panic goes ahead without it after a while: the
 * holder may be the one that is broken.
 */
#include <arch/machine.h>
#include <kernel/cpu.h>
#include <kernel/debug/debugger.h>
#include <kernel/kernel.h>
#include <kernel/machine.h>
#include <kernel/sched.h>
#include <kernel/thread.h>
#include <stdarg.h>
#include <trace/control/control.h>

#define LINE_MAX        256
#define CHAIN_MAX       16
#define TRACE_TAIL      32
#define PATIENCE        100000000u /* turns of waiting for a lock, or for processors to stop */
#define URGENT_PATIENCE 1000000u

static LOCK_CLASS(console_class, "console");
static struct spinlock console_lock = SPINLOCK(&console_class);
static _Atomic bool panicking;
static _Atomic uint32_t urgent; /* 1 + the processor whose lines do not wait for the lock; 0: none */

static void put_all(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (text[i] == '\n')
            arch_console_put('\r');
        arch_console_put(text[i]);
    }
}

void console_write(const char *text, size_t size)
{
    spin_lock(&console_lock);
    put_all(text, size);
    spin_unlock(&console_lock);
}

static size_t format_line(char line[LINE_MAX], const char *format, va_list arguments)
{
    int length = format_text_list(line, LINE_MAX - 1, format, arguments);
    size_t size = length < LINE_MAX - 1 ? (size_t)length : LINE_MAX - 2;
    line[size] = '\n';
    return size + 1;
}

void log_line(const char *format, ...)
{
    char line[LINE_MAX];
    va_list arguments;
    va_start(arguments, format);
    size_t size = format_line(line, format, arguments);
    va_end(arguments);
    if (panicking || (urgent && urgent == this_cpu()->index + 1))
        put_all(line, size);
    else
        console_write(line, size);
}

/* Whoever has the lock may be what is to be told about: it is waited for, but not for ever. */
bool log_begin_urgent(void)
{
    bool locked = false;
    for (unsigned turn = 0; !locked && turn < URGENT_PATIENCE; turn++) {
        locked = spin_try_lock(&console_lock);
        arch_relax();
    }
    urgent = this_cpu()->index + 1;
    return locked;
}

void log_end_urgent(bool locked)
{
    urgent = 0;
    if (locked)
        spin_unlock(&console_lock);
}

static void stop_others(struct cpu *self)
{
    for (uint64_t left = sched_online_cpus & ~(1ull << self->index); left; left &= left - 1)
        arch_send_ipi(&cpus[__builtin_ctzll(left)], IPI_STOP);
    for (unsigned turn = 0; spin_held(&console_lock) == false && console_lock.held && turn < PATIENCE; turn++)
        arch_relax();
}

static void print_current(const struct thread *thread)
{
    if (!thread)
        return;
    log_line("current: %s tid %u pid %u, user ip %#lx sp %#lx", thread->block->name, thread->tid,
             thread->block->pid, frame_ip(&thread->frame), frame_sp(&thread->frame));
}

static void print_chain(void)
{
    uint64_t chain[CHAIN_MAX];
    uint32_t depth = arch_backtrace(chain, CHAIN_MAX);
    for (uint32_t i = 0; i < depth; i++)
        log_line("  from %#lx", chain[i]);
}

/* The boot option `panic=reboot`: boot again, with the trace of what happened. */
static void __attribute__((noreturn)) end_after_panic(void)
{
    char action[16];
    if (boot_option("panic=", action, sizeof(action)) && strlen(action) == 6 && !memcmp(action, "reboot", 6))
        arch_reboot();
    arch_shutdown(PANIC_STATUS);
}

void panic(const char *format, ...)
{
    char line[LINE_MAX];
    struct cpu *cpu = this_cpu();
    va_list arguments;
    va_start(arguments, format);
    format_line(line, format, arguments);
    va_end(arguments);
    debugger_fail(line);
    if (atomic_exchange(&panicking, true))
        arch_stop_forever(); /* somebody else, or this processor while it panics */
    stop_others(cpu);
    log_line("PANIC on cpu %u", cpu->index);
    va_start(arguments, format);
    put_all(line, format_line(line, format, arguments));
    va_end(arguments);
    trace_store_end(TRACE_STORE_PANIC, line);
    print_current(cpu->current);
    print_chain();
    trace_dump_tail(TRACE_ALL_CPUS, TRACE_TAIL);
    end_after_panic();
}

/* Somebody outside thinks that the machine hangs: what is this processor at? Takes no lock, and goes on. */
void handle_nmi(uint64_t ip)
{
    bool was = atomic_exchange(&panicking, true); /* lines go past the console's lock */
    log_line("NMI on cpu %u at %#lx", this_cpu()->index, ip);
    print_current(this_cpu()->current);
    print_chain();
    trace_dump_tail(TRACE_ALL_CPUS, TRACE_TAIL);
    atomic_store(&panicking, was);
}
