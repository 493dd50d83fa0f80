/* SPDX-License-Identifier: BSD-2-Clause */
/* profiles.c - requests profiles one after another, and checks them; see profiles.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tarn/error.h>
#include <tools/tarn/tables/profiles.h>

/* A guest that sends more does not send what it has. */
#define PROFILES_MAX     1000000u
#define PROFILE_ROWS_MAX (1u << 22) /* of all of them: 1.25 GiB */

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
    if (reply->size > TRACE_PROFILE_BYTES_MAX)
        return fail_set(fail, "a profile of %zu bytes, which is more than the largest one", reply->size);
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

static struct profile_copy *next_copy(struct profiles *profiles)
{
    if (profiles->count % 64 == 0)
        profiles->copies = alloc_more(profiles->copies, profiles->count + 64, sizeof(*profiles->copies));
    return &profiles->copies[profiles->count++];
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
    if (profiles->count == PROFILES_MAX || profiles->rows > PROFILE_ROWS_MAX)
        return fail_set(fail, "more than %u profiles, or than %u rows in all of them", PROFILES_MAX,
                        PROFILE_ROWS_MAX);
    struct profile_copy copy;
    if (!take_profile(source, &reply, after, &copy, fail))
        return false;
    profiles->rows += copy.head.rows;
    *next_copy(profiles) = copy;
    return true;
}

/* ---- names ------------------------------------------------------------------------------------------ */

static void append_name(struct profiles *profiles, const struct trace_routine *routine)
{
    struct trace_routine_names *names = &profiles->names;
    struct trace_routine *all = (void *)names->list;

    if (names->count % 64 == 0)
        names->list = all = alloc_more(all, names->count + 64, sizeof(*all));
    all[names->count++] = *routine;
}

/* Takes what is in the order of numbers, so that readers find each by its number. */
static bool take_names(struct source *source, const struct source_reply *reply, struct profiles *profiles,
                       struct fail *fail)
{
    if (reply->size % sizeof(struct trace_routine) != 0)
        return fail_set(fail, "damaged names of routines: %zu bytes, which are not whole ones of %zu",
                        reply->size, sizeof(struct trace_routine));
    for (size_t at = 0; at < reply->size; at += sizeof(struct trace_routine)) {
        const uint32_t number = TRACE_CONTEXT_NAMED + profiles->names.count;
        struct trace_routine routine;
        memcpy(&routine, reply->data + at, sizeof(routine));
        routine.number = native32(source, routine.number);
        routine.address = native64(source, routine.address);
        routine.base = native64(source, routine.base);
        routine.size = native64(source, routine.size);
        if (routine.number != number || number >= TRACE_CONTEXTS)
            return fail_set(fail, "damaged names of routines: number %u in place of %u", routine.number,
                            number);
        routine.program[sizeof(routine.program) - 1] = routine.name[sizeof(routine.name) - 1] = '\0';
        append_name(profiles, &routine);
    }
    return true;
}

/* A guest that knows nothing of names has none, and damaged memory no more. */
static bool read_names(struct source *source, struct profiles *profiles, struct fail *fail)
{
    struct source_reply reply;

    do {
        const struct wire_request request = {.operation = WIRE_OP_ROUTINES,
                                             .a = TRACE_CONTEXT_NAMED + profiles->names.count};
        reply = (struct source_reply){0};
        if (!source_control(source, &request, "names of routines: ", &reply, fail))
            return reply.status == -E_BAD_ARGUMENT || source->class->link == NULL;
        if (!take_names(source, &reply, profiles, fail))
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
            profiles->is_cut = profiles->count > 0 && source->class->link == NULL;
            if (profiles->is_cut)
                break;
            profiles_free(profiles);
            return false;
        }
    if (profiles->is_cut)
        profiles->why = *fail;
    else if (!read_names(source, profiles, fail)) {
        profiles_free(profiles);
        return false;
    }
    profiles->hello = source->hello;
    profiles->moment = profiles->count > 0 ? profiles->copies[0].head.until : 0;
    return true;
}

uint64_t profiles_unfinished(const struct profiles *profiles)
{
    uint64_t count = 0;

    for (size_t i = 0; i < profiles->count; i++)
        for (uint32_t r = 0; r < profiles->copies[i].head.rows; r++)
            count += profiles->copies[i].rows[r].begun != profiles->copies[i].rows[r].ended;
    return count;
}

void profiles_complain(const struct profiles *profiles)
{
    const uint64_t unfinished = profiles_unfinished(profiles);

    if (unfinished != 0)
        complain("%llu row%s updated while they were read: they may lack a part of an update",
                 (unsigned long long)unfinished, unfinished == 1 ? " was being" : "s were being");
    if (profiles->is_cut)
        complain("only %zu profiles could be read: %s", profiles->count, profiles->why.text);
}

void profiles_keep(struct profiles *profiles, uint64_t pid)
{
    size_t kept = 0;

    for (size_t i = 0; i < profiles->count; i++) {
        if (pid == UINT64_MAX || profiles->copies[i].head.pid == pid)
            profiles->copies[kept++] = profiles->copies[i];
        else
            free(profiles->copies[i].rows);
    }
    profiles->count = kept;
}

void profiles_free(struct profiles *profiles)
{
    for (size_t i = 0; i < profiles->count; i++)
        free(profiles->copies[i].rows);
    for (size_t i = 0; i < profiles->gone_count; i++)
        free(profiles->gone[i].rows);
    free(profiles->copies);
    free(profiles->gone);
    free((void *)profiles->names.list);
    *profiles = (struct profiles){0};
}

/* ---- differences ----------------------------------------------------------------------------------- */

static struct profile_copy *find_copy(const struct profiles *profiles, uint64_t serial)
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

/* The profile that got the times of those of PID that ended. */
static struct profile_copy *find_ended(const struct profiles *profiles, uint32_t pid)
{
    for (size_t i = 0; i < profiles->count; i++)
        if (profiles->copies[i].head.of == TRACE_PROFILE_ENDED && profiles->copies[i].head.pid == pid)
            return &profiles->copies[i];
    return NULL;
}

static struct trace_profile_row *find_row(const struct profile_copy *copy, uint64_t key)
{
    for (uint32_t i = 0; i < copy->head.rows; i++)
        if (copy->rows[i].key == key)
            return &copy->rows[i];
    return NULL;
}

void profile_subtract_row(struct trace_profile_row *row, const struct trace_profile_row *old)
{
    row->begun -= old->begun;
    row->ended -= old->ended;
    row->inclusive -= old->inclusive;
    /* in guest memory the moment is an estimate, and the program's time with it: it may seem to shrink */
    row->exclusive = row->exclusive > old->exclusive ? row->exclusive - old->exclusive : 0;
    for (unsigned b = 0; b < TRACE_TABLE_BUCKETS; b++)
        row->times[b] -= old->times[b];
}

/* Whether NOW has all that OLD had. Counting begins anew when profiles are switched on. */
static bool continues(const struct profile_copy *now, const struct profile_copy *old)
{
    if (now->head.life < old->head.life)
        return false;
    for (uint32_t i = 0; i < old->head.rows; i++) {
        const struct trace_profile_row *row = find_row(now, old->rows[i].key);
        if (old->rows[i].ended != 0 && (row == NULL || row->ended < old->rows[i].ended))
            return false;
    }
    return true;
}

/* The program's own time is what is left, so it may be less than nothing where a thread has handed its rows
 * on; sums are right. */
static void subtract_copy(struct profile_copy *now, const struct profile_copy *old)
{
    now->head.life -= old->head.life;
    now->head.ran -= old->head.ran;
    for (uint32_t i = 0; i < old->head.rows; i++) {
        struct trace_profile_row *row = find_row(now, old->rows[i].key);
        if (row != NULL)
            profile_subtract_row(row, &old->rows[i]);
    }
}

static void subtract(struct profiles *now, struct profile_copy *old, bool *is_anew)
{
    struct profile_copy *heir = find_copy(now, old->head.serial);

    if (heir == NULL)
        heir = find_ended(now, old->head.pid);
    if (heir != NULL && continues(heir, old)) {
        subtract_copy(heir, old);
    } else if (heir == NULL) {
        now->gone = alloc_more(now->gone, now->gone_count + 1, sizeof(*now->gone));
        now->gone[now->gone_count++] = *old;
        old->rows = NULL;
    } else {
        *is_anew = true;
    }
}

bool profiles_subtract(struct profiles *now, struct profiles *before, struct fail *fail)
{
    bool is_anew = false;

    if (now->hello.clock_offset_ns != before->hello.clock_offset_ns ||
        now->hello.clock_hz != before->hello.clock_hz)
        return fail_set(fail, "the two moments are of different boots: they have no difference");
    for (size_t i = 0; i < before->count; i++)
        subtract(now, &before->copies[i], &is_anew);
    if (is_anew) { /* what is gone was of before, too */
        for (size_t i = 0; i < now->gone_count; i++)
            free(now->gone[i].rows);
        now->gone_count = 0;
    }
    profiles_free(before);
    return true;
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
