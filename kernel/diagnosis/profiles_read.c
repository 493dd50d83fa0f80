/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * profiles_read.c - the system call that reads profiles.
 *
 * A profile is copied into page frames under profiles_lock, which keeps it there, while its thread may run
 * and update it on another CPU. If it has meanwhile, the copy is made again. Then the copy goes to the
 * program without the lock.
 */
#include <arch/clock.h>
#include <kernel/cpu/cpu.h>
#include <kernel/diagnosis/profile_rows.h>
#include <kernel/ipc/cap.h>
#include <kernel/kernel.h>
#include <kernel/sched/thread.h>
#include <kernel/space/space.h>
#include <kernel/space/user_copy.h>
#include <tarn/error.h>
#include <tarn/syscall_kernel.h>

#define COPY_TRIES   16 /* each that fails was overtaken by an update */
/* Besides those of kernel and program: of what is open, and of the program's code in none of its routines. */
#define ROWS_BESIDES (OPEN_ROUTINES_MAX + 1)

_Static_assert(sizeof(struct trace_profile) + (PROFILE_ROWS_MAX + TRACE_PROGRAM_ROWS_MAX + ROWS_BESIDES) *
                                                  sizeof(struct trace_profile_row) <=
                   TRACE_PROFILE_BYTES_MAX,
               "a copy with what is open, and the program's rows");

/* Profiles that the caller may read. */
struct selection {
    bool all;
    struct space *space; /* else those of this one; a reference */
};

struct copy {
    struct trace_profile *head;
    struct trace_profile_row *rows; /* behind it */
    uint32_t capacity;              /* of rows */
    uint32_t counted;               /* rows of the kernel that are in memory, first in the copy */
    uint32_t of_program;            /* rows that its program has now */
    bool is_cut;                    /* there are more rows */
    uint64_t now;
};

/* ---- Copying ---- */

static uint64_t load(const uint64_t *word)
{
    return __atomic_load_n(word, __ATOMIC_RELAXED);
}

/* False: an update came in between. */
static bool copy_row(struct trace_profile_row *to, const struct trace_profile_row *from)
{
    const uint64_t *source = (const uint64_t *)from;
    uint64_t *target = (uint64_t *)to;
    const uint64_t ended = __atomic_load_n(&from->ended, __ATOMIC_ACQUIRE); /* pairs with routine_end() */
    for (unsigned i = 0; i < sizeof *from / 8; i++)
        target[i] = load(&source[i]);
    __atomic_thread_fence(__ATOMIC_ACQUIRE); /* the same */
    to->ended = ended;
    return load(&from->begun) == ended;
}

/* Whether no row has changed since it was copied. */
static bool is_unchanged(struct routine_profile *profile, const struct copy *copy)
{
    if (__atomic_load_n(&profile->count, __ATOMIC_RELAXED) != copy->counted)
        return false;
    for (uint32_t i = 0; i < copy->counted; i++)
        if (load(&profile_row(profile, i)->begun) != copy->rows[i].ended)
            return false;
    return true;
}

static struct trace_profile_row *append_row(struct copy *copy, uint64_t key)
{
    struct trace_profile_row *row = &copy->rows[copy->head->rows++];
    *row = (struct trace_profile_row){.key = key, .least = ~0ull};
    return row;
}

static struct trace_profile_row *row_of(struct copy *copy, uint64_t key)
{
    for (uint32_t i = 0; i < copy->head->rows; i++)
        if (copy->rows[i].key == key)
            return &copy->rows[i];
    return append_row(copy, key);
}

/* What a living thread is inside of, up to now. */
static void add_open(struct copy *copy, const struct routine_profile *profile,
                     const struct open_routines *open, uint64_t context)
{
    for (uint32_t i = 0; i < open->depth && i < OPEN_ROUTINES_MAX; i++) {
        const struct open_routine *routine = &open->at[i];
        const uint64_t inner =
            i + 1 < open->depth && i + 1 < OPEN_ROUTINES_MAX ? open->at[i + 1].since : copy->now;
        if (routine->since >= profile->born && inner >= routine->since)
            row_of(copy, routine->key | context << TRACE_PROFILE_CONTEXT_SHIFT)->exclusive +=
                inner - routine->since - routine->nested;
    }
}

/* Routines of its program, which may change meanwhile. */
static void add_program_rows(struct copy *copy, const struct routine_profile *profile,
                             const struct open_routines *open)
{
    uint32_t current;
    uint64_t rest = profile_program_open(profile, open, copy->now, &current);
    for (uint32_t i = 0; i < copy->of_program; i++) {
        const uint64_t key = profile_program_key(profile, i);
        const uint32_t context = trace_routine_context(key);
        if (!context)
            continue;
        struct trace_profile_row *row = append_row(copy, key);
        row->exclusive = profile_add_program_row(row, profile, i, copy->head->life);
        if (context == current) {
            row->exclusive += rest;
            rest = 0;
        }
    }
}

/* What the kernel's rows leave of its life is the program's, and what its rows leave of that is outside of
 * them. */
static void divide_rest(struct copy *copy)
{
    uint64_t time = copy->head->life;
    for (uint32_t i = 0; i < copy->head->rows; i++)
        if (trace_routine_kind(copy->rows[i].key) != TRACE_ROUTINE_SERVED &&
            !profile_is_program_row(&copy->rows[i]))
            time -= copy->rows[i].exclusive;
    for (uint32_t i = 0; i < copy->head->rows; i++)
        if (profile_is_program_row(&copy->rows[i])) {
            if (copy->rows[i].exclusive > time)
                copy->rows[i].exclusive = time;
            time -= copy->rows[i].exclusive;
        }
    append_row(copy, trace_routine_key(TRACE_ROUTINE_PROGRAM, 0))->exclusive = time;
}

/* Moves the rows that have any time together. */
static void drop_empty(struct copy *copy)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < copy->head->rows; i++) {
        const struct trace_profile_row *row = &copy->rows[i];
        if (row->ended || row->exclusive || row->key == trace_routine_key(TRACE_ROUTINE_PROGRAM, 0))
            copy->rows[kept++] = *row;
    }
    copy->head->rows = kept;
}

/* The thread's time on CPUs up to now, which it spends where `cpu` says, if it runs. */
static uint64_t ran_until(const struct thread *thread, uint64_t now)
{
    const struct cpu *cpu = atomic_load(&thread->cpu);
    const uint64_t since = load(&cpu->switched_at), ran = load(&thread->run_ticks);
    return __atomic_load_n(&cpu->current, __ATOMIC_RELAXED) == thread && now > since ? ran + now - since
                                                                                     : ran;
}

/* False: it changed meanwhile. */
static bool try_copy(struct copy *copy, struct routine_profile *profile)
{
    struct thread *thread = profile->thread;
    struct open_routines open = {0};
    bool whole = true;
    /* acquire: the row of the last number counted is there; pairs with the release in find_or_add() */
    copy->counted = __atomic_load_n(&profile->count, __ATOMIC_ACQUIRE);
    copy->of_program = profile_program_rows(profile);
    if (copy->counted + copy->of_program + ROWS_BESIDES > copy->capacity) {
        copy->is_cut = true;
        return true;
    }
    copy->head->rows = copy->counted;
    const uint64_t program_moved = profile_program_moved(profile);
    for (uint32_t i = 0; i < copy->counted; i++)
        whole &= copy_row(&copy->rows[i], profile_row(profile, i));
    copy->now = arch_clock();
    copy->head->life = load(&profile->life);
    copy->head->ran = load(&profile->ran);
    if (thread) {
        const uint64_t *words = (const uint64_t *)&thread->routines;
        for (unsigned i = 0; i < sizeof open / 8; i++)
            ((uint64_t *)&open)[i] = load(&words[i]);
        if (!profiles_on && profiles_until < copy->now)
            copy->now = profiles_until;
        copy->head->ran = ran_until(thread, copy->now) - profile->ran_before;
        copy->head->life = copy->now - profile->born;
        whole &= __atomic_load_n(&thread->routines.depth, __ATOMIC_RELAXED) == open.depth;
    }
    if (thread) {
        add_open(copy, profile, &open, load(&profile->rows.program->context) & TRACE_PROFILE_CONTEXT_MAX);
        add_program_rows(copy, profile, &open);
    }
    whole &= is_unchanged(profile, copy) && profile_program_moved(profile) == program_moved;
    return whole;
}

static void describe(struct trace_profile *head, const struct routine_profile *profile, uint64_t now)
{
    const char *name = profile->thread  ? profile->thread->block->name
                       : profile->space ? profile->space->name
                                        : profile->name;
    head->serial = profile->serial;
    head->until = now;
    head->of = profile->of;
    head->pid = profile->pid;
    head->tid = profile->tid;
    head->threads = profile->threads;
    head->refused = profile_refused(profile);
    head->row_bytes = sizeof(struct trace_profile_row);
    memcpy(head->name, name, sizeof head->name);
}

static void copy_profile(struct copy *copy, struct routine_profile *profile)
{
    *copy->head = (struct trace_profile){0};
    for (int tries = COPY_TRIES; tries && !try_copy(copy, profile); tries--)
        continue;
    if (copy->is_cut)
        return;
    divide_rest(copy);
    drop_empty(copy);
    describe(copy->head, profile, copy->now);
}

/* ---- The system call ---- */

/* profiles_lock held. NULL: no more. */
static struct routine_profile *find_next(const struct selection *selection, uint64_t serial)
{
    for (struct list *link = profiles_list.next; link != &profiles_list; link = link->next) {
        struct routine_profile *profile = list_object(link, struct routine_profile, all);
        if (profile->serial > serial && profile->epoch == profiles_epoch &&
            (selection->all || profile->space == selection->space))
            return profile;
    }
    return NULL;
}

static int select_profiles(cap_t slot, struct selection *selection)
{
    struct space *own = current_thread()->space;
    struct cap found;
    void *space;
    *selection = (struct selection){0};
    if (!slot) {
        space_get(selection->space = own);
        return 0;
    }
    if (cap_lookup(own, slot, CAP_TRACE, RIGHT_READ, &found) == 0) {
        selection->all = true;
        return 0;
    }
    int error = cap_get(own, slot, CAP_SPACE, RIGHT_MANAGE, &space);
    if (!error)
        selection->space = space;
    return error;
}

/* Returns the bytes of the copy; 0: no more; -E_TOO_LARGE: they do not fit in `size` bytes. */
static int64_t copy_next(const struct selection *selection, uint64_t serial, void *buffer, uint64_t size)
{
    struct copy copy = {.head = buffer,
                        .rows = (struct trace_profile_row *)((struct trace_profile *)buffer + 1)};
    copy.capacity = (uint32_t)((size - sizeof *copy.head) / sizeof *copy.rows);
    int64_t bytes = 0;
    spin_lock(&profiles_lock);
    struct routine_profile *profile = find_next(selection, serial);
    if (profile) {
        copy_profile(&copy, profile);
        bytes =
            copy.is_cut ? -E_TOO_LARGE : (int64_t)(sizeof *copy.head + copy.head->rows * sizeof *copy.rows);
    }
    spin_unlock(&profiles_lock);
    return bytes;
}

static int64_t read_next(const struct selection *selection, uint64_t serial, void *user_buffer, uint64_t size)
{
    int64_t bytes = -E_TOO_LARGE;
    for (unsigned order = 2; bytes == -E_TOO_LARGE && FRAME_SIZE << (order - 1) < TRACE_PROFILE_BYTES_MAX;
         order++) {
        const paddr_t frames = frame_alloc_order(order);
        if (frames == FRAME_NONE)
            return -E_NO_MEMORY;
        bytes = copy_next(selection, serial, phys_to_virt(frames), FRAME_SIZE << order);
        if (bytes > (int64_t)size) {
            frame_free_order(frames, order);
            return -E_TOO_LARGE;
        }
        int64_t error = bytes > 0 ? user_write(user_buffer, phys_to_virt(frames), (uint64_t)bytes) : 0;
        frame_free_order(frames, order);
        if (error)
            return error;
    }
    return bytes;
}

int64_t sys_profile_read(cap_t slot, uint64_t serial, void *user_buffer, uint64_t size)
{
    struct selection selection;
    int64_t result = select_profiles(slot, &selection);
    if (result)
        return result;
    result = read_next(&selection, serial, user_buffer, size);
    if (selection.space)
        space_put(selection.space);
    return result;
}
