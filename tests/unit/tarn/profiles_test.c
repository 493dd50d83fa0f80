/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * profiles_test.c - profiles of routines in guest memory that this program makes, in both byte orders: what
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
#include <tools/tarn/tables/profiles.h>
#include <trace/ring/profile_copy.h>
#include <unistd.h>

#define LIST_AT      0x2000u
#define HEADS_AT     0x20000u /* a frame each, with the head somewhere in it */
#define HEAD_SHIFT   0x40u
#define PAGE_AT      0x30000u
#define OPEN_AT      0x40008u
#define NAME_AT      0x41000u
#define ROWS_AT      (sizeof(struct trace_profile_head) + 64)
#define FIRST_ROWS   3u
#define PAGE_ROWS    12u
#define PROFILES     3u
#define ROWS         17u /* of the second profile: its pages are used */
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

/* A CPU went on after the last moment that the kernel noted, as after a panic that could not stop it: the
 * moment of all threads is that of the last row. */
static void test_late(bool big)
{
    struct profiles profiles = {0};
    struct fail fail = {""};

    make_profiles(big);
    PUT(row_at(2, 0), struct trace_profile_row, exclusive, LATEST);
    bool ok = read_made(&profiles, &fail) && profiles.count == PROFILES;
    check(ok && profiles.copies[2].head.until == BORN + LATEST + 200 &&
              profiles.copies[0].head.until == profiles.copies[2].head.until,
          "threads have one moment, that of the last of all rows %s", fail.text);
    profiles_free(&profiles);
}

/* The machine stopped while a thread's rows were handed on. */
static void test_changing(bool big)
{
    struct profiles profiles = {0};
    struct fail fail = {""};

    make_profiles(big);
    PUT(head_at(1), struct trace_profile_head, changes, 3);
    bool ok = read_made(&profiles, &fail) && profiles.count == PROFILES;
    check(ok && profiles_unfinished(&profiles) == 1, "a profile in the middle of a change is marked %s",
          fail.text);
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
    for (unsigned i = 0; i < MUTATIONS; i++) {
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

/* As routine_end() of the kernel. */
static void update_row(uint64_t at)
{
    store(FIELD(at, struct trace_profile_row, begun),
          *word_of(FIELD(at, struct trace_profile_row, begun)) + 1);
    store(FIELD(at, struct trace_profile_row, inclusive),
          *word_of(FIELD(at, struct trace_profile_row, inclusive)) + 200);
    store(FIELD(at, struct trace_profile_row, exclusive),
          *word_of(FIELD(at, struct trace_profile_row, exclusive)) + 100);
    store(FIELD(at, struct trace_profile_row, times[5]),
          *word_of(FIELD(at, struct trace_profile_row, times[5])) + 1);
    store(FIELD(at, struct trace_profile_row, ended),
          *word_of(FIELD(at, struct trace_profile_row, ended)) + 1);
}

/* Takes the last profile out of the list, writes something else into its frame, and puts another one there.
 */
static void replace_last(uint64_t serial)
{
    const uint64_t at = head_at(2);

    store(FIELD(head_at(1), struct trace_profile_head, next), 0);
    store(FIELD(at, struct trace_profile_head, magic), 0);
    for (uint64_t word = row_at(2, 0); word < row_at(2, 2); word += 8)
        store(word, 0x6261646261646261);
    for (uint32_t row = 0; row < 2; row++)
        for (uint64_t word = 0; word < sizeof(struct trace_profile_row); word += 8)
            store(row_at(2, row) + word, *(uint64_t *)(made.ram + row_at(2, row) + word));
    store(FIELD(at, struct trace_profile_head, serial), serial);
    store(FIELD(at, struct trace_profile_head, magic), TRACE_PROFILE_HEAD_MAGIC);
    store(FIELD(head_at(1), struct trace_profile_head, next), at);
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

static bool is_of_one_moment(const struct profile_copy *copy)
{
    const struct trace_profile_row *first = find_row(copy, key_of(4)),
                                   *second = find_row(copy, key_of(ROWS - 1));
    const uint64_t ahead = (first->ended - 5) - (second->ended - ROWS);

    return ahead <= 1 && first->inclusive == 200 * first->ended && second->exclusive == 100 * second->ended &&
           first->times[5] == first->ended && second->inclusive == 200 * second->ended;
}

static bool is_as_made(const struct profile_copy *copy)
{
    const struct trace_profile_row *row = find_row(copy, key_of(0));

    return row != NULL && row->inclusive == 200 && copy->rows[0].ended <= 2 && copy->head.threads == 3;
}

static void follow_guest(struct source *source)
{
    unsigned done = 0, wrong = 0, marked = 0, changed = 0, failed = 0, without = 0;
    uint64_t last = 0;

    for (; done < READINGS || (changed < CHANGES && done < READINGS_MAX); done++) {
        struct profiles profiles = {0};
        struct fail fail;
        if (!profiles_read(&profiles, source, &fail)) {
            failed++;
            continue;
        }
        const bool is_marked = profiles.count > 1 && profiles_unfinished(&profiles) != 0;
        marked += is_marked;
        wrong += profiles.count < 2 || profiles.count > 4 ||
                 (!is_marked && !is_of_one_moment(&profiles.copies[1]));
        for (size_t n = 2; n < profiles.count; n++)
            wrong += !is_as_made(&profiles.copies[n]);
        without += profiles.count == 2;
        if (profiles.count > 1) {
            changed += profiles.copies[1].rows[4].ended != last;
            last = profiles.copies[1].rows[4].ended;
        }
        profiles_free(&profiles);
    }
    check(wrong == 0 && changed >= CHANGES,
          "of memory that changes, each copy is of one moment, or marked: %u of %u marked, %u failed, %u "
          "without the "
          "last profile, %u wrong",
          marked, done, failed, without, wrong);
    check(marked + failed < done / 2, "most readings are of one moment");
}

static void test_live(void)
{
    char path[100], name[120];
    struct fail fail = {""};
    pthread_t thread;

    make_profiles(__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
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
        make_profiles(big);
        test_values(big ? "big-endian" : "little-endian");
        test_unfinished();
        test_changing(big);
        test_late(big);
        test_damage(big);
        test_random(big);
    }
    test_live();
    free(made.ram);
    return finish_tests();
}
