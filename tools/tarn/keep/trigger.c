/* trigger.c - decides when a pull saves a part of the trace; see trigger.h. */
#include <stdio.h>
#include <string.h>
#include <tools/tarn/keep/trigger.h>

#define INTERVALS_MAX 65536u /* in progress, of one trigger; further ones are not measured */

#define BLANKS " \t\n"

/* Returns where the value of NAME is stored; NULL: no part of an interval has this name. */
static const char **find_part(struct trigger *trigger, const char *name)
{
    static const char *const names[] = {"begin", "end", "match", "same"};
    for (unsigned part = PAIR_BEGIN; part <= PAIR_SAME; part++)
        if (strcmp(names[part], name) == 0)
            return &trigger->parts[part];
    return NULL;
}

/* WORD is the name of an option of `tarn list` that selects events, or of a part of an interval. */
static bool on_setting(struct trigger *trigger, char *word, char *equals, struct fail *fail)
{
    *equals = '\0';
    const struct command_option *option =
        list_names("from,to", word) ? NULL : option_find(filter_options, word);
    const char **member = find_part(trigger, word);
    if (member != NULL)
        *member = equals + 1;
    if (equals[1] == '\0' || (member == NULL && option == NULL))
        return fail_set(fail,
                        "'%.40s=%.40s' in a trigger; use class=, event=, cpu=, pid=, process= or tid= with a "
                        "value, or for "
                        "an interval begin=, end=, match= or same=",
                        word, equals + 1);
    return member != NULL || option_set(option, &trigger->filter, equals + 1, fail);
}

static bool on_name(struct trigger *trigger, const char *word, struct fail *fail)
{
    if (!trigger->is_latency) {
        if (trigger->filter.events != NULL)
            return fail_set(fail, "'%.40s' in a trigger: separate names of events by commas", word);
        trigger->filter.events = word;
        return true;
    }
    return pair_preset(trigger->parts, word) ||
           fail_set(fail, "'%.40s' is no interval; use begin= and end=, or one of " PAIR_PRESETS, word);
}

/* Takes the bound, the word after >, out of the words. */
static bool take_bound(struct trigger *trigger, struct fail *fail)
{
    char *sign = strchr(trigger->words, '>'), text[64];
    size_t blanks, length;
    if (sign == NULL)
        return true;
    blanks = strspn(sign + 1, BLANKS);
    length = strcspn(sign + 1 + blanks, BLANKS);
    snprintf(text, sizeof(text), "%.*s", (int)length, sign + 1 + blanks);
    memset(sign, ' ', 1 + blanks + length);
    trigger->is_latency = true;
    return parse_duration(text, &trigger->seconds, fail);
}

static bool check_parts(const struct trigger *trigger, struct fail *fail)
{
    const struct filter *filter = &trigger->filter;
    const char *const *parts = trigger->parts;
    if (trigger->is_latency && (parts[PAIR_BEGIN] == NULL || parts[PAIR_END] == NULL))
        return fail_set(fail,
                        "the trigger '%.80s' has no interval; use begin= and end=, or one of " PAIR_PRESETS,
                        trigger->text);
    if (trigger->is_latency && (filter->events != NULL || filter->classes != NULL))
        return fail_set(fail, "the trigger '%.80s' has both an interval and events", trigger->text);
    if (!trigger->is_latency && (parts[PAIR_BEGIN] != NULL || parts[PAIR_END] != NULL ||
                                 parts[PAIR_MATCH] != NULL || parts[PAIR_SAME] != NULL))
        return fail_set(fail, "the trigger '%.80s' has an interval without a bound: ... > 5ms",
                        trigger->text);
    if (!trigger->is_latency && filter->events == NULL && filter->classes == NULL)
        return fail_set(fail, "the trigger '%.80s' would fire at every event; name events", trigger->text);
    return filter_check_lists(filter, fail);
}

static bool parse_words(struct trigger *trigger, struct fail *fail)
{
    char *rest = trigger->words, *word;
    if (!take_bound(trigger, fail))
        return false;
    while ((word = strsep(&rest, BLANKS)) != NULL) {
        char *equals = strchr(word, '=');
        if (*word != '\0' &&
            !(equals != NULL ? on_setting(trigger, word, equals, fail) : on_name(trigger, word, fail)))
            return false;
    }
    return check_parts(trigger, fail);
}

bool triggers_add(struct triggers *triggers, const char *text, struct fail *fail)
{
    struct trigger *trigger = &triggers->items[triggers->count];
    if (triggers->count == TRIGGERS_MAX)
        return fail_set(fail, "at most %u triggers are possible", TRIGGERS_MAX);
    *trigger = (struct trigger){.text = text, .words = strdup(text)};
    map_open(&trigger->open, sizeof(uint64_t));
    trigger->open.limit = INTERVALS_MAX;
    triggers->count++;
    trigger->filter.by_running = false;
    if (!parse_words(trigger, fail))
        return false;
    trigger->filter.by_running = trigger->filter.pids || trigger->filter.tids || trigger->filter.process;
    return true;
}

static bool resolve_events(struct triggers *triggers, const struct trigger *trigger,
                           const struct schema *schema, uint32_t bit, struct fail *fail)
{
    struct filter filter = {.events = trigger->filter.events, .classes = trigger->filter.classes};
    const struct trace trace = {.schema = *schema};
    if (!filter_resolve(&filter, &trace, fail)) {
        filter_free(&filter);
        return false;
    }
    for (unsigned i = 0; i < schema->event_count; i++)
        triggers->wanted[i] |= filter.types[i] ? bit : 0;
    filter_free(&filter);
    return true;
}

static bool resolve_interval(struct triggers *triggers, struct trigger *trigger, const struct schema *schema,
                             uint32_t bit, struct fail *fail)
{
    const double ticks = trigger->seconds * (double)schema->clock_freq;
    if (!pair_resolve(&trigger->pair, schema, trigger->parts, fail))
        return false;
    trigger->ticks = ticks < 0x1p62 ? (uint64_t)ticks : 1ull << 62;
    triggers->wanted[trigger->pair.begin->index] |= bit;
    triggers->wanted[trigger->pair.end->index] |= bit;
    return true;
}

void triggers_resolve(struct triggers *triggers, const struct schema *schema, unsigned *missing,
                      struct fail *fail)
{
    free(triggers->wanted);
    triggers->wanted = alloc_zero(schema->event_count + 1, sizeof(triggers->wanted[0]));
    *missing = 0;
    for (unsigned i = 0; i < triggers->count; i++) {
        struct trigger *trigger = &triggers->items[i];
        trigger->is_resolved = trigger->is_latency
                                   ? resolve_interval(triggers, trigger, schema, 1u << i, fail)
                                   : resolve_events(triggers, trigger, schema, 1u << i, fail);
        *missing += !trigger->is_resolved;
    }
}

void triggers_forget(struct triggers *triggers)
{
    for (unsigned i = 0; i < triggers->count; i++) {
        struct map *open = &triggers->items[i].open;
        if (open->count == 0)
            continue;
        map_close(open);
        map_open(open, sizeof(uint64_t));
        open->limit = INTERVALS_MAX;
    }
}

void triggers_close(struct triggers *triggers)
{
    for (unsigned i = 0; i < triggers->count; i++) {
        map_close(&triggers->items[i].open);
        free(triggers->items[i].words);
    }
    free(triggers->wanted);
    *triggers = (struct triggers){.count = 0};
}

static bool passes_filter(const struct trigger *trigger, const struct cursor *cursor,
                          const struct names *names)
{
    const struct filter *filter = &trigger->filter;
    return (filter->cpus == NULL || list_has(filter->cpus, cursor->stream->cpu)) &&
           (!filter->by_running || filter_running(filter, cursor_running(cursor), names));
}

static uint64_t whom_of(const struct trigger *trigger, const struct cursor *cursor)
{
    switch (trigger->pair.same) {
    case SAME_THREAD:
        return cursor_running(cursor)->tid;
    case SAME_PROCESS:
        return cursor_running(cursor)->pid;
    case SAME_CPU:
        return cursor->stream->cpu;
    default:
        return 0;
    }
}

static bool end_interval(struct trigger *trigger, const struct cursor *cursor, uint64_t *begin)
{
    const struct pair_key key = pair_key(&trigger->pair, &cursor->event, false, whom_of(trigger, cursor));
    const uint64_t *open = map_find(&trigger->open, key.first, key.others, key.whom);
    if (open == NULL)
        return false;
    *begin = *open;
    map_remove(&trigger->open, key.first, key.others, key.whom);
    return cursor->ticks > *begin && cursor->ticks - *begin > trigger->ticks;
}

static void begin_interval(struct trigger *trigger, const struct cursor *cursor, const struct names *names)
{
    struct pair_key key;
    uint64_t *open;
    bool is_new;
    if (!passes_filter(trigger, cursor, names))
        return;
    key = pair_key(&trigger->pair, &cursor->event, true, whom_of(trigger, cursor));
    open = map_add(&trigger->open, key.first, key.others, key.whom, &is_new);
    if (open != NULL)
        *open = cursor->ticks;
}

/* One event may end an interval and begin the next. */
bool trigger_fires(struct trigger *trigger, const struct cursor *cursor, const struct names *names,
                   uint64_t *begin)
{
    bool fires = false;
    if (!trigger->is_latency) {
        *begin = cursor->ticks;
        return passes_filter(trigger, cursor, names);
    }
    if (cursor->event.type == trigger->pair.end)
        fires = end_interval(trigger, cursor, begin);
    if (cursor->event.type == trigger->pair.begin)
        begin_interval(trigger, cursor, names);
    return fires;
}
