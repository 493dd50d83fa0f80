/* SPDX-License-Identifier: BSD-2-Clause */
/* mkdir.c - makes directories; -p: also missing parents, and existing directories are no error. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include <user/bin/util.h>

static int make_path(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        if (mkdir(path, 0777) < 0 && errno != EEXIST)
            return complain("%s", path);
        *slash = '/';
    }
    return mkdir(path, 0777) < 0 && errno != EEXIST ? complain("%s", path) : 0;
}

int main(int argc, char **argv)
{
    bool flags[26] = {0};
    int first = read_flags(argc, argv, "p", flags, "[-p] directory ...");
    int status = 0;
    if (first == argc)
        usage("[-p] directory ...");
    for (int i = first; i < argc; i++) {
        if (flags['p' - 'a'])
            status |= make_path(argv[i]);
        else if (mkdir(argv[i], 0777) < 0)
            status = complain("%s", argv[i]);
    }
    return status;
}
