/*
 * arch/ppc64/mmu.c - the kernel's own page tables, the process table, turning translation on; roots of user
 * spaces, and the trace rings: arch/mmu.h. User pages: arch/page_table.c.
 *
 * boot_mmu_init() runs in real mode, at link addresses. It builds two roots: kernel_root, for addresses that
 * begin with c, and arch_kernel_space's, for user addresses on idle CPUs, which maps only the trace rings.
 * Later only arch_map_device(), kernel_map_stacks() and arch_trace_map() change the tables, the first two on
 * the boot CPU, the third under its caller's lock; they only add entries. A user root maps nothing of the
 * kernel. POWER9 only has roots of 8192 entries; user addresses reach the first 256.
 */
#include "hcall.h"
#include "port.h"
#include <arch/page_table.h>
#include <kernel/kernel.h>
#include <kernel/memory/frame.h>
#include <tarn/abi.h>
#include <tarn/error.h>

extern struct trace_info trace_info_page; /* kernel/trace */

#define KERNEL_DATA (PTE_PAGE | PTE_PRIVILEGED | PTE_READ | PTE_WRITE)

/* The process-table entry for a root table: address space of 2^52 bytes, root of 2^ROOT_BITS entries. */
static inline uint64_t process_of_root(paddr_t root)
{
    return 2ull << 61 | 5ull << 5 | root | ROOT_BITS;
}

static paddr_t kernel_root;        /* of process 0 */
static uint64_t trace_rings_entry; /* a root's entry for USER_TRACE_RINGS, the same in all spaces */
struct process_entry process_table[PROCESS_TABLE_ENTRIES] __attribute__((aligned(4096)));

static struct arch_space kernel_space;
struct arch_space *arch_kernel_space = &kernel_space;

/* From kernel.ld. */
extern const char kernel_start[], kernel_end[], rodata_start[], data_start[];
extern const char boot_stack_guard[]; /* start.S: directly below boot_stack */

#define VECTORS_END 0x6000ull /* end of the exception vectors, for real mode and for translated mode */

/* ---- tables --------------------------------------------------------------------------------------- */

static uint64_t *next_table(uint64_t *entry)
{
    if (!page_entry_present(*entry))
        *entry = page_table_entry(boot_alloc_pages(4096));
    return phys_to_virt(page_entry_address(*entry));
}

static uint64_t *boot_entry(paddr_t root, uint64_t address, unsigned level)
{
    uint64_t *table = phys_to_virt(root);
    for (unsigned l = PAGE_TABLE_LEVELS; l > level; l--)
        table = next_table(&table[page_table_index(address, l)]);
    return &table[page_table_index(address, level)];
}

/* ---- direct map ----------------------------------------------------------------------------------- */

static bool in_section(paddr_t page, const char *start, const char *end)
{
    return page >= virt_to_phys(start) && page < virt_to_phys(end);
}

/* An entry for RAM; 0: no access. */
static uint64_t entry_of_ram(paddr_t page)
{
    const uint64_t constant = PTE_PAGE | PTE_PRIVILEGED | PTE_READ;
    if (page < VECTORS_END || in_section(page, kernel_start, rodata_start))
        return page | constant | PTE_EXECUTE;
    if (in_section(page, rodata_start, data_start))
        return page | constant;
    return page == virt_to_phys(boot_stack_guard) ? 0 : page | KERNEL_DATA;
}

/* Whether one leaf of a level can begin here: all of it is RAM with the same rights. */
static bool leaf_fits(paddr_t base, paddr_t end, unsigned level)
{
    uint64_t size = page_table_span(level);
    bool special =
        base < VECTORS_END || (base < virt_to_phys(kernel_end) && virt_to_phys(kernel_start) < base + size);
    return base % size == 0 && end - base >= size && !special;
}

static void map_ram(paddr_t base, paddr_t end)
{
    while (base < end) {
        unsigned level = 3; /* 1 GiB; roots have no leaves */
        while (level > 1 && !leaf_fits(base, end, level))
            level--;
        *boot_entry(kernel_root, ARCH_DIRECT_MAP + base, level) = entry_of_ram(base);
        base += page_table_span(level);
    }
}

/* ---- start ---------------------------------------------------------------------------------------- */

static void make_tables(void)
{
    kernel_root = boot_alloc_pages(ROOT_BYTES);
    for (uint32_t i = 0; i < boot_info.ram_count; i++) {
        paddr_t base = boot_info.ram[i].base, end = base + boot_info.ram[i].size;
        map_ram(base, end < arch_physical_limit() ? end : arch_physical_limit());
    }
    boot_entry(kernel_root, ARCH_DEVICE_MAP, 1); /* so that the first 2 MiB of registers need no frames */

    kernel_space.root = boot_alloc_pages(ROOT_BYTES);
    kernel_space.process = process_of_root(kernel_space.root);
    boot_entry(kernel_space.root, USER_TRACE_RINGS, 3);
    const uint64_t *root = phys_to_virt(kernel_space.root);
    trace_rings_entry = root[page_table_index(USER_TRACE_RINGS, PAGE_TABLE_LEVELS)];
}

static void register_process_table(void)
{
    process_table[0].root = process_of_root(kernel_root);
    for (unsigned i = 1; i < PROCESS_TABLE_ENTRIES; i++)
        process_table[i].root = kernel_space.process;
    page_tables_changed();
    const uint64_t flags = 0x1d; /* a new table, radix, the guest itself flushes translations */
    const uint64_t size = 0;     /* 2^(12 + 0) bytes */
    if (hcall(H_REGISTER_PROC_TBL, flags, virt_to_phys(process_table), 0, size, NULL) != H_SUCCESS)
        boot_fail("the machine has no radix MMU (under QEMU: -cpu power9)");
    /* Interrupts arrive with translation on, at ARCH_DIRECT_MAP + 0x4000 + vector. */
    const uint64_t translation_on = 3, where = 3; /* of the interrupt-location resource */
    if (hcall(H_SET_MODE, translation_on, where, 0, 0, NULL) != H_SUCCESS)
        boot_fail("the hypervisor cannot deliver interrupts with translation on");
}

/* The next instruction has the same real address either way. */
static void turn_translation_on(void)
{
    __asm__ volatile("ptesync\n\tmtmsrd %0\n\tisync" ::"r"(read_msr() | MSR_IR | MSR_DR) : "memory");
}

void boot_mmu_init(void)
{
    make_tables();
    register_process_table();
    turn_translation_on();
}

/* ---- spaces --------------------------------------------------------------------------------------- */

_Static_assert(FRAME_SIZE << ROOT_ORDER == ROOT_BYTES, "a root is one block of frames");

#define PHYSICAL_BITS 51 /* POWER9; the direct map also ends there */
_Static_assert(ARCH_DIRECT_MAP + (1ull << PHYSICAL_BITS) <= ARCH_TRACE_RINGS, "all of it has a place");

uint64_t *kernel_table_entry(uint64_t address)
{
    return page_table_find(kernel_root, address, true);
}

int arch_space_init(struct arch_space *space)
{
    paddr_t frames = frame_alloc_order(ROOT_ORDER);
    if (frames == FRAME_NONE)
        return -E_NO_MEMORY;
    uint64_t *root = phys_to_virt(frames);
    memset(root, 0, ROOT_BYTES);
    root[page_table_index(USER_TRACE_RINGS, PAGE_TABLE_LEVELS)] = trace_rings_entry;
    space->root = frames;
    space->process = process_of_root(frames);
    if (arch_map_page(space, USER_TRACE_INFO, virt_to_phys(&trace_info_page), MAP_READ)) {
        arch_space_destroy(space);
        return -E_NO_MEMORY;
    }
    return 0;
}

uint32_t arch_space_destroy(struct arch_space *space)
{
    uint32_t freed = page_table_free(space->root, USER_TRACE_RINGS) + (1u << ROOT_ORDER);
    frame_free_order(space->root, ROOT_ORDER);
    space->root = FRAME_NONE;
    return freed;
}

uint64_t arch_physical_limit(void)
{
    return 1ull << PHYSICAL_BITS;
}

/* An entry in the tables of the trace rings for users, which all user roots share. */
static uint64_t *user_window_entry(uint64_t offset)
{
    return page_table_find(arch_kernel_space->root, USER_TRACE_RINGS + offset, true);
}

/* The last level alone decides rights, and AMR denies the kernel what users may write: so each has an entry.
 */
int arch_trace_map(uint64_t offset, paddr_t frame)
{
    uint64_t *users = user_window_entry(offset);
    uint64_t *kernels = users ? kernel_table_entry(ARCH_TRACE_RINGS + offset) : NULL;
    if (!kernels)
        return -E_NO_MEMORY;
    /* Release: as in set_page. */
    __atomic_store_n(users, page_entry(frame, MAP_READ | MAP_WRITE), __ATOMIC_RELEASE);
    __atomic_store_n(kernels, frame | KERNEL_DATA, __ATOMIC_RELEASE);
    page_tables_changed();
    return 0;
}
