/* pairs.c - which end event belongs to a begin event; see pairs.h. */
#include <stdio.h>
#include <tools/tarn/map.h>
#include <tools/tarn/relation/pairs.h>

static const char *const presets[][PAIR_PARTS] = {
    {"user_stopwatch_start", "user_stopwatch_stop", "id", "process", "id", "stopwatch"},
    {"fs_request_begin", "fs_request_end", "request", "thread", "request", "fs"},
    {"ipc_call", "ipc_return", "call_id", "any", "endpoint", "ipc"},
    /* from a call until a server receives it; from then to the reply */
    {"ipc_call", "ipc_receive", "call_id", "any", "endpoint", "ipc-wait"},
    {"ipc_receive", "ipc_reply", "call_id", "any", "endpoint", "ipc-serve"},
    {"libc_entry", "libc_exit", "call", "thread", "call", "libc"},
    {"process_create", "process_exit", "pid", "any", NULL, "process"},
    {"sched_process_fork", "sched_process_exit", "child_tid=tid", "any", NULL, "thread"},
    /* as seen by the CPU that requests it */
    {"tlb_shootdown_begin", "tlb_shootdown_end", NULL, "thread", NULL, "shootdown"},
    /* only those that log both events: see trace/schema/syscall.ev */
    {"syscall_entry", "syscall_exit", "tid,number", "any", "number", "syscall"},
    {"fault_entry", "fault_exit", "tid,address", "any", NULL, "fault"},
    {"irq_handler_entry", "irq_handler_exit", "irq", "cpu", "irq", "irq"},
    {"irq_ipi_entry", "irq_ipi_exit", "kind", "cpu", "kind", "ipi"},
    {"irq_timer_entry", "irq_timer_exit", NULL, "cpu", NULL, "timer"},
};
#define PRESETS (sizeof(presets) / sizeof(presets[0]))

bool pair_preset(const char *parts[PAIR_PARTS], const char *name)
{
    unsigned i = 0;
    while (i < PRESETS && strcmp(presets[i][PAIR_NAME], name) != 0)
        i++;
    for (unsigned part = 0; i < PRESETS && part < PAIR_PARTS; part++)
        parts[part] = parts[part] != NULL ? parts[part] : presets[i][part];
    return i < PRESETS;
}

static bool find_event(const struct schema *schema, const char *name, const struct event_type **type,
                       struct fail *fail)
{
    *type = schema_find_event(schema, name);
    return *type != NULL || fail_set(fail, "the trace's schema has no event '%.60s'", name);
}

bool pair_is_comparable(const struct field *field)
{
    return field->kind == FIELD_INTEGER || field->kind == FIELD_ENUM || field->kind == FIELD_TEXT ||
           field->kind == FIELD_STRING;
}

bool pair_field(const struct event_type *type, const char *name, size_t length, const struct field **field,
                struct fail *fail)
{
    char known[300] = "";
    for (unsigned i = 0; i < type->field_count; i++) {
        size_t used = strlen(known);
        if (!pair_is_comparable(&type->fields[i]))
            continue;
        if (strlen(type->fields[i].name) == length && memcmp(type->fields[i].name, name, length) == 0) {
            *field = &type->fields[i];
            return true;
        }
        snprintf(known + used, sizeof(known) - used, "%s%s", used ? ", " : "", type->fields[i].name);
    }
    return fail_set(fail, "%s has no field '%.*s'; it has %s", type->name, (int)(length < 60 ? length : 60),
                    name, *known ? known : "none");
}

static bool find_matches(struct pair *pair, const char *list, struct fail *fail)
{
    while (list != NULL && *list != '\0') {
        size_t length = strcspn(list, ","), left = strcspn(list, "=,");
        const char *right = left < length ? list + left + 1 : list;
        struct match *match = &pair->matches[pair->match_count];
        if (pair->match_count == MATCHES_MAX)
            return fail_set(fail, "at most %u fields can be matched", MATCHES_MAX);
        if (!pair_field(pair->begin, list, left, &match->begin, fail) ||
            !pair_field(pair->end, right, length - (size_t)(right - list), &match->end, fail))
            return false;
        pair->match_count++;
        list += length + (list[length] == ',');
    }
    return true;
}

static bool find_same(struct pair *pair, const char *name, struct fail *fail)
{
    static const char *const names[] = {"any", "thread", "process", "cpu"};
    if (name == NULL)
        name = pair->match_count != 0 ? "any" : "thread";
    for (unsigned i = 0; i < 4; i++)
        if (strcmp(names[i], name) == 0) {
            pair->same = (enum same)i;
            return true;
        }
    return fail_set(fail, "--same %.40s: thread, process, cpu or any", name);
}

bool pair_resolve(struct pair *pair, const struct schema *schema, const char *const parts[PAIR_PARTS],
                  struct fail *fail)
{
    *pair = (struct pair){.match_count = 0};
    return find_event(schema, parts[PAIR_BEGIN], &pair->begin, fail) &&
           find_event(schema, parts[PAIR_END], &pair->end, fail) &&
           find_matches(pair, parts[PAIR_MATCH], fail) && find_same(pair, parts[PAIR_SAME], fail);
}

uint64_t pair_value(const struct field *field, const struct event *event)
{
    if (field->kind == FIELD_INTEGER || field->kind == FIELD_ENUM)
        return field_integer(field, event->bytes);
    return hash_bytes(HASH_SEED, (const char *)event->bytes + field->offset, field_text_length(field, event));
}

/* Values after the first two are represented by their hash, too. */
struct pair_key pair_key(const struct pair *pair, const struct event *event, bool is_begin, uint64_t whom)
{
    struct pair_key key = {0, 0, whom};
    for (unsigned i = 0; i < pair->match_count; i++) {
        const struct match *match = &pair->matches[i];
        uint64_t value = pair_value(is_begin ? match->begin : match->end, event);
        *(i == 0 ? &key.first : &key.others) = i < 2 ? value : hash_number(key.others, value);
    }
    return key;
}
