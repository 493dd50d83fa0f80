/* SPDX-License-Identifier: BSD-2-Clause */
/* tools/tarn/table.c - tables of numbers; see table.h. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tools/tarn/table.h>

#define NAME_WIDTH 28

struct table_row *table_add(struct table *table, const char *name)
{
    struct table_row *row;

    if (table->count == table->size) {
        table->size = table->size ? 2 * table->size : 64;
        table->rows = alloc_more(table->rows, table->size, sizeof(table->rows[0]));
    }
    row = &table->rows[table->count++];
    memset(row, 0, sizeof(*row));
    snprintf(row->name, sizeof(row->name), "%s", name);
    for (char *at = row->name; *at != '\0'; at++)
        if ((unsigned char)*at < 0x20 || (unsigned char)*at >= 0x7f || strchr("\"\\,", *at) != NULL)
            *at = '.';
    return row;
}

int table_find_column(const struct table *table, const char *key)
{
    for (unsigned i = 0; i < table->column_count; i++)
        if (strcmp(table->columns[i].key, key) == 0)
            return (int)i;
    return -1;
}

/* What rows are sorted by: qsort_r's argument. */
struct order {
    const struct table *table;
    int column;
};

static int compare_cells(const struct table_column *column, union table_cell left, union table_cell right)
{
    int order = column->decimals < 0 ? (left.count > right.count) - (left.count < right.count)
                                     : (left.real > right.real) - (left.real < right.real);

    return column->is_number ? order : -order;
}

static int compare_rows(const void *left, const void *right, void *argument)
{
    const struct table_row *a = left, *b = right;
    const struct order *by = argument;
    int order = 0;

    if (by->column >= 0)
        order = compare_cells(&by->table->columns[by->column], a->cells[by->column], b->cells[by->column]);
    if (order == 0)
        order = strcmp(a->name, b->name);
    for (unsigned i = 0; order == 0 && i < by->table->column_count; i++)
        if (by->table->columns[i].is_number)
            order = compare_cells(&by->table->columns[i], a->cells[i], b->cells[i]);
    return order;
}

void table_sort(struct table *table, int column)
{
    struct order order = {table, column};

    if (table->count > 1)
        qsort_r(table->rows, table->count, sizeof(table->rows[0]), compare_rows, &order);
}

static void add_cells(const struct table *table, struct table_row *sum, const struct table_row *row)
{
    for (unsigned i = 0; i < table->column_count; i++)
        if (table->columns[i].is_number)
            continue;
        else if (table->columns[i].decimals < 0)
            sum->cells[i].count += row->cells[i].count;
        else
            sum->cells[i].real += row->cells[i].real;
}

void table_merge_names(struct table *table)
{
    size_t kept = 0;

    for (size_t i = 0; i < table->count; i++)
        if (kept > 0 && strcmp(table->rows[kept - 1].name, table->rows[i].name) == 0)
            add_cells(table, &table->rows[kept - 1], &table->rows[i]);
        else
            table->rows[kept++] = table->rows[i];
    table->count = kept;
}

static int column_width(const struct table_column *column)
{
    int width = column->decimals >= 0 || column->is_number ? 8 : 11, heading = (int)strlen(column->heading);

    return heading > width ? heading : width;
}

static void print_row_text(const struct table *table, const struct table_row *row, bool is_sum)
{
    printf("%-*s", NAME_WIDTH, row->name);
    for (unsigned i = 0; i < table->column_count; i++) {
        const struct table_column *column = &table->columns[i];

        if (is_sum && column->is_number)
            printf(" %*s", column_width(column), "");
        else if (column->decimals < 0)
            printf(" %*" PRIu64, column_width(column), row->cells[i].count);
        else
            printf(" %*.*f", column_width(column), column->decimals, row->cells[i].real);
    }
    printf("\n");
}

void table_print_text(const struct table *table, uint64_t top)
{
    struct table_row rest = {.name = ""};

    printf("\n%-*s", NAME_WIDTH, table->heading);
    for (unsigned i = 0; i < table->column_count; i++)
        printf(" %*s", column_width(&table->columns[i]), table->columns[i].heading);
    printf("\n");
    if (table->count <= top || table->count == top + 1) /* one more row takes no more room than its sum */
        top = table->count;
    for (size_t i = 0; i < table->count; i++)
        if (i < top)
            print_row_text(table, &table->rows[i], false);
        else
            add_cells(table, &rest, &table->rows[i]);
    if (table->count > top) {
        snprintf(rest.name, sizeof(rest.name), "... and %zu more %s", table->count - (size_t)top,
                 table->others);
        print_row_text(table, &rest, true);
    }
}

/* The same number in JSON and CSV. */
static void print_cell(const struct table_column *column, union table_cell cell)
{
    if (column->decimals < 0)
        printf("%" PRIu64, cell.count);
    else
        printf("%.*f", column->decimals + 3, cell.real);
}

void table_print_json(const struct table *table, uint64_t top)
{
    printf("\"by_%s\":[", table->key);
    for (size_t i = 0; i < table->count && i < top; i++) {
        printf("%s{\"name\":\"%s\"", i ? "," : "", table->rows[i].name);
        for (unsigned c = 0; c < table->column_count; c++) {
            printf(",\"%s\":", table->columns[c].key);
            print_cell(&table->columns[c], table->rows[i].cells[c]);
        }
        printf("}");
    }
    printf("]");
}

void table_print_csv(const struct table *table, uint64_t top)
{
    printf("%s", table->key);
    for (unsigned c = 0; c < table->column_count; c++)
        printf(",%s", table->columns[c].key);
    printf("\n");
    for (size_t i = 0; i < table->count && i < top; i++) {
        printf("%s", table->rows[i].name);
        for (unsigned c = 0; c < table->column_count; c++) {
            printf(",");
            print_cell(&table->columns[c], table->rows[i].cells[c]);
        }
        printf("\n");
    }
}

void table_free(struct table *table)
{
    free(table->rows);
    table->rows = NULL;
    table->count = table->size = 0;
}
