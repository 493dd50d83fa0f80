/*
 * tests/guest/explore_net.c - a workload for `tarn explore`: threads whose packets cross a network device at
 * the same time. They read the kernel's file by TFTP (RFC 1350) from QEMU's user network, which loses
 * nothing. All ask at the same time, and then wait for all replies: no later packet makes the system find one
 * that it has overlooked.
 *
 * Other connections stay within net, through lwIP's loopback. Streams that are larger than the window end
 * only if each update of the window arrives. Children use sockets in all states until they are killed.
 */
#include "net.h"
#include "random.h"
#include "run.h"
#include "tap.h"
#include "threads.h"

#include <poll.h>

#define SERVER     "10.0.2.2"
#define PORT       69
#define ROUNDS     4
#define BLOCKS     12   /* of the file's first ones */
#define BLOCK      512u /* bytes */
#define PATIENCE   1000 /* ms: as long as many interrupts are late, at most */
#define START_POLL 100
#define STARTS_MAX 100
#define STREAM     (144 * 1024u) /* bytes: more than two windows */
#define PIECE      4096u
#define LIFE       20000 /* us */

enum { DATA = 3, ACKNOWLEDGE = 4, ERROR = 5 };

static bool failed[THREADS];
static uint64_t sums[THREADS];
static pthread_barrier_t together;

static bool is_lost(int fd, int milliseconds)
{
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    return poll(&wait, 1, milliseconds) != 1;
}

static int open_server(void)
{
    struct sockaddr_in address = address_of(SERVER, PORT);
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) < 0) {
        close(fd);
        return -1;
    }
    return fd;
}

static bool ask(int fd)
{
    static const char request[] = "\0\1tarn.elf\0octet";
    return send(fd, request, sizeof request, 0) == sizeof request;
}

static bool reply(int fd, unsigned operation, unsigned number)
{
    const unsigned char packet[] = {0, (unsigned char)operation, 0, (unsigned char)number, 0};
    size_t size = operation == ERROR ? 5 : 4; /* the error's text is empty */
    return send(fd, packet, size, 0) == (ssize_t)size;
}

/* A block adds its bytes to *sum. */
static bool take_block(int fd, unsigned number, uint64_t *sum)
{
    unsigned char packet[BLOCK + 4];
    if (is_lost(fd, PATIENCE) || recvfrom(fd, packet, sizeof packet, 0, NULL, NULL) != sizeof packet)
        return false;
    for (unsigned i = 4; i < sizeof packet; i++)
        *sum = *sum * 31 + packet[i];
    return packet[1] == DATA && packet[3] == number;
}

static bool read_file(uint64_t *sum)
{
    int fd = open_server();
    bool good = fd >= 0;
    for (unsigned number = 1; number <= BLOCKS; number++) {
        pthread_barrier_wait(&together);
        good = good && (number == 1 ? ask(fd) : reply(fd, ACKNOWLEDGE, number - 1)) &&
               take_block(fd, number, sum);
    }
    reply(fd, ERROR, 0);
    close(fd);
    return good;
}

static void *read_often(void *argument)
{
    for (unsigned i = 0; i < ROUNDS; i++)
        failed[(uintptr_t)argument] |= !read_file(&sums[(uintptr_t)argument]);
    return NULL;
}

/* Until there is an address of this machine, and one of the server is known to the stack. */
static bool reaches_server(void)
{
    bool replies = false;
    for (unsigned i = 0; i < STARTS_MAX && !replies; i++) {
        int fd = open_server();
        replies = fd >= 0 && ask(fd) && !is_lost(fd, START_POLL);
        if (replies)
            reply(fd, ERROR, 0);
        else
            usleep(1000 * START_POLL);
        close(fd);
    }
    return replies;
}

/* ---- streams through the loopback ------------------------------------------------------------------- */

static int own_ends[THREADS]; /* of two connections: a thread sends what the next one receives */

static int try_connect(int fd, const struct sockaddr_in *to)
{
    return connect(fd, (const struct sockaddr *)to, sizeof *to);
}

static int open_listener(struct sockaddr_in *address)
{
    socklen_t size = sizeof *address;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    *address = address_of("127.0.0.1", 0);
    if (bind(fd, (struct sockaddr *)address, size) < 0 || listen(fd, 2) < 0 ||
        getsockname(fd, (struct sockaddr *)address, &size) < 0)
        return -1;
    return fd;
}

static bool open_streams(void)
{
    struct sockaddr_in address;
    int listener = open_listener(&address);
    bool good = listener >= 0;
    for (unsigned i = 0; i < THREADS; i += 2) {
        own_ends[i] = socket(AF_INET, SOCK_STREAM, 0);
        good = good && try_connect(own_ends[i], &address) == 0;
        own_ends[i + 1] = good ? accept(listener, NULL, NULL) : -1;
    }
    close(listener);
    return good;
}

/* One connection has the slower receiver, and its window closes; at the other one receives wait. */
static size_t draw_size(uintptr_t me, uint64_t *random)
{
    return 1 + next_random(random) % (me == 1 || me == 2 ? PIECE / 4 : PIECE);
}

static bool send_stream(uintptr_t me, uint64_t *random)
{
    static const char bytes[PIECE];
    for (size_t sent = 0; sent < STREAM;) {
        size_t size = draw_size(me, random);
        ssize_t count = send(own_ends[me], bytes, size < STREAM - sent ? size : STREAM - sent, 0);
        if (count <= 0)
            return false;
        sent += (size_t)count;
    }
    return true;
}

static bool receive_stream(uintptr_t me, uint64_t *random)
{
    char bytes[PIECE];
    for (size_t received = 0; received < STREAM;) {
        ssize_t count = recv(own_ends[me], bytes, draw_size(me, random), 0);
        if (count <= 0)
            return false;
        received += (size_t)count;
    }
    return true;
}

static void *pass_stream(void *argument)
{
    uintptr_t me = (uintptr_t)argument;
    uint64_t random = me;
    failed[me] = !(me % 2 ? receive_stream : send_stream)(me, &random);
    close(own_ends[me]);
    return NULL;
}

/* ---- sockets of programs that are killed ------------------------------------------------------------- */

static void use(int *fd, int listener, const struct sockaddr_in *address, uint64_t random)
{
    static char bytes[PIECE];
    const unsigned what = (unsigned)random % 8;
    if (what < 4 && *fd < 0) {
        *fd = what < 2 ? socket(AF_INET, SOCK_STREAM, 0) : accept(listener, NULL, NULL);
        fcntl(*fd, F_SETFL, O_NONBLOCK);
        if (what < 2)
            try_connect(*fd, address);
    } else if (what == 4) {
        send(*fd, bytes, sizeof bytes, 0);
    } else if (what == 5) {
        recv(*fd, bytes, sizeof bytes, 0);
    } else if (what == 6) {
        shutdown(*fd, (int)(random >> 8) % 3);
    } else if (what == 7) {
        close(*fd);
        *fd = -1;
    }
}

/* Connects to itself, until it is killed. */
static void use_sockets(uint64_t random)
{
    struct sockaddr_in address;
    int listener = open_listener(&address), fds[] = {-1, -1, -1, -1, -1, -1};
    fcntl(listener, F_SETFL, O_NONBLOCK);
    for (;;) {
        uint64_t drawn = next_random(&random);
        use(&fds[drawn % 6], listener, &address, drawn >> 8);
    }
}

static void *kill_users(void *argument)
{
    uint64_t random = (uintptr_t)argument;
    for (unsigned i = 0; i < ROUNDS; i++) {
        char seed[2] = {(char)('0' + i)};
        pid_t pid = start_program("/test/explore_net", seed);
        if (pid < 0)
            continue;
        usleep((useconds_t)(next_random(&random) % LIFE));
        kill(pid, SIGKILL);
        status_of(pid);
    }
    return NULL;
}

static void test_loopback(void)
{
    uint64_t before = count_sockets();
    bool good = open_streams();
    if (good)
        run_threads(pass_stream);
    for (unsigned i = 0; i < THREADS; i++)
        good &= !failed[i];
    check(good, "streams through the loopback arrive");
    run_threads(kill_users);
    for (unsigned i = 0; i < STARTS_MAX && count_sockets() != before; i++)
        usleep(1000);
    check(count_sockets() == before, "sockets of killed programs are closed, whatever their states");
}

int main(int argc, char **argv)
{
    if (argc > 1)
        use_sockets((uint64_t)atoi(argv[1]));
    bool alike = true, all = true;
    check(reaches_server(), "the server replies");
    pthread_barrier_init(&together, NULL, THREADS);
    run_threads(read_often);
    pthread_barrier_destroy(&together);
    for (unsigned i = 0; i < THREADS; i++) {
        all &= !failed[i];
        alike &= sums[i] == sums[0];
    }
    check(all, "each packet comes");
    check(alike, "all threads read the same bytes");
    memset(failed, 0, sizeof failed);
    test_loopback();
    return finish_tests();
}
