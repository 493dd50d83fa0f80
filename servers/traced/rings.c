/* SPDX-License-Identifier: BSD-2-Clause */
/* rings.c - access to the trace in shared memory and by system calls: info page, rings, control, metadata. */
#include "traced.h"
#include <arch/trace.h>
#include <stdlib.h>
#include <string.h>
#include <tarn/runtime.h>
#include <tarn/trace_control.h>
#include <trace/event/schemas.h>
#include <trace/event/sizes.h>
#include <trace/format/store.h>
#include <unistd.h>

_Static_assert(WIRE_CLASSES == TRACE_CLASS_COUNT && WIRE_CPUS_MAX == TRACE_CPUS_MAX, "the link carries all");

#ifndef TRACED_RINGS /* replaced in the unit test */
#define TRACED_RINGS USER_TRACE_RINGS
#endif
#define METADATA_BYTES_MAX (8u << 20)

const struct trace_info *trace_info(void)
{
    return arch_trace_info();
}

struct trace_reader ring_of(uint32_t cpu)
{
    const uint64_t ring = TRACED_RINGS + ((uint64_t)cpu << TRACE_RING_SHIFT);
    return trace_reader_open(trace_info(), (const char *)(uintptr_t)ring, cpu, 0);
}

uint64_t settled_geometry(void)
{
    uint64_t geometry;

    while (trace_geometry_is_changing(geometry = trace_geometry_of(trace_info())))
        usleep(1000); /* another program's system call is changing them */
    return geometry;
}

/* Differs between boots, and between instances of traced. */
static uint64_t boot_id(void)
{
    static _Atomic uint64_t id;
    uint64_t none = 0;

    if (atomic_load(&id) == 0)
        atomic_compare_exchange_strong(&id, &none,
                                       ((uint64_t)clock_realtime_ns() ^ arch_trace_clock() << 20) | 1);
    return atomic_load(&id);
}

void get_hello(struct wire_hello *hello)
{
    const struct trace_info *info = trace_info();
    const uint64_t geometry = settled_geometry();

    *hello = (struct wire_hello){
        .version = WIRE_VERSION,
        .byte_order = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? 1 : 2,
        .cpu_count = info->cpu_count,
        .mode = info->mode,
        .buffer_bytes = trace_geometry_words(geometry) * 8,
        .buffer_count = trace_geometry_buffers(geometry),
        .clock_hz = info->clock_hz,
        .clock_offset_ns = info->clock_offset_ns,
        .mask = info->mask,
        .boot_id = boot_id(),
        .generation = info->generation,
        .flags = (pull_is_running() ? WIRE_HELLO_PULLING : 0) | (has_previous() ? WIRE_HELLO_PREVIOUS : 0),
        .machine = TARN_MACHINE,
    };
    memcpy(hello->uuid, info->uuid, sizeof(hello->uuid));
}

size_t put_statistics(uint8_t *to)
{
    const struct trace_info *info = trace_info();
    struct wire_hello hello;
    uint8_t *at = to;

    get_hello(&hello);
    wire_put_hello(at, &hello);
    wire_put32(at + WIRE_HELLO_BYTES, info->cpu_count);
    wire_put32(at + WIRE_HELLO_BYTES + 4, __atomic_load_n(&info->low_water, __ATOMIC_RELAXED));
    at += WIRE_HELLO_BYTES + 8;
    for (uint32_t cpu = 0; cpu < info->cpu_count; cpu++, at += WIRE_CPU_STATUS_BYTES) {
        struct trace_reader ring = ring_of(cpu);
        wire_put_cpu_status(at, &(struct wire_cpu_status){
                                    .next = __atomic_load_n(&info->consumed[cpu], __ATOMIC_RELAXED),
                                    .head = trace_reader_head(&ring),
                                    .discarded = trace_reader_discarded(&ring),
                                    .torn = trace_reader_torn(&ring),
                                    .events = trace_reader_events_before(&ring, trace_reader_head(&ring)),
                                });
    }
    for (uint32_t class = 0; class < TRACE_CLASS_COUNT; class ++, at += 8)
        wire_put64(at, __atomic_load_n(&info->switches[class], __ATOMIC_RELAXED));
    return (size_t)(at - to);
}

uint64_t tables_bytes(void)
{
    const uint64_t bytes = __atomic_load_n(&trace_info()->table_bytes, __ATOMIC_RELAXED);
    return bytes < TRACE_TABLES_BYTES_MAX ? bytes : TRACE_TABLES_BYTES_MAX;
}

/* From the last word to the first: a row's `ended` is read before its columns, and `begun` after them. Each
 * load is ordered before the next; pairs with trace_row_begin() and trace_row_end(). */
void copy_tables(uint8_t *to, uint32_t cpu, uint64_t bytes)
{
    const uint64_t ring = TRACED_RINGS + ((uint64_t)cpu << TRACE_RING_SHIFT);
    const uint64_t *from = (const uint64_t *)(uintptr_t)(ring + TRACE_TABLES_OFFSET);

    for (uint64_t word = bytes / 8; word-- > 0;) {
        const uint64_t value = __atomic_load_n(&from[word], __ATOMIC_ACQUIRE);
        memcpy(to + 8 * word, &value, sizeof(value));
    }
}

size_t put_packet_header(uint8_t *payload, const struct trace_reader *reader, uint64_t number)
{
    const struct trace_packet *packet = (const void *)(payload + WIRE_PACKET_BYTES);
    uint64_t content = packet->content_size / 8, whole = packet->packet_size / 8;

    wire_put32(payload, reader->cpu);
    wire_put32(payload + 4, packet->flags);
    wire_put64(payload + 8, number);
    return WIRE_PACKET_BYTES + (content + 8 < whole ? content + 8 : whole);
}

/* ---- control --------------------------------------------------------------------------------------- */

static int64_t control(uint32_t operation, uint64_t a, uint64_t b)
{
    return sys_trace_control(SLOT_TRACE, operation, a, b);
}

/* Switches or limits the events with these names. Other connections may do the same. */
static int64_t set_events(const struct wire_request *request)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    const char *bad;

    pthread_mutex_lock(&lock);
    trace_schemas_load(SLOT_TRACE);
    int64_t status = request->operation == WIRE_OP_SWITCH_EVENTS
                         ? trace_switch(SLOT_TRACE, request->text, request->a != 0, &bad)
                         : trace_limit(SLOT_TRACE, request->text, request->operation == WIRE_OP_SET_THRESHOLD,
                                       request->a, &bad);
    pthread_mutex_unlock(&lock);
    return status;
}

int64_t control_trace(const struct wire_request *request)
{
    static _Atomic uint64_t last_mask; /* before tracing was last stopped */
    uint64_t mask = trace_info()->mask, last = atomic_load(&last_mask);

    switch (request->operation) {
    case WIRE_OP_SET_MASK:
        return control(TRACE_OP_SET_MASK, request->a, 0);
    case WIRE_OP_SET_MODE:
        return control(TRACE_OP_SET_MODE, request->a, 0);
    case WIRE_OP_SWITCH_EVENTS:
    case WIRE_OP_SAMPLE_EVENTS:
    case WIRE_OP_SET_THRESHOLD:
        return set_events(request);
    case WIRE_OP_SET_GEOMETRY:
        return trace_set_sizes(SLOT_TRACE,
                               request->a || !request->b ? request->a : trace_buffer_bytes(trace_info()),
                               request->b);
    case WIRE_OP_SET_LOW_WATER:
        return control(TRACE_OP_SET_LOW_WATER, request->a, 0);
    case WIRE_OP_CLEAR:
        return pull_is_running() ? -E_BUSY : control(TRACE_OP_CLEAR, 0, 0);
    case WIRE_OP_START:
        return mask ? 0 : control(TRACE_OP_SET_MASK, last ? last : ~0ull, 0);
    case WIRE_OP_STOP:
        if (mask)
            atomic_store(&last_mask, mask);
        return control(TRACE_OP_SET_MASK, 0, 0);
    case WIRE_OP_STATEDUMP:
        return control(TRACE_OP_STATEDUMP, 0, 0);
    case WIRE_OP_DROP_PREVIOUS:
        return control(TRACE_OP_DROP_PREVIOUS, 0, 0);
    case WIRE_OP_SET_PROFILE:
        return control(TRACE_OP_SET_PROFILE, request->a, request->b);
    case WIRE_OP_SET_PROFILES:
        return control(TRACE_OP_SET_PROFILES, request->a, 0);
    case WIRE_OP_BIND_COUNTERS:
        return control(TRACE_OP_BIND_COUNTERS, request->a, 0);
    case WIRE_OP_SAMPLE_LOCKS:
        return control(TRACE_OP_SAMPLE_LOCKS, request->a, request->b);
    case WIRE_OP_FLUSH:
        return control(TRACE_OP_FLUSH, ~0ull, 0);
    default:
        return -E_BAD_ARGUMENT;
    }
}

int64_t put_lock_classes(uint8_t *to, size_t *size)
{
    struct system_lock_class classes[WIRE_LOCK_CLASSES_MAX];
    int64_t bytes = sys_system_read(SYSTEM_LOCK_CLASSES, 0, classes, sizeof(classes));
    uint32_t count = bytes < 0 ? 0 : (uint32_t)((uint64_t)bytes / sizeof(classes[0]));
    uint8_t *at = to + 8;

    wire_put32(to, count);
    wire_put32(to + 4, 0);
    for (uint32_t i = 0; i < count; i++, at += WIRE_LOCK_CLASS_BYTES) {
        wire_put32(at, classes[i].number);
        wire_put32(at + 4, classes[i].sample_every);
        wire_put64(at + 8, classes[i].contended);
        memcpy(at + 16, classes[i].name, WIRE_LOCK_NAME_BYTES);
    }
    *size += (size_t)(at - to);
    return bytes < 0 ? bytes : 0;
}

int64_t put_counters(uint8_t *to, size_t *size)
{
    struct system_counter counters[WIRE_COUNTERS_MAX];
    int64_t bytes = sys_system_read(SYSTEM_COUNTERS, 0, counters, sizeof(counters));
    uint32_t count = bytes < 0 ? 0 : (uint32_t)((uint64_t)bytes / sizeof(counters[0]));
    uint8_t *at = to + 8;

    wire_put32(to, count);
    wire_put32(to + 4, 0);
    for (uint32_t i = 0; i < count; i++, at += WIRE_COUNTER_BYTES) {
        wire_put32(at, counters[i].number);
        wire_put32(at + 4, counters[i].bits);
        wire_put32(at + 8, counters[i].slot);
        wire_put32(at + 12, counters[i].samples);
        _Static_assert(sizeof(counters[i].name) == WIRE_COUNTER_NAME_BYTES, "the same text");
        memcpy(at + 16, counters[i].name, WIRE_COUNTER_NAME_BYTES);
    }
    if (!count) {
        memset(at, 0, WIRE_COUNTER_REASON_BYTES);
        sys_system_read(SYSTEM_COUNTERS_MISSING, 0, at, WIRE_COUNTER_REASON_BYTES - 1);
        at += WIRE_COUNTER_REASON_BYTES;
    }
    *size += (size_t)(at - to);
    return bytes < 0 ? bytes : 0;
}

/* ---- metadata -------------------------------------------------------------------------------------- */

/* The text may grow while it is read, so reading is repeated with larger buffers until it fits. When rings
 * start over, text may also be removed; then the pieces do not belong together and are read again. */
char *read_metadata(size_t *size)
{
    uint64_t geometry = settled_geometry();
    for (size_t capacity = 256u << 10; capacity <= METADATA_BYTES_MAX;) {
        char *text = malloc(capacity + 8);
        size_t got = 0;
        int64_t more = text ? 1 : 0;
        while (more > 0 && got < capacity) {
            more = sys_trace_metadata(SLOT_TRACE, TRACE_METADATA_TEXT, got, text + got, capacity - got);
            got += more > 0 ? (size_t)more : 0;
        }
        bool is_one = trace_geometry_of(trace_info()) == geometry;
        if (text && more == 0 && got > 0 && is_one) {
            while (got % 8 != 0)
                text[got++] = '\n';
            *size = got;
            return text;
        }
        free(text);
        if (is_one)
            capacity *= 2;
        geometry = settled_geometry();
    }
    return NULL;
}
