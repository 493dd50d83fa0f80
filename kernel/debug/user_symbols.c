/*
 * user_symbols.c - symbols of programs, from their files in the boot archive.
 *
 * A space knows path and build-id of its program (trace_image). A file with another build-id is another
 * program. Programs may write to the archive's memory, so everything in it is validated.
 */
#include <base/elf.h>
#include <kernel/debug/debug.h>
#include <kernel/kernel.h>
#include <kernel/space/space.h>
#include <kernel/trace/control.h>

struct file {
    const char *data;
    uint64_t size;
    const struct elf_symbol *symbols;
    uint64_t symbol_count;
    const char *names;
    uint64_t names_size;
};

static const void *at(const struct file *file, uint64_t offset, uint64_t size)
{
    return offset <= file->size && size <= file->size - offset ? file->data + offset : NULL;
}

/* NULL: not in the file. */
static bool is_build_id(const struct elf_note *note, const uint64_t build_id[2])
{
    uint64_t own[2] = {0};
    if (!note || note->type != ELF_NOTE_BUILD_ID || memcmp(note->name, "GNU", 4))
        return false;
    trace_build_id((const uint8_t *)(note + 1), own);
    return own[0] == build_id[0] && own[1] == build_id[1];
}

/* False: it is not the space's program, or has no symbols. */
static bool open_file(const struct space *space, struct file *file)
{
    char path[sizeof space->executable_path];
    bool is_own = false;
    memcpy(path, space->executable_path, sizeof path);
    path[sizeof path - 1] = 0;
    *file = (struct file){0};
    file->data = archive_file(path + (path[0] == '/'), &file->size);
    const struct elf_header *header = file->data ? at(file, 0, sizeof *header) : NULL;
    if (!header || memcmp(header->ident, "\177ELF\2", 5) ||
        header->section_size != sizeof(struct elf_section))
        return false;
    const unsigned count = header->section_count;
    const struct elf_section *sections = at(file, header->sections, count * sizeof *sections);
    for (unsigned i = 0; sections && i < count; i++) {
        const struct elf_section *section = &sections[i];
        if (section->type == ELF_SECTION_NOTE)
            is_own |= is_build_id(at(file, section->offset, sizeof(struct elf_note) + 16), space->build_id);
        if (section->type != ELF_SECTION_SYMBOLS || section->link >= count)
            continue;
        const struct elf_section *names = &sections[section->link];
        file->symbols = at(file, section->offset, section->size);
        file->symbol_count = section->size / sizeof *file->symbols;
        file->names = at(file, names->offset, names->size);
        file->names_size = names->size;
    }
    return is_own && file->symbols && file->names && file->names_size && !file->names[file->names_size - 1];
}

bool debug_user_symbol_at(const struct space *space, uint64_t address, struct debug_symbol *found)
{
    struct file file;
    const struct elf_symbol *best = NULL;
    if (address - space->executable_base >= space->executable_size || !open_file(space, &file))
        return false;
    for (uint64_t i = 0; i < file.symbol_count; i++) {
        const struct elf_symbol *symbol = &file.symbols[i];
        if ((symbol->info & 15) == ELF_SYMBOL_FUNCTION && symbol->value <= address &&
            (!best || symbol->value > best->value))
            best = symbol;
    }
    if (best)
        *found =
            (struct debug_symbol){best->name < file.names_size ? file.names + best->name : "", best->value};
    return best;
}
