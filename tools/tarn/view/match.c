/* SPDX-License-Identifier: BSD-2-Clause */
/* tools/tarn/view/match.c - which events a list or a search wants; see match.h. */
#include <stdlib.h>
#include <strings.h>
#include <tools/tarn/print/print_value.h>
#include <tools/tarn/read/filter.h>
#include <tools/tarn/view/match.h>

void field_text(const struct field *field, const struct event *event, struct buffer *text)
{
    char *at = (char *)buffer_reserve(text, value_room(field, false)), *start = at;

    switch (field->kind) {
    case FIELD_TEXT:
    case FIELD_STRING:
        at = put_bytes(at, (const char *)event->bytes + field->offset, field_text_length(field, event));
        break;
    case FIELD_ARRAY:
    case FIELD_SEQUENCE:
        at = put_list(at, event, field, PRINT_TEXT);
        break;
    case FIELD_ENUM:
        at = put_enum(at, field_integer(field, event->bytes), field, PRINT_TEXT);
        break;
    case FIELD_INTEGER:
        at = put_number(at, field_integer(field, event->bytes), field, PRINT_TEXT);
        break;
    }
    text->used += (size_t)(at - start);
}

static bool has_part(const char *text, size_t length, const char *part)
{
    size_t wanted = strlen(part);

    for (size_t i = 0; i + wanted <= length; i++)
        if (strncasecmp(text + i, part, wanted) == 0)
            return true;
    return false;
}

void match_open(struct match *match, const struct view *view, const struct request *request)
{
    const struct schema *schema = &view->trace.schema;
    uint32_t types, cpus;
    char *end;

    memset(match, 0, sizeof(*match));
    match->trace = &view->trace;
    match->types = request_set(request, "events", schema->event_count, true, &types);
    match->cpus = request_set(request, "cpus", view->trace.stream_count, true, &cpus);
    match->tids = request_text(request, "tids");
    match->text = request_text(request, "text");
    match->field = request_text(request, "field");
    match->value = request_text(request, "value");
    match->named = alloc_zero(schema->event_count + 1, sizeof(bool));
    if (match->text != NULL && *match->text == '\0')
        match->text = NULL;
    if (match->text != NULL) {
        match->number = strtoull(match->text, &end, 0);
        match->has_number = *match->text >= '0' && *match->text <= '9' && *end == '\0';
        for (unsigned i = 0; i < schema->event_count; i++)
            match->named[i] = has_part(schema->events[i]->name, strlen(schema->events[i]->name), match->text);
    }
    match->all = types == schema->event_count && cpus == view->trace.stream_count && match->tids == NULL &&
                 match->text == NULL && match->field == NULL;
}

void match_close(struct match *match)
{
    free(match->types);
    free(match->cpus);
    free(match->named);
}

static bool label_has_part(const struct field *field, uint64_t value, const char *part)
{
    for (const struct tsdl_label *label = field->labels; label != NULL; label = label->next)
        if (value >= label->low && value <= label->high)
            return has_part(label->name, strlen(label->name), part);
    return false;
}

static bool field_has_text(const struct match *match, const struct field *field, const struct event *event)
{
    uint64_t value;

    if (field->kind == FIELD_TEXT || field->kind == FIELD_STRING)
        return has_part((const char *)event->bytes + field->offset, field_text_length(field, event),
                        match->text);
    if (field->kind != FIELD_INTEGER && field->kind != FIELD_ENUM)
        return false;
    value = field_integer(field, event->bytes);
    if (field->kind == FIELD_ENUM)
        return label_has_part(field, value, match->text);
    return match->has_number && value == match->number;
}

static bool has_text(const struct match *match, const struct cursor *cursor)
{
    const struct event_type *type = cursor->event.type;
    const struct running *running = cursor_running(cursor);

    if (match->named[type->index] || has_part(running->comm, running->comm_length, match->text))
        return true;
    for (unsigned i = 0; i < type->field_count; i++)
        if (field_has_text(match, &type->fields[i], &cursor->event))
            return true;
    return false;
}

/* By its text, so that an enumeration's labels and hexadecimal numbers can be asked for as they are shown. */
static bool has_value(const struct match *match, const struct event *event)
{
    const struct field *field = schema_find_field(event->type, match->field);
    struct buffer text = {0};
    char *end;
    bool same;

    if (field == NULL)
        return false;
    if (match->value == NULL)
        return true;
    if ((field->kind == FIELD_INTEGER || field->kind == FIELD_ENUM) &&
        strtoull(match->value, &end, 0) == field_integer(field, event->bytes) && *end == '\0' &&
        end != match->value)
        return true;
    field_text(field, event, &text);
    same = text.used == strlen(match->value) && memcmp(text.bytes, match->value, text.used) == 0;
    free(text.bytes);
    return same;
}

static bool is_wanted_thread(const struct match *match, const struct running *running)
{
    return running->is_known && list_has(match->tids, running->tid);
}

bool match_event(const struct match *match, const struct cursor *cursor)
{
    if (match->all)
        return true;
    if (!match->types[cursor->event.type->index] || !match->cpus[cursor->stream->rank])
        return false;
    if (match->tids != NULL && !is_wanted_thread(match, cursor_running(cursor)))
        return false;
    if (match->field != NULL && !has_value(match, &cursor->event))
        return false;
    return match->text == NULL || has_text(match, cursor);
}
