/* load.c - a model file becomes a system: read, parse, resolve, complete. */
#include "model/model.h"
#include "system/fused.h"
#include "system/hold.h"
#include "system/rank_part.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/structs.h"
#include "expr/lexer.h"

/* more than the lexer accepts: it refuses long texts with their length */
enum { FILE_LIMIT = 4 * TAUT_TEXT_LIMIT };

/* "FILE:LINE:COLUMN: text" */
static int place_message(taut_model *model, const taut_document *document, taut_place place,
                         const char *text, const char **message)
{
    char line[700], clean[900];
    snprintf(line, sizeof line, "%s:%d:%d: %s", document->file, place.line, place.column, text);
    size_t shown = taut_visible(line, clean, sizeof clean);
    *message = taut_arena_text(&model->system->arena, clean, shown);
    return *message ? 0 : taut_fail_memory(model->error);
}

int taut_model_fail(const taut_model *model, taut_place place, const char *format, ...)
{
    const taut_document *document = model->document;
    va_list list;
    va_start(list, format);
    int code = taut_text_fail(model->error, TAUT_ERROR_MODEL, document->file, document->text,
                              document->length, place, format, list);
    va_end(list);
    return code;
}

int taut_model_warn(taut_model *model, const taut_document *document, taut_place place,
                    const char *format, ...)
{
    taut_system *system = model->system;
    const char *line;
    char text[400];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    TAUT_TRY(place_message(model, document, place, text, &line));
    system->warning = taut_arena_grow(&system->arena, system->warning, system->sizes.warnings,
                                      &system->warning_capacity, sizeof *system->warning);
    TAUT_NEED(model->error, system->warning);
    system->warning[system->sizes.warnings++] = line;
    return 0;
}

/* At most SHOWN names: a model may have thousands of unused ones. */
static int warn_unused(taut_model *model)
{
    enum { SHOWN = 20 };
    int64_t unused = 0;
    for (int64_t k = 0; k < model->symbols; k++) {
        const taut_symbol *symbol = model->symbol[k];
        bool matters = symbol->kind == TAUT_SYMBOL_PARAMETER ||
                       symbol->kind == TAUT_SYMBOL_DEFINITION ||
                       symbol->kind == TAUT_SYMBOL_FUNCTION || symbol->kind == TAUT_SYMBOL_TABLE;
        if (matters && !symbol->used && ++unused <= SHOWN)
            TAUT_TRY(taut_model_warn(model, model->document, symbol->place,
                                     "the %s '%s' is not used", taut_symbol_word(symbol->kind),
                                     symbol->name));
    }
    if (unused <= SHOWN)
        return 0;
    return taut_model_warn(model, model->document, (taut_place){1, 1, 0},
                           "%lld further names are not used", (long long)(unused - SHOWN));
}

int taut_model_place_guards(taut_model *model, const taut_document *document,
                            const taut_item_tree *item, taut_guards *guards)
{
    char text[300];
    int length = snprintf(text, sizeof text, "%.250s:%d", document->file, item->place.line);
    guards->place = taut_arena_text(&model->system->arena, text, (size_t)length);
    return guards->place ? 0 : taut_fail_memory(model->error);
}

/* For taut_check only: every run would repeat it. */
static int describe_kinks(taut_model *model)
{
    if (model->kink_place.line == 0)
        return 0;
    return place_message(
        model, model->kink_document, model->kink_place,
        "kinks or jumps (abs, min, round, if, a plane angle): derivatives and Taylor jets "
        "are those of one side there",
        &model->system->kinks);
}

/* Guards of one statement, operation and kind have one line. */
static bool is_alike(const taut_guard_family *a, const taut_guard_family *b)
{
    return strcmp(a->place, b->place) == 0 && a->guard->op == b->guard->op &&
           a->guard->of_state == b->guard->of_state;
}

/* For taut_check: what system/kernel/guards.c found, in words. */
static int describe_guards(taut_model *model)
{
    taut_system *system = model->system;
    taut_guard_family family, other;
    int32_t families = 0;
    while (taut_guard_family_get(system, families, &family))
        families++;
    system->condition = TAUT_NEW(&system->arena, const char *, families);
    TAUT_NEED(model->error, system->condition);
    for (int32_t k = 0; k < families; k++) {
        bool first = true;
        int64_t count = 0;
        taut_guard_family_get(system, k, &family);
        for (int32_t j = 0; j < families && taut_guard_family_get(system, j, &other); j++)
            if (is_alike(&family, &other)) {
                first = first && j >= k;
                count += other.members;
            }
        if (!first)
            continue;
        taut_op op = family.guard->op;
        bool compares = op == TAUT_OP_LT || op == TAUT_OP_LE;
        char text[400];
        int length = snprintf(text, sizeof text, "%s: %s, %lld time%s, of %s", family.place,
                              compares              ? "a comparison"
                              : op == TAUT_OP_CURVE ? "an end of a table"
                                                    : taut_op_table[op].name,
                              (long long)count, count == 1 ? "" : "s",
                              family.guard->of_state ? "the state" : "t");
        const char *line = taut_arena_text(&system->arena, text, (size_t)length);
        TAUT_NEED(model->error, line);
        system->condition[system->conditions++] = line;
    }
    return 0;
}

/* Cut-offs and boxes are checked with the parameters of the model, as later with others. */
static int check_pairs(taut_model *model)
{
    taut_context *context = NULL;
    if (model->system->pair_sums == 0)
        return 0;
    int status = taut_context_create(model->system, NULL, &context, model->error);
    taut_context_destroy(context);
    return status;
}

/* Without a compiler the tapes stay interpreted, and a warning gives the reason. */
static int compile(taut_model *model)
{
    taut_error why;
    int status = taut_system_native(model->system, INFINITY, &why);
    if (status == TAUT_ERROR_MEMORY)
        return taut_fail_memory(model->error);
    return status == 0 ? 0
                       : taut_model_warn(model, model->document, (taut_place){1, 1, 0},
                                         "not compiled, interpreted instead: %s", why.message);
}

/* Values given by the program as statements of one section, one on a line. `name` takes the place
 * of the file in messages. */
static int parse_overrides(taut_model *model, taut_section section, const char *const *texts,
                           int count, const char *name, const taut_document **document)
{
    size_t length = 0;
    *document = NULL;
    for (int k = 0; k < count; k++)
        length += strlen(texts[k]) + 1;
    if (count == 0)
        return 0;
    char *text = TAUT_NEW(&model->scratch, char, length + 1);
    TAUT_NEED(model->error, text);
    length = 0;
    for (int k = 0; k < count; k++)
        length += (size_t)sprintf(text + length, "%s\n", texts[k]);
    taut_document *parsed;
    TAUT_TRY(taut_document_parse_section(section, text, length, name, &model->scratch, &parsed,
                                         model->error));
    *document = parsed;
    return 0;
}

static int resolve(taut_model *model, const char *text, size_t length, const char *name)
{
    const taut_load *how = model->how;
    const taut_document *set, *init;
    taut_document *document, *further = NULL;
    TAUT_TRY(taut_document_parse(text, length, name, &model->scratch, &document, model->error));
    model->document = document;
    TAUT_TRY(
        parse_overrides(model, TAUT_SECTION_PARAMETERS, how->set, how->set_count, "<set>", &set));
    TAUT_TRY(
        parse_overrides(model, TAUT_SECTION_START, how->init, how->init_count, "<init>", &init));
    if (how->start_text)
        TAUT_TRY(taut_document_parse_section(TAUT_SECTION_START, how->start_text,
                                             strlen(how->start_text), "<start>", &model->scratch,
                                             &further, model->error));
    model->system->from = how->from;
    model->system->allow_command = how->allow_command;
    model->overrides = init;
    model->further = further;
    TAUT_TRY(taut_model_tables(model));
    TAUT_TRY(taut_model_parameters(model, set));
    TAUT_TRY(taut_model_sections(model));
    TAUT_TRY(taut_model_start(model));
    TAUT_TRY(taut_model_events(model));
    if (!model->system->part) /* each rank would draw its part */
        TAUT_TRY(taut_model_shapes(model));
    TAUT_TRY(warn_unused(model));
    TAUT_TRY(describe_kinks(model));
    TAUT_TRY(describe_guards(model));
    TAUT_TRY(taut_system_complete(model->system, model->error));
    TAUT_TRY(taut_pairs_exclude(model));
    TAUT_TRY(check_pairs(model));
    taut_part_agree(model->system);
    return how->compile ? compile(model) : 0;
}

static int parse(const char *text, size_t length, const char *name, const taut_load *how,
                 taut_system **result, taut_error *error)
{
    taut_error mine;
    /* messages are completed on the way, so there must be room for one */
    taut_error *e = error ? error : &mine;
    taut_error_clear(e);
    taut_system *system = taut_system_new(how->allocator);
    TAUT_NEED(e, system);
    taut_model model = {.system = system, .how = how, .error = e};
    taut_arena_init(&model.scratch, how->allocator);
    int status = resolve(&model, text, length, name);
    if (status == 0) {
        const char *title = model.document->title ? model.document->title : "";
        system->title = taut_arena_text(&system->arena, title, strlen(title));
        system->file = taut_arena_text(&system->arena, name, strlen(name));
        system->text = taut_arena_text(&system->arena, text, length);
        system->text_length = length;
        if (!system->title || !system->file || !system->text)
            status = taut_fail_memory(e);
    }
    taut_arena_clear(&model.scratch);
    if (status) {
        taut_system_destroy(system);
        return status;
    }
    *result = system;
    return 0;
}

/* The request in full; NULL is an empty one. */
static int read_request(const taut_load *given, taut_load *own, taut_error *error)
{
    if (given)
        TAUT_TRY(taut_struct_read(own, sizeof *own, given, "taut_load", error));
    bool good = own->set_count >= 0 && own->init_count >= 0 && (own->set || own->set_count == 0) &&
                (own->init || own->init_count == 0) && own->table_count >= 0 &&
                (own->tables || own->table_count == 0);
    for (int k = 0; good && k < own->table_count; k++)
        good = own->tables[k].name && own->tables[k].text;
    for (int k = 0; good && k < own->set_count; k++)
        good = own->set[k];
    for (int k = 0; good && k < own->init_count; k++)
        good = own->init[k];
    return good ? TAUT_OK
                : taut_fail(
                      error, TAUT_ERROR_USAGE,
                      "taut_load: set, init and tables need as many texts as their counts specify");
}

int taut_system_parse(const char *text, size_t length, const char *name, const taut_load *how,
                      taut_system **system, taut_error *error)
{
    taut_load own = {0};
    taut_error_clear(error);
    TAUT_REQUIRE(system);
    *system = NULL;
    TAUT_REQUIRE(text && name);
    TAUT_TRY(read_request(how, &own, error));
    return parse(text, length, name, &own, system, error);
}

int taut_system_load(const char *path, const taut_load *how, taut_system **system,
                     taut_error *error)
{
    taut_load own = {0};
    taut_arena arena;
    char *text = NULL, why[TAUT_FILE_WHY];
    size_t length = 0;
    taut_error_clear(error);
    TAUT_REQUIRE(system);
    *system = NULL;
    TAUT_REQUIRE(path);
    TAUT_TRY(read_request(how, &own, error));
    taut_arena_init(&arena, own.allocator);
    text = taut_file_read(NULL, path, FILE_LIMIT, &arena, &length, why);
    int status = TAUT_OK;
    if (!text)
        status =
            why[0] ? taut_fail(error, TAUT_ERROR_FILE, "cannot open the model '%s': %s", path, why)
                   : taut_fail_memory(error);
    if (status == 0)
        status = parse(text, length, path, &own, system, error);
    taut_arena_clear(&arena);
    return status;
}
