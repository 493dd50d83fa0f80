/* tracks.c - a trace as trace viewers draw it; see tracks.h. */
#include <errno.h>
#include <fcntl.h>
#include <tools/tarn/export/tracks.h>
#include <unistd.h>

#define OF(self) OUTER(self, struct tracks, observer)

/* Events that are visible as states, activities and calls. */
static const char *const shown_events[] = {
    "trace_filler",     "trace_context",     "trace_end",        "trace_heartbeat", "sched_switch",
    "sched_wakeup",     "sched_enqueue",     "sched_dequeue",    "power_cpu_idle",  "ipc_call",
    "ipc_receive",      "ipc_reply",         "ipc_return",       "syscall_entry",   "syscall_exit",
    "libc_entry",       "libc_exit",         "fault_entry",      "fault_exit",      "exception_entry",
    "exception_exit",   "irq_handler_entry", "irq_handler_exit", "irq_ipi_entry",   "irq_ipi_exit",
    "fs_request_begin", "fs_request_end",
};

static void note_shown(struct tracks *tracks)
{
    const struct schema *schema = &tracks->analysis->trace->schema;
    tracks->shown = arena_alloc(&tracks->analysis->arena, schema->event_count * sizeof(bool));
    if (tracks->analysis->filter->types != NULL)
        return;
    for (unsigned i = 0; i < sizeof(shown_events) / sizeof(shown_events[0]); i++) {
        const struct event_type *type = schema_find_event(schema, shown_events[i]);
        if (type != NULL)
            tracks->shown[type->index] = true;
    }
}

static bool shows(struct tracks *tracks, const struct model_thread *thread)
{
    return analysis_wants(tracks->analysis, thread) && !tracks->out.failed;
}

static void on_event(struct model_observer *self, const struct cursor *cursor,
                     const struct model_thread *thread)
{
    struct tracks *tracks = OF(self);
    if (!tracks->shown[cursor->event.type->index] && thread->tid != MODEL_NOBODY &&
        analysis_wants_event(tracks->analysis, cursor, thread) && !tracks->out.failed)
        tracks->writer->event(tracks, thread, cursor);
}

static void write_state(struct thread_states *self, const struct thread_state *interval)
{
    struct tracks *tracks = OUTER(self, struct tracks, states);
    if (!tracks->out.failed)
        tracks->writer->state(tracks, interval);
}

static void on_segment(struct model_observer *self, const struct model_thread *thread, uint64_t from,
                       uint64_t to)
{
    struct tracks *tracks = OF(self);
    if (analysis_wants(tracks->analysis, thread))
        thread_states_add(&tracks->states, thread, from, to);
}

/* Such as "syscall ipc_call". */
static const char *activity_name(const struct tracks *tracks, const struct model_frame *frame,
                                 char text[ANALYSIS_NAME_BYTES])
{
    char number[ANALYSIS_NAME_BYTES];
    if (frame->detail == UINT32_MAX) /* a fault that has not ended */
        return model_activity_names[frame->kind];
    snprintf(text, ANALYSIS_NAME_BYTES, "%.20s %.40s", model_activity_names[frame->kind],
             label_of(tracks->labels[frame->kind], frame->detail, number));
    return text;
}

static void enter(struct tracks *tracks, const struct model_thread *thread, const struct model_frame *frame)
{
    char name[ANALYSIS_NAME_BYTES];
    tracks->writer->enter(tracks, thread, frame, activity_name(tracks, frame, name));
}

/* Enters what the thread was inside of when the range began: its outermost DEPTH activities. */
static void enter_begun(struct tracks *tracks, const struct model_thread *thread, uint32_t depth)
{
    const struct model *model = &tracks->model;
    bool *has_begun = slots_at(&tracks->begun, thread->number);
    for (uint32_t i = 0; !*has_begun && i < depth && i < MODEL_DEPTH_MAX; i++) {
        struct model_frame frame = thread->frames[i];
        if (model->leaves_out_drain && frame.is_drain)
            continue;
        frame.begin = model->from;
        enter(tracks, thread, &frame);
    }
    *has_begun = true;
}

static void on_enter(struct model_observer *self, const struct model_thread *thread,
                     const struct model_frame *frame)
{
    struct tracks *tracks = OF(self);
    if (tracks->writer->enter == NULL || !shows(tracks, thread))
        return;
    enter_begun(tracks, thread, thread->depth - 1);
    enter(tracks, thread, frame);
}

/* FRAME is off the stack; if its begin was not seen, it never was on it. */
static void enter_late(struct tracks *tracks, const struct model_thread *thread,
                       const struct model_frame *frame)
{
    bool was_on_stack = thread->frames != NULL && frame == &thread->frames[thread->depth];
    enter_begun(tracks, thread, was_on_stack ? thread->depth + 1 : thread->depth);
    if (!was_on_stack)
        enter(tracks, thread, frame);
}

static void on_leave(struct model_observer *self, const struct model_thread *thread,
                     const struct model_frame *frame, uint64_t end)
{
    struct tracks *tracks = OF(self);
    char name[ANALYSIS_NAME_BYTES];
    if (!shows(tracks, thread))
        return;
    if (tracks->writer->enter != NULL)
        enter_late(tracks, thread, frame);
    tracks->writer->leave(tracks, thread, frame, activity_name(tracks, frame, name), end);
}

static void on_thread(struct model_observer *self, const struct model_thread *thread, bool has_ended,
                      uint64_t ticks)
{
    struct tracks *tracks = OF(self);
    if (has_ended && tracks->writer->died != NULL && shows(tracks, thread))
        tracks->writer->died(tracks, thread, ticks);
}

/* Called at each of a call's four ends; each of the two arrows needs two of them. */
static void on_call(struct model_observer *self, const struct model_call *call, uint64_t ticks,
                    bool has_ended)
{
    struct tracks *tracks = OF(self);
    struct track_flow flow = {call, NULL, false, false};
    const struct model_thread *thread;
    if (call->returned == ticks && call->replied != 0)
        flow = (struct track_flow){call, "ipc return", true, true};
    else if (call->replied == ticks)
        flow = (struct track_flow){call, "ipc reply", true, false};
    else if (call->received == ticks && call->server != NULL)
        flow = (struct track_flow){call, "ipc receive", false, true};
    else if (call->called == ticks && !has_ended)
        flow = (struct track_flow){call, "ipc call", false, false};
    thread = flow.is_reply == flow.is_end ? call->client : call->server;
    if (flow.name == NULL || thread == NULL || !shows(tracks, thread))
        return;
    tracks->writer->flow(tracks, thread, &flow, ticks);
}

const char *tracks_runner(const struct tracks *tracks, const struct model_thread *thread)
{
    return thread->is_idle ? "kernel work" : analysis_thread_name(tracks->analysis, thread);
}

static void open_tracks(struct tracks *tracks)
{
    struct analysis *analysis = tracks->analysis;
    thread_states_open(&tracks->states, analysis, write_state);
    tracks->list_text = arena_alloc(&analysis->arena, value_list_bytes(&analysis->trace->schema));
    for (unsigned kind = 0; kind < ACTIVITIES; kind++)
        tracks->labels[kind] = model_detail_field(&analysis->trace->schema, kind);
    note_shown(tracks);
    analysis_slots(analysis, &tracks->begun, sizeof(bool));
    tracks->observer = (struct model_observer){.segment = on_segment,
                                               .event = on_event,
                                               .enter = on_enter,
                                               .leave = on_leave,
                                               .call = on_call,
                                               .thread = on_thread};
    model_observe(&tracks->model, &tracks->observer);
    tracks->writer->begin(tracks);
}

static void finish_tracks(struct tracks *tracks)
{
    struct analysis *analysis = tracks->analysis;
    const struct model *model = &tracks->model;
    thread_states_finish(&tracks->states);
    for (size_t i = 0; i < model->processes.count; i++) {
        const struct model_process *process = map_value(&model->processes, i);
        tracks->writer->process(tracks, process->pid, analysis_process_name(analysis, process->pid));
    }
    for (uint32_t i = 0; i < model->thread_count; i++)
        if (model->threads[i]->tid != MODEL_NOBODY && analysis_wants(analysis, model->threads[i]))
            tracks->writer->thread(tracks, model->threads[i],
                                   analysis_thread_name(analysis, model->threads[i]));
    tracks->writer->end(tracks);
}

bool tracks_export(struct tracks *tracks, const struct track_writer *writer, const struct scan_source *source,
                   const char *output, const char **nothing, struct fail *fail)
{
    int fd = open(output, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    struct merge merge;
    if (fd < 0)
        return fail_set(fail, "cannot write '%s': %s", output, strerror(errno));
    out_open(&tracks->out, fd, 0);
    tracks->writer = writer;
    tracks->losses = source->losses;
    tracks->analysis = scan_walk_open(source, source->filter->from_ticks, &tracks->model, &merge);
    open_tracks(tracks);
    model_walk_range(&tracks->model, &merge, NULL, NULL);
    merge_close(&merge);
    finish_tracks(tracks);
    bool ok = out_close_file(&tracks->out, output) ||
              fail_set(fail, "cannot write '%s': %s", output, strerror(errno));
    analyses_finish(&tracks->analysis, 1);
    *nothing = analysis_has_nothing(tracks->analysis);
    analysis_free(tracks->analysis);
    model_close(&tracks->model);
    return ok;
}
