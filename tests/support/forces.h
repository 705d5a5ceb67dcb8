/* forces.h - forces as C functions for tests of projections: springs that nothing declares, and
 * how slow a result is. */
#ifndef TAUT_TESTS_SUPPORT_FORCES_H
#define TAUT_TESTS_SUPPORT_FORCES_H

#include "support/project.h"

typedef struct springs {
    double omega;
    int calls, bad_after; /* NaN from this call on; 0: never */
} springs;

/* The double pendulum of A 5.1: two springs of stiffness omega^2 and length 1. */
static inline int double_force(void *user, double t, const double *q, const double *v, double *f)
{
    springs *s = user;
    (void)t, (void)v;
    double r1 = hypot(q[0], q[1]), dx = q[2] - q[0], dy = q[3] - q[1], r2 = hypot(dx, dy),
           w = s->omega * s->omega;
    double pull1 = w * (r1 - 1) / r1, pull2 = w * (r2 - 1) / r2;
    f[0] = -pull1 * q[0] + pull2 * dx;
    f[1] = -pull1 * q[1] + pull2 * dy;
    f[2] = -pull2 * dx;
    f[3] = -pull2 * dy;
    if (++s->calls > s->bad_after && s->bad_after > 0)
        f[1] = NAN;
    return 0;
}

static inline int forced_force(void *user, double t, const double *q, const double *v, double *f)
{
    (void)v;
    double w = ((springs *)user)->omega;
    f[0] = -w * w * (q[0] - cos(t));
    return 0;
}

static inline int free_force(void *user, double t, const double *q, const double *v, double *f)
{
    (void)t, (void)v;
    double w = ((springs *)user)->omega, r = hypot(q[0], q[1]);
    f[0] = -w * w * (r - 1) * q[0] / r;
    f[1] = -w * w * (r - 1) * q[1] / r;
    return 0;
}

typedef int force_function(void *user, double t, const double *q, const double *v, double *f);

static inline projected project_force(taut_index n, force_function *force, springs *s,
                                      const double *q, const double *v, bool time,
                                      const char *options, const taut_allocator *allocator)
{
    projected p = {0};
    taut_callbacks calls = {.size = sizeof calls,
                            .coordinates = n,
                            .force = force,
                            .start_q = q,
                            .start_v = v,
                            .time_dependent = time,
                            .user = s};
    p.code = taut_system_from_callbacks(&calls, NULL, &p.system, &p.error);
    projected_run(&p, options, allocator);
    return p;
}

/* The result as statements of [start] of a declared model, and how far series moves it. */
static inline void check_slow(const char *what, const projected *p, const char *model,
                              const char *set, int n, const char *const *names, const char *from,
                              double most_q, double most_v)
{
    char text[2000] = "", options[100];
    size_t used = 0;
    for (int i = 0; i < n; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s = %.17g\n%s' = %.17g\n",
                                 names[i], p->r.q[i], names[i], p->r.v[i]);
    taut_load how = {
        .size = sizeof how, .set = &set, .set_count = set[0] != '\0', .start_text = text};
    snprintf(options, sizeof options, "method=series %s", from);
    projected s = project_model(model, &how, options);
    if (projected_good(what, &s)) {
        check_below(what, s.r.moved_normal + s.r.moved_tangential, most_q);
        check_below(what, s.r.moved_normal_velocity + s.r.moved_tangential_velocity, most_v);
    }
    projected_drop(&s);
}

/* The two numbers of "frequencies A to B" against those of the declared model at the same state. */
static inline void check_frequencies(const char *what, const projected *p, const char *model,
                                     const char *set, double relative)
{
    double least = NAN, most = NAN, frequency[8];
    const char *text = strstr(p->r.explanation, "frequencies ");
    int found = 0;
    bool complete;
    if (text)
        sscanf(text, "frequencies %lf to %lf", &least, &most);
    taut_load how = {.size = sizeof how, .set = &set, .set_count = 1};
    char path[300];
    taut_system *system = NULL;
    taut_context *context = NULL;
    snprintf(path, sizeof path, "%s/models/%s.taut", TAUT_SOURCE_DIR, model);
    if (taut_system_load(path, &how, &system, NULL) == 0 &&
        taut_context_create(system, NULL, &context, NULL) == 0)
        taut_frequencies(context, p->r.t, p->r.q, 4, frequency, &found, &complete, NULL);
    if (check_row(found > 0, "%s: no frequencies", what)) {
        check_near(what, least, frequency[0], relative * frequency[0]);
        check_near(what, most, frequency[found - 1], relative * frequency[found - 1]);
    }
    taut_context_destroy(context);
    taut_system_destroy(system);
}

#endif
