/* mv.c - renames files and directories, or moves them into a directory. */
#include <stdio.h>

#include <user/bin/util.h>

static int move(const char *from, const char *to)
{
    return rename(from, to) < 0 ? complain("%s to %s", from, to) : 0;
}

int main(int argc, char **argv)
{
    return act_on_each(argc, argv, read_options(argc, argv, "", 2, "from ... to"), move);
}
