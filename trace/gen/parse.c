/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace/gen/parse.c - reads the files of trace/schema into the model and rejects errors.
 *
 * trace/schema/README.md has the grammar. One line is one statement, except for an enumeration, whose braces
 * may span lines. Every error message names file and line, the error and the remedy.
 */
#include "parse.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Words of C that are not also reserved in the metadata language (trace_name_is_reserved), and what the log
 * functions use. */
static const char *const reserved_words[] = {
    "auto",   "break",  "case",  "continue", "default",  "do",       "else",   "extern",
    "for",    "goto",   "if",    "inline",   "register", "restrict", "return", "sizeof",
    "static", "switch", "union", "volatile", "while",    "slot",
};

void refuse(const char *file, unsigned line, const char *format, ...)
{
    va_list arguments;
    fprintf(stderr, "%s:%u: ", file, line);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(1);
}

static char *read_whole_file(const char *file)
{
    FILE *in = fopen(file, "r");
    if (!in) {
        fprintf(stderr, "%s: cannot be read\n", file);
        exit(1);
    }
    size_t size = 0, used = 0;
    char *text = NULL;
    do {
        size += 65536;
        text = realloc(text, size + 1);
        if (!text)
            abort();
        used += fread(text + used, 1, size - used, in);
    } while (used == size);
    fclose(in);
    text[used] = 0;
    return text;
}

/* ---- words ---------------------------------------------------------------------------------------- */

void skip_space(struct reader *r)
{
    while (*r->at == ' ' || *r->at == '\t' || *r->at == '\r')
        r->at++;
    if (*r->at == '#')
        r->at += strlen(r->at);
}

bool at_end(struct reader *r)
{
    skip_space(r);
    return *r->at == 0;
}

/* Advances to the next line; false at the end of the file. */
static bool next_line(struct reader *r)
{
    if (!*r->next_line)
        return false;
    r->at = r->next_line;
    r->line++;
    char *end = strchr(r->at, '\n');
    if (end) {
        *end = 0;
        r->next_line = end + 1;
    } else {
        r->next_line += strlen(r->next_line);
    }
    return true;
}

static bool take_char(struct reader *r, char c)
{
    skip_space(r);
    if (*r->at != c)
        return false;
    r->at++;
    return true;
}

static void expect_char(struct reader *r, char c)
{
    if (!take_char(r, c))
        REFUSE(r, "expected '%c' before '%.20s'", c, r->at);
}

void expect_end(struct reader *r)
{
    if (!at_end(r))
        REFUSE(r, "'%.20s' is more than belongs on this line: remove it", r->at);
}

char *take_word(struct reader *r, const char *what)
{
    skip_space(r);
    char *start = r->at;
    if (!isalpha((unsigned char)*start) && *start != '_')
        REFUSE(r, "expected %s (a letter, then letters, digits or '_') before '%.20s'", what, start);
    while (isalnum((unsigned char)*r->at) || *r->at == '_')
        r->at++;
    return strndup(start, r->at - start);
}

char *take_name(struct reader *r, const char *what)
{
    char *name = take_word(r, what);
    if (name[0] == '_')
        REFUSE(r, "'%s' begins with '_', which CTF readers strip: choose another name", name);
    return name;
}

uint64_t take_number(struct reader *r, const char *what)
{
    skip_space(r);
    if (!isdigit((unsigned char)*r->at))
        REFUSE(r, "expected %s (a number) before '%.20s'", what, r->at);
    char *end;
    uint64_t value = strtoull(r->at, &end, 0);
    r->at = end;
    return value;
}

char *take_quoted(struct reader *r, const char *what)
{
    skip_space(r);
    if (*r->at != '"')
        REFUSE(r, "expected %s in double quotes before '%.20s'", what, r->at);
    char *start = ++r->at;
    while (*r->at && *r->at != '"') {
        if (*r->at == '\\' || !isprint((unsigned char)*r->at))
            REFUSE(r, "%s may hold printable ASCII only, no backslash", what);
        r->at++;
    }
    if (!*r->at)
        REFUSE(r, "%s has no closing quote on this line", what);
    char *text = strndup(start, r->at - start);
    r->at++;
    return text;
}

/* ---- enumerations --------------------------------------------------------------------------------- */

static void add_enum_value(struct reader *r, struct enumeration *e, char *name, uint64_t value)
{
    for (unsigned i = 0; i < e->count; i++) {
        if (!strcmp(e->values[i].name, name))
            REFUSE(r, "enum %s has '%s' twice: rename one", e->name, name);
        if (e->values[i].value == value)
            REFUSE(r, "enum %s gives %llu to both '%s' and '%s': a value has one name", e->name,
                   (unsigned long long)value, e->values[i].name, name);
    }
    if (r->app && value > INT64_MAX)
        REFUSE(r, "enum %s: numbers from 2^63 on are not for applications: choose a smaller one for '%s'",
               e->name, name);
    e->values = realloc(e->values, (e->count + 1) * sizeof(*e->values));
    e->values[e->count++] = (struct enum_value){name, value};
}

static int compare_enum_values(const void *a, const void *b)
{
    const struct enum_value *x = a, *y = b;
    return x->value < y->value ? -1 : x->value > y->value;
}

/* enum NAME from "KEY": reads "NAME = NUMBER" lines from the file given for KEY on the command line. */
static void read_enum_file(struct reader *r, struct enumeration *e, const char *key)
{
    const char *file = NULL;
    for (unsigned i = 0; i < r->source_count; i++)
        if (!strcmp(r->sources[i].key, key))
            file = r->sources[i].file;
    if (!file)
        REFUSE(r, "no file was given for enum source \"%s\": run evgen with --enum %s=FILE", key, key);
    char *text = read_whole_file(file);
    struct reader in = {.file = file, .next_line = text};
    while (next_line(&in)) {
        if (at_end(&in))
            continue;
        char *name = take_word(&in, "a name");
        expect_char(&in, '=');
        add_enum_value(&in, e, name, take_number(&in, "its value"));
        expect_end(&in);
    }
    if (!e->count)
        REFUSE(r, "%s holds no \"NAME = NUMBER\" line", file);
}

static void read_enum(struct reader *r)
{
    struct class *class = r->class;
    struct enumeration e = {.name = take_name(r, "the enumeration's name")};
    for (unsigned i = 0; i < class->enum_count; i++)
        if (!strcmp(class->enums[i].name, e.name))
            REFUSE(r, "enum %s is declared twice: rename one", e.name);
    skip_space(r);
    if (!strncmp(r->at, "from", 4)) {
        r->at += 4;
        read_enum_file(r, &e, take_quoted(r, "the source of the values"));
    } else {
        expect_char(r, '{');
        unsigned start = r->line;
        while (!take_char(r, '}')) {
            if (at_end(r)) {
                if (!next_line(r))
                    refuse(r->file, start, "enum %s has no closing brace", e.name);
                continue;
            }
            char *name = take_word(r, "a value's name");
            expect_char(r, '=');
            add_enum_value(r, &e, name, take_number(r, "its value"));
            take_char(r, ',');
        }
        if (!e.count)
            REFUSE(r, "enum %s is empty: give it a value", e.name);
    }
    expect_end(r);
    qsort(e.values, e.count, sizeof(*e.values), compare_enum_values);
    class->enums = realloc(class->enums, (class->enum_count + 1) * sizeof(*class->enums));
    class->enums[class->enum_count++] = e;
}

/* ---- fields --------------------------------------------------------------------------------------- */

/* u8..u64, s8..s64, x8..x64 */
static bool parse_integer_type(const char *word, struct field *f)
{
    if (word[0] != 'u' && word[0] != 's' && word[0] != 'x')
        return false;
    static const char *const widths[] = {"8", "16", "32", "64"};
    for (unsigned i = 0; i < 4; i++) {
        if (!strcmp(word + 1, widths[i])) {
            f->bytes = 1u << i;
            f->kind = word[0] == 'u'   ? TRACE_FIELD_UNSIGNED
                      : word[0] == 's' ? TRACE_FIELD_SIGNED
                                       : TRACE_FIELD_HEX;
            return true;
        }
    }
    return false;
}

static void parse_enum_type(struct reader *r, const char *word, struct field *f)
{
    char *type = take_word(r, "the enumeration's integer type, say u32");
    if (!parse_integer_type(type, f) || f->kind != TRACE_FIELD_UNSIGNED)
        REFUSE(r, "'%s' cannot hold an enumeration: use u8, u16, u32 or u64", type);
    f->enumeration = (const void *)word; /* resolved by finish_event(), when all enumerations are known */
}

static int find_field(const struct event *event, const char *name, size_t length)
{
    for (unsigned i = 0; i < event->field_count; i++)
        if (strlen(event->fields[i].name) == length && !memcmp(event->fields[i].name, name, length))
            return i;
    return -1;
}

static void parse_array_type(struct reader *r, const struct event *event, const char *word, struct field *f)
{
    if (strcmp(word, "x64"))
        REFUSE(r, "arrays are of x64 only, not of '%s'", word);
    char *count = take_word(r, "the field that says how many");
    expect_char(r, ']');
    f->count_field = find_field(event, count, strlen(count));
    if (f->count_field < 0)
        REFUSE(r, "array count '%s' is no field declared before: add one", count);
    const struct field *c = &event->fields[f->count_field];
    if (c->kind != TRACE_FIELD_UNSIGNED || c->bytes < 2 || c->enumeration)
        REFUSE(r, "array count '%s' must be a u16, u32 or u64", count);
    f->kind = TRACE_FIELD_ARRAY;
    f->bytes = 8;
}

/* Places the field after those before it; rejects a hole, so that the file shows the packing. */
static void place_field(struct reader *r, struct event *event, struct field *f)
{
    unsigned align = f->kind == TRACE_FIELD_COMM || f->kind == TRACE_FIELD_STRING ? 1 : f->bytes;
    unsigned hole = -event->fixed_bytes & (align - 1);
    if (f->kind == TRACE_FIELD_COMM)
        hole = -event->fixed_bytes & 7; /* copied by words */
    if (hole)
        REFUSE(r, "'%s' leaves a hole of %u bytes before it: move fields, or add a reserved one", f->name,
               hole);
    f->offset = event->fixed_bytes;
    if (f->kind != TRACE_FIELD_STRING && f->kind != TRACE_FIELD_ARRAY)
        event->fixed_bytes += f->bytes;
}

void check_name(struct reader *r, const char *name)
{
    bool reserved = trace_name_is_reserved(name);
    for (unsigned i = 0; i < sizeof(reserved_words) / sizeof(*reserved_words); i++)
        reserved |= !strcmp(name, reserved_words[i]);
    if (reserved)
        REFUSE(r, "'%s' is a word of C or of the CTF metadata language: choose another name", name);
}

static void read_field(struct reader *r, char *word)
{
    struct event *event = r->event;
    struct field f = {.count_field = -1};
    if (event->field_count && tail_field(event))
        REFUSE(r, "'%s' must be the last field: move it down", tail_field(event)->name);
    if (event->field_count == FIELDS_MAX)
        REFUSE(r, "more than %d fields: split the event", FIELDS_MAX);
    if (take_char(r, ':'))
        parse_enum_type(r, word, &f);
    else if (take_char(r, '['))
        parse_array_type(r, event, word, &f);
    else if (!strcmp(word, "comm"))
        f.kind = TRACE_FIELD_COMM, f.bytes = TRACE_NAME_BYTES;
    else if (!strcmp(word, "string"))
        f.kind = TRACE_FIELD_STRING, f.bytes = 1;
    else if (!parse_integer_type(word, &f))
        REFUSE(
            r,
            "unknown type '%s': types are u8 to u64, s8 to s64, x8 to x64, comm, string, ENUM:uN, x64[COUNT]",
            word);
    f.name = take_name(r, "the field's name");
    check_name(r, f.name);
    if (find_field(event, f.name, strlen(f.name)) >= 0)
        REFUSE(r, "field '%s' is declared twice: rename one", f.name);
    f.description = take_quoted(r, "the field's description");
    expect_end(r);
    place_field(r, event, &f);
    event->fields[event->field_count++] = f;
}

/* ---- events and classes --------------------------------------------------------------------------- */

static void check_format(struct reader *r, const struct event *event)
{
    for (const char *p = event->format; (p = strchr(p, '%')); p++) {
        const char *end = strchr(++p, '%');
        if (!end)
            REFUSE(r,
                   "the format has a '%%' without its partner: write %%field%%, or %%%% for a percent sign");
        if (end != p && find_field(event, p, end - p) < 0)
            REFUSE(r, "the format names '%.*s', which is no field of %s", (int)(end - p), p, event->name);
        p = end;
    }
}

static bool is_threshold_field(const struct event *event)
{
    for (unsigned i = 0; i < event->field_count; i++)
        if (!strcmp(event->fields[i].name, event->above))
            return event->fields[i].kind == TRACE_FIELD_UNSIGNED;
    return false;
}

static void finish_event(struct reader *r)
{
    struct event *event = r->event;
    if (!event)
        return;
    if (!event->format)
        refuse(r->file, event->line, "event %s has no format line: add one", event->name);
    const struct field *tail = tail_field(event);
    if (event->fixed_bytes % 8 && !(tail && tail->kind == TRACE_FIELD_STRING))
        refuse(r->file, event->line, "event %s ends %u bytes short of a 64-bit word: add a reserved field",
               event->name, 8 - event->fixed_bytes % 8);
    if (event->above && !is_threshold_field(event))
        refuse(r->file, event->line, "event %s: '%s' is no field of a number without sign", event->name,
               event->above);
    for (unsigned i = 0; i < event->field_count; i++) {
        struct field *f = &event->fields[i];
        const char *name = (const void *)f->enumeration;
        if (!name)
            continue;
        f->enumeration = NULL;
        for (unsigned e = 0; e < r->class->enum_count; e++)
            if (!strcmp(r->class->enums[e].name, name))
                f->enumeration = &r->class->enums[e];
        if (!f->enumeration)
            refuse(r->file, event->line, "field '%s' of event %s: unknown enumeration '%s': declare it above",
                   f->name, event->name, name);
        uint64_t last = f->enumeration->values[f->enumeration->count - 1].value;
        if (f->bytes < 8 && last >> (8 * f->bytes))
            refuse(r->file, event->line, "field '%s' of event %s: %llu of enum %s does not fit in %u bytes",
                   f->name, event->name, (unsigned long long)last, name, f->bytes);
    }
    r->event = NULL;
}

static char *join_names(const char *class, const char *event)
{
    size_t size = strlen(class) + strlen(event) + 2;
    char *name = allocate(size);
    snprintf(name, size, "%s_%s", class, event);
    return name;
}

static void read_class(struct reader *r)
{
    struct class *class = r->class;
    if (class->name)
        REFUSE(r, "a second class in one file: put it in a file of its own");
    class->name = take_name(r, "the class's name");
    skip_space(r);
    if (r->app) {
        char *word = take_word(r, "'app'");
        if (strcmp(word, "app"))
            REFUSE(r, "an application's class is declared `class %s app \"...\"`", class->name);
        class->number = -1;
    } else {
        uint64_t number = take_number(r, "the class's number");
        if (number >= TRACE_CLASS_APP_FIRST)
            REFUSE(r, "class %llu: the system's classes are 0 to %u, the rest belongs to applications",
                   (unsigned long long)number, TRACE_CLASS_APP_FIRST - 1);
        class->number = number;
    }
    skip_space(r);
    if (!r->app && *r->at != '"') {
        char *word = take_word(r, "'detail' or the class's description");
        if (strcmp(word, "detail"))
            REFUSE(r, "'%s': a class is declared `class NAME NUMBER [detail] \"...\"`", word);
        class->is_detail = true;
    }
    class->description = take_quoted(r, "the class's description");
    expect_end(r);
}

/* as NAME: the event's name in the metadata, if it is not CLASS_EVENT. sampled: one in N can be logged. above
 * FIELD: those in which it is at least a threshold. */
static void read_attributes(struct reader *r, struct event *event)
{
    event->full_name = join_names(r->class->name, event->name);
    event->limit = -1;
    while (skip_space(r), *r->at != '"') {
        char *word = take_word(r, "'as', 'sampled', 'above' or the event's description");
        if (strcmp(word, "as") && strcmp(word, "sampled") && strcmp(word, "above"))
            REFUSE(r, "expected 'as', 'sampled', 'above' or the event's description before '%s'", word);
        if (r->app && !strcmp(word, "as"))
            REFUSE(r, "the names of an application's events begin with its class: remove 'as'");
        if (!strcmp(word, "as")) {
            event->full_name = take_name(r, "the event's name in the metadata");
            continue;
        }
        if (event->limit >= 0)
            REFUSE(r, "an event is either 'sampled' or 'above' a field: remove '%s'", word);
        event->limit = 0; /* finish_schema() numbers them */
        if (!strcmp(word, "above"))
            event->above = take_name(r, "the name of a field");
    }
}

static void read_event(struct reader *r)
{
    struct class *class = r->class;
    struct event event = {.name = take_name(r, "the event's name"), .line = r->line};
    uint64_t minor = take_number(r, "the event's minor number");
    read_attributes(r, &event);
    if (minor >= TRACE_MINORS_SWITCHED)
        REFUSE(r, "minor %llu: only 0 to %u have a switch of their own", (unsigned long long)minor,
               TRACE_MINORS_SWITCHED - 1);
    event.minor = minor;
    event.description = take_quoted(r, "the event's description");
    expect_end(r);
    for (unsigned i = 0; i < class->event_count; i++) {
        const struct event *other = &class->events[i];
        if (other->minor == event.minor)
            REFUSE(r, "minor %u belongs to event %s (line %u): take a free one", event.minor, other->name,
                   other->line);
        if (!strcmp(other->name, event.name))
            REFUSE(r, "event %s is declared twice (line %u): rename one", event.name, other->line);
    }
    class->events = realloc(class->events, (class->event_count + 1) * sizeof(*class->events));
    class->events[class->event_count] = event;
    r->event = &class->events[class->event_count++];
}

static void read_statement(struct reader *r)
{
    char *word = take_word(r, "class, enum, event, table, format or a type");
    bool is_class = !strcmp(word, "class"), is_enum = !strcmp(word, "enum"),
         is_event = !strcmp(word, "event"), is_table = !strcmp(word, "table");
    if (!is_class && !r->class->name)
        REFUSE(r, "the file must begin with its class: class NAME NUMBER \"what it is about\"");
    if (is_class || is_enum || is_event || is_table) {
        finish_event(r);
        finish_table(r);
    }
    if (is_class) {
        read_class(r);
    } else if (is_enum) {
        read_enum(r);
    } else if (is_event) {
        read_event(r);
    } else if (is_table) {
        read_table(r);
    } else if (r->table) {
        read_column(r, word);
    } else if (!r->event) {
        REFUSE(r, "'%s' outside an event or a table: expected class, enum, event or table", word);
    } else if (!strcmp(word, "format")) {
        if (r->event->format)
            REFUSE(r, "event %s has a second format: remove one", r->event->name);
        r->event->format = take_quoted(r, "the format");
        expect_end(r);
        check_format(r, r->event);
    } else if (r->event->format) {
        REFUSE(r, "a field after the format of event %s: the format comes last", r->event->name);
    } else {
        read_field(r, word);
    }
}

void parse_file(struct schema *schema, const char *file, bool app, const struct enum_source *sources,
                unsigned source_count)
{
    struct class class = {.file = file};
    struct reader r = {.file = file,
                       .next_line = read_whole_file(file),
                       .app = app,
                       .schema = schema,
                       .sources = sources,
                       .source_count = source_count,
                       .class = &class};
    while (next_line(&r))
        if (!at_end(&r))
            read_statement(&r);
    finish_event(&r);
    finish_table(&r);
    if (!class.name)
        refuse(file, r.line, "no class in this file: begin with class NAME NUMBER \"what it is about\"");
    if (!class.event_count)
        refuse(file, r.line, "class %s has no event: add one", class.name);
    schema->classes = realloc(schema->classes, (schema->class_count + 1) * sizeof(*schema->classes));
    schema->classes[schema->class_count++] = class;
}

/* ---- the schema as a whole ------------------------------------------------------------------------ */

const struct field *tail_field(const struct event *event)
{
    if (!event->field_count)
        return NULL;
    const struct field *last = &event->fields[event->field_count - 1];
    return last->kind == TRACE_FIELD_STRING || last->kind == TRACE_FIELD_ARRAY ? last : NULL;
}

static int compare_classes(const void *a, const void *b)
{
    return ((const struct class *)a)->number - ((const struct class *)b)->number;
}

static int compare_events(const void *a, const void *b)
{
    return (int)((const struct event *)a)->minor - (int)((const struct event *)b)->minor;
}

static void check_full_names(const struct class *class, const struct class *other)
{
    for (unsigned i = 0; i < class->event_count; i++)
        for (unsigned k = 0; k < (class == other ? i : other->event_count); k++)
            if (!strcmp(class->events[i].full_name, other->events[k].full_name))
                refuse(class->file, class->events[i].line, "event %s is also declared in %s:%u: rename one",
                       class->events[i].full_name, other->file, other->events[k].line);
}

static void number_limited(struct schema *schema, struct class *class)
{
    const unsigned most = class->number < 0 ? TRACE_APP_LIMITED_MAX : TRACE_LIMITED_MAX;
    for (unsigned i = 0; i < class->event_count; i++)
        if (class->events[i].limit >= 0) {
            if (schema->limited_count == most)
                refuse(class->file, class->events[i].line, "only %u events can be limited", most);
            class->events[i].limit = (int)schema->limited_count++;
        }
}

void finish_schema(struct schema *schema)
{
    finish_tables(schema);
    qsort(schema->classes, schema->class_count, sizeof(*schema->classes), compare_classes);
    for (unsigned i = 0; i < schema->class_count; i++) {
        struct class *class = &schema->classes[i];
        qsort(class->events, class->event_count, sizeof(*class->events), compare_events);
        number_limited(schema, class);
        for (unsigned k = 0; k <= i; k++)
            check_full_names(class, &schema->classes[k]);
        for (unsigned k = 0; k < i; k++) {
            const struct class *other = &schema->classes[k];
            if (other->number == class->number && class->number >= 0)
                refuse(class->file, 1, "class number %d belongs to %s (%s): take a free one", class->number,
                       other->name, other->file);
            if (!strcmp(other->name, class->name))
                refuse(class->file, 1, "class %s is also declared in %s: rename one", class->name,
                       other->file);
        }
    }
}
