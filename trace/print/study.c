/* trace/print/study.c - parses studies, for `tarn study` and the guest's `trace study`; see commands.h. */
#include <trace/print/commands.h>

/* False: too many words. */
static bool split_line(char *at, struct trace_study_line *line)
{
    for (line->count = 0;; line->count++) {
        while (*at == ' ' || *at == '\t' || *at == '\r')
            *at++ = 0;
        if (!*at || *at == '#')
            break;
        if (line->count == TRACE_COMMAND_WORDS_MAX)
            return false;
        line->words[line->count] = at;
        while (*at && *at != ' ' && *at != '\t' && *at != '\r' && *at != '#')
            at++;
    }
    *at = 0;
    line->words[line->count] = 0;
    return true;
}

static void drop_first(struct trace_study_line *line)
{
    for (uint32_t i = 0; i < line->count; i++)
        line->words[i] = line->words[i + 1];
    line->count--;
}

static bool check_setting(const struct trace_study_line *line, char *error)
{
    const struct trace_command *command = trace_command_find(line->words[0]);
    if (command && command->is_setting && line->count > 1)
        return trace_command_check(line->count, line->words, error);
    struct trace_text text = {error, TRACE_COMMAND_ERROR_MAX - 1, 0};
    trace_text_add(&text, command && command->is_setting ? "arguments are missing behind '" : "no setting '");
    trace_text_add(&text, line->words[0]);
    trace_text_add(&text, "'; a line begins with");
    for (uint32_t i = 0; i < trace_command_count; i++) {
        trace_text_add(&text, trace_commands[i].is_setting ? " " : "");
        trace_text_add(&text, trace_commands[i].is_setting ? trace_commands[i].name : "");
    }
    trace_text_add(&text, " try analysis");
    trace_text_finish(&text);
    return false;
}

int trace_study_next(char **text, struct trace_study_line *line, char *error)
{
    while (**text) {
        char *start = *text;
        while (**text && **text != '\n')
            ++*text;
        if (**text)
            *(*text)++ = 0;
        line->number++;
        if (!split_line(start, line)) {
            TRACE_JOIN(error, TRACE_COMMAND_ERROR_MAX, "a line has at most 24 words");
            return -1;
        }
        if (line->count == 0)
            continue;
        line->is_optional = trace_is_same(line->words[0], "try");
        line->is_analysis = trace_is_same(line->words[0], "analysis");
        if (line->is_optional || line->is_analysis)
            drop_first(line);
        if (line->count == 0) {
            TRACE_JOIN(error, TRACE_COMMAND_ERROR_MAX, "a command is missing");
            return -1;
        }
        return line->is_analysis || check_setting(line, error) ? 1 : -1;
    }
    return 0;
}
