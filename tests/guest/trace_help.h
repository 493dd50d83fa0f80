/* trace_help.h - for tests of the trace: controls it, logs numbered events and finds them again. */
#pragma once

#include <tarn/abi.h>
#include <tarn/trace_control.h>

#include <arch/trace.h>
#include <tests/guest/tap.h>
#include <trace/user.h>
#include <user/bin/trace_rings.h>

#define CLASS_USER_BIT (1ull << TRACE_CLASS_USER)
#define ID_STOPWATCH   TRACE_ID(TRACE_CLASS_USER, 3)

static inline int64_t control(uint32_t operation, uint64_t a, uint64_t b)
{
    return sys_trace_control(SLOT_TRACE, operation, a, b);
}

/* From now on the caller runs only on this CPU. */
static inline void move_to(uint32_t cpu)
{
    process_set_affinity(1ull << cpu);
}

/* One of `every` acquisitions of the class's locks; 0: none. */
static inline void sample(uint64_t lock_class, uint64_t every)
{
    control(TRACE_OP_SAMPLE_LOCKS, lock_class, every);
}

/* The number of a lock class; 0, which is another one, if there is none of that name. */
static inline uint32_t find_class(const char *name)
{
    static struct system_lock_class classes[64];
    int64_t bytes = sys_system_read(SYSTEM_LOCK_CLASSES, 0, classes, sizeof classes);
    for (uint64_t i = 0; bytes > 0 && i < (uint64_t)bytes / sizeof *classes; i++)
        if (!strcmp(classes[i].name, name))
            return classes[i].number;
    printf("Bail out! no class %s\n", name);
    return 0;
}

/* Events that carry a number: user_stopwatch_start. */
static inline void log_numbers(uint64_t first, uint64_t end)
{
    for (uint64_t i = first; i < end; i++)
        trace_user_stopwatch_start(i);
}

/* Which of the numbers first .. end - 1 are in the rings. */
struct numbers {
    uint64_t first, end;
    uint64_t found;                  /* how many */
    uint64_t lowest, highest;        /* of the numbers found */
    uint64_t on_cpu[TRACE_CPUS_MAX]; /* number found in each CPU's ring */
    struct ring_findings findings;
};

static inline void note_number(void *context, uint32_t cpu, const struct trace_header *event, uint64_t time)
{
    struct numbers *numbers = context;
    uint64_t number = event->length > 1 ? *(const uint64_t *)(event + 1) : 0;
    if (event->id != ID_STOPWATCH || number < numbers->first || number >= numbers->end)
        return;
    if (!numbers->found || number < numbers->lowest)
        numbers->lowest = number;
    if (!numbers->found || number > numbers->highest)
        numbers->highest = number;
    numbers->found++;
    numbers->on_cpu[cpu]++;
}

static inline struct numbers find_numbers(uint64_t first, uint64_t end)
{
    struct numbers numbers = {.first = first, .end = end};
    if (!visit_rings(note_number, &numbers, &numbers.findings))
        printf("Bail out! no memory to read the rings\n");
    return numbers;
}

static inline uint64_t discarded_on(uint32_t cpu)
{
    struct trace_reader ring = ring_of(cpu);
    return trace_reader_load(&ring, TRACE_CONTROL_AT(discarded));
}
