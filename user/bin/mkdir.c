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
    int status = 0;
    for (int i = read_options(argc, argv, "p", 1, "[-p] directory ..."); i < argc; i++) {
        if (option('p'))
            status |= make_path(argv[i]);
        else if (mkdir(argv[i], 0777) < 0)
            status = complain("%s", argv[i]);
    }
    return status;
}
