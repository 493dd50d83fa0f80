/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * flame.h - a call tree as a flame graph (Gregg's), in one SVG file.
 *
 * The width of a box is its share of the whole; the functions that it calls are above it. The file is
 * self-contained: in a browser, a small script zooms and searches; elsewhere it is a static picture.
 */
#ifndef TARN_FLAME_H
#define TARN_FLAME_H

#include <stdio.h>
#include <tools/tarn/analysis/call_tree.h>

/* TREE is sorted. */
void flame_print(FILE *to, const struct call_tree *tree, enum weight weight, const char *title);

#endif
