/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel/machine.c - system calls on the machine object: raw console, PCI configuration, power.
 */
#include <arch/machine.h>
#include <kernel/cap.h>
#include <kernel/cpu.h>
#include <kernel/kernel.h>
#include <kernel/machine.h>
#include <kernel/notification.h>
#include <kernel/pci.h>
#include <kernel/space.h>
#include <kernel/syscall.h>
#include <kernel/thread.h>
#include <tarn/error.h>
#include <tarn/syscall_kernel.h>
#include <trace/control/control.h>

#define CHUNK 256u

static LOCK_CLASS(console_input_class, "console input");

char machine_object[1], trace_object[1];

static struct {
    struct spinlock lock;
    struct notification *notification; /* under lock: a reference, or NULL */
    uint64_t bits;                     /* under lock */
} input = {.lock = SPINLOCK(&console_input_class)};

int machine_check(cap_t machine, uint32_t rights)
{
    struct cap cap;
    return cap_look(current_thread()->space, machine, CAP_MACHINE, rights, &cap);
}

/* ---- console ---------------------------------------------------------------------------------------- */

bool console_interrupt(uint32_t number)
{
    if (number != arch_console_irq())
        return false;
    spin_lock(&input.lock);
    struct notification *notification = input.notification;
    uint64_t bits = input.bits;
    if (notification)
        notification_get(notification);
    spin_unlock(&input.lock);
    if (!notification)
        return false;
    notification_signal(notification, bits);
    notification_put(notification);
    return true;
}

/* Reads what there is. Once nothing is left the next byte may interrupt again. */
int64_t sys_machine_console_read(cap_t machine, char *user_buffer, uint64_t size)
{
    char buffer[CHUNK] = {0};
    uint64_t count = 0;
    if (size > sizeof buffer)
        size = sizeof buffer;
    int64_t error = machine_check(machine, RIGHT_READ);
    if (error || (error = user_write(user_buffer, buffer, size))) /* before bytes are taken: is there room? */
        return error;
    while (count < size) {
        int c = arch_console_get();
        if (c < 0) {
            arch_irq_unmask(arch_console_irq());
            break;
        }
        buffer[count++] = (char)c;
    }
    error = user_write(user_buffer, buffer, count);
    return error ? error : (int64_t)count;
}

int64_t sys_machine_console_write(cap_t machine, const char *user_text, uint64_t size)
{
    char text[CHUNK];
    if (size > sizeof text)
        size = sizeof text;
    int64_t error = machine_check(machine, RIGHT_WRITE);
    if (error || (error = user_read(text, user_text, size)))
        return error;
    console_write(text, size);
    return (int64_t)size;
}

int64_t sys_machine_console_bind(cap_t machine, cap_t slot, uint64_t bits)
{
    void *notification;
    if (bits == 0 || bits & ~NOTIFICATION_BITS)
        return -E_BAD_ARGUMENT;
    int error = machine_check(machine, RIGHT_READ);
    if (!error)
        error = cap_get(current_thread()->space, slot, CAP_NOTIFICATION, RIGHT_WRITE, &notification);
    if (error)
        return error;
    spin_lock(&input.lock);
    struct notification *old = input.notification;
    input.notification = notification;
    input.bits = bits;
    spin_unlock(&input.lock);
    if (old)
        notification_put(old);
    arch_console_irq_enable();
    return arch_irq_unmask(arch_console_irq());
}

/* ---- devices and power ------------------------------------------------------------------------------ */

static bool bad_pci_access(uint32_t device, uint32_t offset, uint32_t width)
{
    return device > PCI_DEVICE_LAST || (width != 1 && width != 2 && width != 4) || offset >= 4096 ||
           offset % width != 0;
}

int64_t sys_machine_pci_read(cap_t machine, uint32_t device, uint32_t offset, uint32_t width)
{
    uint32_t value = 0;
    int error = machine_check(machine, RIGHT_READ);
    if (!error)
        error = bad_pci_access(device, offset, width) ? -E_BAD_ARGUMENT
                                                      : arch_pci_read(device, offset, width, &value);
    return error ? error : (int64_t)value;
}

int64_t sys_machine_pci_write(cap_t machine, uint32_t device, uint32_t offset, uint32_t width, uint32_t value)
{
    int error = machine_check(machine, RIGHT_WRITE);
    if (error)
        return error;
    return bad_pci_access(device, offset, width) ? -E_BAD_ARGUMENT
                                                 : arch_pci_write(device, offset, width, value);
}

int64_t sys_machine_pci_bar(cap_t machine, uint32_t device, uint32_t bar)
{
    int error = machine_check(machine, RIGHT_READ);
    if (error)
        return error;
    uint64_t address = device > PCI_DEVICE_LAST ? 0 : pci_bar_address(device, bar);
    return address ? (int64_t)address : -E_BAD_ARGUMENT;
}

int64_t sys_machine_shutdown(cap_t machine, uint32_t status)
{
    int error = machine_check(machine, RIGHT_MANAGE);
    if (error)
        return error;
    log_line("shutdown, status %u", status);
    trace_store_end(TRACE_STORE_SHUTDOWN, "shutdown");
    arch_shutdown(status);
}
