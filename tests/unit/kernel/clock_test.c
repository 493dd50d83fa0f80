/* clock_test.c - tests arch_clock_agree with clock sources that agree, differ, or lie. */
#include <arch/clock.h>
#include <tests/tap.h>

#define GHZ 1000000000ull
#define SOURCES(...)                                 \
    (const struct arch_clock_source[]){__VA_ARGS__}, \
        sizeof((const struct arch_clock_source[]){__VA_ARGS__}) / sizeof(struct arch_clock_source)

static struct arch_clock_rate agree(const struct arch_clock_source *sources, uint32_t count)
{
    struct arch_clock_rate rate;
    arch_clock_agree(&rate, sources, count);
    return rate;
}

static void expect(const char *what, struct arch_clock_rate rate, uint64_t low, uint64_t high,
                   bool is_certain, uint32_t error_ppm, const char *names)
{
    bool good = rate.hz >= low && rate.hz <= high && rate.is_certain == is_certain &&
                rate.error_ppm == error_ppm && !strcmp(rate.names, names);
    check(good, "%s", what);
    if (!good)
        printf("# %llu Hz, %s, %u ppm, \"%s\"\n", (unsigned long long)rate.hz,
               rate.is_certain ? "certain" : "uncertain", rate.error_ppm, rate.names);
}

/* Of three sources, each in turn is far off and narrow, so that it would be preferred. */
static void test_liars(void)
{
    static const uint64_t wrong[] = {1, GHZ / 1000, 7 * GHZ / 5, 1000 * GHZ, ~0ull - 10};
    for (uint32_t place = 0; place < 3; place++)
        for (uint32_t w = 0; w < sizeof(wrong) / sizeof(wrong[0]); w++) {
            struct arch_clock_source sources[] = {{"a", GHZ - 10000, GHZ + 10000},
                                                  {"b", GHZ - 10000, GHZ + 10000},
                                                  {"c", GHZ - 10000, GHZ + 10000}};
            sources[place] = (struct arch_clock_source){"liar", wrong[w], wrong[w] + 1};
            struct arch_clock_rate rate = agree(sources, 3);
            check(rate.hz == GHZ && rate.is_certain && rate.error_ppm == 10 && !strstr(rate.names, "liar"),
                  "two sources outvote a third that states %llu Hz, in place %u",
                  (unsigned long long)wrong[w], place);
        }
}

int main(void)
{
    expect("the narrowest agreeing source gives the rate, and the range shared by all bounds the error",
           agree(SOURCES({"a", GHZ - 100000, GHZ + 100000}, {"b", GHZ - 10000, GHZ + 10000})), GHZ, GHZ, true,
           10, "a b");
    expect("the rate lies in the range shared by all",
           agree(SOURCES({"a", GHZ - 20000, GHZ + 20000}, {"b", GHZ + 10000, GHZ + 90000})), GHZ + 10000,
           GHZ + 10000, true, 10, "a b");
    expect("one source alone is not certain", agree(SOURCES({"a", GHZ - 50000, GHZ + 50000})), GHZ, GHZ,
           false, 50, "a");
    expect("two different sources are not certain, and the error includes both",
           agree(SOURCES({"a", GHZ - 1000, GHZ + 1000}, {"b", 2 * GHZ - 500000, 2 * GHZ})), GHZ, GHZ, false,
           1000000, "a");
    expect("without any source the rate is a guess", agree(NULL, 0), GHZ, GHZ, false, ~0u, "none");
    check(agree(SOURCES({"a", 0, 0}, {"b", 0, 0})).hz != 0, "the rate is never 0");
    test_liars();
    return finish_tests();
}
