/* rm.c - removes files; -r: directories with their contents; -f: missing files are no error. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <user/bin/util.h>

static int remove_path(const char *path);

/* What a directory stream returns while entries are removed is undefined, so this repeats with a new stream
 * until the directory is empty. */
static int empty_directory(const char *path)
{
    int status = 0;
    bool again = true;
    while (again && !status) {
        DIR *directory = opendir(path);
        if (!directory)
            return complain("%s", path);
        again = false;
        struct dirent *entry;
        while ((entry = readdir(directory))) {
            if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
                continue;
            char *inner = join_path(path, entry->d_name);
            status |= remove_path(inner);
            free(inner);
            again = true;
        }
        closedir(directory);
    }
    return status;
}

static int remove_path(const char *path)
{
    struct stat st;
    if (stat(path, &st) < 0)
        return option('f') && errno == ENOENT ? 0 : complain("%s", path);
    if (!S_ISDIR(st.st_mode))
        return unlink(path) < 0 ? complain("%s", path) : 0;
    if (!option('r')) {
        errno = EISDIR;
        return complain("%s", path);
    }
    int status = empty_directory(path);
    if (!status && rmdir(path) < 0)
        status = complain("%s", path);
    return status;
}

int main(int argc, char **argv)
{
    const char *synopsis = "[-rf] path ...";
    int first = read_options(argc, argv, "rf", 0, synopsis);
    if (first == argc && !option('f'))
        usage(synopsis);
    int status = 0;
    for (int i = first; i < argc; i++)
        status |= remove_path(argv[i]);
    return status;
}
