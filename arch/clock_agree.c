/*
 * arch/clock_agree.c - derives the clock's rate from several sources, some of which may be wrong.
 *
 * Each source gives an interval that contains the true rate if the source is right. Marzullo's algorithm
 * (Maintaining the Time in a Distributed System, 1984, chapter 3; also used by NTP) finds the smallest
 * interval that most sources have in common. The rate is the centre of the narrowest source that contains it,
 * moved into it. Interface: arch/clock.h.
 */
#include <arch/clock.h>
#include <kernel/kernel.h>

#define PARTS_PER_MILLION 1000000u

static bool contains(const struct arch_clock_source *source, uint64_t rate)
{
    return source->low <= rate && rate <= source->high;
}

static uint32_t count_containing(const struct arch_clock_source *sources, uint32_t count, uint64_t rate)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; i++)
        found += contains(&sources[i], rate);
    return found;
}

/* A largest set of intervals with a common point has one where an interval begins. Of two equally large sets
 * the one with the narrower intersection wins. Returns how many agree. */
static uint32_t find_common(const struct arch_clock_source *sources, uint32_t count, uint64_t *low,
                            uint64_t *high)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t begin = sources[i].low, end = ~0ull;
        uint32_t agreeing = count_containing(sources, count, begin);
        for (uint32_t j = 0; j < count; j++)
            if (contains(&sources[j], begin) && sources[j].high < end)
                end = sources[j].high;
        if (agreeing > most || (agreeing == most && end - begin < *high - *low)) {
            most = agreeing;
            *low = begin;
            *high = end;
        }
    }
    return most;
}

static void add_name(char *names, const char *name)
{
    size_t length = strlen(names), more = strlen(name);
    if (length + more + 2 > ARCH_CLOCK_NAMES_BYTES)
        return;
    if (length)
        names[length++] = ' ';
    memcpy(names + length, name, more + 1);
}

static uint32_t error_between(uint64_t hz, uint64_t low, uint64_t high)
{
    uint64_t below = hz > low ? hz - low : 0, above = high > hz ? high - hz : 0;
    uint64_t error = below > above ? below : above;
    uint64_t ppm = error > ~0ull / PARTS_PER_MILLION ? ~0ull : (error * PARTS_PER_MILLION + hz - 1) / hz;
    return ppm > ~0u ? ~0u : (uint32_t)ppm;
}

/* The narrowest source that contains `rate`; NULL: none. */
static const struct arch_clock_source *find_narrowest(const struct arch_clock_source *sources, uint32_t count,
                                                      uint64_t rate)
{
    const struct arch_clock_source *best = NULL;
    for (uint32_t i = 0; i < count; i++)
        if (contains(&sources[i], rate) &&
            (!best || sources[i].high - sources[i].low < best->high - best->low))
            best = &sources[i];
    return best;
}

void arch_clock_agree(struct arch_clock_rate *rate, const struct arch_clock_source *sources, uint32_t count)
{
    uint64_t low = 0, high = ~0ull;
    bool is_certain = find_common(sources, count, &low, &high) >= 2;
    const struct arch_clock_source *best = find_narrowest(sources, count, low);
    if (!best) { /* no source: use an arbitrary rate */
        *rate = (struct arch_clock_rate){.hz = 1000000000, .error_ppm = ~0u, .names = "none"};
        return;
    }
    uint64_t centre = best->low + (best->high - best->low) / 2;
    *rate = (struct arch_clock_rate){.hz = centre < low    ? low
                                           : centre > high ? high
                                                           : centre,
                                     .is_certain = is_certain};
    rate->hz = rate->hz ? rate->hz : 1;
    for (uint32_t i = 0; i < count; i++) {
        if (contains(&sources[i], rate->hz))
            add_name(rate->names, sources[i].name);
        if (!is_certain) { /* any of them may be right */
            low = sources[i].low < low ? sources[i].low : low;
            high = sources[i].high > high ? sources[i].high : high;
        }
    }
    rate->error_ppm = error_between(rate->hz, low, high);
}
