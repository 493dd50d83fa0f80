/*
 * moment.c - requests the tables of each CPU, again if rows were being updated; see moment.h.
 */
#include <stdlib.h>
#include <string.h>
#include <tools/tarn/tables/moment.h>
#include <trace/format/layout.h>

#define READ_AGAIN_MAX 3u
#define PAGE_BYTES     4096u /* a guest sends whole pages */

const struct trace_table_info *tables_find(const char *name)
{
    for (unsigned t = 0; t < TRACE_TABLE_COUNT; t++)
        if (strcmp(trace_table_list[t].name, name) == 0)
            return &trace_table_list[t];
    return NULL;
}

/* ---- copying --------------------------------------------------------------------------------------- */

/* Readers of mapped rings (trace/ring/table_read.h) take the address of the ring; only its tables exist
 * here. */
static const char *ring_of_area(const uint64_t *area)
{
    return (const char *)((uintptr_t)area - TRACE_TABLES_OFFSET);
}

const char *moment_ring(const struct moment *moment, unsigned cpu)
{
    return ring_of_area(moment->area[cpu]);
}

uint64_t moment_head(const struct moment *moment, unsigned cpu, const struct trace_table_info *table,
                     enum trace_table_head_word word)
{
    return moment->area[cpu][table->offset / 8 + word];
}

/* Copies the tables of CPU to AREA. */
static bool read_area(struct source *source, uint32_t cpu, uint64_t bytes, uint64_t *area, uint64_t *clock,
                      struct fail *fail)
{
    const bool is_previous = source->class->link != NULL && source->is_previous;
    const struct wire_request request = {.operation = is_previous ? WIRE_OP_PREVIOUS_TABLES : WIRE_OP_TABLES,
                                         .a = cpu,
                                         .b = is_previous ? bytes : 0};
    struct source_reply reply = {0};
    if (!source_control(source, &request, "the tables of counters: ", &reply, fail))
        return false;
    if (reply.size < WIRE_TABLES_CLOCK_BYTES)
        return fail_set(fail, "the tables of CPU %u are cut short: %zu bytes, which is less than their clock",
                        cpu, reply.size);
    if (reply.size == WIRE_TABLES_CLOCK_BYTES)
        return fail_set(fail, "this guest has no tables of counters: they would take too much of its memory");
    if (reply.size < WIRE_TABLES_CLOCK_BYTES + bytes ||
        reply.size >= WIRE_TABLES_CLOCK_BYTES + bytes + PAGE_BYTES)
        return fail_set(fail,
                        "the tables of CPU %u have %zu bytes instead of the %llu that the metadata declare",
                        cpu, reply.size - WIRE_TABLES_CLOCK_BYTES, (unsigned long long)bytes);
    *clock = wire_get64(reply.data);
    memcpy(area, reply.data + WIRE_TABLES_CLOCK_BYTES, bytes);
    for (uint64_t i = 0; i < bytes / 8 && !hello_is_native(&source->hello); i++)
        area[i] = __builtin_bswap64(area[i]);
    return true;
}

static bool has_changing(const uint64_t *area)
{
    uint64_t copy[TRACE_TABLE_ROW_WORDS_MAX];
    for (unsigned t = 0; t < TRACE_TABLE_COUNT; t++)
        for (uint32_t row = 0; row < trace_table_list[t].rows; row++)
            if (trace_table_read_row(&trace_table_list[t], ring_of_area(area), row, copy) ==
                TRACE_ROW_CHANGING)
                return true;
    return false;
}

/* Whether no row was moved while the area was copied, from its end to its begin. */
static bool is_settled(const uint64_t *area)
{
    return area[trace_table_list[0].moves_ended / 8] == area[TRACE_TABLE_MOVES_BEGUN];
}

/* Reads the tables again if rows were moved or updated meanwhile. */
static bool read_cpu(struct moment *moment, struct source *source, uint32_t cpu, struct fail *fail)
{
    for (unsigned i = 0; i <= READ_AGAIN_MAX; i++) {
        if (!read_area(source, cpu, MOMENT_BYTES, moment->area[cpu], &moment->clock[cpu], fail))
            return false;
        moment->moving[cpu] = !is_settled(moment->area[cpu]);
        if (!moment->moving[cpu] && !has_changing(moment->area[cpu]))
            break;
    }
    return true;
}

/* The UUID covers the layout of tables. */
static bool check_tables(const struct source *source, struct fail *fail)
{
    static const uint8_t uuid[16] = TRACE_SCHEMA_UUID_BYTES;
    return memcmp(source->hello.uuid, uuid, sizeof(uuid)) == 0 ||
           fail_set(
               fail,
               "this system has another schema, and perhaps other tables of counters, than this program: "
               "use the tarn of its version");
}

bool moment_read(struct moment *moment, struct source *source, bool of_routines, struct fail *fail)
{
    *moment = (struct moment){.cpu_count = source->hello.cpu_count, .time = now_seconds()};
    if (of_routines) {
        const bool ok = routines_read(&moment->routines, source, fail);
        moment->clock[0] = moment->routines.moment;
        return ok;
    }
    if (!check_tables(source, fail))
        return false;
    for (uint32_t cpu = 0; cpu < moment->cpu_count; cpu++) {
        moment->area[cpu] = alloc_zero(1, MOMENT_BYTES);
        if (!read_cpu(moment, source, cpu, fail)) {
            moment_free(moment);
            return false;
        }
    }
    return true;
}

void moment_free(struct moment *moment)
{
    for (unsigned cpu = 0; cpu < moment->cpu_count; cpu++)
        free(moment->area[cpu]);
    routines_free(&moment->routines);
    *moment = (struct moment){0};
}
