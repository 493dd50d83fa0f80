/*
 * shop.c - two servers that call each other, and sometimes deadlock.
 *
 *     shop [customers]    starts a stock and a ledger as processes, then customers as threads
 *     shop stock NAME     the stock: sells items and enters each sale in the ledger
 *     shop ledger NAME    the ledger: enters sales and, in an audit, compares them with the stock
 *
 * THIS PROGRAM HAS AN INTENTIONAL BUG, which docs/debugging.md finds. Each server, with its only thread,
 * calls the other one while it serves a request. Most of the time the other one is free or soon will be.
 */
#include <errno.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define TRACE_DEFINE_SHOP
#include <app/shop.h>
#include <tarn/runtime.h>
#include <tarn/service.h>

extern char **environ;

enum { STOCK_BUY = 1, STOCK_COUNT = 2 };     /* stock: word 0 order or audit, word 1 item */
enum { LEDGER_ENTER = 1, LEDGER_AUDIT = 2 }; /* ledger: word 0 order or audit */

#define CUSTOMERS_MAX  32
#define ITEMS          16u
#define ITEMS_AT_ALL   1000000u /* of each, initially */
#define AUDIT_NS       20000000 /* between audits */
#define AUDITS_PRINTED 10u
#define SHOPPING_NS    15000000 /* approximate time between orders of a customer */
#define START_NS       10000000000ull

/* ---- common to both servers ------------------------------------------------------------------------ */

static cap_t partner;

static cap_t connect_to(const char *shop, const char *server)
{
    char name[32];
    snprintf(name, sizeof name, "%s-%s", shop, server);
    int64_t slot = service_connect(name, deadline_after(START_NS));
    if (slot < 0) {
        fprintf(stderr, "shop: the %s does not reply\n", server);
        exit(1);
    }
    return (cap_t)slot;
}

/* Calls with two words. Returns the first word of the reply. */
static uint64_t ask(cap_t server, uint64_t label, uint64_t first, uint64_t second)
{
    struct ipc_message message = {.label = label, .word = {first, second}};
    if (ipc_call(server, &message)) {
        fprintf(stderr, "shop: a server has ended\n");
        exit(1);
    }
    return message.word[0];
}

static int serve(const char *shop, const char *own, const char *other,
                 uint64_t (*handle)(const struct ipc_message *))
{
    char name[32];
    int64_t endpoint = sys_endpoint_create();
    snprintf(name, sizeof name, "%s-%s", shop, own);
    if (endpoint < 0 || service_publish(name, (cap_t)endpoint) < 0) {
        fprintf(stderr, "shop: cannot publish %s\n", name);
        return 1;
    }
    partner = connect_to(shop, other);
    struct ipc_message message;
    int64_t error = ipc_receive((cap_t)endpoint, &message);
    while (!error) {
        message = (struct ipc_message){.word = {handle(&message)}};
        error = ipc_reply_receive((cap_t)endpoint, &message);
    }
    return 1;
}

/* ---- the stock ------------------------------------------------------------------------------------- */

static uint32_t shelves[ITEMS];

static uint64_t sell(uint64_t order, uint32_t item)
{
    if (shelves[item] == 0)
        return 0;
    shelves[item]--;
    trace_shop_sale(order, item, shelves[item]);
    return ask(partner, LEDGER_ENTER, order, item);
}

static uint64_t count_items(uint64_t audit)
{
    uint64_t left = 0;
    for (uint32_t item = 0; item < ITEMS; item++)
        left += shelves[item];
    trace_shop_count(audit, left);
    return left;
}

static uint64_t handle_stock(const struct ipc_message *message)
{
    switch (message->label) {
    case STOCK_BUY:
        return sell(message->word[0], (uint32_t)message->word[1] % ITEMS);
    case STOCK_COUNT:
        return count_items(message->word[0]);
    default:
        return 0;
    }
}

/* ---- the ledger ------------------------------------------------------------------------------------ */

static uint64_t sales;

/* Whether sold and remaining items add up. */
static uint64_t audit(uint64_t number)
{
    trace_shop_audit(number, sales);
    uint64_t left = ask(partner, STOCK_COUNT, number, 0);
    return left + sales == (uint64_t)ITEMS * ITEMS_AT_ALL;
}

static uint64_t handle_ledger(const struct ipc_message *message)
{
    switch (message->label) {
    case LEDGER_ENTER:
        trace_shop_entry(message->word[0], ++sales);
        return 1;
    case LEDGER_AUDIT:
        return audit(message->word[0]);
    default:
        return 0;
    }
}

/* ---- the customers and the auditor ----------------------------------------------------------------- */

static cap_t stock, ledger;
static unsigned customers = 3;
static _Atomic uint64_t sold;

static void *run_customer(void *argument)
{
    uint32_t customer = (uint32_t)(uintptr_t)argument, seed = customer + 1;
    for (uint64_t i = 0;; i++) {
        seed = seed * 1664525u + 1013904223u;
        uint64_t order = customer * 1000000000ull + i;
        trace_shop_order(order, customer, (seed >> 16) % ITEMS);
        if (!ask(stock, STOCK_BUY, order, (seed >> 16) % ITEMS))
            return NULL;
        sold++;
        nanosleep(&(struct timespec){.tv_nsec = SHOPPING_NS / 2 + (seed >> 8) % SHOPPING_NS}, NULL);
    }
}

static void run_auditor(void)
{
    for (uint64_t number = 1;; number++) {
        nanosleep(&(struct timespec){.tv_nsec = AUDIT_NS}, NULL);
        uint64_t good = ask(ledger, LEDGER_AUDIT, number, 0);
        if (!good || number % AUDITS_PRINTED == 0)
            printf("shop: audit %llu: %llu sold, the books are %s\n", (unsigned long long)number,
                   (unsigned long long)sold, good ? "in order" : "WRONG");
        fflush(stdout);
    }
}

static int start_server(const char *shop, const char *server)
{
    char *arguments[] = {"shop", (char *)server, (char *)shop, NULL};
    pid_t pid;
    errno = posix_spawnp(&pid, "shop", NULL, NULL, arguments, environ);
    if (errno)
        fprintf(stderr, "shop: cannot start the %s: %s\n", server, strerror(errno));
    return errno;
}

static int open_shop(void)
{
    char shop[16];
    snprintf(shop, sizeof shop, "shop%d", (int)getpid());
    if (start_server(shop, "stock") || start_server(shop, "ledger"))
        return 1;
    stock = connect_to(shop, "stock");
    ledger = connect_to(shop, "ledger");
    for (unsigned i = 0; i < customers; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, run_customer, (void *)(uintptr_t)i)) {
            fprintf(stderr, "shop: cannot create customer %u\n", i);
            return 1;
        }
    }
    run_auditor();
    return 0;
}

int main(int argc, char **argv)
{
    if (trace_register_schema(&trace_schema_shop) < 0)
        fprintf(stderr, "shop: no event class is free; continuing without events\n");
    for (unsigned item = 0; item < ITEMS; item++)
        shelves[item] = ITEMS_AT_ALL;
    if (argc == 3 && !strcmp(argv[1], "stock"))
        return serve(argv[2], "stock", "ledger", handle_stock);
    if (argc == 3 && !strcmp(argv[1], "ledger"))
        return serve(argv[2], "ledger", "stock", handle_ledger);
    if (argc == 2)
        customers = (unsigned)atoi(argv[1]);
    if (argc > 2 || customers < 1 || customers > CUSTOMERS_MAX) {
        fprintf(stderr, "usage: shop [customers, 1..%d]\n", CUSTOMERS_MAX);
        return 2;
    }
    return open_shop();
}
