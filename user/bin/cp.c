/* cp.c - copies files; -r: directories with their contents. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <user/bin/util.h>

static int copy_file(const char *from, const char *to)
{
    int in = open(from, O_RDONLY);
    if (in < 0)
        return complain("%s", from);
    int out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    int status = 0;
    if (out < 0 || copy_stream(in, out) < 0)
        status = complain("%s to %s", from, to);
    if (out >= 0 && close(out) < 0)
        status = complain("%s", to);
    close(in);
    return status;
}

static int copy(const char *from, const char *to);

static int copy_directory(const char *from, const char *to)
{
    if (!option('r'))
        return refuse("%s is a directory: use -r", from);
    if (mkdir(to, 0777) < 0 && errno != EEXIST)
        return complain("%s", to);
    DIR *directory = opendir(from);
    if (!directory)
        return complain("%s", from);
    int status = 0;
    struct dirent *entry;
    while ((entry = readdir(directory))) {
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
            continue;
        char *source = join_path(from, entry->d_name), *target = join_path(to, entry->d_name);
        status |= copy(source, target);
        free(source);
        free(target);
    }
    closedir(directory);
    return status;
}

static bool is_inside(const char *path, const char *directory)
{
    size_t length = strlen(directory);
    return !strncmp(path, directory, length) && (path[length] == '/' || path[length] == 0);
}

static int copy(const char *from, const char *to)
{
    struct stat source, target;
    if (stat(from, &source) < 0)
        return complain("%s", from);
    if (stat(to, &target) == 0 && target.st_dev == source.st_dev && target.st_ino == source.st_ino)
        return refuse("%s and %s are the same file", from, to);
    if (S_ISDIR(source.st_mode) && is_inside(to, from))
        return refuse("cannot copy %s into itself", from);
    return S_ISDIR(source.st_mode) ? copy_directory(from, to) : copy_file(from, to);
}

int main(int argc, char **argv)
{
    return act_on_each(argc, argv, read_options(argc, argv, "r", 2, "[-r] from ... to"), copy);
}
