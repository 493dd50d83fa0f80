/*
 * sysstat.c - memory, kernel objects and idle time, as the kernel counts them.
 *
 *     sysstat [seconds [count]]     prints a line every `seconds`, `count` times or for ever
 *
 * Use it to find leaks: numbers that grow under a constant load.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <tarn/runtime.h>
#include <user/bin/util.h>

#define SYNOPSIS "[seconds [count]]"

static struct system_stats read_stats(void)
{
    struct system_stats stats = {0};
    int64_t bytes = sys_system_read(SYSTEM_STATS, 0, &stats, sizeof stats);
    if (bytes < 0) {
        complain("cannot read the statistics: error %lld", (long long)-bytes);
        exit(1);
    }
    return stats;
}

static unsigned long long kib(uint64_t frames)
{
    return frames * (TARN_PAGE_SIZE / 1024);
}

/* `idle`: of all CPUs, from 0 to 1. */
static void print_line(double time, const struct system_stats *s, double idle)
{
    printf("%8.2f %11llu %6llu %6llu %7llu %9llu %13llu %8llu %8llu %7llu %3.0f%%\n", time,
           kib(s->frames_free), kib(s->slab_frames), (unsigned long long)s->spaces,
           (unsigned long long)s->threads, (unsigned long long)s->endpoints,
           (unsigned long long)s->notifications, (unsigned long long)s->memories,
           (unsigned long long)s->mappings, (unsigned long long)s->replies, idle * 100);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    int at = read_options(argc, argv, "", 0, SYNOPSIS);
    if (argc - at > 2)
        usage(SYNOPSIS);
    unsigned seconds = at < argc ? (unsigned)read_number(argv[at], 1, 1000000, SYNOPSIS) : 0;
    unsigned count = at + 1 < argc ? (unsigned)read_number(argv[at + 1], 1, 1000000, SYNOPSIS) : 0;
    struct system_stats last = {0}; /* the first line shows the mean since boot */
    double last_time = 0;
    puts("    TIME    KIB FREE  SLABS SPACES THREADS ENDPOINTS NOTIFICATIONS MEMORIES MAPPINGS REPLIES IDLE");
    for (unsigned line = 1;; line++) {
        struct system_stats stats = read_stats();
        double time = (double)clock_monotonic_ns() / 1e9,
               ticks = (time - last_time) * 1e9 * (double)stats.cpus;
        print_line(time, &stats, (double)(stats.idle_ns - last.idle_ns) / ticks);
        last = stats;
        last_time = time;
        if (seconds == 0 || line == count)
            return 0;
        sleep(seconds);
    }
}
