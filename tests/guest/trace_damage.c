/*
 * trace_damage.c - damage to control pages is detected,
 * reported and repaired. Much damage at once, and what else happens meanwhile: tests/host/vandal.
 */

#include <tests/guest/trace_help.h>
#include <trace/trace.h>

#define PATIENCE_MS 10000 /* heartbeats occur several times a second; the host may be busy */

static const struct trace_info *info;

/* trace_corrupt of trace/schema/trace.ev. */
struct corrupt_body {
    uint32_t cpu, what;
    uint64_t found, expected;
};

/* Until an event reports what is wanted; `expected` does not matter. */
static void note_corrupt(void *context, uint32_t cpu, const struct trace_header *event, uint64_t time)
{
    const struct corrupt_body *body = (const struct corrupt_body *)(event + 1);
    struct corrupt_body *wanted = context;
    if (event->id == TRACE_ID(TRACE_CLASS_TRACE, 5) && cpu == wanted->cpu && body->cpu == cpu &&
        body->what == wanted->what && (!wanted->found || body->found == wanted->found))
        wanted->expected = 1;
}

/* Waits for the event that reports the damage. */
static bool is_named(uint32_t cpu, uint32_t what, uint64_t found)
{
    struct corrupt_body wanted = {.cpu = cpu, .what = what, .found = found};
    struct ring_findings findings;
    for (unsigned waited = 0; waited < PATIENCE_MS && !wanted.expected; waited += 50) {
        visit_rings(note_corrupt, &wanted, &findings);
        usleep(50000);
    }
    return wanted.expected;
}

static bool is_heard(uint32_t cpu)
{
    static uint64_t number = 1000;
    number++;
    move_to(cpu);
    log_numbers(number, number + 1);
    struct numbers numbers = find_numbers(number, number + 1);
    process_set_affinity(0);
    return numbers.found == 1 && numbers.on_cpu[cpu] == 1;
}

static volatile uint64_t *word_at(uint32_t cpu, uint64_t offset)
{
    return (volatile uint64_t *)(USER_TRACE_RINGS + ((uint64_t)cpu << TRACE_RING_SHIFT) + offset);
}

/* Overwrites one word on every CPU: of the control page, or the first of the open packet. */
static void spoil(uint64_t offset, uint64_t garbage, uint32_t what, const char *name)
{
    bool named = true, heard = true;
    control(TRACE_OP_CLEAR, 0, 0);
    for (uint32_t cpu = 0; cpu < info->cpu_count; cpu++) {
        const uint64_t open = *word_at(cpu, TRACE_CONTROL_AT(index)) >> (TRACE_INDEX_SHIFT - 3);
        *word_at(cpu, offset ? offset : TRACE_BUFFERS_OFFSET + (open & info->packet_mask)) = garbage;
        named = named && is_named(cpu, what, what == 1 || what == 3 ? 0 : garbage);
        heard = heard && is_heard(cpu);
    }
    check(named, "%s: detected and reported on every CPU", name);
    check(heard, "%s: logging continues", name);
}

int main(void)
{
    info = arch_trace_info();
    control(TRACE_OP_SET_MASK, CLASS_USER_BIT | 1ull << TRACE_CLASS_TRACE, 0);
    spoil(TRACE_CONTROL_AT(index), 1, 1, "index behind");
    spoil(TRACE_CONTROL_AT(index), 1ull << 60, 2, "index ahead");
    spoil(TRACE_CONTROL_AT(index), ~0ull, 2, "index at the end");
    spoil(0, 0x1badf00d, 3, "packet header");
    spoil(TRACE_CONTROL_AT(time_limit), ~0ull, 4, "time limit");
    spoil(TRACE_CONTROL_AT(discarded), 1ull << 62, 5, "discarded");
    return finish_tests();
}
