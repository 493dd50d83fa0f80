"""Writes <trace/CLASS.h>: one typed inline function for each event.

An event of constant size becomes a site that is off or on (trace/ring/ring.h), and a block with one store per field
(trace/ring/restart.h), or, with TRACE_CAS, reserve, stores and commit (trace/ring/cas.h). One that ends in a string or
an array collects its fixed fields on the stack and calls trace_log_string() or trace_log_words().
"""
import outputs
from model import ARRAY, COMM, SIGNED, STRING, constant

# The rest of this many operands of a block may find no register (x86_64 with a frame pointer has 9 for them).
NEAR_OPERANDS = 8
INLINE = "static inline __attribute__((always_inline))"


def parameter(field):
    if field.kind == COMM:
        return f"const char {field.name}[static {constant('TRACE_NAME_BYTES')}]"
    if field.kind in (STRING, ARRAY):
        return f"const {'char' if field.kind == STRING else 'uint64_t'} *{field.name}"
    return f"{'' if field.kind == SIGNED else 'u'}int{8 * field.bytes}_t {field.name}"


def parameters(event):
    return ", ".join(parameter(field) for field in event.fields if not field.is_reserved()) or "void"


def stores(fields, verb, place):
    """Statements that store fields: trace_put_... into the slot, or trace_fix_... into the collected fields."""
    return [f"    trace_{verb}_name({place}, {field.offset}, {field.name});" if field.kind == COMM else
            f"    trace_{verb}_{8 * field.bytes}({place}, {field.offset}, {'0' if field.is_reserved() else field.name});"
            for field in fields]


def operands(event):
    """(field, whether it may find no register)"""
    count = 0
    for field in event.fields:
        yield field, count >= NEAR_OPERANDS and field.kind != COMM and not field.is_reserved()
        count += not field.is_reserved()


def has_copies(event):
    """Whether its block copies anything from memory."""
    return any(field.kind == COMM or is_far for field, is_far in operands(event))


def block_stores(event):
    for field, is_far in operands(event):
        size, far = 8 * field.bytes, "FAR_" if is_far else ""
        if field.is_reserved():
            yield f" TRACE_PUT_ZERO_{size}({field.offset})"
        elif field.kind == COMM:
            yield f" TRACE_PUT_NAME({field.offset}, {field.name})"
        else:
            yield f" TRACE_PUT_{far}{size}({field.offset}, {field.name})"


def block_inputs(event):
    for field, is_far in operands(event):
        if field.kind == COMM:
            yield f", TRACE_IN_NAME({field.name})"
        elif not field.is_reserved():
            yield f", TRACE_IN_{'FAR_' if is_far else ''}{8 * field.bytes}({field.name})"


def block(own, event, ident, is_timed):
    """IS_TIMED: the block's value is the time, also if it copies."""
    words = 1 + event.fixed_bytes // 8
    # a value that moves to a register of the block does so behind the site
    lines = [f"    TRACE_BEHIND_SITE({field.name});" for field, is_far in operands(event)
             if not field.is_reserved() and field.kind != COMM and not is_far]
    copy = "COPY_" if is_timed and has_copies(event) else ""
    lines += [f"    {'return' if is_timed else '(void)'} ARCH_TRACE_{copy}BLOCK(trace_{own.name}_{event.name}, {words}, "
              f"trace_header_half({ident}, {words}),",
              "       " + ("".join(block_stores(event)) or ' ""') + "".join(block_inputs(event)) + ");"]
    return lines


def cas(event, ident, is_timed):
    """The fast path stores into the ring and calls nothing, so no register must survive a call; the slow path collects
    the fields and calls cas.c."""
    words = 1 + event.fixed_bytes // 8
    return ["    struct trace_slot slot;",
            f"    if (__builtin_expect(trace_reserve(&slot, {words}), 1)) {{",
            *("    " + line for line in stores(event.fields, "put", "&slot")),
            f"        trace_commit(&slot, {ident}, {words});",
            f"        return{' (uint32_t)slot.time' if is_timed else ''};",
            "    }",
            *([f"    uint64_t fixed[{words - 1}];"] if words > 1 else []),
            *stores(event.fields, "fix", "fixed"),
            f"    {'return ' if is_timed else ''}trace_log_slow({ident}, {'fixed' if words > 1 else '0'}, {words});"]


def with_tail(event, ident):
    tail, words = event.tail(), (event.fixed_bytes + 7) // 8
    count = event.fields[tail.count_field].name if tail.kind == ARRAY else ""
    fixed = "fixed" if words else "0"
    lines = []
    if count:
        lines += [f"    if ({count} > TRACE_TAIL_WORDS - {words})", f"        {count} = TRACE_TAIL_WORDS - {words};"]
    if words:
        lines += [f"    uint64_t fixed[{words}];", *stores(event.fields[:-1], "fix", "fixed")]
    call = f"{ident}, {fixed}, {event.fixed_bytes}, {tail.name}"
    return [*lines, f"    trace_log_words({call}, {count});" if count else f"    trace_log_string({call});"]


def function(own, event, ident, suffix, is_timed):
    upper = own.name.upper()
    on = f"TRACE_ON_{upper}_{event.name.upper()}()"
    if event.above:
        on = f"TRACE_ABOVE_ON_{upper}({event.minor}, {event.limit}, {event.above})"
    elif event.limit >= 0:
        on = f"TRACE_SAMPLE_ON_{upper}({event.minor}, {event.limit})"
    body = with_tail(event, ident) if event.tail() else ["#ifdef TRACE_CAS", *cas(event, ident, is_timed), "#else",
                                                         *block(own, event, ident, is_timed), "#endif"]
    return [f"{INLINE} {'uint64_t' if is_timed else 'void'} trace_{own.name}_{event.name}{suffix}({parameters(event)})",
            "{", f"    if (!{on})", f"        return{' TRACE_NOT_LOGGED' if is_timed else ''};", *body, "}"]


def event_functions(own, event, ident):
    upper = f"{own.name}_{event.name}".upper()
    comment = [event.description, *(f" *   {field.name:16} {field.description}" for field in event.fields
                                    if not field.is_reserved())]
    is_plain = not event.tail() and not has_copies(event)
    lines = ["", "/* " + "\n".join(comment) + " */",
             f"#define TRACE_ON_{upper}() TRACE_EVENT_ON_{own.name.upper()}({event.minor})",
             *([] if event.tail() else [f"#define TRACE_ID_{upper} {ident}"]),
             *function(own, event, ident, "", is_plain)]
    if not event.tail() and not is_plain:  # the time costs such a block a register
        lines += function(own, event, ident, "_timed", True)
    return lines


def enums(own):
    for enum in own.enums.values():
        yield from ["", f"enum trace_{own.name}_{enum.name} {{"]
        for name, value in enum.values.items():
            yield f"    TRACE_{own.name.upper()}_{name.upper()} = {value}{'u' if value > 0x7fffffff else ''},"
        yield "};"


def opening(own):
    return [f"/* {outputs.NOTE} from {own.file}. {own.description} */", "#pragma once", "#include <trace/event/event.h>"]


def class_header(own):
    text = """
#define TRACE_CLASS_@ %du
#ifdef TRACE_OUT_@ /* compiled out */
#define TRACE_ON_@() 0
#define TRACE_EVENT_ON_@(minor) 0
#define TRACE_SAMPLE_ON_@(minor, index) 0
#define TRACE_ABOVE_ON_@(minor, index, value) 0
#else
#define TRACE_ON_@() trace_class_on(TRACE_CLASS_@)
#define TRACE_EVENT_ON_@(minor) trace_event_on(TRACE_CLASS_@, minor)
#define TRACE_SAMPLE_ON_@(minor, index) trace_sample_on(TRACE_CLASS_@, minor, index)
#define TRACE_ABOVE_ON_@(minor, index, value) trace_above_on(TRACE_CLASS_@, minor, index, value)
#endif"""
    lines = [*opening(own), text.replace("@", own.name.upper()) % own.number, *enums(own)]
    for event in own.events:
        lines += event_functions(own, event, f"TRACE_ID({own.number}, {event.minor})")
    return "\n".join([*lines, ""])


def app_header(schema, own):
    """An application's class has its number in a variable: TRACE_CLASS_COUNT until it is registered."""
    text = """
/* One source file of the program defines TRACE_DEFINE_@ before it includes this, and calls
 * trace_register_schema(&trace_schema_~) once; until then nothing is logged. */
extern uint32_t trace_class_~;
extern const struct trace_schema trace_schema_~;
#define TRACE_ON_@() trace_app_enabled(trace_class_~)
#define TRACE_EVENT_ON_@(minor) (TRACE_ON_@() && trace_app_event_enabled(trace_class_~, minor))
#define TRACE_SAMPLE_ON_@(minor, limit) \\
    (TRACE_EVENT_ON_@(minor) && trace_app_is_sample(trace_class_~, limit))
#define TRACE_ABOVE_ON_@(minor, limit, value) \\
    (TRACE_EVENT_ON_@(minor) && trace_app_is_above(trace_class_~, limit, value))"""
    definitions = """
#ifdef TRACE_DEFINE_@
uint32_t trace_class_~ = TRACE_CLASS_COUNT;
%s
const struct trace_schema trace_schema_~ = {
    .class_number = &trace_class_~,
    .uuid = {%s},
    .descriptor = (const struct trace_descriptor *)&trace_descriptor_~,
};
#endif
"""
    lines = [*opening(own), text, *enums(own)]
    for event in own.events:
        lines += event_functions(own, event, f"TRACE_ID(trace_class_{own.name}, {event.minor})")
    lines.append(definitions % (outputs.descriptor_source(own), outputs.hex_bytes(schema.uuid)))
    return "\n".join(lines).replace("@", own.name.upper()).replace("~", own.name)
