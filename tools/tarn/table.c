/* table.c - rows and columns; see table.h. */
#include <math.h>
#include <tools/tarn/options.h>
#include <tools/tarn/table.h>

struct table_row *table_add(struct table *table, const char *name)
{
    size_t bytes = sizeof(struct table_row) + table->column_count * sizeof(union table_cell);
    struct table_row *row = arena_alloc(&table->arena, bytes);
    table->rows = array_grow(table->rows, table->count, &table->size, sizeof(table->rows[0]));
    row->name = table_text(table, name);
    table->rows[table->count++] = row;
    return row;
}

const char *table_text(struct table *table, const char *text)
{
    return arena_string(&table->arena, text, strlen(text));
}

const char *table_format(struct table *table, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    return table_text(table, text);
}

/* Replaces the suffix END of TEXT, if present. */
static void replace_end(char text[HEADING_BYTES], const char *end, const char *by)
{
    size_t length = strlen(text), cut = strlen(end);
    if (length >= cut && strcmp(text + length - cut, end) == 0)
        snprintf(text + length - cut, HEADING_BYTES - (length - cut), "%s", by);
}

/* Returns the key in words, without the unit of a time. */
static const char *words_of(const struct table_column *column, char text[HEADING_BYTES])
{
    static const char percent[] = "percent";
    bool is_share = strncmp(column->key, percent, sizeof(percent) - 1) == 0;
    if (column->heading != NULL && column->heading[0] != '\0')
        return column->heading;
    snprintf(text, HEADING_BYTES, "%s%s", is_share ? "%" : "",
             column->key + (is_share ? sizeof(percent) - 1 : 0));
    replace_end(text, "_ns", "");
    replace_end(text, "_percent", " %");
    replace_end(text, "_per_second", "/s");
    for (char *at = text; *at != '\0'; at++)
        if (*at == '_')
            *at = ' ';
    return text;
}

const char *column_heading(const struct table_column *column, char text[HEADING_BYTES])
{
    const char *words = words_of(column, text);
    size_t length = strlen(words);
    if (column->heading != NULL)
        return column->heading;
    if (column->kind == COLUMN_WHEN)
        snprintf(text + length, HEADING_BYTES - length, " s");
    return words;
}

/* Whether CALLED is the heading of the column in text; it may lack the unit if MAY_LACK_UNIT. */
static bool is_called(const struct table_column *column, const char *called, bool may_lack_unit)
{
    bool is_when = column->kind == COLUMN_WHEN;
    bool is_count = column->kind == COLUMN_COUNT;
    bool has_unit = is_when || is_count || column->kind == COLUMN_TIME || column->kind == COLUMN_CHANGE;
    char text[HEADING_BYTES];
    const char *words = words_of(column, text);
    size_t length = strlen(words);
    if (length == 0 || strncmp(called, words, length) != 0)
        return false;
    called += length;
    if (*called == '\0')
        return may_lack_unit || !has_unit || is_count;
    return has_unit && *called == ' ' &&
           list_names(is_when    ? "s"
                      : is_count ? "M, G"
                                 : "ns, us, ms, s",
                      called + 1);
}

static bool has_key(const struct table_column *column, const char *called, bool lacks_unit)
{
    const size_t length = strlen(called);
    return column->kind != COLUMN_BAR && strncmp(column->key, called, length) == 0 &&
           strcmp(column->key + length, lacks_unit ? "_ns" : "") == 0;
}

int table_find_column(const struct table *table, const char *called)
{
    for (unsigned way = 0; way < 4; way++)
        for (unsigned i = 0; i < table->column_count; i++)
            if ((way < 2 ? has_key : is_called)(&table->columns[i], called, way % 2))
                return (int)i;
    return strcmp(called, "name") == 0 || strcmp(called, table->heading) == 0 ? TABLE_BY_NAME
                                                                              : TABLE_NO_COLUMN;
}

bool table_cell_is_known(const struct table_column *column, union table_cell cell)
{
    switch (column->kind) {
    case COLUMN_REAL:
        return !isnan(cell.real);
    case COLUMN_TEXT:
        return cell.text != NULL;
    default:
        return cell.number != TABLE_NONE;
    }
}

/* qsort_r's argument. */
struct order {
    const struct table *table;
    int column;
};

static int compare_known(const struct table_column *column, union table_cell left, union table_cell right)
{
    int order;
    switch (column->kind) {
    case COLUMN_TEXT:
        return strcmp(left.text, right.text);
    case COLUMN_SIGNED:
    case COLUMN_CHANGE:
        return (left.number > right.number) - (left.number < right.number);
    case COLUMN_REAL:
        return (left.real < right.real) - (left.real > right.real);
    default:
        order = (left.count > right.count) - (left.count < right.count);
        return column->kind == COLUMN_NUMBER || column->kind == COLUMN_HEX || column->kind == COLUMN_WHEN
                   ? order
                   : -order;
    }
}

/* Unknown values sort last. */
static int compare_cells(const struct table_column *column, union table_cell left, union table_cell right)
{
    bool is_left = table_cell_is_known(column, left), is_right = table_cell_is_known(column, right);
    return is_left && is_right ? compare_known(column, left, right) : is_right - is_left;
}

static int compare_rows(const void *left, const void *right, void *argument)
{
    const struct table_row *a = *(struct table_row *const *)left, *b = *(struct table_row *const *)right;
    const struct order *by = argument;
    int order = 0;
    if (by->column >= 0)
        order = compare_cells(&by->table->columns[by->column], a->cells[by->column], b->cells[by->column]);
    if (order == 0)
        order = strcmp(a->name, b->name);
    for (unsigned i = 0; order == 0 && i < by->table->column_count; i++)
        if (by->table->columns[i].kind == COLUMN_NUMBER)
            order = compare_cells(&by->table->columns[i], a->cells[i], b->cells[i]);
    return order;
}

void table_sort(struct table *table, int column)
{
    struct order order = {table, column};
    if (column == TABLE_NO_COLUMN)
        return;
    table->sorted = column;
    if (table->count > 1)
        qsort_r(table->rows, table->count, sizeof(table->rows[0]), compare_rows, &order);
    for (size_t i = 0; i < table->count; i++)
        table->rows[i]->indent = 0;
}

int table_order(const struct table *table)
{
    return table->order != TABLE_AS_FILLED ? table_find_column(table, table->order) : TABLE_NO_COLUMN;
}

bool table_sort_as(struct table *table, const struct table_options *options)
{
    const int column = options->sort != NULL ? table_find_column(table, options->sort) : TABLE_NO_COLUMN;
    table_sort(table, column != TABLE_NO_COLUMN ? column : table_order(table));
    for (size_t i = 0; options->reverse && i < (table->count + 1) / 2; i++) {
        struct table_row *row = table->rows[i], **other = &table->rows[table->count - 1 - i];
        row->indent = (*other)->indent = 0;
        table->rows[i] = *other;
        *other = row;
    }
    return options->sort == NULL || column != TABLE_NO_COLUMN;
}

union table_cell table_unknown(const struct table_column *column)
{
    union table_cell cell = {.number = TABLE_NONE};
    if (column->kind == COLUMN_TEXT)
        cell.text = NULL;
    else if (column->kind == COLUMN_REAL)
        cell.real = NAN;
    return cell;
}

void table_add_cells(const struct table *table, struct table_row *sum, const struct table_row *row)
{
    for (unsigned i = 0; i < table->column_count; i++) {
        const struct table_column *column = &table->columns[i];
        union table_cell *to = &sum->cells[i], from = row->cells[i];
        if (column->sum == SUM_NOTHING || !table_cell_is_known(column, from))
            continue;
        if (!table_cell_is_known(column, *to))
            *to = from;
        else if (column->sum == SUM_ADDED && column->kind == COLUMN_REAL)
            to->real += from.real;
        else if (column->sum == SUM_ADDED)
            to->count += from.count;
        else if ((compare_known(column, from, *to) < 0) == (column->sum == SUM_LARGEST))
            *to = from;
    }
}

void table_free(struct table *table)
{
    free(table->rows);
    arena_free(&table->arena);
    table->rows = NULL;
    table->count = table->size = 0;
}
