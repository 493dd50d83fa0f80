/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace.c - commands trace, follow, stat: events of one CPU or all, merged by time and filtered; mask
 * and switches.
 *
 * A view is a filter and a number of matching events from the end. To show it, the newest packets of the
 * rings are read twice: to count the matches, and to print; more packets until enough match. Context and
 * switch events say which thread ran. The rings do not change, because all CPUs are stopped; packets
 * overwritten by one that could not be stopped are skipped.
 */
#include "trace/events.h" /* generated */
#include <kernel/cpu/cpu.h>
#include <kernel/debug/debug.h>
#include <kernel/kernel.h>
#include <kernel/trace/control.h>
#include <kernel/trace/newest.h>
#include <tarn/error.h>
#include <tarn/trace_control.h>
#include <trace/print/app_schema.h>
#include <trace/print/print.h>
#include <trace/sched.h>

#define LINES_DEFAULT 20u
#define LINES_MAX     4000u
#define PACKETS_FIRST 2u
#define PACKETS_MAX   4096u
#define ANY           (~0ull)

static struct view {
    uint64_t cpus, classes; /* bits */
    char event[48];         /* empty: any */
    uint64_t pid, tid;      /* the thread that logged; ANY */
    uint64_t follow;        /* logged by this thread, or names it; ANY */
    uint64_t since;         /* ticks */
    uint64_t count;         /* of events at most */
} view;

static struct trace_newest newest;
static struct {
    uint32_t pid, tid;
} runs[TRACE_CPUS_MAX]; /* the thread on each CPU at this position */

/* ---- The thread that logged ---- */

static void set_running(uint32_t cpu, const struct trace_moment *moment, const struct trace_event_info *info,
                        const char *pid, const char *tid)
{
    const struct trace_field_info *pid_field = trace_find_field(info, pid, strlen(pid)),
                                  *tid_field = trace_find_field(info, tid, strlen(tid));
    if (!pid_field || !tid_field || !trace_has_body(moment, info))
        return;
    runs[cpu].pid = (uint32_t)trace_field_value(moment, pid_field);
    runs[cpu].tid = (uint32_t)trace_field_value(moment, tid_field);
}

static void note_running(const struct trace_moment *moment, const struct trace_event_info *info)
{
    if (moment->event->id == TRACE_ID(TRACE_CLASS_TRACE, TRACE_MINOR_CONTEXT))
        set_running(moment->cpu, moment, info, "pid", "tid");
    else if (TRACE_ID_CLASS(moment->event->id) == TRACE_CLASS_SCHED && !strcmp(info->name, "switch"))
        set_running(moment->cpu, moment, info, "next_pid", "next_tid");
}

/* ---- Filters ---- */

static bool ends_with_tid(const char *name)
{
    size_t length = strlen(name);
    return length >= 3 && !strcmp(name + length - 3, "tid");
}

static bool names_thread(const struct trace_moment *moment, const struct trace_event_info *info, uint64_t tid)
{
    if (!info || !trace_has_body(moment, info))
        return false;
    for (uint32_t i = 0; i < info->field_count; i++) {
        const struct trace_field_info *field = &info->fields[i];
        if (field->kind == TRACE_FIELD_UNSIGNED && ends_with_tid(field->name) &&
            trace_field_value(moment, field) == tid)
            return true;
    }
    return false;
}

/* Matches the full name, its second half, or the beginning of the full name. */
static bool is_event(const struct trace_event_info *info, const char *name)
{
    size_t length = strlen(name);
    return info && ((strlen(info->full_name) >= length && memcmp(info->full_name, name, length) == 0) ||
                    !strcmp(info->name, name));
}

static bool matches(const struct trace_moment *moment, const struct trace_event_info *info)
{
    uint32_t tid = runs[moment->cpu].tid;
    if (!(view.classes >> TRACE_ID_CLASS(moment->event->id) & 1) || moment->time < view.since)
        return false;
    if (view.pid != ANY && runs[moment->cpu].pid != view.pid)
        return false;
    if (view.tid != ANY && tid != view.tid)
        return false;
    if (view.event[0] && !is_event(info, view.event))
        return false;
    return view.follow == ANY || tid == view.follow || names_thread(moment, info, view.follow);
}

/* ---- Events ---- */

/* A switch belongs to the old thread. */
static bool passes(const struct trace_moment *moment, const struct trace_event_info *info)
{
    bool was = matches(moment, info);
    if (info)
        note_running(moment, info);
    return was;
}

static uint64_t count_matches(uint64_t packets)
{
    memset(runs, 0, sizeof runs);
    return trace_newest_count(&newest, view.cpus, packets, passes);
}

/* Counts matching events, newest packets first, in no more packets of each ring than WANTED events need. */
static uint64_t find_matches(uint64_t wanted)
{
    const uint64_t most =
        trace_info_page.buffer_count < PACKETS_MAX ? trace_info_page.buffer_count : PACKETS_MAX;
    uint64_t total;
    for (uint64_t packets = PACKETS_FIRST; (total = count_matches(packets)) < wanted && packets < most;)
        packets *= 2;
    return total;
}

static void show(void)
{
    const uint64_t total = find_matches(view.count), first = total > view.count ? total - view.count : 0;
    memset(runs, 0, sizeof runs);
    trace_newest_print(&newest, first, total, passes, debug_print);
    debug_print("(%lu of %lu events found)\n", total - first, total);
}

/* ---- Settings ---- */

/* Only settings that trace points read may change while the other CPUs are stopped. */
static int64_t set_stopped(uint32_t operation, uint64_t a, uint64_t b)
{
    static uint64_t switches[TRACE_CLASS_COUNT];
    uint64_t mask = trace_info_page.mask;
    memcpy(switches, trace_info_page.switches, sizeof switches);
    if (operation == TRACE_OP_SET_MASK)
        mask = a;
    else if (operation == TRACE_OP_SET_SWITCHES)
        switches[a] = b;
    else
        return -E_UNSUPPORTED;
    if (!trace_switch_stopped(mask, switches))
        return -E_BUSY; /* another CPU is switching trace points */
    return 0;
}

static void put_text(struct trace_settings *settings, const char *text)
{
    debug_print("%s", text);
}

/* The commands of trace/print/commands.h, as far as they can be executed here. */
static void set(const struct debug_words *words)
{
    struct trace_settings settings = trace_kernel_settings(set_stopped, put_text);
    const int64_t status = trace_command_run(&settings, words->count - 1, (char *const *)words->word + 1);
    if (status)
        debug_print("%s%s\n", settings.error,
                    status == -E_UNSUPPORTED ? ": not while the machine stands still"
                    : status == -E_BUSY      ? ": continue, and try again"
                                             : "");
}

/* ---- Commands ---- */

static void reset_view(void)
{
    view = (struct view){
        .cpus = ANY,
        .classes = ANY,
        .pid = ANY,
        .tid = ANY,
        .follow = ANY,
        .count = LINES_DEFAULT,
    };
}

static void set_classes(const char *text)
{
    const char *bad;
    const struct trace_settings settings = trace_kernel_settings(set_stopped, put_text);
    view.classes = 0;
    if (trace_parse_mask(text, settings.find_class, &view.classes, &bad))
        return;
    debug_print("no class %s\n", bad);
    debug_end_command();
}

const char *debug_class_nth(uint32_t index)
{
    for (uint32_t class = 0; class < TRACE_CLASS_COUNT; class ++) {
        const char *name = trace_find_class_name(trace_app_schemas(), class);
        if (name && index-- == 0)
            return name;
    }
    return NULL;
}

/* Events by class and minor; NULL: none. */
#define EVENTS_MAX (TRACE_CLASS_COUNT * TRACE_MINORS_SWITCHED)
static const struct trace_event_info *event_at(uint32_t place)
{
    uint32_t class = place / TRACE_MINORS_SWITCHED, minor = place % TRACE_MINORS_SWITCHED;
    return trace_find_event(trace_app_schemas(), TRACE_ID(class, minor));
}

const char *debug_event_nth(uint32_t index)
{
    for (uint32_t place = 0; place < EVENTS_MAX; place++) {
        const struct trace_event_info *info = event_at(place);
        if (info && index-- == 0)
            return info->full_name;
    }
    return NULL;
}

static void set_event(const char *name)
{
    for (uint32_t place = 0; place < EVENTS_MAX; place++)
        if (is_event(event_at(place), name)) {
            format_text(view.event, sizeof view.event, "%s", name);
            return;
        }
    debug_print("no event %s\n", name);
    debug_end_command();
}

static void set_since(const char *milliseconds)
{
    uint64_t back = timer_ticks_ms(debug_number(milliseconds)), now = arch_trace_clock();
    view.since = now > back ? now - back : 0;
}

static void set_count(const char *text)
{
    view.count = debug_number(text);
    if (view.count == 0) {
        debug_print("%s: no number of events, which is 1 to %u\n", text, LINES_MAX);
        debug_end_command();
    }
}

static void set_filter(const char *word)
{
    const char *value;
    if ((value = debug_value(word, "cpu")))
        view.cpus = debug_cpu(value)->bit;
    else if ((value = debug_value(word, "class")))
        set_classes(value);
    else if ((value = debug_value(word, "event")))
        set_event(value);
    else if ((value = debug_value(word, "pid")))
        view.pid = debug_number(value);
    else if ((value = debug_value(word, "tid")))
        view.tid = debug_number(value);
    else if ((value = debug_value(word, "back")))
        set_since(value);
    else
        set_count(word);
}

static void set_filters(const struct debug_words *words, uint32_t from)
{
    for (uint32_t i = from; i < words->count; i++)
        set_filter(words->word[i]);
    if (view.count > LINES_MAX)
        view.count = LINES_MAX;
}

void debug_trace(const struct debug_words *words)
{
    if (words->count > 1 && trace_command_find(words->word[1])) {
        set(words);
        return;
    }
    reset_view();
    set_filters(words, 1);
    show();
}

void debug_follow(const struct debug_words *words)
{
    reset_view();
    if (words->count < 2) {
        debug_print("follow TID [N] [filters of trace]\n");
        return;
    }
    view.follow = debug_number(words->word[1]);
    set_filters(words, 2);
    show();
}

/* ---- Statistics ---- */

static uint64_t by_class[TRACE_CLASS_COUNT];

static bool count_class(const struct trace_moment *moment, const struct trace_event_info *info)
{
    by_class[TRACE_ID_CLASS(moment->event->id)]++;
    return true;
}

static void put_classes(void)
{
    for (uint32_t class = 0; class < TRACE_CLASS_COUNT; class ++) {
        const char *name = trace_find_class_name(trace_app_schemas(), class);
        if (by_class[class])
            debug_print("  class %-12s %10lu events\n", name ? name : "(unknown)", by_class[class]);
    }
}

void debug_stat(const struct debug_words *words)
{
    const struct trace_info *info = &trace_info_page;
    memset(by_class, 0, sizeof by_class);
    debug_print("mode %s, %lu buffers of %lu KiB, mask %#lx\n", trace_mode_name(info->mode),
                info->buffer_count, trace_buffer_bytes(info) >> 10, info->mask);
    debug_print("cpu     logged KiB  events there   discarded        torn\n");
    for (uint32_t cpu = 0; cpu < info->cpu_count; cpu++) {
        const struct trace_reader reader = trace_reader_of(cpu);
        debug_print("%3u %14lu %13lu %11lu %11lu\n", cpu,
                    (trace_trusted_index(cpu) & ~TRACE_INDEX_CLOSED) >> 7,
                    trace_newest_count(&newest, 1ull << cpu, PACKETS_MAX, count_class),
                    trace_reader_discarded(&reader), trace_reader_torn(&reader));
    }
    put_classes();
}
