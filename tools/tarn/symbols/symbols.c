/*
 * symbols.c - finds files by build-id, and caches addresses; see symbols.h.
 *
 * When the first executable is needed, the build-id of every program in the directories and their
 * subdirectories is read: a few hundred small reads.
 */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <tools/tarn/symbols/program.h>
#include <unistd.h>

#define COMPLAINTS_MAX 64u

struct candidate {
    char *path;
    struct program_look look;
    struct program *program; /* NULL: not opened yet, or it cannot be read */
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
    struct map files;  /* struct candidate by build-id: the one that tells most */
    struct map places; /* struct place by address, whether it is the kernel, and hash of build-id and path */
    struct map known;  /* of const struct symbol *, by place and address */
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
    map_open(&symbols->files, sizeof(struct candidate));
    map_open(&symbols->places, sizeof(struct place));
    map_open(&symbols->known, sizeof(const struct symbol *));
    symbols->files.limit = symbols->places.limit = symbols->known.limit = SIZE_MAX;
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
    for (size_t i = 0; i < symbols->files.count; i++) {
        struct candidate *file = map_value(&symbols->files, i);
        if (file->program != NULL)
            program_close(file->program);
    }
    free(symbols->directories);
    map_close(&symbols->files);
    map_close(&symbols->places);
    map_close(&symbols->known);
    arena_free(&symbols->arena);
    free(symbols);
}

/* ---- files ----------------------------------------------------------------------------------------- */

/* How much a file tells about addresses. */
static unsigned worth_of(const struct program_look *look)
{
    return 2u * look->has_lines + look->has_names;
}

static void add_file(struct symbols *symbols, const char *path)
{
    struct program_look look;
    struct candidate *file;
    uint64_t id[2];
    if (!program_look(path, &look))
        return;
    memcpy(id, look.build_id, sizeof(id));
    file = map_at(&symbols->files, id[0], id[1], 0);
    if (file->path != NULL && worth_of(&look) <= worth_of(&file->look))
        return;
    file->path = arena_string(&symbols->arena, path, strlen(path));
    file->look = look;
}

static struct candidate *find_by_id(const struct symbols *symbols, const uint8_t build_id[BUILD_ID_BYTES])
{
    uint64_t id[2];
    memcpy(id, build_id, sizeof(id));
    return map_find(&symbols->files, id[0], id[1], 0);
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

__attribute__((format(printf, 2, 3))) static void complain_of(struct symbols *symbols, const char *format,
                                                              ...)
{
    char text[2 * PATH_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    for (unsigned i = 0; i < symbols->complaint_count; i++)
        if (strcmp(symbols->complaints[i], text) == 0)
            return; /* the same executable, mapped elsewhere */
    if (symbols->complaint_count == COMPLAINTS_MAX)
        return;
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

static void complain_of_executable(struct symbols *symbols, const struct executable *executable)
{
    const char *slash = strrchr(executable->path, '/');
    char id[2 * BUILD_ID_BYTES + 1];
    for (unsigned i = 0; i < BUILD_ID_BYTES; i++)
        snprintf(id + 2 * i, 3, "%02x", executable->build_id[i]);
    for (size_t i = 0; i < symbols->files.count; i++) {
        const struct candidate *file = map_value(&symbols->files, i);
        if (has_name(file, slash != NULL ? slash + 1 : executable->path)) {
            complain_of(symbols,
                        "%s is not the %s of this trace, whose build-id is %s...: it was rebuilt since",
                        file->path, executable_name(executable), id);
            return;
        }
    }
    complain_of(symbols,
                "no file with build-id %s... of %s: its addresses are shown as numbers (see --symbols)", id,
                executable_name(executable));
}

static struct candidate *find_file(struct symbols *symbols, const struct executable *executable)
{
    struct candidate *found;
    char debug[64];
    for (size_t i = 0; i < symbols->directory_count && !symbols->is_searched; i++)
        search(symbols, symbols->directories[i], 1);
    symbols->is_searched = true;
    found = find_by_id(symbols, executable->build_id);
    if (found == NULL || !found->look.has_lines) {
        snprintf(debug, sizeof(debug), "/usr/lib/debug/.build-id/%02x", executable->build_id[0]);
        search(symbols, debug, 0); /* where distributions keep debugging files */
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
    uint64_t program = hash_bytes(HASH_SEED, (const char *)executable->build_id, BUILD_ID_BYTES);
    struct place *place = map_at(&symbols->places, executable->base, executable->pid == 0,
                                 hash_text(program, executable->path));
    if (place->executable.path != NULL)
        return place;
    place->executable = *executable;
    place->executable.path = arena_string(&symbols->arena, executable->path, strlen(executable->path));
    place->executable.next = NULL;
    place->file = find_file(symbols, &place->executable);
    return place;
}

const char *symbols_file(struct symbols *symbols, const struct executable *executable)
{
    struct candidate *file = place_of(symbols, executable)->file;
    return file != NULL ? file->path : NULL;
}

static struct program *open_program(struct symbols *symbols, struct candidate *file)
{
    if (file->program == NULL && (file->program = program_open(file->path)) == NULL)
        complain_of(symbols, "cannot read %s", file->path);
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
        symbol = program_find(program, address - executable->base, &symbols->arena);
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
        place = program_return_place(program, address - executable->base);
    if (place == RETURN_ON_TOP || place == RETURN_DEEPER)
        return place == RETURN_ON_TOP;
    return symbol->executable != other->executable || strcmp(symbol->function, other->function) != 0;
}

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
