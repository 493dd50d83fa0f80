/* SPDX-License-Identifier: BSD-2-Clause */
/* false.c - exits with status 1. */
int main(void)
{
    return 1;
}
