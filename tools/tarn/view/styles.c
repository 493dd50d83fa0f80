/* SPDX-License-Identifier: BSD-2-Clause */
/* styles.c - the legend of the page and the PNG, and colours of programs; see styles.h. */
#include <math.h>
#include <tools/tarn/view/styles.h>

#define STATE(state, property, shape, text) [STYLE_STATE + MODEL_##state] = {"state-" property, shape, text}
#define ACTION(kind, property, text)        [STYLE_ACTIVITY + ACTIVITY_##kind] = {"activity-" property, "box", text}

const struct style_entry styles[STYLES] = {
    [STYLE_PROGRAM] = {"program", "box", "runs its own code (colour of its program)"},
    [STYLE_KERNEL] = {"kernel", "box", "runs in the kernel"},
    [STYLE_INTERRUPT] = {"interrupt", "box", "CPU handles an interrupt"},
    [STYLE_IDLE] = {"idle", "line", "idle"},
    [STYLE_LOST] = {"lost", "stripes", "unknown: nothing was logged"},
    [STYLE_LOCK] = {"lock", "line", "waits for a lock, semaphore, ... (dashed: its holder)"},
    [STYLE_WAKEUP] = {"wakeup", "line", "wake-up (dashed: CPU handed over)"},
    [STYLE_CALL] = {"call", "line", "IPC call (dashed: its reply)"},
    STATE(RUNNING, "running", "", "running"),
    STATE(READY, "ready", "stripes", "ready"),
    STATE(BLOCKED_SEND, "ipc", "line", "waits for a receiver"),
    STATE(BLOCKED_RECEIVE, "receive", "line", "waits for work"),
    STATE(BLOCKED_REPLY, "ipc", "line", "waits for a reply"),
    STATE(BLOCKED_NOTIFICATION, "notification", "line", "waits for a notification"),
    STATE(BLOCKED_FUTEX, "futex", "line", "waits for a futex"),
    STATE(SLEEPING, "sleeping", "line", "sleeps"),
    STATE(BLOCKED_FAULT, "faulting", "line", "waits for a page"),
    STATE(SUSPENDED, "suspended", "line", "suspended"),
    STATE(DEAD, "dead", "", "dead"),
    STATE(UNKNOWN, "unknown", "", "unknown"),
    ACTION(LIBC, "libc", "POSIX call"),
    ACTION(SYSCALL, "syscall", "system call"),
    ACTION(FAULT, "fault", "fault"),
    ACTION(EXCEPTION, "exception", "exception"),
    ACTION(IRQ, "irq", "interrupt"),
    ACTION(IPI, "ipi", "IPI"),
    ACTION(REQUEST, "request", "request"),
    ACTION(DRAIN, "drain", "sends the trace"),
};

/* Rounds to one of 256 values as the page does, where cairo would truncate. */
static double shown(double linear)
{
    double value = linear <= 0.0031308 ? 12.92 * linear : 1.055 * pow(linear, 1 / 2.4) - 0.055;

    return value < 0 ? 0 : value > 1 ? 1 : round(value * 255) / 255;
}

/* Converts OKLCH to sRGB. HUE is in degrees. */
static struct colour oklch(double lightness, double chroma, double hue)
{
    double a = chroma * cos(hue * M_PI / 180), b = chroma * sin(hue * M_PI / 180);
    double l = pow(lightness + 0.3963377774 * a + 0.2158037573 * b, 3);
    double m = pow(lightness - 0.1055613458 * a - 0.0638541728 * b, 3);
    double s = pow(lightness - 0.0894841775 * a - 1.2914855480 * b, 3);

    return (struct colour){shown(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
                           shown(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
                           shown(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s)};
}

struct process_colours style_of_program(bool is_dark, const char *name)
{
    uint32_t hash = 25251;
    double hue, step;

    for (; *name != '\0'; name++)
        hash = (hash ^ (uint8_t)*name) * 16777619u;
    hash ^= hash >> 15;
    hue = hash % 360;
    step = (hash >> 16) % 2 * 0.06;
    if (is_dark)
        return (struct process_colours){oklch(0.54 - step, 0.11, hue), oklch(0.42 - step, 0.1, hue)};
    return (struct process_colours){oklch(0.84 - step, 0.09, hue), oklch(0.71 - step, 0.13, hue)};
}
