/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * syscallgen.c - generates everything that follows from the lists of system calls and errors
 * (kernel/gen/README.md).
 *
 *     syscallgen SYSCALLS.def ERRORS.def OUTPUT_DIRECTORY
 *
 * The comments at the top of the lists give their grammar. An error in them ends the build with file, line
 * and reason.
 */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define CALLS_MAX     128
#define ERRORS_MAX    128
#define ARGUMENTS_MAX 6
#define TEXT_MAX      256

struct argument {
    char type[64];
    char name[32];
};

struct call {
    char name[48];
    char text[TEXT_MAX];
    struct argument argument[ARGUMENTS_MAX];
    unsigned argument_count;
    bool is_ipc;
};

struct error {
    char name[32];
    char posix[32]; /* its errno: a name of <errno.h>, or 0 */
    char text[TEXT_MAX];
};

static struct call calls[CALLS_MAX];
static unsigned call_count;
static struct error errors[ERRORS_MAX];
static unsigned error_count;

/* ---- Reading ---- */

static const char *input_path;
static unsigned input_line;

static void __attribute__((noreturn, format(printf, 1, 2))) fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "%s:%u: ", input_path, input_line);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(1);
}

static char *skip_space(char *p)
{
    while (isspace((unsigned char)*p))
        p++;
    return p;
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static char *read_number(char *p, unsigned expected)
{
    char *end;
    unsigned long number = strtoul(p, &end, 10);
    if (end == p || number != expected)
        fail("number %u expected at `%s` (numbers are dense and ascend)", expected, p);
    return skip_space(end);
}

static char *read_word(char *p, char *out, size_t size)
{
    size_t n = 0;
    while (is_word(p[n]))
        n++;
    if (n == 0 || n >= size)
        fail("a name of 1 to %zu characters expected at `%s`", size - 1, p);
    memcpy(out, p, n);
    out[n] = '\0';
    return skip_space(p + n);
}

/* The quoted text ends the line. */
static void read_text(char *p, char out[TEXT_MAX])
{
    char *end = *p == '"' ? strchr(p + 1, '"') : NULL;
    if (!end || *skip_space(end + 1))
        fail("a quoted text expected to the end of the line at `%s`", p);
    if (end - p - 1 >= TEXT_MAX)
        fail("the text is longer than %d characters", TEXT_MAX - 1);
    memcpy(out, p + 1, (size_t)(end - p - 1));
    out[end - p - 1] = '\0';
}

/* In "const void *buffer" the name is the last word, and the rest is the type. */
static void read_argument(char *start, char *end, struct argument *argument)
{
    while (end > start && isspace((unsigned char)end[-1]))
        end--;
    char *name = end;
    while (name > start && is_word(name[-1]))
        name--;
    char *type_end = name;
    while (type_end > start && isspace((unsigned char)type_end[-1]))
        type_end--;
    size_t type_length = (size_t)(type_end - start), name_length = (size_t)(end - name);
    if (!type_length || !name_length || type_length >= sizeof(argument->type) ||
        name_length >= sizeof(argument->name))
        fail("`TYPE NAME` expected as an argument");
    memcpy(argument->type, start, type_length);
    memcpy(argument->name, name, name_length);
}

static char *read_arguments(char *p, struct call *call)
{
    if (*p != '(')
        fail("`(` expected at `%s`", p);
    char *close = strchr(p, ')');
    if (!close)
        fail("`)` is missing");
    p = skip_space(p + 1);
    while (p < close) {
        char *end = memchr(p, ',', (size_t)(close - p));
        if (!end)
            end = close;
        if (call->argument_count == ARGUMENTS_MAX)
            fail("more than %d arguments", ARGUMENTS_MAX);
        read_argument(p, end, &call->argument[call->argument_count++]);
        p = skip_space(end + 1);
    }
    return skip_space(close + 1);
}

static void read_call(char *p)
{
    if (call_count == CALLS_MAX)
        fail("more than %d system calls", CALLS_MAX);
    struct call *call = &calls[call_count];
    p = read_number(p, call_count++);
    p = read_word(p, call->name, sizeof(call->name));
    p = read_arguments(p, call);
    if (!strncmp(p, "ipc", 3) && !is_word(p[3])) {
        call->is_ipc = true;
        p = skip_space(p + 3);
    }
    read_text(p, call->text);
}

static void read_error(char *p)
{
    if (error_count == ERRORS_MAX)
        fail("more than %d errors", ERRORS_MAX);
    struct error *error = &errors[error_count];
    p = read_word(p, error->name, sizeof(error->name));
    p = read_number(p, error_count++);
    p = read_word(p, error->posix, sizeof(error->posix));
    read_text(p, error->text);
}

static void read_list(const char *path, void (*read_line)(char *))
{
    input_path = path;
    input_line = 0;
    FILE *file = fopen(path, "r");
    if (!file)
        fail("%s", strerror(errno));
    char line[1024];
    while (fgets(line, sizeof(line), file)) {
        input_line++;
        if (!strchr(line, '\n') && !feof(file))
            fail("a line longer than %zu characters", sizeof(line) - 2);
        char *p = skip_space(line);
        if (*p && *p != '#')
            read_line(p);
    }
    fclose(file);
}

/* ---- Writing ---- */

static const char *output_directory;

static void make_directories(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(path, 0777) && errno != EEXIST) {
            fprintf(stderr, "%s: %s\n", path, strerror(errno));
            exit(1);
        }
        *slash = '/';
    }
}

static FILE *open_output(const char *name, const char *comment, const char *guard)
{
    char path[1024];
    snprintf(path, sizeof(path), "%s/%s", output_directory, name);
    make_directories(path);
    FILE *file = fopen(path, "w");
    if (!file) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        exit(1);
    }
    if (comment)
        fprintf(file,
                "/* Made by kernel/gen/syscallgen.c from kernel/syscalls.def and kernel/errors.def. */\n"
                "/* %s */\n",
                comment);
    if (guard)
        fprintf(file, "#ifndef %s\n#define %s\n", guard, guard);
    return file;
}

static void close_output(FILE *file, const char *end)
{
    fputs(end, file);
    if (ferror(file) | fclose(file)) {
        fprintf(stderr, "syscallgen: cannot write below %s\n", output_directory);
        exit(1);
    }
}

static bool is_pointer(const struct argument *argument)
{
    return argument->type[strlen(argument->type) - 1] == '*';
}

static bool is_narrow(const struct argument *argument)
{
    return !is_pointer(argument) && strcmp(argument->type, "uint64_t") && strcmp(argument->type, "int64_t");
}

static bool has_narrow(const struct call *call)
{
    for (unsigned i = 0; i < call->argument_count; i++)
        if (is_narrow(&call->argument[i]))
            return true;
    return false;
}

static void write_prototype(FILE *file, const struct call *call)
{
    fprintf(file, "int64_t sys_%s(", call->name);
    for (unsigned i = 0; i < call->argument_count; i++)
        fprintf(file, "%s%s%s%s", i ? ", " : "", call->argument[i].type,
                is_pointer(&call->argument[i]) ? "" : " ", call->argument[i].name);
    fputs(call->argument_count ? ")" : "void)", file);
}

/* User code passes whole registers, and C may rely on the upper half of a narrow argument. So calls with
 * narrow arguments are entered through a function that truncates them. Handlers of messages, where every
 * instruction counts, take whole registers. */
static void write_register_prototype(FILE *file, const char *prefix, const struct call *call)
{
    fprintf(file, "int64_t %s_%s(", prefix, call->name);
    for (unsigned i = 0; i < call->argument_count; i++)
        fprintf(file, "%suint64_t %s", i ? ", " : "", call->argument[i].name);
    fputs(call->argument_count ? ")" : "void)", file);
}

static void write_errors(void)
{
    FILE *file = open_output("include/tarn/error.h", "Errors of system calls and IPC.", "TARN_ERROR_H");
    fputs("\n#ifdef __ASSEMBLER__\n", file);
    for (unsigned i = 0; i < error_count; i++)
        fprintf(file, "#define %s %u\n", errors[i].name, i);
    fputs("#else\n#include <stdint.h>\n\nenum tarn_error {\n", file);
    for (unsigned i = 0; i < error_count; i++)
        fprintf(file, "    %s = %u, /* %s */\n", errors[i].name, i, errors[i].text);
    fprintf(file, "};\n#define TARN_ERROR_COUNT %u\n\n", error_count);
    fputs("/* What a result means: the text of -E_*, \"done\" for a result >= 0. */\n"
          "static inline const char *tarn_error_text(int64_t result)\n{\n"
          "    static const char *const text[TARN_ERROR_COUNT] = {\n",
          file);
    for (unsigned i = 0; i < error_count; i++)
        fprintf(file, "        \"%s\",\n", errors[i].text);
    fputs("    };\n"
          "    if (result >= 0)\n        return text[0];\n"
          "    return result > -TARN_ERROR_COUNT ? text[-result] : \"unknown error\";\n}\n#endif\n",
          file);
    close_output(file, "\n#endif\n");
}

static void write_errno(void)
{
    FILE *file = open_output("include/tarn/errno_of.h", "The errno of each error.", "TARN_ERRNO_OF_H");
    fputs("\n#include <errno.h>\n#include <stdint.h>\n#include <tarn/error.h>\n\n"
          "/* The negative errno of -E_*; results >= 0 as they are. */\n"
          "static inline int64_t errno_of(int64_t result)\n{\n"
          "    static const int value[TARN_ERROR_COUNT] = {\n",
          file);
    for (unsigned i = 0; i < error_count; i++)
        fprintf(file, "        [%s] = %s,\n", errors[i].name, errors[i].posix);
    fputs("    };\n"
          "    if (result >= 0)\n        return result;\n"
          "    return result > -TARN_ERROR_COUNT ? -value[-result] : -EIO;\n}\n",
          file);
    close_output(file, "\n#endif\n");
}

static void write_stub(FILE *file, const struct call *call, unsigned number)
{
    if (call->is_ipc) {
        fprintf(file, "\n/* %u %s: %s. Its stubs are in <tarn/ipc.h>. */\n", number, call->name, call->text);
        return;
    }
    fprintf(file, "\n/* %s */\nstatic inline ", call->text);
    write_prototype(file, call);
    fprintf(file, "\n{\n    return arch_syscall(%u", number);
    for (unsigned i = 0; i < call->argument_count; i++)
        fprintf(file, ", %s%s", is_pointer(&call->argument[i]) ? "(uint64_t)(uintptr_t)" : "(uint64_t)",
                call->argument[i].name);
    for (unsigned i = call->argument_count; i < ARGUMENTS_MAX; i++)
        fputs(", any_value()", file);
    fputs(");\n}\n", file);
}

static void write_stubs(void)
{
    FILE *file =
        open_output("include/tarn/syscall.h", "System calls: numbers and user stubs.", "TARN_SYSCALL_H");
    fputc('\n', file);
    for (unsigned i = 0; i < call_count; i++)
        fprintf(file, "#define SYS_%s %u\n", calls[i].name, i);
    fprintf(file, "#define SYS_COUNT %u\n", call_count);
    fputs("\n#if !defined(__ASSEMBLER__) && !defined(TARN_KERNEL)\n"
          "#include <arch/syscall_stub.h>\n#include <stdint.h>\n#include <tarn/abi.h>\n"
          "#include <tarn/any_value.h>\n#include <tarn/error.h>\n",
          file);
    for (unsigned i = 0; i < call_count; i++)
        write_stub(file, &calls[i], i);
    close_output(file, "\n#endif\n\n#endif\n");
}

static void write_kernel_prototypes(void)
{
    FILE *file = open_output("include/tarn/syscall_kernel.h",
                             "What the kernel implements, one function a call.", "TARN_SYSCALL_KERNEL_H");
    fputs(
        "\n#include <stdint.h>\n#include <tarn/abi.h>\n#include <tarn/error.h>\n#include <tarn/syscall.h>\n\n"
        "/* Indexed by number; each entry takes the caller's argument registers as they were. */\n"
        "extern void (*const syscall_table[SYS_COUNT])(void);\n\n",
        file);
    for (unsigned i = 0; i < call_count; i++) {
        if (calls[i].is_ipc)
            write_register_prototype(file, "sys", &calls[i]);
        else
            write_prototype(file, &calls[i]);
        fputs(";\n", file);
    }
    close_output(file, "\n#endif\n");
}

static void write_narrowing(FILE *file, const struct call *call)
{
    fputs("\nstatic ", file);
    write_register_prototype(file, "enter", call);
    fprintf(file, "\n{\n    return sys_%s(", call->name);
    for (unsigned i = 0; i < call->argument_count; i++)
        fprintf(file, "%s(%s)%s", i ? ", " : "", call->argument[i].type, call->argument[i].name);
    fputs(");\n}\n", file);
}

static void write_table(void)
{
    FILE *file =
        open_output("kernel/syscall_table.c", "The table that the port's system call entry uses.", NULL);
    fputs("#include <tarn/syscall_kernel.h>\n", file);
    for (unsigned i = 0; i < call_count; i++)
        if (!calls[i].is_ipc && has_narrow(&calls[i]))
            write_narrowing(file, &calls[i]);
    fputs("\nvoid (*const syscall_table[SYS_COUNT])(void) = {\n", file);
    for (unsigned i = 0; i < call_count; i++)
        fprintf(file, "    [SYS_%s] = (void (*)(void))%s_%s,\n", calls[i].name,
                !calls[i].is_ipc && has_narrow(&calls[i]) ? "enter" : "sys", calls[i].name);
    close_output(file, "};\n");
}

static void write_enumeration(void)
{
    FILE *file = open_output("syscalls.enum", NULL, NULL);
    for (unsigned i = 0; i < call_count; i++)
        fprintf(file, "%s = %u\n", calls[i].name, i);
    close_output(file, "");
}

static void write_reference(void)
{
    FILE *file = open_output("docs/syscalls.md", NULL, NULL);
    fputs("# System calls\n\nMade from `kernel/syscalls.def`. A call returns a number >= 0 or a negative "
          "error.\n\n"
          "| number | call | what it does; result |\n|---|---|---|\n",
          file);
    for (unsigned i = 0; i < call_count; i++) {
        fprintf(file, "| %u | `%s(", i, calls[i].name);
        for (unsigned a = 0; a < calls[i].argument_count; a++)
            fprintf(file, "%s%s%s%s", a ? ", " : "", calls[i].argument[a].type,
                    is_pointer(&calls[i].argument[a]) ? "" : " ", calls[i].argument[a].name);
        fprintf(file, ")` | %s%s |\n", calls[i].text, calls[i].is_ipc ? " (message in registers)" : "");
    }
    fputs("\n## Errors\n\n| number | name | errno | meaning |\n|---|---|---|---|\n", file);
    for (unsigned i = 0; i < error_count; i++)
        fprintf(file, "| %u | `%s` | `%s` | %s |\n", i, errors[i].name, errors[i].posix, errors[i].text);
    close_output(file, "");
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fputs("usage: syscallgen SYSCALLS.def ERRORS.def OUTPUT_DIRECTORY\n", stderr);
        return 2;
    }
    read_list(argv[1], read_call);
    read_list(argv[2], read_error);
    output_directory = argv[3];
    write_errors();
    write_errno();
    write_stubs();
    write_kernel_prototypes();
    write_table();
    write_enumeration();
    write_reference();
    return 0;
}
