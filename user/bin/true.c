/* SPDX-License-Identifier: BSD-2-Clause */
/* user/bin/true.c - exit with status 0. */
int main(void)
{
    return 0;
}
