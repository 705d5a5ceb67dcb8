/* projection_settings.c - options as typed settings, and which options a projection does not
 * read. */
#include "project/project.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/options.h"
#include "project/difference.h"

static const struct {
    unsigned bit;
    const char *option;
} rows[] = {
    {TAUT_SETTING_OMEGA, "omega"},
    {TAUT_SETTING_WINDOW, "window"},
    {TAUT_SETTING_MICRO_STEPS, "micro-steps"},
    {TAUT_SETTING_KERNEL, "kernel"},
    {TAUT_SETTING_MOMENTS, "moments"},
    {TAUT_SETTING_SMOOTHNESS, "smoothness"},
    {TAUT_SETTING_ACCELERATE, "accelerate"},
    {TAUT_SETTING_PASSES, "passes"},
    {TAUT_SETTING_TOLERANCE, "tolerance"},
    {TAUT_SETTING_ORDER, "order"},
    {TAUT_SETTING_HORIZON, "horizon"},
    {TAUT_SETTING_FIRST_HORIZON, "first-horizon"},
    {TAUT_SETTING_ITERATE, "iterate"},
    {TAUT_SETTING_COPIES, "copies"},
};

enum { ROWS = sizeof rows / sizeof rows[0] };

static unsigned given(const taut_options *options)
{
    unsigned bits = 0;
    for (int k = 0; k < ROWS; k++)
        bits |= taut_options_given(options, rows[k].option) ? rows[k].bit : 0;
    return bits;
}

static double real(const taut_options *options, const char *name, double otherwise)
{
    return taut_options_given(options, name) ? taut_options_real(options, name) : otherwise;
}

static taut_kernel_choice kernel(const taut_options *options)
{
    static const char *const names[] = {"auto", "aware", "smooth", "bump", "cubic"};
    int k = TAUT_KERNEL_CUBIC;
    while (k > 0 && strcmp(names[k], taut_options_text(options, "kernel")) != 0)
        k--;
    return (taut_kernel_choice)k;
}

taut_projection_settings taut_projection_settings_of(const taut_options *options)
{
    return (taut_projection_settings){
        .method = &taut_projection_auto,
        .given = given(options),
        .record = taut_options_given(options, "plot"),
        .expansion = taut_options_flag(options, "expansion"),
        .richardson = (int)taut_options_integer(options, "richardson"),
        .omega = real(options, "omega", 0),
        .window = taut_options_real(options, "window"),
        .micro_steps = taut_options_integer(options, "micro-steps"),
        .kernel = kernel(options),
        .moments = (int)taut_options_integer(options, "moments"),
        .smoothness = (int)real(options, "smoothness", -1),
        .accelerate = taut_options_flag(options, "accelerate"),
        .passes = taut_options_integer(options, "passes"),
        .tolerance = taut_options_real(options, "tolerance"),
        .order =
            taut_options_given(options, "order") ? (int)taut_options_integer(options, "order") : 0,
        .horizon = taut_options_real(options, "horizon"),
        .first_horizon = taut_options_real(options, "first-horizon"),
        .iteration = taut_iteration_find(taut_options_text(options, "iterate")),
        .copies = taut_options_given(options, "copies")
                      ? (int)taut_options_integer(options, "copies")
                      : 0,
        .from = taut_options_real(options, "from"),
    };
}

int taut_projection_settings_read(const taut_options *options, taut_projection_settings *settings,
                                  taut_error *error)
{
    *settings = taut_projection_settings_of(options);
    return taut_options_given(options, "method")
               ? taut_projection_find(taut_options_text(options, "method"), &settings->method,
                                      error)
               : TAUT_OK;
}

void taut_projection_unread(taut_projection *p, const taut_options *options)
{
    unsigned unread = given(options) & ~(p->method->reads & ~p->idle);
    char reader[60], names[60], more[80];
    snprintf(reader, sizeof reader, "projection %s", p->method->name);
    for (int k = 0; k < ROWS; k++) {
        if (!(unread & rows[k].bit))
            continue;
        int count = taut_projection_names(&p->in->sizes, rows[k].bit, " and ", names, sizeof names);
        more[0] = '\0';
        if (p->method->reads & rows[k].bit)
            snprintf(more, sizeof more, " for this system and these settings");
        else if (count)
            snprintf(more, sizeof more, "; %s %s", names, count > 1 ? "do" : "does");
        taut_warn_unread(&p->warnings, rows[k].option, reader, more);
    }
}
