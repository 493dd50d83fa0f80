/* tests/unit/base/sparse_test.c - compares sparse_next with a linear search, for all ranges of random tables.
 */
#include <base/sparse.h>
#include <tests/tap.h>

#define WORDS 40u

static uint64_t search(const uint64_t *table, uint64_t at, uint64_t end)
{
    while (at < end && !table[at])
        at++;
    return at;
}

static unsigned count_differences(const uint64_t *table)
{
    unsigned differences = 0;
    for (uint64_t end = 0; end <= WORDS; end++)
        for (uint64_t at = 0; at <= end; at++)
            differences += sparse_next(table, at, end) != search(table, at, end);
    return differences;
}

int main(void)
{
    uint64_t *table = calloc(WORDS, sizeof *table); /* on the heap: the sanitizer sees reads behind it */
    if (!table)
        return 1;
    unsigned differences = count_differences(table);
    for (unsigned i = 0; i < WORDS; i++) {
        table[i] = 1ull << i;
        differences += count_differences(table);
        table[i] = 0;
    }
    check(differences == 0, "tables with one word, and an empty one");
    for (unsigned round = 0; round < 2000; round++) {
        for (unsigned i = 0; i < WORDS; i++)
            table[i] = rand() % (1 + (int)round % 30) == 0;
        differences += count_differences(table);
    }
    check(differences == 0, "random tables");
    free(table);
    return finish_tests();
}
