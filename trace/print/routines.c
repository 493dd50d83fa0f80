/* routines.c - names of routines. Interface: routines.h. No C library. */
#include <stddef.h>
#include <trace/format/format.h>
#include <trace/format/text.h>
#include <trace/print/routines.h>

/* The events whose fields name the arguments. */
struct argument_names {
    const char *kind;
    const char *event; /* full name; NULL: none */
    const char *field;
};

static const struct argument_names kinds[TRACE_ROUTINE_KINDS] = {
    [TRACE_ROUTINE_SYSCALL] = {"syscall", "syscall_entry", "number"},
    [TRACE_ROUTINE_FAULT] = {"fault", "fault_exit", "kind"},
    [TRACE_ROUTINE_EXCEPTION] = {"exception", NULL, NULL},
    [TRACE_ROUTINE_INTERRUPT] = {"interrupt", NULL, NULL},
    [TRACE_ROUTINE_IPI] = {"ipi", "irq_ipi_entry", "kind"},
    [TRACE_ROUTINE_TIMER] = {"timer", NULL, NULL},
    [TRACE_ROUTINE_IDLE] = {"idle", NULL, NULL},
    [TRACE_ROUTINE_CALL] = {"call", "ipc_call", "label"},
    [TRACE_ROUTINE_OUT] = {"out", NULL, NULL},
    [TRACE_ROUTINE_SERVED] = {"served", "ipc_call", "label"},
    [TRACE_ROUTINE_OTHERS] = {"others", NULL, NULL},
    [TRACE_ROUTINE_PROGRAM] = {"program", NULL, NULL},
};

/* enum thread_state of tarn/abi.h */
static const char *const out_reasons[] = {"idle",  "preempted",    "ipc_send", "ipc_receive",
                                          "reply", "notification", "futex",    "sleeping",
                                          "fault", "suspended",    "dead"};

static const struct trace_event_info *find_named(const char *name, trace_find_info *find)
{
    for (uint32_t class_number = 0; class_number < TRACE_CLASS_APP_FIRST; class_number++)
        for (uint32_t minor = 0; minor < TRACE_MINORS_SWITCHED; minor++) {
            const struct trace_event_info *event = find(TRACE_ID(class_number, minor));
            if (event && trace_is_same(event->full_name, name))
                return event;
        }
    return NULL;
}

/* An event's field's name for a value; NULL: none. */
static const char *find_word(const char *event_name, const char *field, uint64_t value, trace_find_info *find)
{
    const struct trace_event_info *event = event_name ? find_named(event_name, find) : NULL;
    for (uint32_t i = 0; event && i < event->field_count; i++)
        if (trace_is_same(event->fields[i].name, field))
            return trace_enum_name(event->fields[i].enumeration, value);
    return NULL;
}

const char *trace_routine_kind_name(enum trace_routine_kind kind)
{
    return kind < TRACE_ROUTINE_KINDS ? kinds[kind].kind : "?";
}

static bool has_argument(enum trace_routine_kind kind)
{
    return kind < TRACE_ROUTINE_OTHERS && kind != TRACE_ROUTINE_TIMER && kind != TRACE_ROUTINE_IDLE;
}

const char *trace_routine_name(uint64_t key, trace_find_info *find, char name[TRACE_ROUTINE_NAME_BYTES])
{
    const enum trace_routine_kind kind = trace_routine_kind(key);
    const uint64_t argument = trace_routine_argument(key);
    struct trace_text text = {.bytes = name, .capacity = TRACE_ROUTINE_NAME_BYTES - 1};
    trace_text_add(&text, trace_routine_kind_name(kind));
    if (has_argument(kind)) {
        const char *word = kind != TRACE_ROUTINE_OUT
                               ? find_word(kinds[kind].event, kinds[kind].field, argument, find)
                           : argument < sizeof out_reasons / sizeof *out_reasons ? out_reasons[argument]
                                                                                 : NULL;
        trace_text_char(&text, ' ');
        if (word)
            trace_text_add(&text, word);
        else
            trace_text_number(&text, argument);
    }
    trace_text_finish(&text);
    return name;
}

/* ---- Routines of programs ---- */

const struct trace_routine *trace_routine_find(const struct trace_routine_names *names, uint32_t context)
{
    const uint32_t index = context - TRACE_CONTEXT_NAMED;
    return context >= TRACE_CONTEXT_NAMED && index < names->count ? &names->list[index] : NULL;
}

/* `words` of at most `bytes` bytes; unprintable characters become '?'. */
static void add_words(struct trace_text *text, const char *words, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes && words[i]; i++)
        trace_text_char(text, words[i] < ' ' || words[i] > '~' || words[i] == ';' ? '?' : words[i]);
}

static void add_named(struct trace_text *text, const struct trace_routine *routine)
{
    if (routine->name[0]) {
        add_words(text, routine->name, sizeof routine->name);
        return;
    }
    add_words(text, routine->program, sizeof routine->program);
    trace_text_char(text, ' ');
    trace_text_hex(text, routine->address);
}

/* For contexts that all programs share: the text before and behind the word. NULL: it has none. */
static const char *find_common(uint32_t context, trace_find_info *find, const char **before,
                               const char **behind)
{
    static const char *const heap[] = {"malloc", "free", "calloc", "realloc", "memalign"};
    const bool is_request = context >= TRACE_CONTEXT_COMMON;
    *before = is_request ? "serve " : "";
    *behind = is_request ? "" : "()";
    if (is_request)
        return find_word("ipc_call", "label", context, find);
    if (context >= TRACE_CONTEXT_HEAP)
        return context <= TRACE_HEAP_MEMALIGN ? heap[context - TRACE_CONTEXT_HEAP] : NULL;
    return find_word("libc_entry", "call", context, find);
}

const char *trace_context_name(uint32_t context, const struct trace_routine_names *names,
                               trace_find_info *find, char name[TRACE_ROUTINE_NAME_BYTES])
{
    struct trace_text text = {.bytes = name, .capacity = TRACE_ROUTINE_NAME_BYTES - 1};
    const struct trace_routine *routine = trace_routine_find(names, context);
    const char *before, *behind, *word = NULL;
    if (context < TRACE_CONTEXT_NAMED)
        word = find_common(context, find, &before, &behind);
    if (routine) {
        add_named(&text, routine);
    } else if (word) {
        trace_text_add(&text, before);
        trace_text_add(&text, word);
        trace_text_add(&text, behind);
    } else {
        trace_text_add(&text, "routine ");
        trace_text_number(&text, context);
    }
    trace_text_finish(&text);
    return name;
}

const char *trace_row_name(uint64_t key, const struct trace_routine_names *names, trace_find_info *find,
                           char name[TRACE_ROUTINE_NAME_BYTES])
{
    const uint32_t context = trace_routine_context(key);
    return trace_routine_kind(key) == TRACE_ROUTINE_PROGRAM && context
               ? trace_context_name(context, names, find, name)
               : trace_routine_name(key, find, name);
}
