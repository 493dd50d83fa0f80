/* log_rows.c - rows of tables of counters as events of a trace, named row_TABLE: FORMAT.md, "Rows". */
#include <stdio.h>
#include <stdlib.h>
#include <tools/tarn/source/pull_writer.h>
#include <tools/tarn/tables/counted.h>
#include <tools/tarn/tables/key_names.h>

/* An event has the words of a row from its keys to `ended`, the updates under way, and, of a row of a
 * thread's routines, this. */
struct of_routine {
    uint64_t pid, tid;
    char name[64], context[64], process[ROUTINES_NAME_BYTES];
};
static const char of_all[] = "uint64_t updates;\nuint64_t under_way;\n";
static const char of_routine[] = "uint64_t pid;\nuint64_t tid;\ntext8_t name[64];\ntext8_t context[64];\n"
                                 "text8_t process[48];\n";
_Static_assert(sizeof(struct of_routine) == 16 + 64 + 64 + 48, "as declared");

void declare_rows(struct buffer *metadata)
{
    char line[200];
    for (const struct trace_table_info *table = trace_table_list; table->name != NULL; table++) {
        snprintf(line, sizeof(line), "\nevent { name = \"row_%s\"; id = %u; stream_id = 0; ", table->name,
                 TRACE_ID(TRACE_CLASS_ROWS, table->number));
        buffer_text(metadata, line);
        buffer_text(metadata, "fields := struct {\n");
        for (unsigned c = 0; c < table->column_count; c++) {
            const struct trace_column_info *column = &table->columns[c];
            const int length =
                snprintf(line, sizeof(line), "%s %s", column->is_hex ? "xint64_t" : "uint64_t", column->name);
            if (column->words > 1)
                snprintf(line + length, sizeof(line) - (size_t)length, "[%u]", column->words);
            buffer_text(metadata, line);
            buffer_text(metadata, ";\n");
        }
        buffer_text(metadata, of_all);
        buffer_text(metadata, table->is_private ? of_routine : "");
        buffer_text(metadata, "}; };\n");
    }
}

struct logging {
    struct trace_writer *writer;
    struct buffer events; /* of the next packet */
    uint64_t count;
    uint32_t cpu; /* in whose stream they are */
    struct fail *fail;
};

static bool flush(struct logging *logging)
{
    const bool ok = logging->count == 0 || write_rows_packet(logging->writer, logging->cpu, &logging->events,
                                                             logging->count, logging->fail);
    logging->events.used = logging->count = 0;
    return ok;
}

/* MORE: NULL if the table is not private. */
static bool log_row(struct logging *logging, const struct trace_table_info *table,
                    const struct counted_row *row, const struct of_routine *more)
{
    const struct trace_writer *writer = logging->writer;
    const uint32_t numbers = table->row_words - TRACE_ROW_KEYS + 2;
    const struct trace_header header = {.id = TRACE_ID(TRACE_CLASS_ROWS, table->number),
                                        .length = numbers + (more != NULL ? sizeof(*more) / 8 : 0),
                                        .timestamp = (uint32_t)writer->cpu[logging->cpu].end};
    uint64_t words[TRACE_LENGTH_MAX];
    words[0] = trace_header_word(writer->hello.byte_order == 1, header);
    memcpy(&words[1], &row->words[TRACE_ROW_KEYS], (numbers - 2) * 8ul);
    words[numbers - 1] = row->under_way;
    for (uint32_t i = 0; i < numbers; i++)
        words[i] = writer_64(writer, words[i]);
    if (more != NULL)
        memcpy(&words[numbers], more, sizeof(*more));
    if (logging->events.used + header.length * 8ul > ROWS_BYTES_MAX(writer) && !flush(logging))
        return false;
    buffer_add(&logging->events, words, header.length * 8ul);
    logging->count++;
    return true;
}

static bool log_routine(struct logging *logging, const struct trace_table_info *table,
                        const struct counted_row *row, const struct key_names *names)
{
    const struct trace_routines *head = &names->routines->copies[row->part].head;
    const uint64_t key = row->words[TRACE_ROW_KEYS];
    struct of_routine more = {.pid = writer_64(logging->writer, head->pid),
                              .tid = writer_64(logging->writer, head->tid)};
    char text[KEY_NAME_BYTES];
    const char *context = context_name(names, key, text);
    snprintf(more.context, sizeof(more.context), "%.63s", context != NULL ? context : "");
    snprintf(more.name, sizeof(more.name), "%.63s", routine_name(names, key, text));
    routines_name(head, more.process);
    return log_row(logging, table, row, &more);
}

/* Private tables, or the others. */
static bool log_tables(struct logging *logging, struct source *source, bool is_private)
{
    struct counted counted;
    struct key_names names;
    struct moment moment;
    bool ok = moment_read(&moment, source, is_private, logging->fail);
    if (!ok)
        return false;
    key_names_open_routines(&names, &moment.routines, NULL);
    for (const struct trace_table_info *table = trace_table_list; table->name != NULL; table++) {
        if (table->is_private != is_private)
            continue;
        counted_collect(&counted, table, &moment, NULL, is_private);
        counted_complain(&counted, table);
        for (size_t i = 0; i < counted.count && ok; i++)
            ok = is_private ? log_routine(logging, table, counted.rows[i], &names)
                            : log_row(logging, table, counted.rows[i], NULL);
        counted_free(&counted);
    }
    key_names_close(&names);
    moment_free(&moment);
    return ok;
}

bool log_rows(struct trace_writer *writer, struct source *source, struct fail *fail)
{
    struct logging logging = {.writer = writer, .fail = fail};
    while (logging.cpu < writer->hello.cpu_count && !writer->cpu[logging.cpu].started)
        logging.cpu++;
    if (logging.cpu == writer->hello.cpu_count)
        return fail_set(fail, "a trace without packets has no place for rows of tables");
    bool ok = log_tables(&logging, source, false) && flush(&logging) &&
              (source->is_previous || log_tables(&logging, source, true)) && flush(&logging);
    free(logging.events.bytes);
    return ok;
}
