/* page.c - pages that play runs, or show a sweep (web/): a sink for each run keeps its rows, and
 * the page is written when all is known. Data are JSON inside a script element of a type that
 * browsers do not execute;
 * '<' is written \u003c in it, so that no text can end the element. */
#include "io/page.h"

#include <math.h>
#include <string.h>

#include "base/inside.h"
#include "base/number.h"
#include "io/writer.h"

enum { MOST_NUMBERS = 1 << 23, MOST_FRAMES = 4000, MOST_EVENTS = 2000, FEWEST_FRAMES = 32 };
static const int64_t MOST_BYTES = 1900000; /* of the data of a page */

struct taut_page {
    taut_arena arena;
    taut_page_run_data *run, *latest; /* first and last */
    int runs;
};

/* ---- rows */

/* Of all `count`, or of those picked. */
static void list_names(taut_page_run_data *run, const taut_system *system, taut_item item,
                       int64_t count, const taut_pick *pick)
{
    char name[256];
    for (int64_t k = 0; k < count; k++) {
        const taut_index of = pick && pick->item ? pick->item[k] : (taut_index)k;
        taut_system_name(system, item, of, name, sizeof name);
        taut_bytes_add(&run->names, name, (int64_t)strlen(name));
        taut_bytes_add(&run->names, "\n", 1);
    }
}

/* The texts of shapes live as long as the system: copies. */
static int list_shapes(taut_page_run_data *run, const taut_system *system, taut_error *error)
{
    run->shapes = run->context ? taut_shape_count(system) : 0;
    run->shape = TAUT_NEW(run->arena, taut_shape, run->shapes);
    TAUT_NEED(error, run->shape);
    for (int k = 0; k < run->shapes; k++) {
        taut_shape *s = &run->shape[k];
        s->size = sizeof *s;
        TAUT_TRY(taut_shape_get(system, k, s, error));
        run->shape_points += s->points;
        const char **const text[3] = {&s->name, &s->text, &s->colour};
        for (int i = 0; i < 3; i++)
            if (*text[i])
                *text[i] = taut_arena_text(run->arena, *text[i], strlen(*text[i]));
    }
    return taut_arena_check(run->arena, error);
}

int taut_page_model(taut_page_run_data *run, const taut_system *system, taut_error *error)
{
    const char *title = taut_system_title(system);
    size_t length;
    const char *model = taut_system_text(system, &length);
    run->title = taut_arena_text(run->arena, title, strlen(title));
    run->model = model ? taut_arena_text(run->arena, model, length) : "";
    TAUT_NEED(error, run->title, run->model);
    return TAUT_OK;
}

static int begin(void *user, const taut_system *system, taut_error *error)
{
    taut_page_run_data *run = user;
    taut_sizes *z = &run->sizes;
    if (run->columns > 0)
        return taut_fail(error, TAUT_ERROR_USAGE, "a run of a page cannot begin twice");
    *z = (taut_sizes){.size = sizeof *z};
    TAUT_TRY(taut_system_sizes_get(system, z, error));
    bool mechanical = z->kind == TAUT_MECHANICAL;
    TAUT_TRY(taut_page_model(run, system, error));
    run->names.arena = run->arena;
    if (z->can & TAUT_CAN_FORCE)
        TAUT_TRY(taut_context_create(system, &run->arena->allocator, &run->context, error));
    if (mechanical && run->context)
        TAUT_TRY(taut_page_scene(run, system, error));
    TAUT_TRY(taut_page_thin(run, error));
    TAUT_TRY(list_shapes(run, system, error));
    const int64_t coordinates = run->every > 1 ? run->coordinate.count : z->coordinates,
                  bonds = run->every > 1 ? run->bond.count : z->bonds;
    const int64_t width[TAUT_PAGE_GROUPS] = {
        coordinates, mechanical ? coordinates : z->algebraic, mechanical ? bonds : 0, z->outputs, 1,
        2,           (int64_t)run->anchors * run->dimension,  3 * run->shape_points};
    memcpy(run->width, width, sizeof width);
    for (int k = 0; k < TAUT_PAGE_GROUPS; k++)
        run->columns += width[k];
    list_names(run, system, TAUT_COORDINATE, coordinates, &run->coordinate);
    list_names(run, system, TAUT_ALGEBRAIC, z->algebraic, NULL);
    list_names(run, system, TAUT_BOND, mechanical ? bonds : 0, &run->bond);
    list_names(run, system, TAUT_OUTPUT, z->outputs, NULL);
    list_names(run, system, TAUT_EVENT_ITEM, z->events, NULL);
    run->latest = TAUT_NEW(run->arena, double, 1 + run->columns);
    run->stride = 1;
    TAUT_NEED(error, run->latest);
    return run->names.failed ? taut_fail_memory(error) : TAUT_OK;
}

/* Room for one row more: every second one goes when there are too many. */
static int make_room(taut_page_run_data *run, taut_error *error)
{
    int64_t size = 1 + run->columns, most = MOST_NUMBERS / size;
    most = most < 4 ? 4 : most > MOST_FRAMES ? MOST_FRAMES : most;
    if (run->kept >= most) {
        for (int64_t k = 1; 2 * k < run->kept; k++)
            memcpy(run->row + k * size, run->row + 2 * k * size, (size_t)size * sizeof *run->row);
        run->kept = (run->kept + 1) / 2;
        run->stride *= 2;
    }
    double *row = taut_arena_grow(run->arena, run->row, run->kept, &run->capacity,
                                  (size_t)size * sizeof *row);
    TAUT_NEED(error, row);
    run->row = row;
    return TAUT_OK;
}

static int keep_event(taut_page_run_data *run, const taut_row *row, taut_error *error)
{
    if (row->event == 0 || run->events == MOST_EVENTS)
        return TAUT_OK;
    taut_page_event *event =
        taut_arena_grow(run->arena, run->event, run->events, &run->event_capacity, sizeof *event);
    TAUT_NEED(error, event);
    run->event = event;
    event[run->events++] = (taut_page_event){row->t, row->event};
    return TAUT_OK;
}

static int row(void *user, const taut_row *given, taut_error *error)
{
    taut_page_run_data *run = user;
    const double drift[2] = {given->drift_position, given->drift_velocity};
    const double *from[TAUT_PAGE_GROUPS] = {given->q,       given->v,       given->lambda,
                                            given->outputs, &given->energy, drift};
    double *to = run->latest;
    *to++ = given->t;
    for (int k = 0; k < TAUT_PAGE_GROUPS; to += run->width[k++]) {
        const int32_t *item = k == TAUT_PAGE_MULTIPLIER  ? run->bond.item
                              : k < TAUT_PAGE_MULTIPLIER ? run->coordinate.item
                                                         : NULL;
        for (int64_t i = 0; from[k] && i < run->width[k]; i++)
            to[i] = from[k][item ? item[i] : i];
    }
    to = run->latest + 1 + run->columns - run->width[TAUT_PAGE_SHAPE];
    if (run->shapes > 0 &&
        taut_shapes_at(run->context, given->t, given->q, given->v, given->lambda, to, NULL) != 0)
        for (int64_t k = 0; k < run->width[TAUT_PAGE_SHAPE]; k++)
            to[k] = NAN; /* not drawn here */
    if (run->seen == 0 && run->points > 0)
        taut_page_gravity(run, given->t, given->q, given->v);
    if (run->anchors > 0 && (run->seen == 0 || run->moving))
        taut_page_anchors(run, given->t, given->q, to - run->width[TAUT_PAGE_ANCHOR]);
    if (run->seen == 0 && run->end)
        taut_page_gains(run, given->t, given->q, to - run->width[TAUT_PAGE_ANCHOR]);
    TAUT_TRY(keep_event(run, given, error));
    if (run->seen++ % run->stride == 0) {
        TAUT_TRY(make_room(run, error));
        if ((run->seen - 1) % run->stride == 0)
            memcpy(run->row + run->kept++ * (1 + run->columns), run->latest,
                   (size_t)(1 + run->columns) * sizeof *run->row);
    }
    return TAUT_OK;
}

/* The latest row is among those kept. */
static int end(void *user, taut_error *error)
{
    taut_page_run_data *run = user;
    int64_t size = 1 + run->columns;
    if (run->seen > 0 && (run->seen - 1) % run->stride != 0) {
        TAUT_TRY(make_room(run, error));
        memcpy(run->row + run->kept++ * size, run->latest, (size_t)size * sizeof *run->row);
    }
    taut_context_destroy(run->context);
    run->context = NULL;
    return taut_page_renumber(run, error);
}

/* ---- the page */

int taut_page_create(const taut_allocator *allocator, taut_page **page, taut_error *error)
{
    taut_error_clear(error);
    TAUT_REQUIRE(page);
    taut_arena arena;
    taut_arena_init(&arena, allocator);
    *page = TAUT_NEW(&arena, taut_page, 1);
    TAUT_NEED(error, *page);
    (*page)->arena = arena;
    return TAUT_OK;
}

void taut_page_destroy(taut_page *page)
{
    if (!page)
        return;
    for (taut_page_run_data *run = page->run; run; run = run->next)
        taut_context_destroy(run->context);
    taut_arena arena = page->arena; /* the page lives in it */
    taut_arena_clear(&arena);
}

int taut_page_add(taut_page *page, const char *name, bool table, taut_page_run_data **run,
                  taut_error *error)
{
    if (page->latest && (table || page->latest->table.data))
        return taut_fail(error, TAUT_ERROR_USAGE, "a page shows runs, or one sweep");
    if (page->runs == TAUT_PAGE_RUNS)
        return taut_fail(error, TAUT_ERROR_USAGE, "a page shows at most %d runs", TAUT_PAGE_RUNS);
    taut_page_run_data *made = TAUT_NEW(&page->arena, taut_page_run_data, 1);
    char *copy = taut_arena_text(&page->arena, name, strlen(name));
    TAUT_NEED(error, made, copy);
    made->arena = made->table.arena = &page->arena;
    made->name = copy;
    made->title = made->model = "";
    *(page->latest ? &page->latest->next : &page->run) = made;
    page->latest = made;
    page->runs++;
    *run = made;
    return TAUT_OK;
}

int taut_page_run(taut_page *page, const char *name, taut_sink *sink, taut_error *error)
{
    taut_page_run_data *run;
    taut_error_clear(error);
    TAUT_REQUIRE(page && name && sink);
    TAUT_TRY(taut_page_add(page, name, false, &run, error));
    *sink = (taut_sink){.begin = begin, .row = row, .end = end, .user = run};
    return TAUT_OK;
}

int taut_page_text(taut_page *page, const char *heading, const char *text, taut_error *error)
{
    taut_error_clear(error);
    TAUT_REQUIRE(page && page->latest && heading && text);
    taut_page_text_item *item = TAUT_NEW(&page->arena, taut_page_text_item, 1),
                        **last = &page->latest->text;
    TAUT_NEED(error, item);
    item->heading = taut_arena_text(&page->arena, heading, strlen(heading));
    item->text = taut_arena_text(&page->arena, text, strlen(text));
    TAUT_NEED(error, item->heading, item->text);
    while (*last)
        last = &(*last)->next;
    *last = item;
    return TAUT_OK;
}

/* ---- JSON */

static void put_text(taut_file_sink *out, const char *text)
{
    taut_writer_text(out, "\"");
    for (const char *p = text ? text : ""; *p;) {
        size_t plain = 0;
        while (p[plain] && (unsigned char)p[plain] >= ' ' && !strchr("\"\\<", p[plain]))
            plain++;
        taut_writer_bytes(out, p, plain);
        p += plain;
        if (*p) {
            char escape[8];
            snprintf(escape, sizeof escape, "\\u%04x", (unsigned)(unsigned char)*p++);
            taut_writer_text(out, escape);
        }
    }
    taut_writer_text(out, "\"");
}

static void put_key(taut_file_sink *out, const char *key, const char *text)
{
    taut_writer_format(out, "\"%s\":", key);
    put_text(out, text);
    taut_writer_text(out, ",\n");
}

static void put_number(taut_file_sink *out, double value)
{
    char text[TAUT_NUMBER_SIZE];
    taut_number_format(value, 17, text);
    taut_writer_text(out, isfinite(value) ? text : "null");
}

static void put_count(taut_file_sink *out, const char *key, int64_t value)
{
    taut_writer_format(out, "\"%s\":", key);
    put_number(out, (double)value);
    taut_writer_text(out, ",\n");
}

static void put_events(taut_file_sink *out, const taut_page_run_data *run)
{
    taut_writer_text(out, "\"events\":[");
    for (int64_t k = 0; k < run->events; k++) {
        taut_writer_text(out, k ? ",[" : "[");
        put_number(out, run->event[k].t);
        taut_writer_format(out, ",%d]", (int)run->event[k].event - 1);
    }
    taut_writer_text(out, "],\n\"gravity\":[");
    for (int k = 0; k < 3; k++) {
        taut_writer_text(out, k ? "," : "");
        put_number(out, run->gravity[k]);
    }
    taut_writer_text(out, "],\n");
}

static void put_texts(taut_file_sink *out, const taut_page_run_data *run)
{
    put_key(out, "name", run->name);
    put_key(out, "title", run->title);
    put_key(out, "model", run->model);
    put_count(out, "rows", run->seen);
    taut_writer_text(out, "\"texts\":[");
    for (const taut_page_text_item *item = run->text; item; item = item->next) {
        taut_writer_text(out, item == run->text ? "[" : ",[");
        put_text(out, item->heading);
        taut_writer_text(out, ",");
        put_text(out, item->text);
        taut_writer_text(out, "]");
    }
    taut_writer_text(out, "],\n");
}

static void put_shapes(taut_file_sink *out, const taut_page_run_data *run)
{
    static const char *const kind[] = {"point", "line", "path", "circle", "box", "arrow", "text"};
    taut_writer_text(out, "\"shapes\":[");
    for (int k = 0; k < run->shapes; k++) {
        const taut_shape *s = &run->shape[k];
        taut_writer_text(out, k ? ",\n{" : "{");
        put_key(out, "name", s->name);
        put_key(out, "text", s->text);
        put_key(out, "colour", s->colour);
        put_key(out, "kind", kind[s->kind]);
        put_count(out, "points", s->points);
        put_count(out, "first", s->first);
        taut_writer_text(out, "\"width\":");
        put_number(out, s->width);
        taut_writer_text(out, "}");
    }
    taut_writer_text(out, "],\n");
}

static void put_run(taut_file_sink *out, const taut_page_run_data *run, bool differences,
                    int64_t thin)
{
    static const char *const group[TAUT_PAGE_GROUPS] = {"q",      "v",     "lambda", "output",
                                                        "energy", "drift", "anchor", "shape"};
    put_count(out, "mechanical", run->sizes.kind == TAUT_MECHANICAL);
    put_count(out, "dimension", run->dimension);
    put_count(out, "frames", taut_page_frames(run, thin));
    put_count(out, "points", run->points);
    put_count(out, "every", run->every);
    put_count(out, "bonds", run->end ? run->sizes.bonds : 0);
    put_count(out, "algebraic", run->sizes.algebraic);
    put_count(out, "eventNames", run->sizes.events);
    taut_writer_text(out, "\"width\":{");
    for (int k = 0; k < TAUT_PAGE_GROUPS; k++)
        taut_writer_format(out, "\"%s\":%d,", group[k], (int)run->width[k]);
    taut_writer_format(out, "\"difference\":%d},\n",
                       differences ? (int)taut_page_differences(run) : 0);
    put_events(out, run);
    put_shapes(out, run);
}

static void put_item(taut_file_sink *out, const taut_page_run_data *run, bool differences,
                     int64_t thin, const taut_bytes *data)
{
    taut_writer_text(out, "{");
    put_texts(out, run);
    if (run->table.data) {
        put_count(out, "sweep", 1);
        put_count(out, "varied", run->varied);
    } else {
        put_run(out, run, differences, thin);
    }
    taut_writer_text(out, "\"data\":\"");
    taut_writer_bytes(out, (const char *)data->data, (size_t)data->count);
    taut_writer_text(out, "\"}");
}

/* Codes all runs with fewer and fewer rows until they are small enough. */
static int64_t code_runs(const taut_page *page, taut_arena *arena, taut_bytes *data)
{
    for (int64_t thin = 1;; thin *= 2) {
        int64_t bytes = 0, frames = 0;
        int k = 0;
        for (const taut_page_run_data *run = page->run; run; run = run->next, k++) {
            data[k] = (taut_bytes){.arena = arena};
            bool table = run->table.data != NULL;
            if (table)
                taut_page_table_code(&data[k], run, thin);
            else
                taut_page_code(&data[k], run, taut_page_base(page->run, run), thin);
            bytes += data[k].count;
            frames += table ? run->seen / thin : taut_page_frames(run, thin);
        }
        if (bytes <= MOST_BYTES || frames <= page->runs * FEWEST_FRAMES)
            return thin;
        taut_arena_clear(arena);
    }
}

static int write_all(const taut_page *page, taut_arena *arena, taut_file_sink *out,
                     taut_error *error)
{
    int k;
    taut_bytes data[TAUT_PAGE_RUNS];
    int64_t thin = code_runs(page, arena, data);
    for (k = 0; k < page->runs; k++)
        if (data[k].failed)
            return taut_fail_memory(error);
    TAUT_TRY(taut_writer_open(out, out->path, error));
    taut_writer_bytes(out, (const char *)taut_page_head, taut_page_head_size);
    taut_writer_text(out, "{");
    put_key(out, "version", taut_version());
    taut_writer_text(out, "\"runs\":[");
    k = 0;
    for (const taut_page_run_data *run = page->run; run; run = run->next, k++) {
        taut_writer_text(out, k ? ",\n" : "");
        put_item(out, run, taut_page_base(page->run, run) != NULL, thin, &data[k]);
    }
    taut_writer_text(out, "]}");
    taut_writer_bytes(out, (const char *)taut_page_tail, taut_page_tail_size);
    return taut_writer_close(out, error);
}

int taut_page_write(const taut_page *page, const char *path, taut_error *error)
{
    taut_file_sink *out;
    taut_error_clear(error);
    TAUT_REQUIRE(page && page->run);
    TAUT_TRY(taut_writer_create(path, 1, &out, error));
    taut_arena arena;
    taut_arena_init(&arena, &page->arena.allocator);
    int status = write_all(page, &arena, out, error);
    taut_arena_clear(&arena);
    taut_file_sink_destroy(out);
    return status;
}
