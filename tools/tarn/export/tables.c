/* SPDX-License-Identifier: BSD-2-Clause */
/* tables.c - the relations of a trace, written in one walk; see tables.h. */
#include <tools/tarn/export/tables.h>

struct table_sink {
    struct relation_sink sink;
    struct tables *tables;
    char *text; /* of the row's values */
};

#define TEXT_BYTES 256u /* of a value: struct relations */

/* Texts that relations compute are valid only until the next value. */
static struct value keep_text(struct tables *tables, char *text, struct value value)
{
    if (value.kind == VALUE_TEXT && value.text == tables->relations.text)
        value.text = memcpy(text, value.text, value.length);
    return value_plain(&tables->export.analysis.trace->schema, value);
}

static void write_row(struct relation_sink *self, const struct relation_row *row)
{
    struct table_sink *sink = OUTER(self, struct table_sink, sink);
    struct tables *tables = sink->tables;
    const struct relation *relation = self->relation;
    for (unsigned c = 0; c < relation->column_count; c++)
        tables->values[c] =
            keep_text(tables, sink->text + c * TEXT_BYTES, relation_value(row, &relation->columns[c]));
    if (relation->ip != NULL && cursor_running(row->cursor)->is_known)
        *(bool *)map_at(&tables->places, cursor_running(row->cursor)->pid,
                        field_integer(relation->ip, row->cursor->event.bytes), 0) = true;
    if (!tables->export.has_failed)
        tables->writer->row(tables, (unsigned)(relation - tables->catalog.relations), tables->values);
}

static void open_sinks(struct tables *tables)
{
    struct arena *arena = &tables->export.analysis.arena;
    unsigned most = 0;

    for (unsigned i = 0; i < tables->catalog.count; i++)
        if (tables->catalog.relations[i].column_count > most)
            most = tables->catalog.relations[i].column_count;
    tables->values = arena_alloc(arena, most * sizeof(tables->values[0]));
    tables->sinks = arena_alloc(arena, tables->catalog.count * sizeof(tables->sinks[0]));
    char *text = arena_alloc(arena, most * TEXT_BYTES);
    for (unsigned i = 0; i < tables->catalog.count; i++) {
        const struct relation *relation = &tables->catalog.relations[i];

        tables->sinks[i] = (struct table_sink){{.relation = relation, .take = write_row}, tables, text};
        /* all events are a view of the tables of event types */
        if (relation->source < SOURCE_STREAMS && (relation->source != SOURCE_EVENT || relation->type != NULL))
            relations_add(&tables->relations, &tables->sinks[i].sink);
    }
}

bool tables_open(struct tables *tables, const struct table_writer *writer, struct fail *fail)
{
    struct analysis *analysis = &tables->export.analysis;

    tables->writer = writer;
    catalog_open(&tables->catalog, &analysis->trace->schema);
    relations_open(&tables->relations, analysis);
    tables->relations.losses = tables->export.losses;
    analysis_map(analysis, &tables->places, sizeof(bool));
    open_sinks(tables);
    relations_observe(&tables->relations);
    return writer->open(tables, fail);
}

static void write_final(struct tables *tables, struct table_sink *sink)
{
    struct relation_row row = {.item = NULL};
    bool is_one;

    for (uint64_t i = 0; relations_final(&tables->relations, sink->sink.relation->source, i, &row, &is_one);
         i++)
        if (is_one)
            write_row(&sink->sink, &row);
}

/* Writes what is at the addresses in events, as in `tarn profile`. */
static void write_places(struct tables *tables, struct table_sink *sink)
{
    for (size_t i = 0; i < tables->places.count; i++) {
        const uint64_t *key = map_entry(&tables->places, i)->key;

        write_row(&sink->sink,
                  &(struct relation_row){.relations = &tables->relations,
                                         .number = key[0],
                                         .begin = key[1],
                                         .item = executables_find(&tables->export.analysis.model->executables,
                                                                  (uint32_t)key[0], key[1])});
    }
}

void tables_finish(struct analysis *analysis)
{
    struct tables *tables = EXPORT_OF(analysis, struct tables);

    relations_finish(&tables->relations);
    for (unsigned i = 0; i < tables->catalog.own; i++)
        if (tables->catalog.relations[i].source == SOURCE_PLACE)
            write_places(tables, &tables->sinks[i]);
        else if (tables->catalog.relations[i].source >= SOURCE_STREAMS)
            write_final(tables, &tables->sinks[i]);
    tables->writer->finish(tables);
}

void tables_close(struct analysis *analysis)
{
    struct tables *tables = EXPORT_OF(analysis, struct tables);

    if (tables->writer == NULL)
        return;
    tables->writer->close(tables);
    catalog_close(&tables->catalog);
}
