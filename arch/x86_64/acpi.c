/*
 * arch/x86_64/acpi.c - reads CPUs, interrupt controllers, HPET, power-off and pvpanic from the firmware's
 * tables.
 *
 * Tables are read where the firmware put them, below 4 GiB, through the boot tables' direct map. A table with
 * a wrong checksum or an address elsewhere is ignored. Without tables there is one CPU, and the interrupt
 * controllers are at their traditional addresses. Runs once, on the boot CPU.
 */
#include "port.h"
#include "x86.h"
#include <kernel/kernel.h>

struct platform platform;

struct acpi_table {
    char signature[4];
    uint32_t length;
    uint8_t revision, checksum;
    char oem[26];
} __attribute__((packed));

#define VISIBLE_END (1ull << 32)

static bool sum_is_zero(const void *bytes, uint64_t size)
{
    uint8_t sum = 0;
    for (uint64_t i = 0; i < size; i++)
        sum += ((const uint8_t *)bytes)[i];
    return sum == 0;
}

static const struct acpi_table *table_at(uint64_t address)
{
    if (!address || address + sizeof(struct acpi_table) > VISIBLE_END)
        return NULL;
    const struct acpi_table *table = phys_to_virt(address);
    if (table->length < sizeof(*table) || address + table->length > VISIBLE_END ||
        !sum_is_zero(table, table->length))
        return NULL;
    return table;
}

static uint32_t read32(const void *p)
{
    uint32_t value;
    memcpy(&value, p, sizeof(value));
    return value;
}

static uint64_t read64(const void *p)
{
    uint64_t value;
    memcpy(&value, p, sizeof(value));
    return value;
}

static uint64_t find_rsdp(void)
{
    for (uint64_t at = 0xe0000; at < 0x100000; at += 16)
        if (!memcmp(phys_to_virt(at), "RSD PTR ", 8) && sum_is_zero(phys_to_virt(at), 20))
            return at;
    return 0;
}

/* ---- MADT ----------------------------------------------------------------------------------------- */

#define MADT_FLAG_8259 1u
enum { MADT_CPU = 0, MADT_IOAPIC = 1, MADT_OVERRIDE = 2 };

static void add_cpu(const uint8_t *entry)
{
    uint32_t id = entry[3];
    if (!(entry[4] & 1) || id == boot_info.cpu_hardware_id[0]) /* disabled, or this one */
        return;
    if (boot_info.cpu_count < BOOT_CPUS_MAX)
        boot_info.cpu_hardware_id[boot_info.cpu_count++] = id;
}

static void read_madt(const struct acpi_table *table)
{
    const uint8_t *bytes = (const uint8_t *)table, *end = bytes + table->length;
    platform.apic_base = read32(bytes + 36);
    platform.has_8259 = read32(bytes + 40) & MADT_FLAG_8259;
    for (const uint8_t *p = bytes + 44; p + 2 <= end && p[1] >= 2 && p + p[1] <= end; p += p[1]) {
        if (p[0] == MADT_CPU && p[1] >= 8) {
            add_cpu(p);
        } else if (p[0] == MADT_IOAPIC && p[1] >= 12 && platform.ioapic_count < IOAPICS_MAX) {
            platform.ioapic[platform.ioapic_count].address = read32(p + 4);
            platform.ioapic[platform.ioapic_count++].first = read32(p + 8);
        } else if (p[0] == MADT_OVERRIDE && p[1] >= 10 && p[3] < 16) {
            platform.isa[p[3]].pin = read32(p + 4);
            platform.isa[p[3]].low = (p[8] & 3) == 3;
            platform.isa[p[3]].level = (p[8] >> 2 & 3) == 3;
        }
    }
}

/* ---- power off ------------------------------------------------------------------------------------ */

/* _S5_ in the DSDT is a package whose first number is PM1a_CNT's sleep type: 08 5f 53 35 5f 12 ... This
 * searches for the usual bytes instead of interpreting AML. */
static void find_sleep_type(const struct acpi_table *dsdt, const uint8_t *fadt)
{
    const uint8_t *p = (const uint8_t *)dsdt + sizeof(*dsdt), *end = (const uint8_t *)dsdt + dsdt->length;
    for (; p + 12 <= end; p++) {
        if (memcmp(p, "_S5_", 4) || p[4] != 0x12)
            continue;
        const uint8_t *value = p + 6 + (p[5] >> 6) + 1; /* skip the package's length and count */
        if (value + 2 > end)
            return;
        if (*value == 0x0a) /* byte prefix */
            value++;
        platform.sleep_type = *value & 7;
        platform.pm1a_control = (uint16_t)read32(fadt + 64);
        return;
    }
}

/* ---- pvpanic -------------------------------------------------------------------------------------- */

#define PVPANIC_ID     "QEMU0001"
#define PVPANIC_ENTRY  64   /* bytes after the name; the device's description is shorter */
#define RESOURCE_PORTS 0x47 /* an I/O port descriptor: this byte, decode, minimum of the first port */

static void find_pvpanic(const struct acpi_table *dsdt)
{
    const uint8_t *p = (const uint8_t *)dsdt + sizeof(*dsdt), *end = (const uint8_t *)dsdt + dsdt->length;
    while (p + PVPANIC_ENTRY <= end && memcmp(p, PVPANIC_ID, sizeof PVPANIC_ID))
        p++;
    if (p + PVPANIC_ENTRY > end)
        return;
    for (uint32_t i = sizeof PVPANIC_ID; i + 4 <= PVPANIC_ENTRY; i++)
        if (p[i] == RESOURCE_PORTS && p[i + 1] == 1) {
            platform.pvpanic = (uint16_t)(p[i + 2] | p[i + 3] << 8);
            return;
        }
}

#define FADT_PM_TIMER        76
#define FADT_PM_TIMER_LENGTH 91 /* 4 if there is one */

static void read_fadt(const struct acpi_table *fadt)
{
    const uint8_t *bytes = (const uint8_t *)fadt;
    if (fadt->length > FADT_PM_TIMER_LENGTH && bytes[FADT_PM_TIMER_LENGTH] == 4)
        platform.pm_timer = (uint16_t)read32(bytes + FADT_PM_TIMER);
    const struct acpi_table *dsdt = fadt->length < 68 ? NULL : table_at(read32(bytes + 40));
    if (!dsdt)
        return;
    find_sleep_type(dsdt, bytes);
    find_pvpanic(dsdt);
}

/* ---- all tables ----------------------------------------------------------------------------------- */

static void read_table(uint64_t address)
{
    const struct acpi_table *table = table_at(address);
    if (!table)
        return;
    if (!memcmp(table->signature, "APIC", 4) && table->length >= 44)
        read_madt(table);
    else if (!memcmp(table->signature, "FACP", 4))
        read_fadt(table);
    else if (!memcmp(table->signature, "HPET", 4) && table->length >= 52)
        platform.hpet_base = read64((const uint8_t *)table + 44);
}

void acpi_read(uint64_t rsdp)
{
    boot_info.cpu_count = 1;
    boot_info.cpu_hardware_id[0] = read_cpuid(1).b >> 24;
    platform.apic_base = 0xfee00000;
    platform.has_8259 = true;
    for (uint32_t i = 0; i < 16; i++)
        platform.isa[i].pin = i;

    if (!rsdp)
        rsdp = find_rsdp();
    const uint8_t *root = rsdp && rsdp < VISIBLE_END ? phys_to_virt(rsdp) : NULL;
    if (!root) {
        boot_print("tarn: no ACPI tables: one CPU\n");
        platform.ioapic_count = 1;
        platform.ioapic[0].address = 0xfec00000;
        return;
    }
    const struct acpi_table *xsdt = root[15] >= 2 ? table_at(read64(root + 24)) : NULL;
    const struct acpi_table *list = xsdt ? xsdt : table_at(read32(root + 16));
    if (!list)
        return;
    uint32_t width = xsdt ? 8 : 4;
    const uint8_t *end = (const uint8_t *)list + list->length;
    for (const uint8_t *p = (const uint8_t *)(list + 1); p + width <= end; p += width)
        read_table(xsdt ? read64(p) : read32(p));
}
