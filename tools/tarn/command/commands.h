/*
 * commands.h - the subcommands.
 *
 * To add one: a file with its struct command, a line here and in commands.c, and its prose in docs/man.
 * Analyses (analysis/analysis.h) are subcommands without further code.
 */
#pragma once

#include <getopt.h>
#include <tools/tarn/options.h>

extern const struct command pull_command, ctl_command, info_command, check_command, list_command,
    export_command, sql_command, goto_command, explore_command, diff_command, study_command, tables_command,
    routines_command, top_command, view_command;

#define VIEW_SUMMARY "show a trace in the browser"

/* Runs the subcommand or analysis argv[0], or prints help; returns the exit status. */
int command_run(int argc, char **argv);
