/* commands.c - finds subcommands and their help; see commands.h. */
#include <tools/tarn/analysis/analysis.h>
#include <tools/tarn/command/commands.h>
#include <tools/tarn/help.h>

static const struct command *const commands[] = {
    &pull_command,   &ctl_command,    &info_command,     &check_command,   &list_command,
    &export_command, &sql_command,    &goto_command,     &explore_command, &diff_command,
    &study_command,  &tables_command, &routines_command, &top_command,     &view_command,
};
#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

static void add_entry(struct page *page, const char *name, const char *summary)
{
    char title[80];
    snprintf(title, sizeof(title), page->is_manual ? "tarn-%s(1)" : "%s", name);
    page_entry(page, title, NULL, summary);
}

static void describe_tool(struct page *page, const struct command *self)
{
    page_heading(page, "Subcommands");
    for (size_t i = 0; i < COMMANDS; i++)
        add_entry(page, commands[i]->name, commands[i]->summary);
    page_heading(page, "Analyses of a trace");
    for (size_t i = 0; analysis_list()[i] != NULL; i++)
        add_entry(page, analysis_list()[i]->name, analysis_list()[i]->summary);
}

static const struct command tool = {.name = "tarn",
                                    .summary = "pull, check and show traces of a Tarn system",
                                    .forms = "SUBCOMMAND [OPTION]... [ARGUMENT]...\nSUBCOMMAND --help",
                                    .describe = describe_tool};

/* False: there is none. "tarn" and "analyses" are pages of the manual. */
static bool find_command(const char *name, struct command *command)
{
    const struct analysis_kind *kind;
    for (size_t i = 0; i < COMMANDS; i++)
        if (strcmp(name, commands[i]->name) == 0) {
            *command = *commands[i];
            return true;
        }
    kind = analysis_find(name);
    if (kind != NULL)
        *command = analysis_command(kind);
    return kind != NULL;
}

static int complain_of_name(const char *name)
{
    complain("no subcommand '%s'; see `tarn --help`", name);
    return EXIT_USAGE;
}

static int run_named(int argc, char **argv)
{
    struct command command;
    return find_command(argv[0], &command) ? command.run(argc, argv) : complain_of_name(argv[0]);
}

static int print_manual(const char *name)
{
    struct command command = tool;
    if (strcmp(name, "analyses") == 0)
        command = analysis_command(NULL);
    else if (strcmp(name, "tarn") != 0 && !find_command(name, &command))
        return complain_of_name(name);
    if (command.forms == NULL) /* another program has it */
        return command.run(3, (char *[]){"help", "--man", (char *)name});
    help_manual(stdout, &command);
    return EXIT_OK;
}

/* `tarn help [WORD]...` */
static int help(int argc, char **argv)
{
    char *words[] = {argv[1], "--help", NULL};
    if (argc == 1)
        help_print(stdout, &tool);
    else if (strcmp(argv[1], "columns") == 0)
        columns_print_all(stdout);
    else if (strcmp(argv[1], "--man") == 0)
        return argc == 3 ? print_manual(argv[2]) : complain_of_name("--man");
    else
        return run_named(2, words);
    return EXIT_OK;
}

int command_run(int argc, char **argv)
{
    if (argc > 0)
        return (list_names("help,--help,-h", argv[0]) ? help : run_named)(argc, argv);
    help_print(stderr, &tool);
    return EXIT_USAGE;
}
