/*
 * space_fault.c - resolves page faults in a space: demand zero, copy-on-write, or a request to a pager.
 *
 * Called by fault.c with no lock held. All work is under the space's lock, so if two threads fault on one
 * page the second finds it done (fault_kind spurious).
 */
#include <kernel/kernel.h>
#include <kernel/object/cap_table.h>
#include <kernel/space/space.h>
#include <trace/fault.h>

static bool is_allowed(const struct mapping *mapping, uint32_t access)
{
    uint32_t needed = access & FAULT_ACCESS_WRITE     ? MAP_WRITE
                      : access & FAULT_ACCESS_EXECUTE ? MAP_EXECUTE
                                                      : MAP_READ;
    return mapping->flags & needed;
}

/* *created: the frame was missing and has been zero-filled. */
static paddr_t get_frame(struct memory *memory, uint64_t offset, bool *created)
{
    spin_lock(&memory->lock);
    uint64_t before = memory->frames;
    paddr_t frame = memory_frame(memory, offset, true);
    *created = memory->frames != before;
    spin_unlock(&memory->lock);
    return frame;
}

static __attribute__((noinline)) enum fault_result ask_pager(struct mapping *mapping, uint64_t offset,
                                                             struct fault_request *request)
{
    request->kind = TRACE_FAULT_PAGER;
    request->pager = mapping->memory->pager;
    request->object_number = mapping->memory->number;
    request->object_offset = offset;
    object_get(CAP_ENDPOINT, request->pager);
    return FAULT_ASK_PAGER;
}

/* Why there is no frame: the pager must supply it, the object shrank, or memory ran out. */
static enum fault_result explain_missing(struct mapping *mapping, uint64_t offset,
                                         struct fault_request *request)
{
    struct memory *memory = mapping->memory;
    if (offset >= __atomic_load_n(&memory->size, __ATOMIC_RELAXED))
        return FAULT_REFUSED;
    return memory->kind == MEMORY_PAGED ? ask_pager(mapping, offset, request) : FAULT_NO_MEMORY;
}

/* Unmaps the old frame everywhere first: once a thread can write to the new one, none may read the old
 * one. */
static enum fault_result install(struct space *space, uint64_t page, paddr_t frame, uint32_t flags)
{
    uint32_t old_flags;
    paddr_t old = arch_lookup_page(&space->arch, page, &old_flags);
    bool replaces = old != ~0ull && old != frame;
    if (replaces) {
        space->resident -= arch_unmap_range(&space->arch, page, FRAME_SIZE);
        tlb_shootdown(space, page, FRAME_SIZE);
    }
    if (arch_map_page(&space->arch, page, frame, flags) < 0)
        return FAULT_NO_MEMORY;
    space->resident += old == ~0ull || replaces;
    if (!replaces)
        arch_tlb_flush_page(page);
    return FAULT_RESOLVED;
}

/* A write to a private mapping whose page is still the object's: copies it to a private frame, if there is
 * a page. */
static enum fault_result copy_page(struct space *space, struct mapping *mapping, uint64_t page,
                                   uint64_t offset, struct fault_request *request)
{
    if (!mapping->private) {
        uint64_t end = mapping->offset + (mapping->end - mapping->start);
        mapping->private = memory_new(MEMORY_ZERO, end);
        if (!mapping->private)
            return FAULT_NO_MEMORY;
    }
    paddr_t source = memory_peek(mapping->memory, offset);
    if (source == FRAME_NONE && mapping->memory->kind != MEMORY_ZERO)
        return explain_missing(mapping, offset, request);
    bool created;
    paddr_t frame = get_frame(mapping->private, offset, &created);
    if (frame == FRAME_NONE)
        return FAULT_NO_MEMORY;
    space->private_frames += created;
    request->kind = TRACE_FAULT_ZERO;
    if (source != FRAME_NONE) {
        memcpy(phys_to_virt(frame), phys_to_virt(source), FRAME_SIZE);
        request->kind = TRACE_FAULT_COPY;
    }
    return install(space, page, frame, mapping->flags);
}

static enum fault_result find_page(struct space *space, struct mapping *mapping, uint64_t page,
                                   uint64_t offset, struct fault_request *request)
{
    uint32_t flags = mapping->flags;
    if (flags & MAP_PRIVATE) {
        const paddr_t own = mapping->private ? memory_peek(mapping->private, offset) : FRAME_NONE;
        if (own != FRAME_NONE) {
            request->kind = TRACE_FAULT_MAPPED;
            return install(space, page, own, flags);
        }
        if (request->access & FAULT_ACCESS_WRITE)
            return copy_page(space, mapping, page, offset, request);
        flags &= ~MAP_WRITE;
    }
    bool created;
    paddr_t frame = get_frame(mapping->memory, offset, &created);
    if (frame == FRAME_NONE)
        return explain_missing(mapping, offset, request);
    request->kind = created ? TRACE_FAULT_ZERO : TRACE_FAULT_MAPPED;
    return install(space, page, frame, flags);
}

/* ---- pages around ---- */

/* A program that touches a page of text or constants soon touches its neighbours: maps those that the object
 * has, up to 16 aligned pages, to save their faults. */
static void map_around(struct space *space, const struct mapping *mapping, uint64_t page)
{
    const uint64_t block = page & ~(ARCH_MAP_BLOCK * FRAME_SIZE - 1),
                   end = block + ARCH_MAP_BLOCK * FRAME_SIZE,
                   first = block < mapping->start ? mapping->start : block,
                   last = end > mapping->end ? mapping->end : end;
    const uint32_t count = (uint32_t)((last - first) / FRAME_SIZE);
    paddr_t frames[ARCH_MAP_BLOCK];
    struct memory *memory = mapping->memory;
    spin_lock(&memory->lock);
    memory_frames(memory, first - mapping->start + mapping->offset, count, frames);
    spin_unlock(&memory->lock);
    space->resident += arch_map_missing(&space->arch, first, frames, count, mapping->flags);
}

/* Whether all its pages are the object's, now and later. */
static bool is_constant(const struct mapping *mapping)
{
    return !(mapping->flags & MAP_WRITE) && !mapping->private && mapping->memory->kind != MEMORY_DEVICE;
}

/* Another thread was faster, or a CPU had a stale translation. */
static bool is_done(struct space *space, uint64_t page, uint32_t access)
{
    uint32_t flags;
    if (arch_lookup_page(&space->arch, page, &flags) == ~0ull)
        return false;
    if (access & FAULT_ACCESS_WRITE && !(flags & MAP_WRITE))
        return false;
    return !(access & FAULT_ACCESS_EXECUTE) || flags & MAP_EXECUTE;
}

enum fault_result space_fault(struct space *space, struct fault_request *request)
{
    enum fault_result result;
    uint64_t page = request->address & ~(FRAME_SIZE - 1);
    request->kind = TRACE_FAULT_BAD;
    spin_lock(&space->lock);
    struct mapping *mapping = mapping_find(space->mappings, request->address);
    if (!mapping || mapping->start > request->address || !is_allowed(mapping, request->access) ||
        space->released) {
        result = FAULT_REFUSED;
    } else if (is_done(space, page, request->access)) {
        arch_tlb_flush_page(page);
        request->kind = TRACE_FAULT_SPURIOUS;
        result = FAULT_RESOLVED;
    } else {
        result = find_page(space, mapping, page, page - mapping->start + mapping->offset, request);
        if (result == FAULT_RESOLVED && request->kind == TRACE_FAULT_MAPPED && is_constant(mapping))
            map_around(space, mapping, page);
    }
    spin_unlock(&space->lock);
    return result;
}
