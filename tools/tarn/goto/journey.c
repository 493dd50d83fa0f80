/* tools/tarn/goto/journey.c - runs a guest again up to an event; see journey.h. */
#include <tools/tarn/goto/child.h>
#include <tools/tarn/goto/journey.h>
#include <tools/tarn/read/filter.h>
#include <tools/tarn/read/losses.h>
#include <tools/tarn/read/order.h>
#include <tools/tarn/source/guest.h>
#include <tools/tarn/symbols/program.h>

#define FIRST_LOOK  20000000ull   /* guest time: nanoseconds */
#define LATE_NS     10000000ull   /* later than this after the event, it is another run */
#define INEXACT(ns) ((ns) / 1000) /* error of a guest time that the trace tells */

#define AIM_COPIES 16u /* copies of the emulator that the journeys in a run make, at most */

/* Returns how many words had been logged in its ring before it since boot. */
static inline uint64_t aim_words(const struct aim *aim)
{
    return aim->packet * (aim->buffer_bytes / 8) + aim->offset / 8;
}

/* The clock's frequency is measured, so this is not exact. */
static uint64_t guest_ns(const struct trace *trace, uint64_t ticks)
{
    return (uint64_t)(1e9 * (double)ticks / (double)trace->schema.clock_freq);
}

static void take_aim(struct aim *aim, const struct cursor *cursor, uint64_t number)
{
    const struct packet *packet = &cursor->packet;
    *aim = (struct aim){
        .stream = cursor->stream,
        .number = number,
        .tid = cursor_running(cursor)->tid,
        .ns = guest_ns(cursor->trace, cursor->ticks),
        .packet = packet->header.packet_seq_num,
        .buffer_bytes = packet->packet_bytes,
        .offset = (uint64_t)(cursor->event.bytes - packet->bytes),
    };
    memcpy(aim->header, cursor->event.bytes, sizeof(aim->header));
}

/* `tarn pull` writes such an event where it found an open packet, so the guest may not have logged it. */
static bool ends_packet(const struct cursor *cursor)
{
    return cursor->event.type->id == TRACE_ID(TRACE_CLASS_TRACE, TRACE_MINOR_END);
}

/* All idle threads have number 0; each belongs to its CPU. */
static bool is_of_thread(const struct cursor *cursor, const struct aim *aim)
{
    return cursor_running(cursor)->tid == aim->tid && (aim->tid != 0 || cursor->stream == aim->stream);
}

struct wish {
    uint64_t from;               /* ticks */
    uint64_t begin, end;         /* numbers: from `begin` up to `end` */
    const struct aim *of_thread; /* NULL: of any */
    bool is_first;               /* of all such events; otherwise the last */
};

static bool find(struct aim *aim, const struct trace *trace, struct wish wish)
{
    struct cursor *cursor;
    struct losses losses;
    struct merge merge;
    bool found = false;
    losses_open(&losses, trace);
    losses.quiet = true;
    merge_open(&merge, trace, NULL, 0, &losses.reporter);
    for (uint64_t number = 0; number < wish.end && (cursor = merge_next(&merge)) != NULL; number++) {
        if (number < wish.begin || cursor->ticks < wish.from || ends_packet(cursor) ||
            (wish.of_thread != NULL && !is_of_thread(cursor, wish.of_thread)))
            continue;
        take_aim(aim, cursor, number);
        found = true;
        if (wish.is_first)
            break;
    }
    merge_close(&merge);
    return found;
}

bool aim_find(struct aim *aim, const struct trace *trace, const char *text, struct fail *fail)
{
    struct wish wish = {.end = UINT64_MAX, .is_first = true};
    if (*text != '\0' && text[strspn(text, "0123456789")] == '\0') {
        if (!option_count(text, &wish.begin, fail))
            return false;
        wish.end = wish.begin + 1;
        return find(aim, trace, wish) ||
               fail_set(fail,
                        "the trace has no event %s, or it ends a packet; choose another one that `tarn list "
                        "--numbers` shows",
                        text);
    }
    if (!filter_time(trace, text, &wish.from, fail))
        return fail_set(fail,
                        "'%s' is neither an event's number nor a time: use seconds, "
                        "or @seconds on the trace's clock",
                        text);
    return find(aim, trace, wish) || fail_set(fail, "no event of the trace is at %s or later", text);
}

bool aim_before(struct aim *aim, const struct trace *trace, struct fail *fail)
{
    const struct aim here = *aim;
    return find(aim, trace, (struct wish){.end = here.number, .of_thread = &here}) ||
           fail_set(fail, "the trace has no event of thread %u before event %llu", here.tid,
                    (unsigned long long)here.number);
}

bool aim_last(struct aim *aim, const struct trace *trace, struct fail *fail)
{
    return find(aim, trace, (struct wish){.end = UINT64_MAX}) || fail_set(fail, "the trace has no events");
}

/* Returns guest times, in order, that part the trace's events about equally: ns since the machine's start. By
 * packets of all streams in turn: rings that have wrapped contain different times. */
static void aim_parts(const struct trace *trace, uint64_t times[AIM_COPIES])
{
    struct packet_buffer buffer = {0};
    struct packet packet;
    for (unsigned i = 0; i < AIM_COPIES; i++) {
        const struct stream *stream = &trace->streams[i % trace->stream_count];
        uint64_t at = stream_resync(trace, stream, stream->size / AIM_COPIES * i);
        bool is_read =
            at < stream->size && !anomaly_is_fatal(stream_packet(trace, stream, at, &buffer, &packet));
        times[i] = is_read ? guest_ns(trace, packet.header.timestamp_begin) : 0;
    }
    free(buffer.bytes);
    qsort(times, AIM_COPIES, sizeof(times[0]), compare_numbers);
}

#define BOOT_RING_BYTES (sizeof(struct trace_control) + TRACE_BOOT_BUFFERS * TRACE_BUFFER_BYTES_DEFAULT)

/* The words of the guest's memory that a journey watches: offsets in it. The boot CPU's first events are
 * committed to a ring in the kernel's executable, and copied into the CPU's own ring later
 * (kernel/trace/rings.c). The journey goes to where they are committed. */
struct places {
    uint64_t store;  /* of its magic word, which is there once the rings exist */
    bool is_at_boot; /* the event is in the boot ring, which always exists */
    uint64_t index;  /* the index word of the event's CPU */
    uint64_t event;
};

/* Whether a ring's index means that more than WORDS words are reserved. */
static bool places_passed(uint64_t index, uint64_t words)
{
    return trace_index_words(index) + (index >> 63) > words;
}

/* Offset of the event's packet in its CPU's ring of so many buffers. */
static uint64_t packet_offset(const struct aim *aim, uint64_t buffers)
{
    return TRACE_BUFFERS_OFFSET + (aim->packet & (buffers - 1)) * aim->buffer_bytes;
}

/* Returns the boot ring's distance in bytes from the info page in a kernel's executable; 0: it has no such
 * symbols. */
static uint64_t boot_ring_behind_info(const char *kernel)
{
    struct program *program = program_open(kernel);
    uint64_t info, ring;
    if (program == NULL)
        return 0;
    info = program_address(program, "trace_info_page");
    ring = program_address(program, "boot_ring");
    program_close(program);
    return info != 0 && ring != 0 ? ring - info : 0;
}

/* The boot ring stays unchanged after its use, so its index shows whether it has the event. */
static bool find_event_at_boot(struct places *places, const struct guest *guest, const char *kernel,
                               const struct aim *aim)
{
    const uint64_t behind_info = boot_ring_behind_info(kernel);
    /* The symbol is that of the control page. */
    uint64_t control = guest->info + behind_info, index = 0;
    const struct memory_range *range = memory_find(guest->memory, control, BOOT_RING_BYTES);
    struct fail ignored;
    if (guest->info == 0 || behind_info == 0 || range == NULL ||
        !memory_read(guest->memory, control + offsetof(struct trace_control, index), &index, sizeof(index),
                     &ignored) ||
        !places_passed(guest_64(guest, index), aim_words(aim)))
        return false;
    uint64_t ring = range->place + (control - range->physical) - TRACE_CONTROL_OFFSET;
    places->index = ring + TRACE_CONTROL_AT(index);
    places->event = ring + packet_offset(aim, TRACE_BOOT_BUFFERS) + aim->offset;
    return true;
}

static bool find_in_guest(struct places *places, struct guest *guest, const struct recipe *recipe,
                          const struct aim *aim)
{
    const struct trace_store *store = &guest->store;
    struct guest_ring ring;
    struct fail ignored;
    if (aim->stream->cpu >= store->cpu_count || aim->buffer_bytes != store->buffer_bytes ||
        !guest_ring_open(&ring, guest, aim->stream->cpu, &ignored) ||
        trace_eras_start(&ring.eras, aim->packet) != aim->packet * (aim->buffer_bytes / 8))
        return false; /* once the sizes have changed, a number does not tell the place in all of the run */
    places->is_at_boot = aim->stream->cpu == 0 && find_event_at_boot(places, guest, recipe->kernel.path, aim);
    if (!places->is_at_boot) {
        places->index = guest_ring_place(&ring, TRACE_CONTROL_AT(index));
        places->event = guest_ring_place(&ring, packet_offset(aim, store->buffer_count) + aim->offset);
    }
    const struct memory_range *range = memory_find(guest->memory, store->self, sizeof(*store));
    if (range == NULL)
        return false;
    places->store = range->place + (store->self - range->physical) + offsetof(struct trace_store, magic);
    return true;
}

/* False: the rings do not exist yet, or are not those of the trace. */
static bool find_places(const struct journey *journey, struct places *places)
{
    struct memory *memory = journey->emulator->memory;
    struct fail ignored;
    struct guest guest;
    if (memory == NULL || !guest_open(&guest, memory, 0, &ignored))
        return false;
    bool found = find_in_guest(places, &guest, journey->emulator->recipe, journey->aim);
    guest_close(&guest);
    return found;
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
 * contain anything; the event, until its header is stored; the index, until it is behind the event: that
 * store commits the event (trace/ring/restart.h). */
static uint64_t choose_watch(const struct journey *journey, const struct places *places)
{
    if (!places->is_at_boot && word_at(journey, places->store) != TRACE_STORE_MAGIC)
        return places->store;
    return is_stored(journey, places) ? places->index : places->event;
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
            if (watched == places->index && is_in_index(journey, places))
                return JOURNEY_THERE;
            watched = choose_watch(journey, places);
            continue;
        }
        if (got != EMULATOR_TIME || emulator->clock >= latest)
            return got == EMULATOR_FAILED ? JOURNEY_FAILED : JOURNEY_MISSED;
        if (!emulator_copy(emulator, fail))
            return JOURNEY_FAILED;
    }
}

enum journey_end journey(struct journey *journey, struct fail *fail)
{
    struct places places = {0};
    enum journey_end end = start(journey, &places, fail);
    if (end == JOURNEY_THERE)
        end = run(journey, &places, fail);
    if (journey->emulator->pid > 0)
        journey->took = emulator_seconds(journey->emulator);
    return end != JOURNEY_THERE || emulator_serve_gdb(journey->emulator, fail) ? end : JOURNEY_FAILED;
}
