/* tests/unit/trace/ring_harness.c - see ring_harness.h. */
#include "ring_harness.h"
#include "trace/events.h" /* generated */
#include <sys/mman.h>
#include <sys/stat.h>
#include <trace/format/metadata.h>
#include <trace/print/print.h>

struct trace_info test_info;
__thread char *test_ring;
char *test_rings;

static uint64_t clock_ticks = 1 << 20, clock_skew;

uint64_t test_clock(void)
{
    uint64_t now = __atomic_add_fetch(&clock_ticks, 3, __ATOMIC_RELAXED);
    return test_rings && test_ring == ring_of_cpu(1) ? now - clock_skew : now;
}

void skew_clock(uint64_t ticks)
{
    clock_skew = ticks;
}

void jump_clock(uint64_t ticks)
{
    __atomic_add_fetch(&clock_ticks, ticks, __ATOMIC_RELAXED);
}

static struct {
    enum trace_test_point point;
    unsigned left; /* passes until the hook runs; 0: off */
    void (*action)(void);
    bool was_run;
} hook;

void set_hook(enum trace_test_point point, unsigned nth, void (*action)(void))
{
    hook = (typeof(hook)){point, nth, action, false};
}

bool hook_was_run(void)
{
    return hook.was_run;
}

void test_point(int point)
{
    if (!hook.left || point != (int)hook.point || --hook.left)
        return;
    hook.was_run = true;
    hook.action();
}

char *ring_of_cpu(uint32_t cpu)
{
    return test_rings + ((uint64_t)cpu << TRACE_RING_SHIFT);
}

struct trace_control *control_of_cpu(uint32_t cpu)
{
    return trace_control_of(ring_of_cpu(cpu));
}

void setup_rings(uint64_t buffer_bytes, uint64_t buffer_count, enum trace_mode mode)
{
    static const uint8_t uuid[16] = TRACE_SCHEMA_UUID_BYTES;
    const uint64_t span = (uint64_t)TEST_CPUS << TRACE_RING_SHIFT;
    if (test_rings)
        munmap(test_rings, span);
    test_rings = mmap(NULL, span, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    hook.left = 0;
    test_info = (struct trace_info){.cpu_count = TEST_CPUS,
                                    .geometry = trace_geometry_word(buffer_bytes, buffer_count, 0),
                                    .mode = mode,
                                    .clock_hz = 1000000000};
    trace_set_masks(&test_info, buffer_bytes, buffer_count);
    memcpy(test_info.uuid, uuid, sizeof(uuid));
    memset(test_info.switches, 0xff, sizeof(test_info.switches));
    for (uint32_t cpu = 0; cpu < TEST_CPUS; cpu++) {
        test_ring = ring_of_cpu(cpu);
        if (mprotect(test_ring + TRACE_CONTROL_OFFSET, 4096, PROT_READ | PROT_WRITE) ||
            mprotect(test_ring + TRACE_BUFFERS_OFFSET, buffer_bytes * buffer_count, PROT_READ | PROT_WRITE)) {
            perror("mprotect");
            exit(2);
        }
        trace_ring_open(test_ring, 0);
    }
    test_ring = ring_of_cpu(0);
    test_info.mask = ~0ull;
}

void visit_packet(const struct trace_packet *packet, visit_event *visit, void *context, struct findings *f)
{
    struct trace_walk walk;
    const struct trace_header *event;
    char line[256];
    trace_walk_begin(&walk, packet, packet->content_size / 64, packet->timestamp_end);
    uint64_t time = packet->timestamp_begin;
    while ((event = trace_walk_next(&walk))) {
        f->disorder += walk.time < time;
        time = walk.time;
        trace_print_moment(line, sizeof(line), &(struct trace_moment){event, event->length, walk.time, 0}, 0,
                           NULL);
        if (event->id == TRACE_ID(0, TRACE_MINOR_CONTEXT) || event->id == TRACE_ID(0, TRACE_MINOR_END))
            continue;
        f->events++;
        if (visit)
            visit(event, walk.time, context);
    }
    f->disorder += walk.broken || walk.time != packet->timestamp_end;
}

void read_packet(uint32_t cpu, uint64_t number, visit_event *visit, void *context, FILE *file,
                 struct findings *f)
{
    struct trace_reader reader = trace_reader_open(&test_info, ring_of_cpu(cpu), cpu, 0);
    static __thread uint64_t copy[TRACE_BUFFER_BYTES_MAX / 8];
    enum trace_packet_state state = trace_packet_copy(&reader, number, copy);
    for (unsigned i = 0; i < 3 && state == TRACE_PACKET_INCOMPLETE; i++)
        state = trace_packet_copy(&reader, number, copy);
    f->whole += state == TRACE_PACKET_WHOLE;
    if (state == TRACE_PACKET_INCOMPLETE) {
        f->incomplete++;
        if (!trace_packet_cut(&reader, number, copy))
            state = TRACE_PACKET_GONE;
        else
            f->cut++;
    }
    if (state == TRACE_PACKET_GONE) {
        f->lost++;
        return;
    }
    visit_packet((struct trace_packet *)copy, visit, context, f);
    if (file)
        fwrite(copy, trace_buffer_bytes(&test_info), 1, file);
}

void read_ring(uint32_t cpu, uint64_t *next, visit_event *visit, void *context, FILE *file,
               struct findings *f)
{
    struct trace_reader reader = trace_reader_open(&test_info, ring_of_cpu(cpu), cpu, 0);
    for (; *next < trace_reader_head(&reader); ++*next)
        read_packet(cpu, *next, visit, context, file, f);
}

static FILE *create_file(const char *directory, const char *name)
{
    char path[512];
    snprintf(path, sizeof(path), "%s/%s", directory, name);
    FILE *file = fopen(path, "w");
    if (!file) {
        perror(path);
        exit(2);
    }
    return file;
}

static void write_metadata(const char *directory)
{
    static char text[1 << 18];
    const struct trace_metadata_values values = {.byte_order = "le",
                                                 .hostname = "test",
                                                 .architecture = "host",
                                                 .cpu_count = TEST_CPUS,
                                                 .clock_hz = test_info.clock_hz};
    uint64_t length = trace_metadata_expand(text, sizeof(text), trace_metadata_template,
                                            trace_metadata_template_size, &values);
    FILE *file = create_file(directory, "metadata");
    fwrite(text, length, 1, file);
    fclose(file);
}

struct findings read_all(visit_event *visit, void *context, const char *directory)
{
    struct findings f = {0};
    if (directory) {
        mkdir(directory, 0777);
        write_metadata(directory);
    }
    for (uint32_t cpu = 0; cpu < TEST_CPUS; cpu++) {
        struct trace_reader reader = trace_reader_open(&test_info, ring_of_cpu(cpu), cpu, 0);
        test_ring = ring_of_cpu(cpu);
        trace_ring_flush(test_ring);
        uint64_t next = trace_reader_tail(&reader);
        FILE *file = NULL;
        if (directory)
            file = create_file(directory, cpu ? "cpu1" : "cpu0");
        read_ring(cpu, &next, visit, context, file, &f);
        if (file)
            fclose(file);
    }
    return f;
}

long count_by_babeltrace2(const char *directory, const char *file_for_text)
{
    char command[1024], line[16384];
    snprintf(command, sizeof(command), "babeltrace2 %s > %s 2> %s.err", directory, file_for_text,
             file_for_text);
    if (system(command))
        return -1;
    snprintf(command, sizeof(command), "%s.err", file_for_text);
    FILE *errors = fopen(command, "r");
    while (errors && fgets(line, sizeof(line), errors))
        if (!strstr(line, "Tracer discarded"))
            return -1;
    if (errors)
        fclose(errors);
    FILE *text = fopen(file_for_text, "r");
    long count = 0;
    while (text && fgets(line, sizeof(line), text))
        count += !strstr(line, " trace_context: ") && !strstr(line, " trace_end: ");
    if (text)
        fclose(text);
    return count;
}
