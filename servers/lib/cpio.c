/* cpio.c - boot archive reader. Headers have 110 characters, numbers are eight hexadecimal digits. */
#include "cpio.h"
#include <string.h>

#define HEADER_BYTES 110u
enum { FIELD_MODE = 1, FIELD_GROUP = 3, FIELD_SIZE = 6, FIELD_NAME_SIZE = 11 };

static int parse_field(const char *header, unsigned field, uint32_t *value)
{
    const char *digits = header + 6 + field * 8;
    *value = 0;
    for (unsigned i = 0; i < 8; i++) {
        char c = digits[i];
        uint32_t digit;
        if (c >= '0' && c <= '9')
            digit = (uint32_t)(c - '0');
        else if ((c | 32) >= 'a' && (c | 32) <= 'f')
            digit = (uint32_t)((c | 32) - 'a' + 10);
        else
            return -1;
        *value = *value << 4 | digit;
    }
    return 0;
}

static uint64_t align4(uint64_t offset)
{
    return (offset + 3) & ~3ull;
}

int cpio_next(struct cpio_reader *reader, struct cpio_entry *entry)
{
    uint32_t size, name_size;
    const char *header = reader->archive + reader->offset;
    if (reader->offset > reader->size || reader->size - reader->offset < HEADER_BYTES)
        return -1;
    if (memcmp(header, "070701", 6) != 0 && memcmp(header, "070702", 6) != 0)
        return -1;
    if (parse_field(header, FIELD_MODE, &entry->mode) ||
        parse_field(header, FIELD_GROUP, &entry->authority) || parse_field(header, FIELD_SIZE, &size) ||
        parse_field(header, FIELD_NAME_SIZE, &name_size))
        return -1;
    uint64_t name = reader->offset + HEADER_BYTES;
    uint64_t data = align4(name + name_size);
    if (name_size == 0 || data > reader->size || size > reader->size - data ||
        reader->archive[name + name_size - 1] != 0)
        return -1;
    entry->name = reader->archive + name;
    entry->data = reader->archive + data;
    entry->size = size;
    reader->offset = align4(data + size);
    if (!strcmp(entry->name, "TRAILER!!!"))
        return 0;
    while (entry->name[0] == '/' || (entry->name[0] == '.' && entry->name[1] == '/'))
        entry->name++;
    return 1;
}

int cpio_find(const char *archive, uint64_t size, const char *name, struct cpio_entry *entry)
{
    struct cpio_reader reader = {archive, size, 0};
    int found;
    while ((found = cpio_next(&reader, entry)) > 0)
        if (!strcmp(entry->name, name))
            break;
    return found;
}
