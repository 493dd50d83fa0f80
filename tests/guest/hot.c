/*
 * hot.c - a program with a known profile, sampled by tests/host/profile.
 *
 *     hot [rounds]
 *
 * Seven of ten rounds execute hot_seven, three hot_three; both have the same instructions and are called
 * through hot_outer and hot_middle. Then the kernel does as much work: first touches of pages, and a copy
 * through a pipe. A pause at the start gives time to connect to the trace.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define ROUNDS          20000
#define BURN            20000
#define CONNECT_SECONDS 2 /* time to start a pull or request a statedump */
#define PAGE            4096
#define MAP_BYTES       (256u * PAGE)
#define KERNEL_ROUNDS   200
#define PIPE_ROUNDS     4800
#define DEEP_ROUNDS     200

/* Prevents merging, inlining and tail calls. */
#define APART __attribute__((noinline, noclone, noipa))

static volatile unsigned long sink;

static inline __attribute__((always_inline)) unsigned long burn(unsigned long x)
{
    for (unsigned i = 0; i < BURN; i++)
        x = x * 6364136223846793005ul + 1442695040888963407ul;
    return x;
}

APART static void hot_seven(unsigned long seed)
{
    sink = burn(seed);
}

APART static void hot_three(unsigned long seed)
{
    sink = burn(seed);
}

APART static void hot_middle(unsigned i)
{
    if (i % 10 < 7)
        hot_seven(i);
    else
        hot_three(i);
    sink++;
}

APART static void hot_outer(unsigned rounds)
{
    for (unsigned i = 0; i < rounds; i++)
        hot_middle(i);
    sink++;
}

/* Its call chain has `depth` calls more. */
APART static void hot_deep(unsigned depth)
{
    if (depth > 0)
        hot_deep(depth - 1);
    else
        for (unsigned i = 0; i < DEEP_ROUNDS; i++)
            sink = burn(i);
    sink++;
}

APART static void hot_faults(void)
{
    for (unsigned round = 0; round < KERNEL_ROUNDS; round++) {
        char *memory = mmap(NULL, MAP_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED)
            exit(1);
        for (unsigned at = 0; at < MAP_BYTES; at += PAGE)
            memory[at] = 1;
        munmap(memory, MAP_BYTES);
    }
    sink++;
}

APART static void hot_pipe(void)
{
    static char bytes[2048];
    int ends[2];
    if (pipe(ends))
        exit(1);
    for (unsigned round = 0; round < PIPE_ROUNDS; round++)
        if (write(ends[1], bytes, sizeof bytes) != sizeof bytes ||
            read(ends[0], bytes, sizeof bytes) != sizeof bytes)
            exit(1);
    close(ends[0]);
    close(ends[1]);
    sink++;
}

int main(int argc, char **argv)
{
    unsigned rounds = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 0) : ROUNDS;
    sleep(CONNECT_SECONDS);
    hot_outer(rounds);
    hot_faults();
    hot_pipe();
    hot_deep(100);
    hot_deep(200);
    printf("hot: done\n");
    return 0;
}
