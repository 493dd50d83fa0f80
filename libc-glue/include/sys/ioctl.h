/* sys/ioctl.h - requests for the console and sockets; libc-glue/posix/console.c. */
#pragma once

#define TIOCGWINSZ 0x5413
#define FIONBIO    0x5421

struct winsize {
    unsigned short ws_row, ws_col, ws_xpixel, ws_ypixel;
};

int ioctl(int fd, unsigned long request, ...);
