/*
 * arch/page_table.c - pages of user spaces in a tree of tables. Interfaces: arch/mmu.h, arch/page_table.h.
 *
 * A table is allocated with the first page that needs it and freed with the space. The caller holds the
 * space's lock, and flushes.
 */
#include <arch/page_table.h>
#include <base/sparse.h>
#include <kernel/kernel.h>
#include <kernel/memory/frame.h>
#include <tarn/abi.h>
#include <tarn/error.h>

uint64_t *page_table_find(paddr_t root, uint64_t address, bool create)
{
    uint64_t *table = phys_to_virt(root);
    for (unsigned level = PAGE_TABLE_LEVELS; level > 1; level--) {
        uint64_t *entry = &table[page_table_index(address, level)];
        if (!page_entry_present(*entry)) {
            paddr_t frame = create ? frame_alloc_zeroed() : FRAME_NONE;
            if (frame == FRAME_NONE)
                return NULL;
            /* Release: a walk that finds the table finds it empty. The walk's loads depend on each other, so
             * it needs no barrier. */
            __atomic_store_n(entry, page_table_entry(frame), __ATOMIC_RELEASE);
        }
        table = phys_to_virt(page_entry_address(*entry));
    }
    return &table[page_table_index(address, 1)];
}

static uint32_t free_tables(paddr_t table_frame, unsigned level);

/* Above level 1 an entry is zero or points to a table. */
static uint32_t free_tables_below(const uint64_t *table, uint64_t entries, unsigned level)
{
    uint32_t freed = 0;
    for (uint64_t i = 0; (i = sparse_next(table, i, entries)) < entries; i++)
        freed += free_tables(page_entry_address(table[i]), level - 1);
    return freed;
}

static uint32_t free_tables(paddr_t table_frame, unsigned level)
{
    const uint32_t below = level > 1 ? free_tables_below(phys_to_virt(table_frame), TABLE_ENTRIES, level) : 0;
    frame_free(table_frame);
    return below + 1;
}

uint32_t page_table_free(paddr_t root, uint64_t end)
{
    return free_tables_below(phys_to_virt(root), page_table_index(end, PAGE_TABLE_LEVELS), PAGE_TABLE_LEVELS);
}

static inline void set_page(uint64_t *entry, paddr_t frame, uint32_t flags)
{
    if (flags & MAP_EXECUTE)
        page_sync_instructions(frame);
    /* Release: a CPU that accesses the frame through the entry sees stores from before, above all zeros, and
     * not the frame's earlier contents. */
    __atomic_store_n(entry, page_entry(frame, flags), __ATOMIC_RELEASE);
}

int arch_map_page(struct arch_space *space, uint64_t address, paddr_t frame, uint32_t flags)
{
    uint64_t *entry = page_table_find(space->root, address, true);
    if (!entry)
        return -E_NO_MEMORY;
    set_page(entry, frame, flags);
    page_tables_changed();
    return 0;
}

uint32_t arch_map_missing(struct arch_space *space, uint64_t address, const paddr_t *frames, uint32_t count,
                          uint32_t flags)
{
    uint64_t *entries = page_table_find(space->root, address, true); /* of a block, all are in one table */
    uint32_t mapped = 0;
    for (uint32_t i = 0; entries && i < count; i++) {
        if (frames[i] == FRAME_NONE || page_entry_present(entries[i]))
            continue;
        set_page(&entries[i], frames[i], flags);
        mapped++;
    }
    page_tables_changed();
    return mapped;
}

/* Applies `change` to every present page of a range; returns how many. Skips missing tables. */
static uint64_t change_range(uint64_t *table, unsigned level, uint64_t start, uint64_t end,
                             uint64_t (*change)(uint64_t entry, uint32_t flags), uint32_t flags)
{
    uint64_t step = page_table_span(level);
    uint64_t changed = 0;
    while (start < end) {
        uint64_t next = (start & ~(step - 1)) + step;
        uint64_t stop = next < end ? next : end;
        uint64_t *entry = &table[page_table_index(start, level)];
        if (page_entry_present(*entry)) {
            if (level == 1) {
                __atomic_store_n(entry, change(*entry, flags), __ATOMIC_RELAXED);
                changed++;
            } else {
                uint64_t *below = phys_to_virt(page_entry_address(*entry));
                changed += change_range(below, level - 1, start, stop, change, flags);
            }
        }
        start = stop;
    }
    return changed;
}

static uint64_t without_page(uint64_t entry, uint32_t flags)
{
    return 0;
}

static uint64_t with_flags(uint64_t entry, uint32_t flags)
{
    uint32_t before = page_entry_flags(entry);
    if (flags & ~before & MAP_EXECUTE)
        page_sync_instructions(page_entry_address(entry));
    return page_entry(page_entry_address(entry), flags | (before & MAP_UNCACHED));
}

uint64_t arch_unmap_range(struct arch_space *space, uint64_t address, uint64_t size)
{
    uint64_t changed =
        change_range(phys_to_virt(space->root), PAGE_TABLE_LEVELS, address, address + size, without_page, 0);
    page_tables_changed();
    return changed;
}

uint64_t arch_protect_range(struct arch_space *space, uint64_t address, uint64_t size, uint32_t flags)
{
    uint64_t changed = change_range(phys_to_virt(space->root), PAGE_TABLE_LEVELS, address, address + size,
                                    with_flags, flags);
    page_tables_changed();
    return changed;
}

paddr_t arch_lookup_page(struct arch_space *space, uint64_t address, uint32_t *flags)
{
    const uint64_t *entry = page_table_find(space->root, address, false);
    if (!entry || !page_entry_present(*entry))
        return FRAME_NONE;
    *flags = page_entry_flags(*entry);
    return page_entry_address(*entry);
}
