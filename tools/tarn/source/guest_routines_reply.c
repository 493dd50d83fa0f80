/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * guest_routines_reply.c - completes the copy of a table: open routines, the program's own
 * time, and the guest's byte order; see guest_routines_raw.h.
 */
#include <string.h>
#include <tools/tarn/source/guest_routines_raw.h>

void guest_routines_learn(struct guest_routines *routines, const struct guest *guest, uint64_t time)
{
    const uint64_t latest = routines->list.latest;

    if (time > routines->now && time >= latest && time - latest < LATE_SECONDS * guest->store.clock_hz)
        routines->now = time;
}

/* A living thread's moment: not before anything that its rows show. */
static uint64_t moment_of(struct guest_routines *routines, struct guest *guest,
                          const struct routines_raw *raw, const struct trace_routines_copy *copy)
{
    if (routines->list.until != 0)
        return routines->list.until;
    for (uint32_t i = 0; i < raw->open.depth && i < OPEN_ROUTINES_MAX; i++)
        guest_routines_learn(routines, guest, raw->open.at[i].since + raw->open.at[i].nested);
    guest_routines_learn(routines, guest, raw->head.born + trace_routines_in_kernel(copy));
    return routines->now;
}

static struct trace_program_pages program_pages(const struct guest *guest, struct routines_raw *raw)
{
    struct trace_program *program = program_of(raw);
    struct trace_program_pages pages = {.epoch = raw->head.epoch, .count = raw->head.program_pages};

    swap_words(guest, program, pages.count * PAGE_BYTES);
    if (pages.count > 0)
        swap_halves(guest, &program->rows, 16);
    for (uint32_t i = 0; i < pages.count; i++)
        pages.page[i] = (char *)program + i * PAGE_BYTES;
    trace_program_begin(&pages);
    return pages;
}

/* Computes the scheduler's counts, which lie elsewhere: a thread ran while it was not out. */
static void add_living(struct guest_routines *routines, struct guest *guest, struct routines_raw *raw,
                       struct trace_routines_copy *copy)
{
    make_open_native(guest, &raw->open);
    copy->now = moment_of(routines, guest, raw, copy);
    copy->head->life = copy->now > raw->head.born ? copy->now - raw->head.born : 0;
    const struct trace_program_pages pages = program_pages(guest, raw);
    /* rows of a program that changed while they were copied have no moment */
    trace_routines_add_living(copy, raw->head.born, &raw->open, guest_64(guest, raw->context), &pages,
                              routines->program_changed);
    const uint64_t out = trace_routines_time(copy->rows, copy->head->rows, TRACE_ROUTINE_OUT);
    copy->head->ran = out < copy->head->life ? copy->head->life - out : 0;
}

/* The program's time may be negative if other times are of another moment. IS_CHANGING: the memory does not
 * change any more, and has the table in the middle of a change. */
static void add_program(struct trace_routines_copy *copy, bool is_changing)
{
    const bool fits = trace_routines_in_kernel(copy) <= copy->head->life;

    trace_routines_add_program(copy);
    if (fits && !is_changing)
        return;
    struct trace_routine_row *program =
        trace_routines_row_of(copy, trace_routine_key(TRACE_ROUTINE_PROGRAM, 0));
    program->exclusive = fits ? program->exclusive : 0;
    program->begun = program->ended + 1;
}

static void put_in_guest_order(const struct guest *guest, struct trace_routines *head, size_t bytes)
{
    char name[sizeof(head->name)];

    memcpy(name, head->name, sizeof(name));
    swap_halves(guest, &head->of, 16);
    swap_halves(guest, &head->rows, 8);
    swap_words(guest, head, bytes);
    memcpy(head->name, name, sizeof(name));
}

size_t guest_routines_complete(struct guest_routines *routines, struct guest *guest)
{
    struct routines_raw *raw = routines->raw[0];
    struct trace_routines *head = (struct trace_routines *)routines->reply;
    struct trace_routines_copy copy = {.head = head, .rows = (struct trace_routine_row *)(head + 1)};

    *head = (struct trace_routines){.serial = raw->head.serial,
                                    .of = raw->head.of,
                                    .pid = raw->head.pid,
                                    .tid = raw->head.tid,
                                    .threads = raw->head.threads,
                                    .life = raw->head.life,
                                    .ran = raw->head.ran,
                                    .refused = raw->head.refused,
                                    .rows = raw->head.count,
                                    .row_bytes = sizeof(copy.rows[0])};
    memcpy(head->name, raw->name, sizeof(head->name));
    memcpy(copy.rows, raw->rows, raw->head.count * sizeof(copy.rows[0]));
    swap_words(guest, copy.rows, raw->head.count * sizeof(copy.rows[0]));
    copy.now = routines->now;
    if (raw->head.open != 0)
        add_living(routines, guest, raw, &copy);
    add_program(&copy, raw->head.changes % 2 != 0);
    trace_routines_drop_empty(&copy);
    head->until = copy.now;
    const size_t bytes = sizeof(*head) + head->rows * sizeof(copy.rows[0]);
    put_in_guest_order(guest, head, bytes);
    return bytes;
}
