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
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sanitizer/common_interface_defs.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <tests/tap.h>
#include <tests/unit/scratch.h>
#include <tools/tarn/command/commands.h>
#include <tools/tarn/output.h>
#include <tools/tarn/read/read.h>
#include <tools/tarn/source/source.h>
#include <trace/format/format.h>
#include <unistd.h>

#define BUFFER_BYTES 4096u
#define CPUS         2u
#define CALLS_MAX    3

static const uint8_t uuid[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
static const char metadata[] = "/* CTF 1.8 */ trace { uuid = \"01020304-0506-0708-090a-0b0c0d0e0f10\"; };\n";

/* ---- what the guest sends -------------------------------------------------------------------------- */

struct script {
    uint8_t bytes[1 << 20];
    size_t size;
    uint32_t frames;
    size_t frame_at[256];
    size_t piece;       /* send in pieces of this size; 0: at once */
    bool keep_open;     /* do not close after the last byte */
    void (*harm)(void); /* called before the last frame, when all earlier packets are in their files */
    bool wants_resume;  /* the request of this connection must be a resume at these positions */
    uint64_t want[CPUS];
};

static struct script scripts[CALLS_MAX]; /* one per connection */
static bool big_endian, over_serial;
static unsigned resumes_seen;

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

static void add_good_pull(struct script *script)
{
    add_hello(script);
    add_metadata(script);
    for (uint64_t number = 5; number < 9; number++)
        for (uint32_t cpu = 0; cpu < CPUS; cpu++)
            add_packet(script, cpu, number, cpu ? 7 : 250);
    add_end(script);
}

static int count_packets(uint32_t cpu, uint64_t *first);

/* ---- the guest ------------------------------------------------------------------------------------- */

/* Reads the host's requests up to a PULL, to check the resume positions. */
static void check_request(int fd, const struct script *script)
{
    uint8_t bytes[WIRE_FRAME_BYTES + WIRE_PULL_BYTES + 8 * CPUS];
    size_t got = 0;

    while (got < sizeof(bytes)) {
        ssize_t more = recv(fd, bytes + got, sizeof(bytes) - got, 0);
        if (more <= 0)
            return;
        got += (size_t)more;
    }
    bool right = (wire_get32(bytes + WIRE_FRAME_BYTES) & WIRE_PULL_RESUME) != 0;
    for (uint32_t cpu = 0; cpu < CPUS; cpu++)
        right &= wire_get64(bytes + WIRE_FRAME_BYTES + WIRE_PULL_BYTES + 8 * cpu) == script->want[cpu];
    resumes_seen += right;
}

static void harm_output(const struct script *script)
{
    while (count_packets(0, NULL) + count_packets(1, NULL) < (int)script->frames - 3)
        usleep(1000);
    script->harm();
}

static void speak(int fd, const struct script *script)
{
    for (size_t at = 0; at < script->size;) {
        size_t size = script->size - at;
        if (script->piece && size > script->piece)
            size = script->piece;
        if (script->wants_resume && at == 0)
            size = script->frame_at[1];
        if (script->harm && at == 0)
            size = script->frame_at[script->frames - 1];
        else if (script->harm)
            harm_output(script);
        ssize_t sent = send(fd, script->bytes + at, size, MSG_NOSIGNAL);
        if (sent <= 0)
            break;
        at += (size_t)sent;
        if (script->wants_resume && at == script->frame_at[1])
            check_request(fd, script);
    }
    if (!script->keep_open)
        shutdown(fd, SHUT_WR);
    /* Waits until the host closes: a reset would discard what it has not read yet. */
    for (char drop[256]; recv(fd, drop, sizeof(drop), 0) > 0;)
        ;
    close(fd);
}

static void *run_guest(void *argument)
{
    int listener = *(int *)argument;

    for (int call = 0; call < CALLS_MAX; call++) {
        int fd = accept(listener, NULL, NULL);
        if (fd < 0)
            break;
        speak(fd, &scripts[call]);
    }
    return NULL;
}

/* ---- one case -------------------------------------------------------------------------------------- */

static void remove_output(void)
{
    char path[128];

    snprintf(path, sizeof(path), "%s/out", scratch);
    remove_tree(path);
}

static void listen_at(int listener, struct sockaddr *address, socklen_t length)
{
    if (listener < 0 || bind(listener, address, length) != 0 || listen(listener, 4) != 0 ||
        getsockname(listener, address, &length) != 0) {
        printf("Bail out! no listening socket: %s\n", strerror(errno));
        exit(1);
    }
}

/* Returns a listening socket and the name of the source that leads to it. */
static int open_listener(char *name, size_t size)
{
    struct sockaddr_in internet = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr_un local = {.sun_family = AF_UNIX};
    int listener = socket(over_serial ? AF_UNIX : AF_INET, SOCK_STREAM, 0);

    if (over_serial) {
        snprintf(local.sun_path, sizeof(local.sun_path), "%s/port", scratch);
        listen_at(listener, (struct sockaddr *)&local, sizeof(local));
        snprintf(name, size, "serial:%s", local.sun_path);
    } else {
        listen_at(listener, (struct sockaddr *)&internet, sizeof(internet));
        snprintf(name, size, "tcp:127.0.0.1:%u", ntohs(internet.sin_port));
    }
    return listener;
}

/* Calls `tarn pull` with the scripts; returns its exit status. */
static int pull_from_scripts(const char *resume, const char *more)
{
    pthread_t guest;
    char name[160], output[128];
    int listener = open_listener(name, sizeof(name));

    pthread_create(&guest, NULL, run_guest, &listener);
    snprintf(output, sizeof(output), "%s/out", scratch);
    char *words[] = {"pull", name, "-q", "-o", output, "--resume", (char *)resume, (char *)more, NULL};
    int status = command_run(more ? 8 : 7, words);
    shutdown(listener, SHUT_RDWR);
    pthread_join(guest, NULL);
    close(listener);
    if (over_serial)
        unlink(name + strlen("serial:"));
    return status;
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

static bool is_marked(void)
{
    char path[128];

    snprintf(path, sizeof(path), "%s/out/%s", scratch, TRACE_UNFINISHED_NAME);
    return access(path, F_OK) == 0;
}

/* Runs a case, and expects the exit status and number of packets per CPU (-1: any). */
static void expect(const char *what, const char *resume, int status, int packets0, int packets1)
{
    remove_output();
    int got = pull_from_scripts(resume, NULL), got0 = count_packets(0, NULL), got1 = count_packets(1, NULL);
    bool ok = got == status && got0 >= 0 && got1 >= 0 && (packets0 < 0 || got0 == packets0) &&
              (packets1 < 0 || got1 == packets1);
    check(ok, "%s", what);
    if (!ok)
        printf("# status %d, packets %d and %d; expected %d, %d and %d\n", got, got0, got1, status, packets0,
               packets1);
    memset(scripts, 0, sizeof(scripts));
}

/* ---- the cases ------------------------------------------------------------------------------------- */

static void test_honest(void)
{
    big_endian = false;
    add_good_pull(&scripts[0]);
    expect("a whole pull, little-endian", "0", 0, 4, 4);
    big_endian = true;
    add_good_pull(&scripts[0]);
    expect("a whole pull, big-endian", "0", 0, 4, 4);
    check(!is_marked(), "a complete pull is marked as finished");
    big_endian = false;
    add_good_pull(&scripts[0]);
    scripts[0].piece = 7;
    expect("the same in pieces of seven bytes", "0", 0, 4, 4);
}

/* What others may do to the trace during a pull. */
static char *output_path(const char *name, char path[128])
{
    snprintf(path, 128, "%s/out%s", scratch, name);
    return path;
}

static void rename_output(void)
{
    char path[128], other[128];
    rename(output_path("", path), output_path(".other", other));
}

static void remove_stream(void)
{
    char path[128];
    unlink(output_path("/cpu1", path));
}

static void replace_stream(void)
{
    char path[128];
    remove_stream();
    close(open(output_path("/cpu1", path), O_WRONLY | O_CREAT, 0666));
}

static void cut_stream(void)
{
    char path[128];
    check(truncate(output_path("/cpu1", path), BUFFER_BYTES) == 0, "a stream is cut");
}

static void remove_metadata(void)
{
    char path[128];
    unlink(output_path("/metadata", path));
}

static void remove_other_output(void)
{
    char path[128], other[128];
    rename(output_path(".other", other), output_path("", path));
    remove_output();
}

static void test_harm(void)
{
    static const struct {
        const char *what;
        void (*harm)(void);
        int packets0, packets1;
    } cases[] = {
        {"the output directory is removed: not shown as whole", remove_output, 0, 0},
        {"the output directory is renamed: not shown as whole", rename_output, 0, 0},
        {"a stream is removed: not shown as whole", remove_stream, 4, 0},
        {"a stream is replaced: not shown as whole", replace_stream, 4, 0},
        {"a stream is shortened: not shown as whole", cut_stream, 4, 1},
        {"the metadata are removed: not shown as whole", remove_metadata, 4, 4},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        add_good_pull(&scripts[0]);
        scripts[0].harm = cases[i].harm;
        expect(cases[i].what, "0", 1, cases[i].packets0, cases[i].packets1);
        if (cases[i].harm == rename_output)
            remove_other_output();
    }
}

/* What every subcommand expects of its output file. */
static void test_output(void)
{
    char path[128], other[128];
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

static void test_broken_frames(void)
{
    struct script *script = &scripts[0];

    for (int where = 0; where < 3; where++) {
        static const char *const names[] = {"a wrong magic", "a wrong header checksum",
                                            "a wrong payload checksum"};
        static const size_t offsets[] = {1, 9, WIRE_FRAME_BYTES + 100};
        add_good_pull(script);
        script->bytes[script->frame_at[4] + offsets[where]] ^= 0x10;
        expect(names[where], "0", 1, 1, 1);
    }
    add_good_pull(script);
    script->size = script->frame_at[4] + 1000;
    expect("the link breaks in the middle of a packet", "0", 1, 1, 1);

    add_good_pull(script);
    script->size -= WIRE_FRAME_BYTES + WIRE_END_BYTES;
    expect("the link breaks before END: not shown as whole", "0", 1, 4, 4);
    check(is_marked(), "a broken pull is marked as unfinished");

    add_good_pull(script);
    uint8_t *frame = script->bytes + script->frame_at[4];
    wire_put_frame(frame, WIRE_PACKET, 0xfffffff0u, 4, 0);
    expect("a frame of 4 GiB", "0", 1, 1, 1);

    add_good_pull(script);
    size_t at = script->frame_at[4], size = script->frame_at[5] - at;
    memmove(script->bytes + at, script->bytes + at + size, script->size - at - size);
    script->size -= size;
    expect("a frame is missing", "0", 1, 1, 1);

    add_good_pull(script);
    memmove(script->bytes + at + size, script->bytes + at, script->size - at);
    script->size += size;
    expect("a frame comes twice", "0", 1, 2, 1);
}

static void test_lies(void)
{
    struct script *script = &scripts[0];

    add_hello(script), add_metadata(script);
    add_packet(script, 0, 5, 9), add_packet(script, 0, 5, 9), add_packet(script, 0, 4, 9), add_end(script);
    expect("packets that come again or too late are refused", "0", 1, 1, 0);

    add_hello(script), add_metadata(script);
    add_packet(script, 0, 5, 9), add_packet(script, 0, 8, 9), add_end(script);
    expect("missing packets make the exit status 1", "0", 1, 2, 0);
    check(!is_marked(), "all losses are reported");

    add_hello(script), add_metadata(script), add_packet(script, CPUS, 5, 9), add_end(script);
    expect("a processor that does not exist", "0", 1, 0, 0);

    add_hello(script), add_packet(script, 0, 5, 9), add_metadata(script), add_end(script);
    expect("a packet before the metadata", "0", 1, 0, 0);

    add_hello(script), add_frame(script, WIRE_METADATA, "/* CTF 1.8 */ no uuid", 21), add_end(script);
    expect("metadata of something else", "0", 1, 0, 0);

    add_hello(script), add_metadata(script);
    add_packet(script, 0, 5, 9), add_packet(script, 0, 6, 0);
    size_t at = script->frame_at[3] + WIRE_FRAME_BYTES + WIRE_PACKET_BYTES;
    script->bytes[at + 9] ^= 1; /* UUID */
    uint32_t length = wire_get32(script->bytes + script->frame_at[3] + 8);
    wire_put_frame(script->bytes + script->frame_at[3], WIRE_PACKET, length, 3,
                   wire_hash(script->bytes + script->frame_at[3] + WIRE_FRAME_BYTES, length));
    add_end(script);
    expect("a packet of another schema", "0", 1, 1, 0);
}

static void test_bad_hello(void)
{
    struct script *script = &scripts[0];
    static const struct {
        size_t offset;
        uint32_t value;
        const char *name;
    } cases[] = {{0, 99, "HELLO of another version"},    {4, 7, "HELLO with a strange byte order"},
                 {8, ~0u, "HELLO with 2^32 processors"}, {8, 0, "HELLO without processors"},
                 {16, ~0u, "HELLO with huge buffers"},   {20, 12345, "HELLO with odd buffers"}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        add_good_pull(script);
        uint8_t *payload = script->bytes + WIRE_FRAME_BYTES;
        wire_put32(payload + cases[i].offset, cases[i].value);
        wire_put_frame(script->bytes, WIRE_HELLO, WIRE_HELLO_BYTES, 0, wire_hash(payload, WIRE_HELLO_BYTES));
        expect(cases[i].name, "0", 2, 0, 0);
    }
    memcpy(script->bytes, "HTTP/1.0 400 Bad Request\r\n\r\nno such thing\r\n", 44);
    script->size = 44;
    expect("a web server", "0", 2, 0, 0);
    script->keep_open = true;
    expect("a silent peer", "0", 2, 0, 0);
}

static void test_resume(void)
{
    struct script *first = &scripts[0], *second = &scripts[1];

    resumes_seen = 0;
    add_good_pull(first);
    first->size = first->frame_at[5] + 100; /* packets 5 and 6 of CPU 0, 5 of CPU 1 */
    add_hello(second), add_metadata(second);
    add_packet(second, 1, 6, 9), add_packet(second, 0, 7, 9), add_packet(second, 1, 7, 9), add_end(second);
    second->wants_resume = true;
    second->want[0] = 7, second->want[1] = 6;
    expect("a broken link is resumed where it broke", "5", 0, 3, 3);
    check(resumes_seen == 1, "the guest is asked for the next packets");

    add_good_pull(first);
    first->size = first->frame_at[5] + 100;
    add_good_pull(second);
    wire_put64(second->bytes + WIRE_FRAME_BYTES + 56, 43);
    wire_put_frame(second->bytes, WIRE_HELLO, WIRE_HELLO_BYTES, 0,
                   wire_hash(second->bytes + WIRE_FRAME_BYTES, WIRE_HELLO_BYTES));
    expect("a guest that was started again is not mixed in", "5", 1, 2, 1);
}

/* A port may first give the rest of an earlier conversation; a network link may not. */
static void test_serial(void)
{
    struct script *script = &scripts[0];
    static struct script good;

    for (size_t piece = 0; piece < 40; piece += 13) {
        add_good_pull(&good);
        memcpy(script->bytes, good.bytes + good.frame_at[2] + 50, 3000);
        memcpy(script->bytes + 3000, good.bytes, good.size);
        script->size = 3000 + good.size;
        script->piece = piece;
        memset(&good, 0, sizeof(good));
        over_serial = piece > 0;
        expect(over_serial ? "serial: the rest of an earlier conversation is dropped"
                           : "tcp: what does not begin with HELLO is refused",
               "0", over_serial ? 0 : 2, over_serial ? 4 : 0, over_serial ? 4 : 0);
    }
    over_serial = false;
}

static void test_directory(void)
{
    remove_output();
    add_good_pull(&scripts[0]);
    check(pull_from_scripts("0", NULL) == 0 && pull_from_scripts("0", NULL) == 2 &&
              count_packets(0, NULL) == 4,
          "a trace is not overwritten without --force");
    uint64_t first = 0;
    memset(scripts, 0, sizeof(scripts));
    add_hello(&scripts[0]), add_metadata(&scripts[0]), add_packet(&scripts[0], 0, 77, 1),
        add_end(&scripts[0]);
    check(pull_from_scripts("0", "--force") == 0 && count_packets(0, &first) == 1 && first == 77 &&
              count_packets(1, NULL) == 0,
          "--force replaces it");
    memset(scripts, 0, sizeof(scripts));
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
    char output[128], foreign[160];
    struct stat found;

    snprintf(output, sizeof(output), "%s/out", scratch);
    snprintf(foreign, sizeof(foreign), "%s/notes", output);
    remove_output();
    mkdir(output, 0777);
    add_good_pull(&scripts[0]);
    check(pull_from_scripts("0", NULL) == 0 && count_packets(0, NULL) == 4, "an empty directory is taken");
    make_file(foreign);
    check(pull_from_scripts("0", "--force") == 2 && stat(foreign, &found) == 0 && found.st_size == 4 &&
              count_packets(0, NULL) == 4,
          "--force leaves a directory with other files alone");
    unlink(foreign);
    remove_output();
    make_file(output);
    check(pull_from_scripts("0", "--force") == 2 && stat(output, &found) == 0 && found.st_size == 4,
          "a file is no directory");
    unlink(output);
    symlink("missing/deeper", output);
    check(pull_from_scripts("0", NULL) == 2, "a directory that cannot be made");
    unlink(output);
    memset(scripts, 0, sizeof(scripts));
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
    add_good_pull(&scripts[0]);
    int status = pull_from_scripts("0", NULL), packets = count_packets(0, NULL);
    setrlimit(RLIMIT_FSIZE, &old);
    signal(SIGXFSZ, handler);
    check(status == 1 && packets == 2, "a disk that is full ends the pull behind a whole packet");
    memset(scripts, 0, sizeof(scripts));
}

/* Random damage; with MEND, every frame that is still in place gets correct checksums. */
static void test_mutations(unsigned count, bool mend)
{
    static struct script good;
    unsigned bad = 0;

    memset(&good, 0, sizeof(good));
    add_good_pull(&good);
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
        int status = pull_from_scripts("0", NULL);
        bad += status < 0 || status > 2 || count_packets(0, NULL) < 0 || count_packets(1, NULL) < 0;
    }
    memset(scripts, 0, sizeof(scripts));
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
    __sanitizer_set_report_fd((void *)STDOUT_FILENO); /* stderr is what the host tool says */
    make_scratch();
    if (!freopen("/dev/null", "w", stderr))
        return 1;
    srand(1);
    check(wire_crc("123456789", 9) == 0xe3069283u, "CRC-32C of 123456789");
    test_hash();
    test_honest();
    test_harm();
    test_output();
    test_broken_frames();
    test_lies();
    test_bad_hello();
    test_resume();
    test_serial();
    test_directory();
    test_bad_directory();
    test_full_disk();
    test_mutations(1000, false);
    test_mutations(1000, true);
    return finish_tests();
}
