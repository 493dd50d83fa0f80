/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tests/unit/tarn/symbols_test.c - addresses to functions, files and lines, in the real programs of every
 * machine that has been built, judged by addr2line: the same functions, inlined ones too, the same files and
 * lines.
 */
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tests/tap.h>
#include <tests/unit/scratch.h>
#include <tools/tarn/symbols/program.h>
#include <tools/tarn/symbols/symbols.h>
#include <unistd.h>

#define PROBES 3000

struct machine {
    char name[256], cross[64]; /* of its binutils: a prefix */
};

static const char *const programs[] = {"kernel/tarn.elf", "user/sh", "user/test_hot"};

struct range {
    uint64_t begin, end;
};

/* The code, by the linker's symbols of it; without .trace_text, which lies far from it in programs. */
static struct range code_of(const struct machine *machine, const char *path)
{
    struct range range = {UINT64_MAX, 0};
    char command[512], line[512], section[32];
    unsigned long long address;

    snprintf(command, sizeof(command), "%snm -f sysv --defined-only %s", machine->cross, path);
    FILE *from = popen(command, "r");
    while (from != NULL && fgets(line, sizeof(line), from) != NULL)
        if (sscanf(line, "%*[^|]|%llx|%*[^|]|%*[^|]|%*[^|]|%*[^|]|%31s", &address, section) == 2 &&
            strcmp(section, ".text") == 0) {
            range.begin = address < range.begin ? address : range.begin;
            range.end = address > range.end ? address : range.end;
        }
    if (from != NULL)
        pclose(from);
    return range;
}

/* DWARF's names have no ".constprop.0" and the like, which addr2line takes from the symbol table. */
static bool same_function(const char *own, const char *theirs)
{
    size_t length = strlen(own);

    return strncmp(own, theirs, length) == 0 && (theirs[length] == '\0' || theirs[length] == '.');
}

/* Where newlib includes one source in another, addr2line gives the outer one's name and the inner one's line.
 */
static bool same_place(const struct symbol *symbol, const char *theirs)
{
    char *colon = strrchr(theirs, ':');
    const char *own = symbol->file, *slash;
    char file[512];

    snprintf(file, sizeof(file), "%.*s", (int)(colon - theirs), theirs);
    if (own == NULL || (unsigned)strtoul(colon + 1, NULL, 10) != symbol->line)
        return false;
    slash = strrchr(own, '/');
    own = slash != NULL ? slash + 1 : own;
    slash = strrchr(file, '/');
    return strstr(file, "/newlib.obj/") != NULL || strcmp(own, slash != NULL ? slash + 1 : file) == 0;
}

struct counts {
    unsigned addresses, gaps, named, lines, inlined, wrong_names, wrong_lines, wrong_depth;
};

/* What addr2line says of one address: function and place of each level. NEXT: a line of the next address. */
static void compare(struct counts *counts, FILE *from, const struct symbol *symbol, uint64_t address,
                    char next[1024])
{
    char place[1024];
    unsigned level = 0;

    counts->addresses++;
    while (fgets(next, 1024, from) != NULL && strncmp(next, "0x", 2) != 0) {
        next[strcspn(next, "\n")] = '\0';
        if (fgets(place, sizeof(place), from) == NULL)
            break;
        place[strcspn(place, " \n")] = '\0';
        if (symbol == NULL) {
            counts->wrong_depth++;
            continue;
        }
        if (symbol->function == NULL) {
            counts->gaps++; /* between two functions; addr2line names the one before */
        } else if (strcmp(next, "??") != 0) {
            counts->named++;
            if (symbol->function == NULL || !same_function(symbol->function, next)) {
                if (counts->wrong_names++ < 5)
                    printf("# %#llx level %u: %s, addr2line says %s\n", (unsigned long long)address, level,
                           symbol->function ? symbol->function : "nothing", next);
            }
        }
        if (strncmp(place, "??", 2) != 0 && strcmp(strrchr(place, ':'), ":?") != 0) {
            counts->lines++;
            if (!same_place(symbol, place) && counts->wrong_lines++ < 5)
                printf("# %#llx level %u: %s:%u, addr2line says %s\n", (unsigned long long)address, level,
                       symbol->file ? symbol->file : "nothing", symbol->line, place);
        }
        counts->inlined += symbol->is_inlined;
        symbol = symbol->outer;
        level++;
    }
    counts->wrong_depth += symbol != NULL;
}

static void check_program(const struct machine *machine, const char *program)
{
    char path[320], own[300], list[] = "/tmp/symbols_test.XXXXXX", command[1024], line[1024];
    struct counts counts = {0};
    struct program_look look;
    struct range code;
    int file = mkstemp(list);
    FILE *to = fdopen(file, "w");
    static uint64_t probes[PROBES];

    snprintf(own, sizeof(own), "build/%s", machine->name);
    snprintf(path, sizeof(path), "%s/%s", own, program);
    code = code_of(machine, path);
    check(program_look(path, &look) && look.has_lines && code.begin < code.end, "%s: a build-id, lines, code",
          path);
    for (unsigned i = 0; i < PROBES; i++) {
        probes[i] = (code.begin + (uint64_t)((double)(code.end - code.begin) * i / PROBES)) & ~3ull;
        fprintf(to, "%#llx\n", (unsigned long long)probes[i]);
    }
    fclose(to);
    struct symbols *symbols = symbols_open(NULL, own);
    struct executable executable = {.pid = 0, .base = 0, .path = path};
    memcpy(executable.build_id, look.build_id, sizeof(executable.build_id));
    struct program *opened = program_open(path);
    executable.base = program_base(opened);
    program_close(opened);
    snprintf(command, sizeof(command), "%saddr2line -a -f -i -e %s <%s", machine->cross, path, list);
    FILE *from = popen(command, "r");
    if (from != NULL && fgets(line, sizeof(line), from) != NULL)
        for (unsigned i = 0; i < PROBES; i++)
            compare(&counts, from, symbols_find(symbols, &executable, probes[i]), probes[i], line);
    if (from != NULL)
        pclose(from);
    unlink(list);
    printf(
        "# %s: %u addresses, %u gaps, %u names, %u lines, %u inlined; wrong: %u names, %u lines, %u depths\n",
        path, counts.addresses, counts.gaps, counts.named, counts.lines, counts.inlined, counts.wrong_names,
        counts.wrong_lines, counts.wrong_depth);
    check(counts.addresses == PROBES && counts.gaps < PROBES / 20 && counts.named > PROBES / 2 &&
              counts.lines > PROBES / 20,
          "%s: addr2line answers", path);
    check(counts.wrong_names <= counts.named / 200, "%s: the same functions", path);
    check(counts.wrong_lines <= counts.lines / 200, "%s: the same lines", path);
    check(counts.wrong_depth <= counts.addresses / 200, "%s: as many inlined into one another", path);
    check(symbols_find(symbols, &executable, probes[7]) == symbols_find(symbols, &executable, probes[7]),
          "%s: found once", path);
    check(symbols_complaint(symbols, 0) == NULL, "%s: no warning is printed", path);
    symbols_close(symbols);
}

/* A file that was built again since the trace. */
static void check_refusal(const struct machine *machine)
{
    char path[320], own[300], text[SYMBOL_NAME_BYTES];
    struct executable executable = {.pid = 7, .base = 0x400000, .size = 0x10000, .path = "/bin/sh"};
    struct symbols *symbols;

    snprintf(own, sizeof(own), "build/%s", machine->name);
    snprintf(path, sizeof(path), "%s/user/sh", own);
    memset(executable.build_id, 0xab, sizeof(executable.build_id));
    symbols = symbols_open(NULL, own);
    const struct symbol *symbol = symbols_find(symbols, &executable, 0x401234);
    symbols_find(symbols, &executable, 0x401238);
    check(symbol->function == NULL && symbol->offset == 0x1234, "no symbol of another program");
    check(strcmp(symbol_name(symbol, 0x401234, text), "sh+0x1234") == 0,
          "an address without symbol has executable and offset");
    const char *complaint = symbols_complaint(symbols, 0);
    check(complaint != NULL && strstr(complaint, "/sh is not the sh of this trace") != NULL, "and why");
    check(symbols_complaint(symbols, 1) == NULL, "a missing file is reported once");
    symbol = symbols_find(symbols, NULL, 0x5678);
    check(symbol->executable == NULL && strcmp(symbol_name(symbol, 0x5678, text), "0x5678") == 0,
          "nothing is at 0x5678");
    symbols_close(symbols);
}

/* Runs the machine's strip on sh. */
static void strip_sh(const struct machine *machine, const char *option, const char *directory)
{
    char command[1024];

    snprintf(command, sizeof(command), "mkdir -p %s/%s && %sstrip %s -o %s/%s/sh build/%s/user/sh", scratch,
             directory, machine->cross, option, scratch, directory, machine->name);
    if (system(command) != 0)
        printf("# %s failed\n", command);
}

/* A file without symbols is reported, unless another one with that build-id has them. */
static void check_stripped(const struct machine *machine)
{
    struct executable executable = {.pid = 7, .base = 0x400000, .size = 0x100000, .path = "/bin/sh"};
    char path[2 * sizeof(scratch) + 32], file[sizeof(scratch) + 32];
    struct program_look look = {.has_names = true};
    struct symbols *symbols;
    const char *complaint;
    uint64_t address;

    strip_sh(machine, "--strip-all", "all");
    strip_sh(machine, "--strip-debug", "debug");
    snprintf(file, sizeof(file), "%s/debug/sh", scratch);
    struct program *opened = program_open(file);
    address = executable.base + program_address(opened, "main") - program_base(opened);
    program_close(opened);
    snprintf(file, sizeof(file), "%s/all/sh", scratch);
    check(program_look(file, &look) && !look.has_names && !look.has_lines, "%s: a stripped file",
          machine->name);
    memcpy(executable.build_id, look.build_id, sizeof(executable.build_id));
    snprintf(path, sizeof(path), "%s/all", scratch);
    symbols = symbols_open(NULL, path);
    const struct symbol *symbol = symbols_find(symbols, &executable, address);
    symbols_find(symbols, &executable, address + 4);
    complaint = symbols_complaint(symbols, 0);
    check(symbol->function == NULL && complaint != NULL && strstr(complaint, "/sh has no symbols") != NULL &&
              symbols_complaint(symbols, 1) == NULL,
          "%s: a file without symbols is reported once", machine->name);
    symbols_close(symbols);
    snprintf(path, sizeof(path), "%s/all:%s/debug", scratch, scratch);
    symbols = symbols_open(NULL, path);
    symbol = symbols_find(symbols, &executable, address);
    check(symbol->function != NULL && strcmp(symbol->function, "main") == 0 &&
              symbols_complaint(symbols, 0) == NULL,
          "%s: the one that has symbols is taken", machine->name);
    symbols_close(symbols);
}

static void check_bad_files(void)
{
    struct program_look look;
    char name[] = "/tmp/symbols_test.XXXXXX";
    FILE *file = fdopen(mkstemp(name), "w");

    fputs("\177ELF, or so it says", file);
    fclose(file);
    check(!program_look(name, &look) && program_open(name) == NULL, "a file that only begins like a program");
    unlink(name);
    check(!program_look("/nowhere", &look) && program_open("/nowhere") == NULL, "a file that is not there");
}

/* A machine that is built has its kernel there, and the names of its tools in its port. */
static bool find_machine(const char *name, struct machine *machine)
{
    char path[PATH_MAX], line[256];
    FILE *flags;

    snprintf(machine->name, sizeof(machine->name), "%s", name);
    machine->cross[0] = '\0';
    snprintf(path, sizeof(path), "build/%s/kernel/tarn.elf", name);
    if (access(path, R_OK) != 0)
        return false;
    snprintf(path, sizeof(path), "arch/%s/flags.mk", name);
    flags = fopen(path, "r");
    while (flags != NULL && fgets(line, sizeof(line), flags) != NULL)
        sscanf(line, "CROSS := %63s", machine->cross);
    if (flags != NULL)
        fclose(flags);
    return flags != NULL;
}

int main(void)
{
    make_scratch();
    struct machine machine;
    struct dirent *entry;
    unsigned checked = 0;
    DIR *build = opendir("build");

    while (build != NULL && (entry = readdir(build)) != NULL) {
        if (!find_machine(entry->d_name, &machine))
            continue;
        checked++;
        for (size_t p = 0; p < sizeof(programs) / sizeof(programs[0]); p++)
            check_program(&machine, programs[p]);
        check_refusal(&machine);
        check_stripped(&machine);
    }
    if (build != NULL)
        closedir(build);
    check(checked > 0, "a machine has been built");
    check_bad_files();
    return finish_tests();
}
