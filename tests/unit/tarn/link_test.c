/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * link_test.c - `tarn pull` from a guest that this program simulates, correct and malicious.
 *
 * Each case is a script of bytes that a thread sends over TCP to `tarn pull` in this process. Afterwards the
 * directory must contain whole, valid packets in order and nothing else. The last cases send thousands of
 * mutated conversations, half of them with corrected checksums, so that the damage reaches the code behind
 * the checksums. Built with sanitizers; prints TAP.
 */
#include "fake_hello.h"
#include <errno.h>
#include <fcntl.h>
#include <sanitizer/common_interface_defs.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <tests/tap.h>
#include <tests/unit/scratch.h>
#include <tests/unit/tarn/peer.h>
#include <tools/tarn/output.h>
#include <tools/tarn/read/read.h>
#include <tools/tarn/source/source.h>
#include <trace/format/format.h>
#include <unistd.h>

#define BUFFER_BYTES 4096u
#define CPUS         2u

static const uint8_t uuid[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
static const char metadata[] = "/* CTF 1.8 */ trace { uuid = \"01020304-0506-0708-090a-0b0c0d0e0f10\"; };\n";

/* ---- what the guest sends -------------------------------------------------------------------------- */

struct script {
    uint8_t bytes[1 << 20];
    size_t size;
    uint32_t frames;
    size_t frame_at[256];
};

static struct script scripts[2]; /* one per connection */
static unsigned calls;           /* connections so far */
static bool big_endian;

static void add_frame(struct script *script, uint16_t type, const void *payload, uint32_t size)
{
    script->frame_at[script->frames] = script->size;
    wire_put_frame(script->bytes + script->size, type, size, script->frames++, wire_hash(payload, size));
    if (size > 0)
        memcpy(script->bytes + script->size + WIRE_FRAME_BYTES, payload, size);
    script->size += WIRE_FRAME_BYTES + size;
}

static void add_hello(struct script *script)
{
    uint8_t payload[WIRE_HELLO_BYTES];
    const struct wire_hello hello = fake_hello("fake", big_endian, CPUS, BUFFER_BYTES, uuid);
    wire_put_hello(payload, &hello);
    add_frame(script, WIRE_HELLO, payload, sizeof(payload));
}

static void add_metadata(struct script *script)
{
    add_frame(script, WIRE_METADATA, metadata, sizeof(metadata) - 1);
}

static void add_end(struct script *script)
{
    uint8_t payload[WIRE_END_BYTES];
    wire_put32(payload, WIRE_ENDED_ASKED);
    wire_put32(payload + 4, 0);
    add_frame(script, WIRE_END, payload, sizeof(payload));
}

static uint32_t guest32(uint32_t value)
{
    return big_endian ? __builtin_bswap32(value) : value;
}
static uint64_t guest64(uint64_t value)
{
    return big_endian ? __builtin_bswap64(value) : value;
}

/* Adds a packet of EVENTS events of two words, as on the wire: content and the filler's header. */
static void add_packet(struct script *script, uint32_t cpu, uint64_t number, uint32_t events)
{
    uint8_t payload[WIRE_PACKET_BYTES + BUFFER_BYTES] = {0};
    uint32_t content = sizeof(struct trace_packet) + events * 16;
    struct trace_packet packet = {.magic = guest32(TRACE_CTF_MAGIC),
                                  .timestamp_begin = guest64(number * 1000),
                                  .timestamp_end = guest64(number * 1000 + 999),
                                  .content_size = guest64(content * 8),
                                  .packet_size = guest64(BUFFER_BYTES * 8),
                                  .packet_seq_num = guest64(number),
                                  .committed = guest64(BUFFER_BYTES / 8),
                                  .cpu_id = guest32(cpu)};
    memcpy(packet.uuid, uuid, 16);
    wire_put32(payload, cpu);
    wire_put64(payload + 8, number);
    memcpy(payload + WIRE_PACKET_BYTES, &packet, sizeof(packet));
    for (uint32_t at = sizeof(packet); at < content; at += 16) {
        uint32_t id = TRACE_ID(3, 4), head = guest32(big_endian ? id << 10 | 2 : 2u << 22 | id);
        memcpy(payload + WIRE_PACKET_BYTES + at, &head, 4);
    }
    add_frame(script, WIRE_PACKET, payload, WIRE_PACKET_BYTES + content + (content < BUFFER_BYTES ? 8 : 0));
}

#define WHOLE "hello metadata 0:5x250 1:5x7 0:6x250 1:6x7 0:7x250 1:7x7 0:8x250 1:8x7 end"

/* TEXT: words for frames, a packet as CPU:NUMBERxEVENTS. */
static void write_script(struct script *script, const char *text)
{
    char words[200], *rest = NULL;

    snprintf(words, sizeof(words), "%s", text);
    memset(script, 0, sizeof(*script));
    for (char *word = strtok_r(words, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
        unsigned cpu, number, events;

        if (strcmp(word, "hello") == 0)
            add_hello(script);
        else if (strcmp(word, "metadata") == 0)
            add_metadata(script);
        else if (strcmp(word, "strange_metadata") == 0)
            add_frame(script, WIRE_METADATA, "/* CTF 1.8 */ no uuid", 21);
        else if (strcmp(word, "end") == 0)
            add_end(script);
        else if (sscanf(word, "%u:%ux%u", &cpu, &number, &events) == 3)
            add_packet(script, cpu, number, events);
    }
}

/* Corrects the checksums of a frame. */
static void seal_frame(struct script *script, uint32_t frame, uint16_t type)
{
    uint8_t *head = script->bytes + script->frame_at[frame];
    const uint32_t length = wire_get32(head + 8);

    wire_put_frame(head, type, length, frame, wire_hash(head + WIRE_FRAME_BYTES, length));
}

/* How a conversation is damaged. */
enum damage {
    NONE,
    FLIP,         /* a bit of a byte at `at` of `frame` */
    STRANGE_UUID, /* in a packet; the checksums are right again */
    FIELD,        /* of the payload, at `at`, becomes `value`; the checksums are right again */
    CUT,          /* it ends at `at` of `frame` */
    HUGE_FRAME,   /* 4 GiB */
    MISSING,      /* the frame */
    TWICE,        /* the frame */
    WEB_SERVER,   /* something else speaks */
    REST_FIRST,   /* the rest of another conversation comes first, from `at` of `frame` on */
};

struct change {
    enum damage damage;
    uint32_t frame;
    size_t at;
    uint32_t value;
};

static void apply(struct script *script, const struct change *change)
{
    static const char web[] = "HTTP/1.0 400 Bad Request\r\n\r\nno such thing\r\n";
    const size_t start = script->frame_at[change->frame], size = script->frame_at[change->frame + 1] - start;
    uint8_t *frame = script->bytes + start;
    const uint16_t type = (uint16_t)(wire_get32(frame + 4) >> 16);

    switch (change->damage) {
    case NONE:
        break;
    case FLIP:
        frame[change->at] ^= 0x10;
        break;
    case STRANGE_UUID:
        frame[WIRE_FRAME_BYTES + WIRE_PACKET_BYTES + offsetof(struct trace_packet, uuid)] ^= 1;
        seal_frame(script, change->frame, type);
        break;
    case FIELD:
        wire_put32(frame + WIRE_FRAME_BYTES + change->at, change->value);
        seal_frame(script, change->frame, type);
        break;
    case CUT:
        script->size = start + change->at;
        break;
    case HUGE_FRAME:
        wire_put_frame(frame, WIRE_PACKET, 0xfffffff0u, change->frame, 0);
        break;
    case MISSING:
        memmove(frame, frame + size, script->size - start - size);
        script->size -= size;
        break;
    case TWICE:
        memmove(frame + size, frame, script->size - start);
        script->size += size;
        break;
    case WEB_SERVER:
        memcpy(script->bytes, web, sizeof(web) - 1);
        script->size = sizeof(web) - 1;
        break;
    case REST_FIRST:
        memmove(script->bytes + 3000, script->bytes, script->size);
        memcpy(script->bytes, frame + 3000 + change->at, 3000);
        script->size += 3000;
    }
}

static int count_packets(uint32_t cpu, uint64_t *first);

/* ---- the output ------------------------------------------------------------------------------------ */

static char output[128]; /* the directory */

static void remove_output(void)
{
    remove_tree(output);
}

/* -1: something in the file is wrong. */
static int count_packets(uint32_t cpu, uint64_t *first)
{
    static uint8_t bytes[64 * BUFFER_BYTES];
    char path[128];
    uint64_t last = 0;

    snprintf(path, sizeof(path), "%s/out/cpu%u", scratch, cpu);
    int fd = open(path, O_RDONLY);
    if (fd < 0)
        return 0;
    ssize_t size = read(fd, bytes, sizeof(bytes));
    close(fd);
    if (size < 0 || size % BUFFER_BYTES != 0)
        return -1;
    for (ssize_t at = 0; at < size; at += BUFFER_BYTES) {
        struct trace_packet packet;
        memcpy(&packet, bytes + at, sizeof(packet));
        uint64_t number = guest64(packet.packet_seq_num), content = guest64(packet.content_size) / 8;
        if (guest32(packet.magic) != TRACE_CTF_MAGIC || memcmp(packet.uuid, uuid, 16) != 0 ||
            guest32(packet.cpu_id) != cpu || guest64(packet.packet_size) != BUFFER_BYTES * 8 ||
            content > BUFFER_BYTES || (at > 0 && number <= last))
            return -1;
        if (at == 0 && first)
            *first = number;
        last = number;
    }
    return (int)(size / BUFFER_BYTES);
}

static char *output_path(const char *name, char path[160])
{
    snprintf(path, 160, "%s%s", output, name);
    return path;
}

static bool is_marked(void)
{
    char path[160];

    return access(output_path("/" TRACE_UNFINISHED_NAME, path), F_OK) == 0;
}

/* What others may do to the trace during a pull. */
static void rename_output(void)
{
    char path[160], other[160];
    rename(output_path("", path), output_path(".other", other));
}

static void remove_stream(void)
{
    char path[160];
    unlink(output_path("/cpu1", path));
}

static void replace_stream(void)
{
    char path[160];
    remove_stream();
    close(open(output_path("/cpu1", path), O_WRONLY | O_CREAT, 0666));
}

static void cut_stream(void)
{
    char path[160];
    if (truncate(output_path("/cpu1", path), BUFFER_BYTES) != 0)
        bail_out("a stream cannot be cut"); /* no check: what this process prints is hidden now */
}

static void remove_metadata(void)
{
    char path[160];
    unlink(output_path("/metadata", path));
}

static void remove_other_output(void)
{
    char path[160], other[160];
    rename(output_path(".other", other), output_path("", path));
    remove_output();
}

/* ---- conversations --------------------------------------------------------------------------------- */

struct conversation {
    const char *what, *script;
    int status, packets[CPUS]; /* what `tarn pull` returns, and what is in the files then */
    bool marked;               /* the trace is marked as unfinished */
    struct change change;
    bool big_endian, over_serial, keep_open; /* keep_open: the connection, after the last byte */
    size_t piece;                            /* it is sent in pieces of this size; 0: at once */
    void (*harm)(void); /* called before the last frame, when all earlier packets are in their files */
    const char *second; /* the script of another connection, after the first one broke; or NULL */
    struct change second_change;
    uint64_t want[CPUS]; /* where the second one must be asked to resume, if not 0 */
};

static const struct conversation conversations[] = {
    {"a whole pull, little-endian", WHOLE, 0, {4, 4}, .piece = 0},
    {"a whole pull, big-endian", WHOLE, 0, {4, 4}, .big_endian = true},
    {"the same in pieces of seven bytes", WHOLE, 0, {4, 4}, .piece = 7},
    /* not shown as whole: */
    {"the output directory is removed", WHOLE, 1, {0, 0}, .harm = remove_output},
    {"the output directory is renamed", WHOLE, 1, {0, 0}, .harm = rename_output},
    {"a stream is removed", WHOLE, 1, {4, 0}, .harm = remove_stream, .marked = true},
    {"a stream is replaced", WHOLE, 1, {4, 0}, .harm = replace_stream, .marked = true},
    {"a stream is shortened", WHOLE, 1, {4, 1}, .harm = cut_stream, .marked = true},
    {"the metadata are removed", WHOLE, 1, {4, 4}, .harm = remove_metadata, .marked = true},
    {"a wrong magic", WHOLE, 1, {1, 1}, .change = {FLIP, 4, 1, 0}, .marked = true},
    {"a wrong header checksum", WHOLE, 1, {1, 1}, .change = {FLIP, 4, 9, 0}, .marked = true},
    {"a wrong payload checksum", WHOLE, .status = 1, .packets = {1, 1},
     .change = {FLIP, 4, WIRE_FRAME_BYTES + 100, 0}, .marked = true},
    {"the link breaks in a packet", WHOLE, 1, {1, 1}, .change = {CUT, 4, 1000, 0}, .marked = true},
    {"the link breaks before END", WHOLE, 1, {4, 4}, .change = {CUT, 10, 0, 0}, .marked = true},
    {"a frame of 4 GiB", WHOLE, 1, {1, 1}, .change = {HUGE_FRAME, 4, 0, 0}, .marked = true},
    {"a frame is missing", WHOLE, 1, {1, 1}, .change = {MISSING, 4, 0, 0}, .marked = true},
    {"a frame comes twice", WHOLE, 1, {2, 1}, .change = {TWICE, 4, 0, 0}, .marked = true},
    /* refused, and reported as losses: */
    {"packets again or too late", "hello metadata 0:5x9 0:5x9 0:4x9 end", 1, {1, 0}, .piece = 0},
    {"packets are missing", "hello metadata 0:5x9 0:8x9 end", 1, {2, 0}, .piece = 0},
    {"a processor that does not exist", "hello metadata 2:5x9 end", 1, {0, 0}, .piece = 0},
    {"a packet before the metadata", "hello 0:5x9 metadata end", 1, {0, 0}, .piece = 0},
    {"metadata of something else", "hello strange_metadata end", 1, {0, 0}, .piece = 0},
    {"a packet of another schema", "hello metadata 0:5x9 0:6x0 end", .status = 1, .packets = {1, 0},
     .change = {STRANGE_UUID, 3, 0, 0}},
    /* nothing is pulled: */
    {"HELLO of another version", WHOLE, 2, {0, 0}, .change = {FIELD, 0, 0, 99}},
    {"HELLO with a strange byte order", WHOLE, 2, {0, 0}, .change = {FIELD, 0, 4, 7}},
    {"HELLO with 2^32 processors", WHOLE, 2, {0, 0}, .change = {FIELD, 0, 8, ~0u}},
    {"HELLO without processors", WHOLE, 2, {0, 0}, .change = {FIELD, 0, 8, 0}},
    {"HELLO with huge buffers", WHOLE, 2, {0, 0}, .change = {FIELD, 0, 16, ~0u}},
    {"HELLO with odd buffers", WHOLE, 2, {0, 0}, .change = {FIELD, 0, 20, 12345}},
    {"a web server", "hello end", 2, {0, 0}, .change = {WEB_SERVER, 0, 0, 0}},
    {"a silent peer", "", 2, {0, 0}, .keep_open = true},
    /* The first link breaks behind packets 5 and 6 of CPU 0, and 5 of CPU 1. */
    {"a broken link is resumed where it broke", WHOLE, .status = 0, .packets = {3, 3},
     .change = {CUT, 5, 100, 0}, .second = "hello metadata 1:6x9 0:7x9 1:7x9 end", .want = {7, 6}},
    {"a guest that was started again is not mixed in", WHOLE, .status = 1, .packets = {2, 1},
     .change = {CUT, 5, 100, 0}, .second = WHOLE, .second_change = {FIELD, 0, 56, 43}, .marked = true},
    /* A port may first give the rest of an earlier conversation; a network link may not. */
    {"tcp: what does not begin with HELLO is refused", WHOLE, 2, {0, 0}, .change = {REST_FIRST, 2, 50, 0}},
    {"serial: the rest of an earlier conversation is dropped", WHOLE, .status = 0, .packets = {4, 4},
     .change = {REST_FIRST, 2, 50, 0}, .over_serial = true, .piece = 13},
    {"serial: the same in larger pieces", WHOLE, .status = 0, .packets = {4, 4},
     .change = {REST_FIRST, 2, 50, 0}, .over_serial = true, .piece = 39},
};

static struct conversation current;
static bool is_resumed; /* the second connection began with the right request */

/* Reads the host's requests up to a PULL, to check the resume positions. */
static void check_request(int fd)
{
    uint8_t bytes[WIRE_FRAME_BYTES + WIRE_PULL_BYTES + 8 * CPUS];

    if (!peer_get(fd, bytes, sizeof(bytes)))
        return;
    is_resumed = (wire_get32(bytes + WIRE_FRAME_BYTES) & WIRE_PULL_RESUME) != 0;
    for (uint32_t cpu = 0; cpu < CPUS; cpu++)
        is_resumed &= wire_get64(bytes + WIRE_FRAME_BYTES + WIRE_PULL_BYTES + 8 * cpu) == current.want[cpu];
}

static void harm_output(const struct script *script)
{
    while (count_packets(0, NULL) + count_packets(1, NULL) < (int)script->frames - 3)
        usleep(1000);
    current.harm();
}

static bool put_in_pieces(int fd, const uint8_t *bytes, size_t size)
{
    const size_t piece = current.piece != 0 ? current.piece : size;

    for (size_t at = 0; at < size; at += piece)
        if (!peer_put(fd, bytes + at, size - at < piece ? size - at : piece))
            return false;
    return true;
}

static void speak(int fd)
{
    const unsigned call = calls++;
    const struct script *script = &scripts[call % 2];
    size_t first = 0; /* sent before something else happens */

    if (call == 1 && current.want[0] != 0)
        first = script->frame_at[1];
    else if (current.harm)
        first = script->frame_at[script->frames - 1];
    if (call < 2 && put_in_pieces(fd, script->bytes, first)) {
        if (current.harm)
            harm_output(script);
        else if (first != 0)
            check_request(fd);
        put_in_pieces(fd, script->bytes + first, script->size - first);
    }
    if (!current.keep_open)
        shutdown(fd, SHUT_WR);
    /* Waits until the host closes: a reset would discard what it has not read yet. */
    for (char drop[256]; recv(fd, drop, sizeof(drop), 0) > 0;)
        ;
}

/* Calls `tarn pull` with the scripts; returns its exit status. */
static int pull_from_scripts(const char *more)
{
    struct peer peer = {.talk = speak};
    char path[128];

    snprintf(path, sizeof(path), "%s/port", scratch);
    calls = 0;
    is_resumed = false;
    peer_start(&peer, current.over_serial ? "serial" : "tcp", path);
    const char *words[] = {"pull", peer.source, "-q", "-o", output, "--resume", current.second ? "5" : "0",
                           more,   NULL};
    const int status = run_quietly(words, NULL, 0);
    peer_stop(&peer);
    return status;
}

static int pull_good(const char *more)
{
    current = (struct conversation){0};
    big_endian = false;
    write_script(&scripts[0], WHOLE);
    return pull_from_scripts(more);
}

static void test_conversation(const struct conversation *conversation)
{
    current = *conversation;
    big_endian = current.big_endian;
    write_script(&scripts[0], current.script);
    apply(&scripts[0], &current.change);
    write_script(&scripts[1], current.second != NULL ? current.second : "");
    apply(&scripts[1], &current.second_change);
    remove_output();
    const int status = pull_from_scripts(NULL), first = count_packets(0, NULL),
              second = count_packets(1, NULL);
    const bool ok = status == current.status && first == current.packets[0] && second == current.packets[1] &&
                    (current.want[0] == 0 || is_resumed) && (status == 2 || is_marked() == current.marked);
    check(ok, "%s", current.what);
    if (!ok)
        printf("# status %d, packets %d and %d, %s; expected %d, %d and %d\n", status, first, second,
               is_marked() ? "unfinished" : "finished", current.status, current.packets[0],
               current.packets[1]);
    if (current.harm == rename_output)
        remove_other_output();
}

/* ---- files ----- */

/* What every subcommand expects of its output file. */
static void test_output(void)
{
    char path[160], other[160];
    output_path(".file", path);
    output_path(".other", other);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    check(output_write(fd, "four", 4) && output_close(fd, path), "a file that is written and there");
    fd = open(path, O_WRONLY);
    rename(path, other);
    check(!output_close(fd, path) && errno == ENOENT, "a file that is gone");
    fd = open(other, O_WRONLY);
    close(open(path, O_WRONLY | O_CREAT, 0666));
    rename(path, other);
    check(!output_close(fd, other) && errno == ESTALE, "a file that was replaced");
    unlink(other);
    fd = open("/dev/full", O_WRONLY);
    check(!output_write(fd, "four", 4) && errno == ENOSPC, "a full disk");
    close(fd);
}

static void test_directory(void)
{
    remove_output();
    check(pull_good(NULL) == 0 && pull_good(NULL) == 2 && count_packets(0, NULL) == 4,
          "a trace is not overwritten without --force");
    uint64_t first = 0;
    write_script(&scripts[0], "hello metadata 0:77x1 end");
    check(pull_from_scripts("--force") == 0 && count_packets(0, &first) == 1 && first == 77 &&
              count_packets(1, NULL) == 0,
          "--force replaces it");
}

static void make_file(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT, 0666);
    if (fd < 0 || write(fd, "mine", 4) != 4) {
        printf("Bail out! cannot write %s: %s\n", path, strerror(errno));
        exit(1);
    }
    close(fd);
}

/* A directory that is unsuitable for a trace is left unchanged, and nothing is pulled. */
static void test_bad_directory(void)
{
    char foreign[160];
    struct stat found;

    snprintf(foreign, sizeof(foreign), "%s/notes", output);
    remove_output();
    mkdir(output, 0777);
    check(pull_good(NULL) == 0 && count_packets(0, NULL) == 4, "an empty directory is taken");
    make_file(foreign);
    check(pull_good("--force") == 2 && stat(foreign, &found) == 0 && found.st_size == 4 &&
              count_packets(0, NULL) == 4,
          "--force leaves a directory with other files alone");
    unlink(foreign);
    remove_output();
    make_file(output);
    check(pull_good("--force") == 2 && stat(output, &found) == 0 && found.st_size == 4,
          "a file is no directory");
    unlink(output);
    symlink("missing/deeper", output);
    check(pull_good(NULL) == 2, "a directory that cannot be made");
    unlink(output);
}

/* Files are limited to two and a half packets: what was written before remains valid. */
static void test_full_disk(void)
{
    struct rlimit old, small;

    getrlimit(RLIMIT_FSIZE, &old);
    small = (struct rlimit){5 * BUFFER_BYTES / 2, old.rlim_max};
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small);
    remove_output();
    int status = pull_good(NULL), packets = count_packets(0, NULL);
    setrlimit(RLIMIT_FSIZE, &old);
    signal(SIGXFSZ, handler);
    check(status == 1 && packets == 2, "a disk that is full ends the pull behind a whole packet");
}

/* Random damage; with MEND, every frame that is still in place gets correct checksums. */
static void test_mutations(unsigned count, bool mend)
{
    static struct script good;
    unsigned bad = 0;

    write_script(&good, WHOLE);
    current = (struct conversation){0};
    for (unsigned round = 0; round < count; round++) {
        struct script *script = &scripts[0];
        memcpy(script, &good, sizeof(good));
        for (int hits = 1 + rand() % 4; hits > 0; hits--) {
            uint32_t frame = (uint32_t)rand() % script->frames;
            size_t start = script->frame_at[frame];
            uint32_t length = wire_get32(good.bytes + start + 8);
            size_t reach = rand() % 2 ? length : 200; /* half of the damage is in or near the header */
            size_t at = start + (size_t)rand() % (WIRE_FRAME_BYTES + (reach < length ? reach : length));
            script->bytes[at] = rand() % 3 ? (uint8_t)rand() : script->bytes[at] ^ (uint8_t)(1 << rand() % 8);
            if (mend)
                wire_put_frame(script->bytes + start,
                               (uint16_t)(rand() % 16 ? wire_get32(good.bytes + start + 4) >> 16
                                                      : (uint32_t)rand() % 20),
                               length, frame, wire_hash(script->bytes + start + WIRE_FRAME_BYTES, length));
        }
        if (rand() % 8 == 0)
            script->size = (size_t)rand() % script->size;
        remove_output();
        int status = pull_from_scripts(NULL);
        bad += status < 0 || status > 2 || count_packets(0, NULL) < 0 || count_packets(1, NULL) < 0;
    }
    check(bad == 0, "%s", mend ? "mutated conversations with right checksums" : "mutated conversations");
}

/* Against libxxhash 0.8.1, for the bytes i * 7 + 3. */
static void test_hash(void)
{
    static const struct {
        size_t size;
        uint32_t hash;
    } cases[] = {{0, 0x51d8e999},  {1, 0xbc1f4bb6},  {3, 0x52e564c9},  {4, 0x66ee9fda},  {7, 0x59ce60d8},
                 {8, 0xc6f90092},  {15, 0x43cc8e32}, {31, 0xcc4a6119}, {32, 0xf790fd97}, {33, 0xba588784},
                 {63, 0x31c7493c}, {64, 0xf6eeb01f}, {101, 0x033bda4c}};
    uint8_t bytes[101];
    bool ok = true;

    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (uint8_t)(i * 7 + 3);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        ok &= wire_hash(bytes, cases[i].size) == cases[i].hash;
    check(ok, "XXH64 of every kind of length");
}

int main(void)
{
    __sanitizer_set_report_fd((void *)(intptr_t)dup(2)); /* not among what the host tool says */
    make_scratch();
    snprintf(output, sizeof(output), "%s/out", scratch);
    srand(1);
    check(wire_crc("123456789", 9) == 0xe3069283u, "CRC-32C of 123456789");
    test_hash();
    for (size_t i = 0; i < sizeof(conversations) / sizeof(conversations[0]); i++)
        test_conversation(&conversations[i]);
    test_output();
    test_directory();
    test_bad_directory();
    test_full_disk();
    test_mutations(1000, false);
    test_mutations(1000, true);
    return finish_tests();
}
