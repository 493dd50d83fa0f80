/*
 * slab.c - caches of kernel objects (after Bonwick, USENIX 1994: constructed state survives a free).
 *
 * A slab divides page frames into objects. A struct at the end of a frame describes it. The free list uses
 * a word behind each object, so a free object keeps its contents. Allocation prefers frames with live
 * objects, longest-waiting first, so that few are partly used; then an empty frame; then a new one. An
 * empty frame is freed when no CPU can hold a pointer into it (slab.h, quiescent.h).
 */
#include <kernel/cpu/explore.h>
#include <kernel/cpu/quiescent.h>
#include <kernel/kernel.h>
#include <kernel/memory/frame.h>
#include <kernel/memory/slab.h>
#include <trace/mem.h>

/* Per slab. Otherwise an object that comes and goes would take and give a frame each time. */
#define EMPTY_KEPT 1u

/* At the end of each page frame. */
struct frame_end {
    struct list all;         /* in slab->all */
    struct list link;        /* in slab->partial or slab->empty; in neither when no object is free */
    void *free;              /* list of free objects, through the word behind each */
    uint64_t live;           /* number of live objects */
    uint64_t quiescent_from; /* of an empty frame: quiescent_stamp() when it became empty */
};

static _Atomic uint64_t frames_total;
static struct slab *_Atomic all_slabs; /* slabs that have had frames; they stay in the list */

static uint64_t stride_of(const struct slab *slab)
{
    return (slab->size + sizeof(void *) + 15) & ~15ull;
}

static void **link_of(const struct slab *slab, void *object)
{
    return (void **)((char *)object + stride_of(slab) - sizeof(void *));
}

static char *frame_of(void *address)
{
    return (char *)((uintptr_t)address & ~(uintptr_t)(FRAME_SIZE - 1));
}

static struct frame_end *end_of(void *address)
{
    return (struct frame_end *)(frame_of(address) + FRAME_SIZE - sizeof(struct frame_end));
}

uint32_t slab_objects_in_frame(const struct slab *slab)
{
    return (uint32_t)((FRAME_SIZE - sizeof(struct frame_end)) / stride_of(slab));
}

void *slab_object(const struct slab *slab, void *frame, uint32_t index)
{
    return (char *)frame + index * stride_of(slab);
}

/* ---- Frames; lock held ---- */

static void make_known(struct slab *slab)
{
    list_init(&slab->all);
    list_init(&slab->partial);
    list_init(&slab->empty);
    slab->known = true;
    slab->other = all_slabs;
    /* Release: a walk over the slabs finds initialized lists. */
    while (!atomic_compare_exchange_weak(&all_slabs, &slab->other, slab))
        ;
}

static void trace_grown(const struct slab *slab)
{
    char name[TARN_NAME_BYTES] = {0};
    memcpy(name, slab->name, strlen(slab->name) < sizeof name ? strlen(slab->name) : sizeof name - 1);
    trace_mem_slab_grow(name, slab->frames);
}

/* A frame with only free objects, in no list but `all`; NULL: no memory. */
static struct frame_end *add_frame(struct slab *slab)
{
    const uint32_t objects = slab_objects_in_frame(slab);
    assert(objects > 0);
    paddr_t frame = frame_alloc_zeroed();
    if (frame == FRAME_NONE)
        return NULL;
    char *memory = phys_to_virt(frame);
    struct frame_end *end = end_of(memory);
    for (uint32_t i = 0; i < objects; i++) {
        void *object = slab_object(slab, memory, i);
        if (slab->construct)
            slab->construct(object);
        *link_of(slab, object) = end->free;
        end->free = object;
    }
    list_add_head(&slab->all, &end->all);
    slab->frames++;
    atomic_fetch_add_explicit(&frames_total, 1, memory_order_relaxed);
    trace_grown(slab);
    return end;
}

/* A frame with a free object, in slab->partial; NULL: no memory. */
static struct frame_end *find_frame(struct slab *slab)
{
    if (!slab->known)
        make_known(slab);
    if (!list_empty(&slab->partial))
        return list_object(slab->partial.next, struct frame_end, link);
    struct frame_end *end;
    if (slab->empty_count > 0) {
        end = list_object(slab->empty.previous, struct frame_end, link);
        list_remove(&end->link);
        slab->empty_count--;
    } else if (!(end = add_frame(slab))) {
        return NULL;
    }
    list_add_head(&slab->partial, &end->link);
    return end;
}

/* ---- Objects ---- */

void *slab_alloc(struct slab *slab)
{
    void *object = NULL;
    spin_lock(&slab->lock);
    struct frame_end *end = find_frame(slab);
    if (end) {
        object = end->free;
        end->free = *link_of(slab, object);
        end->live++;
        if (!end->free)
            list_remove(&end->link);
        slab->live++;
    }
    spin_unlock(&slab->lock);
    return object;
}

void slab_free(struct slab *slab, void *object)
{
    struct frame_end *end = end_of(object);
    spin_lock(&slab->lock);
    if (!end->free)
        list_add_tail(&slab->partial, &end->link);
    *link_of(slab, object) = end->free;
    end->free = object;
    slab->live--;
    if (--end->live == 0) {
        end->quiescent_from = quiescent_stamp();
        list_remove(&end->link);
        list_add_tail(&slab->empty, &end->link);
        slab->empty_count++;
    }
    spin_unlock(&slab->lock);
}

struct slab *slab_named(const char *name)
{
    struct slab *slab = all_slabs;
    while (slab && strcmp(slab->name, name))
        slab = slab->other;
    return slab;
}

uint64_t slab_count(const char *name)
{
    const struct slab *slab = slab_named(name);
    return slab ? __atomic_load_n(&slab->live, __ATOMIC_RELAXED) : 0;
}

/* ---- Giving frames back ---- */

/* Unlinks the frame that has been empty longest, if it may be freed. Lock held. */
static struct frame_end *take_unreachable(struct slab *slab)
{
    if (slab->empty_count <= EMPTY_KEPT)
        return NULL;
    struct frame_end *end = list_object(slab->empty.next, struct frame_end, link);
    if (!quiescent_since(end->quiescent_from))
        return NULL;
    list_remove(&end->link);
    list_remove(&end->all);
    slab->empty_count--;
    slab->frames--;
    atomic_fetch_sub_explicit(&frames_total, 1, memory_order_relaxed);
    return end;
}

uint32_t slab_reclaim(uint32_t most)
{
    uint32_t count = 0;
    for (struct slab *slab = all_slabs; slab && count < most; slab = slab->other) {
        /* Runs often, so it skips slabs with nothing to give without locking them. */
        if (__atomic_load_n(&slab->empty_count, __ATOMIC_RELAXED) <= EMPTY_KEPT ||
            !spin_try_lock(&slab->lock))
            continue;
        struct frame_end *end;
        while (count < most && (end = take_unreachable(slab))) {
            explore_ends(frame_of(end), FRAME_SIZE);
            frame_free(virt_to_phys(frame_of(end)));
            count++;
        }
        spin_unlock(&slab->lock);
    }
    return count;
}

uint64_t slab_count_empty(void)
{
    uint64_t count = 0;
    for (const struct slab *slab = all_slabs; slab; slab = slab->other) {
        uint64_t empty = __atomic_load_n(&slab->empty_count, __ATOMIC_RELAXED);
        count += empty > EMPTY_KEPT ? empty - EMPTY_KEPT : 0;
    }
    return count;
}

uint64_t slab_frames_total(void)
{
    return atomic_load_explicit(&frames_total, memory_order_relaxed);
}

/* ---- For the debugger ---- */

void *slab_next_frame_unlocked(const struct slab *slab, void *previous)
{
    const struct list *link = previous ? end_of(previous)->all.next : slab->all.next;
    return link == &slab->all ? NULL : frame_of((void *)link);
}
