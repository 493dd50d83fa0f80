/* SPDX-License-Identifier: BSD-2-Clause */
/* schema_layout.c - declared types to fields with offsets; see schema_layout.h. */
#include <string.h>
#include <tools/tarn/read/schema_layout.h>

#define EVENT_BITS_MAX (TRACE_LENGTH_MAX * 64u)

/* The fields that a struct of the metadata must contain to match format.h. */
struct expected_field {
    const char *name;
    unsigned bits, at, count; /* count: elements of an array of bytes */
};

static const struct expected_field expected_header[] = {
    {"magic", 32, 0, 0}, {"stream_id", 32, 32, 0}, {"uuid", 8, 64, 16}, {NULL, 0, 0, 0}};
static const struct expected_field expected_context[] = {{"timestamp_begin", 64, 0, 0},
                                                         {"timestamp_end", 64, 64, 0},
                                                         {"content_size", 64, 128, 0},
                                                         {"packet_size", 64, 192, 0},
                                                         {"events_discarded", 64, 256, 0},
                                                         {"packet_seq_num", 64, 320, 0},
                                                         {"committed", 64, 384, 0},
                                                         {"events_before", 64, 448, 0},
                                                         {"cpu_id", 32, 512, 0},
                                                         {"flags", 32, 544, 0},
                                                         {NULL, 0, 0, 0}};
static const struct expected_field expected_event[] = {
    {"id", 22, 0, 0}, {"timestamp", 32, 32, 0}, {NULL, 0, 0, 0}};

static uint64_t align_up(uint64_t bits, uint64_t align)
{
    return (bits + align - 1) & ~(align - 1);
}

static uint64_t type_bits(const struct tsdl_type *type)
{
    if (type->kind == TSDL_ARRAY)
        return type->element->bits * (type->count > EVENT_BITS_MAX ? EVENT_BITS_MAX : type->count);
    return type->bits;
}

/* Checks that each expected field is at its place, and that nothing follows the last one. */
static bool check_struct(const struct tsdl_type *type, const struct expected_field *expected,
                         const char *what, struct fail *fail)
{
    uint64_t bits = 0, end = 0;

    if (type == NULL || type->kind != TSDL_STRUCT)
        return fail_set(fail, "metadata: %s is missing", what);
    for (const struct tsdl_field *field = type->fields; field != NULL; field = field->next) {
        const struct tsdl_type *scalar = field->type->kind == TSDL_ARRAY ? field->type->element : field->type;

        bits = align_up(bits, field->type->align);
        if (scalar->kind != TSDL_INTEGER)
            return fail_set(fail, "metadata: field %s of %s is not an integer", field->name, what);
        if (expected->name != NULL && strcmp(expected->name, field->name) == 0) {
            if (bits != expected->at || scalar->bits != expected->bits ||
                (field->type->kind == TSDL_ARRAY ? field->type->count : 0) != expected->count)
                return fail_set(fail, "metadata: field %s of %s is not where Tarn's format requires it",
                                field->name, what);
            end = bits + type_bits(field->type);
            expected++;
        } else if (strcmp(what, "event.header") != 0) {
            return fail_set(fail, "metadata: unexpected field %s of %s", field->name, what);
        }
        bits += type_bits(field->type);
    }
    if (expected->name != NULL || bits > end)
        return fail_set(fail, "metadata: %s does not match Tarn's format", what);
    return true;
}

bool schema_check_envelope(const struct tsdl *tsdl, struct fail *fail)
{
    return check_struct(tsdl->packet_header, expected_header, "packet.header", fail) &&
           check_struct(tsdl->packet_context, expected_context, "packet.context", fail) &&
           check_struct(tsdl->event_header, expected_event, "event.header", fail);
}

static bool is_foreign(const struct schema *schema, const struct tsdl_type *type)
{
    bool big = type->order == TSDL_NATIVE ? schema->big_endian : type->order == TSDL_BIG;

    return big != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
}

static bool set_scalar(const struct schema *schema, struct field *field, const struct tsdl_type *type)
{
    if (type->kind != TSDL_INTEGER && type->kind != TSDL_ENUM)
        return false;
    if (type->bits != 8 && type->bits != 16 && type->bits != 32 && type->bits != 64)
        return false;
    if (type->align % 8 != 0)
        return false;
    field->width = (uint8_t)(type->bits / 8);
    field->base = (uint8_t)type->base;
    field->is_signed = type->is_signed;
    field->swap = is_foreign(schema, type) && field->width > 1;
    field->labels = type->labels;
    return true;
}

static const struct field *find_counter(const struct field *fields, unsigned count, const char *name)
{
    for (unsigned i = 0; i < count; i++)
        if (strcmp(fields[i].name, name) == 0 && fields[i].kind == FIELD_INTEGER && !fields[i].is_signed)
            return &fields[i];
    return NULL;
}

/* In CTF, a leading underscore is not part of a name. */
static const char *plain_name(const char *name)
{
    return name[0] == '_' && name[1] != '\0' ? name + 1 : name;
}

static bool set_array(const struct schema *schema, struct field *field, const struct tsdl_type *type,
                      const struct field *before, unsigned before_count)
{
    if (!set_scalar(schema, field, type->element))
        return false;
    field->kind = type->kind == TSDL_SEQUENCE ? FIELD_SEQUENCE : FIELD_ARRAY;
    if (type->kind == TSDL_SEQUENCE) {
        field->counter = find_counter(before, before_count, plain_name(type->count_field));
        return field->counter != NULL && !type->element->is_text;
    }
    if (type->count > EVENT_BITS_MAX / 8)
        return false;
    field->count = (uint32_t)type->count;
    if (type->element->is_text && field->width == 1)
        field->kind = FIELD_TEXT;
    return true;
}

static bool set_field(const struct schema *schema, struct field *field, const struct tsdl_type *type,
                      const struct field *before, unsigned before_count)
{
    switch (type->kind) {
    case TSDL_INTEGER:
    case TSDL_ENUM:
        field->kind = type->kind == TSDL_ENUM ? FIELD_ENUM : FIELD_INTEGER;
        return set_scalar(schema, field, type);
    case TSDL_STRING:
        field->kind = FIELD_STRING;
        field->width = 1;
        return true;
    case TSDL_ARRAY:
    case TSDL_SEQUENCE:
        return set_array(schema, field, type, before, before_count);
    default:
        return false;
    }
}

unsigned schema_count_fields(const struct tsdl_type *type)
{
    unsigned count = 0;

    for (const struct tsdl_field *field = type ? type->fields : NULL; field != NULL; field = field->next)
        count++;
    return count;
}

bool field_is_variable(const struct field *field)
{
    return field->kind == FIELD_STRING || field->kind == FIELD_SEQUENCE;
}

uint64_t schema_lay_out(struct schema *schema, const struct tsdl_type *type, uint64_t start,
                        struct field *fields, const char *owner, struct fail *fail)
{
    uint64_t bits = start;
    unsigned count = 0;

    for (const struct tsdl_field *from = type->fields; from != NULL; from = from->next, count++) {
        struct field *field = &fields[count];

        if (count > 0 && field_is_variable(&fields[count - 1])) {
            fail_set(fail, "metadata: %s: field %s follows one of variable size", owner, from->name);
            return 0;
        }
        field->name = plain_name(from->name);
        bits = align_up(bits, from->type->align);
        if (!set_field(schema, field, from->type, fields, count)) {
            fail_set(fail, "metadata: %s: field %s has a type that is not part of a Tarn trace", owner,
                     from->name);
            return 0;
        }
        field->offset = (uint32_t)(bits / 8);
        bits += (uint64_t)field->width * 8 *
                (field->kind == FIELD_ARRAY || field->kind == FIELD_TEXT ? field->count
                 : field->kind == FIELD_SEQUENCE                         ? 0
                                                                         : 1);
        if (bits > EVENT_BITS_MAX) {
            fail_set(fail, "metadata: %s is larger than an event can be", owner);
            return 0;
        }
    }
    return bits;
}
