/* arch/date.c - converts dates of clock chips and firmware to seconds. Interface: arch/clock.h. */
#include <arch/clock.h>

static int64_t days_from_1970(int64_t year, int64_t month, int64_t day)
{
    year -= month <= 2; /* years that start in March */
    int64_t era = year / 400, of_era = year - era * 400;
    int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

int64_t arch_date_seconds(const struct arch_date *date)
{
    return days_from_1970(date->year, date->month, date->day) * 86400 + date->hour * 3600 +
           date->minute * 60 + date->second;
}
