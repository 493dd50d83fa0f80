/* SPDX-License-Identifier: BSD-2-Clause */
/* trace_study.h - `trace study`: what to trace for a question (trace/studies/README.md). */
#ifndef USER_BIN_TRACE_STUDY_H
#define USER_BIN_TRACE_STUDY_H

/* Runs a command of `trace`; returns its exit status. */
typedef int trace_run(int argc, char **argv);

int list_studies(void);
/* Runs the commands of a study in /etc/studies, or of a file, by `run`. Each line is checked before the first
 * one runs. Returns an exit status. */
int run_study(const char *name, trace_run *run);

#endif
