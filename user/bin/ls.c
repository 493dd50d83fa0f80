/* ls.c - lists directories, one name per line. -a: also names that begin with a dot; -l: type, size and
 * links; -d: the operands themselves, not their contents. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <user/bin/util.h>

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void print_entry(const char *path, const char *name)
{
    struct stat st;
    if (!option('l')) {
        puts(name);
        return;
    }
    if (stat(path, &st) < 0) {
        complain("%s", path);
        return;
    }
    char kind = S_ISDIR(st.st_mode) ? 'd' : S_ISCHR(st.st_mode) ? 'c' : S_ISFIFO(st.st_mode) ? 'p' : '-';
    printf("%c %3u %9lld %s\n", kind, (unsigned)st.st_nlink, (long long)st.st_size, name);
}

static char **read_names(DIR *directory, size_t *count)
{
    char **names = NULL;
    struct dirent *entry;
    *count = 0;
    while ((entry = readdir(directory))) {
        if (entry->d_name[0] == '.' && !option('a'))
            continue;
        names = append_text(names, count, strdup(entry->d_name));
    }
    return names;
}

static int list_directory(const char *path)
{
    DIR *directory = opendir(path);
    if (!directory)
        return complain("%s", path);
    size_t count;
    char **names = read_names(directory, &count);
    closedir(directory);
    if (count)
        qsort(names, count, sizeof *names, compare_names);
    for (size_t i = 0; i < count; i++) {
        char *full = join_path(path, names[i]);
        print_entry(full, names[i]);
        free(full);
        free(names[i]);
    }
    free(names);
    return 0;
}

static int list(const char *path, bool title)
{
    struct stat st;
    errno = 0;
    if (stat(path, &st) < 0)
        return complain("%s", path);
    if (!S_ISDIR(st.st_mode) || option('d')) {
        print_entry(path, path);
        return 0;
    }
    if (title)
        printf("%s:\n", path);
    return list_directory(path);
}

int main(int argc, char **argv)
{
    int first = read_options(argc, argv, "ald", 0, "[-ald] [path ...]");
    int status = 0;
    if (first == argc)
        status = list(".", false);
    for (int i = first; i < argc; i++)
        status |= list(argv[i], argc - first > 1);
    return status;
}
