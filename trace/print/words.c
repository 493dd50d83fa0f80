/* trace/print/words.c - words for classes, events, masks, modes and sizes; see words.h. Freestanding. */
#include "trace/events.h" /* generated */
#include <trace/format/layout.h>
#include <trace/print/words.h>

struct word {
    const char *text;
    uint64_t length;
};

int trace_find_system_class(const char *name, uint64_t length)
{
    for (int i = 0; i < (int)TRACE_CLASS_COUNT; i++)
        if (trace_class_table[i].name && trace_is_word(name, length, trace_class_table[i].name))
            return i;
    return -1;
}

bool trace_parse_number(const char *text, uint64_t length, uint64_t *number)
{
    unsigned shift = 0;
    if (length > 1 && (text[length - 1] | 0x20) == 'k')
        shift = 10, length--;
    else if (length > 1 && (text[length - 1] | 0x20) == 'm')
        shift = 20, length--;
    uint64_t base = length > 2 && text[0] == '0' && (text[1] | 0x20) == 'x' ? 16 : 10, value = 0;
    for (uint64_t i = base == 16 ? 2 : 0; i < length; i++) {
        uint64_t letter = (uint8_t)text[i] | 0x20, digit = base; /* lower case; digits have that bit */
        if (letter >= '0' && letter <= '9' && text[i] >= '0')
            digit = letter - '0';
        else if (letter >= 'a' && letter <= 'f')
            digit = letter - 'a' + 10;
        if (digit >= base || value > (~0ull - digit) / base)
            return false;
        value = value * base + digit;
    }
    *number = value << shift;
    return length > 0 && value <= ~0ull >> shift;
}

bool trace_parse_duration(const char *text, uint64_t length, uint64_t *ns)
{
    static const struct {
        const char *name;
        uint64_t ns;
    } units[] = {{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}};
    uint64_t digits = 0;
    while (digits < length && text[digits] >= '0' && text[digits] <= '9')
        digits++;
    for (unsigned i = 0; i < sizeof(units) / sizeof(*units); i++)
        if (trace_is_word(text + digits, length - digits, units[i].name))
            return trace_parse_number(text, digits, ns) && !__builtin_mul_overflow(*ns, units[i].ns, ns);
    return false;
}

static bool parse_classes(const char *text, uint64_t length, trace_find_class *find_class, uint64_t *classes)
{
    int number;
    if (trace_is_word(text, length, "all"))
        *classes = ~0ull;
    else if (trace_is_word(text, length, "basic"))
        *classes = TRACE_CLASSES_BASIC;
    else if (trace_is_word(text, length, "none") || trace_is_word(text, length, "off"))
        *classes = 0;
    else if ((number = find_class(text, length)) >= 0)
        *classes = 1ull << number;
    else
        return trace_parse_number(text, length, classes);
    return true;
}

/* Takes the next word off a list, which has at least one. */
static bool next_word(const char **list, struct word *word)
{
    const char *text = *list;
    uint64_t length = 0;
    if (!text)
        return false;
    while (text[length] && text[length] != ',')
        length++;
    *word = (struct word){text, length};
    *list = text[length] ? text + length + 1 : 0;
    return true;
}

bool trace_parse_mask(const char *text, trace_find_class *find_class, uint64_t *mask, const char **bad)
{
    uint64_t result = *text == '+' || *text == '-' ? *mask : 0, classes;
    for (struct word word; next_word(&text, &word);) {
        const bool take_away = *word.text == '-', has_sign = take_away || *word.text == '+';
        *bad = word.text;
        if (!parse_classes(word.text + has_sign, word.length - has_sign, find_class, &classes))
            return false;
        result = take_away ? result & ~classes : result | classes;
    }
    *mask = result;
    return true;
}

/* ---- events ---- */

static bool matches(struct word pattern, const char *text)
{
    uint64_t at = 0, star = pattern.length, again = 0;
    for (uint64_t i = 0; text[i];) {
        if (at < pattern.length && pattern.text[at] == '*') {
            star = at++;
            again = i;
        } else if (at < pattern.length && pattern.text[at] == text[i]) {
            at++;
            i++;
        } else if (star < pattern.length) {
            at = star + 1;
            i = ++again;
        } else {
            return false;
        }
    }
    while (at < pattern.length && pattern.text[at] == '*')
        at++;
    return at == pattern.length;
}

/* The name in a trace without the class: with irq.NAME either name of an event is understood. */
static const char *short_name(const struct trace_event_info *event)
{
    uint64_t i = 0;
    while (event->class_name[i] && event->class_name[i] == event->full_name[i])
        i++;
    return event->full_name + (!event->class_name[i] && event->full_name[i] == '_' ? i + 1 : 0);
}

/* Splits at a dot. False: there is none, and the word means a class or a name in a trace. */
static bool split(struct word name, struct word *class, struct word *event)
{
    uint64_t dot = 0;
    while (dot < name.length && name.text[dot] != '.')
        dot++;
    *class = (struct word){name.text, dot};
    *event =
        dot < name.length ? (struct word){name.text + dot + 1, name.length - dot - 1} : (struct word){"*", 1};
    return dot < name.length;
}

static bool is_meant(struct word name, const struct trace_event_info *event)
{
    struct word class, part;
    const bool has_dot = split(name, &class, &part);
    if (!has_dot && matches(name, event->full_name))
        return true;
    return matches(class, event->class_name) &&
           (matches(part, event->name) || matches(part, short_name(event)) ||
            matches(part, event->full_name));
}

/* Returns the number of declared events of the class that the name means, and their bits. */
static uint32_t find_meant(struct word name, trace_find_info *find, uint32_t class_number, uint64_t *bits)
{
    uint32_t declared = 0, meant = 0;
    uint64_t undeclared = 0;
    *bits = 0;
    for (uint32_t minor = 0; minor < TRACE_MINORS_SWITCHED; minor++) {
        const struct trace_event_info *event = find(TRACE_ID(class_number, minor));
        declared += event != 0;
        if (!event) {
            undeclared |= 1ull << minor;
        } else if (is_meant(name, event)) {
            *bits |= 1ull << minor;
            meant++;
        }
    }
    if (declared && meant == declared)
        *bits |= undeclared;
    return meant;
}

static uint32_t switch_word(struct word name, trace_find_info *find, bool on,
                            uint64_t switches[TRACE_CLASS_COUNT])
{
    uint32_t count = 0;
    uint64_t bits;
    for (uint32_t class = 0; class < TRACE_CLASS_COUNT; class ++) {
        count += find_meant(name, find, class, &bits);
        switches[class] = on ? switches[class] | bits : switches[class] & ~bits;
    }
    return count;
}

uint32_t trace_switch_events(const char *names, trace_find_info *find, bool on,
                             uint64_t switches[TRACE_CLASS_COUNT], const char **bad)
{
    uint64_t result[TRACE_CLASS_COUNT];
    uint32_t count = 0;
    __builtin_memcpy(result, switches, sizeof(result));
    for (struct word word; next_word(&names, &word);) {
        const uint32_t found = switch_word(word, find, on, result);
        *bad = word.text;
        if (!found)
            return 0;
        count += found;
    }
    __builtin_memcpy(switches, result, sizeof(result));
    return count;
}

/* ---- counters ---- */

static bool is_among(uint64_t packed, uint64_t counter)
{
    for (; packed; packed >>= 8)
        if ((packed & 0xff) == counter)
            return true;
    return false;
}

bool trace_parse_counters(const char *text, trace_find_counter *find, const void *context, uint64_t *packed,
                          const char **bad)
{
    *packed = 0;
    if (trace_is_word(text, __builtin_strlen(text), "none"))
        return true;
    uint32_t slot = 0;
    for (struct word word; next_word(&text, &word); slot++) {
        const uint64_t counter = find(context, word.text, word.length);
        *bad = word.text;
        if (!counter || slot == TRACE_COUNTER_SLOTS || is_among(*packed, counter))
            return false;
        *packed |= counter << 8 * slot;
    }
    return true;
}

/* ---- modes ---- */

static const char *const mode_names[] = {
    [TRACE_MODE_FLIGHT] = "flight", [TRACE_MODE_STREAM] = "stream", [TRACE_MODE_ONCE] = "once"};
#define MODES (sizeof(mode_names) / sizeof(*mode_names))

bool trace_parse_mode(const char *text, uint32_t *mode)
{
    for (uint32_t i = 0; i < MODES; i++) {
        if (trace_is_word(text, __builtin_strlen(text), mode_names[i])) {
            *mode = i;
            return true;
        }
    }
    return false;
}

const char *trace_mode_name(uint32_t mode)
{
    return mode < MODES ? mode_names[mode] : "?";
}
