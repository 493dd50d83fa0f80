/* filter.c - which events a subcommand uses; see filter.h. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tools/tarn/read/filter.h>

const char *list_next(const char *list, uint64_t *low, uint64_t *high)
{
    char *end;
    if (!isdigit((unsigned char)*list))
        return NULL;
    *low = *high = strtoull(list, &end, 0);
    if (*end == '-') {
        if (!isdigit((unsigned char)end[1]))
            return NULL;
        *high = strtoull(end + 1, &end, 0);
        if (*high < *low)
            return NULL;
    }
    if (*end == ',' && end[1] != '\0')
        return end + 1;
    return *end == '\0' ? end : NULL;
}

bool list_has(const char *list, uint64_t number)
{
    uint64_t low, high;
    while (list != NULL && *list != '\0') {
        list = list_next(list, &low, &high);
        if (list != NULL && number >= low && number <= high)
            return true;
    }
    return false;
}

bool list_is_valid(const char *list)
{
    uint64_t low, high;
    if (*list == '\0')
        return false;
    while (list != NULL && *list != '\0')
        list = list_next(list, &low, &high);
    return list != NULL;
}

bool list_matches(const char *patterns, const char *name)
{
    char one[256];
    while (*patterns != '\0') {
        size_t length = strcspn(patterns, ",");
        if (length < sizeof(one)) {
            memcpy(one, patterns, length);
            one[length] = '\0';
            if (match_glob(one, name))
                return true;
        }
        patterns += length + (patterns[length] == ',');
    }
    return false;
}

const struct command_option filter_options[FILTER_OPTIONS + 1] = {
    {TEXT("class", "LIST", struct filter, classes,
          "only events of these classes, by name (patterns) or number")},
    {TEXT("event", "PATTERNS", struct filter, events, "only events with these names: sched_*,irq_entry")},
    {TEXT("from", "TIME", struct filter, from,
          "only from this time on: seconds since the start of the trace, or @SECONDS on its clock\nTimes "
          "have nanosecond precision")},
    {TEXT("to", "TIME", struct filter, to, "only before this time")},
    {TEXT("cpu", "LIST", struct filter, cpus, "only these CPUs: 0,2,4-7")},
    {TEXT("pid", "LIST", struct filter, pids, "only while these processes run")},
    {TEXT("process", "PATTERN", struct filter, process,
          "only while a process or thread with this name runs\nA process's name is known from the event on "
          "that contains it")},
    {TEXT("tid", "LIST", struct filter, tids, "only while these threads run")},
    {FLAG(
        "without-drain", struct filter, without_drain,
        "leave out what the drain of the trace caused\nThe guest's trace server marks the rounds in which it "
        "sends packets. Its events, calls and time are left out, and those of servers while they work on its "
        "calls. The output says how much that was. Interrupts of the link's device, and what they set off, "
        "stay")},
    {.name = NULL}};

/* Converts SECONDS since the trace's start, or @SECONDS since the clock's origin, to ticks, rounded to whole
 * nanoseconds as times are printed. */
bool filter_time(const struct trace *trace, const char *text, uint64_t *ticks, struct fail *fail)
{
    const struct schema *schema = &trace->schema;
    bool is_absolute = *text == '@';
    char *end;
    long double seconds = strtold(text + is_absolute, &end), ns;
    if (end == text + is_absolute || *end != '\0' || !isfinite(seconds))
        return fail_set(fail, "'%s' is not a time; use seconds, or @seconds on the trace's clock", text);
    ns = roundl(seconds * 1e9L) + (is_absolute ? 0 : (long double)schema_ns(schema, trace->begin));
    *ticks = ns >= (long double)INT64_MAX   ? UINT64_MAX
             : ns <= (long double)INT64_MIN ? 0
                                            : schema_ticks(schema, (int64_t)ns);
    return true;
}

static bool wants_type(const struct filter *filter, const struct schema *schema,
                       const struct event_type *type)
{
    const char *class = schema->classes[TRACE_ID_CLASS(type->id)].name;
    if (filter->events != NULL && !list_matches(filter->events, type->name))
        return false;
    return filter->classes == NULL || list_matches(filter->classes, class) ||
           (list_is_valid(filter->classes) && list_has(filter->classes, TRACE_ID_CLASS(type->id)));
}

static bool resolve_times(struct filter *filter, const struct trace *trace, struct fail *fail)
{
    filter->from_ticks = 0;
    filter->to_ticks = UINT64_MAX;
    if ((filter->from && !filter_time(trace, filter->from, &filter->from_ticks, fail)) ||
        (filter->to && !filter_time(trace, filter->to, &filter->to_ticks, fail)))
        return false;
    return filter->from_ticks <= filter->to_ticks ||
           fail_set(fail, "--from %s is later than --to %s", filter->from, filter->to ? filter->to : "");
}

static bool resolve_streams(struct filter *filter, const struct trace *trace, struct fail *fail)
{
    bool any = trace->stream_count == 0;
    filter->streams = alloc_zero(trace->stream_count, sizeof(bool));
    for (unsigned i = 0; i < trace->stream_count; i++)
        any |= filter->streams[i] = list_has(filter->cpus, trace->streams[i].cpu);
    return any || fail_set(fail, "the trace has no CPU %.100s; `tarn info` lists its CPUs", filter->cpus);
}

static bool resolve_types(struct filter *filter, const struct schema *schema, struct fail *fail)
{
    bool any = false;
    filter->types = alloc_zero(schema->event_count, sizeof(bool));
    for (unsigned i = 0; i < schema->event_count; i++)
        any |= filter->types[i] = wants_type(filter, schema, schema->events[i]);
    return any ||
           fail_set(
               fail, "the trace's schema has no event%s%.200s%s%.100s; `tarn stats` lists those in the trace",
               filter->events != NULL ? " " : "", filter->events != NULL ? filter->events : "",
               filter->classes != NULL ? " of class " : "", filter->classes != NULL ? filter->classes : "");
}

bool filter_check_lists(const struct filter *filter, struct fail *fail)
{
    const char *const lists[] = {filter->cpus, filter->pids, filter->tids};
    for (int i = 0; i < 3; i++)
        if (lists[i] != NULL && !list_is_valid(lists[i]))
            return fail_set(fail, "'%.60s' is not a list of numbers such as 0,2,4-7", lists[i]);
    return true;
}

bool filter_resolve(struct filter *filter, const struct trace *trace, struct fail *fail)
{
    if (!filter_check_lists(filter, fail) || !resolve_times(filter, trace, fail) ||
        (filter->cpus != NULL && !resolve_streams(filter, trace, fail)) ||
        ((filter->events != NULL || filter->classes != NULL) && !resolve_types(filter, &trace->schema, fail)))
        return false;
    if (filter->without_drain && schema_find_event(&trace->schema, "trace_drain_begin") == NULL)
        return fail_set(fail,
                        "--without-drain: the trace is from an older version of Tarn, which did not mark "
                        "its drain");
    if (filter->subtract_cost && trace->schema.cost_count == 0)
        return fail_set(fail,
                        "--subtract-cost: the trace does not say what logging costs; run `trace bench` in "
                        "the guest before the pull");
    filter->by_running = filter->pids || filter->tids || filter->process;
    return true;
}

void filter_free(struct filter *filter)
{
    free(filter->streams);
    free(filter->types);
    filter->streams = filter->types = NULL;
}

bool filter_running(const struct filter *filter, const struct running *running, const struct names *names)
{
    if (!running->is_known)
        return false;
    if (filter->pids != NULL && !list_has(filter->pids, running->pid))
        return false;
    if (filter->tids != NULL && !list_has(filter->tids, running->tid))
        return false;
    if (filter->process != NULL) {
        const char *name = names_find(names, running->pid);
        return (name != NULL && list_matches(filter->process, name)) ||
               list_matches(filter->process, running->comm);
    }
    return true;
}
