/* trace/format/metadata.c - fills in metadata templates; see metadata.h. Freestanding. */
#include <stddef.h>
#include <trace/format/metadata.h>
#include <trace/format/text.h>

#define NAME_MAX_BYTES 24
#define RECIPE_WORD    "recipe=" /* word of the command line: FORMAT.md */

/* The wall time at tick 0 in CTF's form: whole seconds, and the rest in ticks. Rounded down. */
static void put_offset(struct trace_text *out, const struct trace_metadata_values *v, bool seconds)
{
    int64_t whole = v->clock_offset_ns / 1000000000, rest = v->clock_offset_ns % 1000000000;
    if (rest < 0) {
        rest += 1000000000;
        whole--;
    }
    if (!seconds) {
        trace_text_number(out, (uint64_t)((unsigned __int128)rest * v->clock_hz / 1000000000));
        return;
    }
    if (whole < 0)
        trace_text_char(out, '-');
    trace_text_number(out, whole < 0 ? -(uint64_t)whole : (uint64_t)whole);
}

static bool starts_with(const char *text, const char *start)
{
    while (*start && *text == *start)
        text++, start++;
    return !*start;
}

/* At most `length` bytes, as in a string of the metadata. */
static void put_quoted(struct trace_text *out, const char *text, uint64_t length)
{
    for (uint64_t i = 0; i < length && text[i]; i++) {
        if (text[i] == '"' || text[i] == '\\')
            trace_text_char(out, '\\');
        trace_text_char(out, text[i] >= ' ' && text[i] <= '~' ? text[i] : '?');
    }
}

static void put_name(struct trace_text *out, const char *name)
{
    trace_text_add(out, "    ");
    trace_text_add(out, name);
    trace_text_add(out, " = ");
}

static void put_string(struct trace_text *out, const char *name, const char *text, uint64_t length)
{
    put_name(out, name);
    trace_text_char(out, '"');
    put_quoted(out, text, length);
    trace_text_add(out, "\";\n");
}

static void put_number(struct trace_text *out, const char *name, uint64_t number)
{
    put_name(out, name);
    trace_text_number(out, number);
    trace_text_add(out, ";\n");
}

static uint64_t word_length(const char *text)
{
    uint64_t length = 0;
    while (text[length] && text[length] != ' ')
        length++;
    return length;
}

/* Writes the words of the command line except the recipe; returns the recipe, or NULL. */
static const char *put_options(struct trace_text *out, const char *line)
{
    const char *recipe = NULL, *between = "";
    for (uint64_t length; *line; line += length + (line[length] == ' ')) {
        length = word_length(line);
        if (starts_with(line, RECIPE_WORD)) {
            recipe = line + sizeof(RECIPE_WORD) - 1;
        } else if (length > 0) {
            trace_text_add(out, between);
            put_quoted(out, line, length);
            between = " ";
        }
    }
    return recipe;
}

static void put_boot(struct trace_text *out, const struct trace_metadata_values *v)
{
    put_name(out, "boot_options");
    trace_text_char(out, '"');
    const char *recipe = put_options(out, v->command_line);
    trace_text_add(out, "\";\n");
    put_number(out, "memory_bytes", v->memory_bytes);
    if (v->ring_refused)
        put_string(out, "ring_refused", v->ring_refused, UINT64_MAX);
    if (recipe)
        put_string(out, "recipe", recipe, word_length(recipe));
}

static void put_environment(struct trace_text *out, const struct trace_metadata_values *v)
{
    put_string(out, "hostname", v->hostname, UINT64_MAX);
    if (v->sysname)
        put_string(out, "sysname", v->sysname, word_length(v->sysname));
    put_string(out, "architecture", v->architecture, UINT64_MAX);
    put_number(out, "cpu_count", v->cpu_count);
    if (v->clock_sources) {
        put_string(out, "clock_sources", v->clock_sources, UINT64_MAX);
        put_number(out, "clock_error_ppm", v->clock_error_ppm);
        put_number(out, "clock_is_certain", v->clock_is_certain);
    }
    if (v->command_line)
        put_boot(out, v);
}

/* Expands one placeholder; false: unknown. */
static bool put_value(struct trace_text *out, const char *name, uint64_t length,
                      const struct trace_metadata_values *v)
{
    if (trace_is_word(name, length, "BYTE_ORDER")) {
        trace_text_add(out, v->byte_order);
    } else if (trace_is_word(name, length, "ENVIRONMENT")) {
        put_environment(out, v);
    } else if (trace_is_word(name, length, "CLOCK_HZ")) {
        trace_text_number(out, v->clock_hz);
    } else if (trace_is_word(name, length, "CLOCK_OFFSET_S")) {
        put_offset(out, v, true);
    } else if (trace_is_word(name, length, "CLOCK_OFFSET")) {
        put_offset(out, v, false);
    } else {
        return false;
    }
    return true;
}

uint64_t trace_metadata_expand(char *text_out, uint64_t capacity, const char *text, uint64_t size,
                               const struct trace_metadata_values *values)
{
    struct trace_text out = {.bytes = text_out, .capacity = capacity};
    for (uint64_t i = 0; i < size; i++) {
        uint64_t end = i + 1;
        if (text[i] == '@')
            while (end < size && end - i <= NAME_MAX_BYTES && text[end] != '@' && text[end] != '\n')
                end++;
        if (text[i] == '@' && end < size && text[end] == '@' && end > i + 1 &&
            put_value(&out, text + i + 1, end - i - 1, values))
            i = end;
        else
            trace_text_char(&out, text[i]);
    }
    return out.length;
}
