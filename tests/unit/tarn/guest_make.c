/* SPDX-License-Identifier: BSD-2-Clause */
/* guest_make.c - see guest_make.h. */
#include "guest_make.h"
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <trace/events.h>
#include <trace/format/metadata.h>
#include <unistd.h>

_Static_assert(TRACE_TABLES_BYTES >= 2 * 4096, "two extents");

#define METADATA_AT 0x10000u
#define RINGS_AT    0x200000u
#define RING_BYTES  (MAKE_BUFFER_BYTES * MAKE_BUFFERS)
#define WINDOW      (2 * RING_BYTES) /* capacity for one ring */
#define WORDS       (MAKE_BUFFER_BYTES / 8)
#define EVENT_WORDS 3u
#define TABLES_AT   0x280000u
#define TABLES_HALF (TRACE_TABLES_BYTES / 8192 * 4096) /* whole pages */

static bool foreign(const struct made *made)
{
    return made->big == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
}

void put32(const struct made *made, void *at, uint32_t value)
{
    value = foreign(made) ? __builtin_bswap32(value) : value;
    memcpy(at, &value, sizeof(value));
}

void put64(const struct made *made, void *at, uint64_t value)
{
    value = foreign(made) ? __builtin_bswap64(value) : value;
    memcpy(at, &value, sizeof(value));
}

uint64_t get64(const struct made *made, const void *at)
{
    uint64_t value;
    memcpy(&value, at, sizeof(value));
    return foreign(made) ? __builtin_bswap64(value) : value;
}

#define PUT(made, pointer, type, field, value)                                                           \
    (sizeof(((type *)0)->field) == 8 ? put64(made, (pointer) + offsetof(type, field), (uint64_t)(value)) \
                                     : put32(made, (pointer) + offsetof(type, field), (uint32_t)(value)))

uint8_t *made_control(struct made *made, uint32_t cpu)
{
    return made->ram + RINGS_AT + cpu * WINDOW + RING_BYTES;
}

/* The halves of a ring are swapped in memory. */
static uint64_t place_in_ring(uint64_t number)
{
    return (number % MAKE_BUFFERS ^ MAKE_BUFFERS / 2) * MAKE_BUFFER_BYTES;
}

uint8_t *made_packet(struct made *made, uint32_t cpu, uint64_t number)
{
    return made->ram + RINGS_AT + cpu * WINDOW + place_in_ring(number);
}

uint8_t *made_store(struct made *made)
{
    return made->ram + (made->store_at - made->base);
}

uint8_t *made_table_word(struct made *made, uint32_t cpu, uint64_t word)
{
    const uint64_t at = 8 * word, rest = TRACE_TABLES_BYTES - TABLES_HALF;

    return made->ram + TABLES_AT + cpu * TRACE_TABLES_BYTES +
           (at < TABLES_HALF ? rest + at : at - TABLES_HALF);
}

uint64_t made_id(uint32_t cpu, uint64_t number, uint32_t event)
{
    return (uint64_t)cpu << 32 | number << 16 | event;
}

void make_index(struct made *made, uint32_t cpu, uint64_t index)
{
    PUT(made, made_control(made, cpu), struct trace_control, index,
        trace_index_at(index & ~TRACE_INDEX_CLOSED, 0) | (index & TRACE_INDEX_CLOSED));
}

static void put_event(const struct made *made, uint8_t *at, uint32_t id, uint32_t length, uint64_t time)
{
    put32(made, at, made->big ? id << 10 | length : length << 22 | id);
    put32(made, at + 4, (uint32_t)time);
}

void make_packet(struct made *made, uint32_t cpu, uint64_t number, enum made_state state)
{
    static const uint8_t uuid[16] = TRACE_SCHEMA_UUID_BYTES;
    uint8_t *packet = made_packet(made, cpu, number);
    uint64_t time = number << 20, words = TRACE_PACKET_WORDS;

    PUT(made, packet, struct trace_packet, magic, TRACE_CTF_MAGIC);
    PUT(made, packet, struct trace_packet, stream_id, 0);
    memcpy(packet + offsetof(struct trace_packet, uuid), uuid, sizeof(uuid));
    PUT(made, packet, struct trace_packet, timestamp_begin, time);
    PUT(made, packet, struct trace_packet, packet_size, MAKE_BUFFER_BYTES * 8);
    PUT(made, packet, struct trace_packet, events_discarded, 0);
    PUT(made, packet, struct trace_packet, packet_seq_num, number);
    PUT(made, packet, struct trace_packet, events_before, number * (1 + MAKE_EVENTS));
    PUT(made, packet, struct trace_packet, cpu_id, cpu);
    PUT(made, packet, struct trace_packet, flags, 0);
    put_event(made, packet + words * 8, TRACE_ID(0, TRACE_MINOR_CONTEXT), TRACE_CONTEXT_WORDS, time);
    put32(made, packet + words * 8 + 8, 1);
    put32(made, packet + words * 8 + 12, 2 + cpu);
    memcpy(packet + words * 8 + 16, "made for a test", 16);
    words += TRACE_CONTEXT_WORDS;
    for (uint32_t i = 0; i < MAKE_EVENTS; i++, words += EVENT_WORDS) {
        if (state == MADE_TORN && i == MAKE_EVENTS / 2)
            continue; /* keeps the old words */
        put_event(made, packet + words * 8, TRACE_ID(17, 4), EVENT_WORDS, ++time);
        put64(made, packet + words * 8 + 8, made_id(cpu, number, i));
        put64(made, packet + words * 8 + 16, ~made_id(cpu, number, i));
    }
    PUT(made, packet, struct trace_packet, committed,
        state == MADE_OPEN ? words : WORDS - (state == MADE_TORN) * EVENT_WORDS);
    if (state == MADE_OPEN) {
        make_index(made, cpu, number * WORDS + words);
        return;
    }
    put_event(made, packet + words * 8, TRACE_ID(0, TRACE_MINOR_END), 1, ++time);
    put_event(made, packet + words * 8 + 8, TRACE_ID(0, TRACE_MINOR_FILLER), 0, time);
    PUT(made, packet, struct trace_packet, timestamp_end, time);
    PUT(made, packet, struct trace_packet, content_size, (words + 1) * 64);
}

static uint64_t make_metadata(struct made *made)
{
    const struct trace_metadata_values values = {.byte_order = made->big ? "be" : "le",
                                                 .hostname = "made",
                                                 .architecture = "test",
                                                 .cpu_count = MAKE_CPUS,
                                                 .clock_hz = 1000000000};
    return trace_metadata_expand((char *)made->ram + METADATA_AT, MAKE_STORE_AT - METADATA_AT,
                                 trace_metadata_template, trace_metadata_template_size, &values);
}

static void make_info(struct made *made)
{
    static const uint8_t uuid[16] = TRACE_SCHEMA_UUID_BYTES;
    uint8_t *info = made->ram + MAKE_INFO_AT;

    PUT(made, info, struct trace_info, mask, ~0ull);
    PUT(made, info, struct trace_info, magic, TRACE_INFO_MAGIC);
    PUT(made, info, struct trace_info, version, TRACE_INFO_VERSION);
    PUT(made, info, struct trace_info, cpu_count, MAKE_CPUS);
    PUT(made, info, struct trace_info, buffer_mask, WORDS - 1);
    PUT(made, info, struct trace_info, buffer_count, MAKE_BUFFERS);
    PUT(made, info, struct trace_info, generation, 1);
    memcpy(info + offsetof(struct trace_info, uuid), uuid, sizeof(uuid));
}

void seal_store(struct made *made)
{
    uint8_t *store = made_store(made);
    uint32_t bytes;

    memcpy(&bytes, store + offsetof(struct trace_store, bytes), sizeof(bytes));
    bytes = foreign(made) ? __builtin_bswap32(bytes) : bytes;
    if (bytes < sizeof(struct trace_store) || bytes > TRACE_STORE_BYTES_MAX)
        bytes = sizeof(struct trace_store);
    PUT(made, store, struct trace_store, checksum, trace_store_checksum(store, bytes));
}

static void add_extent(struct made *made, uint32_t number, uint32_t kind, uint64_t offset, uint64_t physical,
                       uint64_t bytes)
{
    uint8_t *extent = made_store(made) + sizeof(struct trace_store) + number * sizeof(struct trace_extent);

    PUT(made, extent, struct trace_extent, physical, physical);
    PUT(made, extent, struct trace_extent, offset, offset);
    PUT(made, extent, struct trace_extent, bytes, bytes);
    PUT(made, extent, struct trace_extent, kind, kind & 0xff);
    PUT(made, extent, struct trace_extent, number, kind >> 8);
}

/* Returns how many extents there are then. */
static uint32_t add_tables(struct made *made, uint32_t extents)
{
    const uint64_t rest = TRACE_TABLES_BYTES - TABLES_HALF;

    for (uint32_t cpu = 0; cpu < MAKE_CPUS && made->has_tables; cpu++) {
        const uint64_t at = made->base + TABLES_AT + cpu * TRACE_TABLES_BYTES;
        const uint32_t kind = TRACE_EXTENT_RING | cpu << 8;
        add_extent(made, extents++, kind, TRACE_TABLES_OFFSET + TABLES_HALF, at, rest);
        add_extent(made, extents++, kind, TRACE_TABLES_OFFSET, at + rest, TABLES_HALF);
    }
    return extents;
}

void make_store(struct made *made, uint32_t age)
{
    static const uint8_t uuid[16] = TRACE_SCHEMA_UUID_BYTES;
    uint8_t *store = made_store(made);
    uint32_t extents = 0;

    add_extent(made, extents++, TRACE_EXTENT_METADATA, 0, made->base + METADATA_AT, make_metadata(made));
    for (uint32_t cpu = 0; cpu < MAKE_CPUS; cpu++) {
        uint64_t ring = made->ring_base + RINGS_AT + cpu * WINDOW;
        uint32_t kind = TRACE_EXTENT_RING | cpu << 8;
        add_extent(made, extents++, kind, TRACE_CONTROL_OFFSET, ring + RING_BYTES, 4096);
        add_extent(made, extents++, kind, TRACE_BUFFERS_OFFSET, ring + RING_BYTES / 2, RING_BYTES / 2);
        add_extent(made, extents++, kind, TRACE_BUFFERS_OFFSET + RING_BYTES / 2, ring, RING_BYTES / 2);
    }
    extents = add_tables(made, extents);
    PUT(made, store, struct trace_store, magic, TRACE_STORE_MAGIC);
    PUT(made, store, struct trace_store, self, made->store_at);
    PUT(made, store, struct trace_store, changes, 8);
    PUT(made, store, struct trace_store, version, TRACE_STORE_VERSION);
    PUT(made, store, struct trace_store, bytes,
        sizeof(struct trace_store) + extents * sizeof(struct trace_extent));
    PUT(made, store, struct trace_store, extent_count, extents);
    PUT(made, store, struct trace_store, boot_id, 42);
    PUT(made, store, struct trace_store, info, made->base + MAKE_INFO_AT);
    PUT(made, store, struct trace_store, cpu_count, MAKE_CPUS);
    PUT(made, store, struct trace_store, generation, 1);
    PUT(made, store, struct trace_store, mode, TRACE_MODE_FLIGHT);
    PUT(made, store, struct trace_store, end, TRACE_STORE_RUNNING);
    PUT(made, store, struct trace_store, buffer_bytes, MAKE_BUFFER_BYTES);
    PUT(made, store, struct trace_store, buffer_count, MAKE_BUFFERS);
    PUT(made, store, struct trace_store, clock_hz, 1000000000);
    memcpy(store + offsetof(struct trace_store, uuid), uuid, sizeof(uuid));
    memcpy(store + offsetof(struct trace_store, machine), "test", 4);
    PUT(made, store, struct trace_store, age, age);
    seal_store(made);
}

void make_guest(struct made *made)
{
    memset(made->ram, 0, MAKE_BYTES);
    make_info(made);
    make_store(made, 0);
    for (uint32_t cpu = 0; cpu < MAKE_CPUS; cpu++)
        for (uint64_t number = 0; number < MAKE_FIRST + MAKE_BUFFERS; number++)
            make_packet(made, cpu, number, number == MAKE_FIRST + MAKE_BUFFERS - 1 ? MADE_OPEN : MADE_WHOLE);
}

/* ---- files ----------------------------------------------------------------------------------------- */

static FILE *create(const char *path)
{
    FILE *file = fopen(path, "w");
    if (file)
        return file;
    perror(path);
    exit(2);
}

void write_file(const char *path, const void *bytes, size_t size)
{
    FILE *file = create(path);
    fwrite(bytes, size, 1, file);
    fclose(file);
}

/* The second half comes first in the file. */
void write_core(const char *path, const struct made *made)
{
    static uint8_t header[4096];
    Elf64_Ehdr *elf = (Elf64_Ehdr *)header;
    const uint8_t ident[] = {0x7f,      'E', 'L', 'F', ELFCLASS64, made->big ? ELFDATA2MSB : ELFDATA2LSB,
                             EV_CURRENT};
    const uint64_t half = MAKE_BYTES / 2;
    FILE *file = create(path);

#define PUT16(at, value) (header[(at) + made->big] = (value), header[(at) + !made->big] = 0)
    memset(header, 0, sizeof(header));
    memcpy(elf->e_ident, ident, sizeof(ident));
    PUT16(offsetof(Elf64_Ehdr, e_type), ET_CORE);
    PUT16(offsetof(Elf64_Ehdr, e_phnum), 3);
    PUT16(offsetof(Elf64_Ehdr, e_phentsize), sizeof(Elf64_Phdr));
    put64(made, &elf->e_phoff, sizeof(*elf));
    Elf64_Phdr *segment = (Elf64_Phdr *)(header + sizeof(*elf));
    put32(made, &segment[0].p_type, PT_NOTE);
    for (unsigned i = 1; i < 3; i++) {
        put32(made, &segment[i].p_type, PT_LOAD);
        put64(made, &segment[i].p_offset, sizeof(header) + (i - 1) * half);
        put64(made, &segment[i].p_paddr, made->base + (2 - i) * half);
        put64(made, &segment[i].p_filesz, half);
    }
    fwrite(header, sizeof(header), 1, file);
    fwrite(made->ram + half, half, 1, file);
    fwrite(made->ram, half, 1, file);
    fclose(file);
}

uint8_t *share_file(const char *path, const struct made *made)
{
    write_file(path, made->ram, MAKE_BYTES);
    int file = open(path, O_RDWR);
    void *memory = mmap(NULL, MAKE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (memory == MAP_FAILED) {
        perror(path);
        exit(1);
    }
    return memory;
}
