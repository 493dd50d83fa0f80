/* util.c - shared code of the utilities. Interface: util.h. */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <user/bin/util.h>

const char *program_name = "?";

static void complain_list(const char *format, va_list arguments)
{
    int error = errno;
    char text[256];
    vsnprintf(text, sizeof text, format, arguments);
    fflush(stdout);
    if (error)
        fprintf(stderr, "%s: %s: %s\n", program_name, text, strerror(error));
    else
        fprintf(stderr, "%s: %s\n", program_name, text);
}

int complain(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    complain_list(format, arguments);
    va_end(arguments);
    return 1;
}

int refuse_without(const char *authority)
{
    return refuse("needs authority `%s`: run the program in /bin, or `grant %s %s` in the console's shell",
                  authority, authority, program_name);
}

void die(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    complain_list(format, arguments);
    va_end(arguments);
    exit(1);
}

void usage(const char *synopsis)
{
    fprintf(stderr, "usage: %s %s\n", program_name, synopsis);
    exit(2);
}

static bool options['z' + 1];

bool option(char letter)
{
    return options[(unsigned char)letter];
}

int read_options(int argc, char **argv, const char *allowed, int least, const char *synopsis)
{
    program_name = last_component(argv[0]);
    int i = 1;
    for (; i < argc && argv[i][0] == '-' && argv[i][1]; i++) {
        if (!strcmp(argv[i], "--")) {
            i++;
            break;
        }
        for (const char *letter = argv[i] + 1; *letter; letter++) {
            if (*letter < 'a' || *letter > 'z' || !strchr(allowed, *letter))
                usage(synopsis);
            options[(unsigned char)*letter] = true;
        }
    }
    if (argc - i < least)
        usage(synopsis);
    return i;
}

/* strtoul takes signs and spaces, too. */
unsigned long read_number(const char *text, unsigned long least, unsigned long most, const char *synopsis)
{
    char *end;
    errno = 0;
    const unsigned long number = strtoul(text, &end, 10);
    if (!isdigit((unsigned char)text[0]) || *end || errno || number < least || number > most)
        usage(synopsis);
    return number;
}

int write_whole(int fd, const void *data, size_t size)
{
    const char *at = data;
    while (size) {
        ssize_t n = write(fd, at, size);
        if (n < 0)
            return -1;
        at += n;
        size -= (size_t)n;
    }
    return 0;
}

int copy_stream(int from, int to)
{
    static char buffer[16384];
    ssize_t n;
    while ((n = read(from, buffer, sizeof buffer)) > 0) {
        if (write_whole(to, buffer, (size_t)n) < 0)
            return -1;
    }
    return n < 0 ? -1 : 0;
}

char *join_path(const char *directory, const char *name)
{
    size_t length = strlen(directory);
    char *path = malloc(length + strlen(name) + 2);
    if (!path)
        die("out of memory");
    bool slash = length && directory[length - 1] == '/';
    sprintf(path, "%s%s%s", directory, slash ? "" : "/", name);
    return path;
}

const char *last_component(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

char **append_text(char **texts, size_t *count, char *text)
{
    if ((*count & (*count - 1)) == 0) /* the capacity is a power of two */
        texts = realloc(texts, (*count ? 2 * *count : 1) * sizeof *texts);
    if (!texts || !text)
        die("out of memory");
    texts[(*count)++] = text;
    return texts;
}

static bool goes_into_directory(const char *to, int count)
{
    struct stat st;
    bool into = stat(to, &st) == 0 && S_ISDIR(st.st_mode);
    if (!into && count > 1) {
        errno = ENOTDIR;
        die("%s", to);
    }
    return into;
}

int act_on_each(int argc, char **argv, int first, int (*act)(const char *from, const char *to))
{
    const char *to = argv[argc - 1];
    bool into = goes_into_directory(to, argc - 1 - first);
    int status = 0;
    for (int i = first; i < argc - 1; i++) {
        char *target = into ? join_path(to, last_component(argv[i])) : strdup(to);
        status |= act(argv[i], target) != 0;
        free(target);
    }
    return status;
}
