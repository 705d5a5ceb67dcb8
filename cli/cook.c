/* cook.c - what recipes share: entries and curves that grow, models with options in one line. */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "reproduce.h"

int cook_fail(cook *k, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    k->error = (taut_error){.code = TAUT_ERROR_USAGE, .t = NAN};
    vsnprintf(k->error.message, sizeof k->error.message, format, list);
    va_end(list);
    return TAUT_ERROR_USAGE;
}

int cook_note(cook *k, double value, const char *key, ...)
{
    cook_entry *larger = realloc(k->entry, ((size_t)k->entries + 1) * sizeof *larger);
    if (!larger)
        return cook_fail(k, "out of memory");
    k->entry = larger;
    cook_entry *entry = &larger[k->entries++];
    va_list list;
    va_start(list, key);
    vsnprintf(entry->key, sizeof entry->key, key, list);
    va_end(list);
    entry->value = value;
    return 0;
}

int cook_curve(cook *k, const char *name, ...)
{
    if (k->curves == COOK_CURVES)
        return cook_fail(k, "more than %d curves", COOK_CURVES);
    va_list list;
    va_start(list, name);
    vsnprintf(k->name[k->curves], COOK_KEY, name, list);
    va_end(list);
    k->curves++;
    k->start[k->curves] = k->start[k->curves - 1];
    return 0;
}

int cook_point(cook *k, double x, double y)
{
    int place = k->start[k->curves];
    double *xs = realloc(k->x, ((size_t)place + 1) * sizeof *xs);
    if (xs)
        k->x = xs;
    double *ys = realloc(k->y, ((size_t)place + 1) * sizeof *ys);
    if (ys)
        k->y = ys;
    if (!xs || !ys)
        return cook_fail(k, "out of memory");
    xs[place] = x;
    ys[place] = y;
    k->start[k->curves]++;
    return 0;
}

void cook_clear(cook *k)
{
    free(k->entry);
    free(k->x);
    free(k->y);
    *k = (cook){.call = k->call, .models = k->models, .error = {.t = NAN}};
}

/* Cuts words apart in place; returns how many, -1 when there are more than fit. */
static int cut_words(char *text, const char **word, int most)
{
    int count = 0;
    for (char *p = text; *p;) {
        size_t length = strcspn(p, " ");
        char *next = p + length + (p[length] == ' ');
        p[length] = '\0';
        if (count == most)
            return -1;
        word[count++] = p;
        p = next;
    }
    return count;
}

static int load(cook *k, cook_pot *pot, const char *model, const char *set)
{
    enum { MOST = 8 };
    char text[200];
    static const char start[] = "start:";
    const char *word[MOST], *init[MOST];
    snprintf(text, sizeof text, "%s", set);
    int count = cut_words(text, word, MOST), parameters = 0, starts = 0;
    for (int i = 0; i < count; i++)
        if (strncmp(word[i], start, sizeof start - 1) == 0)
            init[starts++] = word[i] + sizeof start - 1;
        else
            word[parameters++] = word[i];
    taut_load how = {.set = word, .set_count = parameters, .init = init, .init_count = starts};
    if (strchr(model, '\n'))
        return taut_system_parse(model, strlen(model), "recipe", &how, &pot->system, &k->error);
    for (int i = 0; i < k->models.count; i++)
        if (strcmp(k->models.name[i], model) == 0)
            return taut_system_load(k->models.path[i], &how, &pot->system, &k->error);
    return cook_fail(k, "the shipped model '%s' is missing; set TAUT_MODELS to the folder that holds it", model);
}

static int set_options(cook *k, cook_pot *pot, const char *options)
{
    enum { MOST = 16 };
    char text[400], name[40];
    const char *word[MOST];
    snprintf(text, sizeof text, "%s", options);
    int count = cut_words(text, word, MOST);
    for (int i = 0; i < count; i++) {
        const char *equals = strchr(word[i], '=');
        if (!equals)
            return cook_fail(k, "a recipe has the option '%s' without a value", word[i]);
        snprintf(name, sizeof name, "%.*s", (int)(equals - word[i]), word[i]);
        COOK_TRY(taut_options_set(pot->options, name, equals + 1, &k->error));
    }
    return count < 0 ? cook_fail(k, "a recipe has too many options") : 0;
}

int cook_open(cook *k, cook_pot *pot, const char *model, const char *set, const char *options)
{
    *pot = (cook_pot){0};
    COOK_TRY(load(k, pot, model, set));
    COOK_TRY(taut_options_create(NULL, &pot->options, &k->error));
    return set_options(k, pot, options);
}

int cook_run(cook *k, cook_pot *pot, const char *model, const char *set, const char *options)
{
    COOK_TRY(cook_open(k, pot, model, set, options));
    return taut_solver_create(pot->system, pot->options, NULL, &pot->solver, &k->error);
}

int cook_project(cook *k, cook_pot *pot, const char *model, const char *set, const char *options)
{
    COOK_TRY(cook_open(k, pot, model, set, options));
    COOK_TRY(taut_project(pot->system, pot->options, NULL, &pot->projection, &k->error));
    taut_projection_result_get(pot->projection, &pot->result);
    return 0;
}

void cook_close(cook_pot *pot)
{
    taut_solver_destroy(pot->solver);
    taut_projection_destroy(pot->projection);
    taut_options_destroy(pot->options);
    taut_system_destroy(pot->system);
    *pot = (cook_pot){0};
}
