/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tests/unit/tarn/table_test.c - what analyses consist of: tables and how they are printed,
 * distributions of durations, chance, maps. Prints TAP.
 */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tests/tap.h>
#include <tools/tarn/analysis/distribution.h>
#include <tools/tarn/analysis/t_test.h>
#include <tools/tarn/map.h>
#include <tools/tarn/print/print_table.h>

/* What FUNCTION prints of TABLE. */
static char *printed(void (*function)(FILE *, const struct table *, uint64_t), const struct table *table,
                     uint64_t top)
{
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);

    function(to, table, top);
    fclose(to);
    return text;
}

static unsigned line_width = UINT_MAX;

static void print_text(FILE *to, const struct table *table, uint64_t top)
{
    table_print_text(to, table, top, line_width);
}

static void expect(char *text, const char *expected, const char *what)
{
    check(strcmp(text, expected) == 0, "%s", what);
    if (strcmp(text, expected) != 0)
        printf("# got: %s\n", text);
    free(text);
}

static const struct table_column columns[] = {NUMBER_COLUMN("pid"), COUNT_COLUMN("events"),
                                              REAL_COLUMN("percent", 1)};

static void test_rows(void)
{
    static const struct {
        const char *name;
        uint64_t pid, events;
    } rows[] = {{"sh", 9, 5}, {"cat", 4, 7}, {"sh", 3, 6}, {"a\"b,c\n\xff", 8, 1}, {"ls", 5, 2}};
    struct table table = TABLE("process", "process", "processes", columns, "events");

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct table_row *row = table_add(&table, rows[i].name);

        row->cells[0].count = rows[i].pid;
        row->cells[1].count = rows[i].events;
        row->cells[2].real = (double)rows[i].events / 2;
    }
    table_sort(&table, 1);
    expect(printed(table_print_csv, &table, UINT64_MAX),
           "process,pid,events,percent\ncat,4,7,3.5000\nsh,3,6,3.0000\nsh,9,5,2.5000\nls,5,2,1.0000\n"
           "\"a\"\"b,c\n\xff\",8,1,0.5000\n",
           "CSV; names with commas, quotes and ends of lines are quoted");
    expect(printed(print_text, &table, 3),
           "\nprocess                           pid   events        %\n"
           "cat                                 4        7      3.5\n"
           "sh                                  3        6      3.0\n"
           "sh                                  9        5      2.5\n"
           "... and 2 more processes                     3      1.5\n",
           "text: the remaining rows are summed up, except identifiers");
    line_width = 46;
    expect(printed(print_text, &table, 1),
           "\nprocess                           pid   events\n"
           "cat                                 4        7\n"
           "... and 4 more processes                    14\n",
           "text of limited width: the last columns are left out");
    line_width = UINT_MAX;
    table_sort(&table, TABLE_BY_NAME);
    expect(printed(print_text, &table, 1),
           "\nprocess                           pid   events        %\n"
           "a\"b,c..                             8        1      0.5\n"
           "... and 4 more processes                    20     10.0\n",
           "text: unprintable characters are dots");
    expect(printed(table_print_json, &table, 1),
           "\"process\":[{\"name\":\"a\\\"b,c\\n\xef\xbf\xbd\",\"pid\":8,\"events\":1,\"percent\":0.5000}]",
           "JSON; names are escaped");
    table_reverse(&table);
    check(strcmp(table.rows[0]->name, "sh") == 0 && table.rows[0]->cells[0].count == 9, "reversed");
    check(table_find_column(&table, "events") == 1 && table_find_column(&table, "name") == TABLE_BY_NAME &&
              table_find_column(&table, "nonsense") == TABLE_NO_COLUMN,
          "columns are found by key");
    table_free(&table);
}

/* What is compared with each other in a row has one unit. */
static void test_units(void)
{
    static const struct table_column all[] = {
        TIME_COLUMN("ran_ns"),     TIME_COLUMN("waited_ns"),
        TIME_COLUMN("nothing_ns"), COLUMN_CALLED("", "from_ns", COLUMN_TIME, SUM_SMALLEST, 0),
        TIME_SMALLEST("min_ns"),   TIME_LARGEST("max_ns")};
    struct table table = TABLE("thread", "thread", "threads", all, TABLE_AS_FILLED);
    struct table_row *row = table_add(&table, "sh");

    memcpy(row->cells,
           (union table_cell[]){{.count = 5000000000},
                                {.count = 12000},
                                {.count = 0},
                                {.count = 7},
                                {.count = 6418},
                                {.count = 223047819}},
           6 * sizeof(row->cells[0]));
    expect(printed(print_text, &table, 1),
           "\nthread                         ran ms waited ms nothing ms   min us     max us\n"
           "sh                           5000.000     0.012      0.000    6.418 223047.819\n",
           "text: sums have one unit, minimum and maximum another; a column without a heading is left out");
    expect(
        printed(table_print_csv, &table, 1),
        "thread,ran_ns,waited_ns,nothing_ns,from_ns,min_ns,max_ns\nsh,5000000000,12000,0,7,6418,223047819\n",
        "CSV contains the column without a heading");
    table_free(&table);
}

static void test_kinds(void)
{
    static const struct table_column all[] = {
        TIME_COLUMN("total_ns"), TIME_LARGEST("max_ns"),
        TIME_SMALLEST("min_ns"), TIME_OF_ONE("p50_ns"),
        MEAN_COLUMN("mean", 2),  SIGNED_COLUMN("status"),
        HEX_COLUMN("address"),   WHEN_COLUMN("at_ns"),
        TEXT_COLUMN("why"),      COLUMN_CALLED("share", "", COLUMN_BAR, SUM_NOTHING, 0)};
    struct table table = TABLE("kind", "kind", "kinds", all, TABLE_AS_FILLED);
    struct table_row *known, *unknown;
    union table_cell cells[10];

    known = table_row(&table, 7, "row");
    unknown = table_row(&table, 8, "row");
    known->indent = 1;
    memcpy(cells,
           (union table_cell[]){{.count = 150000000},
                                {.count = 2500},
                                {.count = 500},
                                {.count = 1000},
                                {.real = 1.25},
                                {.number = -9},
                                {.count = 0xfff0},
                                {.count = 1000000001},
                                {.text = "preempted, twice"},
                                {.count = 3}},
           sizeof(cells));
    memcpy(known->cells, cells, sizeof(cells));
    table_clear_cells(&table, unknown);
    unknown->cells[0].number = TABLE_NONE;
    unknown->cells[4].real = NAN;
    check(table_row(&table, 7, "row") == known && table_row(&table, 8, "row") == unknown && table.count == 2,
          "rows are found again by key and name");
    expect(
        printed(table_print_json, &table, 1),
        "\"kind\":[{\"name\":\"row\",\"total_ns\":150000000,\"max_ns\":2500,\"min_ns\":500,\"p50_ns\":1000,"
        "\"mean\":1.25000,\"status\":-9,\"address\":\"0xfff0\",\"at_ns\":1000000001,"
        "\"why\":\"preempted, twice\"}]",
        "JSON of every kind of column");
    table_reverse(&table);
    expect(printed(table_print_json, &table, 1),
           "\"kind\":[{\"name\":\"row\",\"total_ns\":null,\"max_ns\":null,\"min_ns\":null,\"p50_ns\":null,"
           "\"mean\":null,\"status\":null,\"address\":null,\"at_ns\":null,\"why\":null}]",
           "JSON of unknown values");
    expect(printed(table_print_csv, &table, 2),
           "kind,total_ns,max_ns,min_ns,p50_ns,mean,status,address,at_ns,why\nrow,,,,,,,,,\n"
           "row,150000000,2500,500,1000,1.25000,-9,0xfff0,1000000001,\"preempted, twice\"\n",
           "CSV of all kinds of columns and of unknown values");
    table_reverse(&table);
    known->indent = 1;
    expect(printed(print_text, &table, 1),
           "\nkind                         total ms   max us   min us   p50 us     mean   status  address"
           "        at s  why               share\n"
           "  row                         150.000    2.500    0.500    1.000     1.25       -9   0xfff0"
           " 1.000000001  preempted, twice  ##############################\n"
           "row\n",
           "text: units fit the values, trees are indented");
    table_add_cells(&table, unknown, known);
    table_add_cells(&table, unknown, known);
    check(unknown->cells[0].count == 300000000 && unknown->cells[1].count == 2500 &&
              unknown->cells[2].count == 500 && unknown->cells[3].number == TABLE_NONE,
          "a sum adds totals, keeps the largest maximum and the smallest minimum, has no percentile");
    table_free(&table);
}

static void test_many_rows(void)
{
    struct table table = TABLE("many", "many", "rows", columns, "events");
    bool ok = true;
    char name[20];

    for (uint64_t i = 0; i < 20000; i++) {
        snprintf(name, sizeof(name), "row %llu", (unsigned long long)(i % 10000));
        table_row(&table, i & 1, name)->cells[1].count += i;
    }
    for (uint64_t i = 0; i < 10000; i++) {
        snprintf(name, sizeof(name), "row %llu", (unsigned long long)i);
        ok &= table_row(&table, i & 1, name)->cells[1].count == 2 * i + 10000;
    }
    check(ok && table.count == 10000, "rows are found among many");
    table_sort(&table, 1);
    for (size_t i = 1; i < table.count; i++)
        ok &= table.rows[i - 1]->cells[1].count >= table.rows[i]->cells[1].count;
    check(ok, "and sorted");
    table_free(&table);
}

static bool is_near(uint64_t value, uint64_t right)
{
    return fabs((double)value - (double)right) <= (double)right / 64;
}

static void test_distribution(void)
{
    struct distribution one = {0}, two = {0};
    struct arena arena = {NULL};
    bool ok = true;

    check(distribution_percentile(&one, 0.5) == 0, "an empty distribution");
    for (uint64_t i = 1; i <= 1000; i++)
        distribution_add(i & 1 ? &one : &two, &arena, i * i);
    distribution_merge(&one, &arena, &two);
    check(one.count == 1000 && one.min == 1 && one.max == 1000000 && one.total == 333833500,
          "count, bounds and sum are exact");
    for (uint64_t i = 1; i <= 1000; i++)
        ok &= is_near(distribution_percentile(&one, (double)i / 1000), i * i);
    check(ok, "every percentile is right to 1/64");
    ok = true;
    memset(&two, 0, sizeof(two));
    for (unsigned shift = 0; shift < 64; shift++) {
        struct distribution alone = {0};

        distribution_add(&alone, &arena, 1ull << shift);
        distribution_add(&two, &arena, UINT64_MAX >> shift);
        ok &= distribution_percentile(&alone, 0.5) == 1ull << shift;
    }
    check(ok && two.max == UINT64_MAX && distribution_percentile(&two, 1) > UINT64_MAX / 64 * 63 &&
              distribution_percentile(&two, 1.0 / 64) == 1,
          "from one tick to all 64 bits");
    arena_free(&arena);
}

static void test_distribution_tables(void)
{
    struct schema schema = {.clock_freq = 500000000};
    struct distribution distribution = {0};
    struct arena arena = {NULL};
    struct histogram_row rows[49];
    unsigned count = 0, gaps = 0;
    uint64_t sum = 0;

    for (uint64_t i = 0; i < 100; i++)
        distribution_add(&distribution, &arena, i == 99 ? 100000 : 1000);
    while (count < 48 && histogram_row(&distribution, &schema, count, &rows[count])) {
        sum += rows[count].count;
        gaps += count > 0 && rows[count].from != rows[count - 1].to;
        rows[count + 1] = rows[count];
        count++;
    }
    check(sum == 100 && rows[0].from <= 2000 && rows[0].to > 2000 && rows[0].count == 99 &&
              rows[count - 1].up_to == 100,
          "a histogram contains every value in the right row");
    check(gaps == 0 && count > 5 && count <= 48, "rows follow each other without gap");
    arena_free(&arena);
}

static void test_chance(void)
{
    const struct sample a = {3, 2, 1}, b = {3, 5, 1}; /* 1, 2, 3 and 4, 5, 6 */
    double chance = chance_of(a, b), same = chance_of(a, a);

    /* t = 3.674 with 4 degrees of freedom: p = 0.0213 (any table of Student's t) */
    check(chance > 0.0212 && chance < 0.0214 && same == 1, "Student's t agrees with published tables");
}

static void test_map(void)
{
    struct map map;
    bool ok = true;

    map_open(&map, sizeof(uint64_t));
    for (uint64_t i = 0; i < 100000; i++)
        *(uint64_t *)map_at(&map, i % 100, i % 1000, 5) += i;
    check(map.count == 1000, "a map has a record for each key");
    for (uint64_t i = 0; i < 1000; i++) {
        uint64_t sum = 0, *found = map_find(&map, i % 100, i, 5);

        for (uint64_t n = i; n < 100000; n += 1000)
            sum += n;
        ok &= found != NULL && *found == sum && map.entries[i]->key[1] == i;
    }
    check(ok && map_find(&map, 1, 2, 5) == NULL, "each record is found, others are not there");
    for (uint64_t i = 0; i < MAP_ENTRIES_MAX + 100; i++)
        ++*(uint64_t *)map_at(&map, i, i, i);
    check(map.count == MAP_ENTRIES_MAX && map.others != NULL && *(uint64_t *)map.others->value == 1099,
          "its size is limited: further keys share one record");
    map_close(&map);
}

int main(void)
{
    test_rows();
    test_units();
    test_kinds();
    test_many_rows();
    test_distribution();
    test_distribution_tables();
    test_chance();
    test_map();
    return finish_tests();
}
