/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * guest_open.c - opens the trace in guest memory as a source, of the running system or the previous boot:
 * its HELLO, rings, and metadata.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <tools/tarn/source/guest_source.h>

static void fill_hello(struct guest_source *guest)
{
    struct wire_hello *hello = &guest->source.hello;

    wire_hello_of_store(hello, &guest->guest.store,
                        (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) != guest->guest.swap);
    hello->mask = guest_info64(&guest->guest, offsetof(struct trace_info, mask));
}

bool guest_read_metadata(struct guest_source *guest, struct fail *fail)
{
    guest->metadata_sent = false;
    free(guest->metadata);
    guest->metadata = guest_metadata(&guest->guest, &guest->metadata_size);
    return guest->metadata != NULL
               ? check_metadata(&guest->source.hello, guest->metadata, guest->metadata_size, fail)
               : fail_set(fail, "the guest's memory has no metadata");
}

bool guest_open_rings(struct guest_source *guest, struct fail *fail)
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

void guest_source_close(struct source *source)
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
    fill_hello(guest);
    if (!check_hello(&guest->source.hello, fail))
        return false;
    free(guest->copy);
    guest->copy = alloc_zero(1, TRACE_BUFFER_BYTES_MAX);
    return guest_open_rings(guest, fail) && guest_read_metadata(guest, fail);
}

static struct source *try_open(const struct source_class *class, const char *address, struct fail *fail)
{
    struct guest_source *guest = alloc_zero(1, sizeof(*guest));

    guest->source.class = class;
    guest->memory = memory_open(class->memory, address, fail);
    if (guest->memory && guest_open(&guest->guest, guest->memory, 0, fail) && prepare(guest, fail))
        return &guest->source;
    guest_source_close(&guest->source);
    return NULL;
}

struct source *open_guest(const struct source_class *class, const char *address, double wait_seconds,
                          struct fail *fail)
{
    double until = now_seconds() + wait_seconds;

    for (;;) {
        struct source *source = try_open(class, address, fail);
        if (source || now_seconds() >= until)
            return source;
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    }
}

bool guest_turn_to_previous(struct guest_source *guest, struct fail *fail)
{
    guest_close(&guest->guest);
    memset(guest->drain, 0, sizeof(guest->drain));
    return guest_open(&guest->guest, guest->memory, 1, fail) && prepare(guest, fail);
}
