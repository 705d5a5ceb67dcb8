/* test_rates.c - frequencies of bare forces of many coordinates, and the slow points that
 * projections find with them. Oracles: series on the same chain with its springs declared, from
 * the result (docs/theory.md); the frequencies of that system; integrations of the result;
 * eigenvalues of matrices that are known. Chains bend by up to 0.5 rad and are off by 1e-3. */
#include "support/links.h"
#include "linalg/tridiagonal.h"
#include "filter/progress.h"

static bool long_version(void)
{
    return getenv("TAUT_TEST_LONG") != NULL;
}

/* ---- parts */

/* The second difference: values 2 - 2 cos(k pi/(n + 1)), last entries of vectors sqrt(2/(n + 1))
 * sin(k pi n/(n + 1)). */
static void test_tridiagonal(void)
{
    check_group("tridiagonal matrices");
    enum { N = 200 };
    double d[N], e[N], last[N];
    for (int n = 1; n <= N; n += 1 + n / 3) {
        double off = 0, off_last = 0;
        for (int i = 0; i < n; i++) {
            d[i] = 2;
            e[i] = 1;
            last[i] = i == n - 1;
        }
        check_row(taut_tridiagonal_ql(n, d, e, last, 1), "%d rows: not found", n);
        for (int k = 1; k <= n; k++) {
            double pi = acos(-1), value = 2 - 2 * cos(k * pi / (n + 1)), nearest = INFINITY,
                   entry = NAN;
            for (int i = 0; i < n; i++)
                if (fabs(d[i] - value) < nearest) {
                    nearest = fabs(d[i] - value);
                    entry = fabs(last[i]);
                }
            off = fmax(off, nearest);
            off_last =
                fmax(off_last, fabs(entry - sqrt(2.0 / (n + 1)) * fabs(sin(k * pi * n / (n + 1)))));
        }
        check_below("values", off, 1e-13);
        check_below("last entries", off_last, 1e-11);
    }
    double zero[3] = {0}, none[3] = {0}, unit[3] = {0, 0, 1};
    check_row(taut_tridiagonal_ql(3, zero, none, unit, 1) && zero[0] == 0 && fabs(unit[2]) == 1,
              "a matrix of zeros");
}

static int apart_force(void *user, double t, const double *q, const double *v, double *f)
{
    const double *rate = user;
    (void)t, (void)v;
    for (int i = 0; i < 4; i++)
        f[i] = -(i + 1) * rate[i] * rate[i] * q[i]; /* masses 1, 2, 3, 4 */
    return 0;
}

/* What two states of four oscillators differ by oscillates at the rate of the one that was
 * moved; of two, at the root of the mean square with their energies (gauge.c). */
static void test_gauge(void)
{
    check_group("what is left");
    double rate[] = {1, 30, 400, 5000}, mass[] = {1, 2, 3, 4}, q[] = {0.3, 0.2, 0.1, 0.05},
           v[] = {0.1, 1, 2, 3}, state[8];
    static const struct {
        double q[4], v[4];
    } moves[] = {{{1e-3}, {0}},
                 {{0, 1e-5}, {0}},
                 {{0, 0, 0}, {0, 0, 0.01}},
                 {{0, 0, 0, 1e-7}, {0, 0, 0, 1e-2}},
                 {{0, 1e-5, 2e-5}, {0, 0, 0.01}}};
    for (size_t k = 0; k < sizeof moves / sizeof moves[0]; k++) {
        memcpy(state, q, sizeof q);
        memcpy(state + 4, v, sizeof v);
        taut_callbacks calls = {.size = sizeof calls,
                                .coordinates = 4,
                                .force = apart_force,
                                .mass = mass,
                                .user = rate};
        taut_projection_input in = {.q = state, .v = state + 4};
        taut_projection p = {.in = &in, .q = state, .v = state + 4};
        taut_system *system = NULL;
        taut_force_spectrum spectrum = {0};
        taut_filter_progress progress;
        taut_arena_init(&p.arena, NULL);
        int status = taut_system_from_callbacks(&calls, NULL, &system, NULL);
        in.system = system;
        if (status == 0)
            status = taut_context_create(system, NULL, &in.context, NULL);
        taut_sizes_init(&in.sizes);
        taut_system_sizes_get(system, &in.sizes, NULL);
        if (status == 0)
            status = taut_force_spectrum_create(&p, &spectrum, NULL);
        if (status == 0)
            status = taut_filter_progress_create(&p, &spectrum, &progress, NULL);
        if (status == 0)
            status = taut_filter_progress_scale(&progress, 400, 5000, NULL);
        if (status == 0)
            status = taut_filter_progress_take(&progress, NULL);
        double pull = 0, size = 0;
        for (int i = 0; i < 4; i++) {
            double energy = mass[i] * (400.0 * 400 * moves[k].q[i] * moves[k].q[i] +
                                       moves[k].v[i] * moves[k].v[i]);
            state[i] += moves[k].q[i];
            state[4 + i] += moves[k].v[i];
            pull += rate[i] * rate[i] * energy;
            size += energy;
        }
        if (status == 0)
            status = taut_filter_progress_take(&progress, NULL);
        if (check_equal("status", status, 0))
            check_near("rate", progress.rate_left, sqrt(pull / size), 1e-3 * sqrt(pull / size));
        taut_force_spectrum_destroy(&spectrum);
        taut_context_destroy(in.context);
        taut_system_destroy(system);
        taut_arena_clear(&p.arena);
    }
}

/* ---- chains */

/* Evaluations of a pass, as told. */
static int pass_cost(const projected *p)
{
    int cost = 0;
    for (const char *at = p->r.explanation; *at; at++) {
        int here = 0, end = 0, end_ipa = 0;
        sscanf(at, "%d evaluations each%n", &here, &end);
        sscanf(at, "%d force evaluations a pass%n", &here, &end_ipa);
        if (end > 0 || end_ipa > 0)
            cost = here > cost ? here : cost;
    }
    return cost;
}

/* The two frequencies that are reported, against those of the declared springs at the result.
 * Weights bear a tenth (kernel.c): half of it. */
static void check_ends(const char *what, const links *s, const projected *p)
{
    enum { ENDS = 4 };
    double frequency[2 * ENDS] = {0}, least = NAN, most = NAN;
    taut_system *system = NULL;
    taut_context *context = NULL;
    int found = 0;
    bool complete;
    const char *text = strstr(p->r.explanation, "frequencies ");
    if (text)
        sscanf(text, "frequencies %lf to %lf", &least, &most);
    if (links_declare(s, p->r.q, p->r.v, &system, NULL) == 0 &&
        taut_context_create(system, NULL, &context, NULL) == 0)
        taut_frequencies(context, 0, p->r.q, ENDS, frequency, &found, &complete, NULL);
    if (check_row(found > 0, "%s: no frequencies", what)) {
        check_near(what, least, frequency[0], 0.05 * frequency[0]);
        check_near(what, most, frequency[found - 1], 0.05 * frequency[found - 1]);
    }
    taut_context_destroy(context);
    taut_system_destroy(system);
}

/* kernel: 1e-8 in q and 1e-6 in v at omega = 1e6, 1e-6 at 1e3 (there the slow motion, some 3 rad
 * per time by the pull of the links, turns by 0.2 within a window of 16/220, and (0.2)^6/6! is
 * 1e-7). ipa as published leaves h^2/6 |q'''| in v (docs/sources.md, A), 1e-7 times some 30. */
static void test_sizes(void)
{
    check_group("sizes and stiffness");
    static const struct {
        const char *options;
        double q[2], v[2]; /* at omega = 1e3, 1e6 */
    } rows[] = {{"method=kernel", {1e-6, 1e-8}, {1e-6, 1e-6}},
                {"method=ipa", {1e-6, 1e-8}, {1e-5, 1e-6}}};
    static const int sizes[] = {10, 200, 2000};
    for (size_t m = 0; m < sizeof rows / sizeof rows[0]; m++)
        for (int k = 0; k < 3; k++) {
            int64_t count[2] = {0};
            int cost = 0;
            for (int w = 0; w < 2; w++) {
                char what[60];
                snprintf(what, sizeof what, "%d links, omega 1e%d, %s", sizes[k], w ? 6 : 3,
                         rows[m].options);
                links s = links_create(sizes[k], w ? 1e6 : 1e3, 1e-3, 0.5);
                projected p = links_project(&s, rows[m].options, NULL);
                if (projected_good(what, &p)) {
                    count[w] = p.r.statistics.force_evaluations;
                    cost = pass_cost(&p);
                    check_contains(what, p.r.explanation, "seen in");
                    check_row(s.calls >= count[w] && s.calls <= count[w] + 60,
                              "%s: %lld calls, %lld evaluations counted", what, (long long)s.calls,
                              (long long)count[w]);
                    links_check_slow(what, &s, &p, rows[m].q[w], rows[m].v[w], 0);
                    if (m == 0)
                        check_ends(what, &s, &p);
                }
                if (getenv("TAUT_TEST_VERBOSE"))
                    printf("%s: %lld evaluations, %s\n", what, (long long)count[w],
                           p.r.explanation);
                projected_drop(&p);
                links_destroy(&s);
            }
            check_row(llabs(count[1] - count[0]) <= 2 * cost,
                      "%d links, %s: %lld and %lld evaluations, %d a pass", sizes[k],
                      rows[m].options, (long long)count[0], (long long)count[1], cost);
        }
}

/* Half of the links 7.3 times as fast as the others. */
static void test_groups(void)
{
    check_group("two groups");
    static const char *const options[] = {"method=kernel", "method=ipa"};
    int count = long_version() ? 2000 : 100;
    for (int k = 0; k < 2; k++)
        for (int w = 0; w < 2; w++) {
            links s = links_create(count, w ? 1e6 : 1e4, 1e-3, 0.5);
            for (int i = 0; i < count / 2; i++)
                s.stiffness[i] *= 7.3 * 7.3;
            projected p = links_project(&s, options[k], NULL);
            if (projected_good(options[k], &p))
                links_check_slow(options[k], &s, &p, 1e-8, 1e-6, 0);
            projected_drop(&p);
            links_destroy(&s);
        }
}

/* ---- springs that hide */

/* The stretch of the last link over `time` on the full motion from the result: Verlet, h times
 * the fastest frequency 0.1. */
static double last_stretch(links *s, const projected *p, double fastest, double time)
{
    int n = 2 * s->count, steps = (int)(time * fastest / 0.1);
    double h = time / steps, least = INFINITY, most = -INFINITY;
    double *work = calloc(3 * (size_t)n, sizeof(double)), *q = work, *v = work + n,
           *f = work + 2 * n;
    memcpy(q, p->r.q, (size_t)n * sizeof(double));
    memcpy(v, p->r.v, (size_t)n * sizeof(double));
    links_force(s, 0, q, v, f);
    for (int k = 0; k < steps; k++) {
        for (int i = 0; i < n; i++) {
            v[i] += h / 2 * f[i];
            q[i] += h * v[i];
        }
        links_force(s, 0, q, v, f);
        for (int i = 0; i < n; i++)
            v[i] += h / 2 * f[i];
        double r = hypot(q[n - 2] - q[n - 4], q[n - 1] - q[n - 3]);
        least = fmin(least, r);
        most = fmax(most, r);
    }
    free(work);
    return most - least;
}

/* The last link is weak compared with the others, and fast compared with what is slow. Its stretch
 * at the start is what the others' is, or a hundredth of it. On two of its periods from the result
 * it may oscillate by what positions may be off, 1e-8 of the size of the chain. */
static void test_hidden(void)
{
    check_group("a hidden spring");
    static const double weaker[] = {10, 50, 100}, stretch[] = {1e-3, 1e-5};
    for (int k = 0; k < (long_version() ? 3 : 2); k++)
        for (int j = 0; j < 2; j++) {
            enum { COUNT = 200 };
            char what[60];
            double fast = 1e6, weak = fast / weaker[k], period = 2 * acos(-1) / weak;
            links s = links_create(COUNT, fast, 1e-3, 0.5);
            double *q = s.q + 2 * COUNT - 4, x = q[2] - q[0], y = q[3] - q[1], r = hypot(x, y);
            s.stiffness[COUNT - 1] = weak * weak;
            q[2] = q[0] + x / r * (1 + stretch[j]);
            q[3] = q[1] + y / r * (1 + stretch[j]);
            snprintf(what, sizeof what, "%g times weaker, off by %g", weaker[k], stretch[j]);
            projected p = links_project(&s, "method=kernel", NULL);
            if (projected_good(what, &p)) {
                links_check_slow(what, &s, &p, 1e-8, 1e-6, 0);
                check_below(what, last_stretch(&s, &p, 2 * fast, 2 * period),
                            2e-8 * links_largest(&s, p.r.q));
            }
            projected_drop(&p);
            links_destroy(&s);
        }
}

/* ---- other forces */

/* Noise 1e-10 of the forces moves springs by as much times (fastest/slowest)^2 / 4 at most, and
 * speeds by omega times that. */
static void test_noise(void)
{
    check_group("noise");
    static const int sizes[] = {10, 200, 2000};
    for (int k = 0; k < 3; k++)
        for (int w = 0; w < 2; w++) {
            char what[60];
            double omega = w ? 1e6 : 1e3;
            links s = links_create(sizes[k], omega, 1e-3, 0.5);
            s.noise = 1e-10;
            snprintf(what, sizeof what, "%d links, omega %g", sizes[k], omega);
            projected p = links_project(&s, "method=kernel", NULL);
            if (projected_good(what, &p))
                links_check_slow(what, &s, &p, w ? 1e-8 : 1e-6, 1e-6, 20 * s.noise * omega);
            projected_drop(&p);
            links_destroy(&s);
        }
}

/* Against series on the same chain as a model, which supports drag. */
static void test_drag(void)
{
    check_group("drag");
    enum { COUNT = 100 };
    const size_t room = COUNT * 240;
    char *text = calloc(room, 1);
    for (int w = 0; w < 2; w++) {
        links s = links_create(COUNT, w ? 1e6 : 1e3, 1e-3, 0.5);
        s.drag = 0.3;
        projected p = links_project(&s, "method=kernel", NULL);
        if (projected_good("kernel", &p)) {
            int used = snprintf(
                text, room,
                "[particles]\ndimension = 2\nbob[i] for i in 1..%d mass "
                "1\n[potential]\nsum(bob[i].y for i in 1..%d)\n"
                "[forces]\nbob[i] = -0.3*bob[i]' for i in 1..%d\n"
                "[bonds]\nlink[1] = length(bob[1]) - 1 stiffness %g\n"
                "link[i] = length(bob[i] - bob[i-1]) - 1 for i in 2..%d stiffness %g\n[start]\n",
                COUNT, COUNT, COUNT, s.stiffness[0], COUNT, s.stiffness[0]);
            for (int i = 0; i < COUNT; i++)
                used +=
                    snprintf(text + used, room - (size_t)used,
                             "bob[%d] = (%.17g, %.17g)\nbob[%d]' = (%.17g, %.17g)\n", i + 1,
                             p.r.q[2 * i], p.r.q[2 * i + 1], i + 1, p.r.v[2 * i], p.r.v[2 * i + 1]);
            projected e = project_model(text, NULL, "method=series");
            if (projected_good("series", &e)) {
                double far = 0, far_v = 0;
                for (int i = 0; i < 2 * COUNT; i++) {
                    far = fmax(far, fabs(e.r.q[i] - p.r.q[i]));
                    far_v = fmax(far_v, fabs(e.r.v[i] - p.r.v[i]));
                }
                check_below("q", far, (w ? 1e-8 : 1e-6) * links_largest(&s, p.r.q));
                check_below("v", far_v, 1e-6 * links_largest(&s, p.r.v));
            }
            projected_drop(&e);
        }
        projected_drop(&p);
        links_destroy(&s);
    }
    free(text);
}

/* Forces without reaction, of many coordinates: no iteration of three terms. Told what is fast,
 * a slow point; else that or a question. */
static void test_push(void)
{
    check_group("forces without reaction");
    links s = links_create(200, 1e5, 1e-3, 0.5);
    s.push = 0.05;
    projected p = links_project(&s, "method=kernel omega=4e4", NULL);
    if (projected_good("omega is given", &p))
        check_below("the last link on the way", last_stretch(&s, &p, 2.1e5, 1e-3), 1e-8);
    projected_drop(&p);
    p = links_project(&s, "method=kernel", NULL);
    if (p.code == 0)
        check_below("the last link on the way", last_stretch(&s, &p, 2.1e5, 1e-3), 1e-8);
    else
        check_contains("a question", p.error.message, "set omega");
    projected_drop(&p);
    links_destroy(&s);
}

/* ---- do no harm; failures */

static void test_harmless(void)
{
    check_group("do no harm");
    for (int w = 0; w < 2; w++) {
        links s = links_create(200, w ? 1e6 : 1e3, 1e-3, 0.5);
        projected e = {0};
        e.code = links_declare(&s, s.q, s.v, &e.system, &e.error);
        projected_run(&e, "method=series", NULL);
        if (projected_good("series", &e)) {
            size_t bytes = 2 * (size_t)s.count * sizeof(double);
            memcpy(s.q, e.r.q, bytes);
            memcpy(s.v, e.r.v, bytes);
            projected p = links_project(&s, "method=kernel", NULL);
            if (projected_good("kernel", &p)) {
                check_row(memcmp(p.r.q, s.q, bytes) == 0 && memcmp(p.r.v, s.v, bytes) == 0,
                          "the slow point was moved: %s", p.r.explanation);
                check_row(p.r.passes <= 1, "%lld passes", (long long)p.r.passes);
            }
            projected_drop(&p);
        }
        projected_drop(&e);
        links_destroy(&s);
    }
}

/* Masses in a row, each held to its neighbours and to nothing else: frequencies 2 sin(k pi/(2 n
 * + 2)), without a gap. */
static int row_force(void *user, double t, const double *q, const double *v, double *f)
{
    int n = *(const int *)user;
    (void)t, (void)v;
    for (int i = 0; i < n; i++)
        f[i] = (i ? q[i - 1] : 0) - 2 * q[i] + (i + 1 < n ? q[i + 1] : 0);
    return 0;
}

static int falling_force(void *user, double t, const double *q, const double *v, double *f)
{
    int n = *(const int *)user;
    (void)t, (void)q, (void)v;
    for (int i = 0; i < n; i++)
        f[i] = -9.81;
    return 0;
}

/* How many numbers of the message are rates: it must name both. */
static int numbers(const char *text)
{
    int count = 0;
    for (const char *at = text; *at; at++)
        if (at[0] >= '0' && at[0] <= '9' && (at == text || at[-1] == ' ' || at[-1] == '('))
            count++;
    return count;
}

static void check_failed(const char *what, projected *p, const double *q, int n, const char *words)
{
    check_row(p->code == TAUT_ERROR_CONVERGE, "%s: %s %s", what, taut_code_name(p->code),
              p->error.message);
    check_contains(what, p->error.message, words);
    check_row(numbers(p->error.message) >= 2, "%s: both rates: %s", what, p->error.message);
    if (check_row(p->projection != NULL, "%s: no result", what))
        check_row(memcmp(p->r.q, q, (size_t)n * sizeof(double)) == 0, "%s: the start is not kept",
                  what);
    projected_drop(p);
}

static void test_nothing_fast(void)
{
    check_group("nothing is fast");
    static const char *const options[] = {"method=kernel", "method=ipa"};
    enum { COUNT = 300 };
    int n = COUNT;
    double q[COUNT];
    for (int i = 0; i < n; i++)
        q[i] = sin(0.3 * i) + 0.2 * cos(1.1 * i);
    for (int k = 0; k < 2; k++) {
        taut_callbacks calls = {
            .size = sizeof calls, .coordinates = n, .force = row_force, .start_q = q, .user = &n};
        projected p = {0};
        p.code = taut_system_from_callbacks(&calls, NULL, &p.system, &p.error);
        projected_run(&p, options[k], NULL);
        check_failed(options[k], &p, q, n, "not separated");
        calls.force = falling_force;
        p.code = taut_system_from_callbacks(&calls, NULL, &p.system, &p.error);
        projected_run(&p, options[k], NULL);
        projected_refused(options[k], &p, TAUT_ERROR_CONVERGE, "nothing to project onto");
    }
    links s = links_create(100, 1, 1e-3, 0.5); /* springs as slow as the chain swings */
    projected p = links_project(&s, "method=kernel", NULL);
    check_failed("slack chain", &p, s.q, 2 * s.count, "rate");
    links_destroy(&s);
}

static void test_faults(void)
{
    check_group("faults");
    enum { COUNT = 80 };
    for (int k = 1; k < 2000; k += 1 + k / 2) {
        links s = links_create(COUNT, 1e4, 1e-3, 0.5);
        s.bad_after = k;
        projected p = links_project(&s, "method=kernel", NULL);
        check_row(p.code == TAUT_ERROR_EVALUATE || (p.code == 0 && s.calls <= k),
                  "NaN after %d calls: %s %s", k, taut_code_name(p.code), p.error.message);
        projected_drop(&p);
        s.bad_after = 0;
        s.stop_after = k;
        p = links_project(&s, "method=kernel", NULL);
        check_row(p.code == TAUT_ERROR_STOPPED || (p.code == 0 && s.calls <= k),
                  "stop after %d calls: %s %s", k, taut_code_name(p.code), p.error.message);
        check_row(s.calls <= k + 1, "asked %d times to stop", (int)(s.calls - k));
        projected_drop(&p);
        links_destroy(&s);
    }
    static const char *const options[] = {"method=kernel", "method=ipa"};
    for (int way = 0; way < 3; way++) {
        int64_t k = 1;
        for (; k < 3000; k = faulty_next(k)) {
            faulty f = {.fail = k};
            taut_allocator allocator = faulty_allocator(&f);
            links s = links_create(COUNT, 1e4, 1e-3, 0.5);
            s.push = way == 2 ? 0.05 : 0; /* room for vectors is found on the way */
            projected p =
                links_project(&s, way == 2 ? "method=kernel omega=4e3" : options[way], &allocator);
            bool failed = f.failed > 0;
            check_row(p.code == (failed ? TAUT_ERROR_MEMORY : TAUT_OK), "way %d, call %lld: %s %s",
                      way, (long long)k, taut_code_name(p.code), p.error.message);
            projected_drop(&p);
            links_destroy(&s);
            check_row(f.live == 0, "way %d, call %lld: %lld blocks left", way, (long long)k,
                      (long long)f.live);
            if (!failed)
                break;
        }
        check_row(k > 10, "way %d: only %lld allocations seen", way, (long long)k);
    }
}

/* ---- memory */

typedef struct counter {
    int64_t bytes;
} counter;

static void *count_allocate(void *user, size_t bytes)
{
    ((counter *)user)->bytes += (int64_t)bytes;
    return malloc(bytes ? bytes : 1);
}

static void count_release(void *user, void *block)
{
    (void)user;
    free(block);
}

/* What a projection takes, in numbers for each coordinate: no arrays of vectors. 128 of them
 * were 256. */
static void test_linear(void)
{
    check_group("memory is linear");
    static const int sizes[] = {500, 2000, 8000};
    for (int k = 0; k < (long_version() ? 3 : 2); k++) {
        counter c = {0};
        taut_allocator allocator = {count_allocate, count_release, &c};
        links s = links_create(sizes[k], 1e6, 1e-3, 0.5);
        projected p = links_project(&s, "method=kernel", &allocator);
        if (projected_good("kernel", &p))
            check_below("numbers for a coordinate",
                        (double)c.bytes / sizeof(double) / (2 * s.count), 150);
        projected_drop(&p);
        links_destroy(&s);
    }
}

int main(void)
{
    test_tridiagonal();
    test_gauge();
    test_sizes();
    test_groups();
    test_hidden();
    test_noise();
    test_drag();
    test_push();
    test_harmless();
    test_nothing_fast();
    test_faults();
    test_linear();
    return check_done();
}
