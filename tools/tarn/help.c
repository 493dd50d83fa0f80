/* help.c - --help and manual pages of subcommands; see help.h. */
#include <ctype.h>
#include <string.h>
#include <tools/tarn/embedded.h>
#include <tools/tarn/help.h>

#define TEXT_INDENT 22u
#define TEXT_WIDTH  100u

static void put_escaped(FILE *to, const char *text, size_t length)
{
    static const char special[] = "\\-'^~,";
    static const char *const escapes[] = {"\\e", "\\-", "\\(aq", "\\(ha", "\\(ti", ",\\:"};
    for (size_t i = 0; i < length; i++) {
        const char *found = strchr(special, text[i]);
        if (found != NULL)
            fputs(escapes[found - special], to);
        else
            fputc(text[i], to);
    }
}

/* Prints a word without spaces in roff: `literals`, options and names of pages are bold. */
static void put_manual_word(struct page *page, const char *word, size_t length)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz-";
    for (size_t i = 0, n; i < length; i += n) {
        const char *at = word + i;
        const bool is_option = strncmp(at, "--", 2) == 0;
        n = strspn(at, letters);
        n = n == 0 ? 1 : i + n < length ? n : length - i;
        if (*at == '`') {
            page->is_literal = !page->is_literal;
            fputs(page->is_literal ? "\\fB" : "\\fR", page->to);
        } else if (!page->is_literal && ((is_option && n > 2) || strncmp(at + n, "(1)", 3) == 0)) {
            fputs("\\fB", page->to);
            put_escaped(page->to, at, n);
            fputs("\\fR", page->to);
        } else {
            put_escaped(page->to, at, n);
        }
    }
}

/* Prints LENGTH bytes of TEXT as words. In --help, further lines are indented by INDENT. */
static void put_words(struct page *page, const char *text, size_t length, unsigned indent)
{
    const char *end = text + length;
    if (page->is_manual && text < end && (*text == '.' || *text == '\''))
        fputs("\\&", page->to);
    while (text < end) {
        unsigned size = (unsigned)strcspn(text, " \n");
        size = text + size < end ? size : (unsigned)(end - text);
        if (!page->is_manual && page->has_word && page->used + 1 + size > TEXT_WIDTH) {
            page->used = (unsigned)fprintf(page->to, "\n%*s", (int)indent, "") - 1;
            page->has_word = false;
        }
        if (size > 0 && page->has_word)
            page->used += (unsigned)fprintf(page->to, " ");
        if (page->is_manual)
            put_manual_word(page, text, size);
        else
            page->used += (unsigned)fprintf(page->to, "%.*s", (int)size, text);
        page->has_word |= size > 0;
        text += size + 1;
    }
}

static void end_line(struct page *page)
{
    fputc('\n', page->to);
    page->used = 0;
    page->has_word = false;
}

void page_heading(struct page *page, const char *title)
{
    if (!page->is_manual) {
        fprintf(page->to, "\n%s:\n", title);
        return;
    }
    fputs(".PD\n.SH ", page->to);
    for (; *title != '\0'; title++)
        fputc(toupper((unsigned char)*title), page->to);
    fputs("\n.PD 0\n", page->to); /* entries follow each other without empty lines */
}

/* Prints TEXT beside TAG; both may have markup. */
static void put_entry(struct page *page, const char *tag, size_t tag_length, const char *text, size_t length)
{
    if (page->is_manual) {
        fputs(".TP 16n\n", page->to);
        put_words(page, tag, tag_length, 0);
        end_line(page);
    } else {
        page->used = (unsigned)fprintf(page->to, "  ");
        for (size_t i = 0; i < tag_length; i++)
            if (tag[i] != '`') {
                fputc(tag[i], page->to);
                page->used++;
            }
        if (page->used >= TEXT_INDENT - 1)
            page->used = (unsigned)fprintf(page->to, "\n") - 1;
        page->used += (unsigned)fprintf(page->to, "%*s", (int)(TEXT_INDENT - page->used), "");
    }
    put_words(page, text, length, TEXT_INDENT);
    end_line(page);
}

void page_entry(struct page *page, const char *name, const char *argument, const char *text)
{
    const char *quote = *name != '-' ? "`" : "", *more = strchr(text, '\n');
    char tag[200], whole[1000];
    snprintf(tag, sizeof(tag), "%s%s%s%s%s", quote, name, quote, argument != NULL ? " " : "",
             argument != NULL ? argument : "");
    snprintf(whole, sizeof(whole), "%.*s%s%s", (int)strcspn(text, "\n"), text,
             page->is_manual && more != NULL ? ". " : "", page->is_manual && more != NULL ? more + 1 : "");
    put_entry(page, tag, strlen(tag), whole, strlen(whole));
}

static void put_options(struct page *page)
{
    for (unsigned g = 0; g < COMMAND_GROUPS && page->command->groups[g].options != NULL; g++) {
        if (g > 0)
            fprintf(page->to, page->is_manual ? ".SS %s\n" : "\n%s:\n", page->command->groups[g].heading);
        for (const struct command_option *option = page->command->groups[g].options; option->name != NULL;
             option++) {
            char name[80], letter[] = {'-', option->letter, ',', ' ', '\0'};
            snprintf(name, sizeof(name), "%s--%s", option->letter != '\0' ? letter : "", option->name);
            page_entry(page, name, option->argument, option->text);
        }
        if (g == 0 && !page->is_manual)
            page_entry(page, "--help", NULL, "print this help");
    }
}

/* Returns the end of the line at TEXT, behind its newline. */
static const char *line_end(const char *text)
{
    text += strcspn(text, "\n");
    return text + (*text == '\n');
}

/* Returns the end of lines of which each after the first begins with PREFIX. */
static const char *block_end(const char *text, const char *prefix)
{
    do
        text = line_end(text);
    while (*text != '\0' && *text != '\n' && strncmp(text, prefix, strlen(prefix)) == 0 &&
           (*prefix != '\0' || strncmp(text, "- ", 2) != 0));
    return text;
}

static const char *put_literal(struct page *page, const char *text)
{
    if (page->is_manual)
        fputs(".PP\n.nf\n", page->to);
    while (strncmp(text, "    ", 4) == 0 || (*text == '\n' && strncmp(text + 1, "    ", 4) == 0)) {
        const char *end = line_end(text);
        if (page->is_manual) {
            text += *text == ' ' ? 4 : 0;
            if (*text == '.' || *text == '\'')
                fputs("\\&", page->to);
            put_escaped(page->to, text, (size_t)(end - text));
        } else {
            fprintf(page->to, "%.*s", (int)(end - text), text);
        }
        text = end;
    }
    if (page->is_manual)
        fputs(".fi\n", page->to);
    return text;
}

static const char *put_item(struct page *page, const char *text)
{
    const char *end = block_end(text, "  "), *colon = strstr(text, "`: ");
    text += 2;
    if (*text == '`' && colon != NULL && colon < end) {
        put_entry(page, text, (size_t)(colon - text) + 1, colon + 3, (size_t)(end - colon - 3));
        return end;
    }
    fputs(page->is_manual ? ".IP \\(bu 2\n" : "  - ", page->to);
    put_words(page, text, (size_t)(end - text), 4);
    end_line(page);
    return end;
}

/* In the manual, items follow each other without empty lines. */
static const char *put_list(struct page *page, const char *text)
{
    text = put_item(page, text);
    fputs(page->is_manual ? ".PD 0\n" : "", page->to);
    while (strncmp(text, "- ", 2) == 0)
        text = put_item(page, text);
    fputs(page->is_manual ? ".PD\n" : "", page->to);
    return text;
}

static const char *put_paragraph(struct page *page, const char *text)
{
    const char *end = block_end(text, "");
    if (page->is_manual)
        fputs(".PP\n", page->to);
    put_words(page, text, (size_t)(end - text), 0);
    end_line(page);
    return end;
}

/* Prints TEXT up to the first line that begins with STOP, and returns the rest. */
static const char *put_prose(struct page *page, const char *text, const char *stop)
{
    while (*text != '\0' && strncmp(text, stop, strlen(stop)) != 0) {
        if (*text == '\n') {
            fputs(page->is_manual ? "" : "\n", page->to);
            text++;
        } else if (*text == '#') {
            const char *end = line_end(text), *title = strchr(text, ' ') + 1;
            fprintf(page->to, "%s %.*s", text[1] == '#' ? ".SS" : ".SH", (int)(end - title), title);
            text = end;
        } else if (strncmp(text, "    ", 4) == 0) {
            text = put_literal(page, text);
        } else if (strncmp(text, "- ", 2) == 0) {
            text = put_list(page, text);
        } else {
            text = put_paragraph(page, text);
        }
    }
    return text;
}

static const char *prose_of(const struct command *command)
{
    char name[80];
    snprintf(name, sizeof(name), "%s.md", command->name);
    for (const struct page_file *file = manual_files; file->name != NULL; file++)
        if (strcmp(file->name, name) == 0)
            return (const char *)file->bytes;
    return "";
}

static bool is_tool(const struct command *command)
{
    return strcmp(command->name, "tarn") == 0;
}

void help_usage(FILE *to, const struct command *command)
{
    const char *form = command->forms, *begin = "usage:";
    for (size_t length; *form != '\0'; form += length + (form[length] == '\n')) {
        length = strcspn(form, "\n");
        fprintf(to, "%s tarn%s%s %.*s\n", begin, is_tool(command) ? "" : " ",
                is_tool(command) ? "" : command->name, (int)length, form);
        begin = "      ";
    }
}

void help_print(FILE *to, const struct command *command)
{
    struct page page = {.to = to, .command = command};
    help_usage(to, command);
    fputc('\n', to);
    put_prose(&page, prose_of(command), "#");
    put_options(&page);
    if (command->describe != NULL)
        command->describe(&page, command);
}

void help_manual(FILE *to, const struct command *command)
{
    struct page page = {.to = to, .command = command, .is_manual = true};
    const char *dash = is_tool(command) ? "" : "tarn-", *prose = prose_of(command), *form = command->forms;
    fprintf(to, ".\\\" Generated by `tarn help --man %s`.\n.TH \"%s%s\" 1 \"\" Tarn\n", command->name, dash,
            command->name);
    fprintf(to, ".nh\n.ad l\n.SH NAME\n%s%s \\- %s\n.SH SYNOPSIS\n", dash, command->name, command->summary);
    for (size_t length; *form != '\0'; form += length + (form[length] == '\n')) {
        length = strcspn(form, "\n");
        fprintf(to, ".br\n\\fBtarn%s%s\\fR ", *dash != '\0' ? " " : "", *dash != '\0' ? command->name : "");
        put_words(&page, form, length, 0);
        end_line(&page);
    }
    fputs(".SH DESCRIPTION\n", to);
    prose = put_prose(&page, prose, "# ");
    if (command->groups[0].options != NULL)
        fputs(".SH OPTIONS\n", to);
    put_options(&page);
    if (command->describe != NULL)
        command->describe(&page, command);
    fputs(".PD\n", to);
    put_prose(&page, prose, "\1");
    if (strstr(prose, "# SEE ALSO") == NULL)
        put_prose(&page, "# SEE ALSO\n\ntarn-analyses(1)\n", "\1");
}
