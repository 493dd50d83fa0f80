/* SPDX-License-Identifier: BSD-2-Clause */
/* user/bin/false.c - exit with status 1. */
int main(void)
{
    return 1;
}
