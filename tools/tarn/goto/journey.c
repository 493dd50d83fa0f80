/* SPDX-License-Identifier: BSD-2-Clause */
/* tools/tarn/goto/journey.c - runs a guest again up to an event; see journey.h. */
#include <endian.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <tools/tarn/goto/freezer.h>
#include <tools/tarn/goto/journey.h>
#include <tools/tarn/source/image.h>
#include <tools/tarn/source/source.h>

#define BOOT_SECONDS 300.0
#define STOP_SECONDS 60.0
#define STEPS_MOST \
    200000u /* between an event's reservation and its commit; a long text is copied byte by byte */

/* Places in the file of the guest's memory. */
struct places {
    uint64_t index;  /* how far the ring is filled: words since boot */
    uint64_t packet; /* the number of the packet that has the event's buffer */
    uint64_t count;  /* of words that are committed to it */
    uint64_t event;
};

/* ---- the first run: where the rings are ---- */

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
    return true;
}

/* Twice as long as a look took. */
static long pause_ns(double seconds)
{
    return seconds < 0.4 ? (long)(seconds * 2e9) : 800000000;
}

/* From the memory that a run before has left. */
static bool know_places(struct emulator *emulator, const struct aim *aim, struct places *places)
{
    struct fail ignored;
    struct image image;

    if (emulator->memory == NULL || !image_open(&image, emulator->memory, 0, &ignored))
        return false;
    bool found = find_places(&image, aim, places, &ignored);
    image_close(&image);
    return found;
}

/* Lets the guest run until its rings can be found. A look takes a processor as much time as the guest may
 * need to get there. */
static bool scout(struct emulator *emulator, const struct recipe *recipe, const struct aim *aim,
                  struct places *places, struct fail *fail)
{
    double until = now_seconds() + BOOT_SECONDS;
    struct image image;
    bool found;

    if (!emulator_start(emulator, recipe, fail) || !gdb_client_send(&emulator->client, "c", fail))
        return false;
    for (;;) {
        double begin = now_seconds();
        if ((found = image_open(&image, emulator->memory, 0, fail)))
            break;
        if (emulator_has_ended(emulator) || now_seconds() > until)
            return fail_set(fail, "the run makes no trace");
        nanosleep(&(struct timespec){.tv_nsec = pause_ns(now_seconds() - begin)}, NULL);
    }
    found = find_places(&image, aim, places, fail);
    image_close(&image);
    return found;
}

/* ---- the second run: up to the reservation ---- */

/* Where the emulator has the file of the guest's memory. */
static uint64_t find_mapping(const struct emulator *emulator)
{
    char path[40], line[400];
    uint64_t base = 0, from, offset;

    snprintf(path, sizeof(path), "/proc/%d/maps", (int)emulator->pid);
    FILE *maps = fopen(path, "re");
    while (maps != NULL && base == 0 && fgets(line, sizeof(line), maps) != NULL)
        if (strstr(line, "/memfd:" EMULATOR_MEMORY_NAME) != NULL &&
            sscanf(line, "%" SCNx64 "-%*x %*s %" SCNx64, &from, &offset) == 2 && offset == 0)
            base = from;
    if (maps != NULL)
        fclose(maps);
    return base;
}

static uint64_t word_at(const struct emulator *emulator, bool big_endian, uint64_t place)
{
    uint64_t word;

    memcpy(&word, emulator->memory->class->map(emulator->memory, place, 8), 8);
    return big_endian ? be64toh(word) : le64toh(word);
}

/* Until the event's words are reserved. First the watch is on its buffer's packet, which comes once a lap. */
static enum journey_end run(struct emulator *emulator, struct freezer *freezer, const struct aim *aim,
                            const struct places *places, bool big_endian, struct fail *fail)
{
    uint64_t memory = find_mapping(emulator), watched = places->packet;
    uint64_t reserved = aim->packet * (aim->buffer_bytes / 8) + aim->offset / 8;

    if (!freezer_watch(freezer, memory + watched, fail))
        return JOURNEY_FAILED;
    freezer_resume(freezer);
    if (!gdb_client_send(&emulator->client, "c", fail))
        return JOURNEY_FAILED;
    for (;;) {
        enum freezer_got got = freezer_wait(freezer, fail);
        if (got == FREEZER_ENDED) {
            emulator->pid = 0;
            return JOURNEY_MISSED;
        }
        if (got == FREEZER_FAILED)
            return JOURNEY_FAILED;
        if (watched == places->packet && word_at(emulator, big_endian, watched) == aim->packet) {
            watched = places->index;
            if (!freezer_watch(freezer, memory + watched, fail))
                return JOURNEY_FAILED;
        }
        uint64_t index = watched == places->index ? word_at(emulator, big_endian, watched) : 0;
        if ((index & ~TRACE_INDEX_CLOSED) + (index >> 63) > reserved)
            return JOURNEY_THERE;
        freezer_resume(freezer);
    }
}

/* The machine stops at the end of what QEMU translated in one piece: with the next branch. The emulator's
 * main thread, when it has read the request, sleeps until the guest's has stopped. */
static bool stop(struct emulator *emulator, struct freezer *freezer, struct fail *fail)
{
    if (!gdb_client_interrupt(&emulator->client, fail) ||
        !gdb_client_wait_read(&emulator->client, STOP_SECONDS, fail) || !freezer_wait_asleep(freezer, fail) ||
        !freezer_watch(freezer, 0, fail))
        return false;
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
    const void *word = emulator->memory->class->map(emulator->memory, place, 8);
    uint8_t before[8];

    memcpy(before, word, sizeof(before));
    for (unsigned i = 0; i < STEPS_MOST; i++) {
        if (!step_once(emulator, aim, fail))
            return JOURNEY_FAILED;
        if (memcmp(word, before, sizeof(before)) != 0)
            return JOURNEY_THERE;
    }
    return JOURNEY_MISSED;
}

/* Until the event's header is stored and its words are counted. Both are done already where the kernel copies
 * its first packets into their ring. */
static enum journey_end step(struct emulator *emulator, const struct aim *aim, const struct places *places,
                             struct fail *fail)
{
    const void *header = emulator->memory->class->map(emulator->memory, places->event, 8);

    if (memcmp(header, aim->header, 8) == 0)
        return JOURNEY_THERE;
    enum journey_end end = step_until_stored(emulator, aim, places->event, fail);
    if (end == JOURNEY_THERE)
        end = step_until_stored(emulator, aim, places->count, fail);
    return end != JOURNEY_THERE || memcmp(header, aim->header, 8) == 0 ? end : JOURNEY_MISSED;
}

enum journey_end journey(struct emulator *emulator, const struct recipe *recipe, const struct aim *aim,
                         bool big_endian, struct fail *fail)
{
    struct places places = {0};
    struct freezer freezer = {0};

    if ((!know_places(emulator, aim, &places) && !scout(emulator, recipe, aim, &places, fail)) ||
        !emulator_start(emulator, recipe, fail) || !freezer_open(&freezer, emulator->pid, fail)) {
        freezer_close(&freezer);
        return JOURNEY_FAILED;
    }
    enum journey_end end = run(emulator, &freezer, aim, &places, big_endian, fail);
    if (end == JOURNEY_THERE)
        end = stop(emulator, &freezer, fail) ? step(emulator, aim, &places, fail) : JOURNEY_FAILED;
    freezer_close(&freezer);
    return end;
}
