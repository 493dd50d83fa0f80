/*
 * tests/unit/tarn/map_test.c - the limit of maps, and Student's t. Tables, and how they are printed:
 * tests/host/analyses. Prints TAP.
 */
#include <tests/tap.h>
#include <tools/tarn/analysis/distribution.h>
#include <tools/tarn/map.h>

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
    test_chance();
    test_map();
    return finish_tests();
}
