/*
 * help.h - prints what a struct command declares (options.h), as --help and as a manual page.
 *
 * The prose is in docs/man/NAME.md, which the build embeds (manual_files), in a subset of Markdown: headings,
 * paragraphs, lists, and literal lines, indented by 4. A list whose items begin with "`WORD`: " explains
 * these words. --help ends before the first heading. The manual has all; sections ("#") follow the options,
 * subsections ("##") at the start precede them. In the manual, options, `literals` and names of other pages
 * become bold.
 */
#pragma once

#include <tools/tarn/options.h>

void help_print(FILE *to, const struct command *command);
/* Prints the page in roff, for man. */
void help_manual(FILE *to, const struct command *command);
void help_usage(FILE *to, const struct command *command);

struct page {
    FILE *to;
    bool is_manual;
    const struct command *command;
    unsigned used;   /* columns of the current line */
    bool has_word;   /* so that a space precedes the next one */
    bool is_literal; /* between backticks */
};
void page_heading(struct page *page, const char *title);
/* Explains NAME, which ARGUMENT follows unless it is NULL. */
void page_entry(struct page *page, const char *name, const char *argument, const char *text);
