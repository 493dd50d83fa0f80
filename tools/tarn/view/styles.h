/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * styles.h - what the page and the PNG paint in which way: the names, colours and shapes of the legend.
 *
 * Colours are in the page's style sheet, as the custom property with the style's name. Those of programs come
 * from a hash of their name: FNV-1a, starting with 25251 and folded by 15 bits, gives the hue, bit 16 a
 * darker step; in OKLCH, where equal lightness looks equally light.
 */
#ifndef TARN_STYLES_H
#define TARN_STYLES_H

#include <tools/tarn/model/model.h>

enum style {
    STYLE_PROGRAM,
    STYLE_KERNEL,
    STYLE_INTERRUPT,
    STYLE_IDLE,
    STYLE_LOST,
    STYLE_LOCK,
    STYLE_WAKEUP,
    STYLE_CALL,
    STYLE_STATE,                                 /* and enum model_state */
    STYLE_ACTIVITY = STYLE_STATE + MODEL_STATES, /* and enum activity */
    STYLES = STYLE_ACTIVITY + ACTIVITIES
};

struct style_entry {
    const char *property; /* in the style sheet, without -- */
    const char *shape;    /* box, stripes, line; empty: not in the legend */
    const char *text;     /* of a state or an activity: its name */
};
extern const struct style_entry styles[STYLES];

struct colour {
    double red, green, blue;
};

/* Of a program: for its own code, and for the kernel on its behalf. */
struct process_colours {
    struct colour user, kernel;
};
struct process_colours style_of_program(bool is_dark, const char *name);

#endif
