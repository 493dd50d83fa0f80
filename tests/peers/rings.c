/* SPDX-License-Identifier: BSD-2-Clause */
/* tests/peers/rings.c - see rings.h. */
#include "rings.h"
#include "trace/events.h" /* generated */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/rseq.h>
#include <sys/stat.h>
#include <time.h>
#include <trace/format/metadata.h>
#include <trace/ring/ring.h>
#include <unistd.h>

struct trace_info host_info;
char *host_rings[TRACE_CPUS_MAX];
char *host_first_ring;
int64_t host_area;
uint64_t host_restarts;

static char *ring_of(uint32_t cpu)
{
    return host_first_ring + ((uint64_t)cpu << TRACE_RING_SHIFT);
}

uint32_t host_cpus(void)
{
    return (uint32_t)sysconf(_SC_NPROCESSORS_CONF);
}

void host_context(struct trace_context *context)
{
    *context =
        (struct trace_context){.pid = (uint32_t)getpid(), .tid = (uint32_t)gettid(), .name = "tests/peers"};
}

/* ---- set-up --------------------------------------------------------------------------------------- */

static uint64_t nanoseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

uint64_t host_clock_hz(void)
{
    static uint64_t hz;
    const uint64_t since = nanoseconds(), first = arch_trace_clock();
    uint64_t now = since;
    while (!hz && now - since < 50000000)
        now = nanoseconds();
    if (!hz)
        hz = (uint64_t)((double)(arch_trace_clock() - first) * 1e9 / (double)(now - since));
    return hz;
}

static bool allow(char *start, uint64_t bytes)
{
    return !mprotect(start, bytes, PROT_READ | PROT_WRITE);
}

static bool map_rings(uint64_t ring_bytes)
{
    const uint64_t span = (uint64_t)host_cpus() << TRACE_RING_SHIFT;
    if (host_first_ring)
        munmap(host_first_ring, span);
    host_first_ring = mmap(NULL, span, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (host_first_ring == MAP_FAILED)
        return false;
    for (uint32_t cpu = 0; cpu < host_cpus(); cpu++) {
        host_rings[cpu] = ring_of(cpu) + TRACE_BUFFERS_OFFSET;
        if (!allow(ring_of(cpu) + TRACE_CONTROL_OFFSET, 4096) ||
            !allow(host_rings[cpu], ring_bytes + TRACE_SLACK_BYTES))
            return false;
    }
    return true;
}

static const char *find_area(void)
{
    if (!__rseq_size)
        return "the C library has not registered rseq(2)";
    if (host_cpus() > TRACE_CPUS_MAX)
        return "more CPUs than rings";
    host_area = __rseq_offset;
    return NULL;
}

const char *host_rings_open(uint64_t buffer_bytes, uint64_t buffer_count, enum trace_mode mode)
{
    static const uint8_t uuid[16] = TRACE_SCHEMA_UUID_BYTES;
    const char *problem = find_area();
    if (!problem && !map_rings(buffer_bytes * buffer_count))
        problem = "no memory for rings";
    if (problem)
        return problem;
    memset(&host_info, 0, sizeof(host_info));
    host_info.cpu_count = host_cpus();
    trace_set_masks(&host_info, buffer_bytes, buffer_count);
    host_info.geometry = trace_geometry_word(buffer_bytes, buffer_count, 0);
    host_info.mode = mode;
    host_info.clock_hz = host_clock_hz();
    memcpy(host_info.uuid, uuid, sizeof(uuid));
    memset(host_info.switches, 0xff, sizeof(host_info.switches));
    for (uint32_t cpu = 0; cpu < host_cpus(); cpu++)
        trace_ring_open(ring_of(cpu), 0);
    __atomic_store_n(&host_info.mask, ~0ull, __ATOMIC_RELEASE); /* all that is above */
    return NULL;
}

/* ---- reading -------------------------------------------------------------------------------------- */

static struct trace_reader reader_of(uint32_t cpu)
{
    return trace_reader_open(&host_info, ring_of(cpu), cpu, 0);
}

uint64_t host_discarded(void)
{
    uint64_t count = 0;
    for (uint32_t cpu = 0; cpu < host_cpus(); cpu++) {
        const struct trace_reader reader = reader_of(cpu);
        count += trace_reader_discarded(&reader);
    }
    return count;
}

uint64_t host_torn(void)
{
    uint64_t count = 0;
    for (uint32_t cpu = 0; cpu < host_cpus(); cpu++)
        count += trace_control_of(ring_of(cpu))->torn;
    return count;
}

uint64_t host_events(void)
{
    uint64_t count = 0;
    for (uint32_t cpu = 0; cpu < host_cpus(); cpu++) {
        const struct trace_control *control = trace_control_of(ring_of(cpu));
        const uint64_t contexts = trace_index_words(control->index) / (host_info.buffer_mask + 1) + 1;
        count += trace_index_events(control->index, control->events) - contexts;
    }
    return count;
}

struct directory {
    const char *name;
    bool failed;
};

static void append(struct directory *directory, const char *name, const void *bytes, uint64_t count)
{
    char path[512];
    snprintf(path, sizeof(path), "%s/%s", directory->name, name);
    FILE *file = fopen(path, "a");
    directory->failed |= !file || fwrite(bytes, count, 1, file) != 1;
    if (file)
        directory->failed |= fclose(file) != 0;
}

static void append_ring(struct directory *directory, uint32_t cpu)
{
    static uint64_t copy[TRACE_BUFFER_BYTES_MAX / 8];
    char name[16];
    snprintf(name, sizeof(name), "cpu%u", cpu);
    trace_ring_flush(ring_of(cpu));
    const struct trace_reader reader = reader_of(cpu);
    for (uint64_t number = trace_reader_tail(&reader); number < trace_reader_head(&reader); number++) {
        if (trace_packet_copy(&reader, number, copy) == TRACE_PACKET_WHOLE)
            append(directory, name, copy, trace_buffer_bytes(&host_info));
        else
            directory->failed = true;
    }
}

bool host_rings_write(const char *name)
{
    struct directory directory = {.name = name};
    static char text[1 << 18];
    const struct trace_metadata_values values = {.byte_order = "le",
                                                 .hostname = "host",
                                                 .architecture = "host",
                                                 .cpu_count = host_info.cpu_count,
                                                 .clock_hz = host_info.clock_hz};
    const uint64_t length = trace_metadata_expand(text, sizeof(text), trace_metadata_template,
                                                  trace_metadata_template_size, &values);
    mkdir(name, 0777);
    append(&directory, "metadata", text, length);
    for (uint32_t cpu = 0; cpu < host_cpus(); cpu++)
        append_ring(&directory, cpu);
    return !directory.failed;
}
