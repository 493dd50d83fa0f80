/* settings.c - gives the commands of trace/print/commands.h access to the kernel's settings. */
#include <kernel/cpu/lock.h>
#include <kernel/diagnosis/counters.h>
#include <kernel/kernel.h>
#include <kernel/trace/control.h>
#include <tarn/abi.h>
#include <trace/print/app_schema.h>

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
