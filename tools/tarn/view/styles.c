/* styles.c - the legend and all colours; see styles.h. */
#include <math.h>
#include <stdio.h>
#include <tools/tarn/view/styles.h>

#define STATE(state, property, light, dark, shape, text) \
    [STYLE_STATE + MODEL_##state] = {"state-" property, {light, dark}, shape, text}
#define ACTION(kind, property, light, dark, text) \
    [STYLE_ACTIVITY + ACTIVITY_##kind] = {"activity-" property, {light, dark}, "box", text}
#define MARK(number, light, dark)           [STYLE_MARK + number] = {"mark-" #number, {light, dark}, NULL, NULL}
#define PLAIN(style, property, light, dark) [STYLE_##style] = {property, {light, dark}, NULL, NULL}

/* States have the colours of Okabe and Ito where possible, which colour-blind people can distinguish. */
const struct style_entry styles[STYLES] = {
    [STYLE_PROGRAM] = {"program", {0, 0}, "box", "runs its own code (colour of its program)"},
    [STYLE_KERNEL] = {"kernel", {0, 0}, "box", "runs in the kernel"},
    [STYLE_INTERRUPT] = {"interrupt", {0xc4314b, 0xff7b8f}, "box", "CPU handles an interrupt"},
    [STYLE_IDLE] = {"idle", {0xdfe3e9, 0x2b313b}, "line", "idle"},
    [STYLE_LOST] = {"lost", {0xb9bfca, 0x4b5462}, "stripes", "unknown: nothing was logged"},
    [STYLE_LOCK] = {"lock",
                    {0xc00a2f, 0xff5d78},
                    "line",
                    "waits for a lock, semaphore, ... (dashed: its holder)"},
    [STYLE_WAKEUP] = {"wakeup", {0x00785a, 0x4fd0a8}, "line", "wake-up (dashed: CPU handed over)"},
    [STYLE_CALL] = {"call", {0x3152c8, 0x93a8ff}, "line", "IPC call (dashed: its reply)"},
    STATE(RUNNING, "running", 0, 0, NULL, "running"),
    STATE(READY, "ready", 0xe08a00, 0xffb224, "stripes", "ready"),
    STATE(BLOCKED_SEND, "ipc", 0x5b74d6, 0x7d93f0, "line", "waits for a receiver"),
    STATE(BLOCKED_RECEIVE, "receive", 0xc3c9d3, 0x3f4754, "line", "waits for work"),
    STATE(BLOCKED_REPLY, "ipc", 0x5b74d6, 0x7d93f0, "line", "waits for a reply"),
    STATE(BLOCKED_NOTIFICATION, "notification", 0xb3bac6, 0x4b5462, "line", "waits for a notification"),
    STATE(BLOCKED_FUTEX, "futex", 0xb0489a, 0xd673c1, "line", "waits for a futex"),
    STATE(SLEEPING, "sleeping", 0xc3c9d3, 0x3f4754, "line", "sleeps"),
    STATE(BLOCKED_FAULT, "faulting", 0xd97706, 0xf59e3c, "line", "waits for a page"),
    STATE(SUSPENDED, "suspended", 0x6b7280, 0x8a93a1, "line", "suspended"),
    STATE(DEAD, "dead", 0, 0, NULL, "dead"),
    STATE(UNKNOWN, "unknown", 0, 0, NULL, "unknown"),
    ACTION(LIBC, "libc", 0xa8cdf0, 0x2f5d8c, "POSIX call"),
    ACTION(SYSCALL, "syscall", 0x6fb7a8, 0x1d6f62, "system call"),
    ACTION(FAULT, "fault", 0xeaa24c, 0x94590f, "fault"),
    ACTION(EXCEPTION, "exception", 0xe58a7b, 0x8f4034, "exception"),
    ACTION(IRQ, "irq", 0xe77f95, 0x96324a, "interrupt"),
    ACTION(IPI, "ipi", 0xcf9bd6, 0x75437d, "IPI"),
    ACTION(REQUEST, "request", 0xb9cf6b, 0x5b6a1c, "request"),
    ACTION(DRAIN, "drain", 0xc9a3d6, 0x6b4478, "sends the trace"),
    MARK(0, 0xd1242f, 0xff6b6b),
    MARK(1, 0x0b6bcb, 0x58a6ff),
    MARK(2, 0x1a8754, 0x4ad295),
    MARK(3, 0x9333c9, 0xc792ff),
    MARK(4, 0xb87300, 0xf0b429),
    MARK(5, 0x0891b2, 0x4dd0e1),
    MARK(6, 0xc2187a, 0xff7ac6),
    MARK(7, 0x4b5563, 0xb0bac7),
    PLAIN(BACKGROUND, "background", 0xffffff, 0x14171c),
    PLAIN(RAISED, "raised", 0xf4f5f7, 0x1c2027),
    PLAIN(LINE, "line", 0xeceef1, 0x232830),
    PLAIN(TEXT, "text", 0x1b1f26, 0xe6e9ee),
    PLAIN(QUIET, "quiet", 0x5b6472, 0x9aa4b2),
    PLAIN(BOX_TEXT, "box-text", 0x14171c, 0xffffff),
    PLAIN(LINE_STRONG, "line-strong", 0xc9ced6, 0x3c434f),
    PLAIN(ACCENT, "accent", 0x0b5cad, 0x6cb2ff),
    PLAIN(ACCENT_SOFT, "accent-soft", 0xdceafb, 0x1d3350),
    PLAIN(SELECTION, "selection", 0x0b5cad, 0x6cb2ff),
    PLAIN(WARNING, "warning", 0x9a3b00, 0xffb27a),
};

/* Returns a component from 0 to 255. */
static uint32_t component(double linear)
{
    double value = linear <= 0.0031308 ? 12.92 * linear : 1.055 * pow(linear, 1 / 2.4) - 0.055;
    return value < 0 ? 0 : value > 1 ? 255 : (uint32_t)round(value * 255);
}

/* Converts OKLCH to sRGB. HUE is in degrees. */
static uint32_t oklch(double lightness, double chroma, double hue)
{
    double a = chroma * cos(hue * M_PI / 180), b = chroma * sin(hue * M_PI / 180);
    double l = pow(lightness + 0.3963377774 * a + 0.2158037573 * b, 3);
    double m = pow(lightness - 0.1055613458 * a - 0.0638541728 * b, 3);
    double s = pow(lightness - 0.0894841775 * a - 1.2914855480 * b, 3);
    return component(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s) << 16 |
           component(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s) << 8 |
           component(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s);
}

uint32_t style_colour(bool is_dark, enum style style, const char *program)
{
    static const struct {
        double lightness, chroma;
    } kinds[2][2] = {{{0.84, 0.09}, {0.71, 0.13}}, {{0.54, 0.11}, {0.42, 0.1}}};
    uint32_t hash = 25251;
    bool is_kernel = style == STYLE_KERNEL;
    if (style != STYLE_PROGRAM && !is_kernel)
        return styles[style].colours[is_dark];
    for (; *program != '\0'; program++)
        hash = (hash ^ (uint8_t)*program) * 16777619u;
    hash ^= hash >> 15;
    return oklch(kinds[is_dark][is_kernel].lightness - (hash >> 16) % 2 * 0.06,
                 kinds[is_dark][is_kernel].chroma, hash % 360);
}

void style_colours(enum style style, const char *program, char text[STYLE_COLOURS])
{
    snprintf(text, STYLE_COLOURS, "#%06x #%06x", style_colour(false, style, program),
             style_colour(true, style, program));
}

void style_sheet(struct buffer *sheet)
{
    char text[80];
    for (int is_dark = 0; is_dark < 2; is_dark++) {
        buffer_text(sheet, is_dark ? "@media (prefers-color-scheme: dark) {\n:root {\n" : ":root {\n");
        for (unsigned i = 0; i < STYLES; i++) {
            if (styles[i].colours[0] == styles[i].colours[1])
                continue;
            snprintf(text, sizeof(text), "  --%s: #%06x;\n", styles[i].property, styles[i].colours[is_dark]);
            buffer_text(sheet, text);
        }
        buffer_text(sheet, is_dark ? "}\n}\n" : "}\n");
    }
}
