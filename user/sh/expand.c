/*
 * expand.c - expands words to arguments: variables, quotes, then file name patterns.
 *
 * While a word is built, each character is marked as quoted or not: quoted * and ? are ordinary characters,
 * and only unquoted variables are split at white space.
 */
#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <servers/protocol/fs.h>
#include <user/sh/sh.h>

void add_word(struct words *words, char *word)
{
    char **bigger = realloc(words->word, (words->count + 2) * sizeof *bigger);
    if (!bigger || !word)
        abort();
    words->word = bigger;
    words->word[words->count++] = word;
    words->word[words->count] = NULL;
}

void free_words(struct words *words)
{
    for (size_t i = 0; i < words->count; i++)
        free(words->word[i]);
    free(words->word);
    *words = (struct words){0};
}

struct builder {
    char *text;
    bool *quoted;
    size_t size, capacity;
    bool any; /* quotes make even an empty word a word */
};

static void put(struct builder *builder, char c, bool quoted)
{
    if (builder->size + 1 >= builder->capacity) {
        builder->capacity = builder->capacity ? builder->capacity * 2 : 64;
        builder->text = realloc(builder->text, builder->capacity);
        builder->quoted = realloc(builder->quoted, builder->capacity * sizeof *builder->quoted);
        if (!builder->text || !builder->quoted)
            abort();
    }
    builder->quoted[builder->size] = quoted;
    builder->text[builder->size++] = c;
    builder->text[builder->size] = 0;
    builder->any = true;
}

/* ---- patterns -------------------------------------------------------------------------------------- */

/* Whether the part of the word from `at` to `end` has a pattern. */
static bool has_pattern(const struct builder *builder, size_t at, size_t end)
{
    for (; at < end; at++) {
        if (!builder->quoted[at] && (builder->text[at] == '*' || builder->text[at] == '?'))
            return true;
    }
    return false;
}

/* Whether the name matches the component of a path that begins at `pattern`. */
static bool matches(const char *pattern, const bool *quoted, const char *name)
{
    if (!*pattern || *pattern == '/')
        return !*name;
    if (*pattern == '*' && !*quoted)
        return matches(pattern + 1, quoted + 1, name) || (*name && matches(pattern, quoted, name + 1));
    if (!*name || (*pattern != *name && !(*pattern == '?' && !*quoted)))
        return false;
    return matches(pattern + 1, quoted + 1, name + 1);
}

static int compare_words(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Adds the paths that begin with `path` and match the word from `at` on. */
static void add_matches(const struct builder *builder, size_t at, char path[FS_PATH_MAX], struct words *words)
{
    const char *text = builder->text;
    size_t length = strlen(path), end = at + strcspn(text + at, "/"), next = end + strspn(text + end, "/");
    if (!text[at]) {
        if (access(path, F_OK) == 0)
            add_word(words, strdup(path));
        return;
    }
    DIR *directory = has_pattern(builder, at, end) ? opendir(length ? path : ".") : NULL;
    struct dirent *entry;
    while (directory && (entry = readdir(directory))) {
        if ((entry->d_name[0] != '.' || text[at] == '.') &&
            matches(text + at, builder->quoted + at, entry->d_name) &&
            length + strlen(entry->d_name) + (next - end) < FS_PATH_MAX) {
            sprintf(path + length, "%s%.*s", entry->d_name, (int)(next - end), text + end);
            add_matches(builder, next, path, words);
        }
    }
    if (directory) {
        closedir(directory);
    } else if (!has_pattern(builder, at, end) && length + (next - at) < FS_PATH_MAX) {
        sprintf(path + length, "%.*s", (int)(next - at), text + at);
        add_matches(builder, next, path, words);
    }
    path[length] = 0;
}

/* Replaces a pattern by the paths that match it, sorted. Returns false if there are none: then the word
 * stays. */
static bool put_matches(const struct builder *builder, struct words *words)
{
    char path[FS_PATH_MAX] = "";
    size_t before = words->count;
    if (has_pattern(builder, 0, builder->size))
        add_matches(builder, 0, path, words);
    if (words->count > before)
        qsort(words->word + before, words->count - before, sizeof(char *), compare_words);
    return words->count > before;
}

static void finish(struct builder *builder, struct words *words, bool patterns)
{
    if (builder->any && !(patterns && put_matches(builder, words)))
        add_word(words, strdup(builder->text ? builder->text : ""));
    builder->size = 0;
    builder->any = false;
    if (builder->text)
        builder->text[0] = 0;
}

/* ---- variables ------------------------------------------------------------------------------------- */

/* Returns the value of the variable whose name begins at *at, and advances *at past the name. */
static const char *take_variable(const char **at)
{
    static char number[16];
    const char *start = *at;
    if (*start == '?' || *start == '$' || *start == '#') {
        *at = start + 1;
        int value = *start == '?' ? last_status : *start == '$' ? (int)getpid() : script_argument_count - 1;
        snprintf(number, sizeof number, "%d", value);
        return number;
    }
    if (isdigit((unsigned char)*start)) {
        *at = start + 1;
        int index = *start - '0';
        return index < script_argument_count ? script_arguments[index] : "";
    }
    bool braces = *start == '{';
    const char *name = start + braces, *end = name;
    while (isalnum((unsigned char)*end) || *end == '_')
        end++;
    if (end == name || (braces && *end != '}'))
        return NULL;
    char buffer[128];
    snprintf(buffer, sizeof buffer, "%.*s", (int)(end - name), name);
    *at = end + braces;
    const char *value = getenv(buffer);
    return value ? value : "";
}

/* `words` NULL: one word, not split. */
static void put_variable(struct builder *builder, const char *value, bool quoted, struct words *words)
{
    for (; *value; value++) {
        if (!quoted && words && isspace((unsigned char)*value))
            finish(builder, words, true);
        else
            put(builder, *value, quoted);
    }
}

static void build(const char *at, struct builder *builder, struct words *words)
{
    char quote = 0;
    while (*at) {
        char c = *at++;
        if (c == quote) {
            quote = 0;
        } else if (!quote && (c == '\'' || c == '"')) {
            quote = c;
            builder->any = true;
        } else if (c == '\\' && quote != '\'' && *at && (!quote || strchr("\"\\$", *at))) {
            put(builder, *at++, true);
        } else if (c == '$' && quote != '\'') {
            const char *value = take_variable(&at);
            if (value)
                put_variable(builder, value, quote, words);
            else
                put(builder, c, true);
        } else {
            put(builder, c, quote);
        }
    }
}

void expand_word(const char *text, struct words *words)
{
    struct builder builder = {0};
    build(text, &builder, words);
    finish(&builder, words, true);
    free(builder.text);
    free(builder.quoted);
}

char *expand_to_one(const char *text)
{
    struct builder builder = {0};
    build(text, &builder, NULL);
    free(builder.quoted);
    return builder.text ? builder.text : strdup("");
}
