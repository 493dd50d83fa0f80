/* SPDX-License-Identifier: BSD-2-Clause */
/* kinds.h - declares the analyses, each defined in its own file; answers.c lists them. */
#ifndef TARN_KINDS_H
#define TARN_KINDS_H

#include <tools/tarn/answer/answer.h>

extern const struct answer_kind stats_answer, syscalls_answer, faults_answer, irq_answer, threads_answer,
    processes_answer, sched_answer, intervals_answer, noise_answer, breakdown_answer, ipc_answer,
    profile_answer, locks_answer;

#endif
