/*
 * main.c - the shell: `sh` (interactive), `sh SCRIPT [ARGUMENT ...]`, `sh -c COMMAND`. Reading order: sh.h,
 * lex.c, expand.c, exec.c, builtin.c, edit.c.
 *
 * `sh -b STATUS N N-ARGUMENTS COMMAND...` runs a built-in command in a pipeline (spawn_builtin), with $?, $0,
 * $1, ... of the calling shell and words that are already expanded.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <user/sh/sh.h>

static void greet(void)
{
    char line[256];
    FILE *motd = fopen("/etc/motd", "r");
    while (motd && fgets(line, sizeof line, motd))
        fputs(line, stdout);
    if (motd)
        fclose(motd);
}

static int interact(void)
{
    char prompt[300], path[256], *line;
    greet();
    for (;;) {
        reap_background();
        snprintf(prompt, sizeof prompt, "%s $ ", getcwd(path, sizeof path) ? path : "?");
        fflush(stdout);
        line = edit_line(prompt);
        if (!line)
            return last_status;
        run_line(line);
        free(line);
    }
}

static int run_for_pipeline(int argc, char **argv)
{
    int count = argc > 3 ? atoi(argv[3]) : -1;
    if (count < 0 || count >= argc - 4)
        return 2;
    last_status = atoi(argv[2]);
    script_arguments = argv + 4;
    script_argument_count = count;
    struct words words = {.word = argv + 4 + count, .count = (size_t)(argc - 4 - count)};
    return run_builtin(&words);
}

int main(int argc, char **argv)
{
    if (!getenv("PATH"))
        setenv("PATH", "/bin:/sbin:/test", 1);
    script_arguments = argv + 1;
    script_argument_count = argc - 1;
    if (argc == 1) {
        script_arguments = argv;
        script_argument_count = 1;
        return interact();
    }
    if (!strcmp(argv[1], "-b"))
        return run_for_pipeline(argc, argv);
    if (strcmp(argv[1], "-c"))
        return run_script(argv[1]);
    if (argc < 3) {
        fprintf(stderr, "usage: sh [script [argument ...] | -c command]\n");
        return 2;
    }
    return run_line(argv[2]);
}
