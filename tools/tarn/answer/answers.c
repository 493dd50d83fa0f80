/* SPDX-License-Identifier: BSD-2-Clause */
/* answers.c - the list of analyses, and one walk for several; see answer.h. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tools/tarn/answer/answer.h>
#include <tools/tarn/answer/kinds.h>
#include <tools/tarn/model/walk.h>

const struct answer_kind *const answer_kinds[] = {
    &stats_answer,     &syscalls_answer, &faults_answer,    &irq_answer,   &threads_answer,
    &processes_answer, &sched_answer,    &intervals_answer, &noise_answer, &breakdown_answer,
    &ipc_answer,       &profile_answer,  &locks_answer,     NULL};

const struct answer_kind *answer_find(const char *name)
{
    for (unsigned i = 0; answer_kinds[i] != NULL; i++)
        if (strcmp(answer_kinds[i]->name, name) == 0)
            return answer_kinds[i];
    return NULL;
}

struct answer *answer_new(const struct answer_kind *kind)
{
    struct answer *answer = alloc_zero(1, kind->size);

    answer->kind = kind;
    answer->tables = alloc_zero(kind->table_count, sizeof(answer->tables[0]));
    if (kind->table_count != 0)
        memcpy(answer->tables, kind->tables, kind->table_count * sizeof(answer->tables[0]));
    if (kind->totals != NULL) {
        answer->totals = *kind->totals;
        answer->total = table_add(&answer->totals, "total");
    }
    return answer;
}

void answer_free(struct answer *answer)
{
    if (answer->kind->close != NULL)
        answer->kind->close(answer);
    for (unsigned i = 0; i < answer->kind->table_count; i++)
        table_free(&answer->tables[i]);
    table_free(&answer->totals);
    free(answer->tables);
    free(answer->chosen);
    free(answer);
}

bool answer_set(struct answer *answer, const char *option, const char *value, struct fail *fail)
{
    if (!answer->kind->set(answer, option, value, fail))
        return false;
    for (unsigned i = 0; i < answer->kind->table_count; i++)
        if (answer->tables[i].needs != NULL && strcmp(answer->tables[i].needs, option) == 0)
            answer->tables[i].needs = NULL;
    return true;
}

bool answer_has_option(const struct answer_kind *kind, const char *name)
{
    for (const struct answer_option *option = kind->options; option != NULL && option->name != NULL; option++)
        if (strcmp(option->name, name) == 0)
            return true;
    return false;
}

static struct table *find_table(struct answer *answer, const char *key, size_t length)
{
    for (unsigned i = 0; i < answer->kind->table_count; i++) {
        struct table *table = &answer->tables[i];

        if (strlen(table->key) == length && memcmp(table->key, key, length) == 0)
            return table;
    }
    return NULL;
}

static void add_word(char *text, size_t size, const char *word)
{
    size_t used = strlen(text);

    snprintf(text + used, size - used, "%s%s", used ? ", " : "", word);
}

static bool has_word(const char *text, const char *word)
{
    size_t length = strlen(word);

    for (const char *at = strstr(text, word); at != NULL; at = strstr(at + 1, word))
        if ((at == text || (at[-1] == ' ' && at[-2] == ',')) && (at[length] == '\0' || at[length] == ','))
            return true;
    return false;
}

static bool no_table(const struct answer *answer, const char *key, size_t length, struct fail *fail)
{
    char known[256] = "";

    for (unsigned i = 0; i < answer->kind->table_count; i++)
        add_word(known, sizeof(known), answer->tables[i].key);
    return fail_set(fail, "%s has no table '%.*s'; it has %s", answer->kind->name,
                    (int)(length < 60 ? length : 60), key, known);
}

bool answer_choose_tables(struct answer *answer, const char *list, struct fail *fail)
{
    bool is_all = list != NULL && strcmp(list, "all") == 0;

    for (unsigned i = 0; i < answer->kind->table_count; i++)
        answer->tables[i].is_wanted =
            answer->tables[i].needs == NULL && (is_all || (list == NULL && !answer->tables[i].is_extra));
    if (is_all || list == NULL)
        return true;
    do {
        size_t length = strcspn(list, ",");
        struct table *table = find_table(answer, list, length);

        if (table == NULL)
            return no_table(answer, list, length, fail);
        if (table->needs != NULL)
            return fail_set(fail, "table '%s' needs --%s", table->key, table->needs);
        table->is_wanted = true;
        list += length;
    } while (*list++ == ',');
    return true;
}

static bool no_column(const struct answer *answer, const char *column, struct fail *fail)
{
    char known[400] = "name";

    for (unsigned i = 0; i < answer->kind->table_count; i++)
        for (unsigned c = 0; answer->tables[i].is_wanted && c < answer->tables[i].column_count; c++) {
            char text[HEADING_BYTES];
            const char *heading = column_heading(&answer->tables[i].columns[c], text);

            if (*heading != '\0' && !has_word(known, heading))
                add_word(known, sizeof(known), heading);
        }
    return fail_set(fail, "no table has a column '%.40s'; columns: %s", column, known);
}

bool answer_sort(struct answer *answer, const char *column, bool reverse, struct fail *fail)
{
    bool any = column == NULL;

    for (unsigned i = 0; i < answer->kind->table_count; i++) {
        struct table *table = &answer->tables[i];
        int place = column != NULL ? table_find_column(table, column) : table->order;

        if (!table->is_wanted)
            continue;
        any |= place >= TABLE_BY_NAME;
        table_sort(table, place >= TABLE_AS_FILLED ? place : table->order);
        if (reverse)
            table_reverse(table);
    }
    return any || no_column(answer, column, fail);
}

static bool choose_thread(const struct answer *answer, const struct model_thread *thread)
{
    struct running running = {.pid = thread->pid, .tid = thread->tid, .is_known = true};

    memcpy(running.comm, thread->comm, sizeof(running.comm));
    return filter_running(answer->filter, &running, &answer->model->names);
}

/* Processes without threads count, too, because `tarn processes` shows them. */
static bool choose_nobody(const struct answer *answer)
{
    const struct model *model = answer->model;

    if (!answer->filter->by_running)
        return false;
    for (uint32_t i = 0; i < model->thread_count; i++)
        if (choose_thread(answer, model->threads[i]))
            return false;
    for (size_t i = 0; i < model->processes.count; i++) {
        const struct model_process *process = map_value(&model->processes, i);
        struct running running = {.is_known = true, .pid = process->pid};

        if (filter_running(answer->filter, &running, &model->names))
            return false;
    }
    return true;
}

bool answers_open(struct answer **answers, unsigned count, struct model *model, const struct filter *filter,
                  struct symbols *symbols, struct fail *fail)
{
    for (unsigned i = 0; i < count; i++) {
        struct answer *answer = answers[i];
        const struct trace *trace = model->trace;

        answer->trace = trace;
        answer->model = model;
        answer->filter = filter;
        answer->symbols = symbols;
        answer->from = filter->from_ticks > trace->begin ? filter->from_ticks : trace->begin;
        answer->to = filter->to_ticks < trace->end ? filter->to_ticks : trace->end;
        if (answer->to < answer->from)
            answer->to = answer->from;
        if (answer->kind->open != NULL && !answer->kind->open(answer, fail))
            return false;
        model_observe(model, &answer->observer);
    }
    return true;
}

static uint64_t count_worked(const struct model *model)
{
    uint64_t ticks = 0;

    for (unsigned i = 0; i < model->trace->stream_count; i++)
        ticks += model->cpus[i].busy - model->cpus[i].boot;
    return ticks;
}

void answers_finish(struct answer **answers, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        answers[i]->worked = count_worked(answers[i]->model);
        if (answers[i]->kind->finish != NULL)
            answers[i]->kind->finish(answers[i]);
        answers[i]->chose_nobody = choose_nobody(answers[i]);
        for (unsigned t = 0; t < answers[i]->kind->table_count; t++)
            table_sort(&answers[i]->tables[t], answers[i]->tables[t].order);
        answers[i]->model = NULL;
    }
}

const char *answer_has_nothing(const struct answer *answer)
{
    if (answer->trace->begin >= answer->trace->end)
        return "the trace is empty";
    if (answer->from >= answer->to)
        return "the trace has nothing in this time range; `tarn info` shows when it begins and ends";
    if (answer->chose_nobody)
        return "no thread matches --pid, --tid and --process; `tarn threads --top 0` lists all";
    return NULL;
}

bool answers_ask(struct answer **answers, unsigned count, const struct trace *trace,
                 const struct filter *filter, struct symbols *symbols, struct reporter *reporter,
                 struct fail *fail)
{
    struct model model;
    struct merge merge;
    bool fine;

    model_open(&model, trace, filter->from_ticks, filter->to_ticks);
    model_learn_beginning(&model);
    fine = answers_open(answers, count, &model, filter, symbols, fail);
    if (fine) {
        merge_open(&merge, trace, NULL, 0, reporter);
        model_walk(&model, &merge);
        model_finish_range(&model, &merge);
        merge_close(&merge);
        answers_finish(answers, count);
    }
    model_close(&model);
    return fine;
}

bool answer_walk(const struct answer *answer, struct model *model, uint64_t from, uint64_t to,
                 struct model_observer *observer)
{
    struct merge merge;

    if (answer->walker != NULL)
        return answer->walker->walk(answer->walker, model, from, to, observer);
    model_open(model, answer->trace, from, to);
    model_learn_beginning(model);
    model_observe(model, observer);
    merge_open(&merge, answer->trace, NULL, 0, NULL);
    model_walk(model, &merge);
    model_finish_range(model, &merge);
    merge_close(&merge);
    return true;
}

/* Cache: whether the filter selects a thread, and the names of it and its process on which that is based. */
struct chosen {
    bool is_known, is_chosen;
    uint32_t pid;
    uint64_t changes; /* of names */
    char comm[TRACE_NAME_BYTES];
};

/* In a valid trace, a known pid does not change, and a damaged one does not matter; names do change. */
static bool is_current(const struct answer *answer, const struct chosen *chosen,
                       const struct model_thread *thread)
{
    if (!chosen->is_known || (chosen->pid == MODEL_NOBODY && thread->pid != MODEL_NOBODY))
        return false;
    return answer->filter->process == NULL || (chosen->changes == answer->model->names.changes &&
                                               memcmp(chosen->comm, thread->comm, TRACE_NAME_BYTES) == 0);
}

static void grow_chosen(struct answer *answer, uint32_t number)
{
    uint32_t size = 2 * (number + 8);

    answer->chosen = alloc_more(answer->chosen, size, sizeof(answer->chosen[0]));
    memset(answer->chosen + answer->chosen_size, 0, (size - answer->chosen_size) * sizeof(answer->chosen[0]));
    answer->chosen_size = size;
}

bool answer_wants_slow(struct answer *answer, const struct model_thread *thread)
{
    struct chosen *chosen;

    if (thread->number >= answer->chosen_size)
        grow_chosen(answer, thread->number);
    chosen = &answer->chosen[thread->number];
    if (is_current(answer, chosen, thread))
        return chosen->is_chosen;
    *chosen = (struct chosen){.is_known = true,
                              .is_chosen = choose_thread(answer, thread),
                              .pid = thread->pid,
                              .changes = answer->model->names.changes};
    memcpy(chosen->comm, thread->comm, TRACE_NAME_BYTES);
    return chosen->is_chosen;
}

uint64_t answer_when(const struct answer *answer, uint64_t ticks)
{
    return schema_elapsed_ns(&answer->trace->schema, answer->trace->begin, ticks);
}

double answer_seconds(const struct answer *answer)
{
    return (double)schema_elapsed_ns(&answer->trace->schema, answer->from, answer->to) / 1e9;
}

const char *answer_process_name(const struct answer *answer, uint32_t pid)
{
    const char *name = names_find(&answer->model->names, pid);

    return name != NULL ? name : pid == MODEL_NOBODY ? "(unknown)" : "(nameless)";
}

const char *answer_thread_name(const struct answer *answer, const struct model_thread *thread)
{
    return model_thread_name(answer->model, thread);
}

const struct field *answer_field(const struct answer *answer, const char *event, const char *field)
{
    const struct event_type *type = schema_find_event(&answer->trace->schema, event);

    return type != NULL ? schema_find_field(type, field) : NULL;
}

const char *label_of(const struct field *field, uint64_t value, char text[ANSWER_NAME_BYTES])
{
    for (const struct tsdl_label *label = field ? field->labels : NULL; label != NULL; label = label->next)
        if (value >= label->low && value <= label->high)
            return label->name;
    snprintf(text, ANSWER_NAME_BYTES, "%" PRIu64, value);
    return text;
}
