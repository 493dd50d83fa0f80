/*
 * arch/ppc64/mmu.c - roots of user spaces, and the trace rings: arch/mmu.h. User pages: arch/page_table.c.
 *
 * A user root maps nothing of the kernel, which has its own root (boot_mmu.c). POWER9 only has roots of 8192
 * entries; user addresses reach the first 256.
 */
#include "mmu.h"
#include <kernel/kernel.h>
#include <kernel/memory/frame.h>
#include <tarn/abi.h>
#include <tarn/error.h>

extern struct trace_info trace_info_page; /* kernel/trace */

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
