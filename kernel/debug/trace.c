/*
 * trace.c - command trace: the last events of one CPU or all, merged by time and filtered; mask and switches.
 *
 * The newest packets of the rings are read twice: to count the events that match, and to print the last of
 * them; more packets until enough match. Context and switch events say which thread ran. The rings do not
 * change, because all CPUs are stopped; packets overwritten by one that could not be stopped are skipped.
 */
#include "trace/events.h" /* generated */
#include <kernel/cpu/cpu.h>
#include <kernel/debug/debug.h>
#include <kernel/diagnosis/counters.h>
#include <kernel/kernel.h>
#include <kernel/trace/control.h>
#include <tarn/error.h>
#include <tarn/trace_control.h>
#include <trace/print/app_schema.h>
#include <trace/print/print.h>
#include <trace/print/words.h>

#define LINES_DEFAULT 20u
#define LINES_MAX     4000u
#define PACKETS_FIRST 2u
#define PACKETS_MAX   4096u
#define ANY           (~0ull)

static struct view {
    uint64_t cpus, classes; /* bits */
    uint64_t tid;           /* logged by this thread, or names it; ANY */
    const char *event;      /* full name; NULL: any */
    uint64_t count;         /* of events at most */
} view;

static struct trace_newest newest;
static uint32_t running[TRACE_CPUS_MAX]; /* the thread on each CPU at this position */

/* ---- Filters ---- */

static void note_running(const struct trace_moment *moment, const struct trace_event_info *info)
{
    const bool is_context = moment->event->id == TRACE_ID(TRACE_CLASS_TRACE, TRACE_MINOR_CONTEXT);
    const char *name = is_context ? "tid" : "next_tid"; /* of sched_switch */
    const struct trace_field_info *field = trace_find_field(info, name, strlen(name));
    if (field && (is_context || !strcmp(info->full_name, "sched_switch")) && trace_has_body(moment, info))
        running[moment->cpu] = (uint32_t)trace_field_value(moment, field);
}

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

/* A switch belongs to the old thread. */
static bool passes(const struct trace_moment *moment, const struct trace_event_info *info)
{
    const uint32_t tid = running[moment->cpu];
    if (info)
        note_running(moment, info);
    return view.classes >> TRACE_ID_CLASS(moment->event->id) & 1 &&
           (!view.event || (info && !strcmp(info->full_name, view.event))) &&
           (view.tid == ANY || tid == view.tid || names_thread(moment, info, view.tid));
}

/* ---- Events ---- */

static uint64_t count_matches(uint64_t packets)
{
    memset(running, 0, sizeof running);
    return trace_newest_count(&newest, view.cpus, packets, passes);
}

static void show(void)
{
    uint64_t packets = PACKETS_FIRST, total;
    while ((total = count_matches(packets)) < view.count && packets < PACKETS_MAX &&
           packets < trace_info_page.buffer_count)
        packets *= 2;
    const uint64_t first = total > view.count ? total - view.count : 0;
    memset(running, 0, sizeof running);
    trace_newest_print(&newest, first, total, passes, debug_print);
    debug_print("(%lu of %lu events found)\n", total - first, total);
}

/* ---- Settings: what the commands of trace/print/commands.h need, here and in boot options ---- */

static int find_class(const char *name, uint64_t length)
{
    return trace_find_any_class(trace_app_schemas(), name, length);
}

static const char *class_name(uint32_t class_number)
{
    return trace_find_class_name(trace_app_schemas(), class_number);
}

static const struct trace_event_info *find_event(uint32_t id)
{
    return trace_find_event(trace_app_schemas(), id);
}

/* One element at a time */
static int64_t read(uint32_t kind, uint64_t index, void *to, uint64_t bytes)
{
    if (kind == SYSTEM_COUNTERS)
        return (int64_t)(counters_list(index, to, 1) * bytes);
    if (kind == SYSTEM_LOCK_CLASSES)
        return (int64_t)(lock_class_list(index, to, 1) * bytes);
    return counters_missing() ? format_text(to, bytes, "%s", counters_missing()) : 0;
}

struct trace_settings trace_kernel_settings(int64_t (*control)(uint32_t operation, uint64_t a, uint64_t b),
                                            trace_print_list *print)
{
    return (struct trace_settings){.info = &trace_info_page,
                                   .find_class = find_class,
                                   .class_name = class_name,
                                   .find_event = find_event,
                                   .read = read,
                                   .control = control,
                                   .print = print};
}

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
    return trace_switch_stopped(mask, switches) ? 0 : -E_BUSY; /* another CPU is switching trace points */
}

static void print(struct trace_settings *settings, const char *format, ...)
{
    char text[128];
    va_list arguments;
    va_start(arguments, format);
    format_text_list(text, sizeof text, format, arguments);
    va_end(arguments);
    debug_print("%s", text);
}

/* The commands of trace/print/commands.h, as far as they can be executed here. */
static void set(const struct debug_words *words)
{
    struct trace_settings settings = trace_kernel_settings(set_stopped, print);
    const int64_t status = trace_command_run(&settings, words->count - 1, (char *const *)words->word + 1);
    if (status)
        debug_print("%s%s\n", settings.error,
                    status == -E_UNSUPPORTED ? ": not while the machine stands still"
                    : status == -E_BUSY      ? ": continue, and try again"
                                             : "");
}

/* ---- The command ---- */

static void set_classes(const char *text)
{
    const char *bad;
    const struct trace_settings settings = trace_kernel_settings(set_stopped, print);
    view.classes = 0;
    if (trace_parse_mask(text, settings.find_class, &view.classes, &bad))
        return;
    debug_print("no class %s\n", bad);
    debug_end_command();
}

static void set_event(const char *name)
{
    view.event = name;
    for (uint32_t place = 0; place < TRACE_CLASS_COUNT * TRACE_MINORS_SWITCHED; place++) {
        const struct trace_event_info *info = trace_find_event(
            trace_app_schemas(), TRACE_ID(place / TRACE_MINORS_SWITCHED, place % TRACE_MINORS_SWITCHED));
        if (info && !strcmp(info->full_name, name))
            return;
    }
    debug_print("no event %s\n", name);
    debug_end_command();
}

static void set_count(const char *text)
{
    view.count = debug_number(text);
    if (view.count == 0 || view.count > LINES_MAX) {
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
    else if ((value = debug_value(word, "tid")))
        view.tid = debug_number(value);
    else
        set_count(word);
}

void debug_trace(const struct debug_words *words)
{
    if (words->count > 1 && trace_command_find(words->word[1])) {
        set(words);
        return;
    }
    view = (struct view){.cpus = ANY, .classes = ANY, .tid = ANY, .count = LINES_DEFAULT};
    for (uint32_t i = 1; i < words->count; i++)
        set_filter(words->word[i]);
    show();
}
