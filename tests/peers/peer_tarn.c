/*
 * tests/peers/peer_tarn.c - Tarn's logging path in a process of Linux, in the discipline that it is compiled
 * for (trace/ring/README.md): restart.h with the blocks as restartable sequences of Linux, rseq(2), for which
 * ask.c is there, too; or cas.h.
 *
 * A ring for each CPU of the machine, in memory that the process shares with nobody. Every thread may log,
 * with no preparation. Rings are read when no thread logs.
 */
#include "peer.h"
#include "trace/events.h" /* generated */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/rseq.h>
#include <sys/stat.h>
#include <time.h>
#include <trace/format/metadata.h>
#include <trace/ring/read.h>
#include <trace/ring/ring.h>
#include <trace/user.h>
#include <unistd.h>

#define BUFFER_BYTES (64u << 10) /* bench gives LTTng the same */
#define BUFFERS      16u

PEER_LOOP(log_one, trace_user_stopwatch_start(n))
PEER_LOOP(log_four, trace_user_values(n, n + 1, n + 2, n + 3))

struct trace_info host_info;
char *host_rings[TRACE_CPUS_MAX];
char *host_first_ring;
int64_t host_area;

static char *ring_of(uint32_t cpu)
{
    return host_first_ring + ((uint64_t)cpu << TRACE_RING_SHIFT);
}

static uint32_t host_cpus(void)
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

static uint64_t clock_hz(void)
{
    const uint64_t since = nanoseconds(), first = arch_trace_clock();
    uint64_t now = since;
    while (now - since < 50000000)
        now = nanoseconds();
    return (uint64_t)((double)(arch_trace_clock() - first) * 1e9 / (double)(now - since));
}

static const char *begin(void)
{
    static const uint8_t uuid[16] = TRACE_SCHEMA_UUID_BYTES;
    if (!__rseq_size)
        return "the C library has not registered rseq(2)";
    if (host_cpus() > TRACE_CPUS_MAX)
        return "more CPUs than rings";
    host_area = __rseq_offset;
    host_first_ring = mmap(NULL, (uint64_t)host_cpus() << TRACE_RING_SHIFT, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (host_first_ring == MAP_FAILED)
        return "no memory for rings";
    host_info = (struct trace_info){.cpu_count = host_cpus(), .mode = TRACE_MODE_FLIGHT};
    host_info.clock_hz = clock_hz();
    trace_set_masks(&host_info, BUFFER_BYTES, BUFFERS);
    host_info.geometry = trace_geometry_word(BUFFER_BYTES, BUFFERS, 0);
    memcpy(host_info.uuid, uuid, sizeof(uuid));
    memset(host_info.switches, 0xff, sizeof(host_info.switches));
    for (uint32_t cpu = 0; cpu < host_cpus(); cpu++) {
        host_rings[cpu] = ring_of(cpu) + TRACE_BUFFERS_OFFSET;
        trace_ring_open(ring_of(cpu), 0);
    }
    __atomic_store_n(&host_info.mask, ~0ull, __ATOMIC_RELEASE); /* all that is above */
    return NULL;
}

/* ---- reading -------------------------------------------------------------------------------------- */

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
    const struct trace_reader reader = trace_reader_open(&host_info, ring_of(cpu), cpu, 0);
    for (uint64_t number = trace_reader_tail(&reader); number < trace_reader_head(&reader); number++) {
        if (trace_packet_copy(&reader, number, copy) == TRACE_PACKET_WHOLE)
            append(directory, name, copy, trace_buffer_bytes(&host_info));
        else
            directory->failed = true;
    }
}

/* Closes the open packets, and makes a trace directory of all rings. False: a packet is not whole, or cannot
 * be written. */
static bool end(const char *name)
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
    host_info.mask = 0;
    mkdir(name, 0777);
    append(&directory, "metadata", text, length);
    for (uint32_t cpu = 0; cpu < host_cpus(); cpu++)
        append_ring(&directory, cpu);
    return !directory.failed;
}

const struct peer peer = {
#ifdef TRACE_CAS
    .name = "tarn, compare-and-swap",
#else
    .name = "tarn, restartable",
#endif
    .begin = begin,
    .one = log_one,
    .four = log_four,
    .end = end,
};
