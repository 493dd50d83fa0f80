/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * symbols.c - `tarn symbols`: lists the programs of a trace and their executables, and saves them with the
 * trace.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tools/tarn/command/commands.h>
#include <tools/tarn/model/walk.h>
#include <tools/tarn/output.h>
#include <tools/tarn/read/losses.h>
#include <tools/tarn/symbols/symbols.h>
#include <unistd.h>

struct options {
    const char *path;
    bool is_saving;
};

static const struct command_option known[] = {
    {TEXT("symbols", "DIR[:DIR]", struct options, path, "search here, too")},
    {FLAG("save", struct options, is_saving,
          "copy the files to DIRECTORY/symbols, so that the trace can be read on another machine, and after "
          "the programs were rebuilt\nOther readers ignore them")},
    {.name = NULL}};

static void learn_executables(struct model *model, struct losses *losses)
{
    struct merge merge;

    losses_open(losses, model->trace);
    losses->quiet = true;
    losses_judge(losses);
    model_lacks(&model->trace->schema, true, losses->lacks, sizeof(losses->lacks));
    merge_open(&merge, model->trace, NULL, 0, &losses->reporter);
    model_walk(model, &merge);
    merge_close(&merge);
}

/* Writes to a temporary name first. */
static bool copy_file(const char *path, const char *to, struct fail *fail)
{
    char part[PATH_MAX + 16];
    size_t size;
    char *bytes = file_read(AT_FDCWD, path, SIZE_MAX - 1, &size);

    snprintf(part, sizeof(part), "%s.%ld", to, (long)getpid());
    bool ok = bytes != NULL && output_write_file(AT_FDCWD, part, bytes, size) && rename(part, to) == 0;
    if (!ok) {
        fail_set(fail, "cannot copy %s to %s: %s", path, to, strerror(errno));
        unlink(part);
    }
    free(bytes);
    return ok;
}

/* The copy's name contains digits of the build-id, because different programs may share a name. */
static bool save(const char *directory, const char *path, const char *id, struct fail *fail)
{
    const char *slash = strrchr(path, '/');
    char to[PATH_MAX];

    if ((size_t)snprintf(to, sizeof(to), "%s/symbols/%s-%.8s", directory, slash != NULL ? slash + 1 : path,
                         id) >= sizeof(to))
        return fail_set(fail, "%s: the path is too long", directory);
    if (strncmp(path, to, strlen(directory) + sizeof("/symbols/") - 1) == 0)
        return true; /* already saved */
    return copy_file(path, to, fail);
}

/* Lists each program once, and copies its file to SAVE_TO if that is not NULL. */
static bool show(const struct model *model, struct symbols *symbols, const char *save_to, struct fail *fail)
{
    char id[2 * sizeof(((struct executable *)0)->build_id) + 1];
    struct map known; /* by build-id */
    bool is_new, ok = true;

    map_open(&known, 1);
    printf("%-32s  %-20s  %s\n", "build-id begins with", "program", "file");
    for (const struct executable *executable = model->executables.oldest; executable != NULL && ok;
         executable = executable->later) {
        const char *path = symbols_file(symbols, executable);

        for (unsigned b = 0; b < sizeof(executable->build_id); b++)
            snprintf(id + 2 * b, 3, "%02x", executable->build_id[b]);
        map_add(&known, hash_text(HASH_SEED, id), hash_text(HASH_OTHER_SEED, id), 0, &is_new);
        if (!is_new)
            continue;
        printf("%s  %-20s  %s\n", id, executable_name(executable), path != NULL ? path : "(none)");
        if (save_to != NULL && path != NULL)
            ok = save(save_to, path, id, fail);
    }
    map_close(&known);
    return ok;
}

static int run_symbols(int argc, char **argv)
{
    struct options options = {NULL, false};
    struct symbols *symbols;
    struct trace trace;
    struct model model;
    struct losses losses;
    struct fail fail;
    char folder[PATH_MAX];
    const char *text, *directory;
    bool ok = true;
    int status = command_parse(&symbols_command, (void *[]){&options}, argc, argv);

    if (status >= 0)
        return status;
    directory = argv[optind];
    if (!trace_open(&trace, directory, &fail))
        return fail_report(&fail, EXIT_DAMAGE);
    symbols = symbols_open(directory, options.path);
    model_open(&model, &trace, 0, UINT64_MAX);
    learn_executables(&model, &losses);
    losses_summary(&losses);
    snprintf(folder, sizeof(folder), "%s/symbols", directory);
    if (options.is_saving && mkdir(folder, 0755) && errno != EEXIST)
        ok = fail_set(&fail, "%s: %s", folder, strerror(errno));
    ok = ok && show(&model, symbols, options.is_saving ? directory : NULL, &fail);
    for (unsigned i = 0; (text = symbols_complaint(symbols, i)) != NULL; i++)
        complain("%s", text);
    status = ok ? losses_status(&losses) : fail_report(&fail, EXIT_USAGE);
    model_close(&model);
    symbols_close(symbols);
    trace_close(&trace);
    return status;
}

const struct command symbols_command =
    COMMAND("symbols", "list a trace's programs and their executables, and save them",
            "[OPTION]... DIRECTORY", 1, 1, run_symbols, NULL, {NULL, known});
