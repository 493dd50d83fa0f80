/*
 * chrome.c - JSON in the Trace Event Format of chrome://tracing.
 *
 * Process 0 shows what the CPUs run, with one thread per CPU; the kernel has no threads of its own except
 * the idle ones. Activities are complete events (X) of their threads, calls are flows (s, f), everything
 * else is instant events (i). Times are microseconds since the start of the trace, with three decimals.
 */
#include <tools/tarn/export/tracks.h>
#include <tools/tarn/print/print.h>

#define EVENT_BYTES_MAX 512u /* for all of an event but its texts and arguments */

static char *put_time(char *at, uint64_t ns)
{
    at = put_unsigned(at, ns / 1000);
    *at++ = '.';
    return put_padded(at, ns % 1000, 3);
}

static char *put_when(char *at, const struct tracks *tracks, const char *key, uint64_t ticks)
{
    const struct trace *trace = tracks->analysis->trace;
    at = put_string(at, key);
    return put_time(at, ticks > trace->begin ? schema_elapsed_ns(&trace->schema, trace->begin, ticks) : 0);
}

/* ,"ts":FROM,"dur":... */
static char *put_span(char *at, const struct tracks *tracks, uint64_t from, uint64_t to)
{
    at = put_string(put_when(at, tracks, ",\"ts\":", from), ",\"dur\":");
    return put_time(at, schema_elapsed_ns(&tracks->analysis->trace->schema, from, to));
}

static char *put_text(char *at, const char *text)
{
    return put_escaped(at, text, strlen(text), PRINT_JSON);
}

/* {"ph":"X","name":NAME,"cat":CATEGORY */
static char *begin_event(struct tracks *tracks, char phase, const char *name, const char *category,
                         size_t capacity)
{
    char *at = out_reserve(&tracks->out, EVENT_BYTES_MAX + 6 * (strlen(name) + strlen(category)) + capacity);
    at = put_string(at, tracks->has_event ? ",\n{\"ph\":\"" : "\n{\"ph\":\"");
    tracks->has_event = true;
    *at++ = phase;
    at = put_text(put_string(at, "\",\"name\":"), name);
    return put_text(put_string(at, ",\"cat\":"), category);
}

static char *put_track(char *at, uint64_t pid, uint64_t tid)
{
    at = put_unsigned(put_string(at, ",\"pid\":"), pid);
    return put_unsigned(put_string(at, ",\"tid\":"), tid);
}

static char *put_thread(char *at, const struct tracks *tracks, const struct model_thread *thread)
{
    if (thread->is_idle)
        return put_track(at, 0, track_cpu(tracks, thread->cpu));
    return put_track(at, thread->pid, thread->tid);
}

static void begin(struct tracks *tracks)
{
    char *at = out_reserve(&tracks->out, EVENT_BYTES_MAX);
    out_commit(&tracks->out, put_string(at, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":["));
}

static void write_state(struct tracks *tracks, const struct thread_state *interval)
{
    const struct model_thread *thread = interval->thread;
    char *at;
    if (interval->state != MODEL_RUNNING || interval->is_asleep)
        return;
    at = begin_event(tracks, 'X', tracks_runner(tracks, thread), "running", 0);
    at = put_track(at, 0, track_cpu(tracks, interval->cpu));
    at = put_span(at, tracks, interval->from, interval->to);
    at = put_unsigned(put_string(at, ",\"args\":{\"pid\":"), thread->pid);
    at = put_unsigned(put_string(at, ",\"tid\":"), thread->tid);
    out_commit(&tracks->out, put_string(at, "}}"));
}

static void write_leave(struct tracks *tracks, const struct model_thread *thread,
                        const struct model_frame *frame, const char *name, uint64_t end)
{
    char *at = begin_event(tracks, 'X', name, model_activity_names[frame->kind], 0);
    at = put_thread(at, tracks, thread);
    at = put_span(at, tracks, frame->begin, end);
    at = put_hex(put_string(at, ",\"args\":{\"arg0\":\""), frame->args[0], hex_lower);
    at = put_hex(put_string(at, "\",\"arg1\":\""), frame->args[1], hex_lower);
    at = put_safe_number(put_string(at, "\",\"result\":"), (uint64_t)frame->result, true);
    out_commit(&tracks->out, put_string(at, frame->is_cut ? ",\"is_cut\":true}}" : "}}"));
}

static void write_argument(struct tracks *tracks, const char *name, const struct value *value, bool is_list)
{
    struct out *out = &tracks->out;
    char *at = out_reserve(out, 6 * (strlen(name) + value->length) + 64);
    at = put_text(at, name);
    *at++ = ':';
    if (value->kind == VALUE_TEXT && is_list)
        at = put_bytes(at, value->text, value->length);
    else if (value->kind == VALUE_TEXT)
        at = put_escaped(at, value->text, value->length, PRINT_JSON);
    else if (value->kind == VALUE_SIGNED || value->kind == VALUE_UNSIGNED)
        at = put_safe_number(at, value->number, value->kind == VALUE_SIGNED);
    else
        at = put_string(put_hex(put_string(at, "\""), value->number, hex_lower), "\"");
    out_commit(out, at);
}

static void write_event(struct tracks *tracks, const struct model_thread *thread, const struct cursor *cursor)
{
    const struct event_type *type = cursor->event.type;
    const struct schema *schema = &cursor->trace->schema;
    char *at = begin_event(tracks, 'i', type->name, schema->classes[TRACE_ID_CLASS(type->id)].name, 0);
    at = put_thread(at, tracks, thread);
    at = put_when(at, tracks, ",\"s\":\"t\",\"ts\":", cursor->ticks);
    out_commit(&tracks->out, put_string(at, ",\"args\":{"));
    for (unsigned f = 0; f < type->field_count; f++) {
        const struct field *field = &type->fields[f];
        struct value value = value_of_field(field, &cursor->event, tracks->list_text);
        if (f != 0)
            out_commit(&tracks->out, put_string(out_reserve(&tracks->out, 1), ","));
        write_argument(tracks, field->name, &value,
                       field->kind == FIELD_ARRAY || field->kind == FIELD_SEQUENCE);
    }
    out_commit(&tracks->out, put_string(out_reserve(&tracks->out, 2), "}}"));
}

/* Both arrows of a call use its id, each with a different letter. A flow attaches to the activity at its
 * time, the system call. */
static void write_flow(struct tracks *tracks, const struct model_thread *thread,
                       const struct track_flow *flow, uint64_t ticks)
{
    char *at =
        begin_event(tracks, flow->is_end ? 'f' : 's', flow->is_reply ? "ipc reply" : "ipc call", "ipc", 0);
    at = put_thread(at, tracks, thread);
    at = put_when(at, tracks, flow->is_end ? ",\"bp\":\"e\",\"ts\":" : ",\"ts\":", ticks);
    at = put_hex(put_string(at, ",\"id\":\""), flow->call->id, hex_lower);
    at = put_string(at, flow->is_reply ? "r\",\"args\":{\"label\":" : "c\",\"args\":{\"label\":");
    at = put_safe_number(at, flow->is_reply ? flow->call->reply_label : flow->call->label, false);
    out_commit(&tracks->out, put_string(at, "}}"));
}

/* "process_name" or "thread_name" */
static void write_name(struct tracks *tracks, const char *what, uint64_t pid, uint64_t tid, const char *name)
{
    char *at = begin_event(tracks, 'M', what, "__metadata", 6 * strlen(name));
    at = put_track(at, pid, tid);
    at = put_text(put_string(at, ",\"ts\":0,\"args\":{\"name\":"), name);
    out_commit(&tracks->out, put_string(at, "}}"));
}

static void write_process(struct tracks *tracks, uint32_t pid, const char *name)
{
    write_name(tracks, "process_name", pid, 0, pid == 0 ? "processors" : name);
}

static void write_thread(struct tracks *tracks, const struct model_thread *thread, const char *name)
{
    char cpu[32];
    if (thread->is_idle) {
        snprintf(cpu, sizeof(cpu), "cpu %u", track_cpu(tracks, thread->cpu));
        write_name(tracks, "thread_name", 0, track_cpu(tracks, thread->cpu), cpu);
    } else {
        write_name(tracks, "thread_name", thread->pid, thread->tid, name);
    }
}

static void end(struct tracks *tracks)
{
    char text[1000];
    FILE *to = fmemopen(text, sizeof(text), "w");
    fputs("\n],\"otherData\":{", to);
    losses_print_json(to, tracks->losses);
    fputs("}}\n", to);
    fclose(to);
    out_commit(&tracks->out, put_string(out_reserve(&tracks->out, sizeof(text)), text));
}

static const struct track_writer writer = {.begin = begin,
                                           .state = write_state,
                                           .leave = write_leave,
                                           .event = write_event,
                                           .flow = write_flow,
                                           .process = write_process,
                                           .thread = write_thread,
                                           .end = end};

bool export_chrome(const struct scan_source *source, const char *output, const char **nothing,
                   struct fail *fail)
{
    struct tracks tracks = {.has_event = false};
    return tracks_export(&tracks, &writer, source, output, nothing, fail);
}
