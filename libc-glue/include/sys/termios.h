/* sys/termios.h - terminal modes; libc-glue/posix/console.c. Only ICANON, ECHO and ISIG have an effect. */
#pragma once

typedef unsigned int tcflag_t;
typedef unsigned char cc_t;
typedef unsigned int speed_t;

#define NCCS   20
#define VMIN   4
#define VTIME  5
#define ICANON 0x0002
#define ECHO   0x0008
#define ISIG   0x0001
#define IEXTEN 0x0100
#define OPOST  0x0001
#define ICRNL  0x0100
#define IXON   0x0400
#define BRKINT 0x0002
#define INPCK  0x0010
#define ISTRIP 0x0020
#define CS8    0x0030

#define TCSANOW   0
#define TCSADRAIN 1
#define TCSAFLUSH 2

struct termios {
    tcflag_t c_iflag, c_oflag, c_cflag, c_lflag;
    cc_t c_cc[NCCS];
};

int tcgetattr(int fd, struct termios *modes);
int tcsetattr(int fd, int when, const struct termios *modes);
