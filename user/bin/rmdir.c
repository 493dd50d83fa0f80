/* rmdir.c - removes empty directories. */
#include <unistd.h>

#include <user/bin/util.h>

int main(int argc, char **argv)
{
    int status = 0;
    for (int i = read_options(argc, argv, "", 1, "directory ..."); i < argc; i++) {
        if (rmdir(argv[i]) < 0)
            status = complain("%s", argv[i]);
    }
    return status;
}
