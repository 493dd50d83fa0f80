/*
 * parse.c - parses tokens into a list of pipelines.
 *
 *     list     = pipeline { ("&&" | "||" | ";" | "&") pipeline } [";" | "&"]
 *     pipeline = command { "|" command }
 *     command  = (word | redirection) { word | redirection }
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <user/sh/sh.h>

static const struct token *at;
static char complaint[80];

static void *grow(void *array, size_t count, size_t size)
{
    void *bigger = realloc(array, (count + 1) * size);
    if (!bigger)
        abort();
    memset((char *)bigger + count * size, 0, size);
    return bigger;
}

static char *copy_text(const char *text)
{
    char *copy = strdup(text);
    if (!copy)
        abort();
    return copy;
}

static bool fail(const char *what)
{
    snprintf(complaint, sizeof complaint, "expected %s before %s", what,
             at->kind == TOKEN_WORD ? at->text : token_name(at->kind));
    return false;
}

static bool is_redirection(enum token_kind kind)
{
    return kind == TOKEN_IN || kind == TOKEN_OUT || kind == TOKEN_APPEND || kind == TOKEN_ERROR ||
           kind == TOKEN_ERROR_TO_OUT;
}

static bool parse_redirection(struct command *command)
{
    command->redirections =
        grow(command->redirections, command->redirection_count, sizeof(struct redirection));
    struct redirection *redirection = &command->redirections[command->redirection_count++];
    redirection->kind = at++->kind;
    if (redirection->kind == TOKEN_ERROR_TO_OUT)
        return true;
    if (at->kind != TOKEN_WORD)
        return fail("a file name");
    redirection->target = copy_text(at++->text);
    return true;
}

static bool parse_command(struct command *command)
{
    while (at->kind == TOKEN_WORD || is_redirection(at->kind)) {
        if (at->kind == TOKEN_WORD) {
            command->words = grow(command->words, command->word_count, sizeof(char *));
            command->words[command->word_count++] = copy_text(at++->text);
        } else if (!parse_redirection(command)) {
            return false;
        }
    }
    return command->word_count || command->redirection_count ? true : fail("a command");
}

static bool parse_pipeline(struct pipeline *pipeline)
{
    for (;;) {
        pipeline->commands = grow(pipeline->commands, pipeline->command_count, sizeof(struct command));
        if (!parse_command(&pipeline->commands[pipeline->command_count++]))
            return false;
        if (at->kind != TOKEN_PIPE)
            return true;
        at++;
    }
}

struct list *parse_line(const struct token *tokens, const char **error)
{
    struct list *list = calloc(1, sizeof *list);
    if (!list)
        abort();
    at = tokens;
    while (at->kind != TOKEN_END) {
        list->pipelines = grow(list->pipelines, list->count, sizeof(struct pipeline));
        struct pipeline *pipeline = &list->pipelines[list->count++];
        if (!parse_pipeline(pipeline)) {
            free_list(list);
            *error = complaint;
            return NULL;
        }
        pipeline->after = at->kind;
        if (at->kind == TOKEN_END)
            break;
        at++;
        if (at->kind == TOKEN_END && (pipeline->after == TOKEN_AND || pipeline->after == TOKEN_OR)) {
            fail("a command");
            free_list(list);
            *error = complaint;
            return NULL;
        }
    }
    return list;
}

static void free_command(struct command *command)
{
    for (size_t i = 0; i < command->word_count; i++)
        free(command->words[i]);
    for (size_t i = 0; i < command->redirection_count; i++)
        free(command->redirections[i].target);
    free(command->words);
    free(command->redirections);
}

void free_list(struct list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        for (size_t j = 0; j < list->pipelines[i].command_count; j++)
            free_command(&list->pipelines[i].commands[j]);
        free(list->pipelines[i].commands);
    }
    free(list->pipelines);
    free(list);
}
