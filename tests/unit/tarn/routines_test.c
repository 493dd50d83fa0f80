/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * routines_test.c - tables of routines in guest memory that this program makes, in both byte orders: what
 * is read is what was written, and damaged or random memory neither crashes nor stops the reader. Then memory
 * that changes while it is read. Built with sanitizers; prints TAP.
 */
#include "guest_make.h"
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <tests/tap.h>
#include <tests/unit/scratch.h>
#include <time.h>
#include <tools/tarn/tables/routines.h>
#include <trace/ring/routine_copy.h>
#include <unistd.h>

#define LIST_AT      0x2000u
#define HEADS_AT     0x20000u /* a frame each, with the head somewhere in it */
#define HEAD_SHIFT   0x40u
#define PAGE_AT      0x30000u
#define OPEN_AT      0x40008u
#define NAME_AT      0x41000u
#define ROWS_AT      (sizeof(struct trace_routines_head) + 64)
#define FIRST_ROWS   3u
#define PAGE_ROWS    12u
#define ROUTINES     3u
#define ROWS         17u /* of the second table: its pages are used */
#define BORN         1000u
#define LATEST       500000u
#define MUTATIONS    250u
#define READINGS     400u /* of memory that changes */
#define CHANGES      50u  /* the least number of them that find something new */
#define READINGS_MAX 200000u

static struct made made;
static char core_path[96];

static uint64_t head_at(unsigned number)
{
    return HEADS_AT + number * 4096 + HEAD_SHIFT;
}

#define PUT(at, type, field, value)                                                 \
    (sizeof(((type *)0)->field) == 8                                                \
         ? put64(&made, made.ram + (at) + offsetof(type, field), (uint64_t)(value)) \
         : put32(&made, made.ram + (at) + offsetof(type, field), (uint32_t)(value)))

static uint64_t key_of(uint32_t row)
{
    return trace_routine_key(row % 2 ? TRACE_ROUTINE_OUT : TRACE_ROUTINE_SYSCALL, row);
}

static void put_row(uint64_t at, uint32_t row)
{
    memset(made.ram + at, 0, sizeof(struct trace_routine_row));
    PUT(at, struct trace_routine_row, key, key_of(row));
    PUT(at, struct trace_routine_row, begun, row + 1);
    PUT(at, struct trace_routine_row, inclusive, 200 * (row + 1));
    PUT(at, struct trace_routine_row, exclusive, 100 * (row + 1));
    PUT(at, struct trace_routine_row, least, 1);
    PUT(at, struct trace_routine_row, greatest, 200);
    PUT(at, struct trace_routine_row, times[5], row + 1);
    PUT(at, struct trace_routine_row, ended, row + 1);
}

/* The pages lie in memory from the last to the first. */
static uint64_t row_at(unsigned number, uint32_t row)
{
    if (row < FIRST_ROWS)
        return head_at(number) + ROWS_AT + row * sizeof(struct trace_routine_row);
    row -= FIRST_ROWS;
    return PAGE_AT + (1 - row / PAGE_ROWS) * 4096 + row % PAGE_ROWS * sizeof(struct trace_routine_row);
}

static void put_head(unsigned number, uint32_t rows)
{
    const uint64_t at = head_at(number);

    memset(made.ram + at, 0, sizeof(struct trace_routines_head));
    PUT(at, struct trace_routines_head, magic, TRACE_ROUTINES_HEAD_MAGIC);
    PUT(at, struct trace_routines_head, self, at);
    PUT(at, struct trace_routines_head, next, number + 1 < ROUTINES ? head_at(number + 1) : 0);
    PUT(at, struct trace_routines_head, serial, 10 * (number + 1));
    PUT(at, struct trace_routines_head, epoch, 7);
    PUT(at, struct trace_routines_head, of, number == 1 ? TRACE_ROUTINES_ENDED : TRACE_ROUTINES_THREAD);
    PUT(at, struct trace_routines_head, pid, 3 + number);
    PUT(at, struct trace_routines_head, tid, 4 + number);
    PUT(at, struct trace_routines_head, threads, 1 + number);
    PUT(at, struct trace_routines_head, name, NAME_AT);
    PUT(at, struct trace_routines_head, born, BORN);
    PUT(at, struct trace_routines_head, life, 400000);
    PUT(at, struct trace_routines_head, ran, 300000);
    PUT(at, struct trace_routines_head, open, number == 1 ? 0 : OPEN_AT);
    PUT(at, struct trace_routines_head, count, rows);
    PUT(at, struct trace_routines_head, page[0], PAGE_AT + 4096);
    PUT(at, struct trace_routines_head, page[1], PAGE_AT);
    for (uint32_t row = 0; row < rows; row++)
        put_row(row_at(number, row), row);
}

/* Two threads, which are in a system call and wait in it since 400000 and 450000, and the ended ones of a
 * process. */
static void make_routines(bool big)
{
    made.big = big;
    make_guest(&made);
    put64(&made, made.ram + MAKE_INFO_AT + offsetof(struct trace_info, routines_list), LIST_AT);
    memset(made.ram + LIST_AT, 0, sizeof(struct trace_routines_list));
    PUT(LIST_AT, struct trace_routines_list, magic, TRACE_ROUTINES_LIST_MAGIC);
    PUT(LIST_AT, struct trace_routines_list, first, head_at(0));
    PUT(LIST_AT, struct trace_routines_list, epoch, 7);
    PUT(LIST_AT, struct trace_routines_list, latest, LATEST);
    PUT(LIST_AT, struct trace_routines_list, row_bytes, sizeof(struct trace_routine_row));
    PUT(LIST_AT, struct trace_routines_list, rows_at, ROWS_AT);
    PUT(LIST_AT, struct trace_routines_list, first_rows, FIRST_ROWS);
    PUT(LIST_AT, struct trace_routines_list, page_rows, PAGE_ROWS);
    memset(made.ram + OPEN_AT, 0, sizeof(struct open_routines));
    PUT(OPEN_AT, struct open_routines, at[0].since, 400000);
    PUT(OPEN_AT, struct open_routines, at[0].nested, 100);
    PUT(OPEN_AT, struct open_routines, at[0].key, key_of(0));
    PUT(OPEN_AT, struct open_routines, at[1].since, 450000);
    PUT(OPEN_AT, struct open_routines, at[1].key, key_of(1));
    PUT(OPEN_AT, struct open_routines, depth, 2);
    memcpy(made.ram + NAME_AT, "made", 5);
    for (unsigned number = 0; number < ROUTINES; number++)
        put_head(number, number == 1 ? ROWS : 2);
}

/* False: FAIL. */
static bool read_made(struct routines *routines, struct fail *fail)
{
    write_core(core_path, &made);
    char name[128];

    snprintf(name, sizeof(name), "core:%s", core_path);
    struct source *source = open_source(name, 0, fail);
    bool ok = source != NULL && routines_read(routines, source, fail);
    if (source != NULL)
        source->class->close(source);
    return ok;
}

static const struct trace_routine_row *find_row(const struct routines_copy *copy, uint64_t key)
{
    for (uint32_t i = 0; i < copy->head.rows; i++)
        if (copy->rows[i].key == key)
            return &copy->rows[i];
    return NULL;
}

static bool is_ended(const struct routines_copy *copy)
{
    bool same = copy->head.serial == 20 && copy->head.of == TRACE_ROUTINES_ENDED && copy->head.pid == 4 &&
                copy->head.threads == 2 && copy->head.life == 400000 && copy->head.ran == 300000 &&
                copy->head.rows == ROWS + 1 && strcmp(copy->head.name, "made") == 0;

    for (uint32_t row = 0; same && row < ROWS; row++) {
        const struct trace_routine_row *found = find_row(copy, key_of(row));
        same = found != NULL && found->inclusive == 200 * (row + 1) && found->exclusive == 100 * (row + 1) &&
               found->times[5] == row + 1 && found->begun == row + 1 && found->ended == row + 1;
    }
    const struct trace_routine_row *own = find_row(copy, trace_routine_key(TRACE_ROUTINE_PROGRAM, 0));
    return same && own != NULL && own->exclusive == 400000 - 100 * ROWS * (ROWS + 1) / 2;
}

/* What is open counts up to the last moment known. */
static bool is_living(const struct routines_copy *copy)
{
    const struct trace_routine_row *call = find_row(copy, key_of(0)), *out = find_row(copy, key_of(1)),
                                   *own = find_row(copy, trace_routine_key(TRACE_ROUTINE_PROGRAM, 0));

    return copy->head.rows == 3 && copy->head.until == LATEST && copy->head.life == LATEST - BORN &&
           call != NULL && out != NULL && own != NULL && call->exclusive == 100 + (450000 - 400000 - 100) &&
           out->exclusive == 200 + (LATEST - 450000) && copy->head.ran == copy->head.life - out->exclusive &&
           own->exclusive == copy->head.life - call->exclusive - out->exclusive;
}

static void test_values(const char *order)
{
    struct routines routines = {0};
    struct fail fail = {""};
    bool ok = read_made(&routines, &fail);

    check(ok && !routines.is_cut && routines.count == ROUTINES && is_ended(&routines.copies[1]),
          "%s memory: the rows of a table, in all of its pages %s", order, fail.text);
    check(ok && routines.count == ROUTINES && is_living(&routines.copies[0]) &&
              is_living(&routines.copies[2]),
          "%s memory: what a thread has open counts, and exclusive times add up to its life", order);
    routines_free(&routines);
}

/* A row that was being updated when the machine stopped, and a time that no clock shows. Then a CPU that went
 * on after the last moment that the kernel noted, as after a panic that could not stop it: the moment of all
 * threads is that of the last row. Then a thread whose rows were handed on. */
static void test_unfinished(bool big)
{
    struct routines routines = {0};
    struct fail fail = {""};

    PUT(row_at(1, 5), struct trace_routine_row, begun, 99);
    PUT(OPEN_AT, struct open_routines, at[1].since, 1ull << 60);
    bool ok = read_made(&routines, &fail) && routines.count == ROUTINES;
    check(ok && routines_unfinished(&routines) >= 1 && find_row(&routines.copies[1], key_of(5))->begun == 99,
          "a row in the middle of an update is marked %s", fail.text);
    check(ok && routines.copies[0].head.life == LATEST - BORN,
          "a time that is far from all others is not believed");
    routines_free(&routines);
    make_routines(big);
    PUT(row_at(2, 0), struct trace_routine_row, exclusive, LATEST);
    ok = read_made(&routines, &fail) && routines.count == ROUTINES;
    check(ok && routines.copies[2].head.until == BORN + LATEST + 200 &&
              routines.copies[0].head.until == routines.copies[2].head.until,
          "threads have one moment, that of the last of all rows %s", fail.text);
    routines_free(&routines);
    make_routines(big);
    PUT(head_at(1), struct trace_routines_head, changes, 3);
    ok = read_made(&routines, &fail) && routines.count == ROUTINES;
    check(ok && routines_unfinished(&routines) == 1, "a table in the middle of a change is marked %s",
          fail.text);
    routines_free(&routines);
}

/* What is damaged, how many tables are read, and what the reason says; NULL: nothing is wrong. */
static void test_damage(bool big)
{
#define AT(at, type, field) (at) + offsetof(type, field), sizeof(((type *)0)->field)
    const struct {
        const char *what;
        uint64_t at;
        size_t bytes;
        uint64_t value;
        size_t count;
        const char *says;
    } cases[] = {
        {"a list that leads back", AT(head_at(2), struct trace_routines_head, next), head_at(0), 3,
         "leads back"},
        {"a list that leaves memory", AT(head_at(1), struct trace_routines_head, next), MAKE_BYTES * 4ull, 2,
         "no memory"},
        {"a table that is none", AT(head_at(1), struct trace_routines_head, magic), 1, 1, "damaged"},
        {"more rows than there can be", AT(head_at(1), struct trace_routines_head, count), 1u << 31, 1,
         "damaged"},
        {"an address that is none", AT(head_at(1), struct trace_routines_head, page[1]), 12345, 1,
         "no address"},
        {"a table of before", AT(head_at(1), struct trace_routines_head, epoch), 6, 2, NULL},
        {"a damaged list", AT(LIST_AT, struct trace_routines_list, rows_at), 1u << 30, 0, "damaged"},
        {"a guest of an older version", AT(MAKE_INFO_AT, struct trace_info, routines_list), 0, 0, "older"},
    };
#undef AT

    for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct routines routines = {0};
        struct fail fail = {""};

        make_routines(big);
        if (cases[i].bytes == 8)
            put64(&made, made.ram + cases[i].at, cases[i].value);
        else
            put32(&made, made.ram + cases[i].at, (uint32_t)cases[i].value);
        const bool ok = read_made(&routines, &fail);
        const char *says = cases[i].says, *text = ok ? routines.why.text : fail.text;
        check(routines.count == cases[i].count &&
                  (says == NULL ? ok && !routines.is_cut : strstr(text, says) != NULL),
              "%s: %zu tables, and the reason (%s)", cases[i].what, cases[i].count, text);
        routines_free(&routines);
    }
}

/* Random words in everything that leads to tables: it ends, and the sanitizers find nothing. */
static void test_random(bool big)
{
    static const struct {
        uint64_t at, bytes;
    } places[] = {{LIST_AT, sizeof(struct trace_routines_list)},
                  {HEADS_AT + HEAD_SHIFT, ROWS_AT + 3 * sizeof(struct trace_routine_row)},
                  {HEADS_AT + 4096 + HEAD_SHIFT, ROWS_AT + 3 * sizeof(struct trace_routine_row)},
                  {OPEN_AT, sizeof(struct open_routines)},
                  {PAGE_AT, 8192}};
    unsigned whole = 0, cut = 0;

    srandom(big + 1);
    for (unsigned i = 0; i < MUTATIONS; i++) {
        make_routines(big);
        for (unsigned n = 0; n <= i % 4; n++) {
            const unsigned place = (unsigned)random() % 5;
            const uint64_t at = places[place].at + (uint64_t)random() % (places[place].bytes / 8) * 8;
            const uint64_t words[] = {0, UINT64_MAX, (uint64_t)random() << 32 | (uint64_t)random(),
                                      head_at((unsigned)random() % 4), 1ull << random() % 64};
            put64(&made, made.ram + at, words[random() % 5]);
        }
        struct routines routines = {0};
        struct fail fail = {""};
        if (read_made(&routines, &fail)) {
            whole += !routines.is_cut;
            cut += routines.is_cut;
        }
        routines_free(&routines);
    }
    check(whole > 0 && cut > 0, "random damage is survived: %u readings complete, %u up to the damage", whole,
          cut);
}

/* ---- memory that changes ---- */

static uint8_t *shared;
static bool is_over;

static uint64_t *word_of(uint64_t at)
{
    return (uint64_t *)(shared + at);
}

static void store(uint64_t at, uint64_t value)
{
    __atomic_store_n(word_of(at), value, __ATOMIC_RELEASE);
}

#define FIELD(at, type, field) ((at) + offsetof(type, field))

static void add(uint64_t at, size_t field, uint64_t value)
{
    store(at + field, *word_of(at + field) + value);
}

/* As routine_end() of the kernel. */
static void update_row(uint64_t at)
{
    add(at, offsetof(struct trace_routine_row, begun), 1);
    add(at, offsetof(struct trace_routine_row, inclusive), 200);
    add(at, offsetof(struct trace_routine_row, exclusive), 100);
    add(at, offsetof(struct trace_routine_row, times[5]), 1);
    add(at, offsetof(struct trace_routine_row, ended), 1);
}

/* Takes the last table out of the list, writes something else into its frame, and puts another one there.
 */
static void replace_last(uint64_t serial)
{
    const uint64_t at = head_at(2);

    store(FIELD(head_at(1), struct trace_routines_head, next), 0);
    store(FIELD(at, struct trace_routines_head, magic), 0);
    for (uint64_t word = row_at(2, 0); word < row_at(2, 2); word += 8)
        store(word, 0x6261646261646261);
    for (uint32_t row = 0; row < 2; row++)
        for (uint64_t word = 0; word < sizeof(struct trace_routine_row); word += 8)
            store(row_at(2, row) + word, *(uint64_t *)(made.ram + row_at(2, row) + word));
    store(FIELD(at, struct trace_routines_head, serial), serial);
    store(FIELD(at, struct trace_routines_head, magic), TRACE_ROUTINES_HEAD_MAGIC);
    store(FIELD(head_at(1), struct trace_routines_head, next), at);
}

/* The row in the second page is always updated after that in the first one. */
static void *run_guest(void *unused)
{
    (void)unused;
    for (uint64_t turn = 0; !__atomic_load_n(&is_over, __ATOMIC_RELAXED); turn++) {
        update_row(row_at(1, 4));
        update_row(row_at(1, ROWS - 1));
        if (turn % 8 == 0)
            replace_last(31 + turn);
        nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
    }
    return NULL;
}

static bool is_of_one_moment(const struct routines_copy *copy)
{
    const struct trace_routine_row *first = find_row(copy, key_of(4)),
                                   *second = find_row(copy, key_of(ROWS - 1));
    const uint64_t ahead = (first->ended - 5) - (second->ended - ROWS);

    return ahead <= 1 && first->inclusive == 200 * first->ended && second->exclusive == 100 * second->ended &&
           first->times[5] == first->ended && second->inclusive == 200 * second->ended;
}

static bool is_as_made(const struct routines_copy *copy)
{
    const struct trace_routine_row *row = find_row(copy, key_of(0));

    return row != NULL && row->inclusive == 200 && copy->rows[0].ended <= 2 && copy->head.threads == 3;
}

static void follow_guest(struct source *source)
{
    unsigned done = 0, wrong = 0, marked = 0, changed = 0, failed = 0, without = 0;
    uint64_t last = 0;

    for (; done < READINGS || (changed < CHANGES && done < READINGS_MAX); done++) {
        struct routines routines = {0};
        struct fail fail;
        if (!routines_read(&routines, source, &fail)) {
            failed++;
            continue;
        }
        const bool is_marked = routines.count > 1 && routines_unfinished(&routines) != 0;
        marked += is_marked;
        wrong += routines.count < 2 || routines.count > 4 ||
                 (!is_marked && !is_of_one_moment(&routines.copies[1]));
        for (size_t n = 2; n < routines.count; n++)
            wrong += !is_as_made(&routines.copies[n]);
        without += routines.count == 2;
        if (routines.count > 1) {
            changed += routines.copies[1].rows[4].ended != last;
            last = routines.copies[1].rows[4].ended;
        }
        routines_free(&routines);
    }
    check(wrong == 0 && changed >= CHANGES,
          "of memory that changes, each copy is of one moment, or marked: %u of %u marked, %u failed, %u "
          "without the "
          "last table, %u wrong",
          marked, done, failed, without, wrong);
    check(marked + failed < done / 2, "most readings are of one moment");
}

static void test_live(void)
{
    char path[100], name[120];
    struct fail fail = {""};
    pthread_t thread;

    make_routines(__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
    snprintf(path, sizeof(path), "%s/ram", scratch);
    shared = share_file(path, &made);
    snprintf(name, sizeof(name), "ram:%s", path);
    struct source *source = open_source(name, 0, &fail);
    check(source != NULL, "ram: is opened %s", fail.text);
    if (source != NULL && pthread_create(&thread, NULL, run_guest, NULL) == 0) {
        follow_guest(source);
        __atomic_store_n(&is_over, true, __ATOMIC_RELAXED);
        pthread_join(thread, NULL);
    }
    if (source != NULL)
        source->class->close(source);
    munmap(shared, MAKE_BYTES);
}

int main(void)
{
    make_scratch();
    snprintf(core_path, sizeof(core_path), "%s/core", scratch);
    made.ram = alloc_zero(1, MAKE_BYTES);
    made.store_at = MAKE_STORE_AT;
    for (unsigned big = 0; big < 2; big++) {
        make_routines(big);
        test_values(big ? "big-endian" : "little-endian");
        test_unfinished(big);
        test_damage(big);
        test_random(big);
    }
    test_live();
    free(made.ram);
    return finish_tests();
}
