/*
 * guest.c - finds the trace's store in guest memory and validates it; see guest.h, trace/format/store.h.
 *
 * guest_open -> find_stores reads the first words of every page frame; each one with the magic is a
 * candidate. take_store accepts a candidate whose own address, checksum, geometry and extents are correct.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <tools/tarn/source/guest.h>

#define FRAME          4096u
#define PLACE_STEP     (1u << 20)
#define CANDIDATES_MAX 64u
/* a change takes the guest microseconds, or as long as its vCPU is not running */
#define COPY_TRIES     100u
#define METADATA_MAX   (4u << 20)

struct candidate {
    uint64_t physical; /* by the arrangement of memory at that time */
    uint64_t place;
    bool swap;
};

/* ---- checking -------------------------------------------------------------------------------------- */

static void swap_store(const struct guest *guest, struct trace_store *store)
{
    if (guest->swap)
        trace_swap(store, TRACE_STORE_LAYOUT);
}

static bool is_power_of_two(uint64_t value)
{
    return value && !(value & (value - 1));
}

/* Checks everything that later code divides by, allocates or indexes with. */
static bool check_store(const struct trace_store *s, struct fail *fail)
{
    if (s->version != TRACE_STORE_VERSION)
        return fail_set(fail, "the store has version %u, this program supports %u", s->version,
                        TRACE_STORE_VERSION);
    if (s->cpu_count == 0 || s->cpu_count > TRACE_CPUS_MAX)
        return fail_set(fail, "the store says %u processors", s->cpu_count);
    if (s->buffer_bytes < TRACE_BUFFER_BYTES_MIN || s->buffer_bytes > TRACE_BUFFER_BYTES_MAX ||
        !is_power_of_two(s->buffer_bytes) || !is_power_of_two(s->buffer_count) || s->buffer_count < 2 ||
        s->buffer_count > TRACE_RING_BYTES_MAX / s->buffer_bytes)
        return fail_set(fail, "the store says %llu buffers of %llu bytes",
                        (unsigned long long)s->buffer_count, (unsigned long long)s->buffer_bytes);
    if (s->clock_hz == 0)
        return fail_set(fail, "the guest has not measured its clock yet");
    return true;
}

static int compare_extents(const void *left, const void *right)
{
    const struct trace_extent *a = left, *b = right;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    if (a->number != b->number)
        return a->number < b->number ? -1 : 1;
    return (a->offset > b->offset) - (a->offset < b->offset);
}

static bool check_extents(const struct trace_extent *extents, uint32_t count, struct fail *fail)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct trace_extent *e = &extents[i], *before = i ? e - 1 : NULL;
        bool fits = (e->bytes > 0 || e->kind == TRACE_EXTENT_METADATA) &&
                    e->bytes <= UINT64_MAX - e->offset && e->bytes <= UINT64_MAX - e->physical &&
                    e->offset % 8 == 0 && e->physical % 8 == 0 &&
                    (e->kind != TRACE_EXTENT_RING || e->bytes % 8 == 0);
        bool apart = !before || before->kind != e->kind || before->number != e->number ||
                     before->offset + before->bytes <= e->offset;
        if (!fits || !apart)
            return fail_set(fail, "extent %u of the store is invalid", i);
    }
    return true;
}

/* ---- copying --------------------------------------------------------------------------------------- */

/* Returns a consistent copy of the store, as it is in memory; the caller frees it. */
static uint8_t *copy_store(struct guest *guest, uint64_t physical, size_t *size, struct fail *fail)
{
    const size_t changes_at = offsetof(struct trace_store, changes);
    struct trace_store header;
    for (unsigned turn = 0; turn < COPY_TRIES; turn++) {
        uint64_t changes;
        if (turn > 0)
            nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        if (!memory_read(guest->memory, physical, &header, sizeof(header), fail))
            return NULL;
        swap_store(guest, &header);
        if (header.bytes < sizeof(header) || header.bytes > TRACE_STORE_BYTES_MAX ||
            header.extent_count != (header.bytes - sizeof(header)) / sizeof(struct trace_extent)) {
            fail_set(fail, "the store says it has %u bytes and %u extents", header.bytes,
                     header.extent_count);
            continue; /* it may be under construction */
        }
        uint8_t *copy = alloc_zero(1, header.bytes);
        /* system calls keep their order: the copy is after
         * the first read of `changes` and before the second */
        if (!memory_read(guest->memory, physical, copy, header.bytes, fail) ||
            !memory_read(guest->memory, physical + changes_at, &changes, sizeof(changes), fail)) {
            free(copy);
            return NULL;
        }
        bool same = memcmp(copy + changes_at, &changes, sizeof(changes)) == 0 &&
                    header.changes == guest_64(guest, changes);
        bool right = trace_store_checksum(copy, header.bytes) == header.checksum;
        /* a writer that died before it changed anything left a valid store */
        if (same && right && (header.changes % 2 == 0 || !guest->memory->live)) {
            *size = header.bytes;
            return copy;
        }
        free(copy);
        fail_set(fail, right ? "the store keeps changing" : "the store's checksum is wrong");
        if (!guest->memory->live)
            return NULL;
    }
    return NULL;
}

/* Whether the info page repeats the store. It does while the system runs that wrote both. */
static bool info_belongs(struct guest *guest, uint64_t physical)
{
    struct trace_info info;
    struct fail ignored;
    const struct trace_store *s = &guest->store;
    return physical % 8 == 0 && memory_read(guest->memory, physical, &info, sizeof(info), &ignored) &&
           guest_64(guest, info.magic) == TRACE_INFO_MAGIC &&
           guest_32(guest, info.version) == TRACE_INFO_VERSION &&
           guest_32(guest, info.cpu_count) == s->cpu_count &&
           (guest_64(guest, info.buffer_mask) + 1) * 8 == s->buffer_bytes &&
           guest_64(guest, info.buffer_count) == s->buffer_count &&
           guest_32(guest, info.generation) == s->generation && memcmp(info.uuid, s->uuid, 16) == 0;
}

bool guest_is_changed(struct guest *guest)
{
    /* orders the earlier copy before the load of the word: pairs
     * with the fence in start_over() of kernel/trace/rings.c */
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (!guest_is_live(guest) || !guest->info)
        return guest->is_between;
    const uint64_t geometry = guest_info64(guest, offsetof(struct trace_info, geometry));
    return geometry != guest->geometry || trace_geometry_is_changing(geometry);
}

static bool take_store(struct guest *guest, uint64_t physical, struct fail *fail)
{
    struct trace_store header;
    size_t size = 0;
    uint8_t *copy = copy_store(guest, physical, &size, fail);
    struct trace_extent *extents;
    if (!copy)
        return false;
    memcpy(&header, copy, sizeof(header));
    swap_store(guest, &header);
    extents = alloc_zero(header.extent_count + 1, sizeof(extents[0]));
    memcpy(extents, copy + sizeof(header), header.extent_count * sizeof(extents[0]));
    free(copy);
    for (uint32_t i = 0; guest->swap && i < header.extent_count; i++)
        trace_swap(&extents[i], TRACE_EXTENT_LAYOUT);
    qsort(extents, header.extent_count, sizeof(extents[0]), compare_extents);
    if (header.magic != TRACE_STORE_MAGIC || header.self != physical)
        fail_set(fail, "the store found is a copy of the real one");
    else if (check_store(&header, fail) && check_extents(extents, header.extent_count, fail)) {
        free(guest->extents);
        guest->store = header, guest->extents = extents;
        guest->info = header.age == 0 ? header.info : 0;
        /* read before the rest, so that later readers of the rings notice a change */
        guest->geometry = guest_info64(guest, offsetof(struct trace_info, geometry));
        if (guest->info && !info_belongs(guest, guest->info))
            guest->info = 0;
        return true;
    }
    free(extents);
    return false;
}

/* ---- searching ------------------------------------------------------------------------------------- */

static bool find_stores(struct memory *memory, uint64_t step, struct candidate *found, size_t *count,
                        struct fail *fail)
{
    uint64_t word;
    *count = 0;
    for (size_t r = 0; r < memory->range_count; r++) {
        const struct memory_range *range = &memory->ranges[r];
        for (uint64_t at = -range->physical % step;
             at < range->bytes && range->bytes - at >= FRAME && *count < CANDIDATES_MAX; at += step) {
            if (!memory_read_place(memory, range->place + at, &word, sizeof(word), fail))
                return false;
            if (word == TRACE_STORE_MAGIC || word == __builtin_bswap64(TRACE_STORE_MAGIC))
                found[(*count)++] =
                    (struct candidate){range->physical + at, range->place + at, word != TRACE_STORE_MAGIC};
        }
    }
    return true;
}

/* Whether the rings are where the extents say: each CPU must have some packet there. */
static bool rings_show_packets(struct guest *guest)
{
    struct fail ignored;
    for (uint32_t cpu = 0; cpu < guest->store.cpu_count; cpu++) {
        struct guest_ring ring;
        if (!guest_ring_open(&ring, guest, cpu, &ignored))
            return false;
        /* when a running guest is read again, its packets may be gone */
        if (!ring.index_is_good && !guest_ring_has_packet(&ring))
            return false;
    }
    return true;
}

/* STRAY: its own address is wrong, so it is a copy that the guest made, for example for sys_trace_previous,
 * in page frames that were freed since. */
enum verdict { STORE_TAKEN, STORE_WRONG, STORE_STRAY };

/* Tries all possible ranges of memory if they depend on the store's place. */
static enum verdict try_candidate(struct guest *guest, const struct candidate *candidate, struct fail *fail)
{
    struct memory *memory = guest->memory;
    struct trace_store header;
    enum verdict verdict = STORE_STRAY;
    guest->swap = candidate->swap;
    if (!memory_read_place(memory, candidate->place, &header, sizeof(header), fail))
        return STORE_WRONG;
    uint64_t self = guest_64(guest, header.self);
    fail_set(fail, "the store's address field does not match its address");
    if (!memory->class->arrange) {
        if (self != candidate->physical)
            return STORE_STRAY;
        return take_store(guest, self, fail) ? STORE_TAKEN : STORE_WRONG;
    }
    for (unsigned attempt = 0; memory->class->arrange(memory, attempt, candidate->place, self); attempt++) {
        /* anything has an address at which RAM could begin for it: only packets prove that one */
        verdict = memory->ranges[0].physical == 0 ? STORE_WRONG : STORE_STRAY;
        if (!take_store(guest, self, fail))
            continue;
        if (rings_show_packets(guest))
            return STORE_TAKEN;
        fail_set(fail, "no packets at the addresses of the rings");
    }
    return verdict;
}

/* Kernels put the store at a multiple of PLACE_STEP
 * (kernel/trace/store.c), so the first pass reads only those. */
bool guest_open(struct guest *guest, struct memory *memory, uint32_t age, struct fail *fail)
{
    static const uint64_t steps[] = {PLACE_STEP, FRAME};
    struct candidate found[CANDIDATES_MAX];
    struct fail why = {""}, stray = {""}, reason;
    /* a valid store was found: stray ones say nothing more */
    bool knows_guest = false;
    size_t count;
    *guest = (struct guest){.memory = memory};
    for (unsigned pass = 0; pass < sizeof(steps) / sizeof(steps[0]); pass++) {
        if (!find_stores(memory, steps[pass], found, &count, fail))
            return false;
        for (size_t i = 0; i < count; i++) {
            enum verdict verdict = try_candidate(guest, &found[i], &reason);
            if (verdict == STORE_TAKEN && guest->store.age == age)
                return true;
            knows_guest |= verdict == STORE_TAKEN;
            if (verdict != STORE_TAKEN)
                *(verdict == STORE_STRAY ? &stray : &why) = reason;
        }
    }
    guest_close(guest);
    if (!why.text[0] && !knows_guest)
        why = stray;
    if (why.text[0])
        return fail_set(fail, "no readable trace in this memory: %s", why.text);
    return fail_set(fail, age ? "no previous trace in this memory: there was none, or it was dropped"
                              : "no trace in this memory: it is not a Tarn guest, or has not booted yet");
}

void guest_close(struct guest *guest)
{
    free(guest->extents);
    *guest = (struct guest){0};
}

/* ---- what else the store has ----------------------------------------------------------------------- */

uint64_t guest_info64(struct guest *guest, size_t offset)
{
    uint64_t value = 0;
    struct fail ignored;
    if (!guest->info || !memory_read(guest->memory, guest->info + offset, &value, sizeof(value), &ignored))
        return 0;
    return guest_64(guest, value);
}

/* A kernel that boots finds its info page as in its executable: without the magic. */
static enum guest_change look_at_info(struct guest *guest)
{
    uint32_t generation = 0;
    struct fail ignored;
    if (!guest->info || info_belongs(guest, guest->info))
        return GUEST_SAME;
    if (memory_read(guest->memory, guest->info + offsetof(struct trace_info, generation), &generation,
                    sizeof(generation), &ignored) &&
        guest_32(guest, generation) == guest->store.generation && guest_is_changed(guest))
        return GUEST_SAME; /* it gets other sizes; the store will tell */
    return guest_info64(guest, offsetof(struct trace_info, magic)) == TRACE_INFO_MAGIC ? GUEST_CHANGED
                                                                                       : GUEST_ENDED;
}

/* Whether a kernel runs that the store may belong to. */
static bool kernel_is_there(struct guest *guest)
{
    uint64_t magic = 0;
    struct fail ignored;
    return memory_read(guest->memory, guest->store.info + offsetof(struct trace_info, magic), &magic,
                       sizeof(magic), &ignored) &&
           guest_64(guest, magic) == TRACE_INFO_MAGIC;
}

enum guest_change guest_look(struct guest *guest)
{
    const struct trace_store old = guest->store;
    struct trace_store now;
    struct fail ignored;
    if (!memory_read(guest->memory, old.self, &now, sizeof(now), &ignored))
        return GUEST_CHANGED;
    swap_store(guest, &now);
    if (now.magic != TRACE_STORE_MAGIC || now.boot_id != old.boot_id)
        return GUEST_CHANGED; /* its page frames have been reused */
    if (now.changes == old.changes)
        return look_at_info(guest);
    if (now.changes % 2 || !take_store(guest, old.self, &ignored))
        return GUEST_SAME; /* it is being changed: next time */
    if (guest->store.generation != old.generation || guest->store.cpu_count != old.cpu_count)
        return GUEST_CHANGED;
    guest->is_between = guest_is_live(guest) && guest->store.info && !guest->info && kernel_is_there(guest);
    if (guest->is_between) { /* the rings have other sizes by now: the store will tell */
        guest->store.changes = old.changes;
        return GUEST_SAME;
    }
    if (guest->store.age != old.age || guest->store.end != old.end)
        return GUEST_ENDED;
    return guest->store.buffer_bytes == old.buffer_bytes && guest->store.buffer_count == old.buffer_count
               ? GUEST_GROWN
               : GUEST_RESIZED;
}

char *guest_metadata(struct guest *guest, size_t *size)
{
    char *text = NULL;
    struct fail ignored;
    *size = 0;
    for (uint32_t i = 0; i < guest->store.extent_count; i++) {
        const struct trace_extent *e = &guest->extents[i];
        if (e->kind != TRACE_EXTENT_METADATA || e->number != TRACE_METADATA_TEXT)
            continue;
        if (e->offset != *size || e->bytes > METADATA_MAX - *size) {
            free(text);
            return NULL;
        }
        text = alloc_more(text, *size + e->bytes, 1);
        if (!memory_read(guest->memory, e->physical, text + *size, e->bytes, &ignored)) {
            free(text);
            return NULL;
        }
        *size += e->bytes;
    }
    return text;
}
