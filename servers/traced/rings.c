/* rings.c - access to the trace in shared memory and by system calls: info page, rings, control, metadata. */
#include "traced.h"
#include <arch/runtime.h>
#include <arch/trace.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tarn/runtime.h>
#include <tarn/trace_control.h>
#include <trace/event/schemas.h>
#include <trace/event/sizes.h>
#include <trace/format/store.h>
#include <trace/trace.h>
#include <unistd.h>

_Static_assert(WIRE_CLASSES == TRACE_CLASS_COUNT && WIRE_CPUS_MAX == TRACE_CPUS_MAX, "the link carries all");

#define METADATA_BYTES_MAX (8u << 20)

const struct trace_info *trace_info(void)
{
    return arch_trace_info();
}

struct trace_reader ring_of(uint32_t cpu)
{
    const uint64_t ring = USER_TRACE_RINGS + ((uint64_t)cpu << TRACE_RING_SHIFT);
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
                                    .discarded = trace_reader_load(&ring, TRACE_CONTROL_AT(discarded)),
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
    const uint64_t ring = USER_TRACE_RINGS + ((uint64_t)cpu << TRACE_RING_SHIFT);
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

/* ---- marks ----------------------------------------------------------------------------------------- */

static uint32_t own_tid(void)
{
    return arch_thread_block()->tid;
}

void drain_begin(struct drain *drain, uint32_t cpu)
{
    if (drain->is_marked)
        return;
    *drain = (struct drain){.is_marked = true, .has_begun = true};
    trace_trace_drain_begin(own_tid(), cpu);
}

void drain_count(struct drain *drain, size_t bytes)
{
    drain->packets++;
    drain->bytes += bytes;
}

void drain_end(struct drain *drain, bool is_last)
{
    if (drain->is_marked || (is_last && drain->has_begun))
        trace_trace_drain_end(own_tid(), is_last, drain->packets, drain->bytes);
    drain->is_marked = false;
    drain->packets = drain->bytes = 0;
}

/* ---- control --------------------------------------------------------------------------------------- */

static int64_t control(uint32_t operation, uint64_t a, uint64_t b)
{
    return sys_trace_control(SLOT_TRACE, operation, a, b);
}

struct answer {
    struct trace_settings settings; /* first: print finds the others */
    char *to;
    size_t size;
};

static void print(struct trace_settings *settings, const char *format, ...)
{
    struct answer *answer = (struct answer *)settings;
    const size_t free = COMMAND_BYTES_MAX - answer->size;
    va_list arguments;
    va_start(arguments, format);
    const size_t length = (size_t)vsnprintf(answer->to + answer->size, free, format, arguments);
    va_end(arguments);
    answer->size += length < free ? length : free - 1;
}

/* A running pull still sends what clearing would discard. */
static int64_t control_command(uint32_t operation, uint64_t a, uint64_t b)
{
    if (operation == TRACE_OP_SET_GEOMETRY)
        return trace_set_sizes(SLOT_TRACE, a, b);
    return operation == TRACE_OP_CLEAR && pull_is_running() ? -E_BUSY : control(operation, a, b);
}

/* Other connections may use the schemas at the same time. New sizes need none, and may have to wait for a
 * pull whose host asks for something else meanwhile. */
int64_t run_command(char *text, uint8_t *to, size_t *size)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    struct answer answer = {.to = (char *)to};
    char *words[TRACE_COMMAND_WORDS_MAX + 1] = {0};
    uint32_t count = 0;
    for (char *end; text != NULL && count < TRACE_COMMAND_WORDS_MAX; text = end != NULL ? end + 1 : NULL) {
        if ((end = strchr(text, '\n')) != NULL)
            *end = '\0';
        words[count++] = text;
    }
    const bool needs_schemas = strcmp(words[0], "buffers") != 0;
    if (needs_schemas) {
        pthread_mutex_lock(&lock);
        trace_schemas_load(SLOT_TRACE);
    }
    trace_settings_open(&answer.settings);
    answer.settings.control = control_command;
    answer.settings.print = print;
    int64_t status = trace_command_run(&answer.settings, count, words);
    if (needs_schemas)
        pthread_mutex_unlock(&lock);
    if (status)
        print(&answer.settings, "%s", answer.settings.error);
    *size += answer.size;
    return status;
}

int64_t put_lock_classes(uint8_t *to)
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
    return bytes < 0 ? bytes : at - to;
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
