/*
 * kernel/trace/sites.c - switches the sites of trace points, so that they agree with mask and switches.
 *
 * A site (arch/trace_site.h) decides alone whether its event is logged: it is on if the info page's mask has
 * its class and the class's switches have its minor (class counter is off while no counter is bound). A
 * second one, behind it, decides whether the event is limited (trace_is_limited). Sites of spans are on if
 * the class is, or routines, counters or samples need them (trace/ring/ring.h). When a class or an event is
 * switched, its sites in the kernel's text are changed, and then every CPU drops old instructions. When the
 * system call returns, no CPU begins to log an event that is off. A thread that was stopped behind a site,
 * before its event is logged, still logs it later.
 *
 * Each site is stored to twice, with a call of all CPUs after each time. A CPU sees the first store at the
 * latest in its call. The second is for emulators: one that translates a page while it changes may keep a
 * translation of the old text, and finds it stale at the second store. The TLB is flushed before, because
 * such an emulator may also have noted there that the page holds no code.
 *
 * A program's table belongs to the memory object that its text is mapped from: all processes that map the
 * text share its sites. The program's loader registers the table (trace_sites, which needs the right to
 * control the trace), and sites that should be on are switched at once; an unregistered program logs none of
 * the system's events. A table is checked: each site must lie in the text, jump to a place in the text, and
 * be an instruction that a site can be, off or on (a file copied while classes are on has sites that are on).
 * To a debugger, text differs from the file: in the kernel where sites are off, in programs where they are
 * on.
 *
 * `sites_lock` comes after trace_lock and before the locks of spaces and memory objects.
 */
#include <arch/trace_site.h>
#include <kernel/cpu/cpu.h>
#include <kernel/kernel.h>
#include <kernel/sched/thread.h>
#include <kernel/space/space.h>
#include <kernel/trace/control.h>
#include <tarn/error.h>
#include <tarn/syscall_kernel.h>
#include <trace/counter.h>
#include <trace/events.h>
#include <trace/ring/ring.h>

/* The listeners besides events: set by their owners, which call trace_sites_agree() then. */
enum routines_level routines_level;
bool profile_watches, counters_are_bound;
_Atomic uint64_t counters_generation = 1;

static LOCK_CLASS(sites_class, "trace sites");
static struct spinlock sites_lock = SPINLOCK(&sites_class);

extern const struct trace_site trace_sites[], trace_sites_end[]; /* the kernel's; kernel.ld */

/* Mask and switches of the sites now, and before the change in progress. The kernel's sites are linked on. */
static struct switches {
    uint64_t mask;
    uint64_t minors[TRACE_CLASS_COUNT];
    uint64_t limited[TRACE_CLASS_COUNT]; /* minors of which one in N is logged */
    uint32_t routines;                   /* routines are counted: enum routines_level */
    bool locks;                          /* locks are watched */
    bool spans;                          /* spans are listened to, whatever classes are on */
} now = {.mask = ~0ull,
         .minors = {[0 ... TRACE_CLASS_COUNT - 1] = ~0ull},
         .limited = {[0 ... TRACE_CLASS_COUNT - 1] = ~0ull},
         .routines = ROUTINES_ALL,
         .locks = true,
         .spans = true},
  before;

/* The sites in a memory object, in frames of their own. */
struct program_sites {
    struct program_sites *next, **link; /* in `programs` */
    unsigned order;                     /* of the frames */
    uint32_t count;
    struct {
        paddr_t place;
        int32_t distance; /* to the target */
        uint32_t id;
    } entry[];
};
static struct program_sites *programs; /* under sites_lock */

static bool is_on(const struct switches *switches, uint32_t id)
{
    const uint32_t class_number = TRACE_ID_CLASS(id), minor = TRACE_ID_MINOR(id);
    const bool has_class = switches->mask >> class_number & 1;
    if (minor < TRACE_MINORS_SWITCHED)
        return has_class && switches->minors[class_number] >> minor & 1;
    if (minor >= TRACE_SITE_LIMITED)
        return switches->limited[class_number] >> (minor - TRACE_SITE_LIMITED) % 64 & 1;
    if (minor == TRACE_SITE_ROUTINES)
        return switches->routines != ROUTINES_OFF;
    if (minor == TRACE_SITE_SPAN)
        return has_class || switches->spans;
    if (minor == TRACE_SITE_LOCKS)
        return switches->locks;
    if (minor == TRACE_SITE_ALL_ROUTINES)
        return switches->routines == ROUTINES_ALL;
    return has_class || (minor == TRACE_SITE_OR_ALL_ROUTINES && switches->routines == ROUTINES_ALL);
}

static uint64_t changed_classes; /* those in which `before` and `now` differ */

static bool has_changed(uint32_t id)
{
    return changed_classes >> TRACE_ID_CLASS(id) & 1 && is_on(&before, id) != is_on(&now, id);
}

static void switch_kernel_site(const struct trace_site *entry, bool on)
{
    const char *site = (const char *)&entry->site + entry->site,
               *target = (const char *)&entry->target + entry->target;
    arch_trace_site_switch(virt_to_phys(site), target - site, on);
}

static void switch_program_site(const struct program_sites *sites, uint32_t i)
{
    arch_trace_site_switch(sites->entry[i].place, sites->entry[i].distance, is_on(&now, sites->entry[i].id));
}

static void switch_changed(void)
{
    for (const struct trace_site *entry = trace_sites; entry < trace_sites_end; entry++)
        if (has_changed(entry->id))
            switch_kernel_site(entry, is_on(&now, entry->id));
    for (const struct program_sites *sites = programs; sites; sites = sites->next)
        for (uint32_t i = 0; i < sites->count; i++)
            if (has_changed(sites->entry[i].id))
                switch_program_site(sites, i);
}

/* Reads the wanted state of the sites. False: they have it. */
static bool begin_change(void)
{
    const struct trace_info *info = &trace_info_page;
    before = now;
    now.mask = __atomic_load_n(&info->mask, __ATOMIC_RELAXED);
    now.routines = __atomic_load_n(&routines_level, __ATOMIC_RELAXED);
    now.locks = lock_is_watched;
    if (!counters_are_bound)
        now.mask &= ~(1ull << TRACE_CLASS_COUNTER);
    now.spans = now.routines != ROUTINES_OFF || profile_watches || now.mask >> TRACE_CLASS_COUNTER & 1 ||
                explore_needs_spans();
    memset(now.limited, 0, sizeof now.limited);
    for (unsigned i = 0; i < TRACE_LIMITED_COUNT; i++)
        if (__atomic_load_n(&info->event_limit[i], __ATOMIC_RELAXED) > 1)
            now.limited[TRACE_ID_CLASS(trace_limited[i].id)] |= 1ull << TRACE_ID_MINOR(trace_limited[i].id);
    const bool differ =
        before.routines != now.routines || before.locks != now.locks || before.spans != now.spans;
    changed_classes = differ ? ~0ull : before.mask ^ now.mask;
    for (unsigned i = 0; i < TRACE_CLASS_COUNT; i++) {
        now.minors[i] = __atomic_load_n(&info->switches[i], __ATOMIC_RELAXED);
        if (before.minors[i] != now.minors[i] || before.limited[i] != now.limited[i])
            changed_classes |= 1ull << i;
    }
    return changed_classes != 0;
}

static void sync_own(void *unused)
{
    (void)unused;
    arch_sync_instructions();
    explore_synced();
}

/* After the class is off: a CPU that counts once more before it sees that does no harm. */
static void forget_counts(void)
{
    if (before.mask & ~now.mask & 1ull << TRACE_CLASS_COUNTER)
        atomic_fetch_add(&counters_generation, 1);
}

void trace_sites_agree(void)
{
    spin_lock(&sites_lock);
    if (begin_change()) {
        for (unsigned i = 0; i < 2; i++) {
            switch_changed();
            explore_patched();
            trace_on_every_cpu(sync_own);
            arch_tlb_flush_all();
        }
        explore_patch_ends();
    }
    forget_counts();
    spin_unlock(&sites_lock);
}

bool trace_switch_stopped(uint64_t mask, const uint64_t switches[TRACE_CLASS_COUNT])
{
    if (!spin_try_lock(&sites_lock))
        return false;
    for (unsigned i = 0; i < TRACE_CLASS_COUNT; i++)
        __atomic_store_n(&trace_info_page.switches[i], switches[i], __ATOMIC_RELAXED);
    __atomic_store_n(&trace_info_page.mask, mask, __ATOMIC_RELAXED);
    if (begin_change())
        switch_changed();
    sync_own(NULL);
    forget_counts();
    spin_unlock(&sites_lock);
    return true;
}

/* Routines are still counted: other CPUs go on for a while. */
void trace_silence(void)
{
    const struct switches counting = {.routines = now.routines, .locks = now.locks, .spans = now.spans};
    for (const struct trace_site *entry = trace_sites; entry < trace_sites_end; entry++)
        if (is_on(&now, entry->id) && !is_on(&counting, entry->id))
            switch_kernel_site(entry, false);
    sync_own(NULL);
}

/* ---- Programs ------------------------------------------------------------------------------------------ */

/* A mapping, with a reference to its object. */
struct window {
    struct memory *memory;
    uint64_t start, end, offset;
};

/* The shared mapping at an address, with this right, or NULL; the space's lock is held. */
static const struct mapping *find_shared(const struct space *space, uint64_t address, uint32_t right)
{
    const struct mapping *mapping = mapping_find(space->mappings, address);
    return mapping && mapping->start <= address && mapping->flags & right && !(mapping->flags & MAP_PRIVATE)
               ? mapping
               : NULL;
}

/* Whether the sites in the text are known already, as they are for all but the first process. */
static bool is_registered(struct space *space, uint64_t text)
{
    spin_lock(&space->lock);
    const struct mapping *mapping = find_shared(space, text, MAP_EXECUTE);
    /* acquire: the text that runs next is switched; pairs with the release in make_sites() */
    const bool known = mapping && __atomic_load_n(&mapping->memory->sites_agree, __ATOMIC_ACQUIRE);
    spin_unlock(&space->lock);
    return known;
}

static int open_window(struct space *space, uint64_t address, uint32_t right, struct window *window)
{
    spin_lock(&space->lock);
    const struct mapping *mapping = find_shared(space, address, right);
    const bool found = mapping != NULL;
    if (found) {
        *window = (struct window){mapping->memory, mapping->start, mapping->end, mapping->offset};
        memory_get(window->memory);
    }
    spin_unlock(&space->lock);
    return found ? 0 : -E_BAD_ARGUMENT;
}

static bool is_inside(const struct window *window, uint64_t address)
{
    return address >= window->start && address < window->end;
}

static uint64_t offset_in(const struct window *window, uint64_t address)
{
    return window->offset + (address - window->start);
}

static int read_window(const struct window *window, uint64_t address, void *buffer, uint64_t size)
{
    if (!is_inside(window, address) || size > window->end - address)
        return -E_BAD_ARGUMENT;
    const int64_t got = memory_copy(window->memory, offset_in(window, address), buffer, size, MEMORY_OUT);
    return got < 0 ? (int)got : got == (int64_t)size ? 0 : -E_BAD_ARGUMENT;
}

/* Only of an object that owns its frames: no site may come and go. */
static int open_text(struct space *space, uint64_t address, struct window *text)
{
    int error = open_window(space, address, MAP_EXECUTE, text);
    if (!error && text->memory->kind != MEMORY_ZERO) {
        memory_put(text->memory);
        return -E_BAD_TYPE;
    }
    return error;
}

/* A registration in progress. The text keeps its frames meanwhile, so they are looked up once per page. */
struct registration {
    struct window table, text;
    bool differs;  /* a site may not be as it should be */
    uint64_t page; /* address of the one that was looked up last */
    paddr_t frame; /* its frame; FRAME_NONE: none */
    uint8_t copy[ARCH_TRACE_SITE_BYTES] __attribute__((aligned(ARCH_TRACE_SITE_ALIGN)));
};

static paddr_t look_up(struct registration *reg, uint64_t address)
{
    reg->page = address & ~(FRAME_SIZE - 1);
    reg->frame = FRAME_NONE;
    if (is_inside(&reg->text, address))
        reg->frame = memory_peek(reg->text.memory, offset_in(&reg->text, reg->page));
    return reg->frame;
}

/* The site is in another page than the last one, or crosses two pages. */
static __attribute__((noinline)) paddr_t find_site_slowly(struct registration *reg, uint64_t address,
                                                          const uint8_t **code)
{
    paddr_t first = FRAME_NONE;
    for (uint32_t i = ARCH_TRACE_SITE_BYTES; i-- > 0;) {
        if (look_up(reg, address + i) == FRAME_NONE)
            return FRAME_NONE;
        first = reg->frame + (address + i - reg->page);
        reg->copy[i] = *(const uint8_t *)phys_to_virt(first);
    }
    *code = reg->copy;
    return first;
}

/* Returns the site's physical address, or FRAME_NONE. *code: its bytes, or a copy of them. */
static paddr_t find_site(struct registration *reg, uint64_t address, const uint8_t **code)
{
    const uint64_t in_page = address - reg->page;
    if (reg->frame == FRAME_NONE || in_page > FRAME_SIZE - ARCH_TRACE_SITE_BYTES)
        return find_site_slowly(reg, address, code);
    *code = phys_to_virt(reg->frame + in_page);
    return reg->frame + in_page;
}

/* Appends the site of a table's entry, which is at `address` there. */
static int add_site(struct program_sites *sites, struct registration *reg, const struct trace_site *entry,
                    uint64_t address)
{
    const uint8_t *code = NULL;
    const uint64_t site = address + offsetof(struct trace_site, site) + (uint64_t)entry->site,
                   target = address + offsetof(struct trace_site, target) + (uint64_t)entry->target;
    const int64_t distance = (int64_t)(target - site);
    const paddr_t place = site % ARCH_TRACE_SITE_ALIGN ? FRAME_NONE : find_site(reg, site, &code);
    if (place == FRAME_NONE || !is_inside(&reg->text, target) || distance != (int32_t)distance ||
        TRACE_ID_CLASS(entry->id) >= TRACE_CLASS_COUNT || !arch_trace_site_is_valid(code, distance))
        return -E_BAD_ARGUMENT;
    sites->entry[sites->count].place = place;
    sites->entry[sites->count].distance = (int32_t)distance;
    sites->entry[sites->count++].id = entry->id;
    reg->differs |= is_on(&now, entry->id) || arch_trace_site_is_on(code);
    return 0;
}

static int add_sites(struct program_sites *sites, struct registration *reg, uint64_t address, uint32_t count)
{
    enum { PIECE = 32 };
    struct trace_site entries[PIECE];
    int error = 0;
    while (!error && sites->count < count) {
        const uint32_t left = count - sites->count, piece = left < PIECE ? left : PIECE;
        const uint64_t from = address + sites->count * sizeof *entries;
        error = read_window(&reg->table, from, entries, piece * sizeof *entries);
        for (uint32_t i = 0; !error && i < piece; i++)
            error = add_site(sites, reg, &entries[i], from + i * sizeof *entries);
    }
    return error;
}

static void free_sites(struct program_sites *sites)
{
    frame_free_order(virt_to_phys(sites), sites->order);
}

static void forget_sites(struct program_sites *sites)
{
    spin_lock(&sites_lock);
    *sites->link = sites->next;
    if (sites->next)
        sites->next->link = sites->link;
    spin_unlock(&sites_lock);
    free_sites(sites);
}

/* An object with sites keeps its frames (memory.c). */
static void set_sites(struct memory *memory, struct program_sites *sites)
{
    spin_lock(&memory->lock);
    memory->sites = sites;
    memory->forget_sites = forget_sites;
    spin_unlock(&memory->lock);
}

static void link_sites(struct program_sites *sites)
{
    sites->next = programs;
    sites->link = &programs;
    if (programs)
        programs->link = &sites->next;
    programs = sites;
}

static int make_sites(struct registration *reg, uint64_t address, uint32_t count)
{
    struct program_sites *sites;
    unsigned order = 0;
    while (FRAME_SIZE << order < sizeof *sites + count * sizeof sites->entry[0])
        order++;
    const paddr_t frames = frame_alloc_order(order);
    if (frames == FRAME_NONE)
        return -E_NO_MEMORY;
    sites = phys_to_virt(frames);
    sites->order = order;
    sites->count = 0;
    set_sites(reg->text.memory, sites);
    const int error = add_sites(sites, reg, address, count);
    if (error) {
        set_sites(reg->text.memory, NULL);
        free_sites(sites);
        return error;
    }
    link_sites(sites);
    for (uint32_t i = 0; reg->differs && i < count; i++)
        switch_program_site(sites, i);
    __atomic_store_n(&reg->text.memory->sites_agree, true, __ATOMIC_RELEASE);
    return 0;
}

/* Reads the table at an address of the space. */
static int load_table(struct space *space, struct registration *reg, uint64_t address, uint32_t count)
{
    int error = open_window(space, address, MAP_READ, &reg->table);
    if (error)
        return error;
    reg->frame = FRAME_NONE;
    reg->differs = false;
    error = make_sites(reg, address, count);
    memory_put(reg->table.memory);
    return error;
}

/* Registers the table of struct trace_site at an address of the space, for the memory object that is mapped
 * at `text`. If that has a table already, it keeps it, and the new one is not read. Other CPUs need not be
 * told: no thread runs yet that uses these sites. */
int64_t sys_trace_sites(struct space *space, uint64_t text, uint64_t table, uint64_t size)
{
    struct registration reg;
    const uint64_t count = size / sizeof(struct trace_site);
    if (size % sizeof(struct trace_site) || count == 0 || count > TRACE_SITES_MAX)
        return -E_BAD_ARGUMENT;
    if (is_registered(space, text))
        return 0;
    int error = open_text(space, text, &reg.text);
    if (error)
        return error;
    spin_lock(&sites_lock);
    if (!reg.text.memory->sites)
        error = load_table(space, &reg, table, (uint32_t)count);
    spin_unlock(&sites_lock);
    memory_put(reg.text.memory);
    return error;
}
