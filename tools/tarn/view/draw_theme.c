/* SPDX-License-Identifier: BSD-2-Clause */
/* draw_theme.c - colours of the PNG, from the page's style sheet. */
#include <ctype.h>
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

void theme_load(struct theme *theme, bool is_dark)
{
    const struct {
        const char *name;
        struct colour *colour;
    } plain[] = {{"background", &theme->background},
                 {"raised", &theme->raised},
                 {"line", &theme->line},
                 {"text", &theme->text},
                 {"quiet", &theme->quiet},
                 {"box-text", &theme->box_text}};
    char *sheet = read_sheet(), *block = strstr(sheet, is_dark ? ":root[data-theme=\"dark\"]" : ":root {");
    char mark[16];

    if (block == NULL || strchr(block, '}') == NULL)
        abort();
    *strchr(block, '}') = '\0';
    theme->is_dark = is_dark;
    for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
        *plain[i].colour = find_colour(block, plain[i].name);
    for (unsigned i = STYLE_INTERRUPT; i < STYLES; i++)
        theme->styles[i] = find_colour(block, styles[i].property);
    for (unsigned i = 0; i < DRAW_MARKS_MAX; i++) {
        snprintf(mark, sizeof(mark), "mark-%u", i);
        theme->marks[i] = find_colour(block, mark);
    }
    free(sheet);
}
