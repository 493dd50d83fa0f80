/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * embed.c - a generator used by the build: converts files to C arrays (page.h).
 *
 * usage: embed ARRAY FILE...
 */
#include <stdio.h>
#include <string.h>

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

static int write_bytes(const char *path, int number)
{
    FILE *file = fopen(path, "rb");
    int byte;
    unsigned column = 0;

    if (file == NULL) {
        perror(path);
        return 1;
    }
    printf("static const unsigned char file%d[] = {", number);
    while ((byte = getc(file)) != EOF)
        printf("%s%d,", column++ % 24 == 0 ? "\n" : "", byte);
    printf("0};\n"); /* C has no empty arrays; the zero is not counted in the size */
    return fclose(file);
}

int main(int argc, char **argv)
{
    printf("#include <tools/tarn/view/page.h>\n");
    for (int i = 2; i < argc; i++)
        if (write_bytes(argv[i], i) != 0)
            return 1;
    printf("const struct page_file %s[] = {\n", argv[1]);
    for (int i = 2; i < argc; i++)
        printf("{\"%s\", file%d, sizeof(file%d) - 1},\n", base_name(argv[i]), i, i);
    printf("{NULL, NULL, 0}};\n");
    return ferror(stdout) || fflush(stdout) != 0;
}
