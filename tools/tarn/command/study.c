/*
 * study.c - `tarn study`: sets what a guest traces for a question, pulls the trace, and answers the question.
 *
 * trace/print/study.c parses studies (trace/studies/README.md). The tool contains those of trace/studies. The
 * whole text is checked before its first command runs.
 */
#include <errno.h>
#include <fcntl.h>
#include <tools/tarn/analysis/analysis.h>
#include <tools/tarn/command/commands.h>
#include <tools/tarn/embedded.h>
#include <tools/tarn/out.h>
#include <trace/print/commands.h>

#define BYTES_MAX 65536u
#define LINES_MAX 100u
#define SUFFIX    ".study"

struct study {
    const char *output, *duration;
    bool force;
    const char *name;
    char *text; /* without its comments, split into words */
    struct trace_study_line lines[LINES_MAX];
    unsigned count;
};

/* The text of a study that the tool contains, or of a file; NULL: FAIL. */
static char *find_text(const char *name, struct fail *fail)
{
    size_t length = strlen(name);
    for (const struct page_file *file = study_files; file->name != NULL; file++)
        if (strncmp(file->name, name, length) == 0 && strcmp(file->name + length, SUFFIX) == 0)
            return strdup((const char *)file->bytes);
    char *text = strpbrk(name, "/.") != NULL ? file_read(AT_FDCWD, name, BYTES_MAX, &length) : NULL;
    if (text != NULL && memchr(text, '\0', length) == NULL)
        return text;
    if (strpbrk(name, "/.") == NULL)
        fail_set(fail, "no study '%s'; `tarn study` lists them, and a path names a file", name);
    else if (text != NULL || errno == EFBIG)
        fail_set(fail, "%s is no study: it is too large, or no text", name);
    else
        fail_set(fail, "cannot read the study %s: %s", name, strerror(errno));
    free(text);
    return NULL;
}

static bool parse(struct study *study, struct fail *fail)
{
    char *rest = study->text, error[TRACE_COMMAND_ERROR_MAX];
    struct trace_study_line line = {0};
    int found;
    while ((found = trace_study_next(&rest, &line, error)) == 1) {
        if (study->count == LINES_MAX)
            return fail_set(fail, "%s:%u: a study has at most %u commands", study->name, line.number,
                            LINES_MAX);
        if (line.is_analysis && analysis_find(line.words[0]) == NULL)
            return fail_set(fail, "%s:%u: no analysis '%.100s'; `tarn --help` lists them", study->name,
                            line.number, line.words[0]);
        study->lines[study->count++] = line;
    }
    return found == 0 || fail_set(fail, "%s:%u: %s", study->name, line.number, error);
}

static bool set_guest(const struct study *study, char *source)
{
    for (unsigned i = 0; i < study->count; i++) {
        const struct trace_study_line *line = &study->lines[i];
        char *words[TRACE_COMMAND_WORDS_MAX + 3] = {"ctl", source};
        memcpy(words + 2, line->words, (size_t)line->count * sizeof(words[0]));
        if (line->is_analysis || ctl_command.run((int)line->count + 2, words) == EXIT_OK)
            continue;
        if (!line->is_optional) {
            complain("%s:%u: `%s` failed; the commands after it were not executed", study->name, line->number,
                     line->words[0]);
            return false;
        }
        complain("%s:%u: not supported by this guest; skipped", study->name, line->number);
    }
    return true;
}

static int pull(const struct study *study, char *source)
{
    char *words[10] = {"pull", source, "-o", (char *)study->output, "--quiet"};
    int count = 5;
    if (study->duration != NULL) {
        words[count++] = "--duration";
        words[count++] = (char *)study->duration;
    }
    if (study->force)
        words[count++] = "--force";
    return pull_command.run(count, words);
}

static int analyse(const struct study *study, char *directory)
{
    int status = EXIT_OK;
    for (unsigned i = 0; i < study->count; i++) {
        const struct trace_study_line *line = &study->lines[i];
        if (!line->is_analysis)
            continue;
        printf("\n== tarn");
        for (uint32_t word = 0; word < line->count; word++)
            printf(" %s", line->words[word]);
        printf(" %s\n\n", directory);
        fflush(stdout);
        const struct command command = analysis_command(analysis_find(line->words[0]));
        char *words[TRACE_COMMAND_WORDS_MAX + 2] = {NULL};
        memcpy(words, line->words, (size_t)line->count * sizeof(words[0]));
        words[line->count] = directory;
        const int one = command.run((int)line->count + 1, words);
        status = one > status ? one : status;
        fflush(stdout);
    }
    return status;
}

static int run(const struct study *study, char *source)
{
    if (strncmp(source, "tcp:", 4) != 0 && strncmp(source, "serial:", 7) != 0) {
        if (study->output == NULL)
            return analyse(study, source);
        complain("%s is no guest: without --output, the study analyses a trace directory", source);
        return EXIT_USAGE;
    }
    if (!set_guest(study, source))
        return EXIT_USAGE;
    if (study->output == NULL)
        return EXIT_OK;
    const int status = pull(study, source);
    if (status == EXIT_USAGE)
        return status;
    const int answer = analyse(study, (char *)study->output);
    return answer > status ? answer : status;
}

/* The first line is a comment: the study's question. */
static void list_studies(void)
{
    for (const struct page_file *file = study_files; file->name != NULL; file++) {
        const char *text = (const char *)file->bytes, *end = memchr(text, '\n', file->size);
        printf("%-12.*s %.*s\n", (int)(strlen(file->name) - strlen(SUFFIX)), file->name,
               (int)(end != NULL && end > text + 2 ? end - text - 2 : 0), text + 2);
    }
}

static const struct command_option known[] = {
    {TEXT("output", "DIR", struct study, output, "pull the trace to DIR, then analyse it"), .letter = 'o'},
    {TEXT("duration", "SEC", struct study, duration, "end the pull SEC seconds after the first data"),
     .need = "output"},
    {FLAG("force", struct study, force, "replace the trace in DIR"), .need = "output"},
    {.name = NULL}};

static int run_study(int argc, char **argv)
{
    struct study study = {0};
    struct fail fail;
    int status = command_parse(&study_command, (void *[]){&study}, argc, argv);
    if (status >= 0)
        return status;
    if (optind == argc) {
        list_studies();
        return EXIT_OK;
    }
    study.name = argv[optind];
    char *source = optind + 1 < argc ? argv[optind + 1] : NULL;
    study.text = find_text(study.name, &fail);
    if (study.text != NULL && source == NULL)
        fputs(study.text, stdout);
    if (study.text == NULL || !parse(&study, &fail))
        status = fail_report(&fail, EXIT_USAGE);
    else
        status = source != NULL ? run(&study, source) : EXIT_OK;
    free(study.text);
    return status;
}

const struct command study_command =
    COMMAND("study", "trace what a question needs, and answer it",
            "[STUDY]\nSTUDY SOURCE [OPTION]...\nSTUDY DIRECTORY", 0, 2, run_study, NULL, {NULL, known});
