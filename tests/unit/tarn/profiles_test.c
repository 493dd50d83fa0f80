/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * profiles_test.c - profiles of routines in guest memory that this program makes, in both byte orders: what
 * is read is what was written, and damaged or random memory neither crashes nor stops the reader. Built with
 * sanitizers; prints TAP.
 */
#include "guest_make.h"
#include <stdlib.h>
#include <string.h>
#include <tests/tap.h>
#include <tests/unit/scratch.h>
#include <tools/tarn/tables/profiles.h>
#include <trace/ring/profile_copy.h>

#define LIST_AT    0x2000u
#define HEADS_AT   0x20000u /* a frame each, with the head somewhere in it */
#define HEAD_SHIFT 0x40u
#define PAGE_AT    0x30000u
#define OPEN_AT    0x40008u
#define NAME_AT    0x41000u
#define ROWS_AT    (sizeof(struct trace_profile_head) + 64)
#define FIRST_ROWS 3u
#define PAGE_ROWS  12u
#define PROFILES   3u
#define ROWS       17u /* of the second profile: its pages are used */
#define BORN       1000u
#define LATEST     500000u
#define MUTATIONS  4000u

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
    memset(made.ram + at, 0, sizeof(struct trace_profile_row));
    PUT(at, struct trace_profile_row, key, key_of(row));
    PUT(at, struct trace_profile_row, begun, row + 1);
    PUT(at, struct trace_profile_row, inclusive, 200 * (row + 1));
    PUT(at, struct trace_profile_row, exclusive, 100 * (row + 1));
    PUT(at, struct trace_profile_row, least, 1);
    PUT(at, struct trace_profile_row, greatest, 200);
    PUT(at, struct trace_profile_row, times[5], row + 1);
    PUT(at, struct trace_profile_row, ended, row + 1);
}

/* The pages lie in memory from the last to the first. */
static uint64_t row_at(unsigned number, uint32_t row)
{
    if (row < FIRST_ROWS)
        return head_at(number) + ROWS_AT + row * sizeof(struct trace_profile_row);
    row -= FIRST_ROWS;
    return PAGE_AT + (1 - row / PAGE_ROWS) * 4096 + row % PAGE_ROWS * sizeof(struct trace_profile_row);
}

static void put_head(unsigned number, uint32_t rows)
{
    const uint64_t at = head_at(number);

    memset(made.ram + at, 0, sizeof(struct trace_profile_head));
    PUT(at, struct trace_profile_head, magic, TRACE_PROFILE_HEAD_MAGIC);
    PUT(at, struct trace_profile_head, self, at);
    PUT(at, struct trace_profile_head, next, number + 1 < PROFILES ? head_at(number + 1) : 0);
    PUT(at, struct trace_profile_head, serial, 10 * (number + 1));
    PUT(at, struct trace_profile_head, epoch, 7);
    PUT(at, struct trace_profile_head, of, number == 1 ? TRACE_PROFILE_ENDED : TRACE_PROFILE_THREAD);
    PUT(at, struct trace_profile_head, pid, 3 + number);
    PUT(at, struct trace_profile_head, tid, 4 + number);
    PUT(at, struct trace_profile_head, threads, 1 + number);
    PUT(at, struct trace_profile_head, name, NAME_AT);
    PUT(at, struct trace_profile_head, born, BORN);
    PUT(at, struct trace_profile_head, life, 400000);
    PUT(at, struct trace_profile_head, ran, 300000);
    PUT(at, struct trace_profile_head, open, number == 1 ? 0 : OPEN_AT);
    PUT(at, struct trace_profile_head, count, rows);
    PUT(at, struct trace_profile_head, page[0], PAGE_AT + 4096);
    PUT(at, struct trace_profile_head, page[1], PAGE_AT);
    for (uint32_t row = 0; row < rows; row++)
        put_row(row_at(number, row), row);
}

/* Two threads, which are in a system call and wait in it since 400000 and 450000, and the ended ones of a
 * process. */
static void make_profiles(bool big)
{
    made.big = big;
    make_guest(&made);
    put64(&made, made.ram + MAKE_INFO_AT + offsetof(struct trace_info, profile_list), LIST_AT);
    memset(made.ram + LIST_AT, 0, sizeof(struct trace_profile_list));
    PUT(LIST_AT, struct trace_profile_list, magic, TRACE_PROFILE_LIST_MAGIC);
    PUT(LIST_AT, struct trace_profile_list, first, head_at(0));
    PUT(LIST_AT, struct trace_profile_list, epoch, 7);
    PUT(LIST_AT, struct trace_profile_list, latest, LATEST);
    PUT(LIST_AT, struct trace_profile_list, row_bytes, sizeof(struct trace_profile_row));
    PUT(LIST_AT, struct trace_profile_list, rows_at, ROWS_AT);
    PUT(LIST_AT, struct trace_profile_list, first_rows, FIRST_ROWS);
    PUT(LIST_AT, struct trace_profile_list, page_rows, PAGE_ROWS);
    memset(made.ram + OPEN_AT, 0, sizeof(struct open_routines));
    PUT(OPEN_AT, struct open_routines, at[0].since, 400000);
    PUT(OPEN_AT, struct open_routines, at[0].nested, 100);
    PUT(OPEN_AT, struct open_routines, at[0].key, key_of(0));
    PUT(OPEN_AT, struct open_routines, at[1].since, 450000);
    PUT(OPEN_AT, struct open_routines, at[1].key, key_of(1));
    PUT(OPEN_AT, struct open_routines, depth, 2);
    memcpy(made.ram + NAME_AT, "made", 5);
    for (unsigned number = 0; number < PROFILES; number++)
        put_head(number, number == 1 ? ROWS : 2);
}

/* False: FAIL. */
static bool read_made(struct profiles *profiles, struct fail *fail)
{
    write_core(core_path, &made);
    char name[128];

    snprintf(name, sizeof(name), "core:%s", core_path);
    struct source *source = open_source(name, 0, fail);
    bool ok = source != NULL && profiles_read(profiles, source, fail);
    if (source != NULL)
        source->class->close(source);
    return ok;
}

static const struct trace_profile_row *find_row(const struct profile_copy *copy, uint64_t key)
{
    for (uint32_t i = 0; i < copy->head.rows; i++)
        if (copy->rows[i].key == key)
            return &copy->rows[i];
    return NULL;
}

static bool is_ended(const struct profile_copy *copy)
{
    bool same = copy->head.serial == 20 && copy->head.of == TRACE_PROFILE_ENDED && copy->head.pid == 4 &&
                copy->head.threads == 2 && copy->head.life == 400000 && copy->head.ran == 300000 &&
                copy->head.rows == ROWS + 1 && strcmp(copy->head.name, "made") == 0;

    for (uint32_t row = 0; same && row < ROWS; row++) {
        const struct trace_profile_row *found = find_row(copy, key_of(row));
        same = found != NULL && found->inclusive == 200 * (row + 1) && found->exclusive == 100 * (row + 1) &&
               found->times[5] == row + 1 && found->begun == row + 1 && found->ended == row + 1;
    }
    const struct trace_profile_row *own = find_row(copy, trace_routine_key(TRACE_ROUTINE_PROGRAM, 0));
    return same && own != NULL && own->exclusive == 400000 - 100 * ROWS * (ROWS + 1) / 2;
}

/* What is open counts up to the last moment known. */
static bool is_living(const struct profile_copy *copy)
{
    const struct trace_profile_row *call = find_row(copy, key_of(0)), *out = find_row(copy, key_of(1)),
                                   *own = find_row(copy, trace_routine_key(TRACE_ROUTINE_PROGRAM, 0));

    return copy->head.rows == 3 && copy->head.until == LATEST && copy->head.life == LATEST - BORN &&
           call != NULL && out != NULL && own != NULL && call->exclusive == 100 + (450000 - 400000 - 100) &&
           out->exclusive == 200 + (LATEST - 450000) && copy->head.ran == copy->head.life - out->exclusive &&
           own->exclusive == copy->head.life - call->exclusive - out->exclusive;
}

static void test_values(const char *order)
{
    struct profiles profiles = {0};
    struct fail fail = {""};
    bool ok = read_made(&profiles, &fail);

    check(ok && !profiles.is_cut && profiles.count == PROFILES && is_ended(&profiles.copies[1]),
          "%s memory: the rows of a profile, in all of its pages %s", order, fail.text);
    check(ok && profiles.count == PROFILES && is_living(&profiles.copies[0]) &&
              is_living(&profiles.copies[2]),
          "%s memory: what a thread has open counts, and exclusive times add up to its life", order);
    profiles_free(&profiles);
}

/* A row that was being updated when the machine stopped, and a time that no clock shows. */
static void test_unfinished(void)
{
    struct profiles profiles = {0};
    struct fail fail = {""};

    PUT(row_at(1, 5), struct trace_profile_row, begun, 99);
    PUT(OPEN_AT, struct open_routines, at[1].since, 1ull << 60);
    bool ok = read_made(&profiles, &fail) && profiles.count == PROFILES;
    check(ok && profiles_unfinished(&profiles) >= 1 && find_row(&profiles.copies[1], key_of(5))->begun == 99,
          "a row in the middle of an update is marked %s", fail.text);
    check(ok && profiles.copies[0].head.life == LATEST - BORN,
          "a time that is far from all others is not believed");
    profiles_free(&profiles);
}

static void expect(const char *what, size_t count, const char *says)
{
    struct profiles profiles = {0};
    struct fail fail = {""};
    bool ok = read_made(&profiles, &fail);
    const char *text = ok ? profiles.why.text : fail.text;

    check(profiles.count == count && (says == NULL ? ok && !profiles.is_cut : strstr(text, says) != NULL),
          "%s: %zu profiles, and the reason (%s)", what, count, text);
    profiles_free(&profiles);
}

static void test_damage(bool big)
{
    make_profiles(big);
    PUT(head_at(2), struct trace_profile_head, next, head_at(0));
    expect("a list that leads back", 3, "leads back");
    make_profiles(big);
    PUT(head_at(1), struct trace_profile_head, next, MAKE_BYTES * 4ull);
    expect("a list that leaves memory", 2, "no memory");
    make_profiles(big);
    PUT(head_at(1), struct trace_profile_head, magic, 1);
    expect("a profile that is none", 1, "damaged");
    make_profiles(big);
    PUT(head_at(1), struct trace_profile_head, count, 1u << 31);
    expect("more rows than there can be", 1, "damaged");
    make_profiles(big);
    PUT(head_at(1), struct trace_profile_head, page[1], 12345);
    expect("an address that is none", 1, "no address");
    make_profiles(big);
    PUT(head_at(1), struct trace_profile_head, epoch, 6);
    expect("a profile of before", 2, NULL);
    make_profiles(big);
    PUT(LIST_AT, struct trace_profile_list, rows_at, 1u << 30);
    expect("a damaged list", 0, "damaged");
    make_profiles(big);
    put64(&made, made.ram + MAKE_INFO_AT + offsetof(struct trace_info, profile_list), 0);
    expect("a guest of an older version", 0, "older");
}

/* Random words in everything that leads to profiles: it ends, and the sanitizers find nothing. */
static void test_random(bool big)
{
    static const struct {
        uint64_t at, bytes;
    } places[] = {{LIST_AT, sizeof(struct trace_profile_list)},
                  {HEADS_AT + HEAD_SHIFT, ROWS_AT + 3 * sizeof(struct trace_profile_row)},
                  {HEADS_AT + 4096 + HEAD_SHIFT, ROWS_AT + 3 * sizeof(struct trace_profile_row)},
                  {OPEN_AT, sizeof(struct open_routines)},
                  {PAGE_AT, 8192}};
    unsigned whole = 0, cut = 0;

    srandom(big + 1);
    for (unsigned i = 0; i < MUTATIONS / 16; i++) {
        make_profiles(big);
        for (unsigned n = 0; n <= i % 4; n++) {
            const unsigned place = (unsigned)random() % 5;
            const uint64_t at = places[place].at + (uint64_t)random() % (places[place].bytes / 8) * 8;
            const uint64_t words[] = {0, UINT64_MAX, (uint64_t)random() << 32 | (uint64_t)random(),
                                      head_at((unsigned)random() % 4), 1ull << random() % 64};
            put64(&made, made.ram + at, words[random() % 5]);
        }
        struct profiles profiles = {0};
        struct fail fail = {""};
        if (read_made(&profiles, &fail)) {
            whole += !profiles.is_cut;
            cut += profiles.is_cut;
        }
        profiles_free(&profiles);
    }
    check(whole > 0 && cut > 0, "random damage is survived: %u readings complete, %u up to the damage", whole,
          cut);
}

int main(void)
{
    make_scratch();
    snprintf(core_path, sizeof(core_path), "%s/core", scratch);
    made.ram = alloc_zero(1, MAKE_BYTES);
    made.store_at = MAKE_STORE_AT;
    for (unsigned big = 0; big < 2; big++) {
        make_profiles(big);
        test_values(big ? "big-endian" : "little-endian");
        test_unfinished();
        test_damage(big);
        test_random(big);
    }
    free(made.ram);
    return finish_tests();
}
