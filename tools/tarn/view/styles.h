/* styles.h - the legend, and all colours of the page (as custom properties) and of pictures, for light and
 * dark: 0xRRGGBB. */
#pragma once

#include <tools/tarn/model/model.h>

#define STYLE_MARKS 8u /* colours of marked events */

enum style {
    STYLE_PROGRAM, /* these two: of a program */
    STYLE_KERNEL,
    STYLE_INTERRUPT,
    STYLE_IDLE,
    STYLE_LOST,
    STYLE_LOCK,
    STYLE_WAKEUP,
    STYLE_CALL,
    STYLE_STATE,                                 /* and enum model_state */
    STYLE_ACTIVITY = STYLE_STATE + MODEL_STATES, /* and enum activity */
    STYLE_MARK = STYLE_ACTIVITY + ACTIVITIES,    /* and a number */
    STYLE_BACKGROUND = STYLE_MARK + STYLE_MARKS,
    STYLE_RAISED,
    STYLE_LINE,
    STYLE_TEXT,
    STYLE_QUIET,
    STYLE_BOX_TEXT,
    STYLE_LINE_STRONG, /* from here on, for the page only */
    STYLE_ACCENT,
    STYLE_ACCENT_SOFT,
    STYLE_SELECTION,
    STYLE_WARNING,
    STYLES
};

struct style_entry {
    const char *property; /* in the style sheet, without -- */
    uint32_t colours[2];  /* light, dark; 0: not a fixed one */
    const char *shape;    /* box, stripes, line; NULL: not in the legend */
    const char *text;     /* of a state or an activity: its name */
};
extern const struct style_entry styles[STYLES];

/* STYLE_PROGRAM: the colour of a program's own code; STYLE_KERNEL: of the kernel on its behalf. It comes from
 * a hash of the name, in OKLCH, where equal lightness looks equally light. */
uint32_t style_colour(bool is_dark, enum style style, const char *program);
/* "#LIGHT #DARK" */
#define STYLE_COLOURS 16u
void style_colours(enum style style, const char *program, char text[STYLE_COLOURS]);
/* Appends the rules that declare the properties. */
void style_sheet(struct buffer *sheet);
