/*
 * market.c - clients that exchange messages with a server over IPC and log events of their own.
 *
 *     market [clients] [orders]    starts the exchange as a second process, then clients as threads
 *     market exchange NAME         the exchange: receives orders, matches them, replies with the price
 *
 * The events are declared in market.ev and registered when the program starts; on the host they appear with
 * their names and types among the kernel's.
 */
#include <errno.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define TRACE_DEFINE_MARKET
#include <app/market.h>
#include <tarn/runtime.h>
#include <tarn/service.h>

extern char **environ;

enum { LABEL_ORDER = 0x1000, LABEL_CLOSE }; /* SERVER_LABEL_OWN of servers/protocol */
enum { WORD_NUMBER, WORD_SIDE, WORD_PRICE };

#define CLIENTS_MAX 32
#define BOOK_MAX    1024
static const char *const symbols[] = {"TARN", "K42", "LTT", "KTAU"};

/* ---- the exchange ---------------------------------------------------------------------------------- */

struct book {
    struct {
        uint64_t number, price;
    } order[BOOK_MAX];
    uint32_t count;
};
static struct book books[2]; /* by side */

/* Returns the index of the best matching order of the other side, or -1. */
static int find_match(const struct book *other, uint64_t side, uint64_t price)
{
    int best = -1;
    for (uint32_t i = 0; i < other->count; i++) {
        uint64_t offered = other->order[i].price;
        bool agrees = side == TRACE_MARKET_BUY ? offered <= price : offered >= price;
        bool better = best < 0 || (side == TRACE_MARKET_BUY ? offered < other->order[best].price
                                                            : offered > other->order[best].price);
        if (agrees && better)
            best = (int)i;
    }
    return best;
}

/* Returns the price of the trade, or 0 if the order stays in the book. */
static uint64_t take_order(uint64_t number, uint64_t side, uint64_t price)
{
    struct book *own = &books[side], *other = &books[!side];
    int match = find_match(other, side, price);
    uint64_t result = 0;
    if (match >= 0) {
        uint64_t partner = other->order[match].number;
        result = other->order[match].price;
        other->order[match] = other->order[--other->count];
        trace_market_trade(side == TRACE_MARKET_BUY ? number : partner,
                           side == TRACE_MARKET_BUY ? partner : number, result);
    } else if (own->count < BOOK_MAX) {
        own->order[own->count].number = number;
        own->order[own->count++].price = price;
    }
    trace_market_book(books[TRACE_MARKET_BUY].count, books[TRACE_MARKET_SELL].count);
    return result;
}

static int run_exchange(const char *name)
{
    int64_t endpoint = sys_endpoint_create();
    if (endpoint < 0 || service_publish(name, (cap_t)endpoint) < 0) {
        fprintf(stderr, "market: cannot publish %s\n", name);
        return 1;
    }
    struct ipc_message message;
    int64_t error = ipc_receive((cap_t)endpoint, &message);
    while (!error && message.label != LABEL_CLOSE) {
        uint64_t price = 0;
        if (message.label == LABEL_ORDER && message.word[WORD_SIDE] <= 1)
            price = take_order(message.word[WORD_NUMBER], message.word[WORD_SIDE], message.word[WORD_PRICE]);
        message = (struct ipc_message){.label = 0, .word = {[WORD_PRICE] = price}};
        error = ipc_reply_receive((cap_t)endpoint, &message);
    }
    message = (struct ipc_message){0};
    ipc_reply(&message);
    return error != 0;
}

/* ---- the clients ----------------------------------------------------------------------------------- */

static cap_t exchange;
static unsigned clients = 4, orders = 500;
static _Atomic uint64_t trades, failures;

static void *run_client(void *argument)
{
    unsigned client = (unsigned)(uintptr_t)argument, seed = client + 1;
    for (unsigned i = 0; i < orders; i++) {
        seed = seed * 1664525u + 1013904223u;
        uint64_t number = (uint64_t)client * orders + i, side = seed >> 31, price = 9900 + (seed >> 16) % 200;
        trace_market_order(number, client, (uint32_t)side, price, symbols[seed % 4]);
        struct ipc_message message = {
            .label = LABEL_ORDER, .word = {[WORD_NUMBER] = number, [WORD_SIDE] = side, [WORD_PRICE] = price}};
        if (ipc_call(exchange, &message) != 0)
            failures++;
        else if (message.word[WORD_PRICE])
            trades++;
    }
    return NULL;
}

static int start_exchange(const char *name, pid_t *pid)
{
    char *arguments[] = {"market", "exchange", (char *)name, NULL};
    errno = posix_spawnp(pid, "market", NULL, NULL, arguments, environ);
    if (errno) {
        fprintf(stderr, "market: cannot start the exchange: %s\n", strerror(errno));
        return 1;
    }
    int64_t slot = service_connect(name, deadline_after(10ull * 1000 * 1000 * 1000));
    if (slot < 0) {
        fprintf(stderr, "market: the exchange does not reply\n");
        return 1;
    }
    exchange = (cap_t)slot;
    return 0;
}

int main(int argc, char **argv)
{
    if (trace_register_schema(&trace_schema_market) < 0)
        fprintf(stderr, "market: no event class is free; continuing without events\n");
    if (argc == 3 && !strcmp(argv[1], "exchange"))
        return run_exchange(argv[2]);
    if (argc > 1)
        clients = (unsigned)atoi(argv[1]);
    if (argc > 2)
        orders = (unsigned)atoi(argv[2]);
    if (argc > 3 || clients < 1 || clients > CLIENTS_MAX || orders < 1) {
        fprintf(stderr, "usage: market [clients, 1..%d] [orders]\n", CLIENTS_MAX);
        return 2;
    }
    char name[32];
    pid_t pid;
    snprintf(name, sizeof name, "exchange-%d", (int)getpid());
    if (start_exchange(name, &pid))
        return 1;
    pthread_t thread[CLIENTS_MAX];
    for (unsigned i = 0; i < clients; i++) {
        if (pthread_create(&thread[i], NULL, run_client, (void *)(uintptr_t)i)) {
            fprintf(stderr, "market: cannot create client %u\n", i);
            return 1;
        }
    }
    for (unsigned i = 0; i < clients; i++)
        pthread_join(thread[i], NULL);
    struct ipc_message close = {.label = LABEL_CLOSE};
    ipc_call(exchange, &close);
    int status;
    waitpid(pid, &status, 0);
    printf("market: %u clients, %u orders, %llu trades%s\n", clients, clients * orders,
           (unsigned long long)trades, failures || status ? ", FAILED" : "");
    return failures || status;
}
