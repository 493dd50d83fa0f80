/* number.c - numbers with a fraction as values of options. Interface: util.h. */
#include <stdlib.h>
#include <user/bin/util.h>

double read_decimal(const char *text, double least, double most, const char *synopsis)
{
    char *end;
    const double value = strtod(text, &end);
    if (end == text || *end || !(value >= least && value <= most))
        usage(synopsis);
    return value;
}
