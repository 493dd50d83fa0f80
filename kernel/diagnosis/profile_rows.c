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

#define KEPT_MAX 8u
static struct routine_profile *kept[KEPT_MAX]; /* under profiles_lock */
static uint32_t kept_count;

_Static_assert(PROFILE_LARGE_INDEX * sizeof(struct trace_profile_row *) <= FRAME_SIZE, "a page frame");
_Static_assert(PROFILE_ROWS_MAX < PROFILE_LARGE_INDEX * 3 / 4, "the index always has free entries");

/* ---- Rows ---- */

static void begin_row(struct trace_profile_row *row, uint64_t key)
{
    *row = (struct trace_profile_row){.key = key, .least = ~0ull};
}

/* The entry of the index that leads to the key, or that is free. */
static inline struct trace_profile_row **find_entry(struct routine_profile *profile, uint64_t key)
{
    for (uint64_t i = (key ^ key >> 29) * 0x9e3779b97f4a7c15ull >> 40;; i++) {
        struct trace_profile_row **entry = &profile->index[i & profile->index_mask];
        if (!*entry || (*entry)->key == key)
            return entry;
    }
}

/* Row 0 counts all routines for which there is no other row. */
static void reset_rows(struct routine_profile *profile)
{
    struct trace_profile_row *others = &profile->first[0];
    begin_row(others, trace_routine_key(TRACE_ROUTINE_OTHERS, 0));
#pragma GCC unroll 8
    for (uint32_t i = 0; i < PROFILE_CACHE; i++)
        profile->rows.cache[i] = others;
    memset(profile->index, 0, (profile->index_mask + 1) * sizeof profile->index[0]);
    profile->head.count = 1;
    *find_entry(profile, others->key) = others;
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

/* One more frame of the profile; FRAME_NONE: none. */
static paddr_t add_frame(struct routine_profile *profile)
{
    const paddr_t frame = may_grow(profile->space) ? frame_alloc() : FRAME_NONE;
    if (frame != FRAME_NONE) {
        profile->frames++;
        count_frames(profile->space, 1);
    }
    return frame;
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
    const paddr_t frame = add_frame(profile);
    if (frame == FRAME_NONE)
        return false;
    profile->index = memset(phys_to_virt(frame), 0, FRAME_SIZE);
    profile->index_mask = PROFILE_LARGE_INDEX - 1;
    for (uint32_t i = 0; i < profile->head.count; i++)
        *find_entry(profile, profile_row(profile, i)->key) = profile_row(profile, i);
    return true;
}

/* Where the next row is to be; NULL: no memory, or there are too many. */
static struct trace_profile_row *next_row(struct routine_profile *profile)
{
    const uint32_t number = profile->head.count;
    if (number < PROFILE_FIRST_ROWS)
        return &profile->first[number];
    if (number == PROFILE_ROWS_MAX || (profile->index == profile->small_index &&
                                       number >= PROFILE_SMALL_INDEX * 3 / 4 && !grow_index(profile)))
        return NULL;
    const uint32_t page = (number - PROFILE_FIRST_ROWS) / PROFILE_PAGE_ROWS;
    if (!profile->head.page[page]) {
        const paddr_t frame = add_frame(profile);
        if (frame == FRAME_NONE)
            return NULL;
        profile->head.page[page] = frame;
    }
    return profile_page(profile, page) + (number - PROFILE_FIRST_ROWS) % PROFILE_PAGE_ROWS;
}

static __attribute__((noinline)) struct trace_profile_row *add_row(struct routine_profile *profile,
                                                                   uint64_t key)
{
    struct trace_profile_row *row = next_row(profile);
    if (!row)
        return &profile->first[0];
    begin_row(row, key);
    /* release: a reader that sees the count finds the row; pairs with the load in profiles_read.c */
    __atomic_store_n(&profile->head.count, profile->head.count + 1, __ATOMIC_RELEASE);
    return *find_entry(profile, key) = row;
}

static inline struct trace_profile_row *find_or_add(struct routine_profile *profile, uint64_t key)
{
    struct trace_profile_row *row = *find_entry(profile, key);
    return row ? row : add_row(profile, key);
}

struct trace_profile_row *profile_find_or_add(struct routine_profile *profile, uint64_t key)
{
    return find_or_add(profile, key);
}

struct trace_profile_row *profile_find_row(struct profile_rows *rows, uint64_t key)
{
    struct routine_profile *profile = (struct routine_profile *)rows;
    return rows->cache[profile_slot(key)] = find_or_add(profile, key);
}

/* ---- Profiles ---- */

static struct routine_profile *begin_profile(struct routine_profile *profile, enum trace_profile_of of)
{
    profile->head.of = of;
    profile->head.epoch = __atomic_load_n(&profiles_epoch, __ATOMIC_RELAXED);
    return profile;
}

/* One that is empty, but has the rows of a process that has ended: another process needs most of them, too,
 * and finds them without a search. */
static struct routine_profile *take_kept(void)
{
    struct routine_profile *profile = kept[--kept_count];
    profile->head.life = profile->head.ran = profile->head.refused = profile->head.next = 0;
    return profile;
}

static struct routine_profile *make_profile(void)
{
    const paddr_t frame = frame_alloc();
    if (frame == FRAME_NONE)
        return NULL;
    struct routine_profile *profile = phys_to_virt(frame);
    memset(profile, 0, offsetof(struct routine_profile, first));
    profile->frames = 1;
    profile->rows.program = &profile->no_program;
    profile->index = profile->small_index;
    profile->index_mask = PROFILE_SMALL_INDEX - 1;
    reset_rows(profile);
    return profile;
}

struct routine_profile *profile_new(enum trace_profile_of of, struct space *space)
{
    struct routine_profile *profile = kept_count ? take_kept() : make_profile();
    if (!profile)
        return NULL;
    profile_give(profile, space);
    return begin_profile(profile, of);
}

void profile_clear(struct routine_profile *profile)
{
    profile->head.life = profile->head.ran = profile->head.refused = 0;
    profile->head.threads = 0;
    reset_rows(profile);
    begin_profile(profile, profile->head.of);
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
    profile_end_change(profile);
    /* release: a reader that finds it finds its head; pairs with the reader's loads, in this order */
    __atomic_store_n(next_of(profile->all.previous), profile->head.self, __ATOMIC_RELEASE);
}

void profile_unlink(struct routine_profile *profile)
{
    __atomic_store_n(next_of(profile->all.previous), profile->head.next, __ATOMIC_RELAXED);
    list_remove(&profile->all);
    profile->head.magic = 0;
    /* a reader that copies what comes into these frames sees that it is gone */
    profile_begin_change(profile);
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
    for (uint32_t i = 0; i < PROFILE_PAGES && profile->head.page[i]; i++)
        frame_free(profile->head.page[i]);
    if (profile->index != profile->small_index)
        frame_free(virt_to_phys(profile->index));
    profile_give(profile, NULL);
    frame_free(virt_to_phys(profile));
}

void profiles_free_kept(void)
{
    while (kept_count)
        profile_free(kept[--kept_count]);
}

/* Moves the counts. Only the buckets between the least and the greatest time can have any. */
static inline void move_counts(struct trace_profile_row *to, struct trace_profile_row *from)
{
    to->exclusive += from->exclusive; /* of what was open at the end, too */
    from->exclusive = 0;
    if (!from->ended)
        return;
    to->inclusive += from->inclusive;
    if (from->least < to->least)
        to->least = from->least;
    if (from->greatest > to->greatest)
        to->greatest = from->greatest;
    for (uint32_t i = trace_table_bucket(from->least), last = trace_table_bucket(from->greatest); i <= last;
         i++) {
        to->times[i] += from->times[i];
        from->times[i] = 0;
    }
    to->begun += from->ended;
    to->ended += from->ended;
    from->begun = from->ended = from->inclusive = from->greatest = from->limit = 0;
    from->least = ~0ull;
}

void profile_keep(struct routine_profile *profile)
{
    if (profiles_on && kept_count < KEPT_MAX && profile->index == profile->small_index) {
        profile_give(profile, NULL);
        kept[kept_count++] = profile;
    } else {
        profile_free(profile);
    }
}

static inline void move_rows(struct routine_profile *to, struct trace_profile_row *rows, uint32_t count)
{
    for (struct trace_profile_row *row = rows; row < rows + count; row++)
        if (row->ended || row->exclusive)
            move_counts(find_or_add(to, row->key), row);
}

static inline uint32_t at_most(uint32_t count, uint32_t limit)
{
    return count < limit ? count : limit;
}

void profile_add(struct routine_profile *to, struct routine_profile *from)
{
    const uint32_t first = at_most(from->head.count, PROFILE_FIRST_ROWS);
    uint32_t left = from->head.count - first;
    move_rows(to, from->first, first);
    for (uint32_t i = 0; left; i++) {
        const uint32_t count = at_most(left, PROFILE_PAGE_ROWS);
        move_rows(to, profile_page(from, i), count);
        left -= count;
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
        find_or_add(profile, key)->exclusive += now - open->since - open->nested;
        if (routines->depth)
            open[-1].nested += now - open->since;
    }
}
