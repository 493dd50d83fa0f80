/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tests/guest/explore_net.c - a workload for `tarn explore`: threads whose packets cross a network device at
 * the same time. They read the kernel's file by TFTP (RFC 1350) from QEMU's user network, which loses nothing
 * and replies as soon as it has a packet. So a packet that does not come is lost in this system, or nobody
 * was woken for it. All threads ask at the same time, and then wait until all have their replies: no later
 * packet makes the system find one that it has overlooked.
 */
#include "tap.h"
#include "threads.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define SERVER     "10.0.2.2"
#define PORT       69
#define ROUNDS     4
#define BLOCKS     12   /* of the file's first ones */
#define BLOCK      512u /* bytes */
#define PATIENCE   1000 /* ms: as long as many interrupts are late, at most */
#define START_POLL 100
#define STARTS_MAX 100

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
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_addr.s_addr = inet_addr(SERVER), .sin_port = htons(PORT)};
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
    if (is_lost(fd, PATIENCE) || recv(fd, packet, sizeof packet, 0) != sizeof packet)
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
    for (unsigned i = 0; i < STARTS_MAX; i++) {
        int fd = open_server();
        bool replies = fd >= 0 && ask(fd) && !is_lost(fd, START_POLL);
        if (replies)
            reply(fd, ERROR, 0);
        close(fd);
        if (replies)
            return true;
        usleep(1000 * START_POLL);
    }
    return false;
}

int main(void)
{
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
    return finish_tests();
}
