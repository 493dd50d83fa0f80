/*
 * guest_control.c - replies to requests from guest memory: those that only read. guest_source.c pulls.
 */
#include <string.h>
#include <tarn/error.h>
#include <tools/tarn/source/guest_source.h>

static struct guest_source *guest_of(struct source *source)
{
    return (struct guest_source *)source;
}

static size_t fill_statistics(struct guest_source *guest)
{
    uint8_t *to = guest->statistics;
    uint32_t count = guest->source.hello.cpu_count;
    wire_put_hello(to, &guest->source.hello);
    wire_put32(to + WIRE_HELLO_BYTES, count);
    wire_put32(to + WIRE_HELLO_BYTES + 4,
               guest_info32(&guest->guest, offsetof(struct trace_info, low_water)));
    to += WIRE_HELLO_BYTES + 8;
    for (uint32_t cpu = 0; cpu < count; cpu++, to += WIRE_CPU_STATUS_BYTES) {
        struct wire_cpu_status status;
        guest_fill_status(guest, &status, cpu);
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
    if (!guest_turn_to_previous(guest, fail))
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

bool guest_is_same_system(struct guest_source *guest, struct fail *fail)
{
    switch (guest_is_live(&guest->guest) ? guest_look(&guest->guest) : GUEST_SAME) {
    case GUEST_SAME:
        return true;
    case GUEST_CHANGED:
        return fail_set(fail, "the guest was started again, or its rings were cleared, meanwhile; try again");
    default:
        return guest_open_rings(guest, fail);
    }
}

/* The clock cannot be read from outside. */
static bool fill_tables(struct guest_source *guest, uint64_t cpu, int32_t *status, size_t *size,
                        struct fail *fail)
{
    *size = 0;
    if (!guest_is_same_system(guest, fail))
        return false;
    if (cpu >= guest->source.hello.cpu_count) {
        *status = -E_BAD_ARGUMENT;
        return true;
    }
    struct guest_ring *ring = &guest->drain[cpu].ring;
    uint64_t bytes = guest_ring_tables_bytes(ring);
    if (guest->tables == NULL)
        guest->tables = alloc_zero(1, WIRE_TABLES_CLOCK_BYTES + TRACE_CONTROL_OFFSET - TRACE_TABLES_OFFSET);
    guest_ring_copy_tables(ring, guest->tables + WIRE_TABLES_CLOCK_BYTES, bytes);
    *size = WIRE_TABLES_CLOCK_BYTES + bytes;
    return !guest->guest.broken || fail_set(fail, "%s", guest->guest.fail.text);
}

enum source_got guest_control(struct source *source, const struct wire_request *request, int32_t *status,
                              const uint8_t **data, size_t *size, struct fail *fail)
{
    struct guest_source *guest = guest_of(source);
    *status = 0;
    *data = guest->statistics;
    switch (request->operation) {
    case WIRE_OP_STATISTICS:
        *size = fill_statistics(guest);
        return SOURCE_ITEM;
    case WIRE_OP_PREVIOUS:
        *size = WIRE_PREVIOUS_BYTES;
        return fill_previous(guest, fail) ? SOURCE_ITEM : SOURCE_BROKEN;
    case WIRE_OP_METADATA:
        *data = (const uint8_t *)guest->metadata;
        *size = guest->metadata_size;
        return SOURCE_ITEM;
    case WIRE_OP_TABLES:
        if (!fill_tables(guest, request->a, status, size, fail))
            return SOURCE_BROKEN;
        *data = guest->tables;
        return SOURCE_ITEM;
    default:
        fail_set(fail, "guest memory is only read, never changed: this requires a link to the guest");
        return SOURCE_BROKEN;
    }
}
