/* SPDX-License-Identifier: BSD-2-Clause */
/* lines.c - reads a stream line by line. Interface: lines.h. */
#include <stdlib.h>

#include <user/bin/lines.h>
#include <user/bin/util.h>

char *read_line(FILE *stream)
{
    size_t size = 0, room = 0;
    char *line = NULL;
    int c;
    while ((c = getc(stream)) != EOF) {
        if (size + 1 >= room) {
            room = room ? room * 2 : 128;
            line = realloc(line, room);
            if (!line)
                die("out of memory");
        }
        if (c == '\n')
            break;
        line[size++] = (char)c;
    }
    if (line)
        line[size] = 0;
    return line;
}
