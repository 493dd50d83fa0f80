/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tests/unit/tarn/fuzz_tarn.c - mutates traces and runs tarn's subcommands on them, in this process, with
 * sanitizers.
 *
 * usage: fuzz_tarn [MUTATIONS [SEED]]      TAP on standard output
 *
 * No mutation may crash, hang (an alarm ends each) or read out of bounds. Some kinds of damage must be told:
 * for those the exit status of `tarn check` is looked at as well. Two small traces, one of each byte order,
 * are the seeds; they hold every event of the schema.
 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <sanitizer/common_interface_defs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tests/unit/tarn/synthetic.h>
#include <tools/tarn/analysis/analysis.h>
#include <tools/tarn/command/commands.h>
#include <tools/tarn/export/export.h>
#include <trace/format/format.h>
#include <unistd.h>

#define FILES       4u /* metadata, cpu0, cpu1, cpu2 */
#define PACKET      4096u
#define SECONDS_MAX 30u /* for one mutation */

struct bytes {
    unsigned char *data;
    size_t size;
};

struct fuzz {
    char root[64];
    char work[80];
    struct bytes seeds[2][FILES];
    uint64_t random;
    FILE *tap;
    unsigned tests, failed;
};

static const char *const file_names[FILES] = {"metadata", "cpu0", "cpu1", "cpu2"};

static uint64_t draw(struct fuzz *fuzz, uint64_t below)
{
    fuzz->random ^= fuzz->random << 13;
    fuzz->random ^= fuzz->random >> 7;
    fuzz->random ^= fuzz->random << 17;
    return below ? (fuzz->random * 0x2545f4914f6cdd1dull >> 16) % below : 0;
}

static void check(struct fuzz *fuzz, bool ok, const char *what, uint64_t count)
{
    fuzz->failed += !ok;
    fprintf(fuzz->tap, "%sok %u - %s (%llu mutations)\n", ok ? "" : "not ", ++fuzz->tests, what,
            (unsigned long long)count);
    fflush(fuzz->tap);
}

static void must(bool ok, const char *what)
{
    if (ok)
        return;
    fprintf(stderr, "fuzz_tarn: %s: %s\n", what, strerror(errno));
    exit(2);
}

static struct bytes load(const char *directory, const char *name)
{
    char path[256];
    struct bytes bytes;
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s", directory, name);
    file = fopen(path, "rb");
    must(file != NULL && fseek(file, 0, SEEK_END) == 0, path);
    bytes.size = (size_t)ftell(file);
    bytes.data = alloc_zero(1, bytes.size);
    rewind(file);
    must(fread(bytes.data, 1, bytes.size, file) == bytes.size, path);
    fclose(file);
    return bytes;
}

static void save(const struct fuzz *fuzz, unsigned number, const struct bytes *bytes)
{
    char path[256];
    int fd;

    snprintf(path, sizeof(path), "%s/%s", fuzz->work, file_names[number]);
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    must(fd >= 0 && write(fd, bytes->data, bytes->size) == (ssize_t)bytes->size && close(fd) == 0, path);
}

static int run(const char *name, const char *option, const char *directory)
{
    char *argv[] = {(char *)name, (char *)option, (char *)directory, NULL};
    int status;

    alarm(SECONDS_MAX);
    status = command_run(3, argv);
    alarm(0);
    fflush(stdout);
    return status;
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    return remove(path);
}

static void export(const struct fuzz *fuzz, const struct export_format *format)
{
    char option[64], path[300];

    snprintf(option, sizeof(option), "--format=%s", format->name);
    snprintf(path, sizeof(path), "%s.%s", fuzz->work, format->suffix);
    run("export", option, fuzz->work);
    nftw(path, remove_one, 4, FTW_DEPTH | FTW_PHYS);
}

/* `tarn top` through all of it. */
static void run_intervals(const char *directory)
{
    char *argv[] = {(char *)"top", (char *)"--batch=5", (char *)"--interval=0.003", (char *)directory, NULL};

    alarm(SECONDS_MAX);
    command_run(4, argv);
    alarm(0);
    fflush(stdout);
}

static void run_with_itself(const char *name, const char *option, const char *directory)
{
    char *argv[] = {(char *)name, (char *)option, (char *)directory, (char *)directory, NULL};

    alarm(SECONDS_MAX);
    command_run(4, argv);
    alarm(0);
    fflush(stdout);
}

/* Everything that reads a trace, over it; returns what check said. */
static int run_all(struct fuzz *fuzz, unsigned turn)
{
    static const char *const styles[] = {"--json",   "--csv",    "--babeltrace",
                                         "--cycles", "--tail=9", "--from=0.0001"};
    static const char *const formats[] = {"--json", "--csv", "--by=all"};
    int status = run("check", "--quiet", fuzz->work);
    static const char *const presets[] = {"--preset=ipc", "--preset=fs", "--preset=libc", "--preset=thread"};
    uint64_t kinds = 0;

    switch (turn % 6) {
    case 0:
    case 1:
        run("list", styles[draw(fuzz, 6)], fuzz->work);
        break;
    case 2:
    case 3:
        while (analysis_list()[kinds] != NULL)
            kinds++;
        run(analysis_list()[draw(fuzz, kinds)]->name, formats[draw(fuzz, 3)], fuzz->work);
        run("intervals", presets[draw(fuzz, 4)], fuzz->work);
        run("noise", "--quantum=1", fuzz->work);
        run("ipc", "--request=longest", fuzz->work);
        if (turn % 20 == 2)
            run_intervals(fuzz->work);
        if (turn % 6 == 2)
            run_with_itself("diff", "--first", fuzz->work);
        if (turn % 20 == 3)
            run_with_itself("diff", formats[draw(fuzz, 3)], fuzz->work);
        break;
    case 4:
        export(fuzz, &export_formats[draw(fuzz, 4)]);
        break;
    default:
        run("info", "--json", fuzz->work);
    }
    return status;
}

static struct bytes copy_of(const struct bytes *from)
{
    struct bytes copy = {.data = alloc_zero(1, 2 * from->size + 64), .size = from->size};

    memcpy(copy.data, from->data, from->size);
    return copy;
}

static void mutate_bits(struct fuzz *fuzz, struct bytes *bytes)
{
    for (uint64_t n = draw(fuzz, 8) + 1; n > 0; n--)
        bytes->data[draw(fuzz, bytes->size)] ^= (unsigned char)(1u << draw(fuzz, 8));
}

/* A word of 1 to 8 bytes becomes something that sizes and counts do not expect. */
static void mutate_word(struct fuzz *fuzz, struct bytes *bytes)
{
    static const uint64_t values[] = {
        0,          1,          0x7f,           0xff,       0x7fff,   0xffff, 0x7fffffff, 0xffffffff,
        1ull << 63, UINT64_MAX, UINT64_MAX - 7, 1ull << 35, 4096 * 8, 96 * 8, 64};
    size_t width = 1ul << draw(fuzz, 4), at = draw(fuzz, bytes->size / width) * width;
    uint64_t value = values[draw(fuzz, 15)];

    if (draw(fuzz, 2)) /* in a packet's header */
        at = draw(fuzz, bytes->size / PACKET + 1) * PACKET + draw(fuzz, 12 * 8 / width) * width;
    if (draw(fuzz, 2))
        value = __builtin_bswap64(value);
    if (at + width <= bytes->size)
        memcpy(bytes->data + at, (char *)&value + (draw(fuzz, 2) ? 8 - width : 0), width);
}

static void mutate_move(struct fuzz *fuzz, struct bytes *bytes)
{
    size_t length = draw(fuzz, bytes->size / 2) + 1, from = draw(fuzz, bytes->size - length + 1);
    size_t to = draw(fuzz, bytes->size - length + 1);

    memmove(bytes->data + to, bytes->data + from, length);
}

static void mutate_insert(struct fuzz *fuzz, struct bytes *bytes)
{
    size_t length = draw(fuzz, 40) + 1, at = draw(fuzz, bytes->size);

    memmove(bytes->data + at + length, bytes->data + at, bytes->size - at);
    for (size_t i = 0; i < length; i++)
        bytes->data[at + i] = (unsigned char)draw(fuzz, 256);
    bytes->size += length;
}

static void mutate_random(struct fuzz *fuzz, struct bytes *bytes)
{
    size_t at = draw(fuzz, bytes->size), length = draw(fuzz, bytes->size - at) + 1;

    for (size_t i = at; i < at + length && i < bytes->size; i++)
        bytes->data[i] = (unsigned char)draw(fuzz, 256);
}

static void mutate_truncate(struct fuzz *fuzz, struct bytes *bytes)
{
    bytes->size = draw(fuzz, bytes->size);
}

/* Metadata: a word or number of the text is replaced by another of it, or a line goes or comes twice. */
static void mutate_text(struct fuzz *fuzz, struct bytes *bytes)
{
    static const char *const words[] = {
        "0",        "1",       "64",      "4294967295", "18446744073709551615",
        "-1",       "{",       "}",       ";",          "struct",
        "enum",     "string",  "integer", "[",          "]",
        "\"",       "/*",      "size",    "align",      "signed",
        "uint64_t", "text8_t", "variant", "...",        "@",
        "event"};
    const char *word = words[draw(fuzz, sizeof(words) / sizeof(words[0]))];
    size_t at = draw(fuzz, bytes->size), length = strlen(word), gone = draw(fuzz, 12);

    if (draw(fuzz, 4) == 0)
        gone = draw(fuzz, 200);
    gone = gone < bytes->size - at ? gone : bytes->size - at;
    memmove(bytes->data + at + length, bytes->data + at + gone, bytes->size - at - gone);
    memcpy(bytes->data + at, word, length);
    bytes->size += length - gone;
}

static void save_seeds(struct fuzz *fuzz, unsigned order)
{
    for (unsigned f = 0; f < FILES; f++)
        save(fuzz, f, &fuzz->seeds[order][f]);
}

typedef void mutation(struct fuzz *fuzz, struct bytes *bytes);

/* COUNT mutations of one kind, of metadata or of a stream. */
static void fuzz_kind(struct fuzz *fuzz, mutation *mutate, const char *what, bool metadata, uint64_t count)
{
    bool ok = true;

    for (uint64_t i = 0; i < count; i++) {
        unsigned order = i & 1, number = metadata ? 0 : 1 + (unsigned)draw(fuzz, FILES - 1);
        struct bytes bytes = copy_of(&fuzz->seeds[order][number]);
        int status;

        save_seeds(fuzz, order);
        mutate(fuzz, &bytes);
        save(fuzz, number, &bytes);
        free(bytes.data);
        status = run_all(fuzz, (unsigned)i);
        ok &= status >= 0 && status <= 2;
    }
    check(fuzz, ok, what, count);
}

/* Damage that check has to report: a byte of a packet's magic, uuid, sizes or committed count. */
static void fuzz_header(struct fuzz *fuzz, uint64_t count)
{
    static const struct {
        unsigned at, length;
    } vital[] = {{0, 4}, {4, 4}, {8, 16}, {40, 8}, {48, 8}, {72, 8}, {88, 4}};
    uint64_t missed = 0;

    for (uint64_t i = 0; i < count; i++) {
        unsigned order = i & 1, number = 1 + (unsigned)draw(fuzz, FILES - 1), field = (unsigned)draw(fuzz, 7);
        struct bytes bytes = copy_of(&fuzz->seeds[order][number]);
        size_t packet = draw(fuzz, bytes.size / PACKET);

        if (field == 6 && bytes.size == PACKET)
            field = 0; /* one packet alone may be of any processor */
        save_seeds(fuzz, order);
        bytes.data[packet * PACKET + vital[field].at + draw(fuzz, vital[field].length)] ^=
            (unsigned char)(1u << draw(fuzz, 8));
        save(fuzz, number, &bytes);
        free(bytes.data);
        missed += run_all(fuzz, (unsigned)i) != EXIT_DAMAGE;
    }
    check(fuzz, missed == 0, "every damaged packet header is reported", count);
}

static void fuzz_cut(struct fuzz *fuzz, uint64_t count)
{
    uint64_t missed = 0;

    for (uint64_t i = 0; i < count; i++) {
        unsigned order = i & 1, number = 1 + (unsigned)draw(fuzz, FILES - 1);
        struct bytes bytes = copy_of(&fuzz->seeds[order][number]);

        save_seeds(fuzz, order);
        bytes.size = draw(fuzz, bytes.size - 1) + 1;
        save(fuzz, number, &bytes);
        missed += run_all(fuzz, (unsigned)i) != (bytes.size % PACKET ? EXIT_DAMAGE : EXIT_OK);
        free(bytes.data);
    }
    check(fuzz, missed == 0, "every cut inside a packet is reported", count);
}

static void make_seeds(struct fuzz *fuzz)
{
    static const char *const orders[] = {"le", "be"};

    for (unsigned order = 0; order < 2; order++) {
        char directory[80];
        const struct synthetic_options options = {.directory = directory,
                                                  .order = orders[order],
                                                  .events = 900,
                                                  .cpus = FILES - 1,
                                                  .packet = PACKET,
                                                  .uniform = true,
                                                  .losses = true};
        struct fail fail = {""};

        snprintf(directory, sizeof(directory), "%s/%s", fuzz->root, orders[order]);
        if (!synthetic_write(&options, NULL, &fail)) {
            complain("%s", fail.text);
            exit(2);
        }
        for (unsigned f = 0; f < FILES; f++)
            fuzz->seeds[order][f] = load(directory, file_names[f]);
    }
}

/* Results of the subcommands are not of interest; the sanitizers' complaints are. */
static void hide_output(struct fuzz *fuzz)
{
    int null = open("/dev/null", O_WRONLY), tap = dup(STDOUT_FILENO), errors = dup(STDERR_FILENO);

    must(null >= 0 && tap >= 0 && errors >= 0, "/dev/null");
    fuzz->tap = fdopen(tap, "w");
    __sanitizer_set_report_fd((void *)(intptr_t)errors);
    fflush(stdout);
    must(dup2(null, STDOUT_FILENO) >= 0 && dup2(null, STDERR_FILENO) >= 0 && close(null) == 0, "dup2");
}

static void remove_work(const struct fuzz *fuzz)
{
    static const char *const folders[] = {"le", "be", "work"};
    char path[256];

    for (unsigned d = 0; d < 3; d++) {
        for (unsigned f = 0; f < FILES; f++) {
            snprintf(path, sizeof(path), "%s/%s/%s", fuzz->root, folders[d], file_names[f]);
            unlink(path);
        }
        snprintf(path, sizeof(path), "%s/%s", fuzz->root, folders[d]);
        rmdir(path);
    }
    rmdir(fuzz->root);
}

int main(int argc, char **argv)
{
    static struct fuzz fuzz = {.root = "/dev/shm/fuzz_tarn.XXXXXX"};
    uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 0) : 1500, share = count / 12;

    fuzz.random = (argc > 2 ? strtoull(argv[2], NULL, 0) : 1) * 0x9e3779b97f4a7c15ull + 1;
    if (mkdtemp(fuzz.root) == NULL) {
        strcpy(fuzz.root, "/tmp/fuzz_tarn.XXXXXX");
        must(mkdtemp(fuzz.root) != NULL, fuzz.root);
    }
    snprintf(fuzz.work, sizeof(fuzz.work), "%s/work", fuzz.root);
    must(mkdir(fuzz.work, 0777) == 0, fuzz.work);
    make_seeds(&fuzz);
    printf("1..12\n");
    hide_output(&fuzz);
    for (unsigned order = 0; order < 2; order++) {
        save_seeds(&fuzz, order);
        check(&fuzz, run_all(&fuzz, order) == EXIT_OK, order ? "big-endian seed" : "little-endian seed", 0);
    }
    fuzz_kind(&fuzz, mutate_bits, "flipped bits", false, 2 * share);
    fuzz_kind(&fuzz, mutate_word, "unexpected words", false, 2 * share);
    fuzz_kind(&fuzz, mutate_move, "moved blocks", false, share);
    fuzz_kind(&fuzz, mutate_insert, "inserted bytes", false, share);
    fuzz_kind(&fuzz, mutate_random, "random bytes", false, share);
    fuzz_header(&fuzz, share);
    fuzz_cut(&fuzz, share);
    fuzz_kind(&fuzz, mutate_text, "metadata: words", true, 2 * share);
    fuzz_kind(&fuzz, mutate_bits, "metadata: flipped bits", true, share / 2);
    fuzz_kind(&fuzz, mutate_truncate, "metadata: cut", true, share / 2);
    remove_work(&fuzz);
    for (unsigned order = 0; order < 2; order++)
        for (unsigned f = 0; f < FILES; f++)
            free(fuzz.seeds[order][f].data);
    fclose(fuzz.tap);
    return fuzz.failed != 0;
}
