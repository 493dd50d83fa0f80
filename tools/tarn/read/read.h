/*
 * read.h - stage "read": the files of a trace to packets.
 *
 * A stream is one file, cpuN: the packets of CPU N, back to back. They are read one at a time into the
 * caller's buffer, so memory is bounded, and a file may grow or shrink meanwhile. Each defect of a packet has
 * a name (enum anomaly). Next stage: decode.h.
 */
#pragma once

#include <tools/tarn/read/schema.h>

#define PACKET_BYTES_MAX (16u << 20) /* far more than a buffer can be */

struct stream {
    char *path;       /* as babeltrace2 prints it: DIR/FILE */
    const char *name; /* FILE */
    int fd;
    uint64_t size;  /* bytes in the file when it was opened */
    unsigned rank;  /* position among the streams sorted by name; breaks ties of time */
    uint32_t cpu;   /* as its name says */
    uint64_t begin; /* ticks: start of the first packet */
    uint64_t first_packet_bytes;
    uint64_t last_packet;      /* its number; ~0: unknown */
    uint64_t pulled_last;      /* as TRACE_END_NAME has it; ~0: unknown */
    uint64_t discarded_before; /* as TRACE_BEFORE_NAME has it */
};

/* For walks that begin late (index/index.h); filled when one asks for it. */
struct trace_index {
    struct index *index; /* NULL: there is none, or nobody asked */
    bool is_known;
    void (*free)(struct index *index);
};

struct trace {
    char *directory;
    struct schema schema;
    struct stream *streams;
    unsigned stream_count;
    uint64_t begin, end; /* ticks: of the first and the last packet */
    bool ends_early;     /* trace_is_unfinished, when it was opened */
    uint64_t metadata_inode, metadata_bytes;
    struct report *reports; /* defects of the directory rather than of a packet */
    size_t report_count, report_size;
    uint32_t missing_count; /* CPUs without a stream: ANOMALY_MISSING */
    struct trace_index *index;
};

enum anomaly {
#define ANOMALY(id, name, meaning) ANOMALY_##id,
#include <tools/tarn/read/anomalies.def>
#undef ANOMALY
    ANOMALY_COUNT
};

struct anomaly_kind {
    const char *name;
    const char *meaning;
    bool is_loss;
};
extern const struct anomaly_kind anomaly_kinds[ANOMALY_COUNT];

/* Rows of tables of counters, which only `tarn pull --rows` logs (FORMAT.md, "Rows"): their class, and a flag
 * of their packets. */
#define TRACE_CLASS_ROWS  (TRACE_CLASS_APP_FIRST - 1)
#define TRACE_PACKET_ROWS 4u

/* A problem in a stream, or in the whole trace (judge.h). */
struct report {
    enum anomaly anomaly;
    const struct stream *stream; /* NULL: see `file`, or ANOMALY_UNFINISHED */
    const char *file;            /* of the directory; ANOMALY_MISSING: the names of the missing files */
    /* ANOMALY_CLOCK: the stream whose clock is behind, by at least `count` ticks */
    const struct stream *other;
    uint64_t offset; /* of the packet or event in the file */
    uint64_t packet_seq;
    /* lost packets or events, UINT64_MAX: unknown; missing CPUs or packets; ANOMALY_EVENT_COUNT: the packet's
     */
    uint64_t count;
    /* ANOMALY_LOST_PACKETS: in the lost packets; or TRACE_EVENTS_UNKNOWN. ANOMALY_EVENT_COUNT: logged before
     * the packet, as far as the trace has it */
    uint64_t events;
    uint64_t begin, end; /* ticks: the loss happened in between */
    uint32_t event_id;
    bool is_either; /* the clocks may be the other way round */
};
struct packet {
    struct trace_packet header; /* in host byte order */
    uint64_t offset;            /* in the file */
    const uint8_t *bytes;
    uint64_t packet_bytes, content_bytes;
};

/* Grows to the largest packet seen. */
struct packet_buffer {
    uint8_t *bytes;
    size_t size;
    uint64_t expected; /* bytes of the last packet; 0: the header of the next one is read first */
};

bool trace_open(struct trace *trace, const char *directory, struct fail *fail);
void trace_close(struct trace *trace);
/* Returns the rank of a CPU's stream; stream_count: it has none. */
unsigned trace_find_cpu(const struct trace *trace, uint64_t cpu);

/* Exists while a pull writes the trace; the puller holds a lock on it. It remains if the pull ends early.
 * Hidden, so that CTF readers ignore it. */
#define TRACE_UNFINISHED_NAME ".unfinished"
/* Its content: why it is there, and from this offset on, in a fixed number of bytes, the state of the pull's
 * link to the guest: a letter, and when something came last (now_seconds). */
#define TRACE_MARK_TEXT       "The pull of this trace has not ended: losses after its last packets are unknown.\n"
#define TRACE_MARK_FORMAT     "link %c, heard at %019.6f\n"
#define TRACE_MARK_BYTES      37u
enum { TRACE_LINK_NONE = '-', TRACE_LINK_FOLLOWS = 'f', TRACE_LINK_BROKEN = 'b', TRACE_LINK_RESTARTED = 'r' };
struct trace_link {
    int state;    /* TRACE_LINK_...; NONE: the trace has no mark */
    bool is_held; /* the pull runs */
    double heard;
};
struct trace_link trace_find_link(const char *directory);
/* The recipe of a deterministic run (goto/recipe.h). Hidden for the same reason. */
#define TRACE_RECIPE_NAME      ".recipe.json"
#define TRACE_RECIPE_BYTES_MAX (64u << 10)
/* A stream without its oldest packets, until it replaces cpuN (source/head_cut.h). */
#define TRACE_NEW_STREAM_NAME  ".cpu.new"
/* Events that the guest had discarded before the trace, since boot: lines of CPU and count. Absent: none. */
#define TRACE_BEFORE_NAME      ".before"
/* The last packet of each stream, from a pull that ended in order: lines of CPU and packet number, after one
 * with a hash of the metadata (map.h). */
#define TRACE_END_NAME         ".end"
#define TRACE_END_METADATA     "metadata "
/* Why this part of a trace was saved: a line for each trigger (keep/saved.h). */
#define TRACE_SAVED_NAME       ".saved"
/* Whether the pull ended early, so that losses after the last packets are unknown. */
bool trace_is_unfinished(const struct trace *trace);

/* Ignores partial packets at the ends of files, for a trace that is still being written. */
void trace_cut_partial(struct trace *trace);
/* Returns the number of files that contain only a partial packet. */
unsigned trace_count_partial(const struct trace *trace);

/*
 * Checks the files for changes since trace_open or the last call.
 *
 *     - GROWN: whole packets were appended, and are included now. FROM is when the first of them begins
 *       (ticks), 0 if unknown.
 *     - CHANGED: files were added, removed, replaced or have shrunk. Open the trace again.
 *
 * No other thread may use the trace meanwhile.
 */
enum trace_news { TRACE_SAME, TRACE_GROWN, TRACE_CHANGED };
enum trace_news trace_refresh(struct trace *trace, uint64_t *from);

/* Reads and checks the header of the packet at OFFSET. */
enum anomaly stream_header(const struct trace *trace, const struct stream *stream, uint64_t offset,
                           struct trace_packet *header);
/* Reads the whole packet. It can be walked if this returns ANOMALY_NONE, or ANOMALY_CPU or later. */
enum anomaly stream_packet(const struct trace *trace, const struct stream *stream, uint64_t offset,
                           struct packet_buffer *buffer, struct packet *packet);
/* Returns the offset, at or after FROM, at which the next packet seems to start, or the end of the file. */
uint64_t stream_resync(const struct trace *trace, const struct stream *stream, uint64_t from);
/* Returns the offset of the last packet that begins before TIME (ticks), or of the first packet. */
uint64_t stream_seek(const struct trace *trace, const struct stream *stream, uint64_t time);

static inline bool stream_lacks_tail(const struct stream *stream)
{
    return stream->pulled_last != ~0ull && stream->last_packet < stream->pulled_last;
}

static inline bool anomaly_is_fatal(enum anomaly anomaly)
{
    return anomaly != ANOMALY_NONE && anomaly <= ANOMALY_OPEN;
}
