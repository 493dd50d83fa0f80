/*
 * tracks.h - a trace as trace viewers draw it, for chrome.c and perfetto.c: states of threads, activities on
 * them, events with their fields, IPC calls as arrows between threads.
 *
 * Events that are visible as states, activities and calls (entries and exits, switches, ...) are not written
 * again unless the user names them (--event, --class).
 */
#pragma once

#include <tools/tarn/out.h>
#include <tools/tarn/relation/scan.h>

/* Writes to OUTPUT, which must not exist. NOTHING: why there is nothing in it, or NULL. */
typedef bool export_function(const struct scan_source *source, const char *output, const char **nothing,
                             struct fail *fail);
export_function export_perfetto, export_chrome;

struct tracks;

/* One end of an arrow: from the client's call to the server's receive, or from its reply to the return. */
struct track_flow {
    const struct model_call *call;
    const char *name; /* of this end */
    bool is_reply, is_end;
};

/* Called for each thread in order of time, except `state`, which is called when the state is over. Each
 * `leave` has an `enter` before it, also if the activity began before the range, or its begin was not seen.
 * enter and died may be NULL. */
struct track_writer {
    void (*begin)(struct tracks *tracks);
    void (*state)(struct tracks *tracks, const struct thread_state *interval);
    void (*enter)(struct tracks *tracks, const struct model_thread *thread, const struct model_frame *frame,
                  const char *name);
    void (*leave)(struct tracks *tracks, const struct model_thread *thread, const struct model_frame *frame,
                  const char *name, uint64_t end);
    void (*event)(struct tracks *tracks, const struct model_thread *thread, const struct cursor *cursor);
    void (*died)(struct tracks *tracks, const struct model_thread *thread, uint64_t ticks);
    void (*flow)(struct tracks *tracks, const struct model_thread *thread, const struct track_flow *flow,
                 uint64_t ticks);
    /* Called at the end, when names are known. */
    void (*process)(struct tracks *tracks, uint32_t pid, const char *name);
    void (*thread)(struct tracks *tracks, const struct model_thread *thread, const char *name);
    void (*end)(struct tracks *tracks);
};

/* The state of a format begins with this. Writing continues after a failure, which `out` keeps. */
struct tracks {
    struct analysis *analysis;
    const struct losses *losses; /* complete at the end of the walk */
    struct model model;
    struct model_observer observer;
    const struct track_writer *writer;
    const struct field *labels[ACTIVITIES]; /* of details of activities */
    struct thread_states states;
    char *list_text; /* buffer for an event's list as text */
    struct out out;
    bool has_event;     /* of chrome.c: one was written */
    bool *shown;        /* by event index: visible otherwise */
    struct slots begun; /* bool by thread number: `enter` was called for what was in progress at the start */
};

/* Walks the trace for WRITER. The other arguments are those of an export_function. */
bool tracks_export(struct tracks *tracks, const struct track_writer *writer, const struct scan_source *source,
                   const char *output, const char **nothing, struct fail *fail);
const char *tracks_runner(const struct tracks *tracks, const struct model_thread *thread);

static inline uint32_t track_cpu(const struct tracks *tracks, uint32_t rank)
{
    return tracks->analysis->trace->streams[rank].cpu;
}
