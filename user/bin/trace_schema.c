/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * user/bin/trace_schema.c - learns applications' events from the metadata; see trace_schema.h.
 *
 * The kernel lets nothing into the metadata but what evgen writes (trace/control/schema_check.c), line by
 * line: so it is read line by line. What does not look as expected is left out, and its events show as
 * numbers.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tarn/abi.h>
#include <tarn/syscall.h>

#include <trace/event/words.h>
#include <trace/events.h>
#include <user/bin/trace_schema.h>

#define APP_CLASSES  (TRACE_CLASS_COUNT - TRACE_CLASS_APP_FIRST)
#define FIELDS_MAX   24 /* as in schema_check.c */
#define ENUM_MAX     64
#define FORMAT_MAX   1024
#define METADATA_MAX (512u << 10) /* the kernel keeps no more (trace/control/registry.c) */

static char app_names[APP_CLASSES][TRACE_NAME_BYTES];
static struct trace_event_info *app_events[APP_CLASSES][TRACE_MINORS_SWITCHED];

/* ---- the text ------------------------------------------------------------------------------------- */

/* malloc'ed; NULL: not allowed, or no memory. */
static char *read_metadata(void)
{
    char *text = malloc(METADATA_MAX + 1);
    size_t size = 0;
    int64_t got;
    while (text && (got = sys_trace_metadata(SLOT_TRACE, size, text + size, METADATA_MAX - size)) > 0)
        size += (size_t)got;
    if (text)
        text[size] = 0;
    return text;
}

static char *next_line(char **rest)
{
    char *line;
    do
        line = strsep(rest, "\n");
    while (line && !*line);
    while (line && *line == ' ')
        line++;
    return line;
}

static bool skip(const char **at, const char *word)
{
    size_t length = strlen(word);
    if (strncmp(*at, word, length) != 0)
        return false;
    *at += length;
    return true;
}

/* ---- fields --------------------------------------------------------------------------------------- */

/* `"red" = 1, "green" = 2 } NAME;` */
static struct trace_enum_table *parse_enum(const char **at)
{
    struct trace_enum_value values[ENUM_MAX];
    char name[64];
    struct trace_enum_table *table = calloc(1, sizeof *table);
    unsigned long long value;
    int length;
    while (table && table->count < ENUM_MAX &&
           sscanf(*at, " \"%63[^\"]\" = %llu%n", name, &value, &length) == 2) {
        values[table->count++] = (struct trace_enum_value){value, strdup(name)};
        *at += length + strspn(*at + length, ", }");
    }
    struct trace_enum_value *kept = table ? malloc(sizeof *kept * (table->count + 1)) : NULL;
    if (!kept)
        return NULL;
    memcpy(kept, values, sizeof *kept * table->count);
    table->values = kept;
    return table;
}

/* The kind and size of `TYPE `; false: unknown. */
static bool parse_type(const char **at, struct trace_field_info *field)
{
    unsigned bits;
    int length = 0;
    if (skip(at, "string { encoding = UTF8; } ")) {
        field->kind = TRACE_FIELD_STRING;
        field->bytes = 1;
        return true;
    }
    if (skip(at, "text8_t ")) {
        field->kind = TRACE_FIELD_COMM;
        field->bytes = TRACE_NAME_BYTES;
        return true;
    }
    bool is_enum = skip(at, "enum : ");
    field->kind = skip(at, "x") ? TRACE_FIELD_HEX : **at == 'i' ? TRACE_FIELD_SIGNED : TRACE_FIELD_UNSIGNED;
    if (**at == 'u')
        ++*at;
    if (sscanf(*at, "int%u_t%n", &bits, &length) != 1 || !length || !bits || bits > 64 || bits % 8)
        return false;
    *at += length + 1;
    field->bytes = (uint8_t)(bits / 8);
    if (is_enum && (!skip(at, "{ ") || !(field->enumeration = parse_enum(at))))
        return false;
    return true;
}

/* `TYPE NAME;`, `TYPE NAME[16];` or `TYPE NAME[COUNTER];` */
static bool parse_field(const char *line, struct trace_event_info *info, struct trace_field_info *fields)
{
    struct trace_field_info *field = &fields[info->field_count];
    char name[64], counter[64] = "";
    *field = (struct trace_field_info){.count_field = -1, .offset = info->fixed_bytes, .description = ""};
    if (!parse_type(&line, field) || sscanf(line, "%63[A-Za-z0-9_][%63[A-Za-z0-9_]]", name, counter) < 1)
        return false;
    field->name = strdup(name);
    if (field->kind == TRACE_FIELD_HEX && counter[0]) {
        field->kind = TRACE_FIELD_ARRAY;
        for (int i = 0; i < info->field_count; i++)
            if (!strcmp(fields[i].name, counter))
                field->count_field = (int16_t)i;
        if (field->count_field < 0)
            return false;
    } else if (field->kind != TRACE_FIELD_STRING) {
        info->fixed_bytes = (uint16_t)(info->fixed_bytes + field->bytes);
    }
    info->field_count++;
    return field->name != NULL;
}

/* "a = %a%, b = %b%": the metadata has no format for people. */
static const char *make_format(const struct trace_field_info *fields, unsigned count)
{
    char format[FORMAT_MAX];
    size_t length = 0;
    format[0] = 0;
    for (unsigned i = 0; i < count && length < sizeof format; i++)
        length += (size_t)snprintf(format + length, sizeof format - length, "%s%s = %%%s%%", i ? ", " : "",
                                   fields[i].name, fields[i].name);
    return length < sizeof format ? strdup(format) : "(too many fields)";
}

/* ---- events --------------------------------------------------------------------------------------- */

/* From the line behind `event {` to the closing `};`. */
static struct trace_event_info *parse_event(char **rest)
{
    struct trace_field_info fields[FIELDS_MAX];
    struct trace_event_info event = {.description = "", .class_name = "", .name = ""};
    char name[128];
    char *line = next_line(rest);
    if (!line || sscanf(line, "name = \"%127[^\"]\"", name) != 1)
        return NULL;
    line = next_line(rest);
    if (!line || sscanf(line, "id = %u", (unsigned *)&event.id) != 1)
        return NULL;
    next_line(rest); /* stream_id */
    next_line(rest); /* fields := struct { */
    while ((line = next_line(rest)) && line[0] != '}')
        if (event.field_count == FIELDS_MAX || !parse_field(line, &event, fields))
            return NULL;
    struct trace_event_info *info = malloc(sizeof *info);
    struct trace_field_info *kept = malloc(sizeof *kept * (event.field_count + 1u));
    event.full_name = strdup(name);
    event.format = make_format(fields, event.field_count);
    if (!info || !kept || !event.full_name || !event.format)
        return NULL;
    memcpy(kept, fields, sizeof *kept * event.field_count);
    event.fields = kept;
    *info = event;
    return info;
}

static void add_event(struct trace_event_info *info)
{
    uint32_t app = TRACE_ID_CLASS(info->id) - TRACE_CLASS_APP_FIRST, minor = TRACE_ID_MINOR(info->id);
    if (app < APP_CLASSES && minor < TRACE_MINORS_SWITCHED) /* the others are the system's */
        app_events[app][minor] = info;
}

void load_app_schemas(void)
{
    load_app_schemas_from(read_metadata());
}

void load_app_schemas_from(char *text)
{
    char *rest = text, *line;
    memset(app_names, 0, sizeof app_names);
    memset(app_events, 0, sizeof app_events);
    while (rest && (line = next_line(&rest))) {
        char name[TRACE_NAME_BYTES];
        unsigned number;
        struct trace_event_info *info;
        if (sscanf(line, "/* class %u is %15s", &number, name) == 2 &&
            number - TRACE_CLASS_APP_FIRST < APP_CLASSES)
            strcpy(app_names[number - TRACE_CLASS_APP_FIRST], name);
        else if (!strcmp(line, "event {") && (info = parse_event(&rest)))
            add_event(info);
    }
    free(text);
}

/* ---- looking up ----------------------------------------------------------------------------------- */

const struct trace_event_info *find_event(uint32_t id)
{
    uint32_t class_number = TRACE_ID_CLASS(id), minor = TRACE_ID_MINOR(id);
    if (class_number < TRACE_CLASS_APP_FIRST)
        return trace_event_find(id);
    if (class_number >= TRACE_CLASS_COUNT || minor >= TRACE_MINORS_SWITCHED)
        return NULL;
    return app_events[class_number - TRACE_CLASS_APP_FIRST][minor];
}

const char *class_name(uint32_t class_number)
{
    static char text[16];
    if (class_number < TRACE_CLASS_APP_FIRST && trace_class_table[class_number].name)
        return trace_class_table[class_number].name;
    if (class_number >= TRACE_CLASS_APP_FIRST && app_names[class_number - TRACE_CLASS_APP_FIRST][0])
        return app_names[class_number - TRACE_CLASS_APP_FIRST];
    snprintf(text, sizeof text, "%u", (unsigned)class_number);
    return text;
}

int find_class(const char *name, uint64_t length)
{
    for (uint32_t i = 0; i < APP_CLASSES; i++)
        if (length && strlen(app_names[i]) == length && !memcmp(app_names[i], name, length))
            return (int)(TRACE_CLASS_APP_FIRST + i);
    return trace_find_system_class(name, length);
}

int find_minor(uint32_t class_number, const char *name)
{
    for (uint32_t minor = 0; minor < TRACE_MINORS_SWITCHED; minor++) {
        const struct trace_event_info *info = find_event(TRACE_ID(class_number, minor));
        if (info && !strcmp(info->full_name + strlen(class_name(class_number)) + 1, name))
            return (int)minor;
    }
    return -1;
}
