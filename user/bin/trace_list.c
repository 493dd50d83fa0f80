/*
 * trace_list.c - `trace stats`, `trace last` and `trace previous`; see trace.h.
 *
 * `last` first copies each CPU's packets, newest first, until they hold enough events, and prints afterwards,
 * so events that printing logs are not included.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tarn/runtime.h>

#include <arch/trace.h>
#include <trace/event/schemas.h>
#include <trace/print/app_schema.h>
#include <trace/print/print.h>
#include <user/bin/trace.h>
#include <user/bin/util.h>

/* Losses are printed first, because they limit what the results mean. */
static void print_findings(const struct ring_findings *findings)
{
    if (findings->cut)
        printf("%" PRIu64 " packets were damaged: only their beginnings are included\n", findings->cut);
    if (findings->lost)
        printf("%" PRIu64 " packets were overwritten during reading or are unreadable\n", findings->lost);
    if (findings->restarted)
        printf("the rings were cleared during reading: the results are incomplete\n");
}

/* ---- stats ----------------------------------------------------------------------------------------- */

struct counts {
    uint64_t events, words;
    struct {
        uint64_t events, words;
    } of[TRACE_CLASS_COUNT][TRACE_MINORS_SWITCHED];
};

static void count_event(void *context, uint32_t cpu, const struct trace_header *event, uint64_t time)
{
    struct counts *counts = context;
    uint32_t minor = TRACE_ID_MINOR(event->id);
    counts->events++;
    counts->words += event->length;
    if (minor < TRACE_MINORS_SWITCHED) { /* larger numbers are garbage */
        counts->of[TRACE_ID_CLASS(event->id)][minor].events++;
        counts->of[TRACE_ID_CLASS(event->id)][minor].words += event->length;
    }
}

static void print_event_count(const struct counts *counts, uint32_t class_number, uint32_t minor)
{
    const struct trace_event_info *info = trace_known_event(TRACE_ID(class_number, minor));
    char name[80];
    if (info)
        snprintf(name, sizeof name, "%s", info->full_name);
    else
        snprintf(name, sizeof name, "event %u/%u", (unsigned)class_number, (unsigned)minor);
    printf("  %-28s %10" PRIu64 " %12" PRIu64 "\n", name, counts->of[class_number][minor].events,
           counts->of[class_number][minor].words);
}

static void print_class_counts(const struct counts *counts, uint32_t class_number)
{
    uint64_t events = 0, words = 0;
    for (uint32_t minor = 0; minor < TRACE_MINORS_SWITCHED; minor++) {
        events += counts->of[class_number][minor].events;
        words += counts->of[class_number][minor].words;
    }
    if (!events)
        return;
    printf("%-30s %10" PRIu64 " %12" PRIu64 "\n", trace_known_class_name(class_number), events, words);
    for (uint32_t minor = 0; minor < TRACE_MINORS_SWITCHED; minor++)
        if (counts->of[class_number][minor].events)
            print_event_count(counts, class_number, minor);
}

int show_counts(int argc, char **argv)
{
    static struct counts counts;
    struct ring_findings findings;
    if (!visit_rings(count_event, &counts, &findings))
        return refuse("out of memory");
    print_findings(&findings);
    printf("%-30s %10s %12s\n", "class, event", "events", "words");
    for (uint32_t i = 0; i < TRACE_CLASS_COUNT; i++)
        print_class_counts(&counts, i);
    printf("%-30s %10" PRIu64 " %12" PRIu64 "  in %" PRIu64 " packets\n", "all", counts.events, counts.words,
           findings.packets);
    return 0;
}

/* ---- last ------------------------------------------------------------------------------------------ */

/* The rings of this boot, or of the previous one. */
struct ring_source {
    const struct trace_info *info;
    struct trace_reader (*ring_of)(uint32_t cpu);
    /* The range of packets, including the open one. False: none. */
    bool (*range)(const struct trace_reader *ring, uint64_t *first, uint64_t *last);
    /* Like copy_packet(). */
    bool (*copy)(const struct trace_reader *ring, uint64_t number, void *copy,
                 struct ring_findings *findings);
};

/* Copies of one CPU's newest packets, oldest first. */
struct copied {
    struct copied *next;
    uint64_t packet[];
};

struct copies {
    struct copied *first[TRACE_CPUS_MAX], *walked[TRACE_CPUS_MAX];
};

static bool next_copy(void *context, uint32_t cpu, struct trace_walk *walk)
{
    struct copies *copies = context;
    struct copied *copy = copies->walked[cpu] ? copies->walked[cpu]->next : copies->first[cpu];
    if (!copy)
        return false;
    copies->walked[cpu] = copy;
    walk_packet(walk, copy->packet);
    return true;
}

static void begin_merge(struct trace_merge *merge, const struct ring_source *source, struct copies *copies)
{
    memset(copies->walked, 0, sizeof copies->walked);
    trace_merge_begin(merge, source->info->cpu_count, next_copy, copies);
}

/* Excludes events that only maintain the trace itself. */
static bool is_wanted(const struct trace_header *event, uint64_t classes)
{
    return classes >> TRACE_ID_CLASS(event->id) & 1 &&
           event->id != TRACE_ID(TRACE_CLASS_TRACE, TRACE_MINOR_CONTEXT) &&
           event->id != TRACE_ID(TRACE_CLASS_TRACE, TRACE_MINOR_HEARTBEAT) &&
           event->id != TRACE_ID(TRACE_CLASS_TRACE, TRACE_MINOR_END);
}

static uint64_t count_wanted(const void *packet, uint64_t classes)
{
    struct trace_walk walk;
    const struct trace_header *event;
    uint64_t count = 0;
    for (walk_packet(&walk, packet); (event = trace_walk_next(&walk));)
        count += is_wanted(event, classes);
    return count;
}

/* Copies the newest packets until they hold `count` wanted events; packets without any are not kept. */
static bool copy_newest(const struct ring_source *source, uint32_t cpu, uint64_t count, uint64_t classes,
                        struct copied **first, struct ring_findings *findings)
{
    struct trace_reader ring = source->ring_of(cpu);
    uint64_t tail, head, found = 0, wanted;
    if (!source->range(&ring, &tail, &head))
        return true;
    for (uint64_t number = head + 1; number-- > tail && found < count; found += wanted) {
        struct copied *copy = malloc(sizeof *copy + TRACE_BUFFER_BYTES_MAX);
        if (!copy)
            return false;
        wanted =
            source->copy(&ring, number, copy->packet, findings) ? count_wanted(copy->packet, classes) : 0;
        if (wanted) {
            size_t size = ((struct trace_packet *)copy->packet)->packet_size / 8;
            struct copied *smaller = realloc(copy, sizeof *copy + size);
            copy = smaller ? smaller : copy;
            copy->next = *first;
            *first = copy;
        } else {
            free(copy);
        }
    }
    return true;
}

static bool present_range(const struct trace_reader *ring, uint64_t *tail, uint64_t *head)
{
    *tail = trace_reader_tail(ring);
    *head = trace_reader_head(ring);
    return true;
}

static int print_newest(const struct ring_source *source, uint64_t count, uint64_t classes)
{
    static struct trace_merge merge;
    static struct copies copies;
    struct ring_findings findings = {0};
    struct trace_moment moment;
    char line[256];
    uint64_t total = 0;
    for (uint32_t cpu = 0; cpu < source->info->cpu_count; cpu++)
        if (!copy_newest(source, cpu, count, classes, &copies.first[cpu], &findings))
            return refuse("out of memory");
    print_findings(&findings);
    for (begin_merge(&merge, source, &copies); trace_merge_next(&merge, &moment);)
        total += is_wanted(moment.event, classes);
    for (begin_merge(&merge, source, &copies); trace_merge_next(&merge, &moment);) {
        if (!is_wanted(moment.event, classes) || total-- > count)
            continue;
        trace_print_moment(line, sizeof line, &moment, source->info->clock_hz,
                           trace_known_event(moment.event->id));
        puts(line);
    }
    return 0;
}

int print_last(uint64_t count, uint64_t classes)
{
    const struct ring_source source = {arch_trace_info(), ring_of, present_range, copy_packet};
    return print_newest(&source, count, classes);
}

/* ---- previous -------------------------------------------------------------------------------------- */

static struct trace_previous previous;

static void load_schemas(void)
{
    static _Alignas(8) char descriptors[TRACE_APP_ENTRIES_BYTES_MAX];
    int64_t size =
        trace_previous_metadata(SLOT_TRACE, TRACE_METADATA_DESCRIPTORS, descriptors, sizeof descriptors);
    if (size > 0)
        trace_schemas_load_from(descriptors, (size_t)size);
}

static void print_end(void)
{
    const struct trace_store *store = &previous.store;
    static const char *const ends[] = {"without notice: a reset or a crash", "by a panic", "in order"};
    printf("the previous boot ended %s%s%s\n", ends[store->end <= TRACE_STORE_SHUTDOWN ? store->end : 0],
           store->reason[0] ? ": " : "", store->reason);
    if (store->kept.damaged)
        printf("%" PRIu32 " of its packets were damaged since and are ignored\n", store->kept.damaged);
}

int open_previous(void)
{
    if (!slot_is_filled(SLOT_TRACE))
        return refuse_without("trace-read");
    int error = trace_previous_open(SLOT_TRACE, &previous);
    if (error == -E_NOT_FOUND)
        return refuse("there is no trace of a previous boot");
    if (error)
        return refuse("%s", tarn_error_text(error));
    if (memcmp(previous.store.uuid, arch_trace_info()->uuid, sizeof previous.store.uuid) != 0)
        return refuse("its events or tables were declared differently; use `tarn pull --previous`");
    load_schemas();
    print_end();
    return 0;
}

static struct trace_reader previous_ring(uint32_t cpu)
{
    return trace_previous_ring(&previous, cpu);
}

static bool copy_salvaged(const struct trace_reader *ring, uint64_t number, void *copy,
                          struct ring_findings *findings)
{
    bool is_salvaged = trace_packet_salvage(ring, number, copy);
    findings->packets += is_salvaged;
    findings->cut += is_salvaged && ((const struct trace_packet *)copy)->flags & TRACE_PACKET_CUT;
    return is_salvaged;
}

int print_previous(uint64_t count, uint64_t classes)
{
    const struct ring_source source = {&previous.info, previous_ring, trace_salvage_range, copy_salvaged};
    return print_newest(&source, count, classes);
}
