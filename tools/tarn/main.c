/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * main.c - `tarn SUBCOMMAND ...`: the table of subcommands, and their dispatch.
 *
 * To add one: write a file with run_NAME, declare it in tarn.h, add a line here and a page in docs/man.
 * Analyses (analysis/analysis.h) are subcommands without further code.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <tools/tarn/analysis/analysis.h>
#include <tools/tarn/analysis/columns.h>
#include <tools/tarn/tarn.h>

static const struct command commands[] = {
    {"pull", run_pull, "copy the trace of a running guest into a directory"},
    {"ctl", run_ctl, "show and set what a running guest traces"},
    {"info", run_info, "show what a trace contains: CPUs, time, packets, losses, processes"},
    {"check", run_check, "verify every packet and event of a trace"},
    {"list", run_list, "print the events of all CPUs in order"},
    {"export", run_export, "write a trace in the format of another tool"},
    {"symbols", run_symbols, "list a trace's programs and their executables, and save them"},
#if __has_include(<asm/debugreg.h>) /* it needs a host of x86 */
    {"goto", run_goto, "run a deterministic guest again up to an event, and open gdb there"},
#endif
    {"explore", run_explore, "run a workload under many CPU interleavings, and report failures"},
    {"diff", run_diff, "compare two traces by the tables of analyses"},
    {"top", run_top, "show what a running guest does, refreshed in the terminal"},
    {"view", run_view, "show a trace in the browser"},
};
#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

static void print_usage(FILE *to)
{
    fputs("usage: tarn SUBCOMMAND [OPTION]... [ARGUMENT]...\n"
          "       tarn SUBCOMMAND --help\n\n"
          "Reads, checks and shows the traces of a Tarn system. A trace is a directory in the\n"
          "Common Trace Format: `metadata` and one stream file per CPU.\n\n",
          to);
    for (size_t i = 0; i < COMMANDS; i++)
        fprintf(to, "  %-10s %s\n", commands[i].name, commands[i].summary);
    fputs("\nAnalyses of a trace:\n\n", to);
    for (size_t i = 0; analysis_kinds[i] != NULL; i++)
        fprintf(to, "  %-10s %s\n", analysis_kinds[i]->name, analysis_kinds[i]->summary);
    fputs("\n`tarn SUBCOMMAND --help` or `tarn help SUBCOMMAND` describes a subcommand, `tarn help columns`\n"
          "the columns of all analyses. The manual pages are in docs/man.\n"
          "Exit status: 0 success, 1 the input is damaged or incomplete, 2 usage or system error.\n",
          to);
}

/* Flushes stdout; a write error, such as a full disk, shows only now. */
static int finish(int status)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    complain("cannot write the output: %s", strerror(errno));
    return EXIT_USAGE;
}

static int run(int argc, char **argv)
{
    for (size_t i = 0; i < COMMANDS; i++)
        if (strcmp(argv[0], commands[i].name) == 0)
            return commands[i].run(argc, argv);
    if (analysis_find(argv[0]) != NULL)
        return run_analysis(argc, argv);
    complain("no subcommand '%s'; see `tarn --help`", argv[0]);
    return EXIT_USAGE;
}

int main(int argc, char **argv)
{
    bool is_help = argc >= 2 && strcmp(argv[1], "help") == 0;

    if (is_help && argc > 2 && strcmp(argv[2], "columns") == 0) {
        columns_print_all(stdout);
        return finish(EXIT_OK);
    }
    if (is_help && argc > 2) {
        char *words[] = {argv[2], "--help", NULL};

        return finish(run(2, words));
    }
    if (is_help || (argc >= 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0))) {
        print_usage(stdout);
        return finish(EXIT_OK);
    }
    if (argc < 2) {
        print_usage(stderr);
        return EXIT_USAGE;
    }
    return finish(run(argc - 1, argv + 1));
}
