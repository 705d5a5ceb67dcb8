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

static inline bool projected_good(const char *what, const projected *p)
{
    return check_row(p->code == 0 && p->projection, "%s: %s: %s", what, taut_code_name(p->code),
                     p->error.message);
}

static inline void projected_refused(const char *what, projected *p, int code, const char *words)
{
    check_row(p->code == code, "%s: %s, expected %s: %s", what, taut_code_name(p->code),
              taut_code_name(code), p->error.message);
    check_contains(what, p->error.message, words);
    projected_drop(p);
}

#endif
