/* input.c - reads the files named by operands. Interface: util.h. */
#include <stdlib.h>
#include <string.h>

#include <user/bin/util.h>

int act_on_inputs(int argc, char **argv, int first, int (*act)(FILE *stream, const char *name))
{
    int status = 0;
    if (first == argc)
        return act(stdin, NULL);
    for (int i = first; i < argc; i++) {
        FILE *stream = strcmp(argv[i], "-") ? fopen(argv[i], "r") : stdin;
        status |= stream ? act(stream, argv[i]) : complain("%s", argv[i]);
        if (stream && stream != stdin)
            fclose(stream);
    }
    return status;
}

char *read_line(FILE *stream)
{
    char *line = NULL;
    size_t size = 0;
    ssize_t length = __getline(&line, &size, stream); /* newlib's getline */
    if (length < 0) {
        free(line);
        return NULL;
    }
    if (length && line[length - 1] == '\n')
        line[length - 1] = 0;
    return line;
}
