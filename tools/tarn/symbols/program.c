/*
 * program.c - one executable, through libelf and libdw; see program.h.
 *
 * Functions come from the symbol table, which exists without debugging information and includes assembly.
 * Lines and inlined functions come from DWARF. On powerpc64 a symbol is a function's global entry, a few
 * instructions before the local one; both belong to it.
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <gelf.h>
#include <sys/stat.h>
#include <tools/tarn/symbols/program.h>
#include <unistd.h>

#define INLINED_MAX 64

struct function {
    uint64_t begin, end;
    const char *name; /* in the file's string table */
};

struct program {
    int file;
    Elf *elf;
    Dwarf *dwarf; /* NULL: none */
    uint64_t base;
    struct function *functions; /* sorted; not overlapping */
    size_t count;
};

static Elf *open_elf(const char *path, int *file)
{
    struct stat status;
    GElf_Ehdr header;
    Elf *elf;
    elf_version(EV_CURRENT);
    /* a FIFO must not block here: it is not a program */
    *file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (*file < 0)
        return NULL;
    elf = fstat(*file, &status) == 0 && S_ISREG(status.st_mode) ? elf_begin(*file, ELF_C_READ_MMAP, NULL)
                                                                : NULL;
    if (elf != NULL && elf_kind(elf) == ELF_K_ELF && gelf_getehdr(elf, &header) != NULL &&
        (header.e_type == ET_EXEC || header.e_type == ET_DYN))
        return elf;
    elf_end(elf);
    close(*file);
    return NULL;
}

/* Returns the next section after SECTION (NULL: the first) of that type, or called NAME (if not NULL). */
static Elf_Scn *next_section(Elf *elf, Elf_Scn *section, uint32_t type, const char *name, GElf_Shdr *header)
{
    size_t names;
    if (elf_getshdrstrndx(elf, &names))
        return NULL;
    while ((section = elf_nextscn(elf, section)) != NULL) {
        if (gelf_getshdr(section, header) == NULL)
            continue;
        const char *text = elf_strptr(elf, names, header->sh_name);
        if (name != NULL ? text != NULL && strcmp(text, name) == 0 : header->sh_type == type)
            return section;
    }
    return NULL;
}

bool program_look(const char *path, struct program_look *look)
{
    GElf_Shdr header;
    int file;
    Elf *elf = open_elf(path, &file);
    const void *id;
    bool ok;
    if (elf == NULL)
        return false;
    ok = dwelf_elf_gnu_build_id(elf, &id) >= (ssize_t)BUILD_ID_BYTES;
    if (ok)
        memcpy(look->build_id, id, BUILD_ID_BYTES);
    look->has_lines = next_section(elf, NULL, 0, ".debug_info", &header) != NULL;
    look->has_names = next_section(elf, NULL, SHT_SYMTAB, NULL, &header) != NULL;
    elf_end(elf);
    close(file);
    return ok;
}

/* ---- functions ------------------------------------------------------------------------------------- */

/* Whether NAME is a label of a region; another symbol at the same address may name what is there. */
static bool is_mark(const char *name)
{
    size_t length = strlen(name);
    return (length > 4 && strcmp(name + length - 4, "_end") == 0) ||
           (length > 6 && strcmp(name + length - 6, "_start") == 0);
}

static int compare_functions(const void *a, const void *b)
{
    const struct function *left = a, *right = b;
    if (left->begin != right->begin)
        return left->begin < right->begin ? -1 : 1;
    if (left->end != right->end)
        return left->end > right->end ? -1 : 1; /* the one with a size first */
    return is_mark(left->name) != is_mark(right->name) ? is_mark(left->name) - is_mark(right->name)
                                                       : strcmp(left->name, right->name);
}

/* Labels in assembly have neither size nor type. Variables are included, to name locks. */
static void add_function(struct program *program, const GElf_Sym *symbol, const char *name, size_t *capacity)
{
    unsigned type = GELF_ST_TYPE(symbol->st_info);
    if (symbol->st_shndx == SHN_UNDEF || symbol->st_shndx >= SHN_LORESERVE || name == NULL || *name == '\0' ||
        *name == '.' || (type != STT_FUNC && type != STT_NOTYPE && type != STT_OBJECT))
        return;
    program->functions = array_grow(program->functions, program->count, capacity, sizeof(struct function));
    program->functions[program->count++] =
        (struct function){symbol->st_value, symbol->st_value + symbol->st_size, name};
}

static bool is_code(Elf *elf, const GElf_Sym *symbol)
{
    GElf_Shdr header;
    Elf_Scn *section = elf_getscn(elf, symbol->st_shndx);
    return section != NULL && gelf_getshdr(section, &header) != NULL && header.sh_flags & SHF_EXECINSTR;
}

/* Sorts the functions. Keeps one per address, and ends each at the start of the next at the latest. */
static void order_functions(struct program *program)
{
    size_t kept = 0;
    if (program->count == 0)
        return;
    qsort(program->functions, program->count, sizeof(struct function), compare_functions);
    for (size_t i = 1; i < program->count; i++)
        if (program->functions[i].begin != program->functions[kept].begin)
            program->functions[++kept] = program->functions[i];
    program->count = kept + 1;
    for (size_t i = 0; i + 1 < program->count; i++) {
        struct function *function = &program->functions[i];
        if (function->end == function->begin || function->end > function[1].begin)
            function->end = function[1].begin;
    }
}

static void read_functions(struct program *program)
{
    GElf_Shdr header;
    GElf_Sym symbol;
    size_t capacity = 0;
    Elf_Scn *section = next_section(program->elf, NULL, SHT_SYMTAB, NULL, &header);
    Elf_Data *data = section != NULL ? elf_getdata(section, NULL) : NULL;
    for (int i = 0; data != NULL && gelf_getsym(data, i, &symbol) != NULL; i++)
        if (GELF_ST_TYPE(symbol.st_info) == STT_OBJECT || is_code(program->elf, &symbol))
            add_function(program, &symbol, elf_strptr(program->elf, header.sh_link, symbol.st_name),
                         &capacity);
    order_functions(program);
}

static const struct function *find_function(const struct program *program, uint64_t address)
{
    uint64_t behind = FIRST_WHERE(0, program->count, n, program->functions[n].begin > address);
    return behind > 0 && address < program->functions[behind - 1].end ? &program->functions[behind - 1]
                                                                      : NULL;
}

uint64_t program_address(const struct program *program, const char *name)
{
    for (size_t i = 0; i < program->count; i++)
        if (strcmp(program->functions[i].name, name) == 0)
            return program->functions[i].begin;
    return 0;
}

/* ---- opening --------------------------------------------------------------------------------------- */

static uint64_t read_base(Elf *elf)
{
    GElf_Phdr header;
    uint64_t base = UINT64_MAX;
    size_t count;
    if (elf_getphdrnum(elf, &count))
        return 0;
    for (size_t i = 0; i < count; i++)
        if (gelf_getphdr(elf, (int)i, &header) != NULL && header.p_type == PT_LOAD && header.p_vaddr < base)
            base = header.p_vaddr;
    return base != UINT64_MAX ? base : 0;
}

struct program *program_open(const char *path)
{
    int file;
    Elf *elf = open_elf(path, &file);
    struct program *program;
    if (elf == NULL)
        return NULL;
    program = alloc_zero(1, sizeof(*program));
    program->file = file;
    program->elf = elf;
    program->base = read_base(elf);
    program->dwarf = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
    read_functions(program);
    return program;
}

void program_close(struct program *program)
{
    free(program->functions);
    if (program->dwarf != NULL)
        dwarf_end(program->dwarf);
    elf_end(program->elf);
    close(program->file);
    free(program);
}

/* ---- frames ---------------------------------------------------------------------------------------- */

struct location {
    uint64_t reg;
    int64_t offset;
};

static bool read_location(const Dwarf_Op *ops, size_t count, struct location *location)
{
    if (count != 1)
        return false;
    if (ops[0].atom >= DW_OP_breg0 && ops[0].atom <= DW_OP_breg31)
        *location = (struct location){ops[0].atom - DW_OP_breg0, (int64_t)ops[0].number};
    else if (ops[0].atom == DW_OP_bregx)
        *location = (struct location){ops[0].number, (int64_t)ops[0].number2};
    else
        return false;
    return true;
}

/* Finds the offset of the return address from the canonical frame address (CFA), and the rule for the CFA. */
static bool read_frame(Dwarf_Frame *frame, int64_t *from_cfa, struct location *cfa)
{
    Dwarf_Op memory[3], *ops;
    size_t count;
    int reg = dwarf_frame_info(frame, NULL, NULL, NULL);
    if (reg < 0 || dwarf_frame_register(frame, reg, memory, &ops, &count))
        return false;
    *from_cfa = 0;
    if (count == 2 && ops[0].atom == DW_OP_call_frame_cfa && ops[1].atom == DW_OP_plus_uconst)
        *from_cfa = (int64_t)ops[1].number;
    return dwarf_frame_cfa(frame, &ops, &count) == 0 && read_location(ops, count, cfa);
}

/* Whether the CFA is relative to the stack pointer where the function begins. */
static bool is_stack_pointer(Dwarf_CFI *cfi, uint64_t begin, uint64_t reg)
{
    Dwarf_Frame *frame = NULL;
    struct location cfa;
    int64_t from_cfa;
    bool is_it =
        dwarf_cfi_addrframe(cfi, begin, &frame) == 0 && read_frame(frame, &from_cfa, &cfa) && cfa.reg == reg;
    free(frame);
    return is_it;
}

enum return_place program_return_place(struct program *program, uint64_t offset)
{
    uint64_t address = program->base + offset;
    const struct function *function = find_function(program, address);
    Dwarf_CFI *cfi = program->dwarf != NULL ? dwarf_getcfi(program->dwarf) : NULL;
    enum return_place place = RETURN_UNKNOWN;
    Dwarf_Frame *frame = NULL;
    struct location cfa;
    int64_t from_cfa;
    if (cfi != NULL && function != NULL && dwarf_cfi_addrframe(cfi, address, &frame) == 0 &&
        read_frame(frame, &from_cfa, &cfa)) {
        if (from_cfa >= 0)
            place = RETURN_IN_REGISTER;
        else if (from_cfa + cfa.offset == 0 && is_stack_pointer(cfi, function->begin, cfa.reg))
            place = RETURN_ON_TOP;
        else
            place = RETURN_DEEPER;
    }
    free(frame);
    return place;
}

/* ---- lines ----------------------------------------------------------------------------------------- */

static const char *copy(struct arena *arena, const char *text)
{
    return text != NULL ? arena_string(arena, text, strlen(text)) : NULL;
}

/* Paths in this build are relative to here. */
static const char *copy_path(struct arena *arena, const char *path)
{
    while (path != NULL && path[0] == '.' && path[1] == '/')
        path += 2;
    return copy(arena, path);
}

/* Returns the name of a subprogram, also of an inlined one, whose name may be in its declaration. */
static const char *name_of(Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    return dwarf_formstring(dwarf_attr_integrate(die, DW_AT_name, &attribute));
}

static unsigned number_of(Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute attribute;
    Dwarf_Word value;
    if (dwarf_attr(die, name, &attribute) == NULL || dwarf_formudata(&attribute, &value) ||
        value > UINT32_MAX)
        return 0;
    return (unsigned)value;
}

static const char *call_file(Dwarf_Die *unit, Dwarf_Die *inlined)
{
    unsigned number = number_of(inlined, DW_AT_call_file);
    Dwarf_Files *files;
    size_t count;
    if (number == 0 || dwarf_getsrcfiles(unit, &files, &count) || number >= count)
        return NULL;
    return dwarf_filesrc(files, number, NULL, NULL);
}

/* SYMBOL has the line of the address, and no names yet. Adds the functions around it in `outer`, each with
 * the line from which the one before is called. */
static void add_scopes(Dwarf_Die *unit, Dwarf_Die *scopes, int count, struct symbol *symbol,
                       struct arena *arena)
{
    for (int i = 0, depth = 0; i < count && depth < INLINED_MAX; i++) {
        int tag = dwarf_tag(&scopes[i]);
        if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram)
            continue;
        symbol->function = copy(arena, name_of(&scopes[i]));
        if (tag == DW_TAG_subprogram)
            return;
        struct symbol *outer = arena_alloc(arena, sizeof(*outer));
        outer->file = copy_path(arena, call_file(unit, &scopes[i]));
        outer->line = number_of(&scopes[i], DW_AT_call_line);
        symbol->is_inlined = true;
        symbol->outer = outer;
        symbol = outer;
        depth++;
    }
}

/* Finds the unit of the address by the index of ranges, or else by searching all units. */
static bool find_unit(Dwarf *dwarf, uint64_t address, Dwarf_Die *unit)
{
    Dwarf_CU *next = NULL;
    if (dwarf_addrdie(dwarf, address, unit) != NULL)
        return true;
    while (dwarf_get_units(dwarf, next, &next, NULL, NULL, unit, NULL) == 0)
        if (dwarf_haspc(unit, address) > 0)
            return true;
    return false;
}

static void add_lines(struct program *program, uint64_t address, struct symbol *symbol, struct arena *arena)
{
    Dwarf_Die unit, *innermost = NULL, *scopes = NULL;
    Dwarf_Line *line;
    int number = 0, count;
    if (program->dwarf == NULL || !find_unit(program->dwarf, address, &unit))
        return;
    line = dwarf_getsrc_die(&unit, address);
    if (line != NULL) {
        dwarf_lineno(line, &number);
        symbol->file = copy_path(arena, dwarf_linesrc(line, NULL, NULL));
        symbol->line = number > 0 ? (unsigned)number : 0;
    }
    /* beyond inlined functions, this follows the place of definition, not the place of the call */
    count = dwarf_getscopes(&unit, address, &innermost);
    if (count > 0)
        count = dwarf_getscopes_die(&innermost[0], &scopes);
    if (count > 0)
        add_scopes(&unit, scopes, count, symbol, arena);
    free(innermost);
    free(scopes);
}

struct symbol *program_find(struct program *program, uint64_t offset, struct arena *arena)
{
    uint64_t address = program->base + offset;
    struct symbol *symbol = arena_alloc(arena, sizeof(*symbol));
    const struct function *function = find_function(program, address);
    struct symbol *outermost;
    add_lines(program, address, symbol, arena);
    outermost = (struct symbol *)symbol_outermost(symbol);
    outermost->offset = function != NULL ? address - function->begin : offset;
    if (function != NULL && outermost->function == NULL)
        outermost->function = copy(arena, function->name);
    return symbol;
}
