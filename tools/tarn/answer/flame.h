/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/answer/flame.h - a call tree as a picture: a flame graph (Gregg's), in one SVG file.
 *
 * A box's width is its part of the whole; what it calls stands above it. The file needs nothing else: where
 * there is a browser a little script zooms and searches, elsewhere it is a picture.
 */
#ifndef TARN_FLAME_H
#define TARN_FLAME_H

#include <stdio.h>
#include <tools/tarn/answer/call_tree.h>

/* TREE is sorted. */
void flame_print(FILE *to, const struct call_tree *tree, enum weight weight, const char *title);

#endif
