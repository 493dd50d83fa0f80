/* boot_options.c - options of the boot command line. */
#include <arch/boot.h>
#include <kernel/kernel.h>
#include <trace/print/words.h>

bool boot_option(const char *name, char *value, size_t size)
{
    size_t length = strlen(name);
    const char *word = boot_info.command_line;
    while (*word) {
        const char *end = word;
        while (*end && *end != ' ')
            end++;
        if ((size_t)(end - word) >= length && memcmp(word, name, length) == 0) {
            size_t count = (size_t)(end - word) - length;
            count = count < size ? count : size - 1;
            memcpy(value, word + length, count);
            value[count] = 0;
            return true;
        }
        word = *end ? end + 1 : end;
    }
    return false;
}

bool boot_number(const char *option, uint64_t *number)
{
    char text[24];
    if (!boot_option(option, text, sizeof text))
        return false;
    bool valid = trace_parse_number(text, strlen(text), number);
    if (!valid)
        log_line("%s%s: not a number", option, text);
    return valid;
}

uint32_t boot_choice(const char *option, const char *const *names, uint32_t count)
{
    char text[16], allowed[80];
    uint32_t length = 0;
    if (!boot_option(option, text, sizeof text))
        return 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!strcmp(text, names[i]))
            return i;
        length += (uint32_t)format_text(allowed + length, sizeof allowed - length, " %s", names[i]);
    }
    log_line("%s%s: there are%s; it is %s", option, text, allowed, names[0]);
    return 0;
}
