/* init.h - functions that the files of init share. */
#pragma once

#include <stdint.h>

void start_servers(void);           /* panics if proc, fs or console cannot be started */
void wait_for_servers(void);        /* until each one replies or times out */
_Noreturn void watch_servers(void); /* reports deaths of servers on the console */
void shut_down(uint32_t status);
