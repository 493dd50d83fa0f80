/* inet.c - conversion of Internet addresses from and to text (<arpa/inet.h>). */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* Accepts only four decimal numbers up to 255. */
int inet_aton(const char *text, struct in_addr *address)
{
    uint32_t value = 0;
    for (int i = 0; i < 4; i++) {
        char *end;
        if (*text < '0' || *text > '9')
            return 0;
        unsigned long part = strtoul(text, &end, 10);
        if (part > 255 || *end != (i < 3 ? '.' : '\0'))
            return 0;
        value = value << 8 | (uint32_t)part;
        text = end + 1;
    }
    address->s_addr = __htonl(value);
    return 1;
}

in_addr_t inet_addr(const char *text)
{
    struct in_addr address;
    return inet_aton(text, &address) ? address.s_addr : INADDR_NONE;
}

int inet_pton(int family, const char *text, void *address)
{
    if (family == AF_INET)
        return inet_aton(text, address);
    errno = EAFNOSUPPORT;
    return -1;
}

const char *inet_ntop(int family, const void *address, char *text, socklen_t size)
{
    const unsigned char *byte = address;
    if (family != AF_INET) {
        errno = EAFNOSUPPORT;
        return NULL;
    }
    int length = snprintf(text, size, "%u.%u.%u.%u", byte[0], byte[1], byte[2], byte[3]);
    if (length < 0 || (socklen_t)length >= size) {
        errno = ENOSPC;
        return NULL;
    }
    return text;
}

char *inet_ntoa(struct in_addr address)
{
    static __thread char text[INET_ADDRSTRLEN];
    inet_ntop(AF_INET, &address, text, sizeof(text));
    return text;
}
