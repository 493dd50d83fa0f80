/* SPDX-License-Identifier: BSD-2-Clause */
/* trace/format/metadata.c - fills in metadata templates; see metadata.h. Freestanding. */
#include <stdbool.h>
#include <stddef.h>
#include <trace/format/metadata.h>

#define NAME_MAX_BYTES 24
#define RECIPE_WORD    "recipe=" /* word of the command line: FORMAT.md */

struct output {
    char *text;
    uint64_t capacity, length;
};

static void put_char(struct output *out, char c)
{
    if (out->length < out->capacity)
        out->text[out->length] = c;
    out->length++;
}

static void put_string(struct output *out, const char *text)
{
    while (*text)
        put_char(out, *text++);
}

static void put_number(struct output *out, uint64_t value)
{
    char digits[20];
    unsigned count = 0;
    do
        digits[count++] = (char)('0' + value % 10);
    while (value /= 10);
    while (count)
        put_char(out, digits[--count]);
}

static bool is_name(const char *text, uint64_t length, const char *name)
{
    uint64_t i = 0;
    while (i < length && name[i] && text[i] == name[i])
        i++;
    return i == length && !name[i];
}

/* The wall time at tick 0 in CTF's form: whole seconds, and the rest in ticks. Rounded down. */
static void put_offset(struct output *out, const struct trace_metadata_values *v, bool seconds)
{
    int64_t whole = v->clock_offset_ns / 1000000000, rest = v->clock_offset_ns % 1000000000;
    if (rest < 0) {
        rest += 1000000000;
        whole--;
    }
    if (!seconds) {
        put_number(out, (uint64_t)((unsigned __int128)rest * v->clock_hz / 1000000000));
        return;
    }
    if (whole < 0)
        put_char(out, '-');
    put_number(out, whole < 0 ? -(uint64_t)whole : (uint64_t)whole);
}

static void put_clock_trust(struct output *out, const struct trace_metadata_values *v)
{
    if (!v->clock_sources)
        return;
    put_string(out, "    clock_sources = \"");
    put_string(out, v->clock_sources);
    put_string(out, "\";\n    clock_error_ppm = ");
    put_number(out, v->clock_error_ppm);
    put_string(out, ";\n    clock_is_certain = ");
    put_number(out, v->clock_is_certain);
    put_string(out, ";\n");
}

static bool starts_with(const char *text, const char *start)
{
    while (*start && *text == *start)
        text++, start++;
    return !*start;
}

/* As a string of the metadata. */
static void put_quoted(struct output *out, const char *text, uint64_t length)
{
    for (uint64_t i = 0; i < length; i++) {
        if (text[i] == '"' || text[i] == '\\')
            put_char(out, '\\');
        put_char(out, text[i] >= ' ' && text[i] <= '~' ? text[i] : '?');
    }
}

static uint64_t word_length(const char *text)
{
    uint64_t length = 0;
    while (text[length] && text[length] != ' ')
        length++;
    return length;
}

/* Writes the words of the command line except the recipe; returns the recipe, or NULL. */
static const char *put_options(struct output *out, const char *line)
{
    const char *recipe = NULL, *between = "";
    for (uint64_t length; *line; line += length + (line[length] == ' ')) {
        length = word_length(line);
        if (starts_with(line, RECIPE_WORD)) {
            recipe = line + sizeof(RECIPE_WORD) - 1;
        } else if (length > 0) {
            put_string(out, between);
            put_quoted(out, line, length);
            between = " ";
        }
    }
    return recipe;
}

static void put_boot(struct output *out, const struct trace_metadata_values *v)
{
    if (!v->command_line)
        return;
    put_string(out, "    boot_options = \"");
    const char *recipe = put_options(out, v->command_line);
    put_string(out, "\";\n    memory_bytes = ");
    put_number(out, v->memory_bytes);
    put_string(out, ";\n");
    if (!recipe)
        return;
    put_string(out, "    recipe = \"");
    put_quoted(out, recipe, word_length(recipe));
    put_string(out, "\";\n");
}

/* Expands one placeholder; false: unknown. */
static bool put_value(struct output *out, const char *name, uint64_t length,
                      const struct trace_metadata_values *v)
{
    if (is_name(name, length, "BYTE_ORDER")) {
        put_string(out, v->byte_order);
    } else if (is_name(name, length, "HOSTNAME")) {
        put_string(out, v->hostname);
    } else if (is_name(name, length, "ARCHITECTURE")) {
        put_string(out, v->architecture);
    } else if (is_name(name, length, "CPU_COUNT")) {
        put_number(out, v->cpu_count);
    } else if (is_name(name, length, "CLOCK_HZ")) {
        put_number(out, v->clock_hz);
    } else if (is_name(name, length, "CLOCK_OFFSET_S")) {
        put_offset(out, v, true);
    } else if (is_name(name, length, "CLOCK_OFFSET")) {
        put_offset(out, v, false);
    } else if (is_name(name, length, "CLOCK_TRUST")) {
        put_clock_trust(out, v);
    } else if (is_name(name, length, "BOOT")) {
        put_boot(out, v);
    } else {
        return false;
    }
    return true;
}

uint64_t trace_metadata_expand(char *text_out, uint64_t capacity, const char *text, uint64_t size,
                               const struct trace_metadata_values *values)
{
    struct output out = {.text = text_out, .capacity = capacity};
    for (uint64_t i = 0; i < size; i++) {
        uint64_t end = i + 1;
        if (text[i] == '@')
            while (end < size && end - i <= NAME_MAX_BYTES && text[end] != '@' && text[end] != '\n')
                end++;
        if (text[i] == '@' && end < size && text[end] == '@' && end > i + 1 &&
            put_value(&out, text + i + 1, end - i - 1, values))
            i = end;
        else
            put_char(&out, text[i]);
    }
    return out.length;
}
