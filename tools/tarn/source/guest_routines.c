/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * guest_routines.c - copies tables of routines out of guest memory; see guest_routines.h.
 *
 * guest_routines_next -> begin_reading finds the moment of all threads; find_next follows the list of heads;
 * copy_steadily copies a table; guest_routines_complete makes the reply of it.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <tools/tarn/source/guest_routines_raw.h>

#define HEADS_MAX    1000000u /* more are a list that leads nowhere */
#define RESTARTS_MAX 100u     /* of a list that changes while it is followed */
#define COPY_TRIES   64u

/* ---- words ----------------------------------------------------------------------------------------- */

static bool copy_words(struct guest *guest, uint64_t physical, void *to, size_t bytes, struct fail *fail)
{
    return physical % 8 == 0 ? memory_read(guest->memory, physical, to, bytes, fail)
                             : fail_set(fail, "%#llx is no address of a table", (unsigned long long)physical);
}

static bool read_list(struct guest *guest, struct trace_routines_list *list, struct fail *fail)
{
    const uint64_t address = guest_info64(guest, offsetof(struct trace_info, routines_list));

    if (address == 0)
        return fail_set(fail,
                        "this guest has no tables in memory: its version of Tarn is older, or it is booting");
    if (!copy_words(guest, address, list, sizeof(*list), fail))
        return false;
    swap_words(guest, list, sizeof(*list));
    swap_halves(guest, &list->row_bytes, 16);
    if (list->magic != TRACE_ROUTINES_LIST_MAGIC || list->row_bytes != sizeof(struct trace_routine_row) ||
        list->rows_at % 8 != 0 || list->rows_at > 4096 || list->first_rows > ROWS_MAX ||
        list->page_rows == 0 || list->page_rows > ROWS_MAX)
        return fail_set(fail, "the list of tables at %#llx is damaged, or of another version of Tarn",
                        (unsigned long long)address);
    return true;
}

/* False: there is none; FAIL. */
static bool read_head(struct guest *guest, uint64_t address, struct trace_routines_head *head,
                      struct fail *fail)
{
    if (!copy_words(guest, address, head, sizeof(*head), fail))
        return false;
    swap_words(guest, head, sizeof(*head));
    swap_halves(guest, &head->of, 16);
    swap_halves(guest, &head->count, 8);
    return (head->magic == TRACE_ROUTINES_HEAD_MAGIC && head->self == address && head->count <= ROWS_MAX &&
            head->of <= TRACE_ROUTINES_ORPHANS && head->program_pages <= TRACE_PROGRAM_PAGES) ||
           fail_set(fail, "the table at %#llx is damaged", (unsigned long long)address);
}

/* ---- copying --------------------------------------------------------------------------------------- */

static bool read_open(struct guest *guest, const struct trace_routines_head *head, struct open_routines *open,
                      struct fail *fail)
{
    memset(open, 0, sizeof(*open));
    return head->open == 0 || copy_words(guest, head->open, open, sizeof(*open), fail);
}

/* Rows of one page, or the first ones. */
static bool copy_rows(struct guest_routines *routines, struct guest *guest, struct routines_raw *raw,
                      struct fail *fail)
{
    const struct trace_routines_list *list = &routines->list;
    const uint32_t count = raw->head.count;
    uint64_t from = raw->head.self + list->rows_at;
    uint32_t done = 0, part = list->first_rows;

    for (unsigned page = 0; done < count; page++) {
        part = part < count - done ? part : count - done;
        if (!copy_words(guest, from, &raw->rows[done], part * sizeof(raw->rows[0]), fail))
            return false;
        done += part;
        if (done < count && page == TRACE_ROUTINES_PAGES)
            return fail_set(fail, "a table says that it has %u rows", count);
        from = page < TRACE_ROUTINES_PAGES ? raw->head.page[page] : 0;
        part = list->page_rows;
    }
    return true;
}

/* If the program's pages cannot be read, it has no rows. */
static void copy_program(struct guest *guest, struct routines_raw *raw)
{
    struct fail ignored;

    for (uint32_t i = 0; i < raw->head.program_pages; i++)
        if (!copy_words(guest, raw->head.program_page[i], (char *)program_of(raw) + i * PAGE_BYTES,
                        PAGE_BYTES, &ignored))
            raw->head.program_pages = 0;
}

/* If the program's pages cannot be read, rows have neither context nor name. */
static bool copy_table(struct guest_routines *routines, struct guest *guest, uint64_t address,
                       struct routines_raw *raw, struct fail *fail)
{
    struct fail ignored;

    if (!read_head(guest, address, &raw->head, fail) || !read_open(guest, &raw->head, &raw->open, fail) ||
        !copy_rows(routines, guest, raw, fail))
        return false;
    if (raw->head.context == 0 || !copy_words(guest, raw->head.context, &raw->context, 8, &ignored))
        raw->context = 0;
    if (raw->head.name == 0 ||
        !memory_read(guest->memory, raw->head.name, raw->name, sizeof(raw->name), &ignored))
        memset(raw->name, 0, sizeof(raw->name));
    copy_program(guest, raw);
    return true;
}

/* ---- the list -------------------------------------------------------------------------------------- */

/* Learns the time from all that a thread's table shows. */
static void learn(struct guest_routines *routines, struct guest *guest,
                  const struct trace_routines_head *head)
{
    struct fail ignored;

    if (head->open != 0 && head->epoch == routines->list.epoch &&
        copy_table(routines, guest, head->self, routines->raw[0], &ignored))
        guest_routines_complete(routines, guest);
}

/* Follows the list from ADDRESS to the first head behind serial number AFTER. *address is its address, or 0:
 * there is none. LEARNS: learns the time from all heads on the way. False: FAIL, the list is damaged, or
 * has changed. */
static bool follow(struct guest_routines *routines, struct guest *guest, uint64_t *address, uint64_t after,
                   bool learns, struct fail *fail)
{
    struct trace_routines_head head;
    uint64_t last = 0;

    for (unsigned i = 0; i < HEADS_MAX && *address != 0; i++) {
        if (!read_head(guest, *address, &head, fail))
            return false;
        if (head.serial <= last)
            return fail_set(fail, "the list of tables leads back at %#llx", (unsigned long long)*address);
        if (learns)
            learn(routines, guest, &head);
        else if (head.serial > after && head.epoch == routines->list.epoch)
            return true;
        last = head.serial;
        *address = head.next;
    }
    return *address == 0 || fail_set(fail, "the list of tables does not end");
}

/* Whether the table copied last is still in the list; then *address is its successor's. */
static bool successor(const struct guest_routines *routines, struct guest *guest, uint64_t after,
                      uint64_t *address)
{
    struct trace_routines_head head;
    struct fail ignored;

    if (routines->at == 0 || routines->serial != after || !read_head(guest, routines->at, &head, &ignored) ||
        head.serial != after)
        return false;
    *address = head.next;
    return true;
}

static bool find_next(struct guest_routines *routines, struct guest *guest, uint64_t after, uint64_t *address,
                      struct fail *fail)
{
    for (unsigned i = 0; i < RESTARTS_MAX; i++) {
        if (!read_list(guest, &routines->list, fail))
            return false;
        if (!successor(routines, guest, after, address))
            *address = routines->list.first;
        if (follow(routines, guest, address, after, false, fail))
            return true;
        if (!guest->memory->live)
            return false;
        routines->at = 0;
    }
    return false;
}

/* ---- copying steadily ------------------------------------------------------------------------------ */

static bool has_unfinished(const struct routines_raw *raw)
{
    for (uint32_t i = 0; i < raw->head.count; i++)
        if (raw->rows[i].begun != raw->rows[i].ended)
            return true;
    return raw->head.changes % 2 != 0;
}

static bool has_same_program(struct routines_raw *a, struct routines_raw *b)
{
    return a->head.program_pages == b->head.program_pages &&
           memcmp(program_of(a), program_of(b), a->head.program_pages * PAGE_BYTES) == 0;
}

static bool is_same(struct routines_raw *a, struct routines_raw *b)
{
    return a->head.count == b->head.count && memcmp(a, b, RAW_BYTES(a->head.count)) == 0 &&
           has_same_program(a, b);
}

/* A row that changed from one copy to the other has no moment. The bytes are in the guest's order. */
static void mark_changed(const struct guest *guest, struct routines_raw *raw,
                         const struct routines_raw *other)
{
    for (uint32_t i = 0; i < raw->head.count; i++) {
        struct trace_routine_row *row = &raw->rows[i];
        if (row->begun == row->ended &&
            (i >= other->head.count || memcmp(row, &other->rows[i], sizeof(*row)) != 0))
            row->begun = guest_64(guest, guest_64(guest, row->ended) + 1);
    }
}

/* Copies to raw[0]. */
static bool copy_steadily(struct guest_routines *routines, struct guest *guest, uint64_t address,
                          struct fail *fail)
{
    struct routines_raw **raw = routines->raw;

    routines->program_changed = false;
    if (!copy_table(routines, guest, address, raw[0], fail))
        return false;
    for (unsigned tries = 1; guest->memory->live; tries++) {
        if (!copy_table(routines, guest, address, raw[1], fail))
            return false;
        if (is_same(raw[0], raw[1]) && !has_unfinished(raw[0]))
            return true;
        struct routines_raw *older = raw[0];
        raw[0] = raw[1], raw[1] = older;
        if (tries == COPY_TRIES)
            break;
        if (tries % 8 == 0)
            nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    if (guest->memory->live) {
        mark_changed(guest, raw[0], raw[1]);
        routines->program_changed = !has_same_program(raw[0], raw[1]);
    }
    return true;
}

/* The moment of all tables of a reading is the same, if memory does not change. */
static bool begin_reading(struct guest_routines *routines, struct guest *guest, struct fail *fail)
{
    struct fail ignored;

    for (unsigned i = 0; i < 2 && routines->raw[i] == NULL; i++)
        routines->raw[i] = alloc_zero(1, RAW_BYTES(ROWS_MAX) + TRACE_PROGRAM_PAGES * PAGE_BYTES);
    if (routines->reply == NULL)
        routines->reply = alloc_zero(1, TRACE_ROUTINES_BYTES_MAX);
    routines->at = routines->now = 0;
    if (!read_list(guest, &routines->list, fail))
        return false;
    routines->now = routines->list.latest;
    uint64_t address = routines->list.first;
    follow(routines, guest, &address, 0, true, &ignored); /* damage is found again */
    return true;
}

bool guest_routines_next(struct guest_routines *routines, struct guest *guest, uint64_t after, size_t *size,
                         struct fail *fail)
{
    uint64_t address = 0;

    *size = 0;
    if ((after == 0 || routines->reply == NULL) && !begin_reading(routines, guest, fail))
        return false;
    for (unsigned i = 0; i < RESTARTS_MAX; i++) {
        if (!find_next(routines, guest, after, &address, fail))
            return false;
        if (address == 0)
            return true;
        if (copy_steadily(routines, guest, address, fail) && routines->raw[0]->head.serial > after) {
            routines->at = address;
            routines->serial = routines->raw[0]->head.serial;
            *size = guest_routines_complete(routines, guest);
            return true;
        }
        if (!guest->memory->live)
            return false;
        routines->at = 0; /* it ended meanwhile */
    }
    return fail_set(fail, "the list of tables keeps changing; try again");
}

/* ---- names ------------------------------------------------------------------------------------------ */

static bool read_routines(struct guest_routines *routines, struct guest *guest,
                          struct trace_routine_list *list, struct fail *fail)
{
    if (!copy_words(guest, routines->list.routines, list, sizeof(*list), fail))
        return false;
    swap_words(guest, list, sizeof(*list));
    swap_halves(guest, &list->count, 8);
    if (list->epoch != routines->list.epoch)
        list->count = 0;
    return list->count <= TRACE_NAME_PAGES * TRACE_NAMES_PER_PAGE ||
           fail_set(fail, "the list of names of routines is damaged");
}

bool guest_routines_names(struct guest_routines *routines, struct guest *guest, uint64_t from, size_t *size,
                          struct fail *fail)
{
    const size_t bytes = sizeof(struct trace_routine), most = TRACE_ROUTINES_BYTES_MAX / bytes;
    struct trace_routine_list list;

    *size = 0;
    if (routines->reply == NULL && !begin_reading(routines, guest, fail))
        return false;
    if (!read_routines(routines, guest, &list, fail))
        return false;
    uint64_t index = from > TRACE_CONTEXT_NAMED ? from - TRACE_CONTEXT_NAMED : 0;
    for (size_t i = 0; i < most && index < list.count; i++, index++) {
        const uint64_t page = list.page[index / TRACE_NAMES_PER_PAGE];
        if (!copy_words(guest, page + index % TRACE_NAMES_PER_PAGE * bytes, routines->reply + *size, bytes,
                        fail))
            return false;
        *size += bytes;
    }
    return true;
}

void guest_routines_free(struct guest_routines *routines)
{
    free(routines->raw[0]);
    free(routines->raw[1]);
    free(routines->reply);
    *routines = (struct guest_routines){0};
}
