/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace_study.c - `trace study`; see trace_study.h. A study is a text with one command a line. `try` before a
 * command allows that the machine lacks it; lines with `analysis` are for `tarn study` on the host.
 */
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace/print/words.h>
#include <user/bin/trace_study.h>
#include <user/bin/util.h>

#define FOLDER    "/etc/studies"
#define SUFFIX    ".study"
#define TEXT_MAX  256
#define WORDS_MAX 24

struct line {
    unsigned number;
    bool is_optional;
    int count;
    char *words[WORDS_MAX + 1];
    char text[TEXT_MAX];
};

/* The words of the next setting, without `try`. 1: there is one; 0: the end; -1: refused, and reported. */
static int next_setting(FILE *file, const char *name, struct line *line)
{
    while (fgets(line->text, sizeof line->text, file)) {
        char *rest = line->text, *word;
        line->number++;
        line->count = 0;
        if (!strchr(line->text, '\n') && !feof(file)) {
            refuse("%s:%u: a line has at most %d letters", name, line->number, TEXT_MAX - 2);
            return -1;
        }
        line->text[strcspn(line->text, "#\n")] = '\0';
        while (line->count < WORDS_MAX && (word = strsep(&rest, " \t")))
            if (*word)
                line->words[line->count++] = word;
        line->words[line->count] = NULL;
        line->is_optional = line->count > 1 && !strcmp(line->words[0], "try");
        if (line->is_optional)
            memmove(line->words, line->words + 1, (size_t)line->count-- * sizeof *line->words);
        if (!line->count || !strcmp(line->words[0], "analysis"))
            continue;
        if (trace_is_setting(line->words[0]))
            return 1;
        refuse("%s:%u: no setting '%s'; trace study --help", name, line->number, line->words[0]);
        return -1;
    }
    return 0;
}

static int run_lines(FILE *file, const char *name, trace_run *run)
{
    struct line line = {.number = 0};
    int found;
    while ((found = next_setting(file, name, &line)) == 1)
        ;
    rewind(file);
    line.number = 0;
    while (found == 0 && next_setting(file, name, &line) == 1) {
        const int status = run(line.count, line.words);
        if (status && line.is_optional)
            fprintf(stderr, "%s: %s:%u: not supported here; skipped\n", program_name, name, line.number);
        else if (status)
            return refuse("%s:%u: '%s' failed; the commands after it were not executed", name, line.number,
                          line.words[0]);
    }
    return found == 0 ? 0 : 1;
}

int run_study(const char *name, trace_run *run)
{
    char path[256];
    snprintf(path, sizeof path, strchr(name, '/') ? "%s" : FOLDER "/%s" SUFFIX, name);
    FILE *file = fopen(path, "r");
    if (!file)
        return refuse("no study '%s'; `trace study` lists them, and a path names a file", name);
    const int status = run_lines(file, name, run);
    fclose(file);
    return status;
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

int list_studies(void)
{
    DIR *folder = opendir(FOLDER);
    if (!folder)
        return refuse("there is no " FOLDER);
    for (struct dirent *entry; (entry = readdir(folder));)
        print_summary(entry->d_name);
    closedir(folder);
    return 0;
}
