/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * symbolgen.c - makes the kernel's table of its own symbols:   nm -n KERNEL | symbolgen >table.c
 *
 * The build links the kernel three times: without a table, to get its size; with a table of that size, to
 * get the addresses; and with the final table. The output depends only on the symbols' names and addresses.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MAX_BYTES 128

struct symbol {
    uint64_t address;
    char name[NAME_MAX_BYTES];
};

static struct symbol *symbols;
static size_t count, room;

/* Marks of sections and tables have the same address as their first or next object. */
static bool marks_a_place(const char *name)
{
    static const char *const ends[] = {"_start", "_end", "_first", "_last"};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        size_t length = strlen(name), end = strlen(ends[i]);
        if (length > end && strcmp(name + length - end, ends[i]) == 0)
            return true;
    }
    return false;
}

static bool is_wanted(char type, const char *name)
{
    return strchr("tTdDbBrR", type) && name[0] != '.' && name[0] != '$';
}

static void add(uint64_t address, const char *name)
{
    if (count == room) {
        room = room ? 2 * room : 1024;
        symbols = realloc(symbols, room * sizeof *symbols);
        if (!symbols)
            exit(1);
    }
    symbols[count].address = address;
    memcpy(symbols[count].name, name, strlen(name) + 1);
    count++;
}

/* By address; at one address, the most useful name comes last. */
static int compare(const void *left, const void *right)
{
    const struct symbol *a = left, *b = right;
    if (a->address != b->address)
        return a->address < b->address ? -1 : 1;
    bool a_marks = marks_a_place(a->name), b_marks = marks_a_place(b->name);
    if (a_marks != b_marks)
        return a_marks ? -1 : 1;
    return strcmp(a->name, b->name);
}

static void read_symbols(uint64_t *base)
{
    char line[512], name[NAME_MAX_BYTES], type;
    uint64_t address;
    while (fgets(line, sizeof line, stdin)) {
        if (sscanf(line, "%" SCNx64 " %c %127s", &address, &type, name) != 3 || !is_wanted(type, name))
            continue;
        if (strcmp(name, "kernel_start") == 0)
            *base = address;
        add(address, name);
    }
}

/* Symbols below the kernel's base are no addresses. */
static void drop_below(uint64_t base)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (symbols[i].address >= base && symbols[i].address - base <= UINT32_MAX)
            symbols[kept++] = symbols[i];
    count = kept;
}

int main(void)
{
    uint64_t base = 0;
    size_t place = 0;
    read_symbols(&base);
    drop_below(base);
    qsort(symbols, count, sizeof *symbols, compare);
    puts("/* Made by kernel/debug/gen/symbolgen.c. */\n#include <kernel/debug/symbol_table.h>\n");
    printf("const uint32_t debug_symbol_count = %zu;\nconst struct debug_symbol_entry debug_symbol_entries[] "
           "= {\n",
           count);
    for (size_t i = 0; i < count; i++) {
        printf("    {0x%" PRIx64 ", %zu},\n", symbols[i].address - base, place);
        place += strlen(symbols[i].name) + 1;
    }
    puts("    {0, 0},\n};\nconst char debug_symbol_names[] =");
    for (size_t i = 0; i < count; i++)
        printf("    \"%s\\0\"\n", symbols[i].name);
    puts("    \"\";");
    return ferror(stdin) || fflush(stdout);
}
