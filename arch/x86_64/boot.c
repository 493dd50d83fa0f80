/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * arch/x86_64/boot.c - what the boot loader left us, turned into boot_info; then into generic code.
 *
 * boot_start() comes from start.S on the boot tables: all memory below 4 GiB is visible in the direct map, so
 * the loader's structures are read there. After it nothing of the loader is needed but the archive.
 * Single processor, no locks. Read next: acpi.c, boot_mmu.c, cpu.c.
 */
#include "port.h"
#include <arch/machine.h>
#include <kernel/cpu.h>
#include <kernel/kernel.h>

struct boot_info boot_info;

void trace_boot_init(void); /* trace/control */

/* From kernel.ld. */
extern const char kernel_start[], kernel_end[];

/* ---- messages before the kernel has any ---------------------------------------------------------- */

void boot_print(const char *text)
{
    for (; *text; text++) {
        if (*text == '\n')
            arch_console_put('\r');
        arch_console_put(*text);
    }
}

static void __attribute__((noreturn)) boot_fail(const char *text)
{
    boot_print("tarn: ");
    boot_print(text);
    boot_print("\n");
    arch_shutdown(1);
}

/* ---- ranges --------------------------------------------------------------------------------------- */

static void add_ram(uint64_t base, uint64_t size)
{
    uint64_t start = (base + 4095) & ~4095ull, end = (base + size) & ~4095ull;
    if (end <= start)
        return;
    if (boot_info.ram_count == BOOT_RANGES_MAX) {
        boot_print("tarn: the memory map has too many ranges, some memory stays unused\n");
        return;
    }
    boot_info.ram[boot_info.ram_count++] = (struct boot_range){start, end - start};
}

void boot_reserve(uint64_t base, uint64_t size)
{
    uint64_t start = base & ~4095ull, end = (base + size + 4095) & ~4095ull;
    if (boot_info.reserved_count == BOOT_RANGES_MAX)
        boot_fail("too many reserved ranges");
    boot_info.reserved[boot_info.reserved_count++] = (struct boot_range){start, end - start};
}

static bool is_free(uint64_t start, uint64_t end)
{
    for (uint32_t i = 0; i < boot_info.reserved_count; i++) {
        const struct boot_range *r = &boot_info.reserved[i];
        if (start < r->base + r->size && r->base < end)
            return false;
    }
    return true;
}

/* Pages for the kernel's own tables come from one free block below 4 GiB, which is reserved as a whole. */
#define BOOT_BLOCK_BYTES (1ull << 20)
static uint64_t boot_block, boot_block_end;

static bool take_boot_block(void)
{
    for (uint32_t i = 0; i < boot_info.ram_count; i++) {
        uint64_t end = boot_info.ram[i].base + boot_info.ram[i].size;
        for (uint64_t at = boot_info.ram[i].base; at + BOOT_BLOCK_BYTES <= end && at < 1ull << 32;
             at += BOOT_BLOCK_BYTES)
            if (is_free(at, at + BOOT_BLOCK_BYTES)) {
                boot_block = at;
                boot_block_end = at + BOOT_BLOCK_BYTES;
                boot_reserve(at, BOOT_BLOCK_BYTES);
                return true;
            }
    }
    return false;
}

paddr_t boot_alloc_page(void)
{
    if (boot_block == boot_block_end && !take_boot_block())
        boot_fail("no memory for the kernel's page tables");
    paddr_t page = boot_block;
    boot_block += 4096;
    memset(phys_to_virt(page), 0, 4096);
    return page;
}

static void set_archive(uint64_t base, uint64_t size)
{
    boot_info.archive_base = base;
    boot_info.archive_size = size;
    boot_reserve(base, size);
}

static void set_command_line(const char *text)
{
    size_t n = 0;
    for (; n < sizeof(boot_info.command_line) - 1 && text[n]; n++)
        boot_info.command_line[n] = text[n];
    boot_info.command_line[n] = '\0';
}

/* ---- PVH: struct hvm_start_info of Xen's public headers ------------------------------------------- */

#define PVH_MAGIC   0x336ec578u
#define PVH_RAM     1u
#define RANGE_BYTES 24u

struct pvh_start_info {
    uint32_t magic, version, flags, module_count;
    uint64_t modules, command_line, rsdp;
    uint64_t memory_map; /* from version 1 on */
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
            add_ram(map[i].base, map[i].size);
    if (info->module_count) {
        const struct pvh_module *module = phys_to_virt(info->modules);
        set_archive(module->base, module->size);
    }
    if (info->command_line)
        set_command_line(phys_to_virt(info->command_line));
    return info->rsdp;
}

/* ---- multiboot2 ------------------------------------------------------------------------------------ */

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
            add_ram(range->base, range->size);
    }
}

/* The copy of the RSDP lies in the loader's structure, which stays readable for as long as we look. */
static uint64_t read_multiboot(uint64_t address)
{
    const char *info = phys_to_virt(address);
    uint64_t rsdp = 0;
    const struct multiboot_tag *tag = (const void *)(info + 8);
    for (; tag->type != TAG_END; tag = (const void *)((const char *)tag + ((tag->size + 7) & ~7u))) {
        switch (tag->type) {
        case TAG_COMMAND_LINE:
            set_command_line(tag->text);
            break;
        case TAG_MODULE:
            if (!boot_info.archive_size)
                set_archive(tag->module.start, tag->module.end - tag->module.start);
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

/* ---- the way up ------------------------------------------------------------------------------------ */

void boot_start(uint64_t protocol, uint64_t info)
{
    trace_boot_init();
    cpu_check_features();
    boot_reserve(0, 1 << 20); /* trampoline, loader's structures, firmware */
    boot_reserve(virt_to_phys(kernel_start), (uint64_t)(kernel_end - kernel_start));
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
