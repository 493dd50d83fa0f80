/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tables_test.c - `tarn tables`: the list in the metadata, right, wrong and mutated; tables in guest memory
 * that this program makes, in both byte orders, with damaged rows and random contents; sums, intervals and
 * what is printed. Built with sanitizers; prints TAP.
 */
#include "guest_make.h"
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <tests/tap.h>
#include <tests/unit/scratch.h>
#include <tools/tarn/command/commands.h>
#include <tools/tarn/print/print_table.h>
#include <tools/tarn/tables/show.h>
#include <trace/events.h>
#include <trace/format/metadata.h>
#include <unistd.h>

#define MUTATIONS  3000u
#define HOSTILE    40u
#define LIVE_READS 300u

static struct made made;
static char core_path[96];

/* ---- the list in the metadata ---------------------------------------------------------------------- */

static char *read_metadata(size_t *size)
{
    const struct trace_metadata_values values = {.byte_order = "le",
                                                 .hostname = "made",
                                                 .architecture = "test",
                                                 .cpu_count = 1,
                                                 .clock_hz = 1000000000};
    const uint64_t most =
        trace_metadata_expand(NULL, 0, trace_metadata_template, trace_metadata_template_size, &values);
    char *text = alloc_zero(1, most + 1);

    *size = trace_metadata_expand(text, most, trace_metadata_template, trace_metadata_template_size, &values);
    return text;
}

static bool same_column(const struct trace_column_info *a, const struct trace_column_info *b)
{
    return strcmp(a->name, b->name) == 0 && strcmp(a->unit, b->unit) == 0 && a->kind == b->kind &&
           a->is_hex == b->is_hex && a->word == b->word && a->words == b->words;
}

static bool same_table(const struct trace_table_info *a, const struct trace_table_info *b)
{
    bool is = strcmp(a->name, b->name) == 0 && strcmp(a->description, b->description) == 0 &&
              a->number == b->number && a->offset == b->offset && a->rows == b->rows &&
              a->row_words == b->row_words && a->is_hashed == b->is_hashed && a->key_count == b->key_count &&
              a->column_count == b->column_count && (a->adds != NULL) == (b->adds != NULL) &&
              a->adds_key == b->adds_key && a->moves_ended == b->moves_ended;

    for (unsigned c = 0; is && c < a->column_count; c++)
        is = same_column(&a->columns[c], &b->columns[c]);
    return is;
}

static void test_list(void)
{
    struct declared declared;
    struct fail fail = {""};
    size_t size;
    char *text = read_metadata(&size);
    bool is_read = declared_read(&declared, text, size, &fail), same = is_read;

    for (unsigned t = 0; same && t < TRACE_TABLE_COUNT; t++)
        same = t < declared.count && same_table(&declared.tables[t], &trace_table_list[t]);
    check(same && declared.count == TRACE_TABLE_COUNT && declared.bytes <= TRACE_TABLES_BYTES,
          "the metadata list the tables of the schema %s", fail.text);
    if (is_read)
        declared_free(&declared);
    free(text);
}

#define BEGIN       "text\n" TRACE_TABLES_BEGIN "and so on\n"
#define TABLE_LINE  " * table t 0 0 16 8 hashed some text\n"
#define KEY_LINE    " *  key k hex 2 1\n"
#define COUNT_LINE  " *  count c - 3 1\n"
/* Together these, with a key and a column each, are right. */
#define ADDING_LINE " * table d 0 0 16 8 direct+t\n"
#define OTHER_LINE  " * table t 1 4096 16 8 hashed\n"

static void test_wrong_lists(void)
{
    static const struct {
        const char *text, *says;
    } wrong[] = {
        {"no list\n", "older"},
        {TRACE_TABLES_BEGIN "not at the begin of a line\n" TABLE_LINE KEY_LINE COUNT_LINE " */\n", "older"},
        {BEGIN " */\n", "no table"},
        {BEGIN, "no table"},
        {BEGIN COUNT_LINE TABLE_LINE, "before the first table"},
        {BEGIN TABLE_LINE " */\n", "t has no key"},
        {BEGIN TABLE_LINE KEY_LINE " */\n", "t has no column that counts"},
        {BEGIN " * table t 0 0 16 8\n", "lacks words"},
        {BEGIN " * table t 0 0 16 8 chained\n", "not NAME NUMBER"},
        {BEGIN " * table t 0 0 -16 8 hashed\n", "not NAME NUMBER"},
        {BEGIN " * table t 0 0 16x 8 hashed\n", "not NAME NUMBER"},
        {BEGIN " * table t 0 0 99999999999999999999 8 hashed\n", "not NAME NUMBER"},
        {BEGIN " * table t\x1b[ 0 0 16 8 hashed\n", "not NAME NUMBER"},
        {BEGIN " * table t 0 4 16 8 hashed\n", "inside of another"},
        {BEGIN " * table t 0 0 0 8 direct\n", "cannot have 0 rows"},
        {BEGIN " * table t 0 0 8 8 hashed\n", "cannot have 8 rows"},
        {BEGIN " * table t 0 0 24 8 hashed\n", "cannot have 24 rows"},
        {BEGIN " * table t 0 0 16 2 hashed\n", "cannot have 2 words"},
        {BEGIN " * table t 0 0 16 257 hashed\n", "cannot have 257 words"},
        {BEGIN " * table t 0 0 65536 8 hashed\n", "ends behind"},
        {BEGIN " * table t 0 1044472 16 8 hashed\n", "not NAME NUMBER"},
        {BEGIN TABLE_LINE KEY_LINE COUNT_LINE " * table u 1 512 16 8 hashed\n", "inside of another"},
        {BEGIN TABLE_LINE KEY_LINE COUNT_LINE " * table t 1 8192 16 8 hashed\n", "two of this name"},
        {BEGIN TABLE_LINE " *  key k - 3 1\n", "out of place"},
        {BEGIN TABLE_LINE KEY_LINE COUNT_LINE " *  key l - 4 1\n", "out of place"},
        {BEGIN " * table t 0 0 16 8 direct\n" KEY_LINE " *  key l - 3 1\n", "one too many"},
        {BEGIN TABLE_LINE KEY_LINE COUNT_LINE, "cut short"},
        {BEGIN TABLE_LINE KEY_LINE COUNT_LINE " * mov", "cut short"},
        {BEGIN TABLE_LINE KEY_LINE " *  count c - 2 1\n", "behind the column before it"},
        {BEGIN TABLE_LINE KEY_LINE " *  count c - 7 1\n", "does not lie in the row"},
        {BEGIN TABLE_LINE KEY_LINE " *  count c - 3 2\n", "cannot have 2 words"},
        {BEGIN TABLE_LINE KEY_LINE " *  histogram c ticks 3 31\n", "cannot have 31 words"},
        {BEGIN TABLE_LINE KEY_LINE " *  histogram c ticks 3 32\n", "does not lie in the row"},
        {BEGIN TABLE_LINE KEY_LINE " *  count c - 70000 1\n", "not NAME UNIT"},
        {BEGIN TABLE_LINE KEY_LINE " *  count c - 3\n", "lacks words"},
        {BEGIN TABLE_LINE KEY_LINE COUNT_LINE " *  count c - 4 1\n", "two columns are called c"},
        {BEGIN " * moves 24 2048\n", "not at the begin"},
        {BEGIN TABLE_LINE KEY_LINE COUNT_LINE " * moves 24\n", "not BEGUN ENDED"},
        {BEGIN TABLE_LINE KEY_LINE COUNT_LINE " * moves 24 x\n", "not BEGUN ENDED"},
        {BEGIN TABLE_LINE KEY_LINE COUNT_LINE " * moves 24 99999999\n", "not BEGUN ENDED"},
        {BEGIN TABLE_LINE KEY_LINE COUNT_LINE " * moves 32 2048\n", "not at the begin"},
        {BEGIN TABLE_LINE KEY_LINE COUNT_LINE " * moves 24 1080\n", "not at the begin"},
        {BEGIN TABLE_LINE KEY_LINE COUNT_LINE " * moves 24 2044\n", "not at the begin"},
        {BEGIN " * table t 0 64 16 8 hashed\n" KEY_LINE COUNT_LINE " * moves 24 2048\n", "not at the begin"},
        {BEGIN " * table t 0 0 16 8 hashed+u\n", "not NAME NUMBER"},
        {BEGIN ADDING_LINE KEY_LINE COUNT_LINE " */\n", "d cannot add t"},
        {BEGIN " * table d 0 0 16 8 direct+d\n" KEY_LINE COUNT_LINE " */\n", "d cannot add d"},
        {BEGIN ADDING_LINE KEY_LINE COUNT_LINE OTHER_LINE " *  key l - 2 1\n" COUNT_LINE " */\n",
         "d cannot add t"},
        {BEGIN ADDING_LINE KEY_LINE COUNT_LINE OTHER_LINE KEY_LINE " *  count x - 3 1\n */\n",
         "d cannot add t"},
        {BEGIN ADDING_LINE KEY_LINE COUNT_LINE OTHER_LINE KEY_LINE " *  count c - 4 1\n */\n",
         "d cannot add t"},
    };
    unsigned right = 0;

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct declared declared;
        struct fail fail = {"it was accepted"};
        bool is_read = declared_read(&declared, wrong[i].text, strlen(wrong[i].text), &fail);

        right += !is_read && strstr(fail.text, wrong[i].says) != NULL;
        if (is_read || strstr(fail.text, wrong[i].says) == NULL)
            printf("# %zu: %s: %s\n", i, wrong[i].says, fail.text);
        if (is_read)
            declared_free(&declared);
    }
    check(right == sizeof(wrong) / sizeof(wrong[0]), "wrong lists are refused, with the reason");

    static const char good[] = BEGIN ADDING_LINE KEY_LINE COUNT_LINE OTHER_LINE KEY_LINE COUNT_LINE " */\n";
    struct declared declared;
    struct fail fail = {""};
    bool is_read = declared_read(&declared, good, sizeof(good) - 1, &fail);
    check(is_read && declared.tables[0].adds == &declared.tables[1], "a table that adds another one %s",
          fail.text);
    if (is_read)
        declared_free(&declared);
}

/* Of a list that is accepted, everything lies where it may. */
static bool is_bounded(const struct declared *declared)
{
    bool is = declared->bytes <= TRACE_TABLES_BYTES_MAX && declared->count > 0;

    for (unsigned t = 0; is && t < declared->count; t++) {
        const struct trace_table_info *table = &declared->tables[t];
        is = table->rows > 0 && table->key_count > 0 && table->key_count < table->column_count &&
             table->row_words <= TRACE_TABLE_ROW_WORDS_MAX &&
             table->offset + 8 * (TRACE_TABLE_HEAD_WORDS + (uint64_t)table->rows * table->row_words) <=
                 declared->bytes;
        for (unsigned c = 0; is && c < table->column_count; c++)
            is = table->columns[c].word + table->columns[c].words < table->row_words;
    }
    return is;
}

static void test_mutated_lists(void)
{
    static const char letters[] = "0123456789 -*\n/abktx";
    size_t size;
    char *text = read_metadata(&size), *list = memmem(text, size, "\n" TRACE_TABLES_BEGIN, 10);
    const size_t from = (size_t)(list - text), length = size - from;
    char *copy = alloc_zero(1, length);
    unsigned accepted = 0, bad = 0;

    for (unsigned i = 0; i < MUTATIONS; i++) {
        struct declared declared;
        struct fail fail;

        memcpy(copy, list, length);
        for (unsigned k = 0; k < 1 + i % 4; k++)
            copy[(size_t)rand() % length] = letters[(size_t)rand() % (sizeof(letters) - 1)];
        if (!declared_read(&declared, copy, length - (i % 3 == 0 ? (size_t)rand() % length : 0), &fail))
            continue;
        accepted++;
        bad += !is_bounded(&declared);
        declared_free(&declared);
    }
    check(bad == 0 && accepted > 0 && accepted < MUTATIONS,
          "mutated lists are refused, or lead nowhere outside (%u of %u accepted)", accepted, MUTATIONS);
    free(copy);
    free(text);
}

/* ---- tables in memory ------------------------------------------------------------------------------ */

static const struct trace_table_info *const locks = &trace_table_list[TRACE_TABLE_LOCKS];
static const struct trace_table_info *const classes = &trace_table_list[TRACE_TABLE_LOCK_CLASSES];

static uint64_t row_word(const struct trace_table_info *table, uint32_t row)
{
    return table->offset / 8 + TRACE_TABLE_HEAD_WORDS + (uint64_t)row * table->row_words;
}

static void put_word(uint32_t cpu, uint64_t word, uint64_t value)
{
    put64(&made, made_table_word(&made, cpu, word), value);
}

static uint64_t get_word(uint32_t cpu, uint64_t word)
{
    return get64(&made, made_table_word(&made, cpu, word));
}

static unsigned word_of(const struct trace_table_info *table, const char *name)
{
    for (unsigned c = 0; c < table->column_count; c++)
        if (strcmp(table->columns[c].name, name) == 0)
            return table->columns[c].word;
    return 0;
}

static void add_to(uint32_t cpu, const struct trace_table_info *table, uint32_t row, const char *name,
                   uint64_t value)
{
    const uint64_t word = row_word(table, row) + word_of(table, name);
    put_word(cpu, word, get_word(cpu, word) + value);
}

/* Fills a row of `locks` as an update for a wait of WAIT ticks would; returns its number. */
static uint32_t put_lock(uint32_t cpu, uint64_t lock, uint64_t pid, uint64_t wait)
{
    const uint64_t keys[] = {lock, 3, pid}, tag = trace_table_tag(keys, 3);
    const uint32_t row = (uint32_t)(tag % locks->rows);
    const uint64_t word = row_word(locks, row), longest = word + word_of(locks, "wait_longest");

    put_word(cpu, word + TRACE_ROW_BEGUN, get_word(cpu, word + TRACE_ROW_BEGUN) + 1);
    put_word(cpu, word + TRACE_ROW_TAG, tag);
    for (unsigned k = 0; k < 3; k++)
        put_word(cpu, word + TRACE_ROW_KEYS + k, keys[k]);
    add_to(cpu, locks, row, "contended", 1);
    add_to(cpu, locks, row, "wait", wait);
    if (get_word(cpu, longest) < wait)
        put_word(cpu, longest, wait);
    const uint64_t bucket = word + word_of(locks, "wait_times") + trace_table_bucket(wait);
    put_word(cpu, bucket, get_word(cpu, bucket) + 1);
    put_word(cpu, word + locks->row_words - 1, get_word(cpu, word + locks->row_words - 1) + 1);
    return row;
}

/* Sets the counts of moves of a CPU. */
static void put_moves(uint32_t cpu, uint64_t begun, uint64_t ended)
{
    put_word(cpu, TRACE_TABLE_MOVES_BEGUN, begun);
    put_word(cpu, locks->moves_ended / 8, ended);
}

/* Moves a row of `locks`, of class 3, to the row of its class, as the kernel does. */
static void move_lock(uint32_t cpu, uint32_t row)
{
    const uint64_t from = row_word(locks, row), to = row_word(classes, 3);

    put_word(cpu, to + TRACE_ROW_TAG, 1);
    put_word(cpu, to + TRACE_ROW_KEYS, 3);
    put_word(cpu, to, get_word(cpu, to) + get_word(cpu, from));
    for (uint32_t i = TRACE_ROW_KEYS + 1; i < classes->row_words; i++) /* of the largest, the moved one's */
        put_word(cpu, to + i,
                 (i == word_of(classes, "wait_longest") ? 0 : get_word(cpu, to + i)) +
                     get_word(cpu, from + i + 2));
    for (uint32_t i = 0; i < locks->row_words; i++)
        put_word(cpu, from + i, 0);
    put_word(cpu, locks->offset / 8 + TRACE_TABLE_MOVED,
             get_word(cpu, locks->offset / 8 + TRACE_TABLE_MOVED) + 1);
    put_moves(cpu, get_word(cpu, TRACE_TABLE_MOVES_BEGUN) + 1, get_word(cpu, locks->moves_ended / 8) + 1);
}

static struct source *open_core(void)
{
    struct fail fail;
    char name[120];

    write_core(core_path, &made);
    snprintf(name, sizeof(name), "core:%s", core_path);
    struct source *source = open_source(name, 0, &fail);
    if (source == NULL)
        printf("# %s\n", fail.text);
    return source;
}

/* A moment of the memory as it is now. */
static bool read_moment(struct declared *declared, struct moment *moment)
{
    struct source *source = open_core();
    struct fail fail = {"no source"};
    size_t size;
    char *text = read_metadata(&size);
    bool ok = source != NULL && declared_read(declared, text, size, &fail) &&
              moment_read(moment, source, declared, &fail);

    if (!ok)
        printf("# %s\n", fail.text);
    if (source != NULL)
        source->class->close(source);
    free(text);
    return ok;
}

static uint64_t value(const struct counted *counted, size_t row, const char *name)
{
    return row < counted->count ? counted->rows[row]->words[word_of(locks, name)] : UINT64_MAX - 1;
}

static void test_sums(const char *order)
{
    struct declared declared;
    struct moment moment;
    struct counted counted;

    put_lock(0, 0x1000, 7, 100);
    put_lock(0, 0x1000, 7, 300);
    put_lock(1, 0x1000, 7, 200);
    put_lock(1, 0x1000, 8, 50);
    const uint32_t changing = put_lock(1, 0x2000, 0, 5);
    put_word(1, row_word(locks, changing), 3); /* begun */
    const uint32_t damaged = put_lock(0, 0x3000, 0, 5);
    put_word(0, row_word(locks, damaged), 0); /* fewer begun than ended */
    const uint32_t moved = put_lock(0, 0x4000, 0, 5);
    put_word(0, row_word(locks, moved) + TRACE_ROW_KEYS, 0x4001); /* not the keys of the tag */
    put_word(1, locks->offset / 8 + TRACE_TABLE_NO_SPACE, 11);
    if (!read_moment(&declared, &moment)) {
        check(false, "%s: the tables are read", order);
        return;
    }
    counted_collect(&counted, locks, &moment, NULL, false);
    check(counted.count == 3 && value(&counted, 0, "lock") == 0x1000 && value(&counted, 0, "pid") == 7 &&
              value(&counted, 0, "contended") == 3 && value(&counted, 0, "wait") == 600 &&
              value(&counted, 0, "wait_longest") == 300 && value(&counted, 1, "pid") == 8 &&
              value(&counted, 1, "wait") == 50,
          "%s: rows of the same keys are added over CPUs, others are not", order);
    check(counted.damaged == 2 && counted.no_row == 11 && value(&counted, 2, "lock") == 0x2000 &&
              counted.rows[2]->under_way == 2 && counted.rows[0]->under_way == 0,
          "%s: damaged rows are left out and counted, as are updates without a row; one under way is marked",
          order);
    counted_free(&counted);
    counted_collect(&counted, locks, &moment, NULL, true);
    check(counted.count == 4 && value(&counted, 0, "wait") == 400 && counted.rows[0]->cpu == 0 &&
              value(&counted, 1, "wait") == 200 && counted.rows[1]->cpu == 1,
          "%s: by CPU they stay apart", order);
    counted_free(&counted);
    counted_collect(&counted, &declared.tables[TRACE_TABLE_LOCK_CLASSES], &moment, NULL, false);
    const uint64_t *row = counted.count == 1 ? counted.rows[0]->words : NULL;
    check(row != NULL && row[TRACE_ROW_KEYS] == 3 && row[word_of(classes, "contended")] == 5 &&
              row[word_of(classes, "wait")] == 655 && row[word_of(classes, "wait_longest")] == 300 &&
              counted.rows[0]->under_way == 2,
          "%s: a class has the sums of its locks", order);
    counted_free(&counted);
    moment_free(&moment);
    declared_free(&declared);
}

static void test_interval(const char *order)
{
    struct declared declared, again;
    struct moment before, now;
    struct counted counted;

    put_lock(0, 0x1000, 7, 100);
    put_lock(0, 0x2000, 7, 100);
    const uint32_t backwards = put_lock(0, 0x5000, 7, 100);
    bool ok = read_moment(&declared, &before);
    put_lock(0, 0x1000, 7, 40);  /* not the longest */
    put_lock(1, 0x1000, 7, 30);  /* new on this CPU: the longest of the interval */
    put_lock(1, 0x3000, 7, 500); /* new */
    put_lock(0, 0x5000, 7, 500);
    put_word(0, row_word(locks, backwards) + word_of(locks, "wait"), 1);
    ok = ok && read_moment(&again, &now);
    counted_collect(&counted, locks, &now, &before, false);
    check(ok && counted.count == 2 && value(&counted, 0, "contended") == 2 &&
              value(&counted, 0, "wait") == 70 && value(&counted, 1, "lock") == 0x3000 &&
              value(&counted, 1, "wait_longest") == 500,
          "%s: an interval has the changes of the rows that changed", order);
    check(value(&counted, 0, "wait_longest") == 30, "%s: a largest value from before does not count", order);
    check(counted.damaged == 1, "%s: a row that counts backwards is damaged", order);
    counted_free(&counted);
    counted_collect(&counted, locks, &before, &before, false);
    check(counted.count == 0 && counted.damaged == 0, "%s: nothing changes from a moment to itself", order);
    counted_free(&counted);
    moment_free(&before);
    moment_free(&now);
    declared_free(&declared);
    declared_free(&again);
}

/* Rows that were moved in an interval, of which one has another owner now. */
static void test_moved(const char *order)
{
    struct declared declared, again;
    struct moment before, now;
    struct counted counted;

    const uint32_t row = put_lock(0, 0x1000, 7, 100), other = put_lock(0, 0x2000, 7, 400);
    uint64_t newcomer = 0x3000;
    while (trace_table_tag((const uint64_t[]){newcomer, 3, 9}, 3) % locks->rows != row)
        newcomer += 8;
    bool ok = read_moment(&declared, &before);
    put_lock(0, 0x1000, 7, 20);
    move_lock(0, row);
    move_lock(0, other);
    put_lock(0, newcomer, 9, 3);
    ok = ok && read_moment(&again, &now);
    moment_follow(&before, &now, &again);
    counted_collect(&counted, &again.tables[TRACE_TABLE_LOCK_CLASSES], &now, &before, false);
    const uint64_t *words = counted.count == 1 ? counted.rows[0]->words : NULL;
    check(ok && words != NULL && words[word_of(classes, "wait")] == 23 &&
              words[word_of(classes, "contended")] == 2 && counted.damaged == 0 && !counted.is_moving,
          "%s: an interval has what was counted in it, wherever rows were moved", order);
    counted_free(&counted);
    counted_collect(&counted, &again.tables[TRACE_TABLE_LOCKS], &now, &before, false);
    check(counted.count == 1 && value(&counted, 0, "lock") == newcomer && value(&counted, 0, "wait") == 3 &&
              counted.damaged == 0,
          "%s: and what took a row that was another's has that alone", order);
    counted_free(&counted);
    moment_free(&before);
    moment_free(&now);
    declared_free(&declared);
    put_moves(1, 5, 4);
    ok = read_moment(&declared, &now);
    counted_collect(&counted, &declared.tables[TRACE_TABLE_LOCKS], &now, NULL, false);
    check(ok && now.moving[1] && !now.moving[0] && counted.is_moving,
          "%s: rows that were being moved when the guest stopped are reported", order);
    counted_free(&counted);
    moment_free(&now);
    declared_free(&declared);
    declared_free(&again);
}

/* ---- what is printed ------------------------------------------------------------------------------- */

/* Runs `tarn tables`; OUTPUT gets what it prints to standard output. */
static int run(char *output, size_t size, const char *a, const char *b, const char *c)
{
    char name[120], path[120];
    char *argv[] = {"tables", name, (char *)a, (char *)b, (char *)c, NULL};
    int argc = 0;

    write_core(core_path, &made);
    snprintf(name, sizeof(name), "core:%s", core_path);
    snprintf(path, sizeof(path), "%s/printed", scratch);
    while (argv[argc] != NULL)
        argc++;
    fflush(stdout);
    int tap = dup(1), file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    dup2(file, 1);
    int status = command_run(argc, argv);
    fflush(stdout);
    dup2(tap, 1);
    close(tap);
    ssize_t length = pread(file, output, size - 1, 0);
    output[length > 0 ? length : 0] = '\0';
    close(file);
    return status;
}

static void test_printed(const char *order)
{
    static char output[1 << 16];
    const char *says =
        "\"pid\":7,\"process\":null,\"sampled\":0,\"acquisitions\":0,\"variance\":0,\"tried\":0,"
        "\"failed\":0,\"contended\":3,\"blocked\":0,\"spins\":0,\"wait_ns\":600,\"blocked_wait_ns\":0,"
        "\"wait_longest_ns\":300,\"wait_times_p50_ns\":255,"
        "\"wait_times_p90_ns\":511,\"wait_times_p99_ns\":511,\"wait_times_max_ns\":511,\"holds\":0,"
        "\"held_ns\":0,\"held_longest_ns\":0,\"hold_times_p50_ns\":null,";
    int status = run(output, sizeof(output), "--json", "locks", NULL);

    check(status == EXIT_DAMAGE && strstr(output, says) != NULL &&
              strstr(output, "\"no_row\":11,\"damaged_rows\":2,\"moving\":false,\"seconds\":null") != NULL &&
              strstr(output, "{\"name\":\"0x1000\",\"lock\":\"0x1000\",\"lock_class\":3,\"class\":null,") !=
                  NULL &&
              strstr(output, "\"under_way\":2}") != NULL,
          "%s: JSON has keys, sums, bounds of buckets, and what is missing", order);
    if (strstr(output, says) == NULL)
        printf("# %s\n", output);
    status = run(output, sizeof(output), "--json", NULL, NULL);
    check(status == EXIT_OK &&
              strstr(output, "{\"name\":\"locks\",\"rows_used\":6,\"fullest_cpu\":3,\"rows\":512,"
                             "\"moved\":0,\"no_row\":11,\"damaged\":2,\"text\":\"locks of") != NULL,
          "%s: the list of tables", order);
    status = run(output, sizeof(output), "locks", "--sort", "wait_longest");
    check(status == EXIT_DAMAGE && strstr(output, "upper bounds") != NULL &&
              strstr(output, "under way") != NULL && strstr(output, "\nlock ") != NULL,
          "%s: as text", order);
    if (strstr(output, "under way") == NULL)
        printf("# %s\n", output);
    status = run(output, sizeof(output), "locks", "--sort", "nonsense");
    check(status == EXIT_USAGE, "%s: an unknown column is refused", order);
    status = run(output, sizeof(output), "nonsense", NULL, NULL);
    check(status == EXIT_USAGE, "%s: an unknown table is refused", order);
    status = run(output, sizeof(output), "lock_classes", "--previous", NULL);
    check(status == EXIT_USAGE, "%s: there is no previous boot", order);
}

static void test_hostile(void)
{
    static char output[1 << 22];
    const char *names[] = {"locks", "lock_classes", "lock_sites"};
    unsigned ended = 0;

    for (unsigned i = 0; i < HOSTILE; i++) {
        for (uint32_t cpu = 0; cpu < MAKE_CPUS; cpu++)
            for (uint64_t word = 0; word < TRACE_TABLES_BYTES / 8; word++)
                put_word(cpu, word, (uint64_t)rand() << (rand() % 50) >> (rand() % 40));
        for (uint32_t row = 0; row < classes->rows;
             row++) { /* the keys are those of the row, the rest is not */
            put_word(0, row_word(classes, row), UINT64_MAX);
            put_word(0, row_word(classes, row) + TRACE_ROW_TAG, 1);
            put_word(0, row_word(classes, row) + TRACE_ROW_KEYS, row);
            put_word(0, row_word(classes, row) + 3 + (uint64_t)rand() % 70, UINT64_MAX);
        }
        int status = run(output, sizeof(output), names[i % 3], i % 2 ? "--json" : "--by-cpu", NULL);
        ended += status == EXIT_DAMAGE;
    }
    check(ended == HOSTILE, "random contents are reported as damaged, and read to the end");
}

static void begin(bool big)
{
    made.big = big;
    made.has_tables = true;
    make_guest(&made);
}

/* ---- a running guest ------------------------------------------------------------------------------- */

static uint8_t *shared; /* memory that the guest shares with this host */
static uint32_t live_row;
static _Atomic bool live_stop;
static _Atomic uint64_t live_updates;

static uint64_t *live_word(uint64_t word)
{
    const uint8_t *at = made_table_word(&made, 0, row_word(locks, live_row) + word);
    return (uint64_t *)(void *)(shared + (at - made.ram));
}

/* Each update adds the same to columns at both ends of the row. */
static void *run_guest(void *argument)
{
    while (!live_stop) {
        __atomic_fetch_add(live_word(TRACE_ROW_BEGUN), 1, __ATOMIC_RELAXED);
        __atomic_thread_fence(__ATOMIC_RELEASE);
        __atomic_fetch_add(live_word(word_of(locks, "contended")), 1, __ATOMIC_RELAXED);
        __atomic_fetch_add(live_word(word_of(locks, "wait")), 10, __ATOMIC_RELAXED);
        __atomic_fetch_add(live_word(word_of(locks, "holds")), 1, __ATOMIC_RELAXED);
        __atomic_fetch_add(live_word(word_of(locks, "held")), 20, __ATOMIC_RELAXED);
        __atomic_fetch_add(live_word(locks->row_words - 1), 1, __ATOMIC_RELEASE);
        live_updates++;
        for (volatile unsigned pause = 0; pause < 100; pause++)
            ;
    }
    return argument;
}

static bool is_one_moment(const uint64_t *row)
{
    const uint64_t count = row[word_of(locks, "contended")];

    return row[word_of(locks, "wait")] == 10 * count && row[word_of(locks, "holds")] == count &&
           row[word_of(locks, "held")] == 20 * count;
}

/* Reads until the guest has made many updates, and once more when it has stopped. */
static void follow_guest(struct source *source, const struct declared *declared, pthread_t thread)
{
    uint64_t whole = 0, marked = 0, wrong = 0, last = 0, words[TRACE_TABLE_ROW_WORDS_MAX];
    bool is_last = false;

    for (unsigned i = 0; !is_last; i++) {
        struct moment moment;
        struct fail fail;

        is_last = i >= LIVE_READS && live_updates > LIVE_READS;
        if (is_last) {
            live_stop = true;
            pthread_join(thread, NULL);
        }
        if (!moment_read(&moment, source, declared, &fail)) {
            wrong++;
            continue;
        }
        const enum trace_row_state state = moment_row(&moment, 0, locks, live_row, words);
        whole += state == TRACE_ROW_WHOLE;
        marked += state == TRACE_ROW_CHANGING;
        wrong += state == TRACE_ROW_DAMAGED || (state == TRACE_ROW_WHOLE && !is_one_moment(words));
        last = words[word_of(locks, "contended")];
        moment_free(&moment);
    }
    check(wrong == 0 && whole > 0 && last == live_updates,
          "ram: a row that is updated meanwhile is of one moment, or marked (%llu, %llu, wrong: %llu)",
          (unsigned long long)whole, (unsigned long long)marked, (unsigned long long)wrong);
}

static void test_live(void)
{
    char path[100], name[120];
    struct declared declared;
    struct fail fail = {""};
    pthread_t thread;
    size_t size;
    char *text = read_metadata(&size);

    begin(__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
    live_row = put_lock(0, 0x1000, 7, 0);
    for (unsigned word = TRACE_ROW_KEYS + 3; word < locks->row_words; word++)
        put_word(0, row_word(locks, live_row) + word, 0);
    put_word(0, row_word(locks, live_row) + TRACE_ROW_BEGUN, 0);
    snprintf(path, sizeof(path), "%s/ram", scratch);
    shared = share_file(path, &made);
    snprintf(name, sizeof(name), "ram:%s", path);
    struct source *source = open_source(name, 0, &fail);
    bool ok = source != NULL && declared_read(&declared, text, size, &fail);
    check(ok, "ram: is opened %s", fail.text);
    if (ok && pthread_create(&thread, NULL, run_guest, NULL) == 0)
        follow_guest(source, &declared, thread);
    if (source != NULL)
        source->class->close(source);
    if (ok)
        declared_free(&declared);
    free(text);
    munmap(shared, MAKE_BYTES);
}

static void test_missing(void)
{
    static char output[4096];

    made.has_tables = false;
    make_guest(&made);
    check(run(output, sizeof(output), "locks", NULL, NULL) == EXIT_USAGE && output[0] == '\0',
          "memory in which the store lists no tables is refused");
}
int main(void)
{
    make_scratch();
    snprintf(core_path, sizeof(core_path), "%s/core", scratch);
    made.ram = alloc_zero(1, MAKE_BYTES);
    made.store_at = MAKE_STORE_AT;
    if (!freopen("/dev/null", "w", stderr))
        return 1;
    test_list();
    test_wrong_lists();
    test_mutated_lists();
    for (unsigned big = 0; big < 2; big++) {
        const char *order = big ? "big-endian" : "little-endian";
        begin(big);
        test_sums(order);
        test_printed(order);
        begin(big);
        test_interval(order);
        begin(big);
        test_moved(order);
        test_hostile();
    }
    test_live();
    test_missing();
    free(made.ram);
    return finish_tests();
}
