/* machine.c - system calls on the machine object and on devices (raw console, PCI configuration, power), and
 * those without an object. */
#include <arch/clock.h>
#include <arch/debug.h>
#include <arch/machine.h>
#include <kernel/cpu/cpu.h>
#include <kernel/cpu/explore.h>
#include <kernel/cpu/smp_call.h>
#include <kernel/debug/debugger.h>
#include <kernel/failure/panic.h>
#include <kernel/failure/watchdog.h>
#include <kernel/ipc/cap.h>
#include <kernel/ipc/irq.h>
#include <kernel/ipc/notification.h>
#include <kernel/ipc/user_copy.h>
#include <kernel/kernel.h>
#include <kernel/sched/sched.h>
#include <kernel/sched/thread.h>
#include <kernel/sched/timer.h>
#include <kernel/space/memory.h>
#include <kernel/space/space.h>
#include <kernel/syscall/machine.h>
#include <kernel/trace/control.h>
#include <tarn/error.h>
#include <tarn/syscall_kernel.h>

#define CHUNK 256u

static LOCK_CLASS(console_input_class, "console input");
static LOCK_CLASS(hang_class, "debug hang");

char machine_object[1], trace_object[1];

#define PARTNER_NS 5000000000ull /* how long the lock's holder waits for a second caller */

#define INPUT_MAX 4096u /* a power of two */

/* Console input until the console's server reads it. The kernel reads the device itself, to detect the
 * debugger's keys. */
static struct {
    struct spinlock lock;
    struct notification *notification; /* under lock: a reference, or NULL */
    uint64_t bits;                     /* under lock */
    uint64_t put, taken;               /* under lock: bytes[taken..put), modulo INPUT_MAX */
    char bytes[INPUT_MAX];
    uint32_t matched; /* under lock: how many of DEBUGGER_KEYS came last and are held back */
} input = {.lock = SPINLOCK(&console_input_class)};

/* ---- Console ---- */

static void put_byte(char c)
{
    if (input.put - input.taken < INPUT_MAX)
        input.bytes[input.put++ % INPUT_MAX] = c;
}

/* Returns true for the last of the debugger's keys. After a mismatch the keys held back go to the reader. */
static bool match_key(char c)
{
    if (c == DEBUGGER_KEYS[input.matched]) {
        if (DEBUGGER_KEYS[++input.matched])
            return false;
        input.matched = 0;
        return true;
    }
    for (uint32_t i = 0; i < input.matched; i++)
        put_byte(DEBUGGER_KEYS[i]);
    input.matched = 0;
    if (c == DEBUGGER_KEYS[0])
        input.matched = 1;
    else
        put_byte(c);
    return false;
}

/* Reads the device while there is space. Returns true if the debugger is wanted; it gets the input that
 * follows. Lock held. */
static bool read_input(void)
{
    int c;
    while (input.put - input.taken <= INPUT_MAX - sizeof DEBUGGER_KEYS && (c = arch_console_get()) >= 0)
        if (match_key((char)c))
            return true;
    return false;
}

/* Reads input, notifies the bound reader, and releases the lock. The device's interrupt stays masked while
 * the buffer is full. */
static void read_and_notify(void)
{
    bool wanted = read_input(), any = input.put != input.taken;
    bool has_space = input.put - input.taken <= INPUT_MAX - sizeof DEBUGGER_KEYS;
    struct notification *notification = any ? input.notification : NULL;
    uint64_t bits = input.bits;
    if (notification)
        notification_get(notification);
    spin_unlock(&input.lock);
    if (has_space)
        arch_irq_unmask(arch_console_irq());
    if (notification) {
        notification_signal(notification, bits);
        notification_put(notification);
    }
    if (wanted)
        debugger_enter("keys");
}

static void console_interrupt(void)
{
    spin_lock(&input.lock);
    read_and_notify();
}

void console_poll(void)
{
    if (spin_try_lock(&input.lock))
        read_and_notify();
}

void console_init(void)
{
    irq_set_own(arch_console_irq(), console_interrupt);
    arch_console_irq_enable();
    arch_irq_unmask(arch_console_irq());
}

static uint64_t take_bytes(char *buffer, uint64_t size)
{
    uint64_t count = 0;
    spin_lock(&input.lock);
    while (count < size && input.taken != input.put)
        buffer[count++] = input.bytes[input.taken++ % INPUT_MAX];
    spin_unlock(&input.lock);
    return count;
}

int64_t sys_machine_console_read(char *user_buffer, uint64_t size)
{
    char buffer[CHUNK] = {0};
    if (size > sizeof buffer)
        size = sizeof buffer;
    /* can they be stored? Test before bytes are taken */
    int64_t error = user_write(user_buffer, buffer, size);
    if (error)
        return error;
    uint64_t count = take_bytes(buffer, size);
    if (count == 0) /* the device may hold more */
        console_poll();
    error = user_write(user_buffer, buffer, count);
    return error ? error : (int64_t)count;
}

int64_t sys_null(void)
{
    return 0;
}

int64_t sys_debug_write(const char *user_text, uint64_t size)
{
    char text[CHUNK];
    if (size > sizeof text)
        size = sizeof text;
    int64_t error = user_read(text, user_text, size);
    if (error)
        return error;
    console_write(text, size);
    return (int64_t)size;
}

int64_t sys_machine_console_write(const char *user_text, uint64_t size)
{
    return sys_debug_write(user_text, size);
}

int64_t sys_machine_console_bind(struct notification *notification, uint64_t bits)
{
    const int64_t error = notification_set(&input.notification, &input.bits, &input.lock, notification, bits);
    if (!error)
        console_poll(); /* bytes may be buffered already */
    return error;
}

/* ---- Devices ---- */

int driver_check(cap_t slot)
{
    int error = cap_check(slot, CAP_DEVICE, RIGHT_MANAGE);
    return error == -E_BAD_TYPE ? cap_check(slot, CAP_MACHINE, RIGHT_MANAGE) : error;
}

/* The badge of a CAP_DEVICE is the device's number. */
int64_t sys_machine_device(uint32_t id)
{
    int32_t device = pci_find(id);
    return device < 0 ? -E_NOT_FOUND
                      : cap_insert(&current_thread()->space->caps, 0, CAP_DEVICE, machine_object, RIGHT_ALL,
                                   (uint32_t)device);
}

#define PCI_COMMAND   0x04u
#define PCI_STANDARD  0x40u /* bytes of the header, behind which are the capabilities */
#define PCI_SPACE_MAX 4096u

static bool bad_pci_access(uint32_t offset, uint32_t width)
{
    return (width != 1 && width != 2 && width != 4) || offset >= PCI_SPACE_MAX || offset % width != 0;
}

int64_t sys_device_read(uint32_t device, uint32_t offset, uint32_t width)
{
    uint32_t value = 0;
    int error =
        bad_pci_access(offset, width) ? -E_BAD_ARGUMENT : arch_pci_read(device, offset, width, &value);
    return error ? error : (int64_t)value;
}

/* A driver cannot move the device's registers over another device's. */
int64_t sys_device_write(uint32_t device, uint32_t offset, uint32_t width, uint32_t value)
{
    if (bad_pci_access(offset, width) || (offset < PCI_STANDARD && (offset != PCI_COMMAND || width != 2)))
        return -E_BAD_ARGUMENT;
    return arch_pci_write(device, offset, width, value);
}

/* No other physical memory can be mapped. A page that several devices may share belongs to none. */
int64_t sys_device_memory(uint32_t device, uint32_t bar)
{
    uint64_t physical, size;
    if (!pci_bar(device, bar, &physical, &size) || size % FRAME_SIZE || physical > arch_physical_limit() ||
        size > arch_physical_limit() - physical)
        return -E_BAD_ARGUMENT;
    return cap_give(CAP_MEMORY, memory_new_at(MEMORY_DEVICE, physical, size), RIGHT_ALL & ~RIGHT_EXECUTE);
}

/* ---- Power ---- */

/* Stops the other CPUs: the host may take a while to switch the machine off, and they would go on logging. */
int64_t sys_machine_shutdown(uint32_t status)
{
    explore_end();
    log_line("shutdown, status %u", status);
    debugger_end_others(this_cpu());
    trace_store_end(TRACE_STORE_SHUTDOWN, "shutdown");
    arch_shutdown(status);
}

static bool is_allowed(const char *option)
{
    char text[8];
    return boot_option(option, text, sizeof text) && text[0] == '1';
}

/* argument: milliseconds (lower 32 bits), a bit for each CPU (upper ones); none: this CPU */
static int64_t hang_somewhere(uint64_t argument)
{
    if (!is_allowed("debug.hang="))
        return -E_UNSUPPORTED;
    watchdog_hang(argument >> 32, (uint32_t)argument);
    return 0;
}

/* Needs two callers: the first hangs once the second, which a busy host may delay, waits for its lock. */
static int64_t hang_with_lock(uint64_t milliseconds)
{
    static struct spinlock hang_lock = SPINLOCK(&hang_class);
    static _Atomic uint32_t callers;
    static uint32_t turns;
    if (!is_allowed("debug.hang="))
        return -E_UNSUPPORTED;
    atomic_fetch_add(&callers, 1);
    spin_lock(&hang_lock);
    const uint64_t limit = arch_clock() + timer_ticks(PARTNER_NS);
    while (atomic_load(&callers) % 2 && arch_clock() < limit) {
        smp_poll();
        arch_relax();
    }
    if (turns++ % 2 == 0)
        watchdog_hang(0, milliseconds);
    spin_unlock(&hang_lock);
    return 0;
}

static void panic_at(void *time)
{
    while (arch_clock() < *(const uint64_t *)time)
        arch_relax();
    panic("a test, on all CPUs");
}

/* At a time in the near future, because a vCPU may get its IPI late. */
static void panic_on_all(void)
{
    uint64_t time = arch_clock() + timer_ticks_ms(200);
    smp_call(atomic_load(&sched_online_cpus) & ~this_cpu()->bit, panic_at, &time);
}

static int64_t panic_as(uint64_t kind)
{
    volatile uint64_t *volatile nowhere = NULL;
    if (!is_allowed("debug.panic="))
        return -E_UNSUPPORTED;
    if (kind > MACHINE_PANIC_FAULTS)
        return -E_BAD_ARGUMENT;
    if (kind == MACHINE_PANIC_NULL)
        *nowhere = 1;
    if (kind == MACHINE_PANIC_CONSOLE)
        console_test_panic();
    if (kind == MACHINE_PANIC_ALL)
        panic_on_all();
    if (kind == MACHINE_PANIC_FAULTS)
        panic_test_faults();
    panic("a test");
}

int64_t sys_machine_debug(uint32_t operation, uint64_t argument)
{
    switch (operation) {
    case MACHINE_DEBUG_ENTER:
        debugger_enter("a program asks");
        return 0;
    case MACHINE_DEBUG_BREAKPOINT:
        arch_breakpoint();
        return 0;
    case MACHINE_DEBUG_HANG:
        return hang_somewhere(argument);
    case MACHINE_DEBUG_LOCK:
        return hang_with_lock(argument);
    case MACHINE_DEBUG_PANIC:
        return panic_as(argument);
    default:
        return -E_BAD_ARGUMENT;
    }
}
