/* trace_previous.c - reads the rings of the previous boot; see trace.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tarn/runtime.h>

#include <arch/trace.h>
#include <trace/event/schemas.h>
#include <trace/print/app_schema.h>
#include <user/bin/trace.h>
#include <user/bin/util.h>

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
    return print_last_of(&source, count, classes);
}
