/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tests/unit/trace/step_test.c - the logging path in a process of Linux, interrupted at every instruction.
 *
 * A signal comes before the first, the second, ... instruction of an event, and its handler logs, too: one
 * event, or enough to fill buffers. This is done with space for the event, and again at a buffer's end. Then
 * all events must be there once, in order and with their payload. Built in both disciplines
 * (tests/peers/rings.h):
 *
 * - Compare-and-swap: the thread executes step by step, through the slow path, too.
 * - Restartable: a step would restart the block, and the next step again. So the instructions are found
 * first, while Linux restarts nothing, and then a stop is placed on one after the other. A signal in a
 * block's critical section must have it restarted. What the handler logs while the thread itself changes the
 * ring must be counted as discarded (ask.c).
 */
#include <port/step.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <tests/peers/rings.h>
#include <tests/peers/step.h>
#include <tests/tap.h>
#include <trace/user.h>

#define PLACES_MAX 4096u
#define TRIES      5u
#define MANY       1500u /* more than a buffer has */

#ifdef TRACE_CAS
#define MAY_DISCARD false
#else
#define MAY_DISCARD true /* what a handler logs while the thread itself changes the ring (ask.c) */
#endif

/* Numbers of the writer's event, of those in the handler, and of those that fill the buffer before. */
enum series { WRITER = 1, HANDLER, FILLING };
#define NUMBER(series, n) ((uint64_t)(series) << 32 | (n))

static uint32_t logged[FILLING + 1], nested;
static volatile bool is_written, was_interrupted;

static void log_number(enum series series)
{
    const uint64_t number = NUMBER(series, logged[series]++);
    trace_user_stopwatch_stop(number, ~number);
}

static __attribute__((noinline)) void write_event(void)
{
    trace_user_values(NUMBER(WRITER, 0), ~NUMBER(WRITER, 0), 3, 4);
}

static __attribute__((noinline)) void run_writer(void)
{
    is_written = false;
    write_event();
    is_written = true;
}

static void interrupt(void)
{
    was_interrupted = true;
    for (uint32_t i = 0; i < nested; i++)
        log_number(HANDLER);
}

/* New rings; with `at_end` no event of five words fits into the open packet. */
static void prepare(bool at_end)
{
    const char *problem = host_rings_open(TRACE_BUFFER_BYTES_MIN, 8, TRACE_MODE_FLIGHT);
    if (problem) {
        printf("Bail out! %s\n", problem);
        exit(1);
    }
    memset(logged, 0, sizeof(logged));
    const struct trace_reader reader = host_reader((uint32_t)sched_getcpu());
    const struct trace_control *control = trace_control_of(reader.ring);
    const uint64_t size = TRACE_BUFFER_BYTES_MIN / 8;
    while (at_end && trace_index_open_words(control->index, size) + 6 <= size)
        log_number(FILLING);
    logged[WRITER] = 1;
    was_interrupted = false;
}

/* ---- checking ------------------------------------------------------------------------------------- */

static struct findings {
    uint32_t seen[FILLING + 1], next[FILLING + 1];
    uint64_t wrong;
} found;

static void check_event(uint32_t cpu, const struct trace_header *event)
{
    const uint64_t *words = (const uint64_t *)(event + 1);
    const uint64_t series = words[0] >> 32;
    if (event->id >> 16 != TRACE_CLASS_USER)
        return;
    if (series < WRITER || series > FILLING) {
        found.wrong++;
        return;
    }
    const bool is_writers = event->id == TRACE_ID(TRACE_CLASS_USER, 5);
    found.wrong += is_writers != (series == WRITER) || (uint32_t)words[0] < found.next[series] ||
                   words[1] != ~words[0] || (is_writers && (words[2] != 3 || words[3] != 4));
    found.next[series] = (uint32_t)words[0] + 1;
    found.seen[series]++;
}

static void check_packet(uint32_t cpu, const struct trace_packet *packet, void *context)
{
    found.wrong += !host_packet_walk(cpu, packet, check_event);
}

static bool is_all_there(void)
{
    memset(&found, 0, sizeof(found));
    const bool are_whole = host_rings_read(check_packet, NULL);
    found.seen[HANDLER] += (uint32_t)host_discarded();
    return are_whole && !found.wrong && !host_torn() && !memcmp(found.seen, logged, sizeof(logged)) &&
           (MAY_DISCARD || !host_discarded());
}

/* ---- a signal at every instruction ---------------------------------------------------------------- */

static struct result {
    uint32_t instructions, restarted, failed;
} result;

static uint64_t places[PLACES_MAX]; /* addresses of the instructions, in the order of their execution */

static void note_place(uint64_t ip, void *context)
{
    if ((ip == (uint64_t)write_event || result.instructions) && !is_written &&
        result.instructions < PLACES_MAX)
        places[result.instructions++] = ip;
}

static void find_places(bool at_end)
{
    prepare(at_end);
    result = (struct result){0};
    is_written = false;
    host_step(run_writer, note_place);
}

#ifdef TRACE_CAS
static uint32_t steps_left;

static void interrupt_at_step(uint64_t ip, void *context)
{
    static bool is_counting;
    is_counting = ip == (uint64_t)write_event || (is_counting && !is_written);
    if (!is_counting || --steps_left)
        return;
    is_counting = false;
    interrupt();
    port_host_step(context, false);
}

static void interrupt_before(uint32_t instruction)
{
    steps_left = instruction + 1;
    host_step(run_writer, interrupt_at_step);
}
#else
static uint8_t *stop, stopped; /* where a stop is, and what was there */

static void on_stop(int number, siginfo_t *info, void *context)
{
    *stop = stopped;
    interrupt();
    /* Otherwise Linux has already chosen where the thread goes on. */
    if (port_host_ip(context) == (uint64_t)stop + 1)
        port_host_set_ip(context, (uint64_t)stop);
    else
        result.restarted++;
}

static void interrupt_before(uint32_t instruction)
{
    const struct sigaction action = {.sa_sigaction = on_stop, .sa_flags = SA_SIGINFO};
    stop = (uint8_t *)places[instruction];
    if (mprotect((void *)((uint64_t)stop & ~4095ull), 4096, PROT_READ | PROT_WRITE | PROT_EXEC)) {
        printf("Bail out! the program's text cannot be written\n");
        exit(1);
    }
    sigaction(SIGTRAP, &action, NULL);
    stopped = *stop;
    *stop = PORT_STOP;
    run_writer();
    *stop = stopped; /* also if it was not met */
}
#endif

static void interrupt_everywhere(bool at_end, uint32_t events)
{
    uint32_t before = 0; /* more instructions if the host stalls, which is not so twice */
    for (find_places(at_end); result.instructions != before; find_places(at_end))
        before = result.instructions;
    nested = events;
    for (uint32_t i = 0; i < result.instructions; i++) {
        was_interrupted = false;
        /* If the host stalls for seconds, the event begins a packet because of the time: in fewer
         * instructions, so the last ones are not met. */
        for (unsigned tries = 0; tries < TRIES && !was_interrupted; tries++) {
            prepare(at_end);
            interrupt_before(i);
        }
        const bool is_right = was_interrupted && is_all_there();
        if (!is_right && !result.failed++)
            printf("# first at instruction %u, 0x%lx, %sinterrupted: %u, %u and %u events, %lu wrong\n", i,
                   places[i], was_interrupted ? "" : "not ", found.seen[WRITER], found.seen[HANDLER],
                   found.seen[FILLING], found.wrong);
    }
    check(result.instructions > 20 && !result.failed,
          "%s, %u events in the handler, before each of %u instructions",
          at_end ? "at a buffer's end" : "with space", events, result.instructions);
#ifndef TRACE_CAS
    check(result.restarted >= 10, "%u of them restarted the block", result.restarted);
#endif
}

int main(void)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((unsigned)sched_getcpu(), &set);
    sched_setaffinity(0, sizeof(set), &set);
    interrupt_everywhere(false, 1);
    interrupt_everywhere(false, MANY);
    interrupt_everywhere(true, 1);
    interrupt_everywhere(true, MANY);
    return finish_tests();
}
