/* SPDX-License-Identifier: BSD-2-Clause */
/* tools/tarn/goto/journey.c - runs a guest again up to an event; see journey.h. */
#include <endian.h>
#include <string.h>
#include <tools/tarn/goto/child.h>
#include <tools/tarn/goto/journey.h>
#include <tools/tarn/goto/places.h>
#include <trace/format/store.h>

#define FIRST_LOOK  20000000ull   /* guest time: nanoseconds */
#define LATE_NS     10000000ull   /* later than this after the event, it is another run */
#define INEXACT(ns) ((ns) / 1000) /* error of a guest time that the trace tells */

/* ---- where the rings are ---- */

static bool find_places(const struct journey *journey, struct places *places)
{
    return places_find(places, journey->emulator->memory, journey->emulator->recipe, journey->aim);
}

static bool start_before_event(struct journey *journey, struct fail *fail)
{
    uint64_t ns = journey->aim->ns;

    return emulator_start(journey->emulator, ns - INEXACT(ns) + 1, fail);
}

/* Starts before the event, and finds its words: there, or where the rings exist already. They have the same
 * addresses in each run. Each search may take long, so the time between two doubles. */
static enum journey_end start(struct journey *journey, struct places *places, struct fail *fail)
{
    struct emulator *emulator = journey->emulator;
    uint64_t pause = FIRST_LOOK;

    if (!start_before_event(journey, fail))
        return JOURNEY_FAILED;
    if (find_places(journey, places))
        return JOURNEY_THERE;
    if (!emulator_start(emulator, UINT64_MAX, fail))
        return JOURNEY_FAILED;
    while (!find_places(journey, places)) {
        enum emulator_got got = emulator_go(emulator, EMULATOR_NO_PLACE, emulator->clock + pause, fail);
        if (got != EMULATOR_TIME && !(got == EMULATOR_ENDED && find_places(journey, places))) {
            fail_set(fail, "the run does not make a trace");
            return JOURNEY_FAILED;
        }
        pause *= 2;
    }
    return start_before_event(journey, fail) ? JOURNEY_THERE : JOURNEY_FAILED;
}

/* ---- up to the event ------------------------------------------------------------------------------- */

static uint64_t word_at(const struct journey *journey, uint64_t place)
{
    uint64_t word = emulator_word(journey->emulator, place);

    return journey->trace->schema.big_endian ? be64toh(word) : le64toh(word);
}

static bool is_stored(const struct journey *journey, const struct places *places)
{
    uint64_t header = emulator_word(journey->emulator, places->event);

    return memcmp(&header, journey->aim->header, sizeof(header)) == 0;
}

static bool is_in_index(const struct journey *journey, const struct places *places)
{
    return places_passed(word_at(journey, places->index), aim_words(journey->aim));
}

/* Returns what to watch now: the trace store, until the rings exist, because before that their addresses may
 * contain anything; the event, until its header is stored; the index, until it is behind the event. That
 * store commits the event (restart.h), or has been made before (cas.h): then the next one to the count does.
 */
static uint64_t choose_watch(const struct journey *journey, const struct places *places)
{
    if (!places->is_at_boot && word_at(journey, places->store) != TRACE_STORE_MAGIC)
        return places->store;
    if (!is_stored(journey, places))
        return places->event;
    return is_in_index(journey, places) ? places->count : places->index;
}

/* Runs until the event is committed, and makes copies on the way. */
static enum journey_end run(struct journey *journey, const struct places *places, struct fail *fail)
{
    const uint64_t ns = journey->aim->ns, latest = ns + INEXACT(ns) + LATE_NS;
    uint64_t watched = choose_watch(journey, places), times[AIM_COPIES];
    struct emulator *emulator = journey->emulator;
    unsigned next = 0;

    aim_parts(journey->trace, times);
    for (;;) {
        while (next < AIM_COPIES && times[next] <= emulator->clock)
            next++;
        uint64_t until = next < AIM_COPIES && times[next] < latest ? times[next] : latest;
        enum emulator_got got = emulator_go(emulator, watched, until, fail);
        if (got == EMULATOR_STORED) {
            const uint64_t before = watched;
            watched = choose_watch(journey, places);
            if (before == places->count || (before == places->index && watched == places->count))
                return JOURNEY_THERE;
            continue;
        }
        if (got != EMULATOR_TIME || emulator->clock >= latest)
            return got == EMULATOR_FAILED ? JOURNEY_FAILED : JOURNEY_MISSED;
        if (!emulator_copy(emulator, fail))
            return JOURNEY_FAILED;
    }
}

/* ---- all together ---- */

enum journey_end journey(struct journey *journey, struct fail *fail)
{
    struct places places = {0};
    enum journey_end end = start(journey, &places, fail);

    if (end == JOURNEY_THERE)
        end = run(journey, &places, fail);
    if (journey->emulator->pid > 0)
        journey->took = emulator_seconds(journey->emulator);
    return end != JOURNEY_THERE || emulator_connect(journey->emulator, fail) ? end : JOURNEY_FAILED;
}
