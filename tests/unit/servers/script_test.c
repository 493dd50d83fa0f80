/* SPDX-License-Identifier: BSD-2-Clause */
/* script_test.c - parsing of "#!" lines and the requests made from them. */
#include <errno.h>
#include <servers/proc/script.h>
#include <stdlib.h>
#include <string.h>
#include <tests/tap.h>

static struct script_line line;

static int parse(const char *head)
{
    return script_parse(head, strlen(head), &line);
}

static int is(const char *interpreter, const char *argument)
{
    return !strcmp(line.interpreter, interpreter) && !strcmp(line.argument, argument);
}

static void test_lines(void)
{
    char text[600];
    check(parse("") == 0 && parse("#") == 0 && parse("\177ELF") == 0 && parse("# !/bin/sh\n") == 0);
    check(parse("#!/bin/sh\necho\n") == 1 && is("/bin/sh", ""));
    check(parse("#! \t/bin/sh  -e  -x \r\n") == 1 && is("/bin/sh", "-e  -x"));
    check(parse("#!/bin/sh") == 1 && is("/bin/sh", ""));
    check(parse("#!\n") == -ENOEXEC && parse("#!") == -ENOEXEC && parse("#!sh\n") == -ENOEXEC);
    check(script_parse("#!/b\0n/sh\n", 10, &line) == -ENOEXEC);
    memset(text, 'x', sizeof text);
    memcpy(text, "#!/", 3);
    text[SCRIPT_LINE_MAX - 1] = '\n';
    check(script_parse(text, sizeof text, &line) == 1 && strlen(line.interpreter) == SCRIPT_LINE_MAX - 3);
    text[SCRIPT_LINE_MAX - 1] = 'x';
    check(script_parse(text, sizeof text, &line) == -ENOEXEC);
}

/* A request with one open file; the strings are argv[0], argv[1], a variable. */
static struct proc_spawn *make_request(const char *path, const char *argument)
{
    struct proc_spawn *request = calloc(1, PROC_SPAWN_BYTES);
    *request = (struct proc_spawn){
        .size = sizeof *request + sizeof(struct startup_fd), .argc = 2, .envc = 1, .fd_count = 1};
    request->fd[0] = (struct startup_fd){.fd = 5, .handle = 77};
    const char *strings[] = {path, "/home", "name", argument, "A=b"};
    for (int i = 0; i < 5; i++) {
        uint32_t at = request->size;
        *(i == 0 ? &request->path : i == 1 ? &request->cwd : &(uint32_t){0}) = at;
        if (i == 2)
            request->strings = at;
        memcpy((char *)request + at, strings[i], strlen(strings[i]) + 1);
        request->size += (uint32_t)strlen(strings[i]) + 1;
    }
    return request;
}

static void test_request(void)
{
    int error;
    static const char expected[] = "/bin/sh\0-e\0/tmp/x\0one\0A=b";
    struct proc_spawn *request = make_request("/tmp/x", "one");
    check(parse("#!/bin/sh -e\n") == 1);
    struct proc_spawn *made = script_request(request, &line, &error);
    check(made && error == 0 && made->argc == 4 && made->envc == 1 && made->fd[0].handle == 77);
    const char *bytes = (const char *)made;
    check(!strcmp(bytes + made->path, "/bin/sh") && !strcmp(bytes + made->cwd, "/home"));
    check(made->size == made->strings + sizeof expected &&
          !memcmp(bytes + made->strings, expected, sizeof expected));
    free(made);
    free(request);

    char *longest = malloc(PROC_SPAWN_BYTES);
    size_t capacity = PROC_SPAWN_BYTES - 200;
    memset(longest, 'x', capacity);
    longest[capacity] = 0;
    request = make_request("/tmp/x", longest);
    for (int grown = 0; grown < 20; grown++) { /* longer each time, until it does not fit */
        made = script_request(request, &line, &error);
        if (!made)
            break;
        free(request);
        request = made;
    }
    check(!made && error == -E2BIG);
    free(longest);
    free(request);
}

int main(void)
{
    test_lines();
    test_request();
    return finish_tests();
}
