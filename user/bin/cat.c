/* cat.c - writes files, or standard input, to standard output. */
#include <user/bin/util.h>

static int copy(FILE *stream, const char *name)
{
    return copy_stream(fileno(stream), 1) < 0 ? complain("%s", name ? name : "standard input") : 0;
}

int main(int argc, char **argv)
{
    return act_on_inputs(argc, argv, read_options(argc, argv, "", 0, "[file ...]"), copy);
}
