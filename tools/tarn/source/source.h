/*
 * source.h - where trace packets come from: one interface for all ways to a guest.
 *
 * A source is named SCHEME:ADDRESS. tcp:HOST:PORT is a network link, serial:PATH one over a virtual serial
 * port; core:FILE, gdb:ADDRESS and ram:FILE read guest memory from outside (guest_source.c). Each is a
 * source_class, listed in source.c. Links check frames and checksums, but contents are untrusted:
 * pull_writer.c validates each packet.
 */
#pragma once

#include <tools/tarn/tarn.h>
#include <trace/format/wire.h>

enum source_kind { SOURCE_METADATA, SOURCE_PACKET, SOURCE_STATUS, SOURCE_END, SOURCE_REPLY };

/* `bytes` are valid until the next call. */
struct source_item {
    enum source_kind kind;
    /* metadata text, or a trace packet up to the end of its content and the filler's header */
    const uint8_t *bytes;
    size_t size;
    struct wire_packet packet;
    struct wire_end end;
    struct wire_reply reply; /* to a request that was sent during the pull */
    struct wire_status status;
    struct wire_cpu_status cpu[WIRE_CPUS_MAX]; /* status.count entries */
};

enum source_got { SOURCE_BROKEN = -1, SOURCE_NOTHING = 0, SOURCE_ITEM = 1 };

struct source {
    const struct source_class *class;
    struct wire_hello hello; /* checked when the source was opened */
    bool is_previous;        /* source_choose_previous() has chosen the system before */
};

/* STATUS is the guest's: 0 or a negative error. DATA is valid until the next call. */
struct source_reply {
    int32_t status;
    const uint8_t *data;
    size_t size;
};

struct source_class {
    const char *scheme;
    /* NULL: FAIL. UNTIL: it may wait for the guest. IS_WRONG is set if the address cannot become right. */
    struct source *(*open)(const struct source_class *class, const char *address, double until,
                           bool *is_wrong, struct fail *fail);
    const struct memory_class *memory; /* of sources that read guest memory */
    const struct link_class *link;     /* of links */
    /* WANT has hello.cpu_count entries, or is NULL. */
    bool (*begin_pull)(struct source *source, uint32_t flags, uint32_t mode, const uint64_t *want,
                       struct fail *fail);
    bool (*end_pull)(struct source *source, struct fail *fail);
    enum source_got (*next)(struct source *source, struct source_item *item, int timeout_ms,
                            struct fail *fail);
    /* Sends REQUEST during a pull; the reply comes as an item. NULL: the source takes no requests. */
    bool (*request)(struct source *source, const struct wire_request *request, struct fail *fail);
    /* Not during a pull. False: FAIL. */
    bool (*control)(struct source *source, const struct wire_request *request, struct source_reply *reply,
                    struct fail *fail);
    void (*close)(struct source *source);
};

extern const struct source_class source_tcp, source_serial, source_core, source_gdb, source_ram;

/* Sends REQUEST. False: FAIL, which begins with the text WHAT if the guest refused. */
bool source_control(struct source *source, const struct wire_request *request, const char *what,
                    struct source_reply *reply, struct fail *fail);
/* Sends a command of trace/print/commands.h. Returns what it prints, to be freed; NULL: FAIL. */
char *source_command(struct source *source, int count, char *const *words, struct fail *fail);
/* Chooses the trace and tables of the previous boot: hello is theirs from now on. PREVIOUS says how it ended.
 */
bool source_choose_previous(struct source *source, struct wire_previous *previous, struct fail *fail);
/* Retries for WAIT_SECONDS. NULL: FAIL. */
struct source *open_source(const char *name, double wait_seconds, struct fail *fail);
/* Whether the guest's packets are in this machine's byte order. */
static inline bool hello_is_native(const struct wire_hello *hello)
{
    return hello->byte_order == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? 1u : 2u);
}
bool check_hello(const struct wire_hello *hello, struct fail *fail);
/* The text must be CTF 1.8 and have the UUID of the packets. */
bool check_metadata(const struct wire_hello *hello, const void *text, size_t size, struct fail *fail);
/* Whether NAME is a source (tcp:..., serial:..., ...) rather than a directory. */
bool is_source(const char *name);
double now_seconds(void); /* monotonic */

/* TEXT: trace/print/words.h. */
bool parse_mode(const char *text, uint32_t *mode, struct fail *fail);
