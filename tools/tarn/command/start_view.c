/* start_view.c - in the program `tarn`, `tarn view` is tarn-view beside it: the libraries that draw and serve
 * bring 30 others along, and to load them took two thirds of the start of every command. */
#include <errno.h>
#include <string.h>
#include <tools/tarn/command/commands.h>
#include <unistd.h>

static int start_view(int argc, char **argv)
{
    char path[PATH_MAX], *words[argc + 2];
    program_path(path, sizeof(path) - sizeof("-view"), 0);
    strcat(path, "-view");
    words[0] = path;
    memcpy(words + 1, argv, (size_t)argc * sizeof(argv[0]));
    words[argc + 1] = NULL;
    execv(path, words);
    complain("%s: %s", path, strerror(errno));
    return EXIT_USAGE;
}

const struct command view_command = {.name = "view", .summary = VIEW_SUMMARY, .run = start_view};
