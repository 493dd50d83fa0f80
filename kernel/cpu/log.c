/*
 * log.c - lines on the raw console.
 *
 * console_lock keeps lines of several CPUs apart. A panic does not take it, because its holder may be the
 * CPU that failed.
 */
#include <arch/machine.h>
#include <kernel/cpu/cpu.h>
#include <kernel/cpu/lock.h>
#include <kernel/kernel.h>
#include <stdarg.h>

#define URGENT_PATIENCE 1000000u

static LOCK_CLASS(console_class, "console");
static struct spinlock console_lock = SPINLOCK(&console_class);
static _Atomic uint32_t urgent; /* 1 + the CPU whose lines do not wait for the lock; 0: none */

void panic_console_put(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (text[i] == '\n')
            arch_console_put('\r');
        arch_console_put(text[i]);
    }
}

void console_write(const char *text, size_t size)
{
    if (panic_is_on()) {
        if (panic_is_here())
            panic_console_put(text, size);
        return;
    }
    spin_lock(&console_lock);
    panic_console_put(text, size);
    spin_unlock(&console_lock);
}

bool console_is_busy(void)
{
    return console_lock.held && !spin_held(&console_lock);
}

void console_test_panic(void)
{
    spin_lock(&console_lock);
    panic("a test, with the console's lock held");
}

size_t log_format(char line[LOG_LINE_MAX], const char *format, va_list arguments)
{
    int length = format_text_list(line, LOG_LINE_MAX - 1, format, arguments);
    size_t size = length < LOG_LINE_MAX - 1 ? (size_t)length : LOG_LINE_MAX - 2;
    if (size && line[size - 1] == '\n')
        return size;
    line[size] = '\n';
    return size + 1;
}

void log_line(const char *format, ...)
{
    char line[LOG_LINE_MAX];
    va_list arguments;
    va_start(arguments, format);
    size_t size = log_format(line, format, arguments);
    va_end(arguments);
    if (!panic_is_on() && urgent && urgent == this_cpu()->index + 1)
        panic_console_put(line, size);
    else
        console_write(line, size);
}

/* The holder may be the CPU that failed, so the wait is limited; there is none if an NMI interrupted the
 * holder itself. */
bool log_begin_urgent(void)
{
    bool locked = false, mine = spin_held(&console_lock);
    for (unsigned turn = 0; !locked && !mine && turn < URGENT_PATIENCE; turn++) {
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
