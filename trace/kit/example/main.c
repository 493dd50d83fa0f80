/*
 * main.c (example) - the kit without a kernel, in a program of Linux: a file takes the part of physical
 * memory.
 *
 *     example FILE [STEPS]     tarn pull ram:FILE
 *
 * Each thread counts to STEPS, and logs each step. It migrates from CPU to CPU on the way, is preempted by
 * the other threads, and is interrupted by a timer whose handler logs, too: at each of these moments another
 * writer may be in the middle of an event on the same ring. A reader must find every step once and in order.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <trace/example.h>
#include <trace/kit/kit.h>
#include <unistd.h>

#define THREADS 4u
/* Tests set others. */
#ifndef BUFFER_BYTES
#define BUFFER_BYTES TRACE_BUFFER_BYTES_DEFAULT
#endif
#ifndef BUFFERS
#define BUFFERS 256u
#endif
#ifndef MODE
#define MODE TRACE_MODE_FLIGHT
#endif
#define RING_BYTES TRACE_KIT_RING_BYTES(BUFFER_BYTES, BUFFERS)
#define KERNEL_AT  (1ull << 20) /* where the kit's own data lies in "physical memory" */
#define RAM_BASE   (1ull << 31) /* its first address, as on QEMU's RISC-V machine */

__thread uint32_t example_thread;
static __thread uint32_t ticks;
static uint64_t steps = 100000;
static char *memory;
static uint32_t cpus;               /* of the host */
static char *data_begin, *data_end; /* pages of this program's data, which lie in the file */

static void give_up(const char *what)
{
    perror(what);
    exit(1);
}

static uint64_t physical(const void *address)
{
    const char *at = address;
    const bool is_data = at >= data_begin && at < data_end;
    return RAM_BASE + (uint64_t)(is_data ? at - data_begin + (int64_t)KERNEL_AT : at - memory);
}

extern char __data_start[], _end[];

/* Puts this program's data into the file, where a reader finds the store: a kernel's data is in memory
 * anyway. */
static void make_memory(const char *path)
{
    const int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0666);
    const size_t bytes = 2 * KERNEL_AT + cpus * RING_BYTES;
    if (fd < 0 || ftruncate(fd, (off_t)bytes) != 0)
        give_up(path);
    memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    data_begin = (char *)(((uintptr_t)__data_start + 4095) & ~4095ull);
    data_end = (char *)(((uintptr_t)_end + 4095) & ~4095ull);
    const size_t size = (size_t)(data_end - data_begin);
    if (memory == MAP_FAILED || pwrite(fd, data_begin, size, KERNEL_AT) != (ssize_t)size ||
        mmap(data_begin, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, KERNEL_AT) == MAP_FAILED)
        give_up("the memory of the example");
}

static void start_trace(void)
{
    char *rings[TRACE_CPUS_MAX];
    for (uint32_t cpu = 0; cpu < cpus; cpu++)
        rings[cpu] = memory + 2 * KERNEL_AT + cpu * RING_BYTES;
    const struct trace_kit_setup setup = {
        .sysname = "example",
        .machine = "host",
        .cpu_count = cpus,
        .mode = MODE,
        .buffer_bytes = BUFFER_BYTES,
        .buffer_count = BUFFERS,
        .rings = rings,
        .clock_hz = EXAMPLE_CLOCK_HZ,
        .boot_id = (uint64_t)getpid(),
        .mask = ~0ull,
        .physical = physical,
    };
    const char *wrong = trace_kit_start(&setup);
    if (wrong) {
        fprintf(stderr, "example: %s\n", wrong);
        exit(1);
    }
}

static void on_timer(int number)
{
    trace_kit_tick();
    trace_example_tick(example_thread, ++ticks);
}

/* Moves the calling thread to another CPU, if it may run there. */
static void migrate(uint64_t to)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(to % cpus, &set);
    sched_setaffinity(0, sizeof(set), &set);
}

static void *count(void *number)
{
    uint64_t last[4] = {0};
    char text[64];
    example_thread = (uint32_t)(uintptr_t)number;
    for (uint64_t i = 1; i <= steps; i++) {
        memmove(last + 1, last, sizeof(last) - sizeof(last[0]));
        last[0] = i;
        trace_example_step(example_thread, i % 2, i);
        if (i % 500 == 0)
            migrate(example_thread + i / 500);
        if (i % 1000 != 0)
            continue;
        snprintf(text, sizeof(text), "counted %llu", (unsigned long long)i);
        trace_example_phase(example_thread, (uint32_t)(i / 1000), text);
        trace_example_trail(example_thread, (uint32_t)(i / 1000 % 4), last);
        usleep(10000); /* so that a reader has time to follow */
    }
    return NULL;
}

int main(int argc, char **argv)
{
    const struct itimerval period = {{.tv_usec = 500}, {.tv_usec = 500}};
    pthread_t threads[THREADS];
    if (argc < 2 || argc > 3) {
        fprintf(stderr, "usage: example FILE [STEPS]\n");
        return 2;
    }
    if (argc == 3)
        steps = strtoull(argv[2], NULL, 10);
    cpus = (uint32_t)sysconf(_SC_NPROCESSORS_CONF);
    if (cpus > TRACE_CPUS_MAX) {
        fprintf(stderr, "example: %u CPUs are more than TRACE_CPUS_MAX\n", cpus);
        return 1;
    }
    make_memory(argv[1]);
    start_trace();
    signal(SIGALRM, on_timer);
    for (uintptr_t i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, count, (void *)(i + 1)) != 0)
            give_up("pthread_create");
    setitimer(ITIMER_REAL, &period, NULL);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    signal(SIGALRM, SIG_IGN);
    trace_kit_end(TRACE_STORE_SHUTDOWN, "all threads have counted");
    return 0;
}
