/*
 * arch/ppc64/prom.c - copies Open Firmware's (IEEE 1275) device tree, node by node, into a flattened one, so
 * that boot.c reads one format. Interface: port.h.
 *
 * The client interface takes the physical address of a block of 32-bit cells; the kernel's addresses have it
 * in their low half. Runs in real mode, once, before anything else changes the machine: the firmware still
 * needs its exception vectors and its memory.
 */
#include "fdt.h"
#include "port.h"
#include <kernel/kernel.h>
#include <stdarg.h>

/* start.S: calls the firmware in 32-bit mode, as it requires. */
int64_t prom_enter(uint32_t arguments, uint32_t entry);

#define PROM_FAILED ~0u
#define PROM_CELLS  8u

static uint32_t prom_entry;
static struct {
    uint32_t service, argument_count, result_count;
    uint32_t cells[PROM_CELLS]; /* arguments, then one result */
} block;

static uint32_t physical(const void *address)
{
    return (uint32_t)virt_to_phys(address);
}

/* count: number of cells that follow. Returns the service's result, or PROM_FAILED. */
static uint32_t prom_call(const char *service, uint32_t count, ...)
{
    va_list arguments;
    va_start(arguments, count);
    for (uint32_t i = 0; i < count; i++)
        block.cells[i] = va_arg(arguments, uint32_t);
    va_end(arguments);
    block.service = physical(service);
    block.argument_count = count;
    block.result_count = 1;
    block.cells[count] = PROM_FAILED;
    return prom_enter(physical(&block), prom_entry) ? PROM_FAILED : block.cells[count];
}

/* ---- the new tree --------------------------------------------------------------------------------- */

#define TREE_BYTES    (1u << 20) /* requested from the firmware; the unused rest is freed */
#define STRINGS_BYTES (1u << 16) /* of it */
#define NAME_BYTES    128u       /* of a property; the standard's 32 are too few for this machine */
#define PATH_BYTES    256u

static char *tree;        /* its header */
static uint32_t tree_end; /* bytes so far, without strings */
static char *strings;     /* the last STRINGS_BYTES, until the end */
static uint32_t strings_end;

static void *grow(uint32_t bytes)
{
    void *memory = tree + tree_end;
    if (bytes > TREE_BYTES - STRINGS_BYTES - tree_end)
        boot_fail("Open Firmware's device tree is too big");
    tree_end += bytes;
    return memory;
}

static void put_cell(uint32_t value)
{
    *(uint32_t *)grow(4) = value;
}

static void put_padding(void)
{
    while (tree_end % 4)
        *(char *)grow(1) = 0;
}

/* Offset of a name in the strings; each name is stored once. */
static uint32_t string_offset(const char *name)
{
    uint32_t size = (uint32_t)strlen(name) + 1;
    for (uint32_t at = 0; at < strings_end; at += (uint32_t)strlen(strings + at) + 1)
        if (strlen(strings + at) + 1 == size && memcmp(strings + at, name, size) == 0)
            return at;
    if (size > STRINGS_BYTES - strings_end)
        boot_fail("Open Firmware's device tree has too many properties");
    memcpy(strings + strings_end, name, size);
    strings_end += size;
    return strings_end - size;
}

/* ---- from the firmware ---------------------------------------------------------------------------- */

static void copy_property(uint32_t node, const char *name)
{
    uint32_t length = prom_call("getproplen", 2, node, physical(name));
    if (length == PROM_FAILED)
        return;
    put_cell(FDT_PROPERTY);
    put_cell(length);
    put_cell(string_offset(name));
    void *value = grow(length);
    if (length)
        prom_call("getprop", 4, node, physical(name), physical(value), length);
    put_padding();
}

static void copy_properties(uint32_t node)
{
    static char names[2][NAME_BYTES]; /* the previous and the next */
    unsigned next = 0;
    names[1][0] = 0; /* requests the first */
    while (prom_call("nextprop", 3, node, physical(names[1 - next]), physical(names[next])) == 1) {
        copy_property(node, names[next]);
        next = 1 - next;
    }
}

/* The last part of the node's path: name and address. */
static void copy_name(uint32_t node)
{
    static char path[PATH_BYTES];
    uint32_t length = prom_call("package-to-path", 3, node, physical(path), PATH_BYTES - 1);
    if (length > PATH_BYTES - 1)
        boot_fail("Open Firmware does not tell a node's path");
    path[length] = 0;
    const char *name = path;
    for (const char *p = path; *p; p++)
        if (*p == '/')
            name = p + 1;
    uint32_t size = (uint32_t)strlen(name) + 1;
    memcpy(grow(size), name, size);
    put_padding();
}

/* Recursion as deep as the tree, a few levels. */
static void copy_node(uint32_t node)
{
    put_cell(FDT_BEGIN_NODE);
    copy_name(node);
    copy_properties(node);
    for (uint32_t child = prom_call("child", 1, node); child && child != PROM_FAILED;
         child = prom_call("peer", 1, child))
        copy_node(child);
    put_cell(FDT_END_NODE);
}

/* ---- the whole tree ------------------------------------------------------------------------------- */

static uint32_t get_cell(uint32_t node, const char *name)
{
    uint32_t value = 0;
    prom_call("getprop", 4, node, physical(name), physical(&value), (uint32_t)sizeof(value));
    return value;
}

/* The number of this CPU: /chosen has an instance of its node. */
static uint32_t boot_cpu(void)
{
    uint32_t chosen = prom_call("finddevice", 1, physical("/chosen"));
    uint32_t node = prom_call("instance-to-package", 1, get_cell(chosen, "cpu"));
    return node == PROM_FAILED ? 0 : get_cell(node, "reg");
}

static void begin_tree(void)
{
    const uint32_t anywhere = 0, alignment = 4096;
    uint32_t base = prom_call("claim", 3, anywhere, TREE_BYTES, alignment);
    if (base == PROM_FAILED)
        boot_fail("Open Firmware has no memory for its device tree");
    tree = phys_to_virt(base);
    strings = tree + TREE_BYTES - STRINGS_BYTES;
    struct fdt_header *header = grow(sizeof(*header));
    *header = (struct fdt_header){.magic = FDT_MAGIC,
                                  .version = FDT_VERSION,
                                  .last_compatible = FDT_LAST_COMPATIBLE,
                                  .boot_cpu = boot_cpu()};
    header->reserve_map = tree_end;
    memset(grow(16), 0, 16); /* an empty list of reservations: two zero numbers of 64 bits */
    header->structure = tree_end;
}

static void end_tree(void)
{
    struct fdt_header *header = (struct fdt_header *)tree;
    put_cell(FDT_END);
    header->structure_size = tree_end - header->structure;
    header->strings = tree_end;
    header->strings_size = strings_end;
    memmove(tree + tree_end, strings, strings_end);
    header->size = tree_end + strings_end;
}

uint64_t prom_flatten_tree(uint64_t firmware)
{
    const uint32_t root = 0; /* whose peer is the root node */
    prom_entry = (uint32_t)firmware;
    begin_tree();
    copy_node(prom_call("peer", 1, root));
    end_tree();
    prom_call("quiesce", 0); /* devices no longer access memory, which belongs to the kernel from now on */
    return virt_to_phys(tree);
}
