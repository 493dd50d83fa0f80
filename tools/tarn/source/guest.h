/*
 * guest.h - reads a trace from guest memory: guest.c finds and checks the store, guest_ring.c reads rings by
 * the rules of trace/ring/read_rules.h, guest_source.c makes a `struct source` of both.
 *
 * The memory may have the other byte order, may be a dump, which never changes, and may contain anything:
 * every address, size and count is checked before use.
 */
#pragma once

#include <tools/tarn/source/memory.h>
#include <trace/format/store.h>
#include <trace/ring/read.h>

struct guest {
    struct memory *memory;
    bool swap;                /* not in host byte order */
    struct trace_store store; /* in host byte order, checked; without extents */
    struct trace_extent *extents;
    uint64_t info;     /* physical address of the info page that belongs to this store; 0: none */
    uint64_t geometry; /* `geometry` of the info page when the store was read; see layout.h */
    bool is_between;   /* the store has old sizes, the info page new ones */
    bool broken;       /* existing memory could not be read; `fail` says why */
    struct fail fail;
};

/* Searches MEMORY, which remains the caller's, for the store of age AGE. False: FAIL. */
bool guest_open(struct guest *guest, struct memory *memory, uint32_t age, struct fail *fail);
void guest_close(struct guest *guest);
/* Whether the rings are written while they are read. Rings from before a reset are not. */
static inline bool guest_is_live(const struct guest *guest)
{
    return guest->memory->live && guest->store.age == 0;
}
/*
 * Checks live memory for changes.
 *
 *     - GROWN: open the rings again; there may be more metadata.
 *     - ENDED: the system that wrote this panicked, shut down or rebooted; the rings still have its packets.
 *     - RESIZED: the same with other sizes; the packets keep their numbers.
 *     - CHANGED: rings were cleared; packets from before and after do not belong together.
 */
enum guest_change { GUEST_SAME, GUEST_GROWN, GUEST_RESIZED, GUEST_ENDED, GUEST_CHANGED };
enum guest_change guest_look(struct guest *guest);
/* Returns the metadata, which the caller frees; NULL: none yet, or invalid. */
char *guest_metadata(struct guest *guest, size_t *size);
/* Live memory: whether the rings were cleared or resized since the store was read. If not, everything copied
 * before the call is valid. */
bool guest_is_changed(struct guest *guest);
/* 0: no info page. */
uint64_t guest_info64(struct guest *guest, size_t offset);

static inline uint32_t guest_32(const struct guest *guest, uint32_t value)
{
    return guest->swap ? __builtin_bswap32(value) : value;
}

static inline uint64_t guest_64(const struct guest *guest, uint64_t value)
{
    return guest->swap ? __builtin_bswap64(value) : value;
}

/* The guest whose memory SOURCE reads. NULL: FAIL: its rings no longer belong to the system that was opened.
 */
struct source;
struct guest *guest_of_source(struct source *source, struct fail *fail);

struct guest_ring {
    struct guest *guest;
    uint32_t cpu;
    uint64_t index;     /* the last plausible one; if memory is not live, the only one */
    bool index_is_good; /* the control page has an index that leads to a packet */
    /* `index` was derived from packet headers, because the control page's is wrong */
    bool index_is_guessed;
    const struct trace_extent *extents; /* of the control page and the buffers */
    size_t extent_count;
    struct trace_eras eras; /* when the ring was opened */
};

/* False: FAIL says what is missing. Call it again when the store has grown. */
bool guest_ring_open(struct guest_ring *ring, struct guest *guest, uint32_t cpu, struct fail *fail);
/* Returns the place (memory_range) of byte OFFSET of the ring's control page or buffers. */
uint64_t guest_ring_place(const struct guest_ring *ring, uint64_t offset);
/* Returns the number of the packet being written; for a full ring, of the next one once there is space. */
uint64_t guest_ring_head(struct guest_ring *ring);
/* Whether the index says that packet HEAD, which is being written, has events. */
bool guest_ring_has_open(struct guest_ring *ring, uint64_t head);
/* If it has: whether a writer has finished one. Otherwise nothing has been logged there. */
bool guest_ring_has_logged(struct guest_ring *ring, uint64_t head);
/* Returns the number of the oldest packet that was not overwritten. */
uint64_t guest_ring_oldest(struct guest_ring *ring);
/* Returns the number of the oldest packet in the newer three quarters of the ring. */
uint64_t guest_ring_kept(struct guest_ring *ring);
/* Returns the number of the oldest packet that may still be there, even if it was consumed. */
uint64_t guest_ring_tail(struct guest_ring *ring);
/* Returns a word of the ring: at TRACE_CONTROL_AT(discarded), for example. */
uint64_t guest_ring_load(struct guest_ring *ring, uint64_t offset);
/* See trace_reader_events_before(). */
uint64_t guest_ring_events_before(struct guest_ring *ring, uint64_t number);
/* Whether a packet lies where `index` says. */
bool guest_ring_has_packet(struct guest_ring *ring);

/* Returns how many bytes of its CPU's tables of counters the store describes; 0: none. */
uint64_t guest_ring_tables_bytes(const struct guest_ring *ring);
/* Copies the first BYTES of them, in the guest's byte order. Live memory: in the order in which rows are read
 * (wire.h, WIRE_OP_TABLES). */
void guest_ring_copy_tables(struct guest_ring *ring, void *to, uint64_t bytes);

/* Copy a packet, at most TRACE_BUFFER_BYTES_MAX, in the guest's byte order; see trace_packet_copy,
 * trace_packet_cut, trace_packet_snapshot and, for memory that is not live, trace_packet_salvage in
 * trace/ring/read.h. */
enum trace_packet_state guest_packet_copy(struct guest_ring *ring, uint64_t number, void *copy);
bool guest_packet_cut(struct guest_ring *ring, uint64_t number, void *copy);
bool guest_packet_snapshot(struct guest_ring *ring, uint64_t *number, void *copy);
