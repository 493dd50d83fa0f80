/* trace_study.c - `trace study`: what to trace for a question (trace/studies/README.md). trace/print/study.c
 * parses the lines. */
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace/print/commands.h>
#include <user/bin/trace.h>
#include <user/bin/util.h>

#define FOLDER    "/etc/studies"
#define SUFFIX    ".study"
#define TEXT_MAX  256
#define STUDY_MAX 16384u

/* Checks the lines, and executes the settings if `run`. Changes `text`. */
static int run_lines(const char *name, char *text, trace_run *run)
{
    struct trace_study_line line = {0};
    char error[TRACE_COMMAND_ERROR_MAX];
    int found;
    while ((found = trace_study_next(&text, &line, error)) == 1) {
        const int status = run && !line.is_analysis ? run((int)line.count, line.words) : 0;
        if (status && line.is_optional)
            fprintf(stderr, "%s: %s:%u: not supported here; skipped\n", program_name, name,
                    (unsigned)line.number);
        else if (status)
            return refuse("%s:%u: `%s` failed; the commands after it were not executed", name,
                          (unsigned)line.number, line.words[0]);
    }
    return found ? refuse("%s:%u: %s", name, (unsigned)line.number, error) : 0;
}

/* The name of one in /etc/studies, or of a file. Each line is checked before the first one runs. */
static int run_study(const char *name)
{
    char path[256];
    snprintf(path, sizeof path, strchr(name, '/') ? "%s" : FOLDER "/%s" SUFFIX, name);
    FILE *file = fopen(path, "r");
    if (!file)
        return refuse("no study '%s'; `trace study` lists them, and a path names a file", name);
    static char text[STUDY_MAX + 1], copy[STUDY_MAX + 1];
    const size_t size = fread(text, 1, sizeof text, file);
    fclose(file);
    if (size > STUDY_MAX)
        return refuse("%s is no study: it has more than %u bytes", name, STUDY_MAX);
    memcpy(copy, text, sizeof copy);
    const int status = run_lines(name, copy, NULL);
    return status ? status : run_lines(name, text, run_shared);
}

/* The first line is a comment: what the study is for. */
static void print_summary(const char *file_name)
{
    const size_t length = strlen(file_name), suffix = strlen(SUFFIX);
    char path[256], line[TEXT_MAX] = "";
    if (length <= suffix || strcmp(file_name + length - suffix, SUFFIX) != 0)
        return;
    snprintf(path, sizeof path, FOLDER "/%s", file_name);
    FILE *file = fopen(path, "r");
    if (file && !fgets(line, sizeof line, file))
        line[0] = '\0';
    if (file)
        fclose(file);
    line[strcspn(line, "\n")] = '\0';
    printf("%-12.*s %s\n", (int)(length - suffix), file_name, line[0] == '#' ? line + 2 : "");
}

static int list_studies(void)
{
    DIR *folder = opendir(FOLDER);
    if (!folder)
        return refuse("there is no " FOLDER);
    for (struct dirent *entry; (entry = readdir(folder));)
        print_summary(entry->d_name);
    closedir(folder);
    return 0;
}

int choose_study(int argc, char **argv)
{
    return argc == 1 ? list_studies() : run_study(argv[1]);
}
