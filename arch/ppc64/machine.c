/*
 * arch/ppc64/machine.c - the hypervisor's terminal as console, power.
 *
 * Input and output are raw and take no lock: callers serialize. Input arrives several bytes at a time.
 */
#include "hcall.h"
#include "port.h"
#include <arch/cpu.h>
#include <arch/machine.h>
#include <kernel/cpu/cpu.h>
#include <kernel/cpu/lock.h>
#include <kernel/kernel.h>

/* ---- console -------------------------------------------------------------------------------------- */

/* platform.console_unit is 0 before the device tree is read: the hypervisor's default terminal. */
void arch_console_put(char c)
{
    uint64_t text = (uint64_t)(uint8_t)c << 56; /* bytes from the left of two registers */
    while (hcall(H_PUT_TERM_CHAR, platform.console_unit, 1, text, 0, NULL) == H_BUSY)
        arch_relax();
}

#define INPUT_MAX 16 /* bytes that one call may return */

static struct {
    uint32_t next, count;
    char bytes[INPUT_MAX];
} input;

static void fetch_input(void)
{
    uint64_t results[HCALL_RESULTS];
    input.next = input.count = 0;
    if (hcall(H_GET_TERM_CHAR, platform.console_unit, 0, 0, 0, results) || results[0] > INPUT_MAX)
        return;
    memcpy(input.bytes, &results[1], INPUT_MAX);
    input.count = (uint32_t)results[0];
}

int arch_console_get(void)
{
    if (input.next == input.count)
        fetch_input();
    return input.next < input.count ? (uint8_t)input.bytes[input.next++] : -1;
}

uint32_t arch_console_irq(void)
{
    return IRQ_CONSOLE;
}

/* A virtual terminal always interrupts; arch_irq_unmask enables it. */
void arch_console_irq_enable(void)
{
}

/* ---- power ---------------------------------------------------------------------------------------- */

/* QEMU exits with 0 after power-off, but also after a reset, so a line of the kernel on the console marks a
 * clean end (kernel/syscall/machine.c). ibm,os-term is a panic to QEMU: exit status 1 with `-action
 * panic=exit-failure`. */
void arch_shutdown(uint32_t status)
{
    static const char reason[] = "Tarn: shutdown with an error";
    const uint32_t terminate[] = {(uint32_t)virt_to_phys(reason)},
                   power_off[] = {~0u, ~0u}; /* no wake-up events */
    if (status)
        rtas_call_final(RTAS_OS_TERM, terminate, 1);
    rtas_call_final(RTAS_POWER_OFF, power_off, 2);
    arch_stop_forever();
}

void arch_reboot(void)
{
    rtas_call_final(RTAS_SYSTEM_REBOOT, NULL, 0);
    arch_stop_forever();
}

bool arch_stop_for_dump(const char *reason)
{
    const uint32_t terminate[] = {(uint32_t)virt_to_phys(reason)};
    return rtas_call_final(RTAS_OS_TERM, terminate, 1) == 0;
}
