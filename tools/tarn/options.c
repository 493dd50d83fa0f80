/* SPDX-License-Identifier: BSD-2-Clause */
/* options.c - parses the command line of a subcommand; see options.h. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <tools/tarn/options.h>

static void print_usage(FILE *to, const struct command_line *line, const char *name)
{
    const char *form = line->words, *begin = "usage:";

    for (size_t length; *form != '\0'; form += length + (form[length] == '\n')) {
        length = strcspn(form, "\n");
        fprintf(to, "%s tarn %s %.*s\n", begin, name, (int)length, form);
        begin = "      ";
    }
}

static void print_help(const struct command_line *line, const char *name, const void *context)
{
    print_usage(stdout, line, name);
    putchar('\n');
    if (line->help != NULL)
        fputs(line->help, stdout);
    else
        line->print_help(stdout, context);
}

/* Lists the options that begin with the LENGTH bytes at TEXT. */
static unsigned list_options(const struct option *known, const char *text, size_t length, char *list,
                             size_t size)
{
    unsigned count = 0;
    size_t used = 0;

    list[0] = '\0';
    for (; known->name != NULL; known++)
        if (strncmp(known->name, text, length) == 0) {
            if (used < size)
                used += (size_t)snprintf(list + used, size - used, count ? ", --%s" : "--%s", known->name);
            count++;
        }
    return count;
}

static bool is_option(const struct option *known, const char *text, size_t length)
{
    for (; known->name != NULL; known++)
        if (strlen(known->name) == length && memcmp(known->name, text, length) == 0)
            return true;
    return false;
}

/* Reports WORD, which getopt_long refused. */
static void complain_of_option(const struct command_line *line, const char *name, const char *word, int what)
{
    char list[400];
    size_t length = strcspn(word, "=");
    unsigned count;

    if (strncmp(word, "--", 2) != 0) {
        if (what == ':') {
            complain("%s: -%c requires a value; see `tarn %s --help`", name, optopt, name);
            return;
        }
        complain("%s: no option -%c; see `tarn %s --help`", name, optopt, name);
        return;
    }
    count = list_options(line->known, word + 2, length - 2, list, sizeof(list));
    if (count == 0)
        complain("%s: no option %.*s; see `tarn %s --help`", name, (int)length, word, name);
    else if (what == ':')
        complain("%s: %s requires a value; see `tarn %s --help`", name, count == 1 ? list : word, name);
    else if (count == 1 || is_option(line->known, word + 2, length - 2))
        complain("%s: %s takes no value", name, count == 1 ? list : word);
    else
        complain("%s: %.*s is ambiguous: %s", name, (int)length, word, list);
}

static const char *option_name(const struct command_line *line, int option, char text[80])
{
    for (const struct option *known = line->known; known->name != NULL; known++)
        if (known->val == option) {
            snprintf(text, 80, "--%s", known->name);
            return text;
        }
    snprintf(text, 80, "-%c", option);
    return text;
}

int complain_of_words(const struct command_line *line, const char *name, const char *what)
{
    complain("%s: %s", name, what);
    print_usage(stderr, line, name);
    fprintf(stderr, "See `tarn %s --help`.\n", name);
    return EXIT_USAGE;
}

static int check_words(const struct command_line *line, int argc, char **argv)
{
    char what[200];

    if (argc - optind < line->least)
        return complain_of_words(line, argv[0], "an argument is missing");
    if (argc - optind <= line->most)
        return -1;
    snprintf(what, sizeof(what), "unexpected argument '%s'", argv[optind + line->most]);
    return complain_of_words(line, argv[0], what);
}

int take_command_line(const struct command_line *line, void *context, int argc, char **argv)
{
    char letters[32], text[80];
    struct fail fail;
    int option;

    snprintf(letters, sizeof(letters), ":h%s", line->letters);
    opterr = 0;
    optind = 0;
    while ((option = getopt_long(argc, argv, letters, line->known, NULL)) != -1) {
        if (option == 'h') {
            print_help(line, argv[0], context);
            return EXIT_OK;
        }
        if (option == '?' || option == ':') {
            complain_of_option(line, argv[0], argv[optind - 1], option);
            return EXIT_USAGE;
        }
        fail_set(&fail, "invalid; see `tarn %s --help`", argv[0]);
        if (!line->take(context, option, optarg, &fail)) {
            if (strncmp(fail.text, "--", 2) == 0) /* the message already names the option */
                complain("%s: %s", argv[0], fail.text);
            else
                complain("%s: %s %s: %s", argv[0], option_name(line, option, text), optarg ? optarg : "",
                         fail.text);
            return EXIT_USAGE;
        }
    }
    return check_words(line, argc, argv);
}

bool option_real(const char *value, double least, double most, double *number, struct fail *fail)
{
    char *end;

    *number = strtod(value, &end);
    return (end != value && *end == '\0' && *number >= least && *number <= most) ||
           fail_set(fail, "expected a number from %g to %g", least, most);
}

bool option_count(const char *value, uint64_t *number, struct fail *fail)
{
    char *end;

    *number = strtoull(value, &end, 0);
    return (*value >= '0' && *value <= '9' && *end == '\0') || fail_set(fail, "expected a number");
}

bool option_form(unsigned *form, unsigned wanted, const char *choices, struct fail *fail)
{
    if (*form != 0 && *form != wanted)
        return fail_set(fail, "%s exclude each other", choices);
    *form = wanted;
    return true;
}
