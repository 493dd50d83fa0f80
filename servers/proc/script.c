/* script.c - parses "#!" lines. Interface: script.h. */
#include "script.h"
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static const char *skip_blanks(const char *at, const char *end)
{
    while (at < end && is_blank(*at))
        at++;
    return at;
}

static void copy(char to[SCRIPT_LINE_MAX], const char *from, const char *end)
{
    memcpy(to, from, (size_t)(end - from));
    to[end - from] = 0;
}

int script_parse(const char *head, size_t size, struct script_line *line)
{
    if (size < 2 || head[0] != '#' || head[1] != '!')
        return 0;
    size_t seen = size < SCRIPT_LINE_MAX ? size : SCRIPT_LINE_MAX;
    const char *end = memchr(head, '\n', seen);
    if (!end && seen == SCRIPT_LINE_MAX)
        return -ENOEXEC;
    if (!end)
        end = head + seen; /* the line ends with the file */
    while (end > head + 2 && (is_blank(end[-1]) || end[-1] == '\r'))
        end--;
    const char *path = skip_blanks(head + 2, end), *path_end = path;
    while (path_end < end && !is_blank(*path_end))
        path_end++;
    if (path == end || *path != '/' || memchr(path, 0, (size_t)(end - path)))
        return -ENOEXEC;
    copy(line->interpreter, path, path_end);
    copy(line->argument, skip_blanks(path_end, end), end);
    return 1;
}

/* ---- the request ----------------------------------------------------------------------------------- */

struct proc_spawn *script_request(const struct proc_spawn *request, const struct script_line *line,
                                  int *error)
{
    const char *bytes = (const char *)request, *path = bytes + request->path, *cwd = bytes + request->cwd;
    const char *first = bytes + request->strings, *rest = memchr(first, 0, request->size - request->strings);
    size_t head = sizeof(*request) + request->fd_count * sizeof(struct startup_fd);
    size_t rest_size = rest ? (size_t)(bytes + request->size - ++rest) : 0;
    struct proc_spawn *made = rest ? malloc(PROC_SPAWN_BYTES) : NULL;
    *error = !rest ? -EINVAL : made ? 0 : -ENOMEM;
    if (!made)
        return NULL;
    memcpy(made, request, head);
    made->size = (uint32_t)head;
    made->path = proc_spawn_append_string(made, line->interpreter);
    made->cwd = proc_spawn_append_string(made, cwd);
    made->strings = proc_spawn_append_string(made, line->interpreter); /* argv[0] */
    if (line->argument[0]) {
        proc_spawn_append_string(made, line->argument);
        made->argc++;
    }
    proc_spawn_append_string(made, path); /* replaces the old argv[0] */
    made->argc++;
    proc_spawn_append(made, rest, rest_size);
    if (made->size <= PROC_SPAWN_BYTES)
        return made;
    *error = -E2BIG;
    free(made);
    return NULL;
}
