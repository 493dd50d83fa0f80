/* SPDX-License-Identifier: BSD-2-Clause */
/* routines.c - requests tables one after another, and checks them; see routines.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tarn/error.h>
#include <tools/tarn/tables/routines.h>
#include <trace/ring/routine_copy.h>

/* More than any guest has. */
#define ROUTINES_MAX     1000000u
#define ROUTINE_ROWS_MAX (1u << 22) /* of all of them: 1.25 GiB */

static uint64_t native64(const struct source *source, uint64_t value)
{
    return hello_is_native(&source->hello) ? value : __builtin_bswap64(value);
}

static uint32_t native32(const struct source *source, uint32_t value)
{
    return hello_is_native(&source->hello) ? value : __builtin_bswap32(value);
}

static void make_native(const struct source *source, struct trace_routines *head)
{
    head->serial = native64(source, head->serial);
    head->of = native32(source, head->of);
    head->pid = native32(source, head->pid);
    head->tid = native32(source, head->tid);
    head->threads = native32(source, head->threads);
    head->life = native64(source, head->life);
    head->ran = native64(source, head->ran);
    head->until = native64(source, head->until);
    head->rows = native32(source, head->rows);
    head->row_bytes = native32(source, head->row_bytes);
    head->refused = native64(source, head->refused);
}

/* False: FAIL. */
static bool take_table(struct source *source, const struct source_reply *reply, uint64_t after,
                       struct routines_copy *copy, struct fail *fail)
{
    if (reply->size > TRACE_ROUTINES_BYTES_MAX)
        return fail_set(fail, "a table of %zu bytes, which is more than the largest one", reply->size);
    if (reply->size < sizeof(copy->head))
        return fail_set(fail, "a table of %zu bytes, which is less than its head", reply->size);
    memcpy(&copy->head, reply->data, sizeof(copy->head));
    make_native(source, &copy->head);
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
    for (size_t i = 0; i < copy->head.rows * sizeof(*copy->rows) / 8; i++)
        ((uint64_t *)copy->rows)[i] = native64(source, ((uint64_t *)copy->rows)[i]);
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
        const struct wire_request request = {.operation = WIRE_OP_ROUTINES, .a = copy.head.serial};
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

/* ---- names ------------------------------------------------------------------------------------------ */

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
    to->number = native32(source, to->number);
    to->address = native64(source, to->address);
    to->base = native64(source, to->base);
    to->size = native64(source, to->size);
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
        const struct wire_request request = {.operation = WIRE_OP_ROUTINE_NAMES,
                                             .a = TRACE_CONTEXT_NAMED + routines->names.count};
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

bool routines_read(struct routines *routines, const char *name, double wait, struct fail *fail)
{
    struct source *source = open_source(name, wait, fail);

    *routines = (struct routines){0};
    if (source == NULL)
        return false;
    bool is_memory = source->class->memory != NULL;
    bool ok = is_memory ? routines_read_memory(routines, source, fail)
                        : read_tables(routines, source, fail) && read_names(routines, source, fail);
    routines->is_cut = !ok && is_memory && routines->count > 0;
    routines->hello = source->hello;
    source->class->close(source);
    if (!ok && !routines->is_cut) {
        routines_free(routines);
        return false;
    }
    if (routines->is_cut)
        routines->why = *fail;
    routines->moment = routines->count > 0 ? routines->copies[0].head.until : 0;
    return true;
}

uint64_t routines_unfinished(const struct routines *routines)
{
    uint64_t count = 0;

    for (size_t i = 0; i < routines->count; i++)
        for (uint32_t r = 0; r < routines->copies[i].head.rows; r++)
            count += routines->copies[i].rows[r].begun != routines->copies[i].rows[r].ended;
    return count;
}

void routines_complain(const struct routines *routines)
{
    const uint64_t unfinished = routines_unfinished(routines);

    if (unfinished != 0)
        complain("%llu row%s updated while they were read: they may lack a part of an update",
                 (unsigned long long)unfinished, unfinished == 1 ? " was being" : "s were being");
    if (routines->is_cut)
        complain("only %zu tables could be read: %s", routines->count, routines->why.text);
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
    for (size_t i = 0; i < routines->gone_count; i++)
        free(routines->gone[i].rows);
    free(routines->copies);
    free(routines->gone);
    free((void *)routines->names.list);
    *routines = (struct routines){0};
}

/* ---- differences ----------------------------------------------------------------------------------- */

static struct routines_copy *find_copy(const struct routines *routines, uint64_t serial)
{
    for (size_t low = 0, high = routines->count; low < high;) {
        const size_t middle = (low + high) / 2;
        if (routines->copies[middle].head.serial == serial)
            return &routines->copies[middle];
        if (routines->copies[middle].head.serial < serial)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* The table with the times of PID's ended threads. */
static struct routines_copy *find_ended(const struct routines *routines, uint32_t pid)
{
    for (size_t i = 0; i < routines->count; i++)
        if (routines->copies[i].head.of == TRACE_ROUTINES_ENDED && routines->copies[i].head.pid == pid)
            return &routines->copies[i];
    return NULL;
}

void routine_subtract_row(struct trace_routine_row *row, const struct trace_routine_row *old)
{
    row->begun -= old->begun;
    row->ended -= old->ended;
    row->inclusive -= old->inclusive;
    /* in guest memory the moment is an estimate, and the program's time with it: it may seem to shrink */
    row->exclusive = row->exclusive > old->exclusive ? row->exclusive - old->exclusive : 0;
    for (unsigned b = 0; b < TRACE_TABLE_BUCKETS; b++)
        row->times[b] -= old->times[b];
}

/* Whether counting began anew after BEFORE: a thread's table is younger, or a sum is less. */
static bool began_anew(const struct routines *now, const struct routines *before)
{
    for (size_t i = 0; i < before->count; i++) {
        const struct trace_routines *old = &before->copies[i].head;
        const struct routines_copy *copy = find_copy(now, old->serial);
        if (copy != NULL &&
            (copy->head.life < old->life ||
             (copy->head.of == TRACE_ROUTINES_THREAD && copy->head.until - copy->head.life > old->until)))
            return true;
    }
    return false;
}

/* The program's own time is the rest, so it may be negative if a thread has handed its rows on; sums are
 * right. */
static void subtract_copy(struct routines_copy *now, const struct routines_copy *old)
{
    now->head.life -= old->head.life;
    now->head.ran -= old->head.ran;
    for (uint32_t i = 0; i < old->head.rows; i++) {
        struct trace_routine_row *row = trace_routines_find(now->rows, now->head.rows, old->rows[i].key);
        if (row != NULL)
            routine_subtract_row(row, &old->rows[i]);
    }
}

static void subtract(struct routines *now, struct routines_copy *old)
{
    struct routines_copy *heir = find_copy(now, old->head.serial);

    if (heir == NULL)
        heir = find_ended(now, old->head.pid);
    if (heir != NULL) {
        subtract_copy(heir, old);
    } else {
        now->gone = alloc_more(now->gone, now->gone_count + 1, sizeof(*now->gone));
        now->gone[now->gone_count++] = *old;
        old->rows = NULL;
    }
}

bool routines_subtract(struct routines *now, struct routines *before, struct fail *fail)
{
    if (now->hello.clock_offset_ns != before->hello.clock_offset_ns ||
        now->hello.clock_hz != before->hello.clock_hz)
        return fail_set(fail, "the two moments are of different boots: they have no difference");
    const bool is_anew = began_anew(now, before);
    for (size_t i = 0; i < before->count && !is_anew; i++)
        subtract(now, &before->copies[i]);
    routines_free(before);
    return true;
}

/* ---- names and times ------------------------------------------------------------------------------- */

const char *routines_name(const struct trace_routines *head, char name[ROUTINES_NAME_BYTES])
{
    static const char *const whose[] = {"", " (ended threads)", " (ended children)", "ended processes"};

    if (head->of == TRACE_ROUTINES_ORPHANS)
        snprintf(name, ROUTINES_NAME_BYTES, "%s", whose[head->of]);
    else
        snprintf(name, ROUTINES_NAME_BYTES, "%.16s%s", head->name, whose[head->of % 4]);
    for (char *c = name; *c != '\0'; c++)
        if ((unsigned char)*c < ' ' || *c == ';' || (unsigned char)*c > '~')
            *c = '?';
    return name;
}
