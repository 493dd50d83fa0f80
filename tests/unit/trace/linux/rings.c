/* SPDX-License-Identifier: BSD-2-Clause */
/* tests/unit/trace/linux/rings.c - see rings.h. */
#include "rings.h"
#include "trace/events.h" /* generated */
#include <string.h>
#include <sys/mman.h>
#include <sys/rseq.h>
#include <time.h>
#include <trace/ring/ring.h>
#include <unistd.h>

struct trace_info host_info;
char *host_rings[TRACE_CPUS_MAX];
char *host_first_ring;
int64_t host_area;

void host_context(struct trace_context *context)
{
    *context = (struct trace_context){.pid = (uint32_t)getpid(), .tid = (uint32_t)gettid(), .name = "linux"};
}

/* ---- set-up --------------------------------------------------------------------------------------- */

static uint64_t nanoseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static uint64_t host_clock_hz(void)
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

/* Each CPU finds the same ring: the thread is on one of them. */
static bool map_ring(uint64_t ring_bytes)
{
    const uint64_t span = 1ull << TRACE_RING_SHIFT;
    if (host_first_ring)
        munmap(host_first_ring, span);
    host_first_ring = mmap(NULL, span, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (host_first_ring == MAP_FAILED)
        return false;
    for (uint32_t cpu = 0; cpu < TRACE_CPUS_MAX; cpu++)
        host_rings[cpu] = host_first_ring + TRACE_BUFFERS_OFFSET;
    return allow(host_first_ring + TRACE_CONTROL_OFFSET, 4096) &&
           allow(host_rings[0], ring_bytes + TRACE_SLACK_BYTES);
}

const char *host_ring_open(uint64_t buffer_bytes, uint64_t buffer_count, enum trace_mode mode)
{
    static const uint8_t uuid[16] = TRACE_SCHEMA_UUID_BYTES;
    if (!__rseq_size)
        return "the C library has not registered rseq(2)";
    if (sysconf(_SC_NPROCESSORS_CONF) > TRACE_CPUS_MAX)
        return "more CPUs than the table of rings has";
    host_area = __rseq_offset;
    if (!map_ring(buffer_bytes * buffer_count))
        return "no memory for a ring";
    memset(&host_info, 0, sizeof(host_info));
    host_info.cpu_count = 1;
    trace_set_masks(&host_info, buffer_bytes, buffer_count);
    host_info.geometry = trace_geometry_word(buffer_bytes, buffer_count, 0);
    host_info.mode = mode;
    host_info.clock_hz = host_clock_hz();
    memcpy(host_info.uuid, uuid, sizeof(uuid));
    memset(host_info.switches, 0xff, sizeof(host_info.switches));
    trace_ring_open(host_first_ring, 0);
    __atomic_store_n(&host_info.mask, ~0ull, __ATOMIC_RELEASE); /* all that is above */
    return NULL;
}

/* ---- reading -------------------------------------------------------------------------------------- */

struct trace_reader host_reader(void)
{
    return trace_reader_open(&host_info, host_first_ring, 0, 0);
}

/* False: a time goes back, or the events do not end with the packet. */
static bool walk(const struct trace_packet *packet, host_visit_event *visit)
{
    struct trace_walk walk;
    const struct trace_header *event;
    uint64_t time = packet->timestamp_begin;
    bool is_ordered = true;
    trace_walk_begin(&walk, packet, packet->content_size / 64, packet->timestamp_end);
    while ((event = trace_walk_next(&walk))) {
        is_ordered &= walk.time >= time;
        time = walk.time;
        visit(event);
    }
    return is_ordered && !walk.broken && time == packet->timestamp_end;
}

bool host_ring_read(host_visit_event *visit)
{
    static uint64_t copy[TRACE_BUFFER_BYTES_MAX / 8];
    bool is_right = true;
    trace_ring_flush(host_first_ring);
    const struct trace_reader reader = host_reader();
    for (uint64_t number = trace_reader_tail(&reader); number < trace_reader_head(&reader); number++)
        is_right &= trace_packet_copy(&reader, number, copy) == TRACE_PACKET_WHOLE &&
                    walk((const struct trace_packet *)copy, visit);
    return is_right;
}
