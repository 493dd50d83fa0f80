/* SPDX-License-Identifier: BSD-2-Clause */
/* amount.c - durations and sizes as options take them; see amount.h. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tools/tarn/keep/amount.h>

#define SECONDS_MAX 1e9
#define BYTES_MAX   0x1p60

struct unit {
    const char *name;
    double factor;
};

static const struct unit times[] = {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3},
                                    {"s", 1},     {"m", 60},    {"h", 3600}};
static const struct unit sizes[] = {{"K", 0x1p10}, {"M", 0x1p20}, {"G", 0x1p30}, {"T", 0x1p40}};

/* Parses a positive number with one of the UNITS. */
static bool parse_number(const char *text, const struct unit *units, size_t count, double most, double *value)
{
    char *end;
    double number = strtod(text, &end);

    if (!isdigit((unsigned char)text[0]) || end == text)
        return false;
    for (size_t i = 0; i < count; i++)
        if (strcmp(end, units[i].name) == 0) {
            *value = number * units[i].factor;
            return *value > 0 && *value <= most;
        }
    return false;
}

bool parse_duration(const char *text, double *seconds, struct fail *fail)
{
    return parse_number(text, times, sizeof(times) / sizeof(times[0]), SECONDS_MAX, seconds) ||
           fail_set(fail, "'%.60s' is not a duration; use a number with ns, us, ms, s, m or h: 250ms", text);
}

bool take_duration(void *context, const struct command_option *option, const char *value, struct fail *fail)
{
    void *seconds = (char *)context + option->place;

    return parse_duration(value, seconds, fail);
}

static bool parse_size(const char *text, uint64_t *bytes)
{
    double value;

    if (!parse_number(text, sizes, sizeof(sizes) / sizeof(sizes[0]), BYTES_MAX, &value))
        return false;
    *bytes = (uint64_t)value;
    return true;
}

static bool parse_one(const char *text, struct keep_amount *amount)
{
    struct fail ignored;

    return (amount->seconds == 0 && parse_duration(text, &amount->seconds, &ignored)) ||
           (amount->bytes == 0 && parse_size(text, &amount->bytes));
}

bool parse_keep(const char *text, struct keep_amount *amount, struct fail *fail)
{
    char copy[64];
    char *second = NULL;

    *amount = (struct keep_amount){0, 0};
    snprintf(copy, sizeof(copy), "%s", text);
    second = strchr(copy, ',');
    if (second != NULL)
        *second++ = '\0';
    return (strlen(text) < sizeof(copy) && parse_one(copy, amount) &&
            (second == NULL || parse_one(second, amount))) ||
           fail_set(
               fail,
               "'%.60s' is not an amount to keep; use a time (90s, 10m, 2h), a size (500M, 2G), or both: "
               "10m,2G",
               text);
}
