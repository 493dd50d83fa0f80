/* SPDX-License-Identifier: BSD-2-Clause */
/* tools/tarn/goto/journey.c - runs a guest again up to an event; see journey.h. */
#include <endian.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <tools/tarn/goto/child.h>
#include <tools/tarn/goto/freezer.h>
#include <tools/tarn/goto/journey.h>
#include <tools/tarn/source/image.h>
#include <tools/tarn/source/source.h>

#define BOOT_SECONDS      300.0
#define STOP_SECONDS      60.0
#define LOOK_MICROSECONDS 100000 /* how often a run is looked at, whether it has come to a checkpoint */
#define STEPS_MOST \
    200000u /* between an event's reservation and its commit; a long text is copied byte by byte */

/* Places in the guest's memory. */
struct places {
    uint64_t indexes[CHECKPOINT_PROCESSORS]; /* how far the processors' rings are filled: words since boot */
    unsigned cpus;                           /* that have one; 0 if they are too many */
    uint64_t index;                          /* the one of the event's processor */
    uint64_t packet;                         /* the number of the packet that has the event's buffer */
    uint64_t count;                          /* of words that are committed to it */
    uint64_t event;
};

/* ---- where the rings are ---- */

static bool find_indexes(struct image *image, struct places *places)
{
    struct image_ring ring;
    struct fail ignored;

    if (image->store.cpu_count > CHECKPOINT_PROCESSORS)
        return false;
    for (unsigned cpu = 0; cpu < image->store.cpu_count; cpu++) {
        if (!image_ring_open(&ring, image, cpu, &ignored))
            return false;
        places->indexes[cpu] = image_ring_place(&ring, offsetof(struct trace_control, index));
    }
    return true;
}

static bool find_places(struct image *image, const struct aim *aim, struct places *places, struct fail *fail)
{
    const struct trace_store *store = &image->store;
    struct image_ring ring;

    if (aim->stream->cpu >= store->cpu_count || aim->buffer_bytes != store->buffer_bytes)
        return fail_set(fail,
                        "the trace's packets do not fit into the rings of the run: it is of another run");
    if (!image_ring_open(&ring, image, aim->stream->cpu, fail))
        return false;
    uint64_t buffer = TRACE_BUFFERS_OFFSET + (aim->packet & (store->buffer_count - 1)) * store->buffer_bytes;
    places->index = image_ring_place(&ring, offsetof(struct trace_control, index));
    places->packet = image_ring_place(&ring, buffer + offsetof(struct trace_packet, packet_seq_num));
    places->count = image_ring_place(&ring, buffer + offsetof(struct trace_packet, committed));
    places->event = image_ring_place(&ring, buffer + aim->offset);
    places->cpus = find_indexes(image, places) ? store->cpu_count : 0;
    return true;
}

/* MEMORY: what a run before has left; NULL: nothing. */
static bool know_places(struct memory *memory, const struct aim *aim, struct places *places)
{
    struct fail ignored;
    struct image image;

    if (memory == NULL || !image_open(&image, memory, 0, &ignored))
        return false;
    bool found = find_places(&image, aim, places, &ignored);
    image_close(&image);
    return found;
}

/* Lets the guest run until its rings can be found. It stands still meanwhile, which changes nothing for it;
 * so that looking takes no more than a third of the time, it then runs twice as long. */
static enum journey_end scout(struct journey *journey, struct freezer *freezer, struct places *places,
                              struct fail *fail)
{
    struct emulator *emulator = journey->emulator;
    double until = now_seconds() + BOOT_SECONDS, next = 0;
    enum freezer_got got;

    fail_set(fail, "the run makes no trace");
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
        if (know_places(emulator->memory, journey->aim, places))
            break;
        next = now_seconds() + 2 * (now_seconds() - begin);
    } while (got != FREEZER_ENDED);
    if (got == FREEZER_ENDED)
        emulator->pid = emulator->kept = freezer_hold(freezer);
    return places->event == 0 ? JOURNEY_FAILED : got == FREEZER_ENDED ? JOURNEY_MISSED : JOURNEY_THERE;
}

/* ---- up to the reservation ---- */

/* 0 if it cannot be read: the emulator has ended. */
static uint64_t word_at(const struct emulator *emulator, bool big_endian, uint64_t place)
{
    uint64_t word = 0;
    struct memory_piece piece = {place, &word, sizeof(word)};
    struct fail ignored;

    if (!emulator->memory->class->read(emulator->memory, &piece, 1, &ignored))
        return 0;
    return big_endian ? be64toh(word) : le64toh(word);
}

/* False: none is due. Else all threads are stopped. */
static bool leave_checkpoint(struct journey *journey, struct freezer *freezer, const struct places *places)
{
    struct emulator *emulator = journey->emulator;
    struct checkpoint here = {.seconds = emulator_seconds(emulator),
                              .base = emulator->base,
                              .bytes = emulator->bytes,
                              .cpus = places->cpus};

    if (places->cpus == 0 || !checkpoints_are_due(journey->checkpoints, here.seconds))
        return false;
    freezer_stop(freezer);
    for (unsigned cpu = 0; cpu < places->cpus; cpu++)
        here.index[cpu] = word_at(emulator, journey->big_endian, places->indexes[cpu]);
    if (here.index[journey->aim->stream->cpu] != 0) /* the rings are there */
        checkpoints_add(journey->checkpoints, freezer, &here);
    return true;
}

static bool is_past(const struct journey *journey, const struct places *places)
{
    return checkpoint_passed(word_at(journey->emulator, journey->big_endian, places->index),
                             aim_words(journey->aim));
}

/* Once the event's packet has come, the ring's index is watched in place of its number. */
static bool follow_packet(const struct journey *journey, struct freezer *freezer, const struct places *places,
                          uint64_t *watched, struct fail *fail)
{
    const struct emulator *emulator = journey->emulator;

    if (*watched == places->index ||
        word_at(emulator, journey->big_endian, places->packet) != journey->aim->packet)
        return true;
    *watched = places->index;
    freezer_stop(freezer);
    return freezer_watch(freezer, emulator->base + *watched, fail);
}

/* Until the event's words are reserved; all threads are stopped then. First the watch is on its buffer's
 * packet, which comes once a lap. */
static enum journey_end run(struct journey *journey, struct freezer *freezer, const struct places *places,
                            struct fail *fail)
{
    uint64_t watched = places->packet;
    enum freezer_got got;

    if (!freezer_watch(freezer, journey->emulator->base + watched, fail))
        return JOURNEY_FAILED;
    for (;;) {
        if (!follow_packet(journey, freezer, places, &watched, fail))
            return JOURNEY_FAILED;
        if (watched == places->index && is_past(journey, places)) {
            freezer_stop(freezer);
            return JOURNEY_THERE;
        }
        do {
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

/* The machine stops at the end of what QEMU translated in one piece: with the next branch. The emulator's
 * main thread, when it has read the request, sleeps until the guest's has stopped. */
static bool stop(struct emulator *emulator, struct freezer *freezer, struct fail *fail)
{
    freezer_resume_main(freezer);
    if (!gdb_client_interrupt(&emulator->client, fail) ||
        !gdb_client_wait_read(&emulator->client, STOP_SECONDS, fail) || !freezer_wait_asleep(freezer, fail) ||
        !freezer_watch(freezer, 0, fail))
        return false;
    if (emulator->seconds > 0)
        emulator->kept = freezer_let_run(freezer);
    else
        freezer_close(freezer);
    return gdb_client_stopped(&emulator->client, STOP_SECONDS, fail);
}

/* ---- the last steps ---- */

/* One instruction of the event's processor, and of no other. */
static bool step_once(struct emulator *emulator, const struct aim *aim, struct fail *fail)
{
    char request[40];

    snprintf(request, sizeof(request), "vCont;s:%x", aim->stream->cpu + 1);
    return gdb_client_send(&emulator->client, request, fail) &&
           gdb_client_stopped(&emulator->client, STOP_SECONDS, fail);
}

/* Steps until the word at PLACE is another one. MISSED: it stays as it is. */
static enum journey_end step_until_stored(struct emulator *emulator, const struct aim *aim, uint64_t place,
                                          struct fail *fail)
{
    uint64_t before = word_at(emulator, true, place);

    for (unsigned i = 0; i < STEPS_MOST; i++) {
        if (!step_once(emulator, aim, fail))
            return JOURNEY_FAILED;
        if (word_at(emulator, true, place) != before)
            return JOURNEY_THERE;
    }
    return JOURNEY_MISSED;
}

static bool is_stored(const struct emulator *emulator, const struct aim *aim, const struct places *places)
{
    uint64_t header = htobe64(word_at(emulator, true, places->event));

    return memcmp(&header, aim->header, sizeof(header)) == 0;
}

/* Until the event's header is stored and its words are counted. Both are done already where the kernel copies
 * its first packets into their ring. */
static enum journey_end step(struct emulator *emulator, const struct aim *aim, const struct places *places,
                             struct fail *fail)
{
    if (is_stored(emulator, aim, places))
        return JOURNEY_THERE;
    enum journey_end end = step_until_stored(emulator, aim, places->event, fail);
    if (end == JOURNEY_THERE)
        end = step_until_stored(emulator, aim, places->count, fail);
    return end != JOURNEY_THERE || is_stored(emulator, aim, places) ? end : JOURNEY_MISSED;
}

/* ---- all together ---- */

/* Before its first instruction, with all threads stopped. */
static bool start_over(struct journey *journey, struct freezer *freezer, struct fail *fail)
{
    struct emulator *emulator = journey->emulator;

    freezer_close(freezer);
    return emulator_start(emulator, journey->recipe, fail) && freezer_open(freezer, emulator->pid, fail) &&
           gdb_client_send(&emulator->client, "c", fail);
}

/* At the last checkpoint before the event. False: there is none that can be used. */
static bool start_at_checkpoint(struct journey *journey, struct freezer *freezer, struct places *places)
{
    const struct aim *aim = journey->aim;
    const struct checkpoint *from = checkpoints_find(journey->checkpoints, aim->stream->cpu, aim_words(aim));
    struct fail fail = {"its memory has no rings"};

    if (from == NULL)
        return false;
    if (emulator_start_at(journey->emulator, from, freezer, &fail) &&
        know_places(journey->emulator->memory, aim, places)) {
        journey->began = journey->emulator->seconds;
        return true;
    }
    complain("a checkpoint cannot be used, and the run begins at its start: %s", fail.text);
    emulator_stop(journey->emulator);
    return false;
}

static enum journey_end go_there(struct journey *journey, struct freezer *freezer, struct fail *fail)
{
    struct places places = {0};

    if (!start_at_checkpoint(journey, freezer, &places)) {
        bool is_known = know_places(journey->emulator->memory, journey->aim, &places);
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
    return stop(journey->emulator, freezer, fail) ? step(journey->emulator, journey->aim, &places, fail)
                                                  : JOURNEY_FAILED;
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

    journey->began = journey->took = 0;
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    enum journey_end end = go_there(journey, &freezer, fail);
    setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
    freezer_close(&freezer);
    return end;
}
