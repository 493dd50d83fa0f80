/*
 * arch/ppc64/boot.c - fills boot_info and platform from the firmware's data, and calls generic code.
 *
 * start.S calls boot_start() in real mode, at link addresses: memory appears where the direct map will have
 * it, so the device tree and pointers found here stay valid when translation is turned on. Single CPU, no
 * locks. Read next: fdt.c, prom.c, mmu.c, cpu.c.
 */
#include "port.h"
#include <kernel/cpu/cpu.h>

struct platform platform;

void trace_boot_init(void); /* kernel/trace */

/* From kernel.ld. */
extern const char kernel_start[], kernel_end[];

/* ---- the device tree ------------------------------------------------------------------------------ */

/* An address has two cells and a size two, in every tree of this machine. */
static void read_memory(uint32_t node)
{
    uint32_t length = 0;
    const void *reg = fdt_property(node, "reg", &length);
    for (unsigned i = 0; reg && i < length / 16; i++)
        boot_add_ram(fdt_cells(reg, 4 * i, 2), fdt_cells(reg, 4 * i + 2, 2));
}

/* A node is a core; its threads are the CPUs. */
static void read_cpu(uint32_t node)
{
    uint32_t length = 0;
    const void *servers = fdt_property(node, "ibm,ppc-interrupt-server#s", &length);
    const void *timebase = fdt_property(node, "timebase-frequency", NULL);
    for (unsigned i = 0; servers && i < length / 4 && boot_info.cpu_count < BOOT_CPUS_MAX; i++)
        boot_info.cpu_hardware_id[boot_info.cpu_count++] = (uint32_t)fdt_cells(servers, i, 1);
    if (timebase)
        platform.timebase_hz = fdt_cells(timebase, 0, 1);
}

static void read_terminal(uint32_t node)
{
    const void *reg = fdt_property(node, "reg", NULL);
    const void *interrupts = fdt_property(node, "interrupts", NULL);
    if (platform.console_unit || !reg)
        return;
    platform.console_unit = (uint32_t)fdt_cells(reg, 0, 1);
    platform.console_irq = interrupts ? (uint32_t)fdt_cells(interrupts, 0, 1) : 0;
}

static void read_chosen(uint32_t node)
{
    const char *command_line = fdt_property(node, "bootargs", NULL);
    uint32_t start_length = 0, end_length = 0;
    const void *start = fdt_property(node, "linux,initrd-start", &start_length);
    const void *end = fdt_property(node, "linux,initrd-end", &end_length);
    if (command_line)
        boot_set_command_line(command_line);
    if (start && end) {
        uint64_t base = fdt_cells(start, 0, start_length / 4);
        boot_set_archive(base, fdt_cells(end, 0, end_length / 4) - base);
    }
}

/* Entries of `ranges`, seven cells each: PCI's type and address (3), the CPU's address (2), size (2). */
#define RANGE_CELLS    7
#define RANGE_KIND     0x03000000u
#define RANGE_MEMORY32 0x02000000u
#define RANGE_MEMORY64 0x03000000u

/* Entries of `interrupt-map`: device (3 cells), pin, controller, source and its type. The first four are slot
 * 0's, whose pins are the bridge's. */
#define MAP_CELLS  7
#define MAP_PIN    3
#define MAP_SOURCE 5

static void read_pins(uint32_t node)
{
    uint32_t length = 0;
    const void *map = fdt_property(node, "interrupt-map", &length);
    for (unsigned at = 0; map && at < PCI_PINS * MAP_CELLS && (at + MAP_CELLS) * 4 <= length;
         at += MAP_CELLS) {
        uint64_t pin = fdt_cells(map, at + MAP_PIN, 1);
        if (pin >= 1 && pin <= PCI_PINS)
            platform.pci_irq[pin - 1] = (uint32_t)fdt_cells(map, at + MAP_SOURCE, 1);
    }
}

static void read_bridge(uint32_t node)
{
    uint32_t length = 0;
    const void *reg = fdt_property(node, "reg", NULL), *ranges = fdt_property(node, "ranges", &length);
    if (platform.pci_buid || !reg || !ranges)
        return;
    platform.pci_buid = fdt_cells(reg, 0, 2);
    for (unsigned at = 0; (at + RANGE_CELLS) * 4 <= length; at += RANGE_CELLS) {
        uint64_t kind = fdt_cells(ranges, at, 1) & RANGE_KIND;
        struct pci_window window = {.bus = fdt_cells(ranges, at + 1, 2),
                                    .physical = fdt_cells(ranges, at + 3, 2),
                                    .size = fdt_cells(ranges, at + 5, 2)};
        if (kind == RANGE_MEMORY32)
            platform.pci_memory32 = window;
        else if (kind == RANGE_MEMORY64)
            platform.pci_memory64 = window;
    }
    read_pins(node);
}

static void read_tree(void)
{
    int depth;
    for (uint32_t node = fdt_next(0, &depth); node; node = fdt_next(node, &depth)) {
        if (fdt_has_type(node, "memory"))
            read_memory(node);
        else if (fdt_has_type(node, "cpu"))
            read_cpu(node);
        else if (fdt_has_type(node, "serial"))
            read_terminal(node);
        else if (depth == 1 && fdt_has_type(node, "pci"))
            read_bridge(node);
    }
    uint32_t chosen = fdt_find("chosen");
    if (chosen)
        read_chosen(chosen);
}

/* The tree's header has the number of this CPU, which must come first. */
static void put_boot_cpu_first(uint32_t hardware_id)
{
    for (uint32_t i = 1; i < boot_info.cpu_count; i++)
        if (boot_info.cpu_hardware_id[i] == hardware_id) {
            boot_info.cpu_hardware_id[i] = boot_info.cpu_hardware_id[0];
            boot_info.cpu_hardware_id[0] = hardware_id;
        }
}

static void check_tree(void)
{
    if (!boot_info.ram_count)
        boot_fail("the device tree names no memory");
    if (!boot_info.cpu_count || !platform.timebase_hz)
        boot_fail("the device tree lists no CPU, or not its timebase's frequency");
}

/* ---- start ---------------------------------------------------------------------------------------- */

void boot_start(uint64_t tree, uint64_t firmware, uint64_t archive, uint64_t archive_size)
{
    trace_boot_init();
    boot_occupy(0, virt_to_phys((void *)(VECTORS + VECTORS_BYTES))); /* at both addresses */
    boot_occupy(virt_to_phys(kernel_start), (uint64_t)(kernel_end - kernel_start));
    if (!tree)
        tree = prom_flatten_tree(firmware);
    boot_set_archive(archive, archive_size);
    if (!fdt_open(phys_to_virt(tree)))
        boot_fail("the firmware gave no flattened device tree");
    rtas_init();
    boot_occupy(tree, fdt_size());
    read_tree();
    check_tree();
    put_boot_cpu_first(fdt_boot_cpu());
    boot_install_vectors();
    boot_mmu_init();
    cpu_prepare(0, boot_stack);
    cpu_load(&cpus[0]);
    kernel_main();
}

void boot_secondary(void)
{
    cpu_load(this_cpu());
    kernel_secondary_main(this_cpu()->index);
}
