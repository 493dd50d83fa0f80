/*
 * routines_memory.c - copies tables of routines out of guest memory, without the guest's help; FORMAT.md,
 * "Routines". Interface: moment.h.
 *
 * Copies all tables as they are, learns from them how late the guest's clock was, and then completes each as
 * the kernel does (trace/ring/routine_copy.h). Of a running guest a table is copied until two copies agree:
 * these are of one moment. If none agree, its program row has more updates begun than ended. Contents are
 * untrusted: every address, number and size is checked, and a list that leads in a circle ends.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <tools/tarn/source/guest.h>
#include <tools/tarn/tables/moment.h>
#include <trace/ring/routine_copy.h>

#define RESTARTS_MAX 4000u /* of a list that changes while it is followed, from one table to the next */
#define COPY_TRIES   64u
#define ROWS_MAX     1024u /* more than a table can have */
#define PAGE_BYTES   4096u
#define LATE_SECONDS 60u /* a time that is later than the kernel's last noted moment by more is damaged */

/* A table as it is in memory. */
struct raw {
    struct trace_routines_head head;
    struct open_routines open;
    uint64_t context;
    char name[16];
    struct trace_routines_row rows[]; /* head.count; then the head.program_pages that the program writes */
};

struct reading {
    struct guest *guest;
    struct trace_routines_list list; /* in host byte order, checked */
    struct raw **raws;
    size_t count, size;
    uint64_t now; /* ticks: the clock was at least so late */
};

static size_t raw_bytes(const struct trace_routines_head *head)
{
    return sizeof(struct raw) + head->count * sizeof(struct trace_routines_row) +
           head->program_pages * PAGE_BYTES;
}

static struct trace_program *program_of(struct raw *raw)
{
    return (struct trace_program *)&raw->rows[raw->head.count];
}

/* ---- words ----------------------------------------------------------------------------------------- */

/* Swaps the two 32-bit fields of words whose bytes have been swapped. */
static void swap_halves(const struct guest *guest, void *pairs, size_t bytes)
{
    for (size_t i = 0; guest->swap && i < bytes / 8; i++) {
        uint64_t *word = (uint64_t *)pairs + i;
        *word = *word >> 32 | *word << 32;
    }
}

/* In the host's byte order. */
static bool copy_words(const struct guest *guest, uint64_t physical, void *to, size_t bytes,
                       struct fail *fail)
{
    if (physical % 8 != 0)
        return fail_set(fail, "%#llx is no address of a table", (unsigned long long)physical);
    if (!memory_read(guest->memory, physical, to, bytes, fail))
        return false;
    for (size_t i = 0; guest->swap && i < bytes / 8; i++)
        ((uint64_t *)to)[i] = __builtin_bswap64(((uint64_t *)to)[i]);
    return true;
}

static bool read_list(struct reading *reading, struct fail *fail)
{
    struct guest *guest = reading->guest;
    struct trace_routines_list *list = &reading->list;
    const uint64_t address = guest_info64(guest, offsetof(struct trace_info, routines_list));
    if (address == 0)
        return fail_set(fail,
                        "this guest has no tables in memory: its version of Tarn is older, or it is booting");
    if (!copy_words(guest, address, list, sizeof(*list), fail))
        return false;
    swap_halves(guest, &list->row_bytes, 16);
    if (list->magic != TRACE_ROUTINES_LIST_MAGIC || list->row_bytes != sizeof(struct trace_routines_row) ||
        list->rows_at % 8 != 0 || list->rows_at > 4096 || list->first_rows > ROWS_MAX ||
        list->page_rows == 0 || list->page_rows > ROWS_MAX)
        return fail_set(fail, "the list of tables at %#llx is damaged, or of another version of Tarn",
                        (unsigned long long)address);
    return true;
}

static bool read_head(const struct guest *guest, uint64_t address, struct trace_routines_head *head,
                      struct fail *fail)
{
    if (!copy_words(guest, address, head, sizeof(*head), fail))
        return false;
    swap_halves(guest, &head->of, 16);
    swap_halves(guest, &head->count, 8);
    return (head->magic == TRACE_ROUTINES_HEAD_MAGIC && head->self == address && head->count <= ROWS_MAX &&
            head->of <= TRACE_ROUTINES_ORPHANS && head->program_pages <= TRACE_PROGRAM_PAGES) ||
           fail_set(fail, "the table at %#llx is damaged", (unsigned long long)address);
}

/* ---- copying --------------------------------------------------------------------------------------- */

/* Rows of one page, or the first ones. */
static bool copy_rows(const struct reading *reading, struct raw *raw, struct fail *fail)
{
    const uint32_t count = raw->head.count;
    uint64_t from = raw->head.self + reading->list.rows_at;
    uint32_t done = 0, part = reading->list.first_rows;
    for (unsigned page = 0; done < count; page++) {
        part = part < count - done ? part : count - done;
        if (!copy_words(reading->guest, from, &raw->rows[done], part * sizeof(raw->rows[0]), fail))
            return false;
        done += part;
        if (done < count && page == TRACE_ROUTINES_PAGES)
            return fail_set(fail, "a table says that it has %u rows", count);
        from = page < TRACE_ROUTINES_PAGES ? raw->head.page[page] : 0;
        part = reading->list.page_rows;
    }
    return true;
}

/* If the program's pages cannot be read, it has no rows, and the kernel's rows have no context. */
static void copy_program(const struct guest *guest, struct raw *raw)
{
    struct fail ignored;
    if (raw->head.context == 0 || !copy_words(guest, raw->head.context, &raw->context, 8, &ignored))
        raw->context = 0;
    for (uint32_t i = 0; i < raw->head.program_pages; i++)
        if (!copy_words(guest, raw->head.program_page[i], (char *)program_of(raw) + i * PAGE_BYTES,
                        PAGE_BYTES, &ignored))
            raw->head.program_pages = 0;
    if (raw->head.program_pages > 0)
        swap_halves(guest, &program_of(raw)->rows, 16);
}

/* Returns a copy, to be freed; NULL: FAIL. */
static struct raw *copy_table(const struct reading *reading, uint64_t address, struct fail *fail)
{
    struct trace_routines_head head;
    struct fail ignored;
    if (!read_head(reading->guest, address, &head, fail))
        return NULL;
    struct raw *raw = alloc_zero(1, raw_bytes(&head));
    raw->head = head;
    if ((head.open != 0 && !copy_words(reading->guest, head.open, &raw->open, sizeof(raw->open), fail)) ||
        !copy_rows(reading, raw, fail)) {
        free(raw);
        return NULL;
    }
    swap_halves(reading->guest, &raw->open.depth, 8);
    if (head.name == 0 ||
        !memory_read(reading->guest->memory, head.name, raw->name, sizeof(raw->name), &ignored))
        memset(raw->name, 0, sizeof(raw->name));
    copy_program(reading->guest, raw);
    return raw;
}

static bool has_unfinished(const struct raw *raw)
{
    for (uint32_t i = 0; i < raw->head.count; i++)
        if (raw->rows[i].begun != raw->rows[i].ended)
            return true;
    return raw->head.changes % 2 != 0;
}

/* As copy_table. Of live memory, a copy of one moment; or it is marked as one in the middle of a change. */
static struct raw *copy_steadily(const struct reading *reading, uint64_t address, struct fail *fail)
{
    struct raw *raw = copy_table(reading, address, fail), *older = NULL;
    for (unsigned tries = 1; reading->guest->memory->live && raw != NULL; tries++) {
        free(older);
        older = raw;
        raw = copy_table(reading, address, fail);
        if (raw != NULL && raw_bytes(&raw->head) == raw_bytes(&older->head) &&
            memcmp(raw, older, raw_bytes(&raw->head)) == 0 && !has_unfinished(raw))
            break;
        if (raw != NULL && tries == COPY_TRIES) {
            raw->head.changes |= 1;
            break;
        }
        if (tries % 8 == 0)
            nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    free(older);
    return raw;
}

static bool add_table(struct reading *reading, const struct trace_routines_head *head, struct fail *fail)
{
    struct raw *raw = copy_steadily(reading, head->self, fail);
    if (raw == NULL || raw->head.serial != head->serial) { /* it ended meanwhile */
        free(raw);
        return false;
    }
    reading->raws = array_grow(reading->raws, reading->count, &reading->size, sizeof(reading->raws[0]));
    reading->raws[reading->count++] = raw;
    return true;
}

/* Tables are in the list in the order of their serial numbers. If a table on the way is removed, the walk
 * begins anew. False: FAIL; the tables before the damage have been copied. */
static bool copy_tables(struct reading *reading, struct fail *fail)
{
    uint64_t address = reading->list.first, before = 0, last = 0;
    unsigned restarts = 0;
    while (address != 0) {
        struct trace_routines_head head;
        bool ok = read_head(reading->guest, address, &head, fail) &&
                  (head.serial > before ||
                   fail_set(fail, "the list of tables leads back at %#llx", (unsigned long long)address));
        if (ok && head.serial > last && head.epoch == reading->list.epoch) {
            ok = add_table(reading, &head, fail);
            last = ok ? head.serial : last;
            restarts = ok ? 0 : restarts;
        }
        before = ok ? head.serial : 0;
        address = head.next;
        if (ok)
            continue;
        if (!reading->guest->memory->live || !read_list(reading, fail))
            return false;
        if (restarts++ == RESTARTS_MAX)
            return fail_set(fail, "the list of tables keeps changing; try again");
        if (restarts % 8 == 0) /* a vCPU may have stopped in the middle of a change */
            nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        address = reading->list.first;
    }
    return true;
}

/* A time that is far from the others is not believed. */
static void learn_time(struct reading *reading, uint64_t time)
{
    const uint64_t latest = reading->list.latest;
    if (time > reading->now && time >= latest &&
        time - latest < LATE_SECONDS * reading->guest->store.clock_hz)
        reading->now = time;
}

/* The clock is not earlier than anything that a living thread's rows show. */
static void learn_from(struct reading *reading, struct raw *raw)
{
    if (raw->head.open == 0)
        return;
    for (uint32_t i = 0; i < raw->open.depth && i < OPEN_ROUTINES_MAX; i++)
        learn_time(reading, raw->open.at[i].since + raw->open.at[i].nested);
    learn_time(reading,
               raw->head.born + trace_routines_time(raw->rows, raw->head.count, TRACE_ROUTINES_NESTED));
}

/* ---- completing ------------------------------------------------------------------------------------ */

static struct trace_program_pages program_pages(struct raw *raw)
{
    struct trace_program_pages pages = {.epoch = raw->head.epoch, .count = raw->head.program_pages};
    for (uint32_t i = 0; i < pages.count; i++)
        pages.page[i] = (char *)program_of(raw) + i * PAGE_BYTES;
    trace_program_begin(&pages);
    return pages;
}

static bool complete(const struct reading *reading, struct raw *raw, struct routines *routines,
                     struct fail *fail)
{
    const struct trace_program_pages pages = program_pages(raw);
    const uint64_t rows = (uint64_t)raw->head.count + pages.rows + TRACE_ROUTINES_ROWS_BESIDES;
    struct routines_copy made = {.head = {.serial = raw->head.serial,
                                          .epoch = raw->head.epoch,
                                          .of = raw->head.of,
                                          .pid = raw->head.pid,
                                          .tid = raw->head.tid,
                                          .threads = raw->head.threads,
                                          .life = raw->head.life,
                                          .refused = raw->head.refused,
                                          .rows = raw->head.count},
                                 .rows = alloc_zero(rows, sizeof(raw->rows[0]))};
    struct trace_routines_copy copy = {.head = &made.head, .rows = made.rows, .now = reading->now};
    memcpy(made.head.name, raw->name, sizeof(raw->name));
    memcpy(made.rows, raw->rows, raw->head.count * sizeof(raw->rows[0]));
    if (raw->head.open != 0) {
        if (reading->list.until != 0)
            copy.now = reading->list.until;
        made.head.life = copy.now > raw->head.born ? copy.now - raw->head.born : 0;
        trace_routines_add_living(&copy, raw->head.born, &raw->open, raw->context, &pages);
    }
    const uint64_t inside = trace_routines_time(made.rows, made.head.rows, TRACE_ROUTINES_NESTED);
    struct trace_routines_row *rest = trace_routines_add_rest(&copy);
    rest->begun = inside > made.head.life || raw->head.changes % 2 != 0; /* not all of one moment */
    trace_routines_drop_empty(&copy);
    made.head.until = copy.now;
    return routines_append(routines, &made, fail);
}

/* Names before damage are enough. */
static bool read_names(struct reading *reading, struct source *source, struct routines *routines,
                       struct fail *fail)
{
    struct trace_routine_list list;
    struct trace_routine name;
    if (!copy_words(reading->guest, reading->list.routines, &list, sizeof(list), fail))
        return true;
    swap_halves(reading->guest, &list.count, 8);
    if (list.epoch != reading->list.epoch || list.count > TRACE_NAME_PAGES * TRACE_NAMES_PER_PAGE)
        return true;
    for (uint32_t i = 0; i < list.count; i++) {
        const uint64_t place = i % TRACE_NAMES_PER_PAGE * sizeof(name);
        if (!memory_read(reading->guest->memory, list.page[i / TRACE_NAMES_PER_PAGE] + place, &name,
                         sizeof(name), fail))
            return true;
        if (!routines_append_name(routines, source, &name, fail))
            return false;
    }
    return true;
}

bool routines_read_memory(struct routines *routines, struct source *source, struct fail *fail)
{
    struct reading reading = {.guest = guest_of_source(source, fail)};
    if (reading.guest == NULL || !read_list(&reading, fail))
        return false;
    bool ok = copy_tables(&reading, fail);
    reading.now = reading.list.latest;
    for (size_t i = 0; i < reading.count; i++)
        learn_from(&reading, reading.raws[i]);
    for (size_t i = 0; i < reading.count; i++) {
        ok = complete(&reading, reading.raws[i], routines, fail) && ok;
        free(reading.raws[i]);
    }
    free(reading.raws);
    return ok && read_names(&reading, source, routines, fail);
}
