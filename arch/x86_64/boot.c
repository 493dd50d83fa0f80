/*
 * arch/x86_64/boot.c - fills boot_info from the boot loader's data, and calls generic code.
 *
 * start.S calls boot_start() on the boot tables: the direct map has all memory below 4 GiB, so the loader's
 * structures are read there. Afterwards only the archive is still needed. Single CPU, no locks. Read next:
 * acpi.c, mmu.c, cpu.c.
 */
#include "port.h"
#include <kernel/cpu/cpu.h>

void trace_boot_init(void); /* kernel/trace */

/* From kernel.ld. */
extern const char kernel_start[], kernel_end[];

/* ---- PVH: struct hvm_start_info of Xen's public headers ------------------------------------------- */

#define PVH_MAGIC 0x336ec578u
#define PVH_RAM   1u

struct pvh_start_info {
    uint32_t magic, version, flags, module_count;
    uint64_t modules, command_line, rsdp;
    uint64_t memory_map; /* since version 1 */
    uint32_t memory_map_count, reserved;
};
struct pvh_module {
    uint64_t base, size, command_line, reserved;
};
struct pvh_range {
    uint64_t base, size;
    uint32_t type, reserved;
};

static uint64_t read_pvh(uint64_t address)
{
    const struct pvh_start_info *info = phys_to_virt(address);
    if (info->magic != PVH_MAGIC || info->version < 1)
        boot_fail("PVH start: no start_info of version 1 where ebx points");
    const struct pvh_range *map = phys_to_virt(info->memory_map);
    for (uint32_t i = 0; i < info->memory_map_count; i++)
        if (map[i].type == PVH_RAM)
            boot_add_ram(map[i].base, map[i].size);
    if (info->module_count) {
        const struct pvh_module *module = phys_to_virt(info->modules);
        boot_set_archive(module->base, module->size);
    }
    if (info->command_line)
        boot_set_command_line(phys_to_virt(info->command_line));
    return info->rsdp;
}

/* ---- multiboot2 ----------------------------------------------------------------------------------- */

enum {
    TAG_END = 0,
    TAG_COMMAND_LINE = 1,
    TAG_MODULE = 3,
    TAG_MEMORY_MAP = 6,
    TAG_ACPI_1 = 14,
    TAG_ACPI_2 = 15
};

struct multiboot_tag {
    uint32_t type, size;
    union {
        char text[0];
        struct {
            uint32_t start, end;
        } module;
        struct {
            uint32_t entry_size, entry_version;
            char entries[0];
        } map;
    };
};
struct multiboot_range {
    uint64_t base, size;
    uint32_t type, reserved;
};

static void read_multiboot_map(const struct multiboot_tag *tag)
{
    for (const char *p = tag->map.entries; p + tag->map.entry_size <= (const char *)tag + tag->size;
         p += tag->map.entry_size) {
        const struct multiboot_range *range = (const void *)p;
        if (range->type == 1)
            boot_add_ram(range->base, range->size);
    }
}

/* The copy of the RSDP is in the loader's structure, which stays readable while it is needed. */
static uint64_t read_multiboot(uint64_t address)
{
    const char *info = phys_to_virt(address);
    uint64_t rsdp = 0;
    const struct multiboot_tag *tag = (const void *)(info + 8);
    for (; tag->type != TAG_END; tag = (const void *)((const char *)tag + ((tag->size + 7) & ~7u))) {
        switch (tag->type) {
        case TAG_COMMAND_LINE:
            boot_set_command_line(tag->text);
            break;
        case TAG_MODULE:
            boot_set_archive(tag->module.start, tag->module.end - tag->module.start);
            break;
        case TAG_MEMORY_MAP:
            read_multiboot_map(tag);
            break;
        case TAG_ACPI_1:
            if (rsdp)
                break;
            /* fall through */
        case TAG_ACPI_2:
            rsdp = virt_to_phys(tag->text);
            break;
        }
    }
    return rsdp;
}

/* ---- start ---------------------------------------------------------------------------------------- */

void boot_start(uint64_t protocol, uint64_t info)
{
    trace_boot_init();
    cpu_check_features();
    boot_occupy(0, 1 << 20); /* trampoline, loader's structures, firmware */
    boot_occupy(virt_to_phys(kernel_start), (uint64_t)(kernel_end - kernel_start));
    uint64_t rsdp = protocol == BOOT_PVH ? read_pvh(info) : read_multiboot(info);
    if (!boot_info.ram_count)
        boot_fail("the boot loader gave no memory map");
    acpi_read(rsdp);
    boot_mmu_init();
    cpu_prepare(0, boot_stack);
    cpu_load(&cpus[0]);
    kernel_main();
}

void boot_secondary(uint32_t index)
{
    cpu_load(&cpus[index]);
    kernel_secondary_main(index);
}
