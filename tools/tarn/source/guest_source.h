/* guest_source.h - sources that read guest memory: what tables/routines_memory.c needs of them. */
#pragma once

#include <tools/tarn/source/guest.h>
#include <tools/tarn/source/source.h>

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

/* Checks that the rings still belong to the system that was opened. False: FAIL. */
bool guest_is_same_system(struct guest_source *guest, struct fail *fail);
