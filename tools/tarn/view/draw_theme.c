/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * draw_theme.c - colours of the PNG: those of the page's style sheet, and of programs by the hash of their
 * name, as in page/colors.js; see README.md.
 */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <tools/tarn/view/draw_parts.h>
#include <tools/tarn/view/page.h>

/* ---- the style sheet ------------------------------------------------------------------------------- */

/* Returns a NUL-terminated copy; the caller frees it. */
static char *read_sheet(void)
{
    for (const struct page_file *file = page_files; file->name != NULL; file++)
        if (strcmp(file->name, "page.css") == 0) {
            char *text = alloc_zero(1, file->size + 1);

            memcpy(text, file->bytes, file->size);
            return text;
        }
    abort(); /* the build always embeds it */
}

static unsigned digit(char c)
{
    return isdigit((unsigned char)c) ? (unsigned)(c - '0') : (unsigned)(tolower((unsigned char)c) - 'a' + 10);
}

/* Returns the value of --NAME in a block of rules, #rgb or #rrggbb. */
static struct colour find_colour(const char *block, const char *name)
{
    char key[48];
    unsigned parts[3];
    const char *at;
    size_t digits;

    snprintf(key, sizeof(key), "--%s: #", name);
    at = strstr(block, key);
    if (at == NULL)
        abort(); /* the name is not in the sheet: every picture fails, and so do the tests */
    at += strlen(key);
    digits = strspn(at, "0123456789abcdefABCDEF");
    for (unsigned i = 0; i < 3; i++)
        parts[i] = digits == 3 ? digit(at[i]) * 17 : digit(at[i * 2]) * 16 + digit(at[i * 2 + 1]);
    return (struct colour){parts[0] / 255.0, parts[1] / 255.0, parts[2] / 255.0};
}

static struct colour find_part(const char *block, const char *kind, const char *name)
{
    char key[32];

    snprintf(key, sizeof(key), "%s-%s", kind, name);
    return find_colour(block, key);
}

void theme_load(struct theme *theme, bool is_dark)
{
    static const char *const states[MODEL_STATES] = {
        [MODEL_RUNNING] = "running",
        [MODEL_READY] = "ready",
        [MODEL_BLOCKED_SEND] = "ipc",
        [MODEL_BLOCKED_RECEIVE] = "receive",
        [MODEL_BLOCKED_REPLY] = "ipc",
        [MODEL_BLOCKED_NOTIFICATION] = "notification",
        [MODEL_BLOCKED_FUTEX] = "futex",
        [MODEL_SLEEPING] = "sleeping",
        [MODEL_BLOCKED_FAULT] = "faulting",
        [MODEL_SUSPENDED] = "suspended",
        [MODEL_DEAD] = "dead",
        [MODEL_UNKNOWN] = "unknown",
    };
    const struct {
        const char *name;
        struct colour *colour;
    } plain[] = {{"background", &theme->background},
                 {"raised", &theme->raised},
                 {"line", &theme->line},
                 {"text", &theme->text},
                 {"quiet", &theme->quiet},
                 {"idle", &theme->idle},
                 {"interrupt", &theme->interrupt},
                 {"lost", &theme->lost},
                 {"box-text", &theme->box_text},
                 {"wakeup", &theme->wakeup},
                 {"call", &theme->call},
                 {"lock", &theme->lock}};
    char *sheet = read_sheet(), *block = strstr(sheet, is_dark ? ":root[data-theme=\"dark\"]" : ":root {");
    char number[4];

    if (block == NULL || strchr(block, '}') == NULL)
        abort();
    *strchr(block, '}') = '\0';
    theme->is_dark = is_dark;
    for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
        *plain[i].colour = find_colour(block, plain[i].name);
    for (unsigned i = 0; i < MODEL_STATES; i++)
        theme->states[i] = find_part(block, "state", states[i]);
    for (unsigned i = 0; i < ACTIVITIES; i++)
        theme->activities[i] = find_part(block, "activity", model_activity_names[i]);
    for (unsigned i = 0; i < DRAW_MARKS_MAX; i++) {
        snprintf(number, sizeof(number), "%u", i);
        theme->marks[i] = find_part(block, "mark", number);
    }
    free(sheet);
}

/* ---- programs -------------------------------------------------------------------------------------- */

/* Rounds to one of 256 values as the page does, where cairo would truncate. */
static double shown(double linear)
{
    double value = linear <= 0.0031308 ? 12.92 * linear : 1.055 * pow(linear, 1 / 2.4) - 0.055;

    return value < 0 ? 0 : value > 1 ? 1 : round(value * 255) / 255;
}

/* Converts OKLCH to sRGB. HUE is in degrees. */
static struct colour oklch(double lightness, double chroma, double hue)
{
    double a = chroma * cos(hue * M_PI / 180), b = chroma * sin(hue * M_PI / 180);
    double l = pow(lightness + 0.3963377774 * a + 0.2158037573 * b, 3);
    double m = pow(lightness - 0.1055613458 * a - 0.0638541728 * b, 3);
    double s = pow(lightness - 0.0894841775 * a - 1.2914855480 * b, 3);

    return (struct colour){shown(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
                           shown(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
                           shown(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s)};
}

struct process_colours theme_process(const struct theme *theme, const char *name)
{
    uint32_t hash = 25251;
    double hue, step;

    for (; *name != '\0'; name++)
        hash = (hash ^ (uint8_t)*name) * 16777619u;
    hash ^= hash >> 15;
    hue = hash % 360;
    step = (hash >> 16) % 2 * 0.06;
    if (theme->is_dark)
        return (struct process_colours){oklch(0.54 - step, 0.11, hue), oklch(0.42 - step, 0.1, hue)};
    return (struct process_colours){oklch(0.84 - step, 0.09, hue), oklch(0.71 - step, 0.13, hue)};
}
