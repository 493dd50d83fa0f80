/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * image_source.c - sources that read guest memory: core:FILE, gdb:ADDRESS, ram:FILE.
 *
 * Memory that does not change is read once: every ring from its oldest packet to the written part of the
 * open one. The memory of a running guest is followed: packets that are overwritten before or during the
 * copy count as lost, and none of their bytes are used (image_ring.c). The previous boot's trace in a
 * running guest does not change until the guest drops it.
 */
#include <string.h>
#include <time.h>
#include <tools/tarn/source/image_source.h>

#define STATUS_SECONDS 0.5
#define LOOK_SECONDS   0.5     /* between checks whether the guest still runs */
#define IDLE_NS        1000000 /* between reads of rings without changes */

static struct image_source *image_of(struct source *source)
{
    return (struct image_source *)source;
}

/* ---- a pull ---------------------------------------------------------------------------------------- */

/* Skips the packets that a flight recorder is about to overwrite, so that the pull begins without a gap. */
static uint64_t choose_start(struct image_source *image, struct image_ring *ring, bool follow)
{
    uint64_t tail = image_ring_tail(ring), head = image_ring_head(ring);
    uint64_t count = image->source.hello.buffer_count, most = count - count / 4;

    if (follow && image->image.store.mode == TRACE_MODE_FLIGHT && head - tail >= most)
        return head - most + 1;
    return tail;
}

/* Begins the end of the pull, unless it has begun. */
static void begin_end(struct image_source *image, enum wire_end_reason reason)
{
    if (image->finishing)
        return;
    image->finishing = reason;
    for (uint32_t cpu = 0; cpu < image->source.hello.cpu_count; cpu++)
        image->drain[cpu].target = image_ring_head(&image->drain[cpu].ring);
}

static bool image_begin_pull(struct source *source, uint32_t flags, uint32_t mode, const uint64_t *want,
                             struct fail *fail)
{
    struct image_source *image = image_of(source);
    bool follow = image_is_live(&image->image) && !(flags & (WIRE_PULL_SNAPSHOT | WIRE_PULL_PREVIOUS));

    for (uint32_t cpu = 0; cpu < source->hello.cpu_count; cpu++) {
        struct drain *drain = &image->drain[cpu];
        drain->next = choose_start(image, &drain->ring, follow);
        drain->count_from = TRACE_NO_PACKET;
        if ((flags & WIRE_PULL_RESUME) && want && want[cpu] > 0 && want[cpu] <= image_ring_head(&drain->ring))
            drain->next = drain->count_from = want[cpu];
    }
    if (!follow)
        begin_end(image, WIRE_ENDED_SNAPSHOT);
    image->status_at = image->look_at = now_seconds();
    return !image->image.broken || fail_set(fail, "%s", image->image.fail.text);
}

static bool image_end_pull(struct source *source, struct fail *fail)
{
    begin_end(image_of(source), WIRE_ENDED_ASKED);
    return true;
}

/* ---- packets --------------------------------------------------------------------------------------- */

/* Counts the packets between the last one sent and this one
 * as lost. The trace begins with the first packet sent. */
static void hold_packet(struct image_source *image, uint32_t cpu, uint64_t number)
{
    struct drain *drain = &image->drain[cpu];
    uint64_t due = drain->sent_end > 0 ? drain->sent_end : drain->count_from;
    uint64_t content =
        image_packet_64(&image->image, image->copy, offsetof(struct trace_packet, content_size));
    uint32_t flags = image_packet_32(&image->image, image->copy, offsetof(struct trace_packet, flags));
    uint64_t size = content / 8 + 8, buffer = image->source.hello.buffer_bytes;

    if (number > due)
        drain->lost += number - due;
    drain->cut += (flags & TRACE_PACKET_CUT) != 0;
    drain->next = drain->sent_end = number + 1;
    drain->waiting_since = 0;
    image->held = (struct wire_packet){cpu, flags, number};
    image->held_size =
        size < buffer ? size : buffer; /* up to the end of the content and the filler's header */
}

/* The kernel has repaired a corrupted control page: packets
 * between the new head and the wrong one never existed. */
static void follow_repair(struct drain *drain)
{
    uint64_t head = image_ring_head(&drain->ring);

    if (head >= drain->next)
        return;
    drain->waiting_since = 0;
    drain->given_up = 0;
    drain->next = drain->sent_end <= head ? drain->sent_end : head;
    if (drain->target > head)
        drain->target = head;
}

/* Whether the incomplete packet `next` had its time to complete. In memory that is not live it never will. */
static bool has_waited(struct image_source *image, struct drain *drain)
{
    double now = now_seconds();

    if (!image_is_live(&image->image) || drain->next < drain->given_up)
        return true;
    if (drain->waiting_since == 0) {
        drain->waiting_since = now;
        drain->waiting_for = image_ring_head(&drain->ring);
    }
    if (now - drain->waiting_since <= TRACE_PATIENCE_SECONDS)
        return false;
    drain->given_up = drain->waiting_for;
    return true;
}

/* Ends a pull without the open packet, whose events, if any, are lost. */
static void pass_over_open(struct drain *drain, bool has_events)
{
    drain->done = true;
    drain->end = drain->next + has_events;
    if (drain->sent_end > 0 && drain->end > drain->sent_end)
        drain->lost += drain->end - drain->sent_end;
}

/* Takes the open packet, or the normal packet that it has become, as the last one. */
static bool take_open(struct image_source *image, uint32_t cpu)
{
    struct drain *drain = &image->drain[cpu];
    uint64_t number;

    if (image_packet_snapshot(&drain->ring, &number, image->copy) && number == drain->next) {
        drain->done = true;
        hold_packet(image, cpu, number);
        drain->end = drain->next;
        return true;
    }
    const bool is_reserved = image_ring_has_open(&drain->ring, drain->next);
    if (image_ring_head(&drain->ring) > drain->next)
        drain->target = drain->next + 1;
    else if (!is_reserved || has_waited(image, drain)) /* a running guest may be about to write its header */
        pass_over_open(drain, is_reserved && image_ring_has_logged(&drain->ring, drain->next));
    return false;
}

static void pass_over(struct image_source *image, struct drain *drain)
{
    uint64_t head = image_ring_head(&drain->ring), oldest = image_ring_oldest(&drain->ring);

    drain->next = oldest > drain->next ? oldest : drain->next + 1;
    drain->waiting_since = 0;
    if (drain->target < drain->next && image->finishing)
        drain->target = drain->next < head ? drain->next : head;
}

/* False: no packet for now. */
static bool take_packet(struct image_source *image, uint32_t cpu)
{
    struct drain *drain = &image->drain[cpu];

    for (uint64_t tries = 0; !drain->done && tries <= 2 * image->source.hello.buffer_count; tries++) {
        follow_repair(drain);
        if (image->finishing && drain->next >= drain->target) {
            if (take_open(image, cpu))
                return true;
            if (drain->next >= drain->target)
                return false; /* at the end, or not yet written */
            continue;
        }
        enum trace_packet_state state = image_packet_copy(&drain->ring, drain->next, image->copy);
        if (image->image.broken || state == TRACE_PACKET_OPEN)
            return false;
        if (state == TRACE_PACKET_INCOMPLETE && !has_waited(image, drain))
            return false;
        if (state == TRACE_PACKET_WHOLE ||
            (state == TRACE_PACKET_INCOMPLETE && image_packet_cut(&drain->ring, drain->next, image->copy))) {
            hold_packet(image, cpu, drain->next);
            return true;
        }
        pass_over(image, drain);
    }
    return false;
}

/* Whether the guest has dropped the trace of the previous boot. It may do so, and reuse the memory, even
 * during a copy. */
static bool was_dropped(struct image_source *image)
{
    if (!image->memory->live || image->image.store.age == 0)
        return false;
    /* orders the copy before the check: pairs with the fence in trace_previous_drop() */
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    image->dangling = image_look(&image->image) == IMAGE_CHANGED;
    return image->dangling;
}

/* Copies a packet of any CPU, unless one is held already. */
static void take_any_packet(struct image_source *image)
{
    const uint32_t count = image->source.hello.cpu_count;

    for (uint32_t i = 0; i < count && image->held_size == 0; i++) {
        uint32_t cpu = image->turn;
        image->turn = (cpu + 1) % count;
        if (take_packet(image, cpu) && was_dropped(image))
            return;
    }
}

static bool all_done(const struct image_source *image)
{
    for (uint32_t cpu = 0; cpu < image->source.hello.cpu_count; cpu++)
        if (!image->drain[cpu].done)
            return false;
    return image->finishing != 0;
}

/* ---- items ---- */

/* Follows what the guest changes. What cannot be read any more ends the pull: the rings have changed. */
static void look_around(struct image_source *image)
{
    double now = now_seconds();
    struct fail ignored;

    if (!image->memory->live)
        return;
    switch (image_look(&image->image)) {
    case IMAGE_SAME:
        break;
    case IMAGE_GROWN:
        image->dangling = !image_open_rings(image, &ignored) || !image_read_metadata(image, &ignored);
        break;
    case IMAGE_ENDED:
        image->dangling = !image_open_rings(image, &ignored);
        if (!image->dangling)
            begin_end(image, WIRE_ENDED_GUEST);
        break;
    case IMAGE_CHANGED:
        image->dangling = true;
        break;
    }
    if (!image->dangling && now - image->look_at >= LOOK_SECONDS) {
        image->look_at = now;
        if (image->memory->class->ended(image->memory))
            begin_end(image, WIRE_ENDED_GUEST);
    }
}

static void fill_status(struct image_source *image, struct wire_cpu_status *status, uint32_t cpu)
{
    struct drain *drain = &image->drain[cpu];

    *status = (struct wire_cpu_status){.next = drain->next, .lost = drain->lost, .cut = drain->cut};
    if (image->dangling)
        return;
    status->head = drain->done ? drain->end : image_ring_head(&drain->ring);
    /* if the index is implausible, nothing in the control page is trusted */
    status->discarded = drain->ring.index_is_good ? image_ring_discarded(&drain->ring) : 0;
    status->torn = image_ring_torn(&drain->ring);
}

static void give_status(struct image_source *image, struct source_item *item)
{
    image->status_at = now_seconds();
    item->kind = SOURCE_STATUS;
    item->status = (struct wire_status){.count = image->source.hello.cpu_count};
    for (uint32_t cpu = 0; cpu < item->status.count; cpu++)
        fill_status(image, &item->cpu[cpu], cpu);
}

static bool take_status(struct image_source *image, struct source_item *item)
{
    if (now_seconds() - image->status_at < STATUS_SECONDS)
        return false;
    give_status(image, item);
    return true;
}

static bool give_metadata(struct image_source *image, struct source_item *item)
{
    if (image->metadata_sent || !image->metadata)
        return false;
    image->metadata_sent = true;
    item->kind = SOURCE_METADATA;
    item->bytes = (const uint8_t *)image->metadata, item->size = image->metadata_size;
    return true;
}

static bool give_packet(struct image_source *image, struct source_item *item)
{
    if (image->held_size == 0)
        return false;
    item->kind = SOURCE_PACKET;
    item->packet = image->held;
    item->bytes = image->copy, item->size = image->held_size;
    image->held_size = 0;
    return true;
}

/* Ends a pull: first the final counts, if the rings are still the store's, then the end. */
static void take_end(struct image_source *image, struct source_item *item)
{
    if (image->dangling)
        image->finishing = WIRE_ENDED_CHANGED;
    else if (!image->counts_sent) {
        image->counts_sent = true;
        give_status(image, item);
        return;
    }
    item->kind = SOURCE_END;
    item->end = (struct wire_end){image->finishing, 0};
}

static enum source_got image_next(struct source *source, struct source_item *item, int timeout_ms,
                                  struct fail *fail)
{
    struct image_source *image = image_of(source);
    double until = now_seconds() + timeout_ms * 1e-3;

    for (;;) {
        /* Copies first, then checks for metadata: a class is declared before its events are logged, so
         * metadata returned before the packet declare all its events. */
        if (!image->dangling)
            take_any_packet(image);
        look_around(image);
        if (give_metadata(image, item) ||
            (!image->dangling && (take_status(image, item) || give_packet(image, item))))
            return SOURCE_ITEM;
        if (image->image.broken) {
            *fail = image->image.fail;
            return SOURCE_BROKEN;
        }
        if (image->dangling || all_done(image)) {
            take_end(image, item);
            return SOURCE_ITEM;
        }
        if (now_seconds() >= until)
            return SOURCE_NOTHING;
        nanosleep(&(struct timespec){.tv_nsec = IDLE_NS}, NULL);
    }
}

/* ---- requests ---- */

static size_t fill_statistics(struct image_source *image)
{
    uint8_t *to = image->statistics;
    uint32_t count = image->source.hello.cpu_count;

    wire_put_hello(to, &image->source.hello);
    wire_put32(to + WIRE_HELLO_BYTES, count);
    wire_put32(to + WIRE_HELLO_BYTES + 4, 0);
    to += WIRE_HELLO_BYTES + 8;
    for (uint32_t cpu = 0; cpu < count; cpu++, to += WIRE_CPU_STATUS_BYTES) {
        struct wire_cpu_status status;
        fill_status(image, &status, cpu);
        wire_put_cpu_status(to, &status);
    }
    for (uint32_t class = 0; class < WIRE_CLASSES; class ++, to += 8)
        wire_put64(to, image_info64(&image->image, offsetof(struct trace_info, switches) + 8ull * class));
    return (size_t)(to - image->statistics);
}

static bool fill_previous(struct image_source *image, struct fail *fail)
{
    const struct trace_store *store = &image->image.store;
    struct wire_previous previous;

    if (!image_turn_to_previous(image, fail))
        return false;
    previous = (struct wire_previous){.hello = image->source.hello,
                                      .end = store->end,
                                      .packets = store->kept.packets,
                                      .unsummed = store->kept.unsummed,
                                      .damaged = store->kept.damaged};
    memcpy(previous.reason, store->reason, sizeof(previous.reason));
    wire_put_previous(image->statistics, &previous);
    return true;
}

static enum source_got image_control(struct source *source, const struct wire_request *request,
                                     int32_t *status, const uint8_t **data, size_t *size, struct fail *fail)
{
    struct image_source *image = image_of(source);

    *status = 0;
    *data = image->statistics;
    switch (request->operation) {
    case WIRE_OP_STATISTICS:
        *size = fill_statistics(image);
        return SOURCE_ITEM;
    case WIRE_OP_PREVIOUS:
        *size = WIRE_PREVIOUS_BYTES;
        return fill_previous(image, fail) ? SOURCE_ITEM : SOURCE_BROKEN;
    default:
        fail_set(fail, "guest memory is only read, never changed: this requires a link to the guest");
        return SOURCE_BROKEN;
    }
}

/* ---- the three classes ---- */

#define IMAGE_CLASS(name)                       \
    const struct source_class source_##name = { \
        .scheme = #name,                        \
        .memory = &memory_##name,               \
        .open = open_image,                     \
        .begin_pull = image_begin_pull,         \
        .end_pull = image_end_pull,             \
        .next = image_next,                     \
        .control = image_control,               \
        .close = image_source_close,            \
    }
IMAGE_CLASS(core);
IMAGE_CLASS(gdb);
IMAGE_CLASS(ram);
