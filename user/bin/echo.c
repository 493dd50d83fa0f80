/* echo.c - writes its arguments; -n: without the newline. Uses a single write, so that lines of several
 * processes are not interleaved. */
#include <stdlib.h>
#include <string.h>

#include <user/bin/util.h>

int main(int argc, char **argv)
{
    program_name = "echo";
    bool newline = !(argc > 1 && !strcmp(argv[1], "-n"));
    int first = newline ? 1 : 2;
    size_t size = 1;
    for (int i = first; i < argc; i++)
        size += strlen(argv[i]) + 1;
    char *text = malloc(size), *end = text;
    if (!text)
        die("out of memory");
    for (int i = first; i < argc; i++) {
        if (i > first)
            *end++ = ' ';
        end = stpcpy(end, argv[i]);
    }
    if (newline)
        *end++ = '\n';
    if (write_whole(1, text, (size_t)(end - text)) < 0)
        die("standard output");
    free(text);
    return 0;
}
