/* SPDX-License-Identifier: BSD-2-Clause */
/* profiles.c - requests profiles one after another, and checks them; see profiles.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tarn/error.h>
#include <tools/tarn/tables/profiles.h>

#define PROFILES_MAX 1000000u /* a guest that sends more does not send what it has */

static uint64_t native64(const struct source *source, uint64_t value)
{
    return hello_is_native(&source->hello) ? value : __builtin_bswap64(value);
}

static uint32_t native32(const struct source *source, uint32_t value)
{
    return hello_is_native(&source->hello) ? value : __builtin_bswap32(value);
}

static void make_native(const struct source *source, struct trace_profile *head)
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
static bool take_profile(struct source *source, const struct source_reply *reply, uint64_t after,
                         struct profile_copy *copy, struct fail *fail)
{
    if (reply->size < sizeof(copy->head))
        return fail_set(fail, "a profile of %zu bytes, which is less than its head", reply->size);
    memcpy(&copy->head, reply->data, sizeof(copy->head));
    make_native(source, &copy->head);
    if (copy->head.row_bytes != sizeof(*copy->rows))
        return fail_set(fail,
                        "rows of profiles have %u bytes instead of %zu: the guest's version is another one",
                        copy->head.row_bytes, sizeof(*copy->rows));
    if (copy->head.serial <= after || copy->head.of > TRACE_PROFILE_ORPHANS ||
        (reply->size - sizeof(copy->head)) / sizeof(*copy->rows) != copy->head.rows ||
        (reply->size - sizeof(copy->head)) % sizeof(*copy->rows) != 0)
        return fail_set(fail, "a damaged profile: number %llu, %u rows in %zu bytes",
                        (unsigned long long)copy->head.serial, copy->head.rows, reply->size);
    copy->rows = alloc_zero(copy->head.rows + 1ull, sizeof(*copy->rows));
    memcpy(copy->rows, reply->data + sizeof(copy->head), copy->head.rows * sizeof(*copy->rows));
    for (size_t i = 0; i < copy->head.rows * sizeof(*copy->rows) / 8; i++)
        ((uint64_t *)copy->rows)[i] = native64(source, ((uint64_t *)copy->rows)[i]);
    return true;
}

/* Adds the next one; *more: whether there was any. */
static bool read_next(struct profiles *profiles, struct source *source, bool *more, struct fail *fail)
{
    const uint64_t after = profiles->count > 0 ? profiles->copies[profiles->count - 1].head.serial : 0;
    const struct wire_request request = {.operation = WIRE_OP_PROFILES, .a = after};
    struct source_reply reply = {0};

    if (!source_control(source, &request, "the profiles: ", &reply, fail))
        return reply.status == -E_BAD_ARGUMENT
                   ? fail_set(fail, "this system has no profiles: its version of Tarn is older")
                   : false;
    *more = reply.size > 0;
    if (!*more)
        return true;
    if (profiles->count == PROFILES_MAX)
        return fail_set(fail, "more than %u profiles", PROFILES_MAX);
    if (profiles->count % 64 == 0)
        profiles->copies = alloc_more(profiles->copies, profiles->count + 64, sizeof(*profiles->copies));
    if (!take_profile(source, &reply, after, &profiles->copies[profiles->count], fail))
        return false;
    profiles->count++;
    return true;
}

/* ---- names ------------------------------------------------------------------------------------------ */

/* Takes what is in the order of numbers, so that readers find each by its number. */
static bool take_names(struct source *source, const struct source_reply *reply,
                       struct trace_routine_names *names, struct fail *fail)
{
    const size_t count = reply->size / sizeof(struct trace_routine);
    struct trace_routine *list =
        alloc_more((void *)names->list, names->count + count + 1, sizeof(struct trace_routine));

    names->list = list;
    memcpy(list + names->count, reply->data, count * sizeof(*list));
    for (const size_t end = names->count + count; names->count < end; names->count++) {
        struct trace_routine *routine = &list[names->count];
        routine->number = native32(source, routine->number);
        routine->address = native64(source, routine->address);
        routine->base = native64(source, routine->base);
        routine->size = native64(source, routine->size);
        if (routine->number != TRACE_CONTEXT_NAMED + names->count || routine->number >= TRACE_CONTEXTS)
            return fail_set(fail, "damaged names of routines: number %u in place of %u", routine->number,
                            TRACE_CONTEXT_NAMED + names->count);
        routine->program[sizeof(routine->program) - 1] = routine->name[sizeof(routine->name) - 1] = '\0';
    }
    return true;
}

/* A guest that knows nothing of names has none. */
static bool read_names(struct source *source, struct trace_routine_names *names, struct fail *fail)
{
    struct source_reply reply;

    do {
        const struct wire_request request = {.operation = WIRE_OP_ROUTINES,
                                             .a = TRACE_CONTEXT_NAMED + names->count};
        reply = (struct source_reply){0};
        if (!source_control(source, &request, "names of routines: ", &reply, fail))
            return reply.status == -E_BAD_ARGUMENT;
        if (!take_names(source, &reply, names, fail))
            return false;
    } while (reply.size >= sizeof(struct trace_routine));
    return true;
}

bool profiles_read(struct profiles *profiles, struct source *source, struct fail *fail)
{
    bool more = true;

    *profiles = (struct profiles){0};
    while (more)
        if (!read_next(profiles, source, &more, fail)) {
            profiles_free(profiles);
            return false;
        }
    if (!read_names(source, &profiles->names, fail)) {
        profiles_free(profiles);
        return false;
    }
    return true;
}

void profiles_free(struct profiles *profiles)
{
    for (size_t i = 0; i < profiles->count; i++)
        free(profiles->copies[i].rows);
    free(profiles->copies);
    free((void *)profiles->names.list);
    *profiles = (struct profiles){0};
}

/* ---- differences ----------------------------------------------------------------------------------- */

static const struct profile_copy *find_copy(const struct profiles *profiles, uint64_t serial)
{
    for (size_t low = 0, high = profiles->count; low < high;) {
        const size_t middle = (low + high) / 2;
        if (profiles->copies[middle].head.serial == serial)
            return &profiles->copies[middle];
        if (profiles->copies[middle].head.serial < serial)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

static const struct trace_profile_row *find_row(const struct profile_copy *copy, uint64_t key)
{
    for (uint32_t i = 0; i < copy->head.rows; i++)
        if (copy->rows[i].key == key)
            return &copy->rows[i];
    return NULL;
}

static void subtract_copy(struct profile_copy *now, const struct profile_copy *before)
{
    now->head.life -= before->head.life;
    now->head.ran -= before->head.ran;
    for (uint32_t i = 0; i < now->head.rows; i++) {
        struct trace_profile_row *row = &now->rows[i];
        const struct trace_profile_row *old = find_row(before, row->key);
        if (old == NULL)
            continue;
        row->begun -= old->begun;
        row->ended -= old->ended;
        row->inclusive -= old->inclusive;
        row->exclusive -= old->exclusive;
        for (unsigned b = 0; b < TRACE_PROFILE_BUCKETS; b++)
            row->times[b] -= old->times[b];
    }
}

void profiles_subtract(struct profiles *now, const struct profiles *before)
{
    for (size_t i = 0; i < now->count; i++) {
        const struct profile_copy *old = find_copy(before, now->copies[i].head.serial);
        if (old != NULL && old->head.of == now->copies[i].head.of)
            subtract_copy(&now->copies[i], old);
    }
}

/* ---- what they say --------------------------------------------------------------------------------- */

uint64_t profile_time_out(const struct profile_copy *copy)
{
    uint64_t time = 0;

    for (uint32_t i = 0; i < copy->head.rows; i++)
        if (trace_routine_kind(copy->rows[i].key) == TRACE_ROUTINE_OUT)
            time += copy->rows[i].exclusive;
    return time;
}

const char *profile_name(const struct trace_profile *head, char name[PROFILE_NAME_BYTES])
{
    static const char *const whose[] = {"", " (ended threads)", " (ended children)", "ended processes"};

    if (head->of == TRACE_PROFILE_ORPHANS)
        snprintf(name, PROFILE_NAME_BYTES, "%s", whose[head->of]);
    else
        snprintf(name, PROFILE_NAME_BYTES, "%.16s%s", head->name, whose[head->of % 4]);
    for (char *c = name; *c != '\0'; c++)
        if ((unsigned char)*c < ' ' || *c == ';' || (unsigned char)*c > '~')
            *c = '?';
    return name;
}
