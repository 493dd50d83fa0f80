/* arpa/inet.h - Internet addresses as text; libc-glue/posix/inet.c. */
#pragma once

#include <netinet/in.h>

in_addr_t inet_addr(const char *text); /* INADDR_NONE if the text is no address */
int inet_aton(const char *text, struct in_addr *address);
char *inet_ntoa(struct in_addr address);
const char *inet_ntop(int family, const void *address, char *text, socklen_t size);
int inet_pton(int family, const char *text, void *address);
