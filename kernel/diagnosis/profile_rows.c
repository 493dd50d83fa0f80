/* SPDX-License-Identifier: BSD-2-Clause */
/* profile_rows.c - the memory of profiles, and their rows. Interface: profile_rows.h. */
#include <kernel/cpu/cpu.h>
#include <kernel/diagnosis/profile_rows.h>
#include <kernel/kernel.h>
#include <kernel/sched/thread.h>
#include <kernel/space/space.h>
#include <trace/ring/profile_copy.h>

static LOCK_CLASS(profiles_class, "profiles");
struct spinlock profiles_lock = SPINLOCK(&profiles_class);
struct list profiles_list = {&profiles_list, &profiles_list};
struct trace_profile_list profile_list = {
    .magic = TRACE_PROFILE_LIST_MAGIC,
    .row_bytes = sizeof(struct trace_profile_row),
    .rows_at = offsetof(struct routine_profile, first) - offsetof(struct routine_profile, head),
    .first_rows = PROFILE_FIRST_ROWS,
    .page_rows = PROFILE_PAGE_ROWS,
};
static uint64_t last_serial; /* under profiles_lock */

_Static_assert(PROFILE_LARGE_INDEX * sizeof(uint16_t) <= FRAME_SIZE, "a page frame");
_Static_assert(PROFILE_ROWS_MAX < PROFILE_LARGE_INDEX * 3 / 4, "the index always has free entries");

/* ---- Rows ---- */

static void begin_row(struct trace_profile_row *row, uint64_t key)
{
    *row = (struct trace_profile_row){.key = key, .least = ~0ull};
}

static uint32_t hash(uint64_t key)
{
    return (uint32_t)((key ^ key >> 29) * 0x9e3779b97f4a7c15ull >> 40);
}

/* The entry of the index that leads to the key, or that is free. */
static uint16_t *find_entry(struct routine_profile *profile, uint64_t key)
{
    for (uint32_t i = hash(key);; i++) {
        uint16_t *entry = &profile->index[i & profile->index_mask];
        if (!*entry || profile_row(profile, *entry - 1u)->key == key)
            return entry;
    }
}

static void add_to_index(struct routine_profile *profile, uint32_t number)
{
    *find_entry(profile, profile_row(profile, number)->key) = (uint16_t)(number + 1);
}

/* Row 0 is that of all that find no other. */
static void reset_rows(struct routine_profile *profile)
{
    begin_row(&profile->first[0], trace_routine_key(TRACE_ROUTINE_OTHERS, 0));
    for (uint32_t i = 0; i < PROFILE_CACHE; i++)
        profile->rows.cache[i] = &profile->first[0];
    memset(profile->index, 0, (profile->index_mask + 1) * sizeof profile->index[0]);
    profile->head.count = 1;
    add_to_index(profile, 0);
}

/* ---- Page frames ---- */

static void count_frames(struct space *space, int32_t frames)
{
    if (space) /* relaxed: an amount, which orders nothing */
        atomic_fetch_add_explicit(&space->profile_frames, (uint32_t)frames, memory_order_relaxed);
}

/* Several threads that find the last one free may all take one. */
static bool may_grow(const struct space *space)
{
    return !space || atomic_load_explicit(&space->profile_frames, memory_order_relaxed) <
                         PROFILE_MORE_FRAMES_MAX + __atomic_load_n(&space->thread_count, __ATOMIC_RELAXED);
}

/* One more frame of the profile; NULL: none. */
static void *add_frame(struct routine_profile *profile)
{
    const paddr_t frame = may_grow(profile->space) ? frame_alloc() : FRAME_NONE;
    if (frame == FRAME_NONE)
        return NULL;
    profile->frames++;
    count_frames(profile->space, 1);
    return phys_to_virt(frame);
}

void profile_give(struct routine_profile *profile, struct space *space)
{
    count_frames(profile->space, -(int32_t)profile->frames);
    count_frames(space, (int32_t)profile->frames);
    profile->space = space;
}

/* ---- More rows ---- */

static bool grow_index(struct routine_profile *profile)
{
    uint16_t *index = add_frame(profile);
    if (!index)
        return false;
    memset(index, 0, FRAME_SIZE);
    profile->index = index;
    profile->index_mask = PROFILE_LARGE_INDEX - 1;
    for (uint32_t i = 0; i < profile->head.count; i++)
        add_to_index(profile, i);
    return true;
}

/* Whether there is memory for another row. */
static bool has_space(struct routine_profile *profile)
{
    const uint32_t number = profile->head.count;
    if (number == PROFILE_ROWS_MAX)
        return false;
    if (profile->index == profile->small_index && number >= PROFILE_SMALL_INDEX * 3 / 4 &&
        !grow_index(profile))
        return false;
    if (number < PROFILE_FIRST_ROWS)
        return true;
    uint64_t *page = &profile->head.page[(number - PROFILE_FIRST_ROWS) / PROFILE_PAGE_ROWS];
    if (!*page) {
        const void *frame = add_frame(profile);
        if (frame)
            *page = virt_to_phys(frame);
    }
    return *page != 0;
}

struct trace_profile_row *profile_find_or_add(struct routine_profile *profile, uint64_t key)
{
    uint16_t *entry = find_entry(profile, key);
    if (*entry)
        return profile_row(profile, *entry - 1u);
    if (!has_space(profile))
        return &profile->first[0];
    struct trace_profile_row *row = profile_row(profile, profile->head.count);
    begin_row(row, key);
    /* release: a reader that sees the count finds the row; pairs with the load in profiles_read.c */
    __atomic_store_n(&profile->head.count, profile->head.count + 1, __ATOMIC_RELEASE);
    add_to_index(profile, profile->head.count - 1);
    return row;
}

struct trace_profile_row *profile_find_row(struct profile_rows *rows, uint64_t key)
{
    struct routine_profile *profile = (struct routine_profile *)rows;
    return rows->cache[profile_slot(key)] = profile_find_or_add(profile, key);
}

/* ---- Profiles ---- */

struct routine_profile *profile_new(enum trace_profile_of of, struct space *space)
{
    const paddr_t frame = frame_alloc();
    if (frame == FRAME_NONE)
        return NULL;
    struct routine_profile *profile = phys_to_virt(frame);
    memset(profile, 0, offsetof(struct routine_profile, first));
    profile->head.of = of;
    profile->frames = 1;
    profile_give(profile, space);
    profile->rows.program = &profile->no_program;
    profile->index = profile->small_index;
    profile->index_mask = PROFILE_SMALL_INDEX - 1;
    profile->head.epoch = __atomic_load_n(&profiles_epoch, __ATOMIC_RELAXED);
    reset_rows(profile);
    return profile;
}

void profile_clear(struct routine_profile *profile)
{
    profile->head.epoch = __atomic_load_n(&profiles_epoch, __ATOMIC_RELAXED);
    profile->head.life = profile->head.ran = profile->head.refused = 0;
    profile->head.threads = 0;
    reset_rows(profile);
}

/* Where readers of guest memory find the address of what follows `link` in the list. */
static uint64_t *next_of(struct list *link)
{
    return link == &profiles_list ? &profile_list.first
                                  : &list_object(link, struct routine_profile, all)->head.next;
}

void profile_link(struct routine_profile *profile)
{
    profile->head.serial = ++last_serial;
    profile->head.self = virt_to_phys(&profile->head);
    profile->head.magic = TRACE_PROFILE_HEAD_MAGIC;
    list_add_tail(&profiles_list, &profile->all);
    /* release: a reader that finds it finds its head; pairs with the reader's loads, in this order */
    __atomic_store_n(next_of(profile->all.previous), profile->head.self, __ATOMIC_RELEASE);
}

void profile_drop(struct routine_profile *profile)
{
    __atomic_store_n(next_of(profile->all.previous), profile->head.next, __ATOMIC_RELAXED);
    list_remove(&profile->all);
    profile_free(profile);
}

void profile_begin_change(struct routine_profile *profile)
{
    __atomic_store_n(&profile->head.changes, profile->head.changes | 1, __ATOMIC_RELAXED);
    /* a reader of any part of the change sees the odd number; pairs with its second check of the number */
    __atomic_thread_fence(__ATOMIC_RELEASE);
}

void profile_end_change(struct routine_profile *profile)
{
    /* release: a reader that sees the even number sees the whole change */
    __atomic_store_n(&profile->head.changes, (profile->head.changes | 1) + 1, __ATOMIC_RELEASE);
}

void profile_free(struct routine_profile *profile)
{
    profile->head.magic = 0;
    /* a reader that copies what comes into these frames sees that it is gone; pairs as above */
    __atomic_thread_fence(__ATOMIC_RELEASE);
    for (uint32_t i = 0; i < PROFILE_PAGES && profile->head.page[i]; i++)
        frame_free(profile->head.page[i]);
    if (profile->index != profile->small_index)
        frame_free(virt_to_phys(profile->index));
    profile_give(profile, NULL);
    frame_free(virt_to_phys(profile));
}

/* Only the buckets between the least and the greatest time can have counts. */
static void add_row(struct trace_profile_row *to, const struct trace_profile_row *from)
{
    to->exclusive += from->exclusive; /* of what was open at the end, too */
    if (!from->ended)
        return;
    to->inclusive += from->inclusive;
    if (from->least < to->least)
        to->least = from->least;
    if (from->greatest > to->greatest)
        to->greatest = from->greatest;
    for (uint32_t i = trace_profile_bucket(from->least); i <= trace_profile_bucket(from->greatest); i++)
        to->times[i] += from->times[i];
    to->begun += from->ended;
    to->ended += from->ended;
}

void profile_add(struct routine_profile *to, struct routine_profile *from)
{
    for (uint32_t i = 0; i < from->head.count; i++) {
        const struct trace_profile_row *row = profile_row(from, i);
        if (row->ended || row->exclusive)
            add_row(profile_find_or_add(to, row->key), row);
    }
    to->head.life += from->head.life;
    to->head.refused += from->head.refused;
    to->head.ran += from->head.ran;
    to->head.threads += from->head.threads;
}

/* Their contexts are those of now, as at an ordinary end. */
void profile_close_open(struct thread *thread, struct routine_profile *profile, uint64_t now)
{
    struct open_routines *routines = &thread->routines;
    while (routines->depth) {
        struct open_routine *open = &routines->at[--routines->depth];
        const uint64_t key = open->key | profile->rows.program->context << TRACE_PROFILE_CONTEXT_SHIFT;
        if (open->since < profile->head.born)
            continue;
        profile_find_or_add(profile, key)->exclusive += now - open->since - open->nested;
        if (routines->depth)
            open[-1].nested += now - open->since;
    }
}
