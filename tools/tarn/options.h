/*
 * options.h - declares a subcommand once: parsing, --help (help.h) and the manual come from its struct
 * command.
 *
 * Not thread-safe.
 */
#pragma once

#include <stdio.h>
#include <tools/tarn/tarn.h>

enum option_kind {
    OPTION_FLAG,   /* sets a bool */
    OPTION_TEXT,   /* stores the value, a const char * */
    OPTION_REAL,   /* a double */
    OPTION_COUNT,  /* a uint64_t */
    OPTION_WORD,   /* stores the value's place in `words`, an unsigned */
    OPTION_CHOICE, /* stores `choice`, an unsigned; options with the same place exclude each other */
    OPTION_CALL,   /* calls `take` */
};

/* Lists of options end with a NULL name. Every subcommand also has --help and -h. */
struct command_option {
    const char *name;
    const char *argument; /* its name in help and manual; NULL: none */
    const char *text;     /* sentences; those after a newline are only in the manual */
    enum option_kind kind;
    size_t place;       /* offset of the variable in the context */
    double least, most; /* allowed numbers */
    const char *const *words;
    unsigned choice;
    /* VALUE is NULL for options without one. False: FAIL. */
    bool (*take)(void *context, const struct command_option *option, const char *value, struct fail *fail);
    char letter;      /* its short form; 0: none */
    bool is_extra;    /* it prints something else than the tables of an analysis, so `tarn diff` lacks it */
    const char *with; /* names of the only options that can be combined with it; NULL: all */
    const char *need; /* the option that it needs; NULL: none */
};

/* clang-format off */
#define OPTION_AT(kind_, name_, argument_, type, member, text_) \
    .name = (name_), .argument = (argument_), .text = (text_), .kind = (kind_), .place = offsetof(type, member)
#define FLAG(name, type, member, text)           OPTION_AT(OPTION_FLAG, name, NULL, type, member, text)
#define TEXT(name, argument, type, member, text) OPTION_AT(OPTION_TEXT, name, argument, type, member, text)
#define REAL(name, argument, type, member, least_, most_, text) \
    OPTION_AT(OPTION_REAL, name, argument, type, member, text), .least = (least_), .most = (most_)
#define COUNT(name, argument, type, member, least_, most_, text) \
    OPTION_AT(OPTION_COUNT, name, argument, type, member, text), .least = (least_), .most = (most_)
#define WORD(name, argument, type, member, words_, text) \
    OPTION_AT(OPTION_WORD, name, argument, type, member, text), .words = (words_)
#define CHOICE(name, type, member, choice_, text) \
    OPTION_AT(OPTION_CHOICE, name, NULL, type, member, text), .choice = (choice_)
#define CALL(name_, argument_, take_, text_) \
    .name = (name_), .argument = (argument_), .text = (text_), .kind = OPTION_CALL, .take = (take_)
/* clang-format on */

#define COUNT_MAX ((double)UINT64_MAX)

#define COMMAND_GROUPS  4u
#define COMMAND_OPTIONS 64u

struct page;

/* docs/man/NAME.md has its text; --help ends before the first heading. */
struct command {
    const char *name, *summary;
    const char *forms; /* the usage after the name, "[OPTION]... DIRECTORY"; one form per line */
    /* options of one context each; the first group has no heading */
    struct {
        const char *heading;
        const struct command_option *options;
    } groups[COMMAND_GROUPS];
    int least, most;                   /* allowed number of arguments */
    int (*run)(int argc, char **argv); /* argv[0] is the name */
    /* Adds text that is declared elsewhere. SELF is the command. */
    void (*describe)(struct page *page, const struct command *self);
    const void *data; /* for `describe` */
};
#define COMMAND(name_, summary_, forms_, least_, most_, run_, describe_, ...)               \
    {                                                                                       \
        .name = (name_), .summary = (summary_), .forms = (forms_), .groups = {__VA_ARGS__}, \
        .least = (least_), .most = (most_), .run = (run_), .describe = (describe_)          \
    }

/* Parses the options. CONTEXTS has one for each group. Returns the exit status to leave with, or -1 to
 * continue: argv[optind] is then the first argument. */
int command_parse(const struct command *command, void *const contexts[], int argc, char **argv);

/* Reports wrong arguments; returns EXIT_USAGE. */
int complain_of_words(const struct command *command, const char *what);

/* Returns the option called NAME, or NULL. Both may be NULL. */
const struct command_option *option_find(const struct command_option *options, const char *name);
/* Sets the option of CONTEXT to VALUE. */
bool option_set(const struct command_option *option, void *context, const char *value, struct fail *fail);
bool option_count(const char *value, uint64_t *number, struct fail *fail);
/* TEXT: a positive number with its unit, of a duration (ns, us, ms, s, m, h) or a size (K, M, G, T). Letters
 * decide: m is minutes, M is 2^20 bytes. */
bool parse_amount(const char *text, bool is_size, double *amount);
bool parse_duration(const char *text, double *seconds, struct fail *fail);
/* parse_duration for an option that is stored in a double. */
bool take_duration(void *context, const struct command_option *option, const char *value, struct fail *fail);
/* Returns whether NAME is in LIST, whose names are separated by commas, with or without spaces. */
bool list_names(const char *list, const char *name);
