/*
 * moment.c - requests the tables of each CPU, again if rows were being updated, or those of routines, one
 * after another, and checks them; see moment.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tarn/error.h>
#include <tools/tarn/tables/moment.h>
#include <trace/format/layout.h>
#include <trace/ring/routine_copy.h>

#define READ_AGAIN_MAX 3u
#define PAGE_BYTES     4096u /* a guest sends whole pages */

/* Readers of mapped rings (trace/ring/table_read.h) take the address of the ring; only its tables exist
 * here. */
const char *moment_ring(const struct moment *moment, unsigned cpu)
{
    return (const char *)((uintptr_t)moment->area[cpu] - TRACE_TABLES_OFFSET);
}

static bool read_area(struct source *source, uint32_t cpu, uint64_t bytes, uint64_t *area, uint64_t *clock,
                      struct fail *fail)
{
    const bool is_previous = source->class->link != NULL && source->is_previous;
    const struct wire_request request = {.operation = is_previous ? WIRE_OP_PREVIOUS_TABLES : WIRE_OP_TABLES,
                                         .a = cpu,
                                         .b = is_previous ? bytes : WIRE_TABLES_SHARED};
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

static bool has_changing(const struct moment *moment, unsigned cpu)
{
    uint64_t copy[TRACE_TABLE_ROW_WORDS_MAX];
    for (unsigned t = 0; t < TRACE_TABLE_COUNT; t++)
        for (uint32_t row = 0; row < trace_table_list[t].rows; row++)
            if (trace_table_read_row(&trace_table_list[t], moment_ring(moment, cpu), row, copy) ==
                TRACE_ROW_CHANGING)
                return true;
    return false;
}

/* Reads the tables again if rows were moved or updated meanwhile. */
static bool read_cpu(struct moment *moment, struct source *source, uint32_t cpu, struct fail *fail)
{
    for (unsigned i = 0; i <= READ_AGAIN_MAX; i++) {
        if (!read_area(source, cpu, MOMENT_BYTES, moment->area[cpu], &moment->clock[cpu], fail))
            return false;
        /* whether a row was moved while the area was copied, from its end to its begin */
        const uint64_t *area = moment->area[cpu];
        moment->moving[cpu] = area[trace_table_list[0].moves_ended / 8] != area[TRACE_TABLE_MOVES_BEGUN];
        if (!moment->moving[cpu] && !has_changing(moment, cpu))
            break;
    }
    return true;
}

bool moment_read(struct moment *moment, struct source *source, bool of_routines, struct fail *fail)
{
    static const uint8_t uuid[16] = TRACE_SCHEMA_UUID_BYTES;
    *moment = (struct moment){.cpu_count = source->hello.cpu_count, .time = now_seconds()};
    if (of_routines) {
        const bool ok = routines_read(&moment->routines, source, fail);
        moment->clock[0] = moment->routines.moment;
        return ok;
    }
    if (memcmp(source->hello.uuid, uuid, sizeof(uuid)) != 0) /* it covers the layout of tables */
        return fail_set(
            fail, "this system has another schema, and perhaps other tables of counters, than this program: "
                  "use the tarn of its version");
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

/* More than any guest has. */
#define ROUTINES_MAX     1000000u
#define ROUTINE_ROWS_MAX (1u << 22) /* of all of them: 1.25 GiB */

/* False: FAIL. */
static bool take_table(struct source *source, const struct source_reply *reply, uint64_t after,
                       struct routines_copy *copy, struct fail *fail)
{
    if (reply->size > TRACE_ROUTINES_BYTES_MAX)
        return fail_set(fail, "a table of %zu bytes, which is more than the largest one", reply->size);
    if (reply->size < sizeof(copy->head))
        return fail_set(fail, "a table of %zu bytes, which is less than its head", reply->size);
    memcpy(&copy->head, reply->data, sizeof(copy->head));
    if (!hello_is_native(&source->hello))
        trace_swap(&copy->head, "884444t88448");
    if (copy->head.row_bytes != sizeof(*copy->rows))
        return fail_set(fail,
                        "rows of tables have %u bytes instead of %zu: the guest's version is another one",
                        copy->head.row_bytes, sizeof(*copy->rows));
    if (copy->head.serial <= after || copy->head.of > TRACE_ROUTINES_ORPHANS ||
        (reply->size - sizeof(copy->head)) / sizeof(*copy->rows) != copy->head.rows ||
        (reply->size - sizeof(copy->head)) % sizeof(*copy->rows) != 0)
        return fail_set(fail, "a damaged table: number %llu, %u rows in %zu bytes",
                        (unsigned long long)copy->head.serial, copy->head.rows, reply->size);
    copy->rows = alloc_zero(copy->head.rows + 1ull, sizeof(*copy->rows));
    memcpy(copy->rows, reply->data + sizeof(copy->head), copy->head.rows * sizeof(*copy->rows));
    for (size_t i = 0; i < copy->head.rows * sizeof(*copy->rows) / 8 && !hello_is_native(&source->hello); i++)
        trace_swap((uint64_t *)copy->rows + i, "8");
    return true;
}

bool routines_append(struct routines *routines, const struct routines_copy *copy, struct fail *fail)
{
    routines->rows += copy->head.rows;
    if (routines->count % 64 == 0)
        routines->copies = alloc_more(routines->copies, routines->count + 64, sizeof(*routines->copies));
    routines->copies[routines->count++] = *copy;
    return (routines->count <= ROUTINES_MAX && routines->rows <= ROUTINE_ROWS_MAX) ||
           fail_set(fail, "more than %u tables, or than %u rows in all of them", ROUTINES_MAX,
                    ROUTINE_ROWS_MAX);
}

static bool read_tables(struct routines *routines, struct source *source, struct fail *fail)
{
    struct routines_copy copy = {0};
    struct source_reply reply;
    do {
        const struct wire_request request = {WIRE_OP_TABLES, 0, copy.head.serial, WIRE_TABLES_PRIVATE, NULL};
        reply = (struct source_reply){0};
        if (!source_control(source, &request, "the routines: ", &reply, fail))
            return reply.status == -E_BAD_ARGUMENT
                       ? fail_set(fail, "this system counts no routines: its version of Tarn is older")
                       : false;
        if (reply.size > 0 &&
            (!take_table(source, &reply, request.a, &copy, fail) || !routines_append(routines, &copy, fail)))
            return false;
    } while (reply.size > 0);
    return true;
}

/* Accepts names in the order of their numbers only, so that readers find each by its number. */
bool routines_append_name(struct routines *routines, const struct source *source,
                          const struct trace_routine *name, struct fail *fail)
{
    struct trace_routine_names *names = &routines->names;
    struct trace_routine *all = (void *)names->list, *to;
    const uint32_t number = TRACE_CONTEXT_NAMED + names->count;
    if (names->count % 64 == 0)
        names->list = all = alloc_more(all, names->count + 64, sizeof(*all));
    to = &all[names->count];
    *to = *name;
    if (!hello_is_native(&source->hello))
        trace_swap(to, "44888");
    to->program[sizeof(to->program) - 1] = to->name[sizeof(to->name) - 1] = '\0';
    if (to->number != number || number >= TRACE_CONTEXTS)
        return fail_set(fail, "damaged names of routines: number %u in place of %u", to->number, number);
    names->count++;
    return true;
}

/* A guest that knows nothing of names has none. */
static bool read_names(struct routines *routines, struct source *source, struct fail *fail)
{
    struct source_reply reply;
    do {
        const struct wire_request request = {WIRE_OP_TABLES, 0, TRACE_CONTEXT_NAMED + routines->names.count,
                                             WIRE_TABLES_NAMES, NULL};
        reply = (struct source_reply){0};
        if (!source_control(source, &request, "names of routines: ", &reply, fail))
            return reply.status == -E_BAD_ARGUMENT;
        if (reply.size % sizeof(struct trace_routine) != 0)
            return fail_set(fail, "damaged names of routines: %zu bytes, which are not whole ones of %zu",
                            reply.size, sizeof(struct trace_routine));
        for (size_t at = 0; at < reply.size; at += sizeof(struct trace_routine)) {
            struct trace_routine name;
            memcpy(&name, reply.data + at, sizeof(name));
            if (!routines_append_name(routines, source, &name, fail))
                return false;
        }
    } while (reply.size > 0);
    return true;
}

bool routines_read(struct routines *routines, struct source *source, struct fail *fail)
{
    bool is_memory = source->class->memory != NULL;
    *routines = (struct routines){.hello = source->hello};
    bool ok = is_memory ? routines_read_memory(routines, source, fail)
                        : read_tables(routines, source, fail) && read_names(routines, source, fail);
    if (!ok && !(is_memory && routines->count > 0)) {
        routines_free(routines);
        return false;
    }
    if (!ok)
        complain("only %zu tables could be read: %s", routines->count, fail->text);
    routines->moment = routines->count > 0 ? routines->copies[0].head.until : 0;
    return true;
}

void routines_keep(struct routines *routines, uint64_t pid)
{
    size_t kept = 0;
    for (size_t i = 0; i < routines->count; i++) {
        if (pid == UINT64_MAX || routines->copies[i].head.pid == pid)
            routines->copies[kept++] = routines->copies[i];
        else
            free(routines->copies[i].rows);
    }
    routines->count = kept;
}

void routines_free(struct routines *routines)
{
    for (size_t i = 0; i < routines->count; i++)
        free(routines->copies[i].rows);
    free(routines->copies);
    free((void *)routines->names.list);
    *routines = (struct routines){0};
}

void make_plain(char *text, const char *refused)
{
    for (char *c = text; *c != '\0'; c++)
        if (*c < ' ' || *c > '~' || strchr(refused, *c) != NULL)
            *c = '?';
}

const char *routines_name(const struct trace_routines *head, char name[ROUTINES_NAME_BYTES])
{
    static const char *const whose[] = {"", " (ended threads)", " (ended children)", "ended processes"};
    if (head->of == TRACE_ROUTINES_ORPHANS)
        snprintf(name, ROUTINES_NAME_BYTES, "%s", whose[head->of]);
    else
        snprintf(name, ROUTINES_NAME_BYTES, "%.16s%s", head->name, whose[head->of % 4]);
    make_plain(name, ";");
    return name;
}
