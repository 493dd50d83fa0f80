/* SPDX-License-Identifier: BSD-2-Clause */
/* tools/tarn/goto/journey.c - runs a guest again up to an event; see journey.h. */
#include <endian.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <tools/tarn/goto/child.h>
#include <tools/tarn/goto/freezer.h>
#include <tools/tarn/goto/guest_memory.h>
#include <tools/tarn/goto/journey.h>
#include <tools/tarn/goto/places.h>
#include <tools/tarn/goto/step.h>
#include <tools/tarn/goto/tracee.h>
#include <tools/tarn/goto/verify.h>
#include <tools/tarn/source/source.h>
#include <trace/format/store.h>

#define BOOT_SECONDS      300.0
#define STOP_SECONDS      60.0
#define LOOK_MICROSECONDS 100000 /* between checks whether a checkpoint is due */
#define IDLE_LOOKS        600u   /* consecutive checks without work: it has no timer and waits forever */
#define WORK_SECONDS      1e-3   /* less CPU time is no work */

/* ---- where the rings are ---- */

/* Runs the guest until its rings can be found. It is stopped during each search, which does not change the
 * run. To limit searches to a third of the time, it then runs twice as long. */
static enum journey_end scout(struct journey *journey, struct freezer *freezer, struct places *places,
                              struct fail *fail)
{
    struct emulator *emulator = journey->emulator;
    double until = now_seconds() + BOOT_SECONDS, next = 0;
    enum freezer_got got;

    fail_set(fail, "the run does not make a trace");
    do {
        freezer_resume(freezer);
        got = freezer_wait(freezer, fail);
        double begin = now_seconds();
        if (got == FREEZER_FAILED || begin > until || child_is_interrupted())
            return JOURNEY_FAILED;
        if (got != FREEZER_ENDED && begin < next)
            continue;
        if (got != FREEZER_ENDED)
            freezer_stop(freezer);
        if (places_find(places, emulator->memory, journey->recipe, journey->aim))
            break;
        next = now_seconds() + 2 * (now_seconds() - begin);
    } while (got != FREEZER_ENDED);
    if (got == FREEZER_ENDED)
        emulator->pid = emulator->kept = freezer_hold(freezer);
    return places->event == 0 ? JOURNEY_FAILED : got == FREEZER_ENDED ? JOURNEY_MISSED : JOURNEY_THERE;
}

/* ---- up to the reservation ---- */

static uint64_t word_at(const struct journey *journey, uint64_t place)
{
    uint64_t word = emulator_word(journey->emulator, place);

    return journey->trace->schema.big_endian ? be64toh(word) : le64toh(word);
}

/* Before that, their addresses may contain anything. */
static bool has_rings(const struct journey *journey, const struct places *places)
{
    return word_at(journey, places->store) == TRACE_STORE_MAGIC;
}

/* False: none is due. Otherwise all threads are stopped, and watch nothing: a copy would inherit it. */
static bool leave_checkpoint(struct journey *journey, struct freezer *freezer, const struct places *places)
{
    struct fail ignored;
    struct emulator *emulator = journey->emulator;
    struct checkpoint here = {.seconds = emulator_seconds(emulator),
                              .base = emulator->base,
                              .bytes = emulator->bytes,
                              .cpus = places->cpus};

    if (places->cpus == 0 || !checkpoints_are_due(journey->checkpoints, here.seconds))
        return false;
    freezer_stop(freezer);
    freezer_watch(freezer, 0, &ignored);
    for (unsigned cpu = 0; cpu < places->cpus; cpu++)
        here.index[cpu] = word_at(journey, places->indexes[cpu]);
    if (has_rings(journey, places) && !freezer_is_ending(freezer))
        checkpoints_add(journey->checkpoints, freezer, &here);
    return true;
}

static bool is_past(const struct journey *journey, const struct places *places)
{
    return checkpoint_passed(word_at(journey, places->index), aim_words(journey->aim));
}

/* Whether it is later than the whole trace. A new packet sets its CPU's time limit, and idle CPUs begin
 * packets, too. By then a different run would have passed the event, or it waits forever. */
static bool is_too_late(const struct journey *journey, const struct places *places)
{
    uint64_t latest = trace_time_limit(trace_time_limit(journey->aim->end) + 1);

    if (!has_rings(journey, places))
        return false;
    for (unsigned cpu = 0; cpu < places->cpus; cpu++)
        if (word_at(journey, places->indexes[cpu] - TRACE_CONTROL_AT(index) + TRACE_CONTROL_AT(time_limit)) >
            latest)
            return true;
    return false;
}

/* Whether the emulator has been idle for so long that it must wait forever. */
static bool is_idle(struct journey *journey)
{
    double seconds = emulator_seconds(journey->emulator);

    if (seconds > journey->worked + WORK_SECONDS) {
        journey->worked = seconds;
        journey->idle = 0;
    }
    return ++journey->idle > IDLE_LOOKS;
}

/* Stops the emulator for good; its memory stays readable. */
static enum journey_end give_up(struct emulator *emulator, struct freezer *freezer)
{
    freezer_stop(freezer);
    kill(emulator->pid, SIGSTOP);
    emulator->kept = freezer_hold(freezer);
    return JOURNEY_MISSED;
}

/* Returns what to watch now: the trace store, until the rings exist; the number of the packet in the event's
 * buffer, until it is that of the event; then the ring's index. */
static uint64_t choose_watch(const struct journey *journey, const struct places *places, uint64_t watched)
{
    if (watched == places->store && !has_rings(journey, places))
        return places->store;
    if (watched != places->index && word_at(journey, places->packet) != journey->aim->packet)
        return places->packet;
    return places->index;
}

static bool watch_next(const struct journey *journey, struct freezer *freezer, const struct places *places,
                       uint64_t *watched, bool is_new, struct fail *fail)
{
    uint64_t next = choose_watch(journey, places, *watched);

    if (next == *watched && !is_new)
        return true;
    *watched = next;
    freezer_stop(freezer);
    return freezer_watch(freezer, journey->emulator->base + next, fail);
}

/* Runs until the event's words are reserved; then all threads are stopped. */
static enum journey_end run(struct journey *journey, struct freezer *freezer, const struct places *places,
                            struct fail *fail)
{
    uint64_t watched = places->is_at_boot ? places->packet : places->store;
    enum freezer_got got = FREEZER_STORED;

    if (!freezer_watch(freezer, journey->emulator->base + watched, fail))
        return JOURNEY_FAILED;
    for (;;) {
        if (!watch_next(journey, freezer, places, &watched, got == FREEZER_INTERRUPTED, fail))
            return JOURNEY_FAILED;
        if (watched == places->index && is_past(journey, places)) {
            freezer_stop(freezer);
            return JOURNEY_THERE;
        }
        do {
            if (got == FREEZER_INTERRUPTED && (is_too_late(journey, places) || is_idle(journey)))
                return give_up(journey->emulator, freezer);
            freezer_resume(freezer);
            got = freezer_wait(freezer, fail);
        } while (got == FREEZER_INTERRUPTED && !leave_checkpoint(journey, freezer, places));
        if (got == FREEZER_ENDED) {
            journey->emulator->pid = journey->emulator->kept = freezer_hold(freezer);
            return JOURNEY_MISSED;
        }
        if (got == FREEZER_FAILED)
            return JOURNEY_FAILED;
    }
}

/* Waits in short steps: a killed emulator keeps its sockets open while its threads are traced. */
static bool wait_read(struct emulator *emulator, struct fail *fail)
{
    double until = now_seconds() + STOP_SECONDS;

    while (!gdb_client_wait_read(&emulator->client, 0.1, fail))
        if (now_seconds() > until || tracee_is_killed(emulator->pid))
            return false;
    return true;
}

/* The machine stops at the end of QEMU's translation block, at the next branch. When the emulator's main
 * thread has read the request, it waits until the vCPUs' thread has stopped. */
static bool stop(struct emulator *emulator, struct freezer *freezer, struct fail *fail)
{
    freezer_resume_main(freezer);
    if (!gdb_client_interrupt(&emulator->client, fail) || !wait_read(emulator, fail) ||
        !freezer_wait_asleep(freezer, fail) || !freezer_watch(freezer, 0, fail))
        return false;
    if (emulator->seconds > 0)
        emulator->kept = freezer_let_run(freezer);
    else
        freezer_close(freezer);
    return gdb_client_stopped(&emulator->client, STOP_SECONDS, fail);
}

/* ---- the last steps ---- */

static bool is_stored(const struct emulator *emulator, const struct aim *aim, const struct places *places)
{
    uint64_t header = emulator_word(emulator, places->event);

    return memcmp(&header, aim->header, sizeof(header)) == 0;
}

static bool is_another_run(const struct journey *journey)
{
    struct difference difference;
    struct fail ignored;

    if (!verify_rings(&difference, journey->trace, journey->emulator->memory, &ignored))
        return false;
    difference_free(&difference);
    return difference.found;
}

/* Steps until the event's header is stored and its words are counted. Both have already happened where the
 * kernel copies its first packets into their ring. */
static enum journey_end step(const struct journey *journey, const struct places *places, struct fail *fail)
{
    struct emulator *emulator = journey->emulator;
    const struct aim *aim = journey->aim;

    if (is_stored(emulator, aim, places))
        return JOURNEY_THERE;
    if (is_another_run(journey))
        return JOURNEY_MISSED;
    enum step_end end = step_until_stored(emulator, aim->stream->cpu, places->event, fail);
    if (end == STEP_STORED)
        end = step_until_stored(emulator, aim->stream->cpu, places->count, fail);
    if (end == STEP_FAILED)
        return JOURNEY_FAILED;
    return end == STEP_STORED && is_stored(emulator, aim, places) ? JOURNEY_THERE : JOURNEY_MISSED;
}

/* ---- all together ---- */

/* Starts before the first instruction, with all threads stopped. */
static bool start_over(struct journey *journey, struct freezer *freezer, struct fail *fail)
{
    struct emulator *emulator = journey->emulator;

    freezer_close(freezer);
    return emulator_start(emulator, journey->recipe, fail) && freezer_open(freezer, emulator->pid, fail) &&
           gdb_client_send(&emulator->client, "c", fail);
}

/* Starts from the last checkpoint before the event. False: none is usable. */
static bool start_at_checkpoint(struct journey *journey, struct freezer *freezer, struct places *places)
{
    const struct aim *aim = journey->aim;
    const struct checkpoint *from = checkpoints_find(journey->checkpoints, aim->stream->cpu, aim_words(aim));
    struct fail fail = {"its memory has no rings"};

    if (from == NULL)
        return false;
    if (emulator_start_at(journey->emulator, from, freezer, &fail) &&
        places_find(places, journey->emulator->memory, journey->recipe, aim)) {
        journey->began = journey->emulator->seconds;
        return true;
    }
    if (!child_is_interrupted())
        complain("cannot use a checkpoint, so the run begins at its start: %s", fail.text);
    freezer_close(freezer); /* the process cannot end while a thread is held */
    emulator_stop(journey->emulator);
    return false;
}

/* The rings have the same addresses in each run: takes them from the previous one, or from a checkpoint after
 * the event. */
static bool know_places(const struct journey *journey, struct places *places)
{
    const struct checkpoints *set = journey->checkpoints;
    struct fail ignored;

    if (places_find(places, journey->emulator->memory, journey->recipe, journey->aim))
        return true;
    if (set->count == 0)
        return false;
    const struct checkpoint *one = &set->all[0];
    struct memory *memory = guest_memory_open(one->pid, one->base, one->bytes, &ignored);
    bool found = places_find(places, memory, journey->recipe, journey->aim);
    if (memory != NULL)
        memory->class->close(memory);
    return found;
}

static enum journey_end go_there(struct journey *journey, struct freezer *freezer, struct fail *fail)
{
    struct places places = {0};

    if (!start_at_checkpoint(journey, freezer, &places)) {
        bool is_known = know_places(journey, &places);
        if (!start_over(journey, freezer, fail))
            return JOURNEY_FAILED;
        enum journey_end end = is_known ? JOURNEY_THERE : scout(journey, freezer, &places, fail);
        if (end == JOURNEY_FAILED)
            return end;
        if (!is_known && (end == JOURNEY_MISSED || is_past(journey, &places)) &&
            !start_over(journey, freezer, fail))
            return JOURNEY_FAILED;
    }
    enum journey_end end = run(journey, freezer, &places, fail);
    journey->took = emulator_seconds(journey->emulator) - journey->began;
    if (end != JOURNEY_THERE)
        return end;
    return stop(journey->emulator, freezer, fail) ? step(journey, &places, fail) : JOURNEY_FAILED;
}

static void interrupt(int number)
{
    (void)number;
}

enum journey_end journey(struct journey *journey, struct fail *fail)
{
    struct itimerval often = {{0, LOOK_MICROSECONDS}, {0, LOOK_MICROSECONDS}};
    struct sigaction action = {.sa_handler = interrupt};
    struct freezer freezer = {0};

    journey->began = journey->took = journey->worked = 0;
    journey->idle = 0;
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    enum journey_end end = go_there(journey, &freezer, fail);
    setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
    freezer_close(&freezer);
    return end;
}
