/* archive.c - finds files in the boot archive (cpio "newc"). Interface: kernel.h. */
#include <arch/boot.h>
#include <arch/mmu.h>
#include <kernel/kernel.h>

/* An entry: 6 bytes of magic and 13 numbers of 8 hexadecimal digits, then name and data, each padded to 4
 * bytes. */
#define CPIO_HEADER_BYTES 110
enum { CPIO_FILE_SIZE = 6, CPIO_NAME_SIZE = 11 }; /* indices of the numbers */

static uint64_t cpio_number(const char *header, unsigned index)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < 8; i++) {
        char c = header[6 + index * 8 + i];
        value = value * 16 + (uint64_t)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    return value;
}

const char *archive_file(const char *path, uint64_t *file_size)
{
    const char *archive = phys_to_virt(boot_info.archive_base);
    const uint64_t size = boot_info.archive_size;
    for (uint64_t at = 0; at + CPIO_HEADER_BYTES < size;) {
        const char *header = archive + at;
        if (memcmp(header, "070701", 6))
            break;
        uint64_t name_size = cpio_number(header, CPIO_NAME_SIZE);
        uint64_t data = (at + CPIO_HEADER_BYTES + name_size + 3) & ~3ull;
        *file_size = cpio_number(header, CPIO_FILE_SIZE);
        if (data > size || *file_size > size - data)
            break;
        if (name_size == strlen(path) + 1 && memcmp(header + CPIO_HEADER_BYTES, path, name_size) == 0)
            return archive + data;
        at = (data + *file_size + 3) & ~3ull;
    }
    return NULL;
}
