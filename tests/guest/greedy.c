/*
 * greedy.c - uses up all memory in one of several ways, for kernel_scarce, which checks the rest of the
 * system.
 *
 *   touch      its own pages, until a page fault kills it
 *   write      a memory object, from three threads that never stop, while it makes requests to servers
 *   map        mappings, which use kernel memory
 *   file       a file
 *   bomb N     some pages, and programs that do the same, for N generations
 *
 * Exit status 0: an allocation failed as it should, or a program that it started failed or was killed.
 */
#include "run.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tarn/error.h>
#include <tarn/runtime.h>

#define MAP_PLACE     0x0000001000000000ull
#define PIECE         (64u << 10)
#define MORE_THAN_ALL (1ull << 34)
#define MANY_TIMES    100000000ull
#define ASKED         20u /* number of rounds */
#define FAMILY        2u  /* programs that each member of a bomb starts */
#define BOMB_BYTES    (3u << 20)

extern char __tls_data[], __executable_end[];

/* One mapping, made while there is memory: a program that holds all of it may be refused another one for
 * ever. */
static int touch_all(void)
{
    volatile char *bytes = memory_map_anonymous(MORE_THAN_ALL);
    for (uint64_t i = 0; bytes && i < MORE_THAN_ALL; i += TARN_PAGE_SIZE)
        bytes[i] = 1;
    return 1;
}

/* Its data, so that it can end in order when there is no frame left for a page that it touches first. */
static void touch_own(void)
{
    for (volatile char *at = __tls_data; at < __executable_end; at += TARN_PAGE_SIZE) {
        const char own = *at;
        *at = own;
    }
}

static int map_all(void)
{
    touch_own();
    cap_t memory = (cap_t)sys_memory_create(TARN_PAGE_SIZE);
    for (uint64_t i = 0; i < MANY_TIMES; i++) {
        int64_t result = sys_space_map(SLOT_SPACE, memory, MAP_PLACE + i * 2 * TARN_PAGE_SIZE, TARN_PAGE_SIZE,
                                       0, MAP_READ | MAP_FIXED);
        if (result < 0)
            return result != -E_NO_MEMORY;
    }
    return 1;
}

static int fill_file(void)
{
    static char bytes[PIECE];
    int fd = open("/tmp/greedy", O_CREAT | O_WRONLY, 0666);
    while (write(fd, bytes, sizeof bytes) >= 0)
        ;
    return errno != ENOSPC;
}

static cap_t object;
static _Atomic uint64_t next_page;
static _Atomic bool enough, told;

static void *write_pages(void *unused)
{
    static char page[TARN_PAGE_SIZE] = {1};
    while (!enough) {
        uint64_t at = next_page++ * TARN_PAGE_SIZE;
        while (!enough && sys_memory_write(object, at, page, sizeof page) < 0) {
            told = true;
            sys_thread_yield();
        }
    }
    return unused;
}

/* Requests for which servers need memory. Most of them fail. */
static void ask_servers(unsigned round)
{
    static char bytes[PIECE];
    char path[32];
    int ends[2];
    snprintf(path, sizeof path, "/tmp/greed.%u", round);
    int fd = open(path, O_CREAT | O_WRONLY, 0666);
    if (fd >= 0) {
        if (write(fd, bytes, sizeof bytes) < 0)
            unlink(path);
        close(fd);
    }
    if (pipe(ends) == 0) {
        fcntl(ends[1], F_SETFL, O_NONBLOCK);
        if (write(ends[1], bytes, 4096) < 0)
            errno = 0;
        close(ends[0]);
        close(ends[1]);
    }
    run_program("/bin/true");
}

static int write_all(void)
{
    pthread_t thread;
    object = (cap_t)sys_memory_create(1ull << 36);
    for (int i = 0; i < 3; i++)
        pthread_create(&thread, NULL, write_pages, NULL);
    while (!told)
        sys_thread_yield();
    for (unsigned round = 0; round < ASKED; round++)
        ask_servers(round);
    enough = true;
    return 0;
}

/* Waits for all programs that it started. */
static int start_more(unsigned generations)
{
    char number[16];
    unsigned started = 0, good = 0;
    int status;
    volatile char *pages = memory_map_anonymous(BOMB_BYTES);
    snprintf(number, sizeof number, "%u", generations - 1);
    for (unsigned i = 0; pages && i < BOMB_BYTES; i += TARN_PAGE_SIZE)
        pages[i] = 1;
    if (generations == 0)
        return pages != NULL;
    while (started < FAMILY && start_program("/test/greedy", "bomb", number) > 0)
        started++;
    while (wait(&status) > 0)
        good += WIFEXITED(status) && WEXITSTATUS(status) == 1;
    return good == FAMILY;
}

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "";
    if (!strcmp(way, "touch"))
        return touch_all();
    if (!strcmp(way, "write"))
        return write_all();
    if (!strcmp(way, "map"))
        return map_all();
    if (!strcmp(way, "file"))
        return fill_file();
    return argc > 2 ? start_more((unsigned)atoi(argv[2])) : 2;
}
