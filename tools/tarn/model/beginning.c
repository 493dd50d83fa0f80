/*
 * beginning.c - facts that held when the trace began but are logged later; see model.h.
 *
 * A pull starts with a statedump. In the trace it comes after the events that the guest's buffers held
 * before, so those have no names yet. Therefore the first name of a process, a lock or an interrupt, up to
 * the end of the first complete statedump, holds from the start of the trace, unless the process was
 * created, executed a program or was renamed before. The first trace_sampling or
 * trace_threshold of a type of events says how they were limited before. This does not depend on the range of
 * time, so every part of a trace has the same names, in the view and in the subcommands.
 */
#include <tools/tarn/model/model_parts.h>
#include <tools/tarn/read/order.h>

/* The maximum of events before the end of the statedump, more than the largest usual buffers hold. Without
 * it, a trace without a statedump would be read completely. */
#define EVENTS_MAX 4000000u

/* Facts known about a process. */
enum {
    HAS_NAME = 1, /* the name of one of its threads */
    HAS_OWN_NAME = 2,
    NAME_IS_OVER = 4, /* later events have another name */
    FILES_ARE_OVER = 8
};

struct beginning {
    struct model *model;
    struct map flags; /* of uint8_t, by pid */
    const struct event_type *dump_begin, *dump_end;
    const struct field *begin_number, *end_number;
    uint64_t number; /* of the latest statedump */
    bool has_begun;
};

static uint8_t flags_of(const struct beginning *beginning, uint32_t pid)
{
    const uint8_t *flags = map_find(&beginning->flags, pid, 0, 0);
    return flags != NULL ? *flags : 0;
}

static void add_flags(struct beginning *beginning, uint32_t pid, uint8_t flags)
{
    *(uint8_t *)map_at(&beginning->flags, pid, 0, 0) |= flags;
}

/* A process's own name has priority over that of its first thread, whichever came first. */
static void on_names(struct beginning *beginning, const struct event *event)
{
    struct names *names = &beginning->model->names;
    for (unsigned told_by = names->told_by[event->type->index]; told_by != 0; told_by &= told_by - 1) {
        const struct name_source *source = &names->sources[__builtin_ctz(told_by)];
        unsigned enough = NAME_IS_OVER | HAS_OWN_NAME | (source->is_thread ? HAS_NAME : 0);
        uint32_t pid;
        size_t length;
        const char *name = names_told(source, event, &pid, &length);
        if (name == NULL || (flags_of(beginning, pid) & enough) != 0)
            continue;
        names_set(names, pid, 0, name, length);
        add_flags(beginning, pid, source->is_thread ? HAS_NAME : HAS_OWN_NAME);
    }
}

/* Takes a lock class, but not its sampling, which may have changed since the start. */
static void on_lock_class(struct model *model, const struct event *event, const struct model_action *action)
{
    uint32_t number = get32(model, event, action->at[0]);
    if (number >= MODEL_LOCK_CLASSES || model->lock_classes[number].name[0] != '\0')
        return;
    on_state_lock_class(model, NULL, event, action);
    model->lock_classes[number].sample_every = 0;
}

static void on_first_limit(struct model *model, const struct event *event, const struct model_action *action)
{
    const struct event_type *type = limited_type(model, event, action);
    uint32_t before = get32(model, event, action->at[3]);
    if (type == NULL)
        return;
    model->has_news = true;
    if (action->handle == on_event_sampling && model->limits[type->index].every == 0)
        model->limits[type->index].every = before;
    if (action->handle == on_event_threshold && model->limits[type->index].threshold == 0)
        model->limits[type->index].threshold = before;
}

static void on_lock(struct beginning *beginning, const struct event *event, const struct model_action *action)
{
    struct model *model = beginning->model;
    uint32_t pid = get32(model, event, action->at[1]);
    if ((flags_of(beginning, pid) & FILES_ARE_OVER) == 0 &&
        names_of(&model->names, pid, get64(model, event, action->at[0])) == NULL)
        on_lock_name(model, NULL, event, action);
}

static void take(struct beginning *beginning, const struct event *event)
{
    struct model *model = beginning->model;
    const struct model_action *action = &model->actions[event->type->index];
    if (action->handle == on_process_create || action->handle == on_process_exec)
        add_flags(beginning, get32(model, event, action->at[0]), NAME_IS_OVER | FILES_ARE_OVER);
    else if (action->handle == on_process_rename)
        add_flags(beginning, get32(model, event, action->at[0]), NAME_IS_OVER);
    else if (action->handle == on_state_lock_class)
        on_lock_class(model, event, action);
    else if (action->handle == on_event_sampling || action->handle == on_event_threshold)
        on_first_limit(model, event, action);
    else if (action->handle == on_lock_name)
        on_lock(beginning, event, action);
    else if (action->handle == on_state_irq &&
             names_of(&model->names, NAMES_OF_IRQS, get32(model, event, action->at[0])) == NULL)
        on_state_irq(model, NULL, event, action);
    else if (action->handle == on_state_image &&
             (flags_of(beginning, get32(model, event, action->at[0])) & FILES_ARE_OVER) == 0)
        on_state_image(model, NULL, event, action);
    on_names(beginning, event);
}

/* Whether a statedump has ended whose begin was seen. */
static bool is_whole(struct beginning *beginning, const struct event *event)
{
    if (event->type == beginning->dump_begin && beginning->begin_number != NULL) {
        beginning->has_begun = true;
        beginning->number = field_integer(beginning->begin_number, event->bytes);
    }
    return event->type == beginning->dump_end && beginning->end_number != NULL && beginning->has_begun &&
           beginning->number == field_integer(beginning->end_number, event->bytes);
}

/* Chooses the types of events that tell nothing here. */
static void choose_skipped(const struct beginning *beginning, struct fixed_types *skipped)
{
    static model_handler *const taken[] = {on_process_create,   on_process_exec,   on_process_rename,
                                           on_state_lock_class, on_event_sampling, on_event_threshold,
                                           on_lock_name,        on_state_irq,      on_state_image};
    const struct model *model = beginning->model;
    for (unsigned i = 0; i < model->trace->schema.event_count; i++) {
        const struct event_type *type = model->trace->schema.events[i];
        bool matters = type == beginning->dump_begin || type == beginning->dump_end ||
                       type->role != EVENT_PLAIN || model->names.told_by[i] != 0;
        for (size_t k = 0; k < sizeof(taken) / sizeof(taken[0]); k++)
            matters |= model->actions[i].handle == taken[k];
        if (!matters)
            fixed_types_add(skipped, type);
    }
}

bool model_learn_beginning(struct model *model)
{
    const struct schema *schema = &model->trace->schema;
    struct beginning beginning = {.model = model,
                                  .dump_begin = schema_find_event(schema, "lttng_statedump_start"),
                                  .dump_end = schema_find_event(schema, "lttng_statedump_end")};
    struct fixed_types skipped;
    struct merge merge;
    struct cursor *cursor;
    uint64_t count = 0;
    bool whole = false;
    beginning.begin_number = schema_find_field(beginning.dump_begin, "number");
    beginning.end_number = schema_find_field(beginning.dump_end, "number");
    map_open(&beginning.flags, sizeof(uint8_t));
    beginning.flags.limit = SIZE_MAX;
    merge_open(&merge, model->trace, NULL, 0, NULL);
    fixed_types_open(&skipped);
    choose_skipped(&beginning, &skipped);
    for (; count < EVENTS_MAX && !whole; count++) {
        uint64_t before = 0;
        if (merge.first != NULL)
            count += cursor_skip(merge.first, &skipped, &before);
        if ((cursor = merge_next(&merge)) == NULL)
            break;
        take(&beginning, &cursor->event);
        whole = is_whole(&beginning, &cursor->event);
    }
    merge_close(&merge);
    map_close(&beginning.flags);
    return whole || count >= EVENTS_MAX;
}
