/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * schema_costs.c - reads from the metadata what logging each event costs: a comment that `trace bench` adds
 * (FORMAT.md, "Costs of logging").
 *
 * The last such comment counts. Lines that are not as they should be are ignored.
 */
#include <stdio.h>
#include <stdlib.h>
#include <tools/tarn/read/schema.h>
#include <trace/format/metadata.h>

#define LINE_MAX 160u

/* Returns what stands behind the last first line of costs; NULL: there is none. */
static const char *find_last(const char *text, size_t length)
{
    static const char begin[] = TRACE_COSTS_BEGIN;
    const char *last = NULL;

    for (const char *at = text, *end = text + length;
         (at = memmem(at, (size_t)(end - at), begin, sizeof(begin) - 1)) != NULL; at++)
        last = at + sizeof(begin) - 1;
    return last;
}

/* "-" stands for what is not counted. */
static bool read_number(const char *word, uint32_t *number)
{
    char *end;
    unsigned long value = strtoul(word, &end, 10);

    *number = (uint32_t)value;
    return (*word >= '0' && *word <= '9' && *end == '\0' && value <= UINT32_MAX) || strcmp(word, "-") == 0;
}

static struct event_type *find_type(struct schema *schema, const char *name)
{
    for (unsigned i = 0; i < schema->event_count; i++)
        if (strcmp(schema->events[i]->name, name) == 0)
            return (struct event_type *)(uintptr_t)schema->events[i];
    return NULL;
}

static bool read_line(struct schema *schema, const char *line)
{
    char name[80], word[4][24];
    uint32_t number[4];
    struct event_type *type;

    if (sscanf(line, " * %79s %23s %23s %23s %23s", name, word[0], word[1], word[2], word[3]) != 5)
        return false;
    for (unsigned i = 0; i < 4; i++)
        if (!read_number(word[i], &number[i]))
            return true;
    type = find_type(schema, name);
    if (type == NULL || number[1] == 0)
        return true;
    schema->cost_count++;
    for (unsigned i = 0; i < 2; i++) {
        type->cost_ticks[i] = number[i];
        type->cost_instructions[i] = number[2 + i];
    }
    return true;
}

void schema_read_costs(struct schema *schema, const char *text, size_t length)
{
    const char *at = find_last(text, length), *end = text + length;
    char line[LINE_MAX];
    bool goes_on = at != NULL;

    while (goes_on && at < end) {
        const char *next = memchr(at, '\n', (size_t)(end - at));
        size_t size = (size_t)((next != NULL ? next : end) - at);

        if (next == NULL || size >= sizeof(line))
            return;
        memcpy(line, at, size);
        line[size] = '\0';
        goes_on = read_line(schema, line);
        at = next + 1;
    }
}
