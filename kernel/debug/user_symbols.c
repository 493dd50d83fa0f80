/*
 * user_symbols.c - symbols of programs, from their files in the boot archive.
 *
 * A space knows path and build-id of its program (trace_image). A file with another build-id is another
 * program. Programs may write to the archive's memory, so everything in it is validated.
 */
#include <kernel/boot/elf.h>
#include <kernel/debug/debug.h>
#include <kernel/kernel.h>
#include <kernel/lib/archive.h>
#include <kernel/space/space.h>

struct elf_section {
    uint32_t name, type;
    uint64_t flags, address, offset, size;
    uint32_t link, info;
    uint64_t align, entry_size;
};
struct elf_symbol {
    uint32_t name;
    uint8_t info, other;
    uint16_t section;
    uint64_t value, size;
};
struct elf_note {
    uint32_t name_size, data_size, type;
    char name[4];
};
#define SECTION_SYMBOLS 2
#define SECTION_NOTE    7
#define NOTE_BUILD_ID   3
#define SYMBOL_FUNCTION 2

struct file {
    const char *data;
    uint64_t size;
    const struct elf_section *sections;
    unsigned section_count;
};

struct symbols {
    const struct elf_symbol *symbols;
    uint64_t count;
    const char *names;
    uint64_t names_size;
};

/* ---- The file ---- */

static const void *at(const struct file *file, uint64_t offset, uint64_t size)
{
    return offset <= file->size && size <= file->size - offset ? file->data + offset : NULL;
}

static bool open_file(const char *path, struct file *file)
{
    file->data = archive_file(path[0] == '/' ? path + 1 : path, &file->size);
    if (!file->data)
        return false;
    const struct elf_header *header = at(file, 0, sizeof *header);
    if (!header || memcmp(header->ident, "\177ELF\2", 5) ||
        header->section_size != sizeof(struct elf_section))
        return false;
    file->section_count = header->section_count;
    file->sections = at(file, header->sections, (uint64_t)header->section_count * sizeof(struct elf_section));
    return file->sections;
}

static bool has_build_id(const struct file *file, const uint64_t *build_id)
{
    for (unsigned i = 0; i < file->section_count; i++) {
        const struct elf_section *section = &file->sections[i];
        const struct elf_note *note = at(file, section->offset, sizeof *note + 2 * sizeof *build_id);
        if (section->type != SECTION_NOTE || !note || note->type != NOTE_BUILD_ID ||
            memcmp(note->name, "GNU", 4))
            continue;
        const uint8_t *bytes = (const uint8_t *)(note + 1);
        for (unsigned k = 0; k < 16; k++)
            if (bytes[k] != (uint8_t)(build_id[k / 8] >> (56 - k % 8 * 8)))
                return false;
        return true;
    }
    return false;
}

static bool find_symbols(const struct file *file, struct symbols *found)
{
    for (unsigned i = 0; i < file->section_count; i++) {
        const struct elf_section *section = &file->sections[i];
        if (section->type != SECTION_SYMBOLS || section->link >= file->section_count)
            continue;
        const struct elf_section *names = &file->sections[section->link];
        found->symbols = at(file, section->offset, section->size);
        found->count = section->size / sizeof(struct elf_symbol);
        found->names = at(file, names->offset, names->size);
        found->names_size = names->size;
        return found->symbols && found->names && names->size && !found->names[names->size - 1];
    }
    return false;
}

static bool open_symbols(const struct space *space, struct symbols *symbols)
{
    char path[sizeof space->executable_path];
    struct file file;
    memcpy(path, space->executable_path, sizeof path);
    path[sizeof path - 1] = 0;
    return path[0] && open_file(path, &file) && has_build_id(&file, space->build_id) &&
           find_symbols(&file, symbols);
}

/* ---- Lookup ---- */

static const char *name_of(const struct symbols *symbols, const struct elf_symbol *symbol)
{
    return symbol->name < symbols->names_size ? symbols->names + symbol->name : "";
}

static bool is_function(const struct elf_symbol *symbol)
{
    return (symbol->info & 15) == SYMBOL_FUNCTION;
}

bool debug_user_symbol_at(const struct space *space, uint64_t address, struct debug_symbol *found)
{
    struct symbols symbols;
    const struct elf_symbol *best = NULL;
    if (address - space->executable_base >= space->executable_size || !open_symbols(space, &symbols))
        return false;
    for (uint64_t i = 0; i < symbols.count; i++) {
        const struct elf_symbol *symbol = &symbols.symbols[i];
        if (is_function(symbol) && symbol->value <= address && (!best || symbol->value > best->value))
            best = symbol;
    }
    if (best)
        *found = (struct debug_symbol){name_of(&symbols, best), best->value};
    return best;
}
