/*
 * print.c - values in each style; a print program per event type, and its run for each event. See print.h.
 */
#include <math.h>
#include <stdlib.h>
#include <tools/tarn/print/print.h>

/* ---- values ---------------------------------------------------------------------------------------- */

/* The letter after the backslash in an escape sequence. */
static const char escape_letters[] = {['\\'] = '\\', ['"'] = '"',  ['\a'] = 'a', ['\b'] = 'b', ['\033'] = 'e',
                                      ['\f'] = 'f',  ['\n'] = 'n', ['\r'] = 'r', ['\t'] = 't', ['\v'] = 'v'};

static bool is_plain(unsigned char c, enum print_style style)
{
    if (c < 0x20 || c == 0x7f || c == '"' || c == '\\')
        return false;
    if (style == PRINT_BABELTRACE)
        return c != '\'' && c != '?';
    return c < 0x80;
}

struct unit unit_of_time(uint64_t largest)
{
    static const struct unit units[] = {{" ns", 1}, {" us", 1e3}, {" ms", 1e6}, {" s", 1e9}};
    unsigned i = 0;
    while (i + 1 < sizeof(units) / sizeof(units[0]) && (double)largest >= 1e4 * units[i].of_one)
        i++;
    return units[i];
}

/* Counts are exact up to seven digits. */
struct unit unit_of_count(uint64_t largest)
{
    static const struct unit units[] = {{"", 1}, {" M", 1e6}, {" G", 1e9}};
    return units[largest < 10000000 ? 0 : largest < 10000000000 ? 1 : 2];
}

void format_digits(double value, char text[NUMBER_BYTES])
{
    double size = fabs(value);
    int decimals = size >= 99.95 || size == 0 ? 0 : size >= 9.995 ? 1 : size >= 0.9995 ? 2 : 3;
    snprintf(text, NUMBER_BYTES, "%.*f", decimals, value);
}

unsigned utf8_length(const unsigned char *text, size_t left)
{
    unsigned length = text[0] >= 0xc2 && text[0] < 0xe0   ? 2
                      : (text[0] & 0xf0) == 0xe0          ? 3
                      : text[0] >= 0xf0 && text[0] < 0xf5 ? 4
                                                          : 0;
    if (length == 0 || length > left)
        return 0;
    for (unsigned i = 1; i < length; i++)
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    if ((text[0] == 0xe0 && text[1] < 0xa0) || (text[0] == 0xed && text[1] > 0x9f) ||
        (text[0] == 0xf0 && text[1] < 0x90) || (text[0] == 0xf4 && text[1] > 0x8f))
        return 0;
    return length;
}

void buffer_utf8(struct buffer *to, const char *text, size_t length)
{
    size_t run;
    for (size_t i = 0; i < length; i += run != 0 ? run : 1) {
        run = (unsigned char)text[i] < 0x80 ? 1 : utf8_length((const unsigned char *)text + i, length - i);
        buffer_add(to, run != 0 ? text + i : "\xef\xbf\xbd", run != 0 ? run : 3);
    }
}

static char *put_hex_byte(char *at, const char *before, unsigned char c)
{
    at = put_string(at, before);
    *at++ = hex_lower[c >> 4];
    *at++ = hex_lower[c & 15];
    return at;
}

static char *put_special(char *at, unsigned char c, enum print_style style)
{
    char letter = c < sizeof(escape_letters) ? escape_letters[c] : 0;
    if (style == PRINT_JSON) {
        if (c == '"' || c == '\\' || (letter != 0 && strchr("bfnrt", letter) != NULL)) {
            *at++ = '\\';
            *at++ = letter;
            return at;
        }
        return c < 0x80 ? put_hex_byte(at, "\\u00", c) : put_string(at, "\xef\xbf\xbd");
    }
    if (style == PRINT_CSV && c == '"')
        return put_string(at, "\\\"\"");
    if (style == PRINT_BABELTRACE && (c == '\'' || c == '?'))
        letter = (char)c;
    if (letter == 0)
        return put_hex_byte(at, "\\x", c);
    *at++ = '\\';
    *at++ = letter;
    return at;
}

char *put_escaped(char *at, const char *text, size_t length, enum print_style style)
{
    const char *quote = style == PRINT_CSV ? "\"\"" : "\"";
    at = put_string(at, quote);
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        unsigned run;
        if (is_plain(c, style)) {
            *at++ = (char)c;
        } else if (c >= 0x80 && (run = utf8_length((const unsigned char *)text + i, length - i)) != 0) {
            at = put_bytes(at, text + i, run);
            i += run - 1;
        } else {
            at = put_special(at, c, style);
        }
    }
    return put_string(at, quote);
}

/* VALUE is sign-extended if the field is signed. */
char *put_number(char *at, uint64_t value, const struct field *field, enum print_style style)
{
    if (field->base == 16 && style != PRINT_JSON)
        return put_hex(at, field->width == 8 ? value : value & ((1ull << field->width * 8) - 1),
                       style == PRINT_BABELTRACE ? hex_upper : hex_lower);
    return field->is_signed ? put_signed(at, (int64_t)value) : put_unsigned(at, value);
}

#define EXACT_MAX (1ll << 53)

char *put_safe_number(char *at, uint64_t value, bool is_signed)
{
    int64_t number = (int64_t)value;
    bool is_exact = is_signed ? number >= -EXACT_MAX && number <= EXACT_MAX : value <= EXACT_MAX;
    if (!is_exact)
        *at++ = '"';
    at = is_signed ? put_signed(at, number) : put_unsigned(at, value);
    if (!is_exact)
        *at++ = '"';
    return at;
}

/* babeltrace2 style: ( "label", "label" : container = 1 ); others: the first label, or the number. */
char *put_enum(char *at, uint64_t value, const struct field *field, enum print_style style)
{
    bool any = false;
    if (style == PRINT_BABELTRACE)
        at = put_string(at, "( ");
    for (const struct label *label = field->labels; label != NULL; label = label->next) {
        if (label->value != value)
            continue;
        if (style == PRINT_TEXT || style == PRINT_CSV)
            return put_string(at, label->name);
        if (any)
            at = put_string(at, ", ");
        at = put_escaped(at, label->name, strlen(label->name), style);
        any = true;
        if (style == PRINT_JSON)
            return at;
    }
    if (style != PRINT_BABELTRACE)
        return put_number(at, value, field, style);
    at = put_string(at, any ? " : container = " : "<unknown> : container = ");
    at = put_number(at, value, field, style);
    return put_string(at, " )");
}

char *put_list(char *at, const struct event *event, const struct field *field, enum print_style style,
               bool is_safe)
{
    uint64_t count = field_count(field, event);
    const uint8_t *bytes = event->bytes + field->offset;
    *at++ = '[';
    for (uint64_t i = 0; i < count; i++, bytes += field->width) {
        uint64_t value = load_integer(bytes, field->width, field->is_signed, field->swap);
        if (style == PRINT_BABELTRACE) {
            at = put_string(at, i == 0 ? " [" : ", [");
            at = put_unsigned(at, i);
            at = put_string(at, "] = ");
        } else if (i != 0) {
            *at++ = ',';
        }
        at = field->labels ? put_enum(at, value, field, style)
             : is_safe     ? put_safe_number(at, value, field->is_signed)
                           : put_number(at, value, field, style);
    }
    return put_string(at, style == PRINT_BABELTRACE ? " ]" : "]");
}

static size_t scalar_capacity(const struct field *field)
{
    size_t capacity = 64; /* an unknown value of an enumeration is the longest: its number and words */
    for (const struct label *label = field->labels; label != NULL; label = label->next)
        capacity += 6 * strlen(label->name) + 8;
    return capacity;
}

size_t value_capacity(const struct field *field, bool indexes)
{
    size_t bytes = TRACE_LENGTH_MAX * 8 - field->offset;
    switch (field->kind) {
    case FIELD_TEXT:
        return 8 + 6 * (size_t)field->count;
    case FIELD_STRING:
        return 8 + 6 * bytes;
    case FIELD_ARRAY:
        return 8 + field->count * (scalar_capacity(field) + (indexes ? 16 : 0));
    case FIELD_SEQUENCE:
        return 8 + bytes / field->width * (scalar_capacity(field) + (indexes ? 16 : 0));
    default:
        return 40 + scalar_capacity(field);
    }
}

char *put_csv_text(char *at, const char *text, size_t length)
{
    bool is_plain = true;
    for (size_t i = 0; i < length; i++)
        is_plain &= text[i] != ',' && text[i] != '"' && text[i] != '\n' && text[i] != '\r';
    if (is_plain)
        return put_bytes(at, text, length);
    *at++ = '"';
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '"')
            *at++ = '"';
        *at++ = text[i];
    }
    *at++ = '"';
    return at;
}

/* ---- programs -------------------------------------------------------------------------------------- */

#define SMALL_LABELS 256u
#define CAPACITY_MAX (64u << 20)
#define PREFIX_BYTES 512u /* time, CPU, thread with an escaped name, class */

static void compile_labels(struct printer *printer, struct print_op *op)
{
    char *scratch = alloc_zero(1, value_capacity(op->field, false));
    struct print_text *small = arena_alloc(&printer->arena, SMALL_LABELS * sizeof(*small));
    uint64_t limit = 0;
    for (const struct label *label = op->field->labels; label != NULL; label = label->next)
        if (label->value < SMALL_LABELS && label->value >= limit)
            limit = label->value + 1;
    for (uint64_t value = 0; value < limit; value++) {
        char *end = put_enum(scratch, value, op->field, printer->style);
        small[value].length = (uint32_t)(end - scratch);
        small[value].text = arena_string(&printer->arena, scratch, small[value].length);
    }
    op->small = small;
    op->small_count = (uint32_t)limit;
    free(scratch);
}

static void compile_value(struct printer *printer, struct print_op *op, const struct field *field)
{
    const struct schema *schema = &printer->trace->schema;
    bool big = schema->big_endian;
    unsigned place = field->offset % 8, bits = field->width * 8u;
    op->field = field;
    if (field->kind == FIELD_TEXT || field->kind == FIELD_STRING) {
        op->code = OP_STRING;
        return;
    }
    if (field->kind == FIELD_ARRAY || field->kind == FIELD_SEQUENCE) {
        op->code = OP_LIST;
        return;
    }
    op->code = OP_SLOW;
    if (field->kind == FIELD_ENUM)
        compile_labels(printer, op);
    if (place + field->width > 8)
        return;
    op->word = field->offset - place;
    op->swap = big != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
    op->up = (uint8_t)(big ? place * 8 : 64 - bits - place * 8);
    op->down = (uint8_t)(64 - bits);
    if (field->kind == FIELD_ENUM && !field->is_signed)
        op->code = OP_ENUM;
    else if (field->kind == FIELD_INTEGER && (field->base == 10 || printer->style == PRINT_JSON))
        op->code = field->is_signed ? OP_SIGNED : OP_UNSIGNED;
    else if (field->kind == FIELD_INTEGER && field->base == 16)
        op->code = OP_HEX;
}

/* Adds the text before field NUMBER. */
static void add_field_name(struct buffer *literal, enum print_style style, const char *name, unsigned number)
{
    static const char *const before[] = {
        [PRINT_TEXT] = " ", [PRINT_JSON] = ",\"", [PRINT_CSV] = " ", [PRINT_BABELTRACE] = ", "};
    static const char *const first[] = {
        [PRINT_TEXT] = " ", [PRINT_JSON] = "\"", [PRINT_CSV] = "", [PRINT_BABELTRACE] = " "};
    static const char *const after[] = {
        [PRINT_TEXT] = "=", [PRINT_JSON] = "\":", [PRINT_CSV] = "=", [PRINT_BABELTRACE] = " = "};
    buffer_text(literal, number == 0 ? first[style] : before[style]);
    buffer_text(literal, name);
    buffer_text(literal, after[style]);
}

static bool compile_program(struct printer *printer, struct print_program *program, const char *prefix,
                            const struct field *fields, unsigned count, const char *suffix, struct fail *fail)
{
    struct buffer literal = {0};
    program->ops = arena_alloc(&printer->arena, (count + 1) * sizeof(program->ops[0]));
    program->count = 0;
    program->capacity = PREFIX_BYTES;
    buffer_text(&literal, prefix);
    for (unsigned i = 0; i <= count; i++) {
        struct print_op *op = &program->ops[program->count];
        /* text leaves out fields that only pad a word */
        if (i < count && printer->style == PRINT_TEXT && strncmp(fields[i].name, "reserved", 8) == 0)
            continue;
        if (i < count) {
            add_field_name(&literal, printer->style, fields[i].name, program->count);
            compile_value(printer, op, &fields[i]);
            program->capacity += value_capacity(&fields[i], printer->style == PRINT_BABELTRACE);
        } else {
            buffer_text(&literal, suffix);
        }
        op->literal = memcpy(arena_alloc(&printer->arena, literal.used + 32), literal.bytes, literal.used);
        op->literal_length = (uint32_t)literal.used;
        program->capacity += literal.used + 32;
        literal.used = 0;
        program->count++;
    }
    free(literal.bytes);
    if (program->capacity > CAPACITY_MAX)
        return fail_set(fail, "metadata: an event could take more than %u bytes to print", CAPACITY_MAX);
    return true;
}

static bool compile_event(struct printer *printer, const struct event_type *type, struct fail *fail)
{
    char prefix[2048], name[1600];
    const char *suffix = "\n";
    switch (printer->style) {
    case PRINT_TEXT:
        snprintf(prefix, sizeof(prefix), "%s:", type->name);
        break;
    case PRINT_JSON:
        *put_escaped(name, type->name, strlen(type->name), PRINT_JSON) = '\0';
        snprintf(prefix, sizeof(prefix), ",\"event\":%s,\"fields\":{", name);
        suffix = "}}\n";
        break;
    case PRINT_CSV:
        *put_escaped(name, type->name, strlen(type->name), PRINT_CSV) = '\0';
        name[strlen(name) - 2] = '\0';
        snprintf(prefix, sizeof(prefix), "%s,\"", name + 2);
        suffix = "\"\n";
        break;
    case PRINT_BABELTRACE:
        snprintf(prefix, sizeof(prefix), ", event.fields = {");
        suffix = " }\n";
        break;
    }
    return compile_program(printer, &printer->programs[type->index], prefix, type->fields, type->field_count,
                           suffix, fail);
}

/* Formats the environment entries that babeltrace2 prints with each event. */
static void compile_environment(struct printer *printer)
{
    static const char *const shown[] = {"hostname", "procname", "vpid"};
    struct buffer literal = {0};
    for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++) {
        bool is_vpid = strcmp(shown[i], "vpid") == 0;
        const char *text = schema_env(&printer->trace->schema, shown[i], !is_vpid);
        if (text == NULL)
            continue;
        buffer_text(&literal, ", trace:");
        buffer_text(&literal, shown[i]);
        buffer_text(&literal, is_vpid ? " = (" : " = ");
        buffer_text(&literal, text);
        buffer_text(&literal, is_vpid ? ")" : "");
    }
    printer->trace_prefix =
        arena_string(&printer->arena, literal.used ? (const char *)literal.bytes : "", literal.used);
    printer->trace_prefix_length = literal.used;
    free(literal.bytes);
}

bool printer_open(struct printer *printer, const struct trace *trace, struct out *out, enum print_style style,
                  enum print_time time, struct fail *fail)
{
    const struct schema *schema = &trace->schema;
    memset(printer, 0, sizeof(*printer));
    printer->trace = trace;
    printer->out = out;
    printer->style = style;
    printer->time = time;
    printer->second = INT64_MIN;
    printer->threads =
        arena_alloc(&printer->arena, (trace->stream_count + 1ul) * sizeof(printer->threads[0]));
    printer->start_ns = time == PRINT_TIME_START ? schema_ns(schema, trace->begin) : 0;
    printer->programs =
        arena_alloc(&printer->arena, (schema->event_count + 1) * sizeof(printer->programs[0]));
    bool ok = true;
    for (unsigned i = 0; ok && i < schema->event_count; i++)
        ok = compile_event(printer, schema->events[i], fail);
    if (ok && style == PRINT_BABELTRACE) {
        compile_environment(printer);
        ok = compile_program(printer, &printer->context, "{", schema->context_fields, CONTEXT_FIELDS, " }",
                             fail);
        printer->context_text = arena_alloc(&printer->arena, printer->context.capacity);
    }
    return ok;
}

void printer_close(struct printer *printer)
{
    arena_free(&printer->arena);
}

/* Literals are stored with 32 spare bytes, and every program reserves as many. */
static inline char *put_literal(char *at, const struct print_op *op)
{
    memcpy(at, op->literal, 32);
    if (op->literal_length > 32)
        memcpy(at + 32, op->literal + 32, op->literal_length - 32);
    return at + op->literal_length;
}

static char *run_program(char *at, const struct print_program *program, const struct event *event,
                         enum print_style style)
{
    const struct print_op *end = program->ops + program->count;
    for (const struct print_op *op = program->ops; op < end; op++) {
        uint64_t value;
        at = put_literal(at, op);
        switch ((enum op_code)op->code) {
        case OP_UNSIGNED:
            at = put_unsigned(at, load64(event->bytes + op->word, op->swap) << op->up >> op->down);
            break;
        case OP_SIGNED:
            at = put_signed(at, (int64_t)(load64(event->bytes + op->word, op->swap) << op->up) >> op->down);
            break;
        case OP_HEX:
            value = load64(event->bytes + op->word, op->swap) << op->up >> op->down;
            at = put_hex(at, value, style == PRINT_BABELTRACE ? hex_upper : hex_lower);
            break;
        case OP_ENUM:
            value = load64(event->bytes + op->word, op->swap) << op->up >> op->down;
            if (value < op->small_count)
                at = put_bytes(at, op->small[value].text, op->small[value].length);
            else
                at = put_enum(at, value, op->field, style);
            break;
        case OP_SLOW:
            value = field_integer(op->field, event->bytes);
            at = op->field->kind == FIELD_ENUM ? put_enum(at, value, op->field, style)
                                               : put_number(at, value, op->field, style);
            break;
        case OP_STRING:
            at = put_escaped(at, (const char *)event->bytes + op->field->offset,
                             field_text_length(op->field, event), style);
            break;
        case OP_LIST:
            at = put_list(at, event, op->field, style, false);
            break;
        case OP_END:
            break;
        }
    }
    return at;
}

/* Unsigned, because damaged times may be too far apart for a signed difference. */
static int64_t ns_between(int64_t from, int64_t to)
{
    return (int64_t)((uint64_t)to - (uint64_t)from);
}

/* Seconds with nine decimals; the text of the whole seconds is cached. */
static char *put_time(char *at, struct printer *printer, int64_t ns, bool is_column)
{
    int64_t second = ns / 1000000000, rest = ns % 1000000000;
    if (rest < 0)
        rest += 1000000000, second--;
    if (second != printer->second) {
        printer->second = second;
        printer->second_length = (unsigned)(put_signed(printer->second_text, second) - printer->second_text);
    }
    for (unsigned i = printer->second_length; is_column && i < 5; i++)
        *at++ = ' ';
    memcpy(at, printer->second_text, sizeof(printer->second_text));
    at += printer->second_length;
    *at++ = '.';
    return put_nine_digits(at, (uint32_t)rest);
}

/* cpu 0 name/tid */
static char *put_thread(char *at, const struct running *running, unsigned cpu)
{
    char *column;
    at = put_bytes(at, "] cpu", 5);
    if (cpu < 10)
        *at++ = ' ';
    at = put_unsigned(at, cpu);
    *at++ = ' ';
    column = at + 19;
    for (unsigned i = 0; i < running->comm_length; i++) {
        unsigned char c = (unsigned char)running->comm[i];
        *at++ = c < 0x20 || c >= 0x7f ? '.' : (char)c;
    }
    *at++ = '/';
    at = running->is_known ? put_unsigned(at, running->tid) : put_bytes(at, "?", 1);
    do
        *at++ = ' ';
    while (at <= column);
    return at;
}

/* [    0.000001234] cpu 0 name/tid            event: field=value ... */
static char *put_text_prefix(char *at, struct printer *printer, const struct cursor *cursor)
{
    const struct running *running = cursor_running(cursor);
    struct print_thread *thread = &printer->threads[cursor->rank];
    const uint32_t cpu = cursor->packet.header.cpu_id;
    *at++ = '[';
    if (printer->time == PRINT_TIME_CYCLES)
        at = put_unsigned(at, cursor->ticks);
    else
        at = put_time(at, printer, ns_between(printer->start_ns, cursor_ns(cursor)), true);
    if (thread->length == 0 || thread->cpu != cpu ||
        memcmp(&thread->running, running, sizeof(*running)) != 0) {
        thread->running = *running;
        thread->cpu = cpu;
        thread->length = (uint32_t)(put_thread(thread->text, running, cpu) - thread->text);
    }
    memcpy(at, thread->text, sizeof(thread->text));
    return at + thread->length;
}

static char *put_json_prefix(char *at, struct printer *printer, const struct cursor *cursor)
{
    const struct running *running = cursor_running(cursor);
    at = put_bytes(at, "{\"ns\":", 6);
    at = put_signed(at, cursor_ns(cursor));
    at = put_bytes(at, ",\"cycles\":", 10);
    at = put_unsigned(at, cursor->ticks);
    at = put_bytes(at, ",\"cpu\":", 7);
    at = put_unsigned(at, cursor->packet.header.cpu_id);
    if (running->is_known) {
        at = put_bytes(at, ",\"pid\":", 7);
        at = put_unsigned(at, running->pid);
        at = put_bytes(at, ",\"tid\":", 7);
        at = put_unsigned(at, running->tid);
        at = put_bytes(at, ",\"comm\":", 8);
        at = put_escaped(at, running->comm, running->comm_length, PRINT_JSON);
    }
    return at;
}

static char *put_csv_prefix(char *at, struct printer *printer, const struct cursor *cursor)
{
    const struct running *running = cursor_running(cursor);
    at = put_time(at, printer, ns_between(printer->start_ns, cursor_ns(cursor)), false);
    *at++ = ',';
    at = put_unsigned(at, cursor->ticks);
    *at++ = ',';
    at = put_unsigned(at, cursor->packet.header.cpu_id);
    *at++ = ',';
    if (running->is_known)
        at = put_unsigned(at, running->pid);
    *at++ = ',';
    if (running->is_known)
        at = put_unsigned(at, running->tid);
    *at++ = ',';
    for (unsigned i = 0; i < running->comm_length; i++) {
        unsigned char c = (unsigned char)running->comm[i];
        *at++ = c < 0x20 || c >= 0x7f || c == '"' || c == ',' ? '.' : (char)c;
    }
    *at++ = ',';
    return at;
}

/* The start of a line of `babeltrace2 --clock-cycles --no-delta --names=all`. */
static char *put_babeltrace_prefix(char *at, struct printer *printer, const struct cursor *cursor)
{
    const struct event_type *type = cursor->event.type;
    if (printer->context_stream != cursor->stream || printer->context_offset != cursor->packet.offset) {
        struct event header = {.bytes = cursor->packet.bytes, .words = TRACE_PACKET_WORDS};
        char *end = run_program(printer->context_text, &printer->context, &header, PRINT_BABELTRACE);
        printer->context_length = (size_t)(end - printer->context_text);
        printer->context_stream = cursor->stream;
        printer->context_offset = cursor->packet.offset;
    }
    at = put_bytes(at, "timestamp = ", 12);
    at = put_padded(at, cursor->ticks, 20);
    at = put_bytes(at, printer->trace_prefix, printer->trace_prefix_length);
    at = put_bytes(at, ", name = ", 9);
    at = put_string(at, type->name);
    at = put_bytes(at, ", stream.packet.context = ", 26);
    return put_bytes(at, printer->context_text, printer->context_length);
}

void print_event(struct printer *printer, const struct cursor *cursor)
{
    const struct print_program *program = &printer->programs[cursor->event.type->index];
    size_t capacity = program->capacity + printer->context_length + printer->context.capacity +
                      printer->trace_prefix_length;
    char *at = out_reserve(printer->out, capacity);
    switch (printer->style) {
    case PRINT_TEXT:
        at = put_text_prefix(at, printer, cursor);
        break;
    case PRINT_JSON:
        at = put_json_prefix(at, printer, cursor);
        break;
    case PRINT_CSV:
        at = put_csv_prefix(at, printer, cursor);
        break;
    case PRINT_BABELTRACE:
        at = put_babeltrace_prefix(at, printer, cursor);
        break;
    }
    out_commit(printer->out, run_program(at, program, &cursor->event, printer->style));
}

void print_heading(struct printer *printer)
{
    if (printer->style == PRINT_CSV)
        out_commit(printer->out, put_string(out_reserve(printer->out, PREFIX_BYTES),
                                            "seconds,cycles,cpu,pid,tid,comm,event,fields\n"));
}
