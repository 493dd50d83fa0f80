/*
 * arch/ppc64/rtas.c - the firmware's run-time services (LoPAPR chapter 7). Interface: port.h.
 *
 * QEMU's RTAS is a hypervisor call with the physical address of a block of 32-bit cells: no firmware code
 * runs in the guest. Only one call at a time is allowed: rtas_lock, innermost, covers the block.
 */
#include "hcall.h"
#include "port.h"
#include <kernel/cpu/cpu.h>
#include <kernel/cpu/lock.h>
#include <kernel/kernel.h>

#define RTAS_CELLS 16

struct rtas_block {
    uint32_t token, argument_count, result_count;
    uint32_t cells[RTAS_CELLS]; /* arguments, then results, the first of them the status */
} __attribute__((aligned(128)));

static LOCK_CLASS(rtas_class, "rtas");
static struct spinlock rtas_lock = SPINLOCK(&rtas_class);
static struct rtas_block rtas_block;  /* under rtas_lock; static, so its physical address is known */
static struct rtas_block final_block; /* rtas_call_final */
static struct rtas_block stop_block;  /* rtas_stop_self; constant after rtas_init */

static const char *const names[RTAS_FUNCTIONS] = {
    [RTAS_POWER_OFF] = "power-off",
    [RTAS_SYSTEM_REBOOT] = "system-reboot",
    [RTAS_OS_TERM] = "ibm,os-term",
    [RTAS_START_CPU] = "start-cpu",
    [RTAS_STOP_SELF] = "stop-self",
    [RTAS_SET_XIVE] = "ibm,set-xive",
    [RTAS_GET_TIME_OF_DAY] = "get-time-of-day",
    [RTAS_READ_PCI_CONFIG] = "ibm,read-pci-config",
    [RTAS_WRITE_PCI_CONFIG] = "ibm,write-pci-config",
    [RTAS_CHANGE_MSI] = "ibm,change-msi",
    [RTAS_QUERY_INTERRUPT_SOURCE] = "ibm,query-interrupt-source-number",
};
static uint32_t tokens[RTAS_FUNCTIONS]; /* 0: the firmware does not have it. Constant after rtas_init */

void rtas_init(void)
{
    uint32_t node = fdt_find("rtas");
    for (unsigned i = 0; node && i < RTAS_FUNCTIONS; i++) {
        const void *token = fdt_property(node, names[i], NULL);
        if (token)
            tokens[i] = (uint32_t)fdt_cells(token, 0, 1);
    }
    stop_block.token = tokens[RTAS_STOP_SELF];
    stop_block.result_count = 1;
}

static int64_t call(struct rtas_block *block, enum rtas_function function, const uint32_t *arguments,
                    uint32_t argument_count, uint32_t *results, uint32_t result_count)
{
    block->token = tokens[function];
    block->argument_count = argument_count;
    block->result_count = result_count + 1;
    for (uint32_t i = 0; i < argument_count; i++)
        block->cells[i] = arguments[i];
    uint32_t *status = &block->cells[argument_count];
    if (!block->token || hcall(H_RTAS, virt_to_phys(block), 0, 0, 0, NULL))
        return RTAS_NO_CALL;
    for (uint32_t i = 0; i < result_count; i++)
        results[i] = status[1 + i];
    return (int32_t)*status;
}

int64_t rtas_call(enum rtas_function function, const uint32_t *arguments, uint32_t argument_count,
                  uint32_t *results, uint32_t result_count)
{
    assert(argument_count + 1 + result_count <= RTAS_CELLS);
    spin_lock(&rtas_lock);
    int64_t status = call(&rtas_block, function, arguments, argument_count, results, result_count);
    spin_unlock(&rtas_lock);
    return status;
}

int64_t rtas_call_final(enum rtas_function function, const uint32_t *arguments, uint32_t argument_count)
{
    assert(argument_count + 1 <= RTAS_CELLS);
    return call(&final_block, function, arguments, argument_count, NULL, 0);
}

/* Several CPUs may call this at once, while a stopped CPU holds the lock: so the block is only read. */
void rtas_stop_self(void)
{
    if (stop_block.token)
        hcall(H_RTAS, virt_to_phys(&stop_block), 0, 0, 0, NULL);
}
