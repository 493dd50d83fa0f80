/*
 * guest_source.c - sources that read guest memory: core:FILE, gdb:ADDRESS, ram:FILE.
 *
 * Memory that does not change is read once, from each ring's oldest packet to the written part of the open
 * one. A running guest is followed: packets that are overwritten before or during the copy count as lost. The
 * previous boot's trace in a running guest does not change until the guest drops it.
 */
#include <stdlib.h>
#include <string.h>
#include <tarn/error.h>
#include <time.h>
#include <tools/tarn/read/read.h>
#include <tools/tarn/source/guest.h>
#include <tools/tarn/source/source.h>

#define STATUS_SECONDS 0.5
#define LOOK_SECONDS   0.5     /* between checks whether the guest still runs */
#define IDLE_NS        1000000 /* between reads of rings without changes */

struct drain {
    struct guest_ring ring;
    uint64_t next;        /* next packet to read */
    uint64_t sent_end;    /* number after the last packet sent */
    uint64_t count_from;  /* packets missing before this one were lost before the pull began */
    uint64_t lost, cut;   /* numbers of packets */
    double waiting_since; /* when `next` was first found incomplete; 0: it is not */
    uint64_t waiting_for; /* head at that time: one wait covers all packets closed by then */
    uint64_t given_up;    /* packets before this one had their time to complete */
    uint64_t target;      /* end of the wanted packets; valid while finishing */
    bool done;
    bool ends_open; /* the last packet was read before it was closed: later events in it are not counted */
    uint64_t end;   /* one after the last packet of the pull; valid when done */
};

struct guest_source {
    struct source source; /* first: a source is cast to this */
    struct memory *memory;
    struct guest guest;
    char *metadata;
    size_t metadata_size;
    bool metadata_sent;
    bool counts_sent;   /* the final counts were sent */
    uint32_t finishing; /* enum wire_end_reason; 0: not yet */
    bool dangling;      /* the rings are no longer the store's: stop reading */
    double status_at, look_at;
    uint32_t turn; /* next CPU to read */
    uint8_t *copy; /* one packet of any size */
    struct wire_packet held;
    size_t held_size; /* bytes of `copy` to be returned next; 0: none */
    uint8_t statistics[WIRE_HELLO_BYTES + 8 + WIRE_CPUS_MAX * WIRE_CPU_STATUS_BYTES + 8 * WIRE_CLASSES];
    uint8_t *tables; /* the reply to WIRE_OP_TABLES; NULL: none yet */
    struct drain drain[WIRE_CPUS_MAX];
};

static struct guest_source *guest_of(struct source *source)
{
    return (struct guest_source *)source;
}

/* ---- the trace in guest memory -------------------------------------------------------------------- */

static bool read_metadata(struct guest_source *guest, struct fail *fail)
{
    guest->metadata_sent = false;
    free(guest->metadata);
    guest->metadata = guest_metadata(&guest->guest, &guest->metadata_size);
    return guest->metadata != NULL
               ? check_metadata(&guest->source.hello, guest->metadata, guest->metadata_size, fail)
               : fail_set(fail, "the guest's memory has no metadata");
}

static bool open_rings(struct guest_source *guest, struct fail *fail)
{
    for (uint32_t cpu = 0; cpu < guest->source.hello.cpu_count; cpu++) {
        struct guest_ring *ring = &guest->drain[cpu].ring;
        uint64_t index = ring->index;
        if (!guest_ring_open(ring, &guest->guest, cpu, fail))
            return false;
        if (!ring->index_is_good && (index & ~TRACE_INDEX_CLOSED) > ring->index)
            ring->index = index;
    }
    return !guest->guest.broken || fail_set(fail, "%s", guest->guest.fail.text);
}

static void guest_source_close(struct source *source)
{
    struct guest_source *guest = (struct guest_source *)source;
    guest_close(&guest->guest);
    if (guest->memory)
        memory_close(guest->memory);
    free(guest->metadata);
    free(guest->copy);
    free(guest->tables);
    free(guest);
}

static bool prepare(struct guest_source *guest, struct fail *fail)
{
    struct wire_hello *hello = &guest->source.hello;
    wire_hello_of_store(hello, &guest->guest.store,
                        (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) != guest->guest.swap);
    hello->mask = guest_info64(&guest->guest, offsetof(struct trace_info, mask));
    if (!check_hello(hello, fail))
        return false;
    free(guest->copy);
    guest->copy = alloc_zero(1, TRACE_BUFFER_BYTES_MAX);
    return open_rings(guest, fail) && read_metadata(guest, fail);
}

/* Opens the trace of the running system, or the last one if none runs. */
static struct source *open_guest(const struct source_class *class, const char *address, double until,
                                 bool *is_wrong, struct fail *fail)
{
    struct guest_source *guest = alloc_zero(1, sizeof(*guest));
    guest->source.class = class;
    guest->memory = memory_open(class->memory, address, fail);
    if (guest->memory && guest_open(&guest->guest, guest->memory, 0, fail) && prepare(guest, fail))
        return &guest->source;
    guest_source_close(&guest->source);
    return NULL;
}

/* ---- a pull ---------------------------------------------------------------------------------------- */

/* Begins the end of the pull, unless it has begun. */
static void begin_end(struct guest_source *guest, enum wire_end_reason reason)
{
    if (guest->finishing)
        return;
    guest->finishing = reason;
    for (uint32_t cpu = 0; cpu < guest->source.hello.cpu_count; cpu++)
        guest->drain[cpu].target = guest_ring_head(&guest->drain[cpu].ring);
}

static bool guest_begin_pull(struct source *source, uint32_t flags, uint32_t mode, const uint64_t *want,
                             struct fail *fail)
{
    struct guest_source *guest = guest_of(source);
    bool follow = guest_is_live(&guest->guest) && !(flags & (WIRE_PULL_SNAPSHOT | WIRE_PULL_PREVIOUS));
    for (uint32_t cpu = 0; cpu < source->hello.cpu_count; cpu++) {
        struct drain *drain = &guest->drain[cpu];
        drain->next = guest_ring_tail(&drain->ring);
        /* without those that a flight recorder is about to overwrite: the pull is to begin without a gap */
        if (follow && guest->guest.store.mode == TRACE_MODE_FLIGHT)
            drain->next = later(drain->next, guest_ring_kept(&drain->ring));
        drain->count_from = flags & WIRE_PULL_SNAPSHOT ? drain->next : TRACE_NO_PACKET;
        if ((flags & WIRE_PULL_RESUME) && want && want[cpu] > 0 && want[cpu] <= guest_ring_head(&drain->ring))
            drain->next = drain->count_from = want[cpu];
    }
    if (!follow)
        begin_end(guest, WIRE_ENDED_SNAPSHOT);
    guest->status_at = guest->look_at = now_seconds();
    return !guest->guest.broken || fail_set(fail, "%s", guest->guest.fail.text);
}

static bool guest_end_pull(struct source *source, struct fail *fail)
{
    begin_end(guest_of(source), WIRE_ENDED_ASKED);
    return true;
}

/* ---- packets --------------------------------------------------------------------------------------- */

/* Counts the packets between the last one sent and this one as lost. */
static void hold_packet(struct guest_source *guest, uint32_t cpu, uint64_t number)
{
    struct drain *drain = &guest->drain[cpu];
    uint64_t due = drain->sent_end > 0 ? drain->sent_end : drain->count_from;
    struct trace_packet header;
    memcpy(&header, guest->copy, sizeof(header));
    if (guest->guest.swap)
        trace_swap(&header, TRACE_PACKET_LAYOUT);
    uint64_t buffer = header.packet_size / 8, size = header.content_size / 8 + 8;
    if (number > due)
        drain->lost += number - due;
    drain->cut += (header.flags & TRACE_PACKET_CUT) != 0;
    drain->next = drain->sent_end = number + 1;
    drain->waiting_since = 0;
    guest->held = (struct wire_packet){cpu, header.flags, number};
    guest->held_size =
        size < buffer ? size : buffer; /* up to the end of the content and the filler's header */
}

/* The kernel has repaired a corrupted control page: packets
 * between the new head and the wrong one never existed. */
static void follow_repair(struct drain *drain)
{
    uint64_t head = guest_ring_head(&drain->ring);
    if (head >= drain->next)
        return;
    drain->waiting_since = 0;
    drain->given_up = 0;
    drain->next = drain->sent_end <= head ? drain->sent_end : head;
    if (drain->target > head)
        drain->target = head;
}

/* Whether the incomplete packet `next` had its time to complete. In memory that is not live it never will. */
static bool has_waited(struct guest_source *guest, struct drain *drain)
{
    double now = now_seconds();
    if (!guest_is_live(&guest->guest) || drain->next < drain->given_up)
        return true;
    if (drain->waiting_since == 0) {
        drain->waiting_since = now;
        drain->waiting_for = guest_ring_head(&drain->ring);
    }
    if (now - drain->waiting_since <= TRACE_PATIENCE_SECONDS)
        return false;
    drain->given_up = drain->waiting_for;
    return true;
}

/* Ends a pull without the open packet, whose events, if any, are lost. */
static void pass_over_open(struct drain *drain, bool has_events)
{
    const uint64_t due = drain->sent_end > 0 ? drain->sent_end : drain->count_from;
    drain->done = true;
    drain->end = drain->next + has_events;
    if (drain->end > due)
        drain->lost += drain->end - due;
}

/* Takes the open packet, or the normal packet that it has become, as the last one. */
static bool take_open(struct guest_source *guest, uint32_t cpu)
{
    struct drain *drain = &guest->drain[cpu];
    uint64_t number;
    if (guest_packet_snapshot(&drain->ring, &number, guest->copy) && number == drain->next) {
        drain->done = drain->ends_open = true;
        hold_packet(guest, cpu, number);
        drain->end = drain->next;
        return true;
    }
    const bool is_reserved = guest_ring_has_open(&drain->ring, drain->next);
    if (guest_ring_head(&drain->ring) > drain->next)
        drain->target = drain->next + 1;
    else if (!is_reserved || has_waited(guest, drain)) /* a running guest may be about to write its header */
        pass_over_open(drain, is_reserved && guest_ring_has_logged(&drain->ring, drain->next));
    return false;
}

static void pass_over(struct guest_source *guest, struct drain *drain)
{
    uint64_t head = guest_ring_head(&drain->ring), oldest = guest_ring_oldest(&drain->ring);
    drain->next = oldest > drain->next ? oldest : drain->next + 1;
    drain->waiting_since = 0;
    if (drain->target < drain->next && guest->finishing)
        drain->target = drain->next < head ? drain->next : head;
}

/* False: no packet for now. */
static bool take_packet(struct guest_source *guest, uint32_t cpu)
{
    struct drain *drain = &guest->drain[cpu];
    for (uint64_t tries = 0; !drain->done && tries <= 2 * guest->source.hello.buffer_count; tries++) {
        follow_repair(drain);
        if (guest->finishing && drain->next >= drain->target) {
            if (take_open(guest, cpu))
                return true;
            if (drain->next >= drain->target)
                return false; /* at the end, or not yet written */
            continue;
        }
        enum trace_packet_state state = guest_packet_copy(&drain->ring, drain->next, guest->copy);
        if (guest->guest.broken || state == TRACE_PACKET_OPEN)
            return false;
        if (state == TRACE_PACKET_INCOMPLETE && !has_waited(guest, drain))
            return false;
        if (state == TRACE_PACKET_WHOLE ||
            (state == TRACE_PACKET_INCOMPLETE && guest_packet_cut(&drain->ring, drain->next, guest->copy))) {
            hold_packet(guest, cpu, drain->next);
            return true;
        }
        if (guest_is_changed(&guest->guest))
            return false; /* look_around() says how */
        pass_over(guest, drain);
    }
    return false;
}

/* Whether the guest has dropped the trace of the previous boot. It may do so, and reuse the memory, even
 * during a copy. */
static bool was_dropped(struct guest_source *guest)
{
    if (!guest->memory->live || guest->guest.store.age == 0)
        return false;
    /* orders the copy before the check: pairs with the fence in trace_previous_drop() */
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    guest->dangling = guest_look(&guest->guest) == GUEST_CHANGED;
    return guest->dangling;
}

/* Copies a packet of any CPU, unless one is held already. */
static void take_any_packet(struct guest_source *guest)
{
    const uint32_t count = guest->source.hello.cpu_count;
    for (uint32_t i = 0; i < count && guest->held_size == 0; i++) {
        uint32_t cpu = guest->turn;
        guest->turn = (cpu + 1) % count;
        if (take_packet(guest, cpu) && was_dropped(guest))
            return;
    }
}

static bool all_done(const struct guest_source *guest)
{
    for (uint32_t cpu = 0; cpu < guest->source.hello.cpu_count; cpu++)
        if (!guest->drain[cpu].done)
            return false;
    return guest->finishing != 0;
}

/* Follows changes of the guest. If the rings cannot be read any more, they have changed: the pull ends. */
static void look_around(struct guest_source *guest)
{
    double now = now_seconds();
    struct fail ignored;
    if (!guest->memory->live)
        return;
    switch (guest_look(&guest->guest)) {
    case GUEST_SAME:
        break;
    case GUEST_RESIZED:
        guest->source.hello.buffer_bytes = guest->guest.store.buffer_bytes;
        guest->source.hello.buffer_count = guest->guest.store.buffer_count;
        guest->dangling = !open_rings(guest, &ignored);
        break;
    case GUEST_GROWN:
        guest->dangling = !open_rings(guest, &ignored) || !read_metadata(guest, &ignored);
        break;
    case GUEST_ENDED:
        guest->dangling = !open_rings(guest, &ignored);
        if (!guest->dangling)
            begin_end(guest, WIRE_ENDED_GUEST);
        break;
    case GUEST_CHANGED:
        guest->dangling = true;
        break;
    }
    if (!guest->dangling && now - guest->look_at >= LOOK_SECONDS) {
        guest->look_at = now;
        if (memory_has_ended(guest->memory))
            begin_end(guest, WIRE_ENDED_GUEST);
    }
}

static void fill_status(struct guest_source *guest, struct wire_cpu_status *status, uint32_t cpu)
{
    struct drain *drain = &guest->drain[cpu];
    *status = (struct wire_cpu_status){
        .next = drain->next, .lost = drain->lost, .cut = drain->cut, .events = TRACE_EVENTS_UNKNOWN};
    if (guest->dangling)
        return;
    status->head = drain->done ? drain->end : guest_ring_head(&drain->ring);
    /* if the index is implausible, nothing in the control page is trusted */
    status->discarded =
        drain->ring.index_is_good ? guest_ring_load(&drain->ring, TRACE_CONTROL_AT(discarded)) : 0;
    status->torn = guest_ring_load(&drain->ring, TRACE_CONTROL_AT(torn));
    if (!drain->ends_open)
        status->events = guest_ring_events_before(&drain->ring, status->head);
}

static void give_status(struct guest_source *guest, struct source_item *item)
{
    guest->status_at = now_seconds();
    item->kind = SOURCE_STATUS;
    item->status = (struct wire_status){.count = guest->source.hello.cpu_count};
    for (uint32_t cpu = 0; cpu < item->status.count; cpu++) {
        fill_status(guest, &item->cpu[cpu], cpu);
        uint64_t time = item->cpu[cpu].discarded
                            ? guest_ring_load(&guest->drain[cpu].ring, TRACE_CONTROL_AT(discarded_at))
                            : 0;
        item->status.time = time > item->status.time ? time : item->status.time;
    }
}

/* Ends a pull: first the final counts, if the rings are still the store's, then the end. */
static void take_end(struct guest_source *guest, struct source_item *item)
{
    if (guest->dangling)
        guest->finishing = WIRE_ENDED_CHANGED;
    else if (!guest->counts_sent) {
        guest->counts_sent = true;
        give_status(guest, item);
        return;
    }
    item->kind = SOURCE_END;
    item->end = (struct wire_end){guest->finishing, 0};
}

static enum source_got guest_next(struct source *source, struct source_item *item, int timeout_ms,
                                  struct fail *fail)
{
    struct guest_source *guest = guest_of(source);
    double until = now_seconds() + timeout_ms * 1e-3;
    for (;;) {
        /* Copies first, then checks for metadata: a class is declared before its events are logged, so
         * metadata returned before the packet declare all its events. */
        if (!guest->dangling)
            take_any_packet(guest);
        look_around(guest);
        if (!guest->metadata_sent && guest->metadata) {
            guest->metadata_sent = true;
            item->kind = SOURCE_METADATA;
            item->bytes = (const uint8_t *)guest->metadata, item->size = guest->metadata_size;
            return SOURCE_ITEM;
        }
        if (!guest->dangling && now_seconds() - guest->status_at >= STATUS_SECONDS) {
            give_status(guest, item);
            return SOURCE_ITEM;
        }
        if (!guest->dangling && guest->held_size > 0) {
            item->kind = SOURCE_PACKET;
            item->packet = guest->held;
            item->bytes = guest->copy, item->size = guest->held_size;
            guest->held_size = 0;
            return SOURCE_ITEM;
        }
        if (guest->guest.broken) {
            *fail = guest->guest.fail;
            return SOURCE_BROKEN;
        }
        if (guest->dangling || all_done(guest)) {
            take_end(guest, item);
            return SOURCE_ITEM;
        }
        if (now_seconds() >= until)
            return SOURCE_NOTHING;
        nanosleep(&(struct timespec){.tv_nsec = IDLE_NS}, NULL);
    }
}

/* ---- requests: those that only read ---- */

static size_t fill_statistics(struct guest_source *guest)
{
    uint8_t *to = guest->statistics;
    struct fail ignored;
    uint32_t low_water = 0, count = guest->source.hello.cpu_count;
    wire_put_hello(to, &guest->source.hello);
    wire_put32(to + WIRE_HELLO_BYTES, count);
    if (guest->guest.info)
        memory_read(guest->memory, guest->guest.info + offsetof(struct trace_info, low_water), &low_water,
                    sizeof(low_water), &ignored);
    wire_put32(to + WIRE_HELLO_BYTES + 4, guest_32(&guest->guest, low_water));
    to += WIRE_HELLO_BYTES + 8;
    for (uint32_t cpu = 0; cpu < count; cpu++, to += WIRE_CPU_STATUS_BYTES) {
        struct wire_cpu_status status;
        fill_status(guest, &status, cpu);
        wire_put_cpu_status(to, &status);
    }
    for (uint32_t class = 0; class < WIRE_CLASSES; class ++, to += 8)
        wire_put64(to, guest_info64(&guest->guest, offsetof(struct trace_info, switches) + 8ull * class));
    return (size_t)(to - guest->statistics);
}

static bool fill_previous(struct guest_source *guest, struct fail *fail)
{
    const struct trace_store *store = &guest->guest.store;
    struct wire_previous previous;
    guest_close(&guest->guest);
    memset(guest->drain, 0, sizeof(guest->drain));
    if (!guest_open(&guest->guest, guest->memory, 1, fail) || !prepare(guest, fail))
        return false;
    previous = (struct wire_previous){.hello = guest->source.hello,
                                      .end = store->end,
                                      .packets = store->kept.packets,
                                      .unsummed = store->kept.unsummed,
                                      .damaged = store->kept.damaged};
    memcpy(previous.reason, store->reason, sizeof(previous.reason));
    wire_put_previous(guest->statistics, &previous);
    return true;
}

struct guest *guest_of_source(struct source *source, struct fail *fail)
{
    struct guest_source *guest = guest_of(source);
    const enum guest_change change = guest_is_live(&guest->guest) ? guest_look(&guest->guest) : GUEST_SAME;
    bool ok = change == GUEST_SAME;
    if (change == GUEST_CHANGED)
        fail_set(fail, "the guest was started again, or its rings were cleared, meanwhile; try again");
    else if (change != GUEST_SAME)
        ok = open_rings(guest, fail);
    return ok ? &guest->guest : NULL;
}

/* The clock cannot be read from outside. */
static bool fill_tables(struct guest_source *guest, uint64_t cpu, struct source_reply *reply,
                        struct fail *fail)
{
    if (guest_of_source(&guest->source, fail) == NULL)
        return false;
    if (cpu >= guest->source.hello.cpu_count) {
        reply->status = -E_BAD_ARGUMENT;
        return true;
    }
    struct guest_ring *ring = &guest->drain[cpu].ring;
    uint64_t bytes = guest_ring_tables_bytes(ring);
    if (guest->tables == NULL)
        guest->tables = alloc_zero(1, WIRE_TABLES_CLOCK_BYTES + TRACE_CONTROL_OFFSET - TRACE_TABLES_OFFSET);
    guest_ring_copy_tables(ring, guest->tables + WIRE_TABLES_CLOCK_BYTES, bytes);
    reply->data = guest->tables;
    reply->size = WIRE_TABLES_CLOCK_BYTES + bytes;
    return !guest->guest.broken || fail_set(fail, "%s", guest->guest.fail.text);
}

static bool guest_control(struct source *source, const struct wire_request *request,
                          struct source_reply *reply, struct fail *fail)
{
    struct guest_source *guest = guest_of(source);
    *reply = (struct source_reply){.data = guest->statistics};
    switch (request->operation) {
    case WIRE_OP_STATISTICS:
        reply->size = fill_statistics(guest);
        return true;
    case WIRE_OP_PREVIOUS:
        reply->size = WIRE_PREVIOUS_BYTES;
        return fill_previous(guest, fail);
    case WIRE_OP_METADATA:
        reply->data = (const uint8_t *)guest->metadata;
        reply->size = guest->metadata_size;
        return true;
    case WIRE_OP_TABLES:
        return fill_tables(guest, request->a, reply, fail);
    default:
        return fail_set(fail, "guest memory is only read, never changed: this requires a link to the guest");
    }
}

#define GUEST_CLASS(name)                       \
    const struct source_class source_##name = { \
        .scheme = #name,                        \
        .memory = &memory_##name,               \
        .open = open_guest,                     \
        .begin_pull = guest_begin_pull,         \
        .end_pull = guest_end_pull,             \
        .next = guest_next,                     \
        .control = guest_control,               \
        .close = guest_source_close,            \
    }
GUEST_CLASS(core);
GUEST_CLASS(gdb);
GUEST_CLASS(ram);
