/*
 * tests/peers/peers.c - measures ways to log against each other:   peers DIRECTORY ROUNDS SECONDS PEER.so...
 *
 * Each way is a shared object (peer.h). In each round all of them are measured in turn, each time beginning
 * with another, in all shapes: one or four words; back to back, or *in situ*, one event after each piece of
 * work; in one thread, or in two at the same time, each on a CPU of its own. A shape in situ costs what it
 * takes longer than the work alone in the same round, which the way "none" does.
 *
 * Prints a line "cost NAME SHAPE PLACE TICKS...", of one event in each measurement, "tick NANOSECONDS", and
 * "logged NAME THREAD COUNT". Leaves a trace of each way that writes one in DIRECTORY/NAME.
 */
#include "peer.h"
#include <arch/trace.h>
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PEERS_MAX  8
#define ROUNDS_MAX 10000
#define EVENTS     500 /* of a measurement back to back, */
#define REPEATS    4   /* which is done so often in a round */
#define PIECES     32  /* of work in a measurement in situ */
#define SPINS      20000

enum shape { ONE, FOUR, ONE_IN_SITU, FOUR_IN_SITU, SHAPES };
static const char *const shape_names[SHAPES] = {"one", "four", "one.situ", "four.situ"};

static const struct peer *peers[PEERS_MAX];
static unsigned peer_count, rounds;
static uint64_t logged[PEERS_MAX][PEER_THREADS];

/* How many threads measured, and whose result it is. */
enum place { ALONE, FIRST_OF_TWO, SECOND_OF_TWO, PLACES };
static const char *const place_names[PLACES] = {"alone", "first", "second"};
static double costs[PEERS_MAX][SHAPES][PLACES]
                   [ROUNDS_MAX * REPEATS]; /* ticks of one event; less than 0: disturbed */

static void fail(const char *what, const char *why)
{
    fprintf(stderr, "peers: %s: %s\n", what, why);
    exit(1);
}

/* ---- work ----------------------------------------------------------------------------------------- */

#define SORTED 16u
#define HASHED 512u

static __thread struct {
    uint64_t hash[4];
    uint32_t sorted[SORTED];
    uint64_t hashed[HASHED];
} desk;

static void order(uint32_t *a, uint32_t *b)
{
    const uint32_t least = *a < *b ? *a : *b, most = *a < *b ? *b : *a;
    *a = least;
    *b = most;
}

/* Hashes what it also changes, and sorts numbers that come of it: a microsecond or so. No branch depends on
 * the numbers, because what is predicted wrongly differs from one place in memory to another. */
static void work(void)
{
    for (unsigned i = 0; i < HASHED; i++) {
        uint64_t *const hash = &desk.hash[i % 4];
        *hash = (*hash ^ desk.hashed[i]) * 0x9e3779b97f4a7c15u;
        desk.hashed[i] += *hash >> 32;
        desk.sorted[i % SORTED] ^= (uint32_t)*hash;
    }
    for (unsigned turn = 0; turn < SORTED; turn++)
        for (unsigned i = turn % 2; i + 1 < SORTED; i += 2)
            order(&desk.sorted[i], &desk.sorted[i + 1]);
}

/* ---- two threads ---------------------------------------------------------------------------------- */

struct span {
    uint64_t first, end;
};

static struct {
    pthread_t thread;
    pthread_barrier_t turn; /* begins and ends a round's part of both threads */
    unsigned ready[2];      /* how often each thread has come to a measurement */
    struct span spans[PEER_THREADS];
    bool is_over;
} second;

/* Waits until both threads are here. */
static void meet(unsigned thread)
{
    const unsigned mine = __atomic_add_fetch(&second.ready[thread], 1, __ATOMIC_ACQ_REL);
    for (unsigned turns = 1; __atomic_load_n(&second.ready[!thread], __ATOMIC_ACQUIRE) < mine; turns++)
        if (turns % SPINS == 0) /* the other one is off its CPU */
            sched_yield();
}

/* ---- one measurement ------------------------------------------------------------------------------ */

/* With `together` the two threads begin at the same time. */
static struct span measure(unsigned peer, enum shape shape, unsigned thread, bool together)
{
    const bool in_situ = shape >= ONE_IN_SITU;
    const uint64_t count = in_situ ? PIECES : EVENTS;
    peer_loop *const loop = shape == ONE || shape == ONE_IN_SITU ? peers[peer]->one : peers[peer]->four;
    uint64_t *const number = &logged[peer][thread];
    loop(PEER_NUMBER(thread, *number), count / 2, in_situ ? work : NULL); /* caches */
    *number += count / 2;
    if (together)
        meet(thread);
    struct span span = {.first = arch_trace_clock()};
    loop(PEER_NUMBER(thread, *number), count, in_situ ? work : NULL);
    span.end = arch_trace_clock();
    *number += count;
    return span;
}

static unsigned repeats(enum shape shape)
{
    return shape >= ONE_IN_SITU ? 1 : REPEATS;
}

static double ticks_of_one(struct span span, enum shape shape)
{
    return (double)(span.end - span.first) / (shape >= ONE_IN_SITU ? PIECES : EVENTS);
}

/* Whether the two measured at the same time. */
static bool overlap(struct span a, struct span b)
{
    const uint64_t first = a.first > b.first ? a.first : b.first, end = a.end < b.end ? a.end : b.end;
    const uint64_t longer = a.end - a.first > b.end - b.first ? a.end - a.first : b.end - b.first;
    return first < end && (end - first) * 10 > longer * 8;
}

/* The order in which the ways are measured. It differs from round to round and from shape to shape, so that
 * each way follows every other one. Both threads use the same order. */
static void shuffle(unsigned round, unsigned shape, unsigned *order)
{
    uint64_t random = ((uint64_t)round * SHAPES + shape + 1) * 0x9e3779b97f4a7c15u;
    for (unsigned i = 0; i < peer_count; i++) {
        const unsigned other = (unsigned)(random >> 40) % (i + 1);
        order[i] = order[other];
        order[other] = i;
        random = random * 6364136223846793005u + 1442695040888963407u;
    }
}

static void measure_all(unsigned round, enum place place)
{
    const unsigned thread = place == SECOND_OF_TWO;
    unsigned order[PEERS_MAX];
    for (unsigned shape = 0; shape < SHAPES; shape++) {
        shuffle(round, shape, order);
        for (unsigned i = 0; i < peer_count * repeats(shape); i++) {
            const unsigned peer = order[i % peer_count];
            const struct span span = second.spans[thread] = measure(peer, shape, thread, place != ALONE);
            if (place != ALONE)
                meet(thread);
            costs[peer][shape][place][round * repeats(shape) + i / peer_count] =
                place == ALONE || overlap(second.spans[0], second.spans[1]) ? ticks_of_one(span, shape) : -1;
        }
    }
}

/* ---- rounds --------------------------------------------------------------------------------------- */

static int cpus_of_threads[PEER_THREADS];

static void find_cpus(void)
{
    cpu_set_t allowed;
    unsigned found = 0;
    sched_getaffinity(0, sizeof(allowed), &allowed);
    for (int cpu = 0; cpu < CPU_SETSIZE && found < PEER_THREADS; cpu++)
        if (CPU_ISSET(cpu, &allowed))
            cpus_of_threads[found++] = cpu;
    if (found < PEER_THREADS)
        fail("sched_getaffinity", "two CPUs are needed");
}

static void stay_on_cpu(unsigned thread)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpus_of_threads[thread], &set);
    if (sched_setaffinity(0, sizeof(set), &set))
        fail("sched_setaffinity", "not allowed");
}

static void *run_second(void *unused)
{
    stay_on_cpu(1);
    for (unsigned round = 0;; round++) {
        pthread_barrier_wait(&second.turn);
        if (second.is_over)
            return NULL;
        measure_all(round, SECOND_OF_TWO);
    }
}

static uint64_t nanoseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* At most `rounds`, which becomes how many there were. */
static void run_rounds(uint64_t end)
{
    unsigned round = 0;
    pthread_barrier_init(&second.turn, NULL, 2);
    pthread_create(&second.thread, NULL, run_second, NULL);
    stay_on_cpu(0);
    for (; round < rounds && nanoseconds() < end; round++) {
        measure_all(round, ALONE);
        pthread_barrier_wait(&second.turn);
        measure_all(round, FIRST_OF_TWO);
    }
    rounds = round;
    second.is_over = true;
    pthread_barrier_wait(&second.turn);
    pthread_join(second.thread, NULL);
}

/* Runs the rounds; prints the length of a tick. */
static void run(unsigned seconds)
{
    const uint64_t first = nanoseconds(), first_tick = arch_trace_clock();
    run_rounds(first + seconds * 1000000000ull);
    printf("tick\t%.6f\n", (double)(nanoseconds() - first) / (double)(arch_trace_clock() - first_tick));
}

/* ---- main ----------------------------------------------------------------------------------------- */

static void print_costs(unsigned peer, enum shape shape, enum place place)
{
    printf("cost\t%s\t%s\t%s", peers[peer]->name, shape_names[shape], place_names[place]);
    for (unsigned i = 0; i < rounds * repeats(shape); i++)
        printf("\t%.2f", costs[peer][shape][place][i]);
    printf("\n");
}

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

static void end(const char *directory)
{
    char path[512];
    for (unsigned peer = 0; peer < peer_count; peer++) {
        snprintf(path, sizeof(path), "%s/%s", directory, peers[peer]->name);
        const char *problem = peers[peer]->end(path, logged[peer]);
        if (problem)
            fail(peers[peer]->name, problem);
        for (unsigned thread = 0; thread < PEER_THREADS; thread++)
            printf("logged\t%s\t%u\t%lu\n", peers[peer]->name, thread, logged[peer][thread]);
    }
}

int main(int count, char **arguments)
{
    if (count < 5)
        fail("usage", "peers DIRECTORY ROUNDS SECONDS PEER.so...");
    rounds = (unsigned)atoi(arguments[2]);
    if (rounds < 1 || rounds > ROUNDS_MAX)
        fail("ROUNDS", "1 to 10000");
    find_cpus();
    for (int i = 4; i < count; i++)
        load(arguments[i]);
    run((unsigned)atoi(arguments[3]));
    for (unsigned peer = 0; peer < peer_count; peer++)
        for (unsigned shape = 0; shape < SHAPES; shape++)
            for (unsigned place = 0; place < PLACES; place++)
                print_costs(peer, shape, place);
    end(arguments[1]);
    return 0;
}
