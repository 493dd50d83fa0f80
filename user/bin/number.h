/* number.h - numbers with a fraction as values of options. Not in util.h: they would make all utilities
 * larger. */
#pragma once

/* Calls usage(synopsis) for all that is no number from `least` to `most`. */
double read_decimal(const char *text, double least, double most, const char *synopsis);
