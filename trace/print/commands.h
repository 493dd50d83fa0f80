/*
 * trace/print/commands.h - the commands that show and set the trace's settings, declared once for `trace NAME
 * ...` in the guest's shell and in the kernel's debugger, `tarn ctl SOURCE NAME ...`, the lines of a study,
 * and boot options (trace.NAME=A/B is NAME A B). Also parses studies. The guest's side executes them, with a
 * struct trace_settings. Freestanding.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <trace/print/settings.h>

#define TRACE_COMMAND_WORDS_MAX 24u

/* Sets `value`, or refuses words[index]. */
typedef int64_t trace_parse_argument(struct trace_settings *settings, uint32_t index, uint64_t *value);

struct trace_command {
    const char *name;
    const char *arguments; /* "[EVENTS N]"; in brackets: may be missing */
    const char *help;
    trace_parse_argument *parse[2]; /* NULL: the word itself is used */
    bool is_setting;                /* may be in a study, and in a boot option */
    bool is_early;                  /* as a boot option, before the kernel logs anything */
    uint32_t operation;             /* enum trace_operation, with the values or `a`; or run */
    uint64_t a;
    int64_t refusal; /* status of the operation that means `reason` */
    const char *reason;
    int64_t (*run)(struct trace_settings *settings, const uint64_t values[2]);
    void (*list)(struct trace_settings *settings); /* without arguments: shows the setting */
};
/* In the order of help. `status` has no functions: each place shows it in its own way. */
extern const struct trace_command trace_commands[];
extern const uint32_t trace_command_count;

/* NULL: there is no such command. */
const struct trace_command *trace_command_find(const char *name);
/* Whether there is such a command with so many arguments; writes an error of TRACE_COMMAND_ERROR_MAX bytes.
 */
bool trace_command_check(uint32_t count, char *const *words, char *error);
/* Executes a command. 0, or a negative error of kernel/errors.def, with settings->error. */
int64_t trace_command_run(struct trace_settings *settings, uint32_t count, char *const *words);

/* ---- studies (trace/studies/README.md) --------------------------------------------------------------- */

struct trace_study_line {
    uint32_t number;  /* of the last line read, from 1; 0 at the start */
    bool is_optional; /* `try`: a machine may lack it */
    bool is_analysis; /* for `tarn`; unchecked */
    uint32_t count;
    char *words[TRACE_COMMAND_WORDS_MAX + 1]; /* without `try` and `analysis`; in the text */
};
/* Splits the next line with a command off *text, which it changes. 1: there is one, a setting with the right
 * number of arguments, or an analysis; 0: the end; -1: refused, with an error of TRACE_COMMAND_ERROR_MAX
 * bytes.
 */
int trace_study_next(char **text, struct trace_study_line *line, char *error);
