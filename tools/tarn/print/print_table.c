/* print_table.c - tables as text, JSON, CSV; see print_table.h. */
#include <inttypes.h>
#include <sys/ioctl.h>
#include <tools/tarn/print/print.h>
#include <tools/tarn/print/print_table.h>
#include <unistd.h>

#define LINE_WIDTH     100u /* if the output is no terminal */
#define NAME_WIDTH_MIN 20u
#define NAME_WIDTH_CUT 28u /* the least to which names are cut */
#define NAME_WIDTH_MAX 44u
#define TEXT_WIDTH_MAX 60u
#define CELL_WIDTH_MIN 6u
#define BAR_WIDTH      30u

const struct command_option table_options[] = {
    [TABLE_OPTION_SORT] = {TEXT(
        "sort", "COLUMN", struct table_options, sort,
        "sort every table that has COLUMN: its heading, or its name in JSON (times end in _ns, percentages "
        "in _percent), or `name` for the first column. Amounts sort largest first, names and IDs in "
        "ascending order")},
    [TABLE_OPTION_REVERSE] = {FLAG("reverse", struct table_options, reverse, "reverse the order")},
    [TABLE_OPTION_WIDE] = {FLAG("wide", struct table_options, is_wide,
                                "print all columns in full\nOtherwise lines fit the terminal, or 100 "
                                "characters if the output is none: "
                                "names are cut, and the last columns left out, but not the one sorted by")},
    [TABLE_OPTION_TOP] = {COUNT(
        "top", "N", struct table_options, top, 0, COUNT_MAX,
        "print at most N rows of each table; 0: all\nText defaults to the first ones, "
        "and sums up the rest. Histograms are always complete")},
    [TABLE_OPTION_JSON] = {CHOICE("json", struct table_options, format, TABLES_JSON,
                                  "print JSON\nOf tables it is one object. Its member `tables` has a list of "
                                  "objects for each; losses and totals are others. Times are in nanoseconds, "
                                  "unknown values null")},
    {CHOICE("csv", struct table_options, format, TABLES_CSV,
            "print comma-separated values\nEach table has its own heading. Empty lines separate tables. If a "
            "trace lacks anything, the last table is `losses`, with the names and values of JSON")},
    {.name = NULL}};

uint64_t table_top(const struct table_options *options, uint64_t usual)
{
    if (options->top == 0 || (options->top == TABLE_TOP_DEFAULT && options->format != TABLES_TEXT))
        return UINT64_MAX;
    return options->top != TABLE_TOP_DEFAULT ? options->top : usual;
}

unsigned table_width(const struct table_options *options)
{
    struct winsize size;
    bool is_terminal = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 40;
    return options->is_wide ? UINT_MAX : is_terminal ? size.ws_col : LINE_WIDTH;
}

struct layout {
    unsigned width;
    struct unit unit;
    uint64_t largest; /* for bars */
    bool is_shown;
};

/* Whether text shows the column; without a heading it is only in JSON and CSV. */
static bool is_shown(const struct table_column *column)
{
    return column->kind == COLUMN_BAR || column->heading == NULL || column->heading[0] != '\0';
}

static bool is_left(const struct table_column *column)
{
    return column->kind == COLUMN_TEXT || column->kind == COLUMN_BAR;
}

static bool is_time(const struct table_column *column)
{
    return column->kind == COLUMN_TIME || column->kind == COLUMN_CHANGE;
}

static unsigned characters(const char *text)
{
    unsigned count = 0;
    for (; *text != '\0'; text++)
        count += ((unsigned char)*text & 0xc0) != 0x80;
    return count;
}

/* Prints at most WIDTH characters, ending in "..." if cut, with dots for unprintable ones. */
static void print_cut(FILE *to, const char *text, unsigned width)
{
    unsigned count = characters(text), shown = count > width ? width - 3 : count;
    while (*text != '\0') {
        unsigned char c = (unsigned char)*text;
        unsigned length = c < 0x80 ? 1 : utf8_length((const unsigned char *)text, strlen(text));
        if (shown-- == 0)
            break;
        if (c < 0x20 || c == 0x7f || length == 0)
            fputc('.', to);
        else
            fwrite(text, 1, length, to);
        text += length ? length : 1;
    }
    if (count > width)
        fputs("...", to);
}

const char *plain_text(const char *text, char *copy, size_t size)
{
    snprintf(copy, size, "%s", text);
    for (char *at = copy; *at != '\0'; at++)
        if ((unsigned char)*at < 0x20 || (unsigned char)*at >= 0x7f)
            *at = '.';
    return copy;
}

/* The unit of all cells of the column. */
static struct unit unit_of(const struct table *table, unsigned number)
{
    const struct table_column *column = &table->columns[number];
    uint64_t largest = 0;
    for (size_t i = 0; i < table->count; i++) {
        union table_cell cell = table->rows[i]->cells[number];
        uint64_t size = column->kind == COLUMN_CHANGE && cell.number < 0 ? -cell.count : cell.count;
        if (table_cell_is_known(column, cell) && size > largest)
            largest = size;
    }
    return is_time(column)                ? unit_of_time(largest)
           : column->kind == COLUMN_COUNT ? unit_of_count(largest)
                                          : (struct unit){"", 1};
}

/* Formats the value as it is; a number always fits. */
static void format_number(const struct table_column *column, union table_cell cell, char text[400])
{
    if (column->kind == COLUMN_REAL)
        snprintf(text, 400, "%.9g", cell.real);
    else if (column->kind == COLUMN_SIGNED || column->kind == COLUMN_CHANGE)
        snprintf(text, 400, "%" PRId64, cell.number);
    else
        snprintf(text, 400, column->kind == COLUMN_HEX ? "0x%" PRIx64 : "%" PRIu64, cell.count);
}

/* Formats a cell that is not text for people. */
static void format_cell(const struct table_column *column, union table_cell cell, struct unit unit,
                        char text[400])
{
    *text = '\0';
    if (!table_cell_is_known(column, cell))
        return;
    if (column->kind == COLUMN_CHANGE) {
        *text = '+';
        format_digits((double)cell.number / unit.of_one, cell.number > 0 ? text + 1 : text);
    } else if (unit.of_one > 1) {
        format_digits((double)cell.count / unit.of_one, text);
    } else if (column->kind == COLUMN_REAL) {
        format_digits(cell.real, text);
    } else if (column->kind == COLUMN_WHEN) {
        snprintf(text, 400, "%" PRIu64 ".%06" PRIu64, cell.count / 1000000000,
                 cell.count % 1000000000 / 1000);
    } else {
        format_number(column, cell, text);
    }
}

static void print_bar(FILE *to, uint64_t count, uint64_t largest)
{
    unsigned length = largest ? (unsigned)((double)count / (double)largest * BAR_WIDTH + 0.5) : 0;
    if (count != 0 && length == 0)
        length = 1;
    while (length-- > 0)
        fputc('#', to);
}

static void print_cell_text(FILE *to, const struct table_column *column, union table_cell cell,
                            const struct layout *layout)
{
    char text[400];
    if (column->kind == COLUMN_BAR) {
        if (table_cell_is_known(column, cell))
            print_bar(to, cell.count, layout->largest);
    } else if (column->kind == COLUMN_TEXT) {
        const char *value = cell.text ? cell.text : "";
        print_cut(to, value, layout->width);
        if (characters(value) < layout->width)
            fprintf(to, "%*s", (int)(layout->width - characters(value)), "");
    } else {
        format_cell(column, cell, layout->unit, text);
        fprintf(to, "%*s", (int)layout->width, text);
    }
}

/* No trailing blanks. */
static void print_row_text(FILE *to, const struct table *table, const struct table_row *row,
                           const struct layout *layouts, unsigned name_width)
{
    char *text = NULL;
    size_t length;
    FILE *line = open_memstream(&text, &length);
    unsigned indent = 2 * row->indent < name_width / 2 ? 2 * row->indent : name_width / 2;
    unsigned used = indent + characters(row->name);
    fprintf(line, "%*s", (int)indent, "");
    print_cut(line, row->name, name_width - indent);
    fprintf(line, "%*s", used < name_width ? (int)(name_width - used) : 0, "");
    for (unsigned i = 0; i < table->column_count; i++) {
        if (!layouts[i].is_shown)
            continue;
        fputs(is_left(&table->columns[i]) ? "  " : " ", line);
        print_cell_text(line, &table->columns[i], row->cells[i], &layouts[i]);
    }
    fclose(line);
    while (length > 0 && text[length - 1] == ' ')
        length--;
    fwrite(text, 1, length, to);
    fputc('\n', to);
    free(text);
}

static void widen(struct layout *layout, const struct table_column *column, union table_cell cell)
{
    char text[400];
    unsigned width;
    if (column->kind == COLUMN_TEXT) {
        width = cell.text ? characters(cell.text) : 0;
        width = width < TEXT_WIDTH_MAX ? width : TEXT_WIDTH_MAX;
    } else {
        format_cell(column, cell, layout->unit, text);
        width = (unsigned)strlen(text);
    }
    if (column->kind == COLUMN_BAR && table_cell_is_known(column, cell) && cell.count > layout->largest)
        layout->largest = cell.count;
    else if (width > layout->width)
        layout->width = width;
}

/* Computes the widths from the rows shown. REST is the sum of the others. */
static void lay_out(const struct table *table, uint64_t top, const struct table_row *rest,
                    struct layout *layouts)
{
    for (unsigned c = 0; c < table->column_count; c++) {
        const struct table_column *column = &table->columns[c];
        struct layout *layout = &layouts[c];
        char text[HEADING_BYTES];
        size_t heading_width;
        *layout =
            (struct layout){is_left(column) ? 1 : CELL_WIDTH_MIN, unit_of(table, c), 0, is_shown(column)};
        heading_width = strlen(column_heading(column, text)) + strlen(layout->unit.suffix);
        if (layout->width < heading_width)
            layout->width = (unsigned)heading_width;
        for (size_t i = 0; i < table->count && i < top; i++)
            widen(layout, column, table->rows[i]->cells[c]);
        if (rest != NULL)
            widen(layout, column, rest->cells[c]);
    }
}

static void print_head(FILE *to, const struct table *table, const struct layout *layouts, unsigned name_width)
{
    fprintf(to, "\n%-*s", (int)name_width, table->heading);
    for (unsigned i = 0; i < table->column_count; i++) {
        const struct table_column *column = &table->columns[i];
        bool is_last = i + 1 == table->column_count;
        char text[HEADING_BYTES], heading[HEADING_BYTES + 4];
        if (!layouts[i].is_shown)
            continue;
        snprintf(heading, sizeof(heading), "%s%s", column_heading(column, text), layouts[i].unit.suffix);
        if (is_left(column))
            fprintf(to, "  %-*s", is_last ? 0 : (int)layouts[i].width, heading);
        else
            fprintf(to, " %*s", (int)layouts[i].width, heading);
    }
    fputc('\n', to);
}

static unsigned widest_name(const struct table *table, uint64_t top)
{
    unsigned widest = NAME_WIDTH_MIN;
    for (size_t i = 0; i < table->count && i < top; i++) {
        unsigned width = 2 * table->rows[i]->indent + characters(table->rows[i]->name);
        widest = width > widest ? width : widest;
    }
    return widest < NAME_WIDTH_MAX ? widest : NAME_WIDTH_MAX;
}

static unsigned cells_width(const struct table *table, const struct layout *layouts)
{
    unsigned width = 0;
    for (unsigned i = 0; i < table->column_count; i++)
        if (layouts[i].is_shown)
            width += (table->columns[i].kind == COLUMN_BAR ? BAR_WIDTH : layouts[i].width) +
                     (is_left(&table->columns[i]) ? 2 : 1);
    return width;
}

/* Leaves out columns until the line fits. Returns the width for names, at most NAME_WIDTH. */
static unsigned fit(const struct table *table, struct layout *layouts, unsigned name_width, unsigned least,
                    unsigned width)
{
    unsigned cells = cells_width(table, layouts);
    least = name_width < least ? name_width : least;
    for (unsigned i = table->column_count; i-- > 1 && cells + least > width;) {
        layouts[i].is_shown &= (int)i == table->sorted;
        cells = cells_width(table, layouts);
    }
    if (cells + name_width <= width)
        return name_width;
    return cells + least < width ? width - cells : least;
}

void table_print_text(FILE *to, const struct table *table, uint64_t top, unsigned width,
                      unsigned least_name_width)
{
    struct layout layouts[TABLE_COLUMNS_MAX];
    struct table_row *rest = NULL;
    unsigned name_width;
    char name[80];
    if (table->count <= top || table->count == top + 1) { /* a single row takes as much space as the sum */
        top = table->count;
    } else {
        rest = alloc_zero(1, sizeof(*rest) + TABLE_COLUMNS_MAX * sizeof(union table_cell));
        snprintf(name, sizeof(name), "... and %zu more %s", table->count - (size_t)top, table->others);
        rest->name = name;
        for (unsigned i = 0; i < table->column_count; i++)
            rest->cells[i] = table_unknown(&table->columns[i]);
        for (size_t i = (size_t)top; i < table->count; i++)
            table_add_cells(table, rest, table->rows[i]);
    }
    lay_out(table, top, rest, layouts);
    name_width = widest_name(table, top);
    if (rest != NULL && characters(name) > name_width)
        name_width = characters(name);
    name_width = fit(table, layouts, name_width, least_name_width, width);
    if (rest != NULL && characters(name) > name_width)
        snprintf(name, sizeof(name), "... and %zu more", table->count - (size_t)top);
    print_head(to, table, layouts, name_width);
    for (size_t i = 0; i < top; i++)
        print_row_text(to, table, table->rows[i], layouts, name_width);
    if (rest != NULL)
        print_row_text(to, table, rest, layouts, name_width);
    free(rest);
}

void print_json_string(FILE *to, const char *text)
{
    size_t length = strlen(text);
    char *quoted = alloc_zero(6, length + 2);
    fwrite(quoted, 1, (size_t)(put_escaped(quoted, text, length, PRINT_JSON) - quoted), to);
    free(quoted);
}

void print_csv_string(FILE *to, const char *text)
{
    size_t length = strlen(text);
    char *quoted = alloc_zero(2, length + 1);
    fwrite(quoted, 1, (size_t)(put_csv_text(quoted, text, length) - quoted), to);
    free(quoted);
}

/* Prints a cell for JSON or CSV. Addresses are strings in JSON, whose numbers are decimal. */
static void print_cell(FILE *to, const struct table_column *column, union table_cell cell, bool is_json)
{
    const char *quote = is_json && column->kind == COLUMN_HEX ? "\"" : "";
    char text[400];
    if (!table_cell_is_known(column, cell)) {
        fputs(is_json ? "null" : "", to);
    } else if (column->kind == COLUMN_TEXT) {
        (is_json ? print_json_string : print_csv_string)(to, cell.text);
    } else {
        format_number(column, cell, text);
        fprintf(to, "%s%s%s", quote, text, quote);
    }
}

void table_print_members(FILE *to, const struct table *table, const struct table_row *row)
{
    const char *comma = "";
    for (unsigned c = 0; c < table->column_count; c++) {
        if (table->columns[c].kind == COLUMN_BAR)
            continue;
        fprintf(to, "%s\"%s\":", comma, table->columns[c].key);
        print_cell(to, &table->columns[c], row->cells[c], true);
        comma = ",";
    }
}

void table_print_json(FILE *to, const struct table *table, uint64_t top)
{
    fprintf(to, "\"%s\":[", table->key);
    for (size_t i = 0; i < table->count && i < top; i++) {
        fprintf(to, "%s{\"name\":", i ? "," : "");
        print_json_string(to, table->rows[i]->name);
        fputc(',', to);
        table_print_members(to, table, table->rows[i]);
        fputc('}', to);
    }
    fputc(']', to);
}

/* With its own heading. */
static void print_csv(FILE *to, const struct table *table, uint64_t top)
{
    fputs(table->key, to);
    for (unsigned c = 0; c < table->column_count; c++)
        if (table->columns[c].kind != COLUMN_BAR)
            fprintf(to, ",%s", table->columns[c].key);
    fputc('\n', to);
    for (size_t i = 0; i < table->count && i < top; i++) {
        const struct table_row *row = table->rows[i];
        print_csv_string(to, row->name);
        for (unsigned c = 0; c < table->column_count; c++)
            if (table->columns[c].kind != COLUMN_BAR) {
                fputc(',', to);
                print_cell(to, &table->columns[c], row->cells[c], false);
            }
        fputc('\n', to);
    }
}

void table_print(FILE *to, const struct table_options *options, const struct table *table, uint64_t usual)
{
    const uint64_t top = table_top(options, usual);
    if (options->format == TABLES_TEXT)
        table_print_text(to, table, table->is_whole ? UINT64_MAX : top, table_width(options), NAME_WIDTH_CUT);
    else
        (options->format == TABLES_JSON ? table_print_json : print_csv)(to, table, top);
}

void print_paragraph(FILE *to, const char *text, unsigned width)
{
    unsigned used = 0;
    while (*text != '\0') {
        size_t length = strcspn(text, " ");
        if (used != 0 && used + 1 + length > width) {
            fputc('\n', to);
            used = 0;
        }
        used += (unsigned)fprintf(to, "%s%.*s", used != 0 ? " " : "", (int)length, text);
        text += length + (text[length] != '\0');
    }
    fputc('\n', to);
}
