/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel/trace/bench.c - measures the cost of logging each event of the system (`trace bench`), for the
 * metadata, and collects applications' measurements of theirs.
 *
 * Method: trace/cost/dummies.h. Each event has a function here with a call site of its own: a site that is
 * on, the cold code behind it (with a second site, which is off, if the event can be limited), and a block
 * (trace/ring/restart.h). The sites are not in the table of sites, so no mask switches them off. While
 * samples are taken, this CPU logs to a scratch ring, which nobody reads. Interrupts are off; events of an
 * NMI are lost meanwhile. A system call takes the samples of one event, so that none is long.
 *
 * An application's events are measured in the program (trace/event/bench.c), which reports the figures.
 * They are kept by name: they stay when the class is forgotten, because the program may register it again.
 *
 * Locking: trace_lock covers ring and results.
 */
#define TRACE_SITES_UNLISTED
#include "trace/dummies.h" /* generated: includes the classes */
#include <arch/counter.h>
#include <kernel/cpu/cpu.h>
#include <kernel/kernel.h>
#include <kernel/trace/control.h>
#include <tarn/error.h>
#include <tarn/trace_control.h>
#include <trace/cost/dummies.h>
#include <trace/format/metadata.h>
#include <trace/format/text.h>
#include <trace/ring/ring.h>

#define TRACE_DUMMY(id, name, call) TRACE_DUMMY_FUNCTION(name, call)
#include "trace/dummies.h"
#undef TRACE_DUMMY

#define TRACE_DUMMY(id, name, call) {id, #name, dummy_##name},
static const struct dummy {
    uint32_t id;
    const char *name;
    trace_dummy_function *log;
} dummies[] = {
#include "trace/dummies.h"
};
#define DUMMIES (sizeof(dummies) / sizeof(dummies[0]))

/* under trace_lock */
static struct {
    bool is_known;
    struct trace_figures figures;
} results[DUMMIES];
static struct {
    struct trace_control control;
    char buffer[TRACE_BUFFER_BYTES_MIN];
} scratch __attribute__((aligned(4096)));
_Static_assert(TRACE_BUFFERS_OFFSET - TRACE_CONTROL_OFFSET == sizeof(struct trace_control), "as in a ring");

/* Of an application's event. */
struct app_result {
    struct trace_app_event event;
    struct trace_figures figures;
};
static struct app_result app_results[TRACE_APP_COSTS_MAX]; /* under trace_lock */
static uint32_t app_result_count, app_result_changes;

static bool measure(struct trace_figures *figures, trace_dummy_function *log)
{
    struct cpu *cpu = this_cpu();
    const uint64_t ring = cpu->block.ring;

    cpu->block.ring = (uint64_t)scratch.buffer;
    const bool has_logged = trace_measure(figures, log, &scratch.control);
    cpu->block.ring = ring;
    return has_logged;
}

/* ---- the metadata --------------------------------------------------------------------------------- */

static void add_number(struct trace_text *text, uint32_t number, bool is_known)
{
    trace_text_char(text, ' ');
    if (is_known)
        trace_text_number(text, number);
    else
        trace_text_char(text, '-');
}

static void write_figures(struct trace_text *text, const char *name, const struct trace_figures *figures)
{
    const bool counts = arch_counts_instructions();

    trace_text_add(text, " * ");
    trace_text_add(text, name);
    for (uint32_t i = 0; i < 2; i++)
        add_number(text, figures->ticks[i], true);
    for (uint32_t i = 0; i < 2; i++)
        add_number(text, figures->instructions[i], counts);
    trace_text_char(text, '\n');
}

/* FORMAT.md, "Costs of logging". A multiple of 8 bytes. */
void trace_bench_write(struct trace_text *text)
{
    assert(spin_held(&trace_lock));
    trace_text_add(text, TRACE_COSTS_BEGIN);
    for (uint32_t i = 0; i < DUMMIES; i++)
        if (results[i].is_known)
            write_figures(text, dummies[i].name, &results[i].figures);
    for (uint32_t i = 0; i < app_result_count; i++)
        write_figures(text, app_results[i].event.name, &app_results[i].figures);
    trace_text_add(text, " */\n");
    while (text->length % 8 != 0)
        trace_text_char(text, '\n');
}

int64_t trace_bench(uint64_t id)
{
    for (uint32_t i = 0; i < DUMMIES; i++) {
        if (dummies[i].id != id)
            continue;
        spin_lock(&trace_lock);
        bool is_known = results[i].is_known = measure(&results[i].figures, dummies[i].log);
        spin_unlock(&trace_lock);
        return is_known ? 0 : -E_NOT_FOUND;
    }
    return -E_NOT_FOUND;
}

/* ---- applications' events ------------------------------------------------------------------------- */

/* Drops the figures of events whose class is not registered any more. */
static void drop_forgotten(void)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < app_result_count; i++)
        if (trace_is_registered(&app_results[i].event))
            app_results[kept++] = app_results[i];
    app_result_count = kept;
}

/* The event's figures, all 0 if it has none yet. NULL: no space left. */
static struct app_result *find_result(const struct trace_app_event *event)
{
    for (uint32_t i = 0; i < app_result_count; i++)
        if (!strcmp(app_results[i].event.name, event->name)) {
            app_results[i].event = *event;
            return &app_results[i];
        }
    if (app_result_count == TRACE_APP_COSTS_MAX)
        drop_forgotten();
    if (app_result_count == TRACE_APP_COSTS_MAX)
        return NULL;
    app_results[app_result_count] = (struct app_result){.event = *event};
    return &app_results[app_result_count++];
}

int64_t trace_set_cost(uint64_t what, uint64_t figures)
{
    struct trace_app_event event;
    const uint32_t id = (uint32_t)what, values[2] = {(uint32_t)figures, (uint32_t)(figures >> 32)};
    struct app_result *result = NULL;
    int64_t error = 0;
    if (what == ~0ull)
        return __atomic_load_n(&app_result_changes, __ATOMIC_RELAXED);
    if (what & ~(0xffffffffull | TRACE_COST_INSTRUCTIONS))
        return -E_BAD_ARGUMENT;
    spin_lock(&trace_lock);
    if (!trace_find_app_event(id, &event))
        error = -E_NOT_FOUND;
    else if (!(result = find_result(&event)))
        error = -E_TOO_LARGE;
    for (uint32_t i = 0; result && i < 2; i++)
        *(what & TRACE_COST_INSTRUCTIONS ? &result->figures.instructions[i] : &result->figures.ticks[i]) =
            values[i];
    app_result_changes += result != NULL;
    spin_unlock(&trace_lock);
    return error;
}
