/* cap_table.c - capability tables, and types of objects. cap_table.h says why lookups need no lock. */
#include <kernel/kernel.h>
#include <kernel/memory/frame.h>
#include <kernel/object/cap_table.h>
#include <tarn/error.h>

_Static_assert(sizeof(struct cap_slot) * CAP_SLOTS_PER_LEAF == FRAME_SIZE, "a leaf is a frame");
_Static_assert(sizeof(struct cap_slot *) * CAP_LEAVES_MAX == FRAME_SIZE, "so is the directory");

#define META_GENERATION 65536ull /* 1 in the bits above type and rights */

static LOCK_CLASS(cap_table_class, "capability table");

/* ---- Types of objects ---- */

extern const struct object_type object_types_first[], object_types_last[];

const struct object_type *object_types[CAP_TYPES];
uint32_t object_references[CAP_TYPES];

void object_types_init(void)
{
    for (const struct object_type *type = object_types_first; type < object_types_last; type++) {
        object_types[type->type] = type;
        object_references[type->type] = type->references;
    }
}

void object_put(enum cap_type type, void *object)
{
    if (object_types[type])
        object_types[type]->put(object);
}

/* ---- Tables; lock held ---- */

static const uint32_t authority_rights[CAP_AUTHORITY_RIGHTS] = {RIGHT_READ, RIGHT_WRITE, RIGHT_MANAGE};

static void count_authority(struct cap_table *table, uint64_t meta, uint32_t by)
{
    const uint32_t number = cap_meta_type(meta) - CAP_TRACE;
    for (unsigned i = 0; number < CAP_AUTHORITIES && i < CAP_AUTHORITY_RIGHTS; i++)
        if (cap_meta_rights(meta) & authority_rights[i])
            __atomic_store_n(&table->authority[number][i], table->authority[number][i] + by,
                             __ATOMIC_RELAXED);
}

uint32_t cap_authority(const struct cap_table *table, enum cap_type type)
{
    uint32_t rights = 0;
    for (unsigned i = 0; i < CAP_AUTHORITY_RIGHTS; i++)
        if (__atomic_load_n(&table->authority[type - CAP_TRACE][i], __ATOMIC_RELAXED))
            rights |= authority_rights[i];
    return rights;
}

static struct cap_slot *slot_at(const struct cap_table *table, cap_t slot)
{
    return &table->leaves[slot / CAP_SLOTS_PER_LEAF][slot % CAP_SLOTS_PER_LEAF];
}

static int grow(struct cap_table *table)
{
    uint32_t size = atomic_load_explicit(&table->size, memory_order_relaxed);
    if (size == CAP_SLOTS_MAX)
        return -E_NO_SLOT;
    paddr_t frame = frame_alloc_zeroed();
    if (frame == FRAME_NONE)
        return -E_NO_MEMORY;
    struct cap_slot *leaf = phys_to_virt(frame);
    table->leaves[size / CAP_SLOTS_PER_LEAF] = leaf;
    for (uint32_t i = CAP_SLOTS_PER_LEAF; i-- > 0;) {
        if (size + i >= SLOT_FIRST_FREE || size > 0) { /* the low slots are only assigned by number */
            leaf[i].next_free = table->first_free;
            table->first_free = size + i;
        }
    }
    /* Release: pairs with the acquire of lookups, which then find the leaf. */
    atomic_store_explicit(&table->size, size + CAP_SLOTS_PER_LEAF, memory_order_release);
    return 0;
}

static int reserve_slots(struct cap_table *table, unsigned count)
{
    for (;;) {
        cap_t slot = table->first_free;
        unsigned found = 0;
        while (slot && found < count) {
            slot = (cap_t)slot_at(table, slot)->next_free;
            found++;
        }
        if (found == count)
            return 0;
        /* A new leaf goes in front of the list, so one is enough. */
        int error = grow(table);
        if (error)
            return error;
    }
}

static void fill(struct cap_table *table, cap_t number, enum cap_type type, uint32_t rights, void *object,
                 uint64_t badge)
{
    struct cap_slot *slot = slot_at(table, number);
    uint64_t generation =
        (atomic_load_explicit(&slot->meta, memory_order_relaxed) & ~0xffffull) + META_GENERATION;
    uint64_t meta = generation | (uint64_t)rights << 8 | (uint64_t)type;
    const struct object_type *object_type = object_types[type];
    if (object_type && object_type->added)
        object_type->added(table, object, rights);
    count_authority(table, meta, 1);
    atomic_store_explicit(&slot->object, object, memory_order_relaxed);
    atomic_store_explicit(&slot->badge, badge, memory_order_relaxed);
    /* Release: pairs with the acquire of lookups, which read the object and badge of this meta. */
    atomic_store_explicit(&slot->meta, meta, memory_order_release);
}

static struct cap empty(struct cap_table *table, cap_t number)
{
    struct cap_slot *slot = slot_at(table, number);
    struct cap old = {.object = slot->object,
                      .meta = atomic_load_explicit(&slot->meta, memory_order_relaxed)};
    /* Sequentially consistent, before the reference is dropped: pairs with cap_revalidate, see cap_table.h.
     */
    atomic_store(&slot->meta, (old.meta & ~0xffffull) + META_GENERATION);
    count_authority(table, old.meta, ~0u);
    table->used--;
    if (number >= SLOT_FIRST_FREE) {
        slot->next_free = table->first_free;
        table->first_free = number;
    }
    return old;
}

static cap_t take_free(struct cap_table *table)
{
    cap_t number = table->first_free;
    table->first_free = (uint32_t)slot_at(table, number)->next_free;
    table->used++;
    return number;
}

static int take_chosen(struct cap_table *table, cap_t number)
{
    if (number == 0 || number >= CAP_SLOTS_MAX)
        return -E_BAD_CAP;
    while (number >= table->size) {
        int error = grow(table);
        if (error)
            return error;
    }
    struct cap_slot *slot = slot_at(table, number);
    if (cap_meta_type(slot->meta) != CAP_NONE)
        return -E_NO_SLOT;
    if (number >= SLOT_FIRST_FREE) {
        cap_t *link = &table->first_free, next;
        if (*link == number) {
            *link = (cap_t)slot->next_free;
        } else {
            cap_t before = *link;
            while ((next = (cap_t)slot_at(table, before)->next_free) != number)
                before = next;
            slot_at(table, before)->next_free = slot->next_free;
        }
    }
    table->used++;
    return 0;
}

/* Takes this slot, or any free one if it is 0. Returns it, or an error. */
static inline __attribute__((always_inline)) int64_t take_slot(struct cap_table *table, cap_t number)
{
    int error = table->closed ? -E_DEAD : number ? take_chosen(table, number) : reserve_slots(table, 1);
    if (error)
        return error;
    return (int64_t)(number ? number : take_free(table));
}

/* Hold no lock. */
static void drop(struct cap_table *table, struct cap old)
{
    const struct object_type *type = object_types[cap_meta_type(old.meta)];
    if (!type)
        return;
    if (type->removed)
        type->removed(table, old.object, cap_meta_rights(old.meta));
    type->put(old.object);
}

static void lock_two(struct cap_table *a, struct cap_table *b)
{
    spin_lock(&(a < b ? a : b)->lock);
    if (a != b)
        spin_lock(&(a < b ? b : a)->lock);
}

static void unlock_two(struct cap_table *a, struct cap_table *b)
{
    spin_unlock(&a->lock);
    if (a != b)
        spin_unlock(&b->lock);
}

/* ---- Life of a table ---- */

void cap_table_construct(struct cap_table *table)
{
    spin_init(&table->lock, &cap_table_class);
}

int cap_table_init(struct cap_table *table)
{
    paddr_t directory = frame_alloc_zeroed();
    if (directory == FRAME_NONE)
        return -E_NO_MEMORY;
    table->leaves = phys_to_virt(directory);
    table->first_free = table->used = 0;
    memset(table->authority, 0, sizeof table->authority);
    table->closed = false;
    atomic_store_explicit(&table->size, 0, memory_order_relaxed);
    int error = grow(table);
    if (error)
        frame_free(directory);
    return error;
}

void cap_table_close(struct cap_table *table)
{
    spin_lock(&table->lock);
    table->closed = true;
    uint32_t size = table->size;
    for (cap_t number = 1; number < size; number++) {
        if (cap_meta_type(slot_at(table, number)->meta) == CAP_NONE)
            continue;
        struct cap old = empty(table, number);
        spin_unlock(&table->lock);
        drop(table, old);
        spin_lock(&table->lock);
    }
    spin_unlock(&table->lock);
}

void cap_table_destroy(struct cap_table *table)
{
    cap_table_close(table);
    for (uint32_t i = 0; i < table->size / CAP_SLOTS_PER_LEAF; i++)
        frame_free(virt_to_phys(table->leaves[i]));
    frame_free(virt_to_phys(table->leaves));
    table->leaves = NULL;
    atomic_store_explicit(&table->size, 0, memory_order_relaxed);
}

/* ---- Lookup ---- */

static int check(uint64_t meta, enum cap_type type, uint32_t rights)
{
    if (cap_meta_type(meta) == CAP_NONE)
        return -E_BAD_CAP;
    if (type != CAP_NONE && cap_meta_type(meta) != type)
        return -E_BAD_TYPE;
    return (cap_meta_rights(meta) & rights) == rights ? 0 : -E_BAD_RIGHT;
}

int cap_lookup(struct cap_table *table, cap_t number, enum cap_type type, uint32_t rights, struct cap *found)
{
    return check(cap_read(table, number, found), type, rights);
}

static inline __attribute__((always_inline)) int get(struct cap_table *table, cap_t number,
                                                     enum cap_type type, uint32_t rights, struct cap *found)
{
    spin_lock(&table->lock);
    int error = cap_lookup(table, number, type, rights, found);
    if (!error)
        object_get(cap_meta_type(found->meta), found->object);
    spin_unlock(&table->lock);
    return error;
}

int cap_get_any(struct cap_table *table, cap_t number, enum cap_type type, uint32_t rights, struct cap *found)
{
    return get(table, number, type, rights, found);
}

int cap_get(struct cap_table *table, cap_t number, enum cap_type type, uint32_t rights, void **object)
{
    struct cap found;
    int error = get(table, number, type, rights, &found);
    *object = found.object;
    return error;
}

/* ---- Changes ---- */

int64_t cap_insert(struct cap_table *table, cap_t number, enum cap_type type, void *object, uint32_t rights,
                   uint64_t badge)
{
    spin_lock(&table->lock);
    int64_t slot = take_slot(table, number);
    if (slot > 0)
        fill(table, (cap_t)slot, type, rights, object, badge);
    spin_unlock(&table->lock);
    return slot;
}

int cap_close(struct cap_table *table, cap_t number, const void *object)
{
    struct cap found;
    spin_lock(&table->lock);
    int error = cap_lookup(table, number, CAP_NONE, 0, &found);
    if (!error && object && found.object != object)
        error = -E_BAD_CAP;
    if (!error)
        found = empty(table, number);
    spin_unlock(&table->lock);
    if (!error)
        drop(table, found);
    return error;
}

int64_t cap_copy(struct cap_table *from, cap_t source, struct cap_table *to, cap_t target, uint32_t rights,
                 uint64_t badge)
{
    struct cap found;
    lock_two(from, to);
    int64_t result = cap_lookup(from, source, CAP_NONE, RIGHT_GRANT, &found);
    if (result == 0 && badge != 0 && (cap_meta_type(found.meta) != CAP_ENDPOINT || found.badge != 0))
        result = -E_BAD_ARGUMENT;
    if (result == 0)
        result = take_slot(to, target);
    if (result > 0) {
        object_get(cap_meta_type(found.meta), found.object);
        fill(to, (cap_t)result, cap_meta_type(found.meta), cap_meta_rights(found.meta) & rights, found.object,
             badge ? badge : found.badge);
    }
    unlock_two(from, to);
    return result;
}

/* ---- Transfer with messages ---- */

/* Returns the number of capabilities, or an error. Lock held. */
static int gather(struct cap_table *from, const uint16_t slots[IPC_CAPS], struct cap found[IPC_CAPS])
{
    int count = 0;
    for (unsigned i = 0; i < IPC_CAPS; i++) {
        if (slots[i] == 0)
            continue;
        int error = cap_lookup(from, slots[i], CAP_NONE, RIGHT_GRANT, &found[i]);
        if (error)
            return error;
        count++;
    }
    return count;
}

int cap_transfer(struct cap_table *from, struct cap_table *to, uint16_t slots[IPC_CAPS])
{
    struct cap found[IPC_CAPS];
    lock_two(from, to);
    int count = gather(from, slots, found);
    int error = count < 0 ? count : to->closed ? -E_DEAD : reserve_slots(to, (unsigned)count);
    for (unsigned i = 0; !error && i < IPC_CAPS; i++) {
        if (slots[i] == 0)
            continue;
        cap_t slot = take_free(to);
        object_get(cap_meta_type(found[i].meta), found[i].object);
        fill(to, slot, cap_meta_type(found[i].meta), cap_meta_rights(found[i].meta), found[i].object,
             found[i].badge);
        slots[i] = (uint16_t)slot;
    }
    unlock_two(from, to);
    return error ? error : count;
}
