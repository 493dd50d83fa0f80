/* SPDX-License-Identifier: BSD-2-Clause */
/* kinds.h - declares the analyses, each defined in its own file; analyses.c lists them. */
#ifndef TARN_KINDS_H
#define TARN_KINDS_H

#include <tools/tarn/analysis/analysis.h>

extern const struct analysis_kind profile_analysis, ipc_analysis;

#endif
