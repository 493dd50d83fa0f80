/*
 * tests/guest/explore_pull.c - pulls the trace over the network's loopback as `tarn pull` does, and ends the
 * pull in all ways: `tarn explore /test/explore_pull`. explore_control starts it with a number that decides
 * what it does, and kills it.
 *
 * What arrives must be sound: frames, the packets in them, and their numbers; and a pull that is asked to end
 * ends.
 */
#include "tap.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <servers/protocol/traced.h>
#include <sys/socket.h>
#include <tarn/server.h>
#include <trace/format/layout.h>
#include <trace/format/wire.h>
#include <user/bin/trace_rings.h>

#define PULLS    8u
#define HOSTS    10u
#define FRAMES   32u
#define CPUS_MAX 64u
#define COMMANDS 27u
/* Of rings: sending takes long where it is explored. */
#define PATIENCE 8000 /* ms; longer than another pull may take to end (WIRE.md) */

enum end { END_ASK, END_CLOSE, END_AGAIN, END_SILENT, ENDS };

struct link {
    int fd;
    uint32_t sent, received;
    uint64_t next[CPUS_MAX]; /* packet after the last that arrived; 0: none did */
    uint32_t cpu_count;
};

static uint8_t payload[WIRE_PAYLOAD_MAX] __attribute__((aligned(64)));
static bool broken; /* something that arrived is not sound */

static bool is_sound(bool good, const char *what)
{
    if (!good && !broken)
        printf("not ok - pull: %s\n", what);
    broken |= !good;
    return good;
}

/* False: the connection has ended. */
static bool receive(struct link *link, void *bytes, size_t size)
{
    for (size_t got = 0; got < size;) {
        struct pollfd wait = {.fd = link->fd, .events = POLLIN};
        ssize_t n = poll(&wait, 1, PATIENCE) == 1 ? recv(link->fd, (char *)bytes + got, size - got, 0) : 0;
        if (n <= 0)
            return false;
        got += (size_t)n;
    }
    return true;
}

static bool send_frame(struct link *link, uint16_t type, const void *bytes, uint32_t size)
{
    uint8_t frame[WIRE_FRAME_BYTES + WIRE_PULL_BYTES + 8 * CPUS_MAX];
    wire_put_frame(frame, type, size, link->sent++, wire_hash(bytes, size));
    if (size)
        memcpy(frame + WIRE_FRAME_BYTES, bytes, size);
    return send(link->fd, frame, WIRE_FRAME_BYTES + size, 0) == (ssize_t)(WIRE_FRAME_BYTES + size);
}

static void take_packet(struct link *link, uint32_t length)
{
    const uint32_t cpu = wire_get32(payload);
    const uint64_t number = wire_get64(payload + 8), content = (length - WIRE_PACKET_BYTES) & ~7ull;
    const struct trace_packet *packet = (const struct trace_packet *)(payload + WIRE_PACKET_BYTES);
    struct trace_walk walk;
    if (!is_sound(cpu < link->cpu_count && content >= 8 * TRACE_PACKET_WORDS && packet->cpu_id == cpu &&
                      packet->packet_seq_num == number && packet->content_size / 8 <= content,
                  "a packet is not what its frame says") ||
        !is_sound(number >= link->next[cpu], "a packet comes too late"))
        return;
    for (walk_packet(&walk, packet); trace_walk_next(&walk);)
        ;
    is_sound(!walk.broken, "a packet is broken");
    link->next[cpu] = number + 1;
}

/* Takes the next frame. Returns its type; 0: there is none. */
static unsigned take_frame(struct link *link)
{
    uint8_t header[WIRE_FRAME_BYTES];
    struct wire_frame frame;
    if (!receive(link, header, sizeof header))
        return 0;
    if (!is_sound(wire_get_frame(header, WIRE_PAYLOAD_MAX, &frame) == WIRE_OK &&
                      frame.sequence == link->received++,
                  "a frame's header is wrong") ||
        !receive(link, payload, frame.length) ||
        !is_sound(wire_hash(payload, frame.length) == frame.payload_hash, "a frame is damaged"))
        return 0;
    if (frame.type == WIRE_PACKET)
        take_packet(link, frame.length);
    return frame.type;
}

static bool is_admitted(int fd)
{
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof here;
    if (bind(fd, (struct sockaddr *)&here, size) < 0 || getsockname(fd, (struct sockaddr *)&here, &size) < 0)
        return false;
    struct ipc_message message = {.label = TRACED_ADMIT, .word = {ntohs(here.sin_port)}, .cap = {SLOT_TRACE}};
    return call_server_message(SLOT_TRACED, &message) >= 0;
}

static bool open_link(struct link *link)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons(WIRE_TCP_PORT)};
    struct wire_hello hello;
    link->sent = link->received = 0;
    link->fd = socket(AF_INET, SOCK_STREAM, 0);
    if (link->fd < 0 || !is_admitted(link->fd) ||
        connect(link->fd, (struct sockaddr *)&address, sizeof address) < 0 || take_frame(link) != WIRE_HELLO)
        return false;
    wire_get_hello(payload, &hello);
    link->cpu_count = hello.cpu_count;
    return is_sound(hello.version == WIRE_VERSION && hello.cpu_count <= CPUS_MAX, "the greeting is wrong");
}

/* Any mode; of one in four only what there is now, or of the system before. */
static bool begin_pull(struct link *link, uint64_t random, bool resumes)
{
    static const uint32_t kinds[] = {WIRE_PULL_SNAPSHOT, WIRE_PULL_MODE, 0, WIRE_PULL_MODE};
    uint8_t bytes[WIRE_PULL_BYTES + 8 * CPUS_MAX] = {0};
    wire_put32(bytes, resumes ? WIRE_PULL_RESUME : random % 16 == 4 ? WIRE_PULL_PREVIOUS : kinds[random % 4]);
    wire_put32(bytes + 4, (uint32_t)(random >> 4) % 3);
    wire_put32(bytes + 8, link->cpu_count);
    for (uint32_t cpu = 0; resumes && cpu < link->cpu_count; cpu++)
        wire_put64(bytes + WIRE_PULL_BYTES + 8ull * cpu, link->next[cpu]);
    return send_frame(link, WIRE_PULL, bytes, WIRE_PULL_BYTES + 8 * link->cpu_count);
}

static bool request(struct link *link, uint32_t operation, uint64_t a, uint64_t b, const char *text)
{
    uint8_t bytes[WIRE_REQUEST_BYTES + 32] = {0};
    wire_put32(bytes, operation);
    wire_put64(bytes + 8, a);
    wire_put64(bytes + 16, b);
    memcpy(bytes + WIRE_REQUEST_BYTES, text, strlen(text));
    return send_frame(link, WIRE_REQUEST, bytes, WIRE_REQUEST_BYTES + (uint32_t)strlen(text));
}

/* One command after the other, then the other operations, from the last to the first. */
static bool request_something(struct link *link, uint64_t random)
{
    static const char commands[] =
        "stop\0start\0mask\n-sched\0mask\nall\0switch\nsched\noff\0switch\n*\non\0mode\nstream\0mode\nonce\0"
        "low-water\n80\0sample\nframe.*\n3\0sample\n*\n1\0threshold\nlock.*\n1us\0threshold\n*\n0\0"
        "buffers\n4\n16k\0buffers\nboot\0clear\0flush\0statedump\0drop-previous\0profile\n1000\0profile\n0\0"
        "routines\non\0routines\noff\0counters\0watch\nall\n4\0watch\nnone\0status";
    static uint32_t count;
    const char *command = commands;
    if (!count)
        count = (uint32_t)random;
    const uint32_t kinds = COMMANDS + WIRE_OP_PREVIOUS_METADATA, number = count++ % kinds;
    if (number >= COMMANDS)
        return request(link, kinds - number, random % 5, (random >> 8) % 3, "mask");
    for (uint32_t i = 0; i < number; i++)
        command += strlen(command) + 1;
    return request(link, WIRE_OP_COMMAND, 0, 0, command);
}

/* Pulls for some frames, and asks for this and that meanwhile. False: an end that was asked for did not
 * come. */
static bool pull(uint64_t random)
{
    static struct link link;
    const enum end end = (enum end)(random % ENDS);
    unsigned type = 0;
    memset(&link, 0, sizeof link);
    bool good = open_link(&link) && request(&link, WIRE_OP_COMMAND, 0, 0, "buffers\n4\n16k") &&
                begin_pull(&link, random >> 2, false);
    for (uint64_t frames = (random >> 16) % FRAMES; good && frames && type != WIRE_END; frames--) {
        good = frames % 4 || request_something(&link, random >> frames);
        type = take_frame(&link);
        good = good && type;
    }
    const int left = good && end == END_AGAIN ? link.fd : -1; /* traced does not know that its host is gone */
    if (left >= 0) {
        good = open_link(&link) && begin_pull(&link, 0, true);
        type = take_frame(&link);
        close(left);
    }
    if (good && (end == END_ASK || end == END_AGAIN))
        for (good = send_frame(&link, WIRE_PULL_END, NULL, 0); good && type != WIRE_END; good = type != 0)
            type = take_frame(&link);
    if (end == END_SILENT) /* what is under way is not read */
        usleep(20000);
    close(link.fd);
    return good;
}

/* Of more hosts than traced has places for each gets one. */
static bool crowd(void)
{
    static struct link links[HOSTS];
    unsigned good = 0;
    for (unsigned i = 0; i < HOSTS; i++)
        good += open_link(&links[i]);
    for (unsigned i = 0; i < HOSTS; i++)
        close(links[i].fd);
    return good == HOSTS;
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return !pull(strtoull(argv[1], NULL, 10));
    for (uint64_t i = 0; i < PULLS; i++) {
        uint64_t random = i * 0x9e3779b97f4a7c15ull;
        check(pull((random & ~3ull) | i % ENDS), "a pull is as it should be");
    }
    check(crowd(), "each host gets a place");
    check(!broken, "all that arrived is sound");
    return finish_tests();
}
