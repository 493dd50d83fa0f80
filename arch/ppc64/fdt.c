/*
 * arch/ppc64/fdt.c - reads the flattened device tree (Devicetree Specification 0.4, chapter 5). Interface:
 * port.h.
 *
 * Used while one CPU runs, in real mode and after. The tree is in reserved memory and is only read. It is
 * trusted as the firmware is.
 */
#include "fdt.h"
#include "port.h"
#include <kernel/kernel.h>

static const char *fdt;
static const char *structure; /* nodes are offsets from here, plus 1 so that the root is not 0 */

#define NODE_BIAS 1u

bool fdt_open(const void *tree)
{
    const struct fdt_header *header = tree;
    if (header->magic != FDT_MAGIC || header->last_compatible > FDT_VERSION)
        return false;
    fdt = tree;
    structure = fdt + header->structure;
    return true;
}

uint32_t fdt_size(void)
{
    return ((const struct fdt_header *)fdt)->size;
}

uint32_t fdt_boot_cpu(void)
{
    return ((const struct fdt_header *)fdt)->boot_cpu;
}

/* ---- tokens --------------------------------------------------------------------------------------- */

static uint32_t token_at(uint32_t at)
{
    return *(const uint32_t *)(structure + at);
}

struct property {
    uint32_t token, length, name; /* name: offset in the strings */
    char value[];
};

static const struct property *property_at(uint32_t at)
{
    return (const struct property *)(structure + at);
}

static uint32_t align4(uint32_t n)
{
    return (n + 3) & ~3u;
}

static uint32_t next_token(uint32_t at)
{
    switch (token_at(at)) {
    case FDT_BEGIN_NODE:
        return at + 4 + align4((uint32_t)strlen(structure + at + 4) + 1);
    case FDT_PROPERTY:
        return at + (uint32_t)sizeof(struct property) + align4(property_at(at)->length);
    default:
        return at + 4;
    }
}

/* ---- nodes ---------------------------------------------------------------------------------------- */

uint32_t fdt_next(uint32_t node, int *depth)
{
    uint32_t at = node ? next_token(node - NODE_BIAS) : 0;
    if (!node)
        *depth = -1;
    for (;; at = next_token(at)) {
        switch (token_at(at)) {
        case FDT_BEGIN_NODE:
            ++*depth;
            return at + NODE_BIAS;
        case FDT_END_NODE:
            --*depth;
            break;
        case FDT_PROPERTY:
        case FDT_NOP:
            break;
        default: /* FDT_END */
            return 0;
        }
    }
}

static bool same_text(const char *a, const char *b)
{
    while (*a && *a == *b)
        a++, b++;
    return *a == *b;
}

const void *fdt_property(uint32_t node, const char *name, uint32_t *length)
{
    const char *strings = fdt + ((const struct fdt_header *)fdt)->strings;
    uint32_t at = next_token(node - NODE_BIAS);
    for (; token_at(at) == FDT_PROPERTY || token_at(at) == FDT_NOP; at = next_token(at)) {
        if (token_at(at) == FDT_NOP || !same_text(strings + property_at(at)->name, name))
            continue;
        if (length)
            *length = property_at(at)->length;
        return property_at(at)->value;
    }
    return NULL;
}

bool fdt_has_type(uint32_t node, const char *type)
{
    const char *value = fdt_property(node, "device_type", NULL);
    return value && same_text(value, type);
}

uint32_t fdt_find(const char *name)
{
    int depth;
    for (uint32_t node = fdt_next(0, &depth); node; node = fdt_next(node, &depth))
        if (depth == 1 && same_text(structure + node - NODE_BIAS + 4, name))
            return node;
    return 0;
}

uint64_t fdt_cells(const void *property, unsigned first, unsigned count)
{
    const uint32_t *cells = (const uint32_t *)property + first;
    return count == 2 ? (uint64_t)cells[0] << 32 | cells[1] : cells[0];
}
