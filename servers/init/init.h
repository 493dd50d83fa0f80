/* init.h - functions that the files of init share. */
#pragma once

#include <stdbool.h>
#include <tarn/abi.h>

/* ---- boot.c: the servers --------------------------------------------------------------------------- */
void start_servers(void);           /* panics if proc, fs or console cannot be started */
void wait_for_servers(void);        /* until each one replies or times out */
_Noreturn void watch_servers(void); /* reports deaths of servers on the console */

/* ---- session.c: the first programs ----------------------------------------------------------------- */
struct boot_options {
    char run[128]; /* PATH of run=PATH, or "" */
    bool exit;     /* exit=1 */
};
void read_boot_options(struct boot_options *options);
void run_sessions(const struct boot_options *options);
void shut_down(uint32_t status);
