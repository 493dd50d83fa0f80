/*
 * tests/peers/peers.c - measures ways to log against each other:   peers DIRECTORY ROUNDS SECONDS PEER.so...
 *
 * Each way is a shared object (peer.h); two that log nothing are here. In each round all of them are measured
 * in turn, in another order, in all shapes: one or four words; back to back, or *in situ*, one event after
 * each piece of work; alone, and while another thread does the same on another CPU. A shape in situ costs
 * what it takes longer than the work alone in the same round, which the way "none" does.
 *
 * Prints a line "cost NAME SHAPE THREADS TICKS...", of one event in each round, "tick NANOSECONDS", and
 * "logged NAME THREAD COUNT". Leaves a trace of each way that writes one in DIRECTORY/NAME.
 */
#include "peer.h"
#include <arch/trace.h>
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define PEERS_MAX  8
#define ROUNDS_MAX 10000
#define EVENTS     500 /* of a measurement back to back */
#define PIECES     32  /* of work in a measurement in situ */

enum shape { ONE, FOUR, ONE_IN_SITU, FOUR_IN_SITU, SHAPES };
static const char *const shape_names[SHAPES] = {"one", "four", "one.situ", "four.situ"};

static const struct peer *peers[PEERS_MAX];
static unsigned peer_count;
static uint64_t logged[PEERS_MAX][PEER_THREADS];
static double costs[PEERS_MAX][SHAPES][PEER_THREADS][ROUNDS_MAX]; /* ticks of one event */

static void fail(const char *what, const char *why)
{
    fprintf(stderr, "peers: %s: %s\n", what, why);
    exit(1);
}

/* ---- what logs nothing ---------------------------------------------------------------------------- */

PEER_LOOP(log_nothing, __asm__ volatile(""))
PEER_LOOP(read_clock, arch_trace_clock())

static const struct peer none = {.name = "none", .one = log_nothing, .four = log_nothing};
static const struct peer bare_clock = {.name = "clock", .one = read_clock, .four = read_clock};

/* ---- work ----------------------------------------------------------------------------------------- */

#define HASHED 512u

static __thread struct {
    uint64_t hash[4];
    uint64_t hashed[HASHED];
} desk;

/* Hashes what it also changes: a microsecond or so. No branch depends on the numbers, because what is
 * predicted wrongly differs from one place in memory to another. */
static void work(void)
{
    for (unsigned i = 0; i < HASHED; i++) {
        uint64_t *const hash = &desk.hash[i % 4];
        *hash = (*hash ^ desk.hashed[i]) * 0x9e3779b97f4a7c15u;
        desk.hashed[i] += *hash >> 32;
    }
}

/* ---- measurements --------------------------------------------------------------------------------- */

/* The second half counts; the first fills caches. */
static double measure(unsigned peer, enum shape shape, unsigned thread)
{
    const bool in_situ = shape >= ONE_IN_SITU;
    const uint64_t count = in_situ ? PIECES : EVENTS;
    peer_loop *const loop = shape == ONE || shape == ONE_IN_SITU ? peers[peer]->one : peers[peer]->four;
    uint64_t *const number = &logged[peer][thread];
    uint64_t first = 0;
    for (unsigned half = 0; half < 2; half++, *number += count) {
        first = arch_trace_clock();
        loop(PEER_NUMBER(thread, *number), count, in_situ ? work : NULL);
    }
    return (double)(arch_trace_clock() - first) / (double)count;
}

/* What the second thread does, and what it has begun: peer * SHAPES + shape. */
enum { REST = -1, END = -2 };
static int wanted = REST, begun = REST;

static void *run_second(void *unused)
{
    for (int what; (what = __atomic_load_n(&wanted, __ATOMIC_ACQUIRE)) != END;) {
        __atomic_store_n(&begun, what, __ATOMIC_RELEASE);
        if (what != REST)
            measure((unsigned)what / SHAPES, (unsigned)what % SHAPES, 1);
    }
    return NULL;
}

static void tell_second(int what)
{
    __atomic_store_n(&wanted, what, __ATOMIC_RELEASE);
    while (what != END && __atomic_load_n(&begun, __ATOMIC_ACQUIRE) != what)
        sched_yield();
}

static void measure_all(unsigned round, unsigned others)
{
    unsigned order[PEERS_MAX];
    for (enum shape shape = 0; shape < SHAPES; shape++) {
        for (unsigned i = 0; i < peer_count; i++) { /* each way follows every other one in some round */
            const unsigned other = (unsigned)rand() % (i + 1);
            order[i] = order[other];
            order[other] = i;
        }
        for (unsigned i = 0; i < peer_count; i++) {
            if (others)
                tell_second((int)(order[i] * SHAPES + shape));
            costs[order[i]][shape][others][round] = measure(order[i], shape, 0);
        }
        tell_second(REST);
    }
}

static void stay_on_cpu(pthread_t thread, unsigned place)
{
    cpu_set_t allowed, set;
    CPU_ZERO(&set);
    sched_getaffinity(0, sizeof(allowed), &allowed);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &allowed) && place-- == 0)
            CPU_SET(cpu, &set);
    if (pthread_setaffinity_np(thread, sizeof(set), &set))
        fail("pthread_setaffinity_np", "two CPUs are needed");
}

static uint64_t nanoseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* At most so many rounds; how many there were. Prints the length of a tick. */
static unsigned run(unsigned rounds, uint64_t limit)
{
    const uint64_t first = nanoseconds(), first_tick = arch_trace_clock();
    unsigned round = 0;
    pthread_t second;
    pthread_create(&second, NULL, run_second, NULL);
    stay_on_cpu(second, 1);
    stay_on_cpu(pthread_self(), 0);
    for (; round < rounds && nanoseconds() - first < limit; round++)
        for (unsigned others = 0; others < PEER_THREADS; others++)
            measure_all(round, others);
    tell_second(END);
    pthread_join(second, NULL);
    printf("tick\t%.6f\n", (double)(nanoseconds() - first) / (double)(arch_trace_clock() - first_tick));
    return round;
}

/* ---- main ----------------------------------------------------------------------------------------- */

static void load(const char *path)
{
    void *const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library || peer_count == PEERS_MAX)
        fail(path, library ? "too many" : dlerror());
    const struct peer *const found = dlsym(library, "peer");
    const char *problem = found ? found->begin() : "not a peer";
    if (problem)
        fail(path, problem);
    peers[peer_count++] = found;
}

static void report(unsigned peer, unsigned rounds, const char *directory)
{
    const char *const name = peers[peer]->name;
    char path[512];
    for (unsigned shape = 0; shape < SHAPES; shape++)
        for (unsigned others = 0; others < PEER_THREADS; others++) {
            printf("cost\t%s\t%s\t%u", name, shape_names[shape], others + 1);
            for (unsigned round = 0; round < rounds; round++)
                printf("\t%.2f", costs[peer][shape][others][round]);
            printf("\n");
        }
    for (unsigned thread = 0; thread < PEER_THREADS; thread++)
        printf("logged\t%s\t%u\t%lu\n", name, thread, logged[peer][thread]);
    snprintf(path, sizeof(path), "%s/%s", directory, name);
    if (peers[peer]->end && !peers[peer]->end(path))
        fail(name, "a packet is not whole, or could not be written");
}

int main(int count, char **arguments)
{
    if (count < 5)
        fail("usage", "peers DIRECTORY ROUNDS SECONDS PEER.so...");
    const unsigned rounds = (unsigned)atoi(arguments[2]);
    if (rounds < 1 || rounds > ROUNDS_MAX)
        fail("ROUNDS", "1 to 10000");
    peers[peer_count++] = &none;
    peers[peer_count++] = &bare_clock;
    for (int i = 4; i < count; i++)
        load(arguments[i]);
    const unsigned done = run(rounds, (unsigned)atoi(arguments[3]) * 1000000000ull);
    for (unsigned peer = 0; peer < peer_count; peer++)
        report(peer, done, arguments[1]);
    return 0;
}
