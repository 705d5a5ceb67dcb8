/* project.h - for tests of projections: a model, options as words, the result. */
#ifndef TAUT_TESTS_SUPPORT_PROJECT_H
#define TAUT_TESTS_SUPPORT_PROJECT_H

#include <taut/taut.h>

#include "support/faulty.h"
#include "support/table.h"

typedef struct projected {
    taut_system *system;
    taut_options *options;
    taut_projection *projection;
    taut_projection_result r;
    taut_projection_stage stage[TAUT_PROJECTION_STAGES + 1]; /* the last is never filled */
    int stages;
    taut_error error;
    int code;
} projected;

/* Options as "name=value name=value". */
static inline void projected_options(projected *p, const char *text)
{
    char copy[300];
    snprintf(copy, sizeof copy, "%s", text);
    for (char *word = strtok(copy, " "); word && p->code == 0; word = strtok(NULL, " ")) {
        char *value = strchr(word, '=');
        *value++ = '\0';
        p->code = taut_options_set(p->options, word, value, &p->error);
    }
}

/* A text that was cut ends in the middle: at the end of its buffer, with an open bracket or
 * quotation, or with what separates words. */
static inline bool projected_complete(const char *text, size_t size)
{
    size_t length = strlen(text);
    int open = 0, quotes = 0;
    for (const char *c = text; *c; c++) {
        open += (*c == '(') - (*c == ')');
        quotes += *c == '`';
    }
    return length == 0 || (length + 1 < size && open == 0 && quotes % 2 == 0 &&
                           !strchr(" ,;:-", text[length - 1]));
}

/* Every text of every test is checked. */
static inline void projected_texts(const projected *p, const char *options)
{
    const char *text;
    if (!projected_complete(p->error.message, sizeof p->error.message))
        check_row(false, "%s: message is cut: %s", options, p->error.message);
    if (p->projection && !projected_complete(p->r.explanation, 1000))
        check_row(false, "%s: explanation is cut: %s", options, p->r.explanation);
    for (int k = 0; p->projection && (text = taut_projection_warning(p->projection, k)); k++)
        if (!projected_complete(text, 150))
            check_row(false, "%s: warning is cut: %s", options, text);
}

/* Projects p->system, which is there already. */
static inline void projected_run(projected *p, const char *options, const taut_allocator *allocator)
{
    if (p->code == 0)
        p->code = taut_options_create(NULL, &p->options, &p->error);
    if (p->code == 0)
        projected_options(p, options);
    if (p->code == 0)
        p->code = taut_project(p->system, p->options, allocator, &p->projection, &p->error);
    if (p->projection) {
        taut_projection_result_init(&p->r);
        taut_projection_result_get(p->projection, &p->r, NULL);
        taut_projection_stage_init(&p->stage[0]);
        while (taut_projection_stage_get(p->projection, p->stages, &p->stage[p->stages], NULL) == 0)
            taut_projection_stage_init(&p->stage[++p->stages]);
    }
    projected_texts(p, options);
}

/* The model is a text, or the name of a shipped one when it has no line break. */
static inline projected project_model_with(const char *model, const taut_load *how,
                                           const char *options, const taut_allocator *allocator)
{
    projected p = {0};
    char path[1200];
    if (strchr(model, '\n')) {
        p.code = taut_system_parse(model, strlen(model), "model.taut", how, &p.system, &p.error);
    } else {
        snprintf(path, sizeof path, "%s/models/%s.taut", TAUT_SOURCE_DIR, model);
        p.code = taut_system_load(path, how, &p.system, &p.error);
    }
    projected_run(&p, options, allocator);
    return p;
}

static inline projected project_model(const char *model, const taut_load *how, const char *options)
{
    return project_model_with(model, how, options, NULL);
}

static inline void projected_drop(projected *p)
{
    taut_projection_destroy(p->projection);
    taut_options_destroy(p->options);
    taut_system_destroy(p->system);
    *p = (projected){0};
}

/* Each allocation of a projection fails once: that is reported, and nothing stays. */
static inline void projected_faults(taut_system *system, const char *options)
{
    enum { MOST = 4000 };
    int64_t k = 1;
    for (; k < MOST; k = faulty_next(k)) {
        faulty f = {.fail = k};
        taut_allocator allocator = faulty_allocator(&f);
        projected p = {.system = system};
        projected_run(&p, options, &allocator);
        bool failed = f.failed > 0;
        check_row(p.code == (failed ? TAUT_ERROR_MEMORY : TAUT_OK), "%s, call %lld: %s %s", options,
                  (long long)k, taut_code_name(p.code), p.error.message);
        p.system = NULL;
        projected_drop(&p);
        check_row(f.live == 0, "%s, call %lld: %lld blocks left", options, (long long)k,
                  (long long)f.live);
        if (!failed)
            break;
    }
    check_row(k > 8 && k < MOST, "%s: %lld allocations seen", options, (long long)k);
}

static inline bool projected_good(const char *what, const projected *p)
{
    return check_row(p->code == 0 && p->projection, "%s: %s: %s", what, taut_code_name(p->code),
                     p->error.message);
}

static inline void projected_refused(const char *what, projected *p, int code, const char *words)
{
    check_row(p->code == code, "%s: %s, expected %s: %s", what, taut_code_name(p->code),
              taut_code_name(code), p->error.message);
    char text[sizeof p->error.option + sizeof p->error.message + 2];
    bool option = p->error.option[0];
    snprintf(text, sizeof text, "%s%s%s", p->error.option, option ? ": " : "", p->error.message);
    check_contains(what, text, words);
    projected_drop(p);
}

#endif
