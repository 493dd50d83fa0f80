/*
 * perfetto.c - Perfetto's protobuf format: a sequence of TracePackets.
 *
 * States of threads use Perfetto's events for kernels other than Linux (generic_kernel). Activities are
 * slices, and other events instants, on their threads' tracks, with fields as debug annotations; calls are
 * flows. Field numbers are those of protos/perfetto/trace/ in Perfetto's source.
 *
 * Perfetto takes the thread whose tid equals a process's pid as its main thread. Tarn numbers threads and
 * processes independently, so TID_BASE is added to tids; the names contain the real ones. The idle thread is
 * shown as a thread "kernel work" while its CPU is awake, with a number below TID_BASE.
 */
#include <stdlib.h>
#include <tools/tarn/buffer.h>
#include <tools/tarn/export/tracks.h>
#include <tools/tarn/print/print.h>

#define TID_BASE     1000000u
#define SEQUENCE     1u /* of packets: there is one writer */
#define FLAG_CLEARED 1u /* earlier packets are not referred to */
#define FLAG_NEEDS   2u /* names are referred to by numbers from earlier packets */
#define LOSSES_TRACK 2u /* of no thread (thread_track) */
#define CLOCK_REAL   1u
#define CLOCK_BOOT   6u

enum { PACKET_CLOCKS = 6, PACKET_TIMESTAMP = 8, PACKET_SEQUENCE = 10, PACKET_EVENT = 11, PACKET_NAMES = 12 };
enum { PACKET_FLAGS = 13, PACKET_TRACK = 60, PACKET_TASK_STATE = 117, PACKET_PROCESS_TREE = 122 };
enum { EVENT_CATEGORY = 3, EVENT_ANNOTATION = 4, EVENT_TYPE = 9, EVENT_NAME = 10, EVENT_TRACK = 11 };
enum { EVENT_FLOW = 47, EVENT_FLOW_ENDS = 48 };
enum { TREE_PROCESS = 1, TREE_THREAD = 2 };
enum { TYPE_BEGIN = 1, TYPE_END = 2, TYPE_INSTANT = 3 };
enum { ANNOTATION_NAME = 1, ANNOTATION_UINT = 3, ANNOTATION_INT = 4, ANNOTATION_TEXT = 6 };
enum { ANNOTATION_POINTER = 7 };
enum { NAMES_CATEGORY = 1, NAMES_EVENT = 2, NAMES_ANNOTATION = 3 }; /* fields of each: 1 number, 2 name */
enum { TASK_UNKNOWN, TASK_RUNNABLE = 2, TASK_RUNNING, TASK_SLEEPS, TASK_DEEP, TASK_STOPPED, TASK_DEAD };

/* ---- messages in the wire format of Protocol Buffers ---- */

/* A field is its number and wire type, followed by a variable-length number, or 8 bytes, or a length and
 * bytes. A nested message is such bytes. Its length is known only at its end, so four bytes are reserved for
 * it; the format allows numbers to be longer than needed. */
static void protobuf_number(struct buffer *to, uint64_t number)
{
    uint8_t bytes[10];
    size_t count = 0;
    for (; number >= 0x80; number >>= 7)
        bytes[count++] = (uint8_t)(number | 0x80);
    bytes[count++] = (uint8_t)number;
    buffer_add(to, bytes, count);
}

/* Adds a field of an integer, enumeration or bool type; negative numbers as their 64 bits. */
static void protobuf_uint(struct buffer *to, unsigned field, uint64_t value)
{
    protobuf_number(to, field << 3);
    protobuf_number(to, value);
}

static void protobuf_fixed64(struct buffer *to, unsigned field, uint64_t value)
{
    value = htole64(value);
    protobuf_number(to, field << 3 | 1);
    buffer_add(to, &value, sizeof(value));
}

static void protobuf_bytes(struct buffer *to, unsigned field, const void *bytes, size_t length)
{
    protobuf_number(to, field << 3 | 2);
    protobuf_number(to, length);
    buffer_add(to, bytes, length);
}

/* Begins a nested message, of less than 256 MiB. protobuf_end(MARK) ends it. */
static size_t protobuf_begin(struct buffer *to, unsigned field)
{
    protobuf_number(to, field << 3 | 2);
    buffer_add(to, (uint8_t[4]){0}, 4);
    return to->used;
}

static void protobuf_end(struct buffer *to, size_t mark)
{
    size_t length = to->used - mark;
    for (unsigned i = 0; i < 4; i++)
        to->bytes[mark - 4 + i] = (uint8_t)((length >> 7 * i & 0x7f) | (i < 3 ? 0x80 : 0));
}

static void protobuf_text(struct buffer *to, unsigned field, const char *text, size_t length)
{
    size_t mark = protobuf_begin(to, field);
    buffer_utf8(to, text, length);
    protobuf_end(to, mark);
}

/* A field: a text, unless it is NULL, or else a number. Field 0 is none. */
struct protobuf_part {
    unsigned field;
    uint64_t number;
    const char *text;
};

static void protobuf_parts(struct buffer *to, unsigned field, const struct protobuf_part *parts, size_t count)
{
    size_t mark = protobuf_begin(to, field);
    for (; count > 0; count--, parts++)
        if (parts->text != NULL)
            protobuf_text(to, parts->field, parts->text, strlen(parts->text));
        else if (parts->field != 0)
            protobuf_uint(to, parts->field, parts->number);
    protobuf_end(to, mark);
}

/* Adds a message of such fields: protobuf_message(to, 7, {1, .number = number}, {2, .text = name}). */
#define protobuf_message(to, field, ...)                                   \
    protobuf_parts(to, field, (const struct protobuf_part[]){__VA_ARGS__}, \
                   sizeof((const struct protobuf_part[]){__VA_ARGS__}) / sizeof(struct protobuf_part))

/* The kinds of numbered names. */
enum name_owner { OWNER_ACTIVITY, OWNER_EVENT, OWNER_FIELD, OWNER_CLASS, OWNER_WORD };

struct perfetto {
    struct tracks tracks;
    struct buffer packet, names, event;
    struct map numbers; /* uint64_t by owner and its identity */
    uint64_t last_number;
    struct slots threads; /* struct written_thread, by thread number */
    bool has_packet;
};

struct written_thread {
    bool has_track;
    bool runs; /* according to the states written so far */
};

#define PERFETTO(tracks) ((struct perfetto *)(void *)(tracks))

static uint64_t boot_ns(const struct perfetto *perfetto, uint64_t ticks)
{
    const struct schema *schema = &perfetto->tracks.analysis->trace->schema;
    return (uint64_t)schema_ns(schema, ticks) - (uint64_t)schema->clock_base_ns;
}

/* ---- packets --------------------------------------------------------------------------------------- */

static void begin_packet(struct perfetto *perfetto, uint64_t ticks)
{
    struct buffer *packet = &perfetto->packet;
    packet->used = perfetto->names.used = perfetto->event.used = 0;
    protobuf_uint(packet, PACKET_TIMESTAMP, boot_ns(perfetto, ticks));
    protobuf_uint(packet, PACKET_SEQUENCE, SEQUENCE);
    protobuf_uint(packet, PACKET_FLAGS, perfetto->has_packet ? FLAG_NEEDS : FLAG_CLEARED);
    perfetto->has_packet = true;
}

/* Writes the packet as an element of the only field of struct Trace. */
static void end_packet(struct perfetto *perfetto)
{
    struct out *out = &perfetto->tracks.out;
    struct buffer frame = {0};
    if (perfetto->names.used != 0)
        protobuf_bytes(&perfetto->packet, PACKET_NAMES, perfetto->names.bytes, perfetto->names.used);
    if (perfetto->event.used != 0)
        protobuf_bytes(&perfetto->packet, PACKET_EVENT, perfetto->event.bytes, perfetto->event.used);
    protobuf_bytes(&frame, 1, perfetto->packet.bytes, perfetto->packet.used);
    out_commit(out, put_bytes(out_reserve(out, frame.used), (const char *)frame.bytes, frame.used));
    free(frame.bytes);
}

/* Defines the name in the current packet if it is new. */
static uint64_t name_number(struct perfetto *perfetto, unsigned index, enum name_owner owner, uint64_t a,
                            uint64_t b, const char *name)
{
    uint64_t *number = map_at(&perfetto->numbers, (uint64_t)owner << 8 | index, a, b);
    if (*number == 0) {
        *number = ++perfetto->last_number;
        protobuf_message(&perfetto->names, index, {1, .number = *number}, {2, .text = name});
    }
    return *number;
}

/* For constants of this program. */
static uint64_t word_number(struct perfetto *perfetto, unsigned index, const char *word)
{
    return name_number(perfetto, index, OWNER_WORD, (uintptr_t)word, 0, word);
}

/* ---- tracks ---------------------------------------------------------------------------------------- */

static uint64_t thread_track(const struct model_thread *thread)
{
    return 1ull << 32 | thread->number;
}

static uint64_t shown_tid(const struct model_thread *thread)
{
    return (uint64_t)TID_BASE + thread->tid - (thread->is_idle ? 1 + thread->cpu : 0);
}

/* Describes a track, before its first event and again at the end, when its name is known. */
static void describe_thread(struct perfetto *perfetto, const struct model_thread *thread, const char *name)
{
    struct buffer *packet = &perfetto->packet;
    char text[32];
    begin_packet(perfetto, perfetto->tracks.analysis->from);
    snprintf(text, sizeof(text), "idle cpu %u", track_cpu(&perfetto->tracks, thread->cpu));
    size_t track = protobuf_begin(packet, PACKET_TRACK);
    protobuf_uint(packet, 1, thread_track(thread));
    if (thread->is_idle)
        protobuf_text(packet, 2, text, strlen(text));
    else
        protobuf_message(packet, 4, {1, .number = thread->pid}, {2, .number = shown_tid(thread)},
                         {name != NULL ? 5 : 0, .text = name});
    protobuf_end(packet, track);
    end_packet(perfetto);
}

static void begin_event(struct perfetto *perfetto, const struct model_thread *thread, unsigned type,
                        uint64_t ticks)
{
    struct written_thread *written = slots_at(&perfetto->threads, thread->number);
    if (!written->has_track) {
        written->has_track = true;
        describe_thread(perfetto, thread, NULL);
    }
    begin_packet(perfetto, ticks);
    protobuf_uint(&perfetto->event, EVENT_TYPE, type);
    protobuf_uint(&perfetto->event, EVENT_TRACK, thread_track(thread));
}

static void add_annotation(struct perfetto *perfetto, uint64_t name, const struct value *value)
{
    static const unsigned fields[] = {[VALUE_SIGNED] = ANNOTATION_INT,
                                      [VALUE_UNSIGNED] = ANNOTATION_UINT,
                                      [VALUE_HEX] = ANNOTATION_POINTER};
    size_t mark = protobuf_begin(&perfetto->event, EVENT_ANNOTATION);
    protobuf_uint(&perfetto->event, ANNOTATION_NAME, name);
    if (value->kind == VALUE_TEXT)
        protobuf_text(&perfetto->event, ANNOTATION_TEXT, value->text, value->length);
    else
        protobuf_uint(&perfetto->event, fields[value->kind], value->number);
    protobuf_end(&perfetto->event, mark);
}

/* NAME is a constant of this program. */
static void annotate(struct perfetto *perfetto, const char *name, struct value value)
{
    add_annotation(perfetto, word_number(perfetto, NAMES_ANNOTATION, name), &value);
}

/* ---- what happens ---------------------------------------------------------------------------------- */

static void write_task_state(struct perfetto *perfetto, const struct model_thread *thread, unsigned state,
                             uint32_t rank, uint64_t ticks)
{
    begin_packet(perfetto, ticks);
    protobuf_message(&perfetto->packet, PACKET_TASK_STATE, {1, .number = track_cpu(&perfetto->tracks, rank)},
                     {2, .text = tracks_runner(&perfetto->tracks, thread)}, {3, .number = shown_tid(thread)},
                     {4, .number = state}, {5, .number = thread->prio});
    end_packet(perfetto);
}

static void write_state(struct tracks *tracks, const struct thread_state *interval)
{
    static const uint8_t tasks[MODEL_STATES] = {[MODEL_RUNNING] = TASK_RUNNING,
                                                [MODEL_READY] = TASK_RUNNABLE,
                                                [MODEL_BLOCKED_SEND... MODEL_SLEEPING] = TASK_SLEEPS,
                                                [MODEL_BLOCKED_FAULT] = TASK_DEEP,
                                                [MODEL_SUSPENDED] = TASK_STOPPED,
                                                [MODEL_DEAD] = TASK_DEAD,
                                                [MODEL_UNKNOWN] = TASK_UNKNOWN};
    struct perfetto *perfetto = PERFETTO(tracks);
    const struct model_thread *thread = interval->thread;
    struct written_thread *written = slots_at(&perfetto->threads, thread->number);
    bool runs = interval->state == MODEL_RUNNING && !interval->is_asleep;
    /* A CPU that runs no thread is idle; idle threads are never shown as ready. */
    bool sleeps = thread->is_idle && (interval->is_asleep || interval->state == MODEL_READY);
    if (sleeps && !written->runs)
        return;
    if (runs && written->runs) /* an event in between was lost; a thread must not start to run twice */
        write_task_state(perfetto, thread, TASK_RUNNABLE, interval->cpu, interval->from);
    written->runs = runs;
    write_task_state(perfetto, thread, sleeps ? TASK_SLEEPS : tasks[interval->state], interval->cpu,
                     interval->from);
}

static void write_death(struct tracks *tracks, const struct model_thread *thread, uint64_t ticks)
{
    if (!thread->is_idle)
        write_task_state(PERFETTO(tracks), thread, TASK_DEAD, thread->cpu, ticks);
}

static void write_enter(struct tracks *tracks, const struct model_thread *thread,
                        const struct model_frame *frame, const char *name)
{
    struct perfetto *perfetto = PERFETTO(tracks);
    const char *kind = model_activity_names[frame->kind];
    begin_event(perfetto, thread, TYPE_BEGIN, frame->begin);
    protobuf_uint(&perfetto->event, EVENT_CATEGORY, word_number(perfetto, NAMES_CATEGORY, kind));
    protobuf_uint(&perfetto->event, EVENT_NAME,
                  name_number(perfetto, NAMES_EVENT, OWNER_ACTIVITY, frame->kind, frame->detail, name));
    annotate(perfetto, "arg0", VALUE_OF(VALUE_HEX, frame->args[0]));
    annotate(perfetto, "arg1", VALUE_OF(VALUE_HEX, frame->args[1]));
    end_packet(perfetto);
}

static void write_leave(struct tracks *tracks, const struct model_thread *thread,
                        const struct model_frame *frame, const char *name, uint64_t end)
{
    struct perfetto *perfetto = PERFETTO(tracks);
    begin_event(perfetto, thread, TYPE_END, end);
    annotate(perfetto, "result", VALUE_OF(VALUE_SIGNED, frame->result));
    if (frame->kind == ACTIVITY_FAULT) /* the kind is known at the end */
        annotate(perfetto, "kind", value_text(name));
    end_packet(perfetto);
}

static void write_event(struct tracks *tracks, const struct model_thread *thread, const struct cursor *cursor)
{
    struct perfetto *perfetto = PERFETTO(tracks);
    const struct event_type *type = cursor->event.type;
    unsigned class = TRACE_ID_CLASS(type->id);
    begin_event(perfetto, thread, TYPE_INSTANT, cursor->ticks);
    protobuf_uint(&perfetto->event, EVENT_CATEGORY,
                  name_number(perfetto, NAMES_CATEGORY, OWNER_CLASS, class, 0,
                              cursor->trace->schema.classes[class].name));
    protobuf_uint(&perfetto->event, EVENT_NAME,
                  name_number(perfetto, NAMES_EVENT, OWNER_EVENT, type->index, 0, type->name));
    for (unsigned f = 0; f < type->field_count; f++) {
        struct value value = value_of_field(&type->fields[f], &cursor->event, tracks->list_text);
        add_annotation(
            perfetto,
            name_number(perfetto, NAMES_ANNOTATION, OWNER_FIELD, type->index, f, type->fields[f].name),
            &value);
    }
    end_packet(perfetto);
}

static void write_flow(struct tracks *tracks, const struct model_thread *thread,
                       const struct track_flow *flow, uint64_t ticks)
{
    struct perfetto *perfetto = PERFETTO(tracks);
    const struct model_call *call = flow->call;
    begin_event(perfetto, thread, TYPE_INSTANT, ticks);
    protobuf_uint(&perfetto->event, EVENT_CATEGORY, word_number(perfetto, NAMES_CATEGORY, "ipc"));
    protobuf_uint(&perfetto->event, EVENT_NAME, word_number(perfetto, NAMES_EVENT, flow->name));
    protobuf_fixed64(&perfetto->event, flow->is_end ? EVENT_FLOW_ENDS : EVENT_FLOW,
                     call->id << 1 | flow->is_reply);
    annotate(perfetto, "call_id", VALUE_OF(VALUE_HEX, call->id));
    annotate(perfetto, "label", VALUE_NUMBER(flow->is_reply ? call->reply_label : call->label));
    end_packet(perfetto);
}

/* ---- begin and end --------------------------------------------------------------------------------- */

static void begin(struct tracks *tracks)
{
    struct perfetto *perfetto = PERFETTO(tracks);
    const struct analysis *analysis = tracks->analysis;
    size_t mark;
    analysis_map(tracks->analysis, &perfetto->numbers, sizeof(uint64_t));
    analysis_slots(tracks->analysis, &perfetto->threads, sizeof(struct written_thread));
    begin_packet(perfetto, analysis->from);
    mark = protobuf_begin(&perfetto->packet, PACKET_CLOCKS);
    protobuf_message(&perfetto->packet, 1, {1, .number = CLOCK_BOOT},
                     {2, .number = boot_ns(perfetto, analysis->from)});
    protobuf_message(&perfetto->packet, 1, {1, .number = CLOCK_REAL},
                     {2, .number = (uint64_t)schema_ns(&analysis->trace->schema, analysis->from)});
    protobuf_end(&perfetto->packet, mark);
    end_packet(perfetto);
}

/* A process with its parent, or a thread with its process. */
static void write_in_tree(struct perfetto *perfetto, unsigned kind, uint64_t id, uint32_t owner,
                          const char *name)
{
    begin_packet(perfetto, perfetto->tracks.analysis->from);
    size_t tree = protobuf_begin(&perfetto->packet, PACKET_PROCESS_TREE);
    protobuf_message(&perfetto->packet, kind, {1, .number = id},
                     {owner != MODEL_NOBODY ? 2 : 0, .number = owner}, {3, .text = name});
    protobuf_end(&perfetto->packet, tree);
    end_packet(perfetto);
}

static void write_process(struct tracks *tracks, uint32_t pid, const char *name)
{
    if (pid != 0)
        write_in_tree(PERFETTO(tracks), TREE_PROCESS, pid, model_process(&tracks->model, pid)->parent, name);
}

static void write_thread(struct tracks *tracks, const struct model_thread *thread, const char *name)
{
    struct perfetto *perfetto = PERFETTO(tracks);
    char text[ANALYSIS_NAME_BYTES + 16];
    snprintf(text, sizeof(text), "%s/%u", name, thread->tid);
    describe_thread(perfetto, thread, text);
    if (!thread->is_idle)
        write_in_tree(perfetto, TREE_THREAD, shown_tid(thread), thread->pid, text);
}

/* Writes losses, if any, as an instant at the end, on a track of its own. */
static void write_losses(struct tracks *tracks)
{
    struct perfetto *perfetto = PERFETTO(tracks);
    const struct analysis *analysis = tracks->analysis;
    struct loss_fact facts[LOSS_FACTS];
    if (!losses_facts(tracks->losses, facts))
        return;
    begin_packet(perfetto, analysis->from);
    protobuf_message(&perfetto->packet, PACKET_TRACK, {1, .number = LOSSES_TRACK}, {2, .text = "losses"});
    end_packet(perfetto);
    begin_packet(perfetto, analysis->to);
    protobuf_uint(&perfetto->event, EVENT_TYPE, TYPE_INSTANT);
    protobuf_uint(&perfetto->event, EVENT_TRACK, LOSSES_TRACK);
    protobuf_uint(&perfetto->event, EVENT_NAME, word_number(perfetto, NAMES_EVENT, "losses"));
    for (unsigned i = 0; i < LOSS_FACTS; i++)
        annotate(perfetto, facts[i].name, VALUE_NUMBER(facts[i].value));
    end_packet(perfetto);
}

static const struct track_writer writer = {.begin = begin,
                                           .state = write_state,
                                           .enter = write_enter,
                                           .leave = write_leave,
                                           .event = write_event,
                                           .died = write_death,
                                           .flow = write_flow,
                                           .process = write_process,
                                           .thread = write_thread,
                                           .end = write_losses};

bool export_perfetto(const struct scan_source *source, const char *output, const char **nothing,
                     struct fail *fail)
{
    struct perfetto perfetto = {.has_packet = false};
    bool ok = tracks_export(&perfetto.tracks, &writer, source, output, nothing, fail);
    free(perfetto.packet.bytes);
    free(perfetto.names.bytes);
    free(perfetto.event.bytes);
    return ok;
}
