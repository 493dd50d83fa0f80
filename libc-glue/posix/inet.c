/* SPDX-License-Identifier: BSD-2-Clause */
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

char *inet_ntoa(struct in_addr address)
{
    static __thread char text[INET_ADDRSTRLEN];
    const unsigned char *byte = (const unsigned char *)&address;
    snprintf(text, sizeof(text), "%u.%u.%u.%u", byte[0], byte[1], byte[2], byte[3]);
    return text;
}
