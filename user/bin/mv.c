/* SPDX-License-Identifier: BSD-2-Clause */
/* user/bin/mv.c - rename files and directories, or move them into a directory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <user/bin/util.h>

int main(int argc, char **argv)
{
    bool flags[26] = {0};
    const char *synopsis = "from ... to";
    int first = read_flags(argc, argv, "", flags, synopsis);
    if (argc - first < 2)
        usage(synopsis);
    const char *to = argv[argc - 1];
    bool into = goes_into_directory(to, argc - 1 - first);
    int status = 0;
    for (int i = first; i < argc - 1; i++) {
        char *target = into ? join_path(to, last_component(argv[i])) : strdup(to);
        if (rename(argv[i], target) < 0)
            status = complain("%s to %s", argv[i], target);
        free(target);
    }
    return status;
}
