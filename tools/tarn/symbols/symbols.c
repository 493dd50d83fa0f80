/*
 * symbols.c - finds files by build-id, and caches addresses; see symbols.h.
 *
 * When the first executable is needed, the build-id of every program in the directories and their
 * subdirectories is read: a few hundred small reads.
 */
#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tools/tarn/symbols/program.h>
#include <unistd.h>

#define FILES_MAX      16384u
#define COMPLAINTS_MAX 64u

struct candidate {
    char *path;
    struct program_look look;
    struct program *program; /* opened once */
    bool is_bad;             /* it could not be opened */
};

/* An executable at an address, in any process. `executable` is a copy, because a model's executables
 * end with the model. */
struct place {
    struct executable executable;
    struct candidate *file; /* NULL: none */
};

struct symbols {
    char **directories;
    size_t directory_count;
    bool is_searched;
    struct candidate **files;
    size_t file_count, file_capacity;
    struct place **places;
    size_t place_count, place_capacity;
    struct map known; /* of const struct symbol *, by place and address */
    char *complaints[COMPLAINTS_MAX];
    unsigned complaint_count;
    struct arena arena;
};

/* ---- directories ----------------------------------------------------------------------------------- */

static void add_directory(struct symbols *symbols, const char *text, size_t length)
{
    if (length == 0)
        return;
    symbols->directories =
        alloc_more(symbols->directories, symbols->directory_count + 1, sizeof(symbols->directories[0]));
    symbols->directories[symbols->directory_count++] = arena_string(&symbols->arena, text, length);
}

static void add_path(struct symbols *symbols, const char *path)
{
    while (path != NULL && *path != '\0') {
        size_t length = strcspn(path, ":");
        add_directory(symbols, path, length);
        path += length + (path[length] == ':');
    }
}

/* Adds the build's outputs: this program is build/host/tarn, and next to host are the architectures. */
static void add_build(struct symbols *symbols)
{
    char path[PATH_MAX];
    const char *slash = program_path(path, sizeof(path), 1) ? strrchr(path, '/') : NULL;
    struct dirent **names;
    int count;
    if (slash == NULL || strcmp(slash, "/host") != 0)
        return; /* installed elsewhere */
    program_path(path, sizeof(path), 2);
    count = scandir(path, &names, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        char kernel[PATH_MAX + sizeof("/kernel/tarn.elf") + NAME_MAX];
        int used = snprintf(kernel, sizeof(kernel), "%s/%s", path, names[i]->d_name);
        strcpy(kernel + used, "/kernel/tarn.elf");
        if (access(kernel, R_OK) == 0)
            add_directory(symbols, kernel, (size_t)used);
        free(names[i]);
    }
    if (count >= 0)
        free(names);
}

struct symbols *symbols_open(const char *directory, const char *path)
{
    struct symbols *symbols = alloc_zero(1, sizeof(*symbols));
    char own[PATH_MAX];
    map_open(&symbols->known, sizeof(const struct symbol *));
    symbols->known.limit = SIZE_MAX;
    add_path(symbols, path);
    if (directory != NULL && (size_t)snprintf(own, sizeof(own), "%s/symbols", directory) < sizeof(own))
        add_directory(symbols, own, strlen(own));
    add_build(symbols);
    return symbols;
}

void symbols_close(struct symbols *symbols)
{
    if (symbols == NULL)
        return;
    for (size_t i = 0; i < symbols->file_count; i++)
        if (symbols->files[i]->program != NULL)
            program_close(symbols->files[i]->program);
    free(symbols->files);
    free(symbols->directories);
    free(symbols->places);
    map_close(&symbols->known);
    arena_free(&symbols->arena);
    free(symbols);
}

/* ---- files ----------------------------------------------------------------------------------------- */

static void add_file(struct symbols *symbols, const char *path)
{
    struct program_look look;
    struct candidate *file;
    if (symbols->file_count == FILES_MAX || !program_look(path, &look))
        return;
    symbols->files =
        array_grow(symbols->files, symbols->file_count, &symbols->file_capacity, sizeof(symbols->files[0]));
    file = arena_alloc(&symbols->arena, sizeof(*file));
    file->path = arena_string(&symbols->arena, path, strlen(path));
    file->look = look;
    symbols->files[symbols->file_count++] = file;
}

static void search(struct symbols *symbols, const char *directory, unsigned depth)
{
    struct dirent **names;
    int count = scandir(directory, &names, NULL, alphasort);
    struct stat status;
    char path[PATH_MAX];
    for (int i = 0; i < count; i++) {
        bool fits = (size_t)snprintf(path, sizeof(path), "%s/%s", directory, names[i]->d_name) < sizeof(path);
        if (fits && names[i]->d_name[0] != '.' && stat(path, &status) == 0) {
            if (S_ISREG(status.st_mode))
                add_file(symbols, path);
            else if (S_ISDIR(status.st_mode) && depth > 0)
                search(symbols, path, depth - 1);
        }
        free(names[i]);
    }
    if (count >= 0)
        free(names);
}

#define ID_TEXT_BYTES (2 * BUILD_ID_BYTES + 1)

static void format_id(const uint8_t build_id[BUILD_ID_BYTES], char text[ID_TEXT_BYTES])
{
    for (unsigned i = 0; i < BUILD_ID_BYTES; i++)
        snprintf(text + 2 * i, 3, "%02x", build_id[i]);
}

/* Searches where distributions keep debugging files. */
static void search_debug(struct symbols *symbols, const uint8_t build_id[BUILD_ID_BYTES])
{
    char folder[64];
    snprintf(folder, sizeof(folder), "/usr/lib/debug/.build-id/%02x", build_id[0]);
    search(symbols, folder, 0);
}

static void complain_of(struct symbols *symbols, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void complain_of(struct symbols *symbols, const char *format, ...)
{
    char text[2 * PATH_MAX];
    va_list args;
    if (symbols->complaint_count == COMPLAINTS_MAX)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    symbols->complaints[symbols->complaint_count++] = arena_string(&symbols->arena, text, strlen(text));
}

const char *symbols_complaint(const struct symbols *symbols, unsigned number)
{
    return number < symbols->complaint_count ? symbols->complaints[number] : NULL;
}

/* In the build directory, tests are named test_NAME. */
static bool has_name(const struct candidate *file, const char *name)
{
    const char *own = strrchr(file->path, '/') + 1;
    return strcmp(own, name) == 0 || (strncmp(own, "test_", 5) == 0 && strcmp(own + 5, name) == 0);
}

/* How much a file tells about addresses. */
static unsigned worth_of(const struct candidate *file)
{
    return 2u * file->look.has_lines + file->look.has_names;
}

static struct candidate *find_by_id(struct symbols *symbols, const uint8_t build_id[BUILD_ID_BYTES])
{
    struct candidate *found = NULL;
    for (size_t i = 0; i < symbols->file_count; i++) {
        struct candidate *file = symbols->files[i];
        if (memcmp(file->look.build_id, build_id, BUILD_ID_BYTES) == 0 &&
            (found == NULL || worth_of(file) > worth_of(found)))
            found = file;
    }
    return found;
}

static void complain_of_executable(struct symbols *symbols, const struct executable *executable)
{
    const char *slash = strrchr(executable->path, '/');
    char id[ID_TEXT_BYTES];
    format_id(executable->build_id, id);
    for (size_t i = 0; i < symbols->file_count; i++)
        if (has_name(symbols->files[i], slash != NULL ? slash + 1 : executable->path)) {
            complain_of(symbols,
                        "%s is not the %s of this trace, whose build-id is %s...: it was rebuilt since",
                        symbols->files[i]->path, executable_name(executable), id);
            return;
        }
    complain_of(symbols,
                "no file with build-id %s... of %s: its addresses are shown as numbers (see --symbols)", id,
                executable_name(executable));
}

static bool is_same_program(const struct executable *left, const struct executable *right)
{
    return memcmp(left->build_id, right->build_id, BUILD_ID_BYTES) == 0 &&
           strcmp(left->path, right->path) == 0;
}

static struct candidate *find_file(struct symbols *symbols, const struct executable *executable)
{
    struct candidate *found;
    for (size_t i = 0; i < symbols->place_count; i++) /* the same executable, mapped elsewhere */
        if (is_same_program(&symbols->places[i]->executable, executable))
            return symbols->places[i]->file;
    for (size_t i = 0; i < symbols->directory_count && !symbols->is_searched; i++)
        search(symbols, symbols->directories[i], 1);
    symbols->is_searched = true;
    found = find_by_id(symbols, executable->build_id);
    if (found == NULL || !found->look.has_lines) {
        search_debug(symbols, executable->build_id);
        found = find_by_id(symbols, executable->build_id);
    }
    if (found == NULL)
        complain_of_executable(symbols, executable);
    else if (!found->look.has_names)
        complain_of(symbols, "%s has no symbols: addresses of %s are shown as numbers (see --symbols)",
                    found->path, executable_name(executable));
    return found;
}

static const struct place *place_of(struct symbols *symbols, const struct executable *executable)
{
    struct place *place;
    for (size_t i = 0; i < symbols->place_count; i++) {
        place = symbols->places[i];
        if (place->executable.base == executable->base &&
            (place->executable.pid == 0) == (executable->pid == 0) &&
            is_same_program(&place->executable, executable))
            return place;
    }
    symbols->places = array_grow(symbols->places, symbols->place_count, &symbols->place_capacity,
                                 sizeof(symbols->places[0]));
    place = arena_alloc(&symbols->arena, sizeof(*place));
    place->executable = *executable;
    place->executable.path = arena_string(&symbols->arena, executable->path, strlen(executable->path));
    place->executable.next = NULL;
    place->file = find_file(symbols, &place->executable);
    return symbols->places[symbols->place_count++] = place;
}

const char *symbols_file(struct symbols *symbols, const struct executable *executable)
{
    struct candidate *file = place_of(symbols, executable)->file;
    return file != NULL ? file->path : NULL;
}

static struct program *open_program(struct symbols *symbols, struct candidate *file)
{
    if (file->program == NULL && !file->is_bad) {
        file->program = program_open(file->path);
        file->is_bad = file->program == NULL;
        if (file->is_bad)
            complain_of(symbols, "cannot read %s", file->path);
    }
    return file->program;
}

/* ---- addresses ------------------------------------------------------------------------------------- */

static struct symbol *look_up(struct symbols *symbols, const struct place *place, uint64_t address)
{
    const struct executable *executable = place != NULL ? &place->executable : NULL;
    struct candidate *file = place != NULL ? place->file : NULL;
    struct program *program = file != NULL ? open_program(symbols, file) : NULL;
    struct symbol *symbol;
    if (program != NULL) {
        symbol = program_find(program, address - executable->base + program_base(program), &symbols->arena);
    } else {
        symbol = arena_alloc(&symbols->arena, sizeof(*symbol));
        symbol->offset = executable != NULL ? address - executable->base : address;
    }
    for (struct symbol *each = symbol; each != NULL; each = (struct symbol *)each->outer)
        each->executable = executable;
    return symbol;
}

const struct symbol *symbols_find(struct symbols *symbols, const struct executable *executable,
                                  uint64_t address)
{
    const struct place *place = executable != NULL ? place_of(symbols, executable) : NULL;
    const struct symbol **known = map_at(&symbols->known, (uintptr_t)place, address, 0);
    if (*known == NULL)
        *known = look_up(symbols, place, address);
    return *known;
}

/* The link register keeps the address to which the function's last call returned, if it made one. */
bool symbols_is_caller(struct symbols *symbols, const struct executable *executable, uint64_t address,
                       const struct executable *caller_executable, uint64_t caller)
{
    const struct symbol *symbol = symbol_outermost(symbols_find(symbols, executable, address));
    const struct symbol *other = symbol_outermost(symbols_find(symbols, caller_executable, caller - 1));
    struct candidate *file = executable != NULL ? place_of(symbols, executable)->file : NULL;
    struct program *program = file != NULL ? open_program(symbols, file) : NULL;
    enum return_place place = RETURN_UNKNOWN;
    if (symbol->function == NULL || other->function == NULL)
        return false;
    if (program != NULL)
        place = program_return_place(program, address - executable->base + program_base(program));
    if (place == RETURN_ON_TOP || place == RETURN_DEEPER)
        return place == RETURN_ON_TOP;
    return symbol->executable != other->executable || strcmp(symbol->function, other->function) != 0;
}

/* ---- names ----------------------------------------------------------------------------------------- */

const char *executable_name(const struct executable *executable)
{
    const char *slash;
    if (executable == NULL)
        return "(no executable)";
    if (executable->pid == 0)
        return "kernel";
    slash = strrchr(executable->path, '/');
    return slash != NULL ? slash + 1 : executable->path;
}

const char *symbol_name(const struct symbol *symbol, uint64_t address, char text[SYMBOL_NAME_BYTES])
{
    if (symbol->function != NULL)
        return symbol->function;
    if (symbol->executable != NULL)
        snprintf(text, SYMBOL_NAME_BYTES, "%.200s+0x%" PRIx64, executable_name(symbol->executable),
                 symbol->offset);
    else
        snprintf(text, SYMBOL_NAME_BYTES, "0x%" PRIx64, address);
    return text;
}
