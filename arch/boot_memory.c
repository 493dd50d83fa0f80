/* arch/boot_memory.c - ranges of boot_info, and pages before frame_alloc works. Interface: arch/boot.h. */
#include <arch/boot.h>
#include <arch/machine.h>
#include <arch/mmu.h>
#include <kernel/kernel.h>

#define PAGE_BYTES 4096ull

struct boot_info boot_info;

/* ---- messages ------------------------------------------------------------------------------------- */

void boot_print(const char *text)
{
    for (; *text; text++) {
        if (*text == '\n')
            arch_console_put('\r');
        arch_console_put(*text);
    }
}

void boot_fail(const char *text)
{
    boot_print("tarn: ");
    boot_print(text);
    boot_print("\n");
    arch_shutdown(1);
}

/* ---- ranges --------------------------------------------------------------------------------------- */

void boot_add_ram(uint64_t base, uint64_t size)
{
    uint64_t start = (base + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1), end = (base + size) & ~(PAGE_BYTES - 1);
    if (end <= start)
        return;
    if (boot_info.ram_count == BOOT_RANGES_MAX) {
        boot_print("tarn: the memory map has too many ranges, some memory stays unused\n");
        return;
    }
    uint32_t i = boot_info.ram_count++;
    for (; i > 0 && boot_info.ram[i - 1].base > start; i--)
        boot_info.ram[i] = boot_info.ram[i - 1];
    boot_info.ram[i] = (struct boot_range){start, end - start};
}

void boot_occupy(uint64_t base, uint64_t size)
{
    uint64_t start = base & ~(PAGE_BYTES - 1), end = (base + size + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1);
    if (boot_info.occupied_count == BOOT_RANGES_MAX)
        boot_fail("too many occupied ranges");
    boot_info.occupied[boot_info.occupied_count++] = (struct boot_range){start, end - start};
}

void boot_set_archive(uint64_t base, uint64_t size)
{
    if (boot_info.archive_size || !size)
        return;
    boot_info.archive_base = base;
    boot_info.archive_size = size;
    boot_occupy(base, size);
}

void boot_set_command_line(const char *text)
{
    size_t n = 0;
    for (; n < sizeof(boot_info.command_line) - 1 && text[n]; n++)
        boot_info.command_line[n] = text[n];
    boot_info.command_line[n] = '\0';
}

/* ---- pages ---------------------------------------------------------------------------------------- */

/* Pages come from free blocks, each occupied as a whole. The first instructions of a port may reach only the
 * first gigabytes, or the first range. */
#define BLOCK_BYTES (1ull << 20)
#define REACH       (1ull << 32)
static uint64_t block, block_end;

static void take_block(void)
{
    for (uint32_t i = 0; i < boot_info.ram_count; i++) {
        uint64_t end = boot_info.ram[i].base + boot_info.ram[i].size;
        uint64_t at = (boot_info.ram[i].base + BLOCK_BYTES - 1) & ~(BLOCK_BYTES - 1);
        for (; at + BLOCK_BYTES <= end && at < REACH; at += BLOCK_BYTES)
            if (!boot_is_occupied(at, BLOCK_BYTES)) {
                block = at;
                block_end = at + BLOCK_BYTES;
                boot_occupy(at, BLOCK_BYTES);
                return;
            }
    }
    boot_fail("no memory for the kernel's page tables");
}

uint64_t boot_alloc_pages(uint64_t size)
{
    assert(size <= BLOCK_BYTES && (size & (size - 1)) == 0);
    block = (block + size - 1) & ~(size - 1);
    if (block + size > block_end)
        take_block();
    uint64_t pages = block;
    block += size;
    memset(phys_to_virt(pages), 0, size);
    return pages;
}
