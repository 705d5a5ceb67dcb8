/* links.h - chains of many links for tests of bare forces: as a C function of forces alone, and
 * with the same springs declared. */
#ifndef TAUT_TESTS_SUPPORT_LINKS_H
#define TAUT_TESTS_SUPPORT_LINKS_H

#include "support/project.h"
#include "support/uniform.h"

typedef struct links {
    int count;
    /* [count]: link i joins bob i to the one before, the first to the origin; length 1, mass 1,
     * gravity 1 */
    double *stiffness;
    double drag;  /* force -drag v on every bob */
    double noise; /* of forces, of the stiffness at a displacement of 1 */
    /* link i pulls on bob i by so much more than on the one before: a force without reaction */
    double push;
    double *q, *v; /* [2 count]: a start */
    /* NaN, or a negative number, from this call on; 0: never */
    int64_t calls, bad_after, stop_after;
} links;

/* A number in (-1, 1) that depends on every bit of x. */
static inline double links_noise(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits *= 0x9E3779B97F4A7C15u;
    bits ^= bits >> 29;
    bits *= 0xBF58476D1CE4E5B9u;
    return (double)(bits >> 11) * 0x1p-52 - 1;
}

static inline int links_force(void *user, double t, const double *q, const double *v, double *f)
{
    links *s = user;
    (void)t;
    s->calls++;
    for (int i = 0; i < s->count; i++) {
        f[2 * i] = -s->drag * v[2 * i];
        f[2 * i + 1] = -1 - s->drag * v[2 * i + 1];
    }
    for (int i = 0; i < s->count; i++) {
        double x = q[2 * i] - (i ? q[2 * i - 2] : 0), y = q[2 * i + 1] - (i ? q[2 * i - 1] : 0),
               r = sqrt(x * x + y * y);
        double pull = s->stiffness[i] * (r - 1) / r, more = 1 + s->push;
        f[2 * i] -= more * pull * x;
        f[2 * i + 1] -= more * pull * y;
        if (i) {
            f[2 * i - 2] += pull * x;
            f[2 * i - 1] += pull * y;
        }
    }
    for (int i = 0; i < 2 * s->count && s->noise > 0; i++)
        f[i] += s->noise * s->stiffness[i / 2] * links_noise(q[i]);
    if (s->bad_after > 0 && s->calls > s->bad_after)
        f[s->count] = NAN;
    return s->stop_after > 0 && s->calls > s->stop_after ? -1 : 0;
}

/* Bends of up to 0.5 rad between neighbours, links off their length by up to `stretch`, turning
 * at up to `speed`. Always the same chain, whose first links are those of a shorter one. */
static inline links links_create(int count, double omega, double stretch, double speed)
{
    links s = {.count = count};
    double angle = 0, x = 0, y = 0, vx = 0, vy = 0;
    s.stiffness = calloc((size_t)count, sizeof(double));
    s.q = calloc(2 * (size_t)count, sizeof(double));
    s.v = calloc(2 * (size_t)count, sizeof(double));
    random_state = 88172645463325252u;
    for (int i = 0; i < count; i++) {
        angle += uniform(-0.5, 0.5);
        double r = 1 + uniform(-stretch, stretch), turn = uniform(-speed, speed);
        s.stiffness[i] = omega * omega;
        s.q[2 * i] = x += r * cos(angle);
        s.q[2 * i + 1] = y += r * sin(angle);
        s.v[2 * i] = vx -= turn * sin(angle);
        s.v[2 * i + 1] = vy += turn * cos(angle);
    }
    return s;
}

static inline void links_destroy(links *s)
{
    free(s->stiffness);
    free(s->q);
    free(s->v);
    *s = (links){0};
}

static inline projected links_project(links *s, const char *options,
                                      const taut_allocator *allocator)
{
    projected p = {0};
    taut_callbacks calls = {.size = sizeof calls,
                            .coordinates = 2 * s->count,
                            .force = links_force,
                            .start_q = s->q,
                            .start_v = s->v,
                            .velocity_dependent = s->drag != 0,
                            .user = s};
    s->calls = 0;
    p.code = taut_system_from_callbacks(&calls, NULL, &p.system, &p.error);
    projected_run(&p, options, allocator);
    return p;
}

/* The same springs, declared: without drag, noise and push. Started from (q, v). */
static inline int links_declare(const links *s, const double *q, const double *v,
                                taut_system **system, taut_error *error)
{
    const double gravity[] = {0, -1};
    size_t count = (size_t)s->count;
    taut_index *end = calloc(2 * count, sizeof *end);
    double *ones = calloc(count, sizeof *ones), *origin = calloc(2 * count, sizeof *origin);
    taut_builder *builder = NULL;
    for (int i = 0; i < s->count; i++) {
        end[i] = i;
        end[count + (size_t)i] = i - 1;
        ones[i] = 1;
    }
    int status = taut_builder_create(2, s->count, NULL, &builder, error);
    if (status == 0) {
        taut_builder_mass(builder, ones);
        taut_builder_start(builder, q, v);
        taut_builder_gravity(builder, gravity);
        taut_builder_distances(builder, "link", s->count, end, end + count, origin, ones,
                               s->stiffness);
        status = taut_builder_finish(builder, system, error);
    }
    taut_builder_destroy(builder);
    free(end);
    free(ones);
    free(origin);
    return status;
}

static inline double links_largest(const links *s, const double *x)
{
    double most = 0;
    for (int i = 0; i < 2 * s->count; i++)
        most = fmax(most, fabs(x[i]));
    return most;
}

/* How far series, which knows the springs, moves the result: the distance to the slow manifold
 * (docs/theory.md), relative to the size of the chain and to its speed. more_v: allowed in addition
 * in velocities. */
static inline void links_check_slow(const char *what, const links *s, const projected *p,
                                    double most_q, double most_v, double more_v)
{
    projected e = {0};
    double far = 0, far_v = 0;
    e.code = links_declare(s, p->r.q, p->r.v, &e.system, &e.error);
    projected_run(&e, "method=series", NULL);
    if (projected_good(what, &e)) {
        for (int i = 0; i < 2 * s->count; i++) {
            far = fmax(far, fabs(e.r.q[i] - p->r.q[i]));
            far_v = fmax(far_v, fabs(e.r.v[i] - p->r.v[i]));
        }
        check_below(what, far, most_q * links_largest(s, p->r.q));
        check_below(what, far_v, most_v * links_largest(s, p->r.v) + more_v);
    }
    projected_drop(&e);
}

#endif
