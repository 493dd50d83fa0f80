/* SPDX-License-Identifier: BSD-2-Clause */
/* profile_rows.c - the memory of profiles, and their rows. Interface: profile_rows.h. */
#include <kernel/cpu/cpu.h>
#include <kernel/diagnosis/profile_rows.h>
#include <kernel/kernel.h>
#include <kernel/sched/thread.h>
#include <kernel/space/space.h>

static LOCK_CLASS(profiles_class, "profiles");
struct spinlock profiles_lock = SPINLOCK(&profiles_class);
struct list profiles_list = {&profiles_list, &profiles_list};
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
    profile->count = 1;
    add_to_index(profile, 0);
}

static bool grow_index(struct routine_profile *profile)
{
    const paddr_t frame = frame_alloc_zeroed();
    if (frame == FRAME_NONE)
        return false;
    profile->index = phys_to_virt(frame);
    profile->index_mask = PROFILE_LARGE_INDEX - 1;
    for (uint32_t i = 0; i < profile->count; i++)
        add_to_index(profile, i);
    return true;
}

/* Whether there is memory for another row. */
static bool has_space(struct routine_profile *profile)
{
    const uint32_t number = profile->count;
    if (number == PROFILE_ROWS_MAX)
        return false;
    if (profile->index == profile->small_index && number >= PROFILE_SMALL_INDEX * 3 / 4 &&
        !grow_index(profile))
        return false;
    if (number < PROFILE_FIRST_ROWS)
        return true;
    struct trace_profile_row **page = &profile->page[(number - PROFILE_FIRST_ROWS) / PROFILE_PAGE_ROWS];
    if (!*page) {
        const paddr_t frame = frame_alloc();
        if (frame != FRAME_NONE)
            *page = phys_to_virt(frame);
    }
    return *page != NULL;
}

struct trace_profile_row *profile_find_or_add(struct routine_profile *profile, uint64_t key)
{
    uint16_t *entry = find_entry(profile, key);
    if (*entry)
        return profile_row(profile, *entry - 1u);
    if (!has_space(profile))
        return &profile->first[0];
    struct trace_profile_row *row = profile_row(profile, profile->count);
    begin_row(row, key);
    /* release: a reader that sees the count finds the row; pairs with the load in profiles_read.c */
    __atomic_store_n(&profile->count, profile->count + 1, __ATOMIC_RELEASE);
    add_to_index(profile, profile->count - 1);
    return row;
}

struct trace_profile_row *profile_find_row(struct profile_rows *rows, uint64_t key)
{
    struct routine_profile *profile = (struct routine_profile *)rows;
    return rows->cache[profile_slot(key)] = profile_find_or_add(profile, key);
}

/* ---- Profiles ---- */

struct routine_profile *profile_new(enum trace_profile_of of)
{
    const paddr_t frame = frame_alloc();
    if (frame == FRAME_NONE)
        return NULL;
    struct routine_profile *profile = phys_to_virt(frame);
    memset(profile, 0, offsetof(struct routine_profile, first));
    profile->of = of;
    profile->rows.program = &profile->no_program;
    profile->index = profile->small_index;
    profile->index_mask = PROFILE_SMALL_INDEX - 1;
    profile->epoch = __atomic_load_n(&profiles_epoch, __ATOMIC_RELAXED);
    reset_rows(profile);
    return profile;
}

void profile_clear(struct routine_profile *profile)
{
    profile->epoch = __atomic_load_n(&profiles_epoch, __ATOMIC_RELAXED);
    profile->life = profile->ran = profile->refused = 0;
    profile->threads = 0;
    reset_rows(profile);
}

void profile_link(struct routine_profile *profile)
{
    profile->serial = ++last_serial;
    list_add_tail(&profiles_list, &profile->all);
}

void profile_free(struct routine_profile *profile)
{
    for (uint32_t i = 0; i < PROFILE_PAGES && profile->page[i]; i++)
        frame_free(virt_to_phys(profile->page[i]));
    if (profile->index != profile->small_index)
        frame_free(virt_to_phys(profile->index));
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
    for (uint32_t i = profile_bucket(from->least); i <= profile_bucket(from->greatest); i++)
        to->times[i] += from->times[i];
    to->begun += from->ended;
    to->ended += from->ended;
}

void profile_add(struct routine_profile *to, struct routine_profile *from)
{
    for (uint32_t i = 0; i < from->count; i++) {
        const struct trace_profile_row *row = profile_row(from, i);
        if (row->ended || row->exclusive)
            add_row(profile_find_or_add(to, row->key), row);
    }
    to->life += from->life;
    to->refused += from->refused;
    to->ran += from->ran;
    to->threads += from->threads;
}

/* Their contexts are those of now, as at an ordinary end. */
void profile_close_open(struct thread *thread, struct routine_profile *profile, uint64_t now)
{
    struct open_routines *routines = &thread->routines;
    while (routines->depth) {
        struct open_routine *open = &routines->at[--routines->depth];
        const uint64_t key = open->key | profile->rows.program->context << TRACE_PROFILE_CONTEXT_SHIFT;
        if (open->since < profile->born)
            continue;
        profile_find_or_add(profile, key)->exclusive += now - open->since - open->nested;
        if (routines->depth)
            open[-1].nested += now - open->since;
    }
}
