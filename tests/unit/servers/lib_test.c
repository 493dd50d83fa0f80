/* lib_test.c - ELF headers (valid, corrupt, random), archives. */
#include <elf.h>
#include <errno.h>
#include <servers/lib/cpio.h>
#include <servers/lib/elf.h>
#include <tarn/abi.h>
#include <tarn/trace_control.h>
#include <tests/tap.h>

#define FILE_SIZE 0x3000u

static const Elf64_Ehdr own_header = {
    .e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1}, .e_machine = EM_PPC64, .e_flags = 2};

/* A file with text at 0x400000 and data, followed by zeros, at 0x402ff0. */
static void make_elf(char file[FILE_SIZE])
{
    Elf64_Ehdr header = {
        .e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1},
        .e_type = ET_EXEC,
        .e_machine = EM_PPC64,
        .e_flags = 2,
        .e_entry = 0x400100,
        .e_phoff = sizeof(header),
        .e_phentsize = sizeof(Elf64_Phdr),
        .e_phnum = 3,
    };
    Elf64_Phdr program[3] = {
        {.p_type = PT_LOAD,
         .p_flags = PF_R | PF_X,
         .p_vaddr = 0x400000,
         .p_filesz = 0x1234,
         .p_memsz = 0x1234},
        {.p_type = PT_NOTE, .p_offset = ~0ull, .p_filesz = ~0ull},
        {.p_type = PT_LOAD,
         .p_flags = PF_R | PF_W,
         .p_offset = 0x2ff0,
         .p_vaddr = 0x402ff0,
         .p_filesz = 0x10,
         .p_memsz = 0x2000},
    };
    memset(file, 0, FILE_SIZE);
    memcpy(file, &header, sizeof(header));
    memcpy(file + sizeof(header), program, sizeof(program));
}

static int parse(const char *file, struct elf_executable *executable)
{
    return elf_parse(file, 4096, FILE_SIZE, &own_header, executable);
}

static Elf64_Phdr *program_of(char *file, int number)
{
    return (Elf64_Phdr *)(file + sizeof(Elf64_Ehdr)) + number;
}

static void test_elf(void)
{
    static char file[FILE_SIZE] __attribute__((aligned(8)));
    struct elf_executable executable;
    Elf64_Ehdr *header = (Elf64_Ehdr *)file;
    make_elf(file);
    check(parse(file, &executable) == 0 && executable.count == 2);
    check(executable.base == 0x400000 && executable.size == 0x5000 && executable.entry == 0x400100);
    check(executable.segment[0].flags == (MAP_READ | MAP_EXECUTE) &&
          executable.segment[1].flags == (MAP_READ | MAP_WRITE));
    check(executable.sites_size == 0);
    *program_of(file, 1) = (Elf64_Phdr){.p_type = TRACE_SITES_ELF_TYPE, .p_vaddr = 0x400200, .p_memsz = 24};
    check(parse(file, &executable) == 0 && executable.sites_address == 0x400200 &&
          executable.sites_size == 24);
    check(elf_parse("#!/bin/sh", 9, 9, &own_header, &executable) == -ENOEXEC);
    header->e_machine = EM_X86_64;
    check(parse(file, &executable) == -ENOEXEC);
    header->e_machine = EM_PPC64;
    header->e_flags = 1; /* the older ABI of the same machine */
    check(parse(file, &executable) == -ENOEXEC);
    make_elf(file);
    file[EI_DATA] = ELFDATA2MSB;
    check(parse(file, &executable) == -ENOEXEC);

#define BROKEN(change)                       \
    do {                                     \
        make_elf(file);                      \
        change;                              \
        check(parse(file, &executable) < 0); \
    } while (0)
    BROKEN(header->e_phnum = 65535);
    BROKEN(header->e_phoff = ~0ull);
    BROKEN(header->e_phentsize = 1);
    BROKEN(header->e_entry = 0x500000);
    BROKEN(header->e_phnum = 0);
    BROKEN(program_of(file, 0)->p_flags = PF_R | PF_W | PF_X);
    BROKEN(program_of(file, 0)->p_vaddr = 0);
    BROKEN(program_of(file, 0)->p_vaddr = USER_MMAP_BASE - 0x1000);
    BROKEN(program_of(file, 0)->p_vaddr = ~0xfffull);
    BROKEN(program_of(file, 0)->p_vaddr = 0x400010);
    BROKEN(program_of(file, 0)->p_memsz = 0x1000);
    BROKEN(program_of(file, 0)->p_memsz = ~0ull);
    BROKEN(program_of(file, 0)->p_filesz = 0x4000);
    BROKEN(program_of(file, 2)->p_offset = ~0xfull);
    BROKEN(program_of(file, 2)->p_vaddr = 0x401ff0);
}

/* Random bytes changed: the file is refused, or the result keeps elf.h's promises. */
static void test_elf_random(void)
{
    static char file[FILE_SIZE] __attribute__((aligned(8)));
    int wrong = 0, accepted = 0;
    srand(1);
    for (int round = 0; round < 20000; round++) {
        struct elf_executable executable;
        make_elf(file);
        for (int i = rand() % 4; i >= 0; i--)
            file[(unsigned)rand() % (sizeof(Elf64_Ehdr) + 3 * sizeof(Elf64_Phdr))] ^= (char)(1 << rand() % 8);
        if (parse(file, &executable))
            continue;
        accepted++;
        for (unsigned i = 0; i < executable.count; i++) {
            const struct elf_segment *segment = &executable.segment[i];
            wrong += segment->offset + segment->file_size > FILE_SIZE || segment->file_size > segment->size ||
                     segment->address + segment->size > USER_MMAP_BASE || segment->address < USER_BASE ||
                     (segment->flags & (MAP_WRITE | MAP_EXECUTE)) == (MAP_WRITE | MAP_EXECUTE);
        }
    }
    check(wrong == 0 && accepted > 100);
}

static void test_cpio(void)
{
    struct cpio_entry entry;
    struct cpio_reader reader = {"", 0, 0};
    check(cpio_next(&reader, &entry) == -1);
    char random[256];
    int crashed = 0, labelled = 0;
    srand(2);
    for (int round = 0; round < 20000; round++) {
        sprintf(random, "070701%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X", 1, 0100644, 0, 5, 1, 0,
                8, 0, 0, 0, 0, 2, 0);
        strcpy(random + 110, "f");
        random[6 + rand() % 104] = "0123456789abcdefXYZ"[rand() % 19];
        char *exact = malloc(128);
        memcpy(exact, random, 128);
        reader = (struct cpio_reader){exact, 128, 0};
        while (cpio_next(&reader, &entry) > 0)
            crashed += entry.data + entry.size > exact + 128, labelled += entry.authority == 5;
        free(exact);
    }
    check(crashed == 0 && labelled > 0);
}

int main(void)
{
    test_elf();
    test_elf_random();
    test_cpio();
    return finish_tests();
}
