/* socket.c - sockets over servers/protocol/net.h. */
#include "file.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <servers/protocol/net.h>
#include <string.h>
#include <sys/socket.h>

/* ---- conversion between struct sockaddr_in (network byte order) and the protocol's word ------------ */

static int64_t word_of_address(const struct sockaddr *address, socklen_t length, uint64_t *word)
{
    struct sockaddr_in in;
    if (!address || length < sizeof(in))
        return -EINVAL;
    memcpy(&in, address, sizeof(in));
    if (in.sin_family != AF_INET)
        return -EAFNOSUPPORT;
    *word = NET_ADDRESS(__ntohl(in.sin_addr.s_addr), __ntohs(in.sin_port));
    return 0;
}

static void address_of_word(uint64_t word, struct sockaddr *address, socklen_t *length)
{
    if (!address || !length)
        return;
    struct sockaddr_in in = {.sin_family = AF_INET,
                             .sin_port = __htons(NET_ADDRESS_PORT(word)),
                             .sin_addr.s_addr = __htonl(NET_ADDRESS_IP(word))};
    memcpy(address, &in, *length < sizeof(in) ? *length : sizeof(in));
    *length = sizeof(in);
}

/* ---- requests -------------------------------------------------------------------------------------- */

/* Makes a request about the socket of a descriptor; sets word[0] of the message. */
static int64_t call_socket(int fd, struct ipc_message *message)
{
    return WITH_FILE(fd, file,
                     (message->word[0] = file->handle,
                      file->kind == FILE_SOCKET ? call_server_message(SLOT_NET, message) : -ENOTSOCK));
}

static int64_t call_socket_words(int fd, uint64_t label, uint64_t a, uint64_t b)
{
    struct ipc_message message = {.label = label, .word = {0, a, b}};
    return call_socket(fd, &message);
}

static int64_t make_socket(int domain, int type)
{
    if (domain != AF_INET)
        return -EAFNOSUPPORT;
    if (type != SOCK_STREAM && type != SOCK_DGRAM)
        return -EPROTONOSUPPORT;
    int64_t handle = call_server(SLOT_NET, NET_SOCKET, type == SOCK_STREAM ? NET_TCP : NET_UDP, 0, 0, 0);
    return handle < 0 ? handle : install_file(FILE_SOCKET, (uint64_t)handle, O_RDWR, false, 0);
}

int socket(int domain, int type, int protocol)
{
    return (int)LIBC_CALL(SOCKET, domain, type, make_socket(domain, type));
}

int bind(int fd, const struct sockaddr *address, socklen_t length)
{
    uint64_t word = 0;
    int64_t result = word_of_address(address, length, &word);
    return (int)LIBC_CALL(BIND, fd, word, result < 0 ? result : call_socket_words(fd, NET_BIND, word, 0));
}

int listen(int fd, int backlog)
{
    return (int)LIBC_CALL(LISTEN, fd, backlog, call_socket_words(fd, NET_LISTEN, (uint64_t)backlog, 0));
}

int accept(int fd, struct sockaddr *address, socklen_t *length)
{
    enter_call(TRACE_LIBC_ACCEPT, (uint64_t)fd, 0);
    struct ipc_message message = {.label = NET_ACCEPT};
    int64_t result = call_socket(fd, &message);
    if (result >= 0) {
        address_of_word(message.word[0], address, length);
        result = install_file(FILE_SOCKET, (uint64_t)result, O_RDWR, false, 0);
    }
    return (int)leave_call(TRACE_LIBC_ACCEPT, result);
}

int connect(int fd, const struct sockaddr *address, socklen_t length)
{
    uint64_t word = 0;
    int64_t result = word_of_address(address, length, &word);
    return (int)LIBC_CALL(CONNECT, fd, word,
                          result < 0 ? result : call_socket_words(fd, NET_CONNECT, word, 0));
}

int shutdown(int fd, int how)
{
    static const uint64_t sides[] = {
        [SHUT_RD] = NET_SHUT_READ, [SHUT_WR] = NET_SHUT_WRITE, [SHUT_RDWR] = NET_SHUT_READ | NET_SHUT_WRITE};
    return (int)LIBC_CALL(
        SHUTDOWN, fd, how,
        how < SHUT_RD || how > SHUT_RDWR ? -EINVAL : call_socket_words(fd, NET_SHUTDOWN, sides[how], 0));
}

static int64_t query_name(int fd, uint64_t label, struct sockaddr *address, socklen_t *length)
{
    struct ipc_message message = {.label = label};
    int64_t result = call_socket(fd, &message);
    if (result >= 0)
        address_of_word(message.word[0], address, length);
    return result < 0 ? result : 0;
}

int getsockname(int fd, struct sockaddr *address, socklen_t *length)
{
    return (int)LIBC_CALL(GETSOCKNAME, fd, 0, query_name(fd, NET_SOCKET_NAME, address, length));
}

int getpeername(int fd, struct sockaddr *address, socklen_t *length)
{
    return (int)LIBC_CALL(GETSOCKNAME, fd, 1, query_name(fd, NET_PEER_NAME, address, length));
}

/* ---- data ------------------------------------------------------------------------------------------ */

static uint64_t net_flags(int flags)
{
    return (flags & MSG_DONTWAIT ? NET_NO_WAIT : 0) | (flags & MSG_PEEK ? NET_PEEK : 0);
}

/* Sends or receives a datagram; *address is where it goes to or came from. */
static int64_t transfer_datagram(const struct file *file, bool writes, void *buffer, size_t size,
                                 uint64_t flags, uint64_t *address)
{
    struct shared_buffer shared;
    if (writes && size > SERVER_BUFFER_BYTES)
        return -EMSGSIZE;
    int64_t result = borrow_buffer(SLOT_NET, &shared);
    if (result < 0)
        return result;
    if (writes)
        memcpy(shared.base, buffer, size);
    struct ipc_message message = {
        .label = writes ? NET_SEND_TO : NET_RECEIVE,
        .word = {file->handle, buffer_span(&shared, 0, buffer_part(size)), flags, *address},
    };
    result = call_server_message(SLOT_NET, &message);
    if (!writes && result > 0)
        memcpy(buffer, shared.base, (size_t)result);
    *address = message.word[0];
    return_buffer(&shared);
    return result;
}

/* `address` NULL: of the peer. */
static int64_t transfer_socket(int fd, bool writes, void *buffer, size_t size, int flags, uint64_t *address)
{
    struct file *file = get_file(fd);
    if (!file)
        return -EBADF;
    int64_t result = -ENOTSOCK, done = 0;
    if (file->kind == FILE_SOCKET && address) {
        result = transfer_datagram(file, writes, buffer, size, net_flags(flags), address);
    } else if (file->kind == FILE_SOCKET) {
        do {
            result =
                transfer_bytes(file, writes, (char *)buffer + done, size - (size_t)done, net_flags(flags));
            done += result > 0 ? result : 0;
        } while (!writes && result > 0 && (flags & MSG_WAITALL) && (size_t)done < size);
    }
    put_file(file);
    return done ? done : result;
}

ssize_t send(int fd, const void *buffer, size_t size, int flags)
{
    return LIBC_CALL(SEND, fd, size, transfer_socket(fd, true, (void *)buffer, size, flags, NULL));
}

ssize_t recv(int fd, void *buffer, size_t size, int flags)
{
    return LIBC_CALL(RECV, fd, size, transfer_socket(fd, false, buffer, size, flags, NULL));
}

ssize_t sendto(int fd, const void *buffer, size_t size, int flags, const struct sockaddr *to,
               socklen_t length)
{
    if (!to)
        return send(fd, buffer, size, flags);
    uint64_t address = 0;
    int64_t result = word_of_address(to, length, &address);
    return LIBC_CALL(SENDTO, fd, size,
                     result < 0 ? result : transfer_socket(fd, true, (void *)buffer, size, flags, &address));
}

ssize_t recvfrom(int fd, void *buffer, size_t size, int flags, struct sockaddr *from, socklen_t *length)
{
    uint64_t address = 0;
    ssize_t result = LIBC_CALL(RECVFROM, fd, size, transfer_socket(fd, false, buffer, size, flags, &address));
    if (result >= 0)
        address_of_word(address, from, length);
    return result;
}

/* ---- options --------------------------------------------------------------------------------------- */

/* Returns the protocol's number of an option, or -ENOPROTOOPT. */
static int64_t net_option(int level, int option)
{
    if (level == IPPROTO_TCP && option == TCP_NODELAY)
        return NET_OPTION_NO_DELAY;
    if (level != SOL_SOCKET)
        return -ENOPROTOOPT;
    switch (option) {
    case SO_REUSEADDR:
        return NET_OPTION_REUSE;
    case SO_KEEPALIVE:
        return NET_OPTION_KEEP_ALIVE;
    case SO_BROADCAST:
        return NET_OPTION_BROADCAST;
    case SO_ERROR:
        return NET_OPTION_ERROR;
    default:
        return -ENOPROTOOPT;
    }
}

int setsockopt(int fd, int level, int option, const void *value, socklen_t length)
{
    enter_call(TRACE_LIBC_SETSOCKOPT, (uint64_t)fd, (uint64_t)option);
    int number = 0;
    int64_t result = length < sizeof(number) ? -EINVAL : net_option(level, option);
    if (result >= 0) {
        memcpy(&number, value, sizeof(number));
        result = call_socket_words(fd, NET_SET_OPTION, (uint64_t)result, (uint64_t)number);
    }
    return (int)leave_call(TRACE_LIBC_SETSOCKOPT, result);
}

int getsockopt(int fd, int level, int option, void *value, socklen_t *length)
{
    struct ipc_message message = {.label = NET_GET_OPTION};
    int64_t result = *length < sizeof(int) ? -EINVAL : net_option(level, option);
    enter_call(TRACE_LIBC_SETSOCKOPT, (uint64_t)fd, (uint64_t)option);
    if (result >= 0) {
        message.word[1] = (uint64_t)result;
        result = call_socket(fd, &message);
    }
    if (result >= 0) {
        int number = (int)message.word[0];
        memcpy(value, &number, sizeof(number));
        *length = sizeof(number);
    }
    return (int)leave_call(TRACE_LIBC_SETSOCKOPT, result);
}
