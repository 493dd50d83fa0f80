/* options.c - parses the command line of a subcommand; see options.h. */
#include <ctype.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <tools/tarn/help.h>
#include <tools/tarn/options.h>

#define FIRST_OPTION 256 /* getopt_long returns this and more for options without a letter */
#define SECONDS_MAX  1e9
#define BYTES_MAX    0x1p60

/* All options of a command, in the order of its groups. */
struct parser {
    const struct command *command;
    unsigned count;
    const struct command_option *options[COMMAND_OPTIONS];
    void *contexts[COMMAND_OPTIONS];
    bool is_given[COMMAND_OPTIONS];
    struct option known[COMMAND_OPTIONS + 2]; /* for getopt_long, with --help */
    char letters[2 * COMMAND_OPTIONS + 2];
};

static void know_options(struct parser *parser, void *const contexts[])
{
    char *letters = stpcpy(parser->letters, "h");
    for (unsigned g = 0; g < COMMAND_GROUPS; g++) {
        const struct command_option *option = parser->command->groups[g].options;
        for (; option != NULL && option->name != NULL && parser->count < COMMAND_OPTIONS; option++) {
            bool has_argument = option->argument != NULL;
            parser->known[parser->count] =
                (struct option){option->name, has_argument ? required_argument : no_argument, NULL,
                                option->letter != '\0' ? option->letter : FIRST_OPTION + (int)parser->count};
            parser->options[parser->count] = option;
            parser->contexts[parser->count++] = contexts[g];
            if (option->letter != '\0')
                letters += sprintf(letters, has_argument ? "%c:" : "%c", option->letter);
        }
    }
    parser->known[parser->count] = (struct option){"help", no_argument, NULL, 'h'};
}

int complain_of_words(const struct command *command, const char *what)
{
    complain("%s: %s", command->name, what);
    help_usage(stderr, command);
    fprintf(stderr, "See `tarn %s --help`.\n", command->name);
    return EXIT_USAGE;
}

bool option_count(const char *value, uint64_t *number, struct fail *fail)
{
    char *end;
    *number = strtoull(value, &end, 0);
    return (*value >= '0' && *value <= '9' && *end == '\0') || fail_set(fail, "expected a number");
}

static bool set_count(const struct command_option *option, uint64_t *number, const char *value,
                      struct fail *fail)
{
    if (!option_count(value, number, fail))
        return false;
    return (*number >= option->least && *number <= option->most) ||
           fail_set(fail, "expected a number from %.0f to %.0f", option->least, option->most);
}

static bool set_real(const struct command_option *option, double *number, const char *value,
                     struct fail *fail)
{
    char *end;
    *number = strtod(value, &end);
    return (end != value && *end == '\0' && *number >= option->least && *number <= option->most) ||
           fail_set(fail, "expected a number from %g to %g", option->least, option->most);
}

static bool set_word(const struct command_option *option, unsigned *number, const char *value,
                     struct fail *fail)
{
    char list[200] = "";
    size_t used = 0;
    for (unsigned i = 0; option->words[i] != NULL; i++) {
        const char *between = i == 0 ? "" : option->words[i + 1] != NULL ? ", " : " or ";
        if (strcmp(option->words[i], value) == 0) {
            *number = i;
            return true;
        }
        used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s", between, option->words[i]);
    }
    return fail_set(fail, "expected %s", list);
}

static const struct {
    const char *name;
    double factor;
    bool is_size;
} units[] = {{"ns", 1e-9, false}, {"us", 1e-6, false}, {"ms", 1e-3, false}, {"s", 1, false},
             {"m", 60, false},    {"h", 3600, false},  {"K", 0x1p10, true}, {"M", 0x1p20, true},
             {"G", 0x1p30, true}, {"T", 0x1p40, true}};

bool parse_amount(const char *text, bool is_size, double *amount)
{
    char *end;
    double number = strtod(text, &end);
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]) && isdigit((unsigned char)text[0]); i++)
        if (units[i].is_size == is_size && strcmp(end, units[i].name) == 0) {
            *amount = number * units[i].factor;
            return *amount > 0 && *amount <= (is_size ? BYTES_MAX : SECONDS_MAX);
        }
    return false;
}

bool parse_duration(const char *text, double *seconds, struct fail *fail)
{
    return parse_amount(text, false, seconds) ||
           fail_set(fail, "'%.60s' is not a duration; use a number with ns, us, ms, s, m or h: 250ms", text);
}

bool take_duration(void *context, const struct command_option *option, const char *value, struct fail *fail)
{
    void *seconds = (char *)context + option->place;
    return parse_duration(value, seconds, fail);
}

bool option_set(const struct command_option *option, void *context, const char *value, struct fail *fail)
{
    void *variable = (char *)context + option->place;
    switch (option->kind) {
    case OPTION_FLAG:
        return *(bool *)variable = true;
    case OPTION_TEXT:
        *(const char **)variable = value;
        return true;
    case OPTION_REAL:
        return set_real(option, variable, value, fail);
    case OPTION_COUNT:
        return set_count(option, variable, value, fail);
    case OPTION_WORD:
        return set_word(option, variable, value, fail);
    case OPTION_CHOICE:
        *(unsigned *)variable = option->choice;
        return true;
    default:
        return option->take(context, option, value, fail);
    }
}

const struct command_option *option_find(const struct command_option *options, const char *name)
{
    for (; name != NULL && options != NULL && options->name != NULL; options++)
        if (strcmp(options->name, name) == 0)
            return options;
    return NULL;
}

bool list_names(const char *list, const char *name)
{
    size_t length = strlen(name);
    for (; *list != '\0'; list += strcspn(list, ","), list += strspn(list, ", "))
        if (strcspn(list, ",") == length && memcmp(list, name, length) == 0)
            return true;
    return false;
}

/* Two given options that set the same variable exclude each other. */
static bool check_choices(const struct parser *parser, unsigned number, struct fail *fail)
{
    const struct command_option *option = parser->options[number];
    char list[100] = "";
    unsigned given = 0, others = 0;
    for (unsigned i = parser->count; i-- > 0;) {
        const struct command_option *other = parser->options[i];
        char rest[100];
        if (other->kind != OPTION_CHOICE || other->place != option->place)
            continue;
        given += parser->is_given[i];
        snprintf(rest, sizeof(rest), "%s%s", others == 0 ? "" : others == 1 ? " and " : ", ", list);
        snprintf(list, sizeof(list), "--%s%.80s", other->name, rest);
        others++;
    }
    return given < 2 || fail_set(fail, "%s exclude each other", list);
}

static bool check_option(const struct parser *parser, unsigned number, struct fail *fail)
{
    const struct command_option *option = parser->options[number];
    bool has_need = option->need == NULL;
    for (unsigned i = 0; i < parser->count; i++) {
        const char *other = parser->options[i]->name;
        if (!parser->is_given[i])
            continue;
        has_need = has_need || strcmp(other, option->need) == 0;
        if (option->with != NULL && i != number && !list_names(option->with, other))
            return fail_set(fail, "--%s cannot be used with --%s", other, option->name);
    }
    if (!has_need)
        return fail_set(fail, "--%s requires --%s", option->name, option->need);
    return option->kind != OPTION_CHOICE || check_choices(parser, number, fail);
}

static int check_words(const struct parser *parser, int argc, char **argv)
{
    const struct command *command = parser->command;
    struct fail fail;
    for (unsigned i = 0; i < parser->count; i++)
        if (parser->is_given[i] && !check_option(parser, i, &fail))
            return complain_of_words(command, fail.text);
    if (argc - optind < command->least)
        return complain_of_words(command, "an argument is missing");
    if (argc - optind <= command->most)
        return -1;
    fail_set(&fail, "unexpected argument '%.200s'", argv[optind + command->most]);
    return complain_of_words(command, fail.text);
}

int command_parse(const struct command *command, void *const contexts[], int argc, char **argv)
{
    struct parser parser = {.command = command};
    struct fail fail;
    static char title[80];
    int option;
    know_options(&parser, contexts);
    snprintf(title, sizeof(title), "tarn: %s", command->name);
    argv[0] = title; /* for the complaints of getopt_long */
    optind = 0;
    while ((option = getopt_long(argc, argv, parser.letters, parser.known, NULL)) != -1) {
        if (option == 'h') {
            help_print(stdout, command);
            return EXIT_OK;
        }
        if (option == '?') {
            fprintf(stderr, "See `tarn %s --help`.\n", command->name);
            return EXIT_USAGE;
        }
        unsigned place = 0;
        while (parser.known[place].val != option)
            place++;
        const char *name = parser.options[place]->name;
        parser.is_given[place] = true;
        if (!option_set(parser.options[place], parser.contexts[place], optarg, &fail)) {
            complain("%s: --%s%s%s: %s", command->name, name, optarg != NULL ? " " : "",
                     optarg != NULL ? optarg : "", fail.text);
            return EXIT_USAGE;
        }
    }
    return check_words(&parser, argc, argv);
}
