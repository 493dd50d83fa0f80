/*
 * pull.c - sends a host the packets of all CPUs as they become complete (WIRE.md).
 *
 * run_pull begins, runs rounds of drain_rings, then sends the final STATUS and END. The end is decided once:
 * everything is flushed, each ring's head becomes its target, and the pull ends when all packets before the
 * targets are sent. Events that sending itself logs lie beyond the targets, so every pull ends. An open
 * packet cannot be flushed if the next buffer is not free; it is sent as far as it is written. The final
 * STATUS says how many events each CPU has discarded and where its packets end; the host notes in the trace
 * what it did not receive.
 *
 * In stream mode a buffer is released (trace_consume) only when it lies a quarter of the ring behind the last
 * packet sent. If the link breaks, a host that resumes can get those packets again.
 *
 * Each round that sends packets is marked in the trace (struct drain).
 *
 * After a round without packets the pull sleeps until the kernel wakes it: a ring has reached the low-water
 * mark (TRACE_OP_SET_DRAIN). It looks by itself when an open buffer is to be flushed, and at least every
 * LOOK_NS, so that little that is logged arrives soon, too. Where nothing wakes it, it polls (must_poll).
 *
 * Locking: owner_lock covers `owner`. The fields of a pull belong to its thread, except `asked`.
 */
#include "traced.h"
#include <arch/trace.h>
#include <servers/lib/server.h>
#include <stdlib.h>
#include <string.h>
#include <tarn/runtime.h>
#include <tarn/trace_control.h>
#include <trace/format/store.h>

#define ROUND_PACKETS  16u          /* sent per CPU before the next CPU */
#define LOOK_NS        100000000ull /* longest pause after a round without packets */
#define BUSY_WAIT_NS   5000000ull   /* the same, if the pull must poll */
#define IDLE_WAIT_NS   50000000ull  /* and if then there were none for IDLE_AFTER_NS */
#define IDLE_AFTER_NS  500000000ull
#define FLUSH_NS       200000000ull  /* an open buffer with events is flushed after this time */
#define FLUSH_SMALL_NS 1000000000ull /* and one with few events after this */
#define STATUS_NS      500000000ull
#define TAKE_OVER_NS   3000000000ull /* time that the previous pull gets to end */
#define GOODBYE_NS     1000000000ull /* a host that receives nothing for so long does not delay the end */

/* bits of the pull's notification */
#define WAKE_END       1u
#define WAKE_LOW_WATER 2u

struct ring_state {
    uint64_t next;       /* next packet to send */
    uint64_t sent_end;   /* one after the last packet sent */
    uint64_t count_from; /* before any was sent: the packet that the host wants; TRACE_NO_PACKET: any */
    uint64_t target;     /* while finishing: send packets before this one */
    uint64_t head;       /* as last read; at the end, the status of the pull's packets */
    uint64_t discarded;  /* events, as last read */
    uint64_t lost, cut;  /* packets */
    uint64_t consumed;   /* last value told to the kernel */
    uint64_t sent_at;    /* time of the last packet or flush */
    bool ends_open; /* the last packet was sent before it was closed: later events in it are not counted */
};

struct pull {
    struct connection *connection;
    struct wire_pull request;
    uint64_t want[TRACE_CPUS_MAX];
    pthread_t thread;
    _Atomic bool asked; /* set by the connection's thread; read each round */
    cap_t wakeup;       /* wakes the pull's thread */

    uint32_t reason; /* 0, or why the pull is finishing (WIRE_ENDED_*) */
    uint32_t cpu_count, old_mode;
    uint32_t generation; /* of the rings; the pull ends if they are cleared */
    uint64_t geometry;   /* of all rings; follow_sizes() */
    bool restore_mode;
    bool is_woken;         /* by the kernel, at the low-water mark */
    size_t metadata_bytes; /* size when last sent */
    uint64_t status_at, packet_at;
    struct drain drain;
    struct ring_state ring[TRACE_CPUS_MAX];
};

/* The active pull. Set by compare-and-swap, cleared under owner_lock; a thread that holds owner_lock may use
 * the owner's connection. */
static _Atomic(struct pull *) owner;
static pthread_mutex_t owner_lock = PTHREAD_MUTEX_INITIALIZER; /* outermost */

static _Atomic bool is_leaving; /* the machine is about to be switched off: pulls end */

bool pull_is_running(void)
{
    return atomic_load(&owner) != NULL;
}

/* A reader; it is not current if the geometry has changed since the pull read it. */
static struct trace_reader pull_ring(const struct pull *pull, uint32_t cpu)
{
    struct trace_reader reader = ring_of(cpu);
    reader.geometry = pull->geometry;
    return reader;
}

/* Whether the rings were cleared or resized. Data read before may then be wrong. */
static bool is_changed(const struct pull *pull)
{
    struct trace_reader reader = pull_ring(pull, 0);
    return !trace_reader_is_current(&reader);
}

/* False: the rings were cleared: packets before and after do not belong together. If they were only resized,
 * the packets have kept their numbers, and the pull goes on. */
static bool follow_sizes(struct pull *pull)
{
    pull->geometry = settled_geometry();
    return trace_info()->generation == pull->generation;
}

/* ---- other frames ---------------------------------------------------------------------------------- */

static bool send_end(struct connection *connection, uint32_t reason, int64_t status)
{
    uint8_t payload[WIRE_END_BYTES];
    wire_put32(payload, reason);
    wire_put32(payload + 4, (uint32_t)status);
    return send_payload(connection, WIRE_END, payload, sizeof(payload));
}

/* Sends the metadata if they have grown since they were last sent. Not if the rings were cleared: the new
 * text may lack events that were sent. */
static bool send_metadata(struct pull *pull)
{
    size_t size;
    char *text = read_metadata(&size);
    if (!text)
        return false;
    bool is_sent = size == pull->metadata_bytes || trace_info()->generation != pull->generation ||
                   send_payload(pull->connection, WIRE_METADATA, text, size);
    pull->metadata_bytes = size;
    free(text);
    return is_sent;
}

/* Reads head and discarded, unless the rings were cleared or resized. */
static void read_ring_counts(struct pull *pull, uint32_t cpu)
{
    struct ring_state *ring = &pull->ring[cpu];
    struct trace_reader reader = pull_ring(pull, cpu);
    uint64_t head = trace_reader_head(&reader),
             discarded = trace_reader_load(&reader, TRACE_CONTROL_AT(discarded));
    if (!trace_reader_is_current(&reader))
        return;
    ring->head = head;
    ring->discarded = discarded;
}

static bool send_status(struct pull *pull)
{
    uint8_t payload[WIRE_STATUS_BYTES + WIRE_CPUS_MAX * WIRE_CPU_STATUS_BYTES];
    uint8_t *at = payload + WIRE_STATUS_BYTES;
    wire_put_status(payload, &(struct wire_status){.count = pull->cpu_count, .time = arch_trace_clock()});
    for (uint32_t cpu = 0; cpu < pull->cpu_count; cpu++, at += WIRE_CPU_STATUS_BYTES) {
        const struct ring_state *ring = &pull->ring[cpu];
        struct trace_reader reader = pull_ring(pull, cpu);
        wire_put_cpu_status(at,
                            &(struct wire_cpu_status){
                                .next = ring->next,
                                .head = ring->head,
                                .lost = ring->lost,
                                .cut = ring->cut,
                                .discarded = ring->discarded,
                                .events = ring->ends_open ? TRACE_EVENTS_UNKNOWN
                                                          : trace_reader_events_before(&reader, ring->head),
                            });
    }
    return send_payload(pull->connection, WIRE_STATUS, payload, (size_t)(at - payload));
}

/* Sends the final counts. The mode has been restored, so no more events are discarded because of the pull. */
static bool send_final_status(struct pull *pull)
{
    for (uint32_t cpu = 0; cpu < pull->cpu_count; cpu++) {
        struct ring_state *ring = &pull->ring[cpu];
        read_ring_counts(pull, cpu);
        if (pull->reason != WIRE_ENDED_CHANGED)
            ring->head = ring->target;
        const uint64_t due = ring->sent_end > 0 ? ring->sent_end : ring->count_from;
        if (ring->head > due)
            ring->lost += ring->head - due;
    }
    return send_status(pull);
}

/* ---- packets --------------------------------------------------------------------------------------- */

/* The kernel restarts writers, so a closed packet is incomplete only if a program has written over it. */
static enum trace_packet_state copy_closed(const struct trace_reader *reader, uint64_t number,
                                           struct trace_packet *packet)
{
    enum trace_packet_state state = trace_packet_copy(reader, number, packet);
    if (state != TRACE_PACKET_INCOMPLETE)
        return state;
    return trace_packet_cut(reader, number, packet) ? TRACE_PACKET_WHOLE : TRACE_PACKET_GONE;
}

/* As far as it is written. OPEN: it was closed meanwhile and will be read as a closed packet next time. */
static enum trace_packet_state copy_open(const struct trace_reader *reader, uint64_t number,
                                         struct trace_packet *packet)
{
    if (trace_packet_snapshot(reader, packet) && packet->packet_seq_num == number)
        return TRACE_PACKET_WHOLE;
    return trace_reader_head(reader) == number ? TRACE_PACKET_GONE : TRACE_PACKET_OPEN;
}

/* Copies the packet to where it is sent from. *state: in, whether it is open; out, WHOLE if it was sent. */
static bool send_copy(struct pull *pull, const struct trace_reader *reader, uint64_t number,
                      enum trace_packet_state *state)
{
    uint8_t *payload = begin_frame(pull->connection, WIRE_PACKET_BYTES + trace_reader_bytes(reader, number));
    if (!payload)
        return false;
    struct trace_packet *packet = (struct trace_packet *)(void *)(payload + WIRE_PACKET_BYTES);
    *state = (*state == TRACE_PACKET_OPEN ? copy_open : copy_closed)(reader, number, packet);
    if (*state != TRACE_PACKET_WHOLE)
        return end_frame(pull->connection, WIRE_PACKET, payload, 0);
    const size_t bytes = put_packet_header(payload, reader, number);
    pull->ring[reader->cpu].cut += (packet->flags & TRACE_PACKET_CUT) != 0;
    drain_count(&pull->drain, WIRE_FRAME_BYTES + bytes);
    return end_frame(pull->connection, WIRE_PACKET, payload, bytes);
}

/* Bytes that are kept after they were sent, for a host that resumes. */
static uint64_t bytes_kept(const struct pull *pull)
{
    uint64_t bytes = trace_geometry_words(pull->geometry) * 8 * trace_geometry_buffers(pull->geometry);
    uint64_t wanted = __atomic_load_n(&trace_info()->ring_wanted, __ATOMIC_RELAXED);
    return (wanted && wanted < bytes ? wanted : bytes) / 4;
}

/* Releases packets that lie `keep` bytes or more behind the last one sent. */
static void give_back(struct pull *pull, uint32_t cpu, uint64_t keep)
{
    struct ring_state *ring = &pull->ring[cpu];
    struct trace_reader reader = pull_ring(pull, cpu);
    uint64_t head = trace_reader_head(&reader);
    /* the open packet may have been sent, too */
    uint64_t consumed = trace_reader_back(&reader, ring->next < head ? ring->next : head, keep);
    uint64_t words =
        trace_eras_start(&reader.eras, consumed) - trace_eras_start(&reader.eras, ring->consumed);
    if (is_changed(pull) || trace_info()->mode != TRACE_MODE_STREAM ||
        (pull->request.flags & WIRE_PULL_SNAPSHOT) || consumed <= ring->consumed ||
        (keep && words <= reader.eras.ring_words / 16))
        return;
    if (sys_trace_consume(SLOT_TRACE, cpu, consumed) >= 0)
        ring->consumed = consumed;
}

/* The kernel repaired a control page that a program had
 * overwritten: packets believed to lie ahead never existed. */
static void follow_repair(struct ring_state *ring, const struct trace_reader *reader)
{
    uint64_t head = trace_reader_head(reader), oldest = trace_reader_oldest(reader);
    if (head >= ring->next || !trace_reader_is_current(reader))
        return;
    ring->next = ring->sent_end > oldest && ring->sent_end <= head ? ring->sent_end : oldest;
    if (ring->target > head)
        ring->target = head;
}

/* Packets between the last one sent and this one are lost. The trace begins with the first one sent. */
static void count_sent(struct ring_state *ring, uint64_t number)
{
    uint64_t due = ring->sent_end > 0 ? ring->sent_end : ring->count_from;
    if (number > due)
        ring->lost += number - due;
    ring->next = ring->sent_end = number + 1;
}

/* The host decodes packets on arrival, so it needs the metadata with the
 * declarations first. Programs register their events before they log them,
 * so when the packet is complete the kernel's text has all of them. */
static bool send_new_metadata(struct pull *pull)
{
    char byte;
    return sys_trace_metadata(SLOT_TRACE, TRACE_METADATA_TEXT, pull->metadata_bytes, &byte, 1) <= 0 ||
           send_metadata(pull);
}

/* Returns true if the packet was sent or skipped, so that there may be another. */
static bool send_packet(struct pull *pull, uint32_t cpu, uint64_t now)
{
    struct ring_state *ring = &pull->ring[cpu];
    struct trace_reader reader = pull_ring(pull, cpu);
    follow_repair(ring, &reader);
    enum trace_packet_state state = trace_packet_state(&reader, ring->next);
    if (state == TRACE_PACKET_OPEN && (pull->reason == 0 || ring->next >= ring->target))
        return false;
    ring->ends_open = state == TRACE_PACKET_OPEN;
    if (state != TRACE_PACKET_GONE) {
        drain_begin(&pull->drain, cpu);
        if (!send_new_metadata(pull) || !send_copy(pull, &reader, ring->next, &state))
            return false;
    }
    if (state != TRACE_PACKET_WHOLE && is_changed(pull))
        return false; /* it may have moved */
    if (state == TRACE_PACKET_OPEN)
        return true;
    if (state == TRACE_PACKET_WHOLE) {
        count_sent(ring, ring->next);
        ring->sent_at = pull->packet_at = now;
    } else {
        uint64_t oldest = trace_reader_oldest(&reader);
        ring->next = oldest > ring->next ? oldest : ring->next + 1;
    }
    /* Skipped packets free buffers, too: a ring that a program has overwritten may hold nothing to send while
     * its writers wait for space. */
    give_back(pull, cpu, bytes_kept(pull));
    return true;
}

/* When the open buffer is to be flushed; ~0: not as it is now. */
static uint64_t flush_time(const struct pull *pull, uint32_t cpu)
{
    const struct ring_state *ring = &pull->ring[cpu];
    struct trace_reader reader = pull_ring(pull, cpu);
    uint64_t size = trace_geometry_words(pull->geometry), used = trace_open_words(&reader);
    if (trace_reader_head(&reader) != ring->next || used == 0)
        return ~0ull;
    return ring->sent_at + (used > size / 4 ? FLUSH_NS : FLUSH_SMALL_NS);
}

static void flush_if_due(struct pull *pull, uint32_t cpu, uint64_t now)
{
    struct ring_state *ring = &pull->ring[cpu];
    if (now < flush_time(pull, cpu))
        return;
    sys_trace_control(SLOT_TRACE, TRACE_OP_FLUSH, cpu, 0);
    ring->sent_at = now;
}

/* ---- the pull -------------------------------------------------------------------------------------- */

/* In flight mode the oldest packets are about to be overwritten. Starting with them would leave a gap. A
 * snapshot sends all packets in the rings, also consumed ones and those from before a change of the mode. */
static uint64_t choose_start(const struct trace_reader *reader, uint32_t flags)
{
    const struct trace_info *info = reader->info;
    uint64_t tail = trace_reader_tail(reader), head = trace_reader_head(reader);
    uint64_t bytes = trace_reader_ring_bytes(reader);
    if (flags & WIRE_PULL_SNAPSHOT)
        return trace_reader_oldest(reader);
    if (info->mode != TRACE_MODE_FLIGHT || info->mask == 0 ||
        tail >= trace_reader_back(reader, head, bytes / 2))
        return tail;
    return trace_reader_back(reader, head, bytes / 4);
}

/* The first packets of the last pull that did not resume, for a host that resumes it and names none. */
static uint64_t begun_at[TRACE_CPUS_MAX] = {[0 ... TRACE_CPUS_MAX - 1] = TRACE_NO_PACKET};

/* The packet with which to resume, or TRACE_NO_PACKET. */
static uint64_t choose_resumed(const struct pull *pull, uint32_t cpu, uint64_t head)
{
    const uint64_t want = pull->want[cpu] > 0 ? pull->want[cpu] : begun_at[cpu];
    return want <= head ? want : TRACE_NO_PACKET;
}

static void place_rings(struct pull *pull)
{
    const bool resumes = pull->request.flags & WIRE_PULL_RESUME;
    for (uint32_t cpu = 0; cpu < pull->cpu_count; cpu++) {
        struct ring_state *ring = &pull->ring[cpu];
        struct trace_reader reader = pull_ring(pull, cpu);
        ring->consumed = trace_info()->consumed[cpu];
        ring->next = choose_start(&reader, pull->request.flags);
        ring->count_from = resumes ? choose_resumed(pull, cpu, trace_reader_head(&reader)) : TRACE_NO_PACKET;
        if (ring->count_from != TRACE_NO_PACKET)
            ring->next = ring->count_from;
        if (!resumes)
            begun_at[cpu] = ring->next;
        if (pull->request.flags & WIRE_PULL_SNAPSHOT) /* all that there is now is wanted */
            ring->count_from = ring->next;
    }
}

/* Not if nothing is logged: then the mode does not matter, and all that the rings hold can be sent. */
static void change_mode(struct pull *pull)
{
    const struct wire_pull *request = &pull->request;
    pull->old_mode = trace_info()->mode;
    if ((request->flags & WIRE_PULL_MODE) && !(request->flags & WIRE_PULL_SNAPSHOT) &&
        trace_info()->mask != 0 && request->mode != pull->old_mode)
        pull->restore_mode = sys_trace_control(SLOT_TRACE, TRACE_OP_SET_MODE, request->mode, 0) >= 0;
}

static bool begin_pull(struct pull *pull)
{
    change_mode(pull);
    place_rings(pull);
    if (!(pull->request.flags & WIRE_PULL_RESUME) && trace_info()->mask != 0)
        sys_trace_control(SLOT_TRACE, TRACE_OP_STATEDUMP, 0, 0);
    if (pull->request.flags & WIRE_PULL_SNAPSHOT)
        pull->reason = WIRE_ENDED_SNAPSHOT;
    for (uint32_t cpu = 0; cpu < pull->cpu_count; cpu++)
        read_ring_counts(pull, cpu);
    return send_metadata(pull) && send_status(pull);
}

/* A flush closes the open packet unless the next buffer is not free. In that case the packet is sent as it
 * is, if it holds events. */
static void set_targets(struct pull *pull)
{
    for (uint32_t cpu = 0; cpu < pull->cpu_count; cpu++)
        read_ring_counts(pull, cpu);
    sys_trace_control(SLOT_TRACE, TRACE_OP_FLUSH, ~0ull, 0);
    for (uint32_t cpu = 0; cpu < pull->cpu_count; cpu++) {
        struct ring_state *ring = &pull->ring[cpu];
        struct trace_reader reader = pull_ring(pull, cpu);
        ring->target = trace_reader_head(&reader);
        if (ring->target == ring->head && trace_open_words(&reader) > 0)
            ring->target++;
    }
}

static void check_end(struct pull *pull)
{
    if (pull->reason == 0) {
        if (atomic_load(&is_leaving))
            pull->reason = WIRE_ENDED_GUEST;
        else if (atomic_load(&pull->asked))
            pull->reason = WIRE_ENDED_ASKED;
        else if (trace_info()->mask == 0)
            pull->reason = WIRE_ENDED_STOPPED;
        else
            return;
        set_targets(pull);
    }
}

static bool all_sent(const struct pull *pull)
{
    for (uint32_t cpu = 0; cpu < pull->cpu_count; cpu++)
        if (pull->ring[cpu].next < pull->ring[cpu].target)
            return false; /* drain_rings lowers a target that never existed: follow_repair */
    return pull->reason != 0;
}

/* One round over all CPUs. Returns true if anything was sent. */
static bool drain_rings(struct pull *pull)
{
    bool any = false;
    for (uint32_t cpu = 0; cpu < pull->cpu_count; cpu++) {
        struct ring_state *ring = &pull->ring[cpu];
        uint64_t now = clock_monotonic_ns();
        read_ring_counts(pull, cpu);
        for (uint32_t i = 0; i < ROUND_PACKETS; i++) {
            if ((pull->reason && ring->next >= ring->target) || !send_packet(pull, cpu, now))
                break;
            any = true;
        }
        give_back(pull, cpu, bytes_kept(pull)); /* less is kept when the rings get smaller, or are to */
        if (!pull->reason)
            flush_if_due(pull, cpu, now);
    }
    drain_end(&pull->drain, false);
    return any;
}

/* In mode flight no mark is reached, and packets that are not sent soon are overwritten. */
static bool must_poll(const struct pull *pull)
{
    return !pull->is_woken || pull->reason || trace_info()->mode == TRACE_MODE_FLIGHT;
}

static void wait_for_packets(struct pull *pull, uint64_t now)
{
    uint64_t until = now + LOOK_NS;
    if (must_poll(pull)) {
        until = now + (now - pull->packet_at < IDLE_AFTER_NS ? BUSY_WAIT_NS : IDLE_WAIT_NS);
    } else {
        for (uint32_t cpu = 0; cpu < pull->cpu_count; cpu++) {
            uint64_t flush = flush_time(pull, cpu);
            until = flush < until ? flush : until;
        }
    }
    sys_notification_wait(pull->wakeup, until);
}

/* Runs rounds until the end. Returns false if the link broke. */
static bool run_rounds(struct pull *pull)
{
    if (pull->reason)
        set_targets(pull);
    for (;;) {
        bool any = drain_rings(pull);
        uint64_t now = clock_monotonic_ns();
        if (pull->connection->broken)
            return false;
        if (is_changed(pull)) {
            if (follow_sizes(pull))
                continue;
            pull->reason = WIRE_ENDED_CHANGED;
            return true;
        }
        if (all_sent(pull))
            return true;
        check_end(pull);
        if (now - pull->status_at >= STATUS_NS) {
            pull->status_at = now;
            if (!send_status(pull) || !send_metadata(pull))
                return false;
        }
        if (!any)
            wait_for_packets(pull, now);
    }
}

static void *run_pull(void *argument)
{
    struct pull *pull = argument;
    pull->is_woken = sys_trace_control(SLOT_TRACE, TRACE_OP_SET_DRAIN, pull->wakeup, WAKE_LOW_WATER) >= 0;
    bool is_whole = begin_pull(pull) && run_rounds(pull);
    sys_trace_control(SLOT_TRACE, TRACE_OP_SET_DRAIN, pull->wakeup, 0);
    for (uint32_t cpu = 0; cpu < pull->cpu_count && !pull->connection->broken; cpu++)
        give_back(pull, cpu, 0);
    if (pull->restore_mode && trace_info()->mode == pull->request.mode)
        sys_trace_control(SLOT_TRACE, TRACE_OP_SET_MODE, pull->old_mode, 0);
    if (is_whole)
        (void)(send_metadata(pull) && send_final_status(pull) && send_end(pull->connection, pull->reason, 0));
    drain_end(&pull->drain, true);
    atomic_store(&pull->connection->is_pulling, false);
    pthread_mutex_lock(&owner_lock);
    atomic_store(&owner, NULL);
    pthread_mutex_unlock(&owner_lock);
    return NULL;
}

/* Changes nothing in the guest and does not affect another pull. */
static void *run_previous(void *argument)
{
    struct pull *pull = argument;
    int status = 0;
    if (send_previous(pull->connection, &pull->asked, &status))
        send_end(pull->connection, WIRE_ENDED_SNAPSHOT, 0);
    else if (status < 0)
        send_end(pull->connection, WIRE_ENDED_ERROR, status);
    atomic_store(&pull->connection->is_pulling, false);
    return NULL;
}

static void hang_up_owner(void)
{
    pthread_mutex_lock(&owner_lock);
    struct pull *other = atomic_load(&owner);
    if (other)
        other->connection->channel->hang_up(other->connection->channel);
    pthread_mutex_unlock(&owner_lock);
}

/* The previous pull may belong to a host that is gone and needs time to notice. A host that resumes has left
 * its old connection, so that one is closed. */
static bool become_owner(struct pull *pull)
{
    struct pull *other = NULL;
    uint64_t give_up = clock_monotonic_ns() + TAKE_OVER_NS;
    if (atomic_compare_exchange_strong(&owner, &other, pull))
        return true;
    if (pull->request.flags & WIRE_PULL_RESUME)
        hang_up_owner();
    while (clock_monotonic_ns() < give_up) {
        other = NULL;
        if (atomic_compare_exchange_strong(&owner, &other, pull))
            return true;
        sys_notification_wait(pull->wakeup, clock_monotonic_ns() + BUSY_WAIT_NS);
    }
    return false;
}

struct pull *start_pull(struct connection *connection, const struct wire_pull *request, const uint64_t *want)
{
    struct pull *pull = calloc(1, sizeof(*pull));
    int64_t wakeup = sys_notification_create();
    uint32_t reason = WIRE_ENDED_ERROR;
    if (pull && wakeup > 0) {
        pull->connection = connection;
        pull->request = *request;
        pull->wakeup = (cap_t)wakeup;
        pull->cpu_count = trace_info()->cpu_count;
        pull->geometry = settled_geometry();
        pull->generation = trace_info()->generation;
        pull->status_at = pull->packet_at = clock_monotonic_ns();
        memcpy(pull->want, want, sizeof(pull->want));
        bool previous = request->flags & WIRE_PULL_PREVIOUS;
        if (!previous && pull->generation != connection->generation)
            reason = WIRE_ENDED_CHANGED; /* what HELLO announced is outdated */
        else if (!previous && !become_owner(pull))
            reason = WIRE_ENDED_BUSY;
        else if (pthread_create(&pull->thread, NULL, previous ? run_previous : run_pull, pull) == 0)
            return pull;
        else if (!previous)
            atomic_store(&owner, NULL);
    }
    send_end(connection, reason,
             reason == WIRE_ENDED_BUSY    ? -E_BUSY
             : reason == WIRE_ENDED_ERROR ? -E_NO_MEMORY
                                          : 0);
    if (wakeup > 0)
        sys_cap_close((cap_t)wakeup);
    free(pull);
    return NULL;
}

void ask_end_of_pull(struct pull *pull)
{
    atomic_store(&pull->asked, true);
    sys_notification_signal(pull->wakeup, WAKE_END);
}

void finish_pull(struct pull *pull)
{
    ask_end_of_pull(pull);
    pthread_join(pull->thread, NULL);
    sys_cap_close(pull->wakeup);
    free(pull);
}

/* The host closes its connection when it has received END, so nothing is on its way any more. */
void say_goodbye(void)
{
    pthread_mutex_lock(&owner_lock);
    struct pull *pull = atomic_load(&owner);
    const struct connection *connection = pull ? pull->connection : NULL;
    atomic_store(&is_leaving, true);
    if (pull)
        ask_end_of_pull(pull);
    pthread_mutex_unlock(&owner_lock);
    uint64_t now = clock_monotonic_ns(), moved = now, sent = 0;
    while (connection && is_connected(connection) && now - moved < GOODBYE_NS) {
        sys_thread_sleep(now + BUSY_WAIT_NS);
        now = clock_monotonic_ns();
        moved = atomic_load_explicit(&bytes_sent, memory_order_relaxed) != sent ? now : moved;
        sent = atomic_load_explicit(&bytes_sent, memory_order_relaxed);
    }
}
