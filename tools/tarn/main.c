/* main.c - `tarn SUBCOMMAND ...`; see command/commands.h. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <tools/tarn/command/commands.h>

static bool is_help(const char *word)
{
    return strcmp(word, "help") == 0 || strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

/* Flushes stdout; a write error, such as a full disk, shows only now. */
static int finish(int status)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    complain("cannot write the output: %s", strerror(errno));
    return EXIT_USAGE;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        command_usage(stderr);
        return EXIT_USAGE;
    }
    return finish((is_help(argv[1]) ? command_help : command_run)(argc - 1, argv + 1));
}
