/* test_hold.c - what is held stays to the last bit, and the rest goes to the slow manifold:
 * against exact slow motions, nearest points in closed form, and series without holds as the
 * measure of distance (docs/theory.md). */
#include <stdlib.h>

#include "support/project.h"
#include "support/two_rods.h"

/* The state of `p` as another [start] section. */
static char *start_text(const projected *p)
{
    taut_sizes sizes = {.size = sizeof sizes};
    taut_system_sizes_get(p->system, &sizes, NULL);
    size_t room = (size_t)sizes.coordinates * 300 + 1, used = 0;
    char *text = malloc(room), name[96];
    for (taut_index i = 0; i < sizes.coordinates && text; i++) {
        taut_system_name(p->system, TAUT_COORDINATE, i, name, sizeof name);
        used += (size_t)snprintf(text + used, room - used, "%s = %.17g\n%s' = %.17g\n", name,
                                 p->r.q[i], name, p->r.v[i]);
    }
    return text;
}

static double farthest(const projected *a, const projected *b)
{
    taut_sizes sizes = {.size = sizeof sizes};
    taut_system_sizes_get(a->system, &sizes, NULL);
    double most = 0;
    for (taut_index i = 0; i < sizes.coordinates; i++)
        most = fmax(most, fmax(fabs(a->r.q[i] - b->r.q[i]), fabs(a->r.v[i] - b->r.v[i])));
    return most;
}

static bool kept(const projected *p, taut_item item, const char *name, bool velocity)
{
    taut_index k = taut_system_find(p->system, item, name);
    return check_row(
        k >= 0 && (velocity ? p->r.v[k] == p->r.start_v[k] : p->r.q[k] == p->r.start_q[k]),
        "%s%s: %.17g, was %.17g", name, velocity ? "'" : "", velocity ? p->r.v[k] : p->r.q[k],
        velocity ? p->r.start_v[k] : p->r.start_q[k]);
}

/* One cell: held values stay; series from the result, with nothing held, moves it by no more
 * than `slow`; the same projection from the result by no more than `again`. */
static void run_cell(const char *model, taut_load how, const char *options, const char *held,
                     double slow, double again)
{
    char words[300], copy[120];
    snprintf(words, sizeof words, "%s hold=%s", options, held);
    projected p = project_model(model, &how, words);
    if (projected_good(words, &p)) {
        snprintf(copy, sizeof copy, "%s", held);
        for (char *word = strtok(copy, ","); word; word = strtok(NULL, ",")) {
            char *prime = strchr(word, '\'');
            if (prime)
                *prime = 0;
            kept(&p, TAUT_COORDINATE, word, prime != NULL);
        }
        char *text = start_text(&p);
        const char *from = strstr(options, "from=");
        char free_words[100];
        snprintf(free_words, sizeof free_words, "method=series %.40s", from ? from : "");
        how.start_text = text;
        how.init_count = 0;
        projected measured = project_model(model, &how, free_words),
                  twice = project_model(model, &how, words);
        if (projected_good("measured", &measured))
            check_row(farthest(&p, &measured) <= slow,
                      "%s: %.3g from the slow manifold, limit %.3g", words, farthest(&p, &measured),
                      slow);
        if (projected_good("again", &twice))
            check_row(farthest(&p, &twice) <= again,
                      "%s: moved by %.3g when applied again, limit %.3g", words,
                      farthest(&p, &twice), again);
        projected_drop(&measured);
        projected_drop(&twice);
        free(text);
    }
    projected_drop(&p);
}

static const char *const polar =
    "[coordinates]\nr, th\n[kinetic]\n(r'^2 + r^2*th'^2)/2\n[potential]\n-r*cos(th)\n[bonds]\nrod "
    "= r - 1 stiffness 1e4\n[start]\nr = 1.1, th = 1.2, th' = 0.3, r' = 0.1\n";
static const char *const sheared =
    "[coordinates]\nu, w\n[mass]\nu = 5, w = 1\nM[u,w] = 1\n[potential]\nu + w\n[bonds]\nrod = "
    "sqrt((2*u)^2+(u+w)^2) - 1 stiffness 1e6\n[start]\nu = 0.4, w = -0.1, u' = 0.2\n";
static const char *const damped =
    "[coordinates]\nx, y\n[forces]\nx = -0.2*x', y = -1\n[bonds]\nrod = sqrt(x^2+y^2) - 1 "
    "stiffness 1e6 damping 5\nband = x - 0.5 stiffness 2 soft\n[start]\nx = 0.61, y = 0.82, x' = "
    "0.1\n";
/* far from the origin, a light and a heavy mass */
static const char *const shifted =
    "[coordinates]\nx, y, z, w\n[mass]\nx = 1e-3, y = 1e-3, z = 1e3, w = 1e3\n[potential]\n1e-3*y "
    "+ 1e3*w\n[bonds]\nrod = sqrt((x - 1e4)^2 + y^2) - 1 stiffness 1e8\nlink = sqrt((z - x)^2 + (w "
    "- y)^2) - 1 stiffness 1e11\n[start]\nx = 1e4 + 0.6, y = 0.8, z = 1e4 + 1.5, w = 0.7, x' = "
    "0.1\n";

static const char *const bent =
    "[particles]\ndimension = 2\nbob[i] for i in 1..8 mass 1\n[potential]\nsum(bob[i].y for i in "
    "1..8)\n[bonds]\nlink[1] = length(bob[1]) - 1 stiffness 1e8\nlink[i] = length(bob[i] - "
    "bob[i-1]) - 1 for i in 2..8 stiffness 1e8\n[start]\n"
    "bob[i] = (0.9*i, 0.4*sin(1.5*i)) for i in 1..8\nbob[i]' = (0.1, 0.05*i) for i in 1..8\n";

/* Slow to rounding, or to the size of the first level that is left out: 1e-13 for omega >= 1000,
 * 1e-11 for 100. */
static void test_series(void)
{
    check_group("series");
    const char *hundred[] = {"omega=100"}, *thousand[] = {"omega=1000"}, *elastic[] = {"c=1e-5"};
    taut_load w2 = {.size = sizeof w2, .set = hundred, .set_count = 1},
              w3 = {.size = sizeof w3, .set = thousand, .set_count = 1},
              c = {.size = sizeof c, .set = elastic, .set_count = 1}, none = {.size = sizeof none};
    c.from = 0.3;
    taut_load folded = w3;
    folded.init = (const char *[]){"x2=1.8"};
    folded.init_count = 1;
    run_cell("double_pendulum", w3, "method=series", "y1", 1e-13, 1e-14);
    run_cell("double_pendulum", w3, "method=series", "y1,y1'", 1e-13, 1e-14);
    run_cell("double_pendulum", w3, "method=series", "x1'", 1e-13, 1e-14);
    run_cell("double_pendulum", folded, "method=series", "x2,y1'", 1e-13, 1e-14);
    run_cell("double_pendulum", w3, "method=auto", "y2", 1e-13, 1e-14);
    run_cell("double_pendulum", w2, "method=series", "y1,y2'", 1e-11, 1e-13);
    run_cell("four_bar", c, "method=series from=0.3", "theta,theta'", 1e-12, 1e-13);
    run_cell(bent, none, "method=series", "bob[3].x,bob[8].y,bob[4].y'", 1e-12, 1e-12);
    run_cell("triatomic", none, "method=series", "O.x,H[2].y", 1e-12, 1e-13);
    run_cell(polar, none, "method=series", "th,th'", 1e-13, 1e-14);
    run_cell(sheared, none, "method=series", "u", 1e-13, 1e-14);
    run_cell(sheared, none, "method=series", "w,u'", 1e-13, 1e-14);
    run_cell(damped, none, "method=series", "x,y'", 1e-13, 1e-14);
    /* rounding of 1e4 relative to a length of 1, a thousand times */
    run_cell(shifted, none, "method=series", "x,w'", 1e-10, 1e-10);
}

/* Filters keep what is held too; limits are what the paper's recipe leaves without holds at
 * omega = 1000: 1.3e-10 in positions, 3.0e-7 in velocities [docs/sources.md, A], with an allowance
 * of three for other states. */
static void test_filters(void)
{
    static const char *const held[] = {"y1", "y1,y1'", "x1'", "y2,x1'"};
    check_group("ipa");
    const char *thousand[] = {"omega=1000"};
    taut_load w3 = {.size = sizeof w3, .set = thousand, .set_count = 1};
    for (int k = 0; k < 4; k++)
        run_cell("double_pendulum", w3, "method=ipa", held[k], 1e-6, 1e-6);
    projected p = project_model("double_pendulum", &w3, "method=ipa hold=y1,x1'");
    if (projected_good("ipa", &p)) {
        char *text = start_text(&p);
        w3.start_text = text;
        projected s = project_model("double_pendulum", &w3, "method=series");
        if (projected_good("series", &s)) {
            check_below("positions", s.r.moved_normal, 4e-10);
            check_below("velocities", s.r.moved_normal_velocity, 9e-7);
        }
        projected_drop(&s);
        free(text);
    }
    projected_drop(&p);
    p = project_model("[coordinates]\nx, y\n[bonds]\na = x + y stiffness 1e6\nb = x - y stiffness "
                      "1e6\n[start]\nx = 0.01\n",
                      NULL, "method=ipa hold=x");
    projected_refused("too much", &p, TAUT_ERROR_SINGULAR, "too much is held");
}

/* A 2.3: omega^2 r^3 (r - 1) = (r^2 phi')^2, r r' = 0. Two numbers held leave two, which these
 * equations give. */
static void test_exact(void)
{
    check_group("A 2.3");
    taut_load how = {.size = sizeof how,
                     .init = (const char *[]){"x=0.6", "x'=-0.5", "y=0.85", "y'=0.1"},
                     .init_count = 4};
    projected p = project_model("free_pendulum", &how, "method=series hold=x,x'");
    if (projected_good("free_pendulum", &p)) {
        double x = p.r.q[0], y = p.r.q[1], r = hypot(x, y), spin = x * p.r.v[1] - y * p.r.v[0];
        check_near("x", x, 0.6, 0);
        check_near("x'", p.r.v[0], -0.5, 0);
        check_near("r", r - 1, spin * spin / (1e6 * r * r * r), 1e-15);
        check_near("r'", x * p.r.v[0] + y * p.r.v[1], 0, 1e-15);
    }
    projected_drop(&p);
}

/* With y1 held the first link stands still on g = 0 and the second turns: the nearest point is on
 * the line to the start. */
static void test_foot(void)
{
    check_group("foot point over what is free");
    taut_load how = {.size = sizeof how,
                     .set = (const char *[]){"lift=0.25"},
                     .set_count = 1,
                     .init = (const char *[]){"x1=1.02", "x2=1.9", "y2=0.4"},
                     .init_count = 3};
    projected foot = project_model("double_pendulum", &how, "method=constraint hold=y1");
    projected slow = project_model("double_pendulum", &how, "method=series hold=y1");
    if (projected_good("constraint", &foot) && projected_good("series", &slow)) {
        double x1 = sqrt(1 - 0.25 * 0.25);
        check_near("y1", foot.r.q[1], 0.25, 0);
        check_near("x1", foot.r.q[0], x1, 1e-15);
        check_below("on the second rod",
                    fabs(hypot(foot.r.q[2] - foot.r.q[0], foot.r.q[3] - foot.r.q[1]) - 1), 1e-15);
        /* stationary: (X - q) over (x1, x2, y2) has no part along what the bonds leave free, the
         * turn of the second link */
        double turn[2] = {-(foot.r.q[3] - 0.25), foot.r.q[2] - x1};
        check_near("stationary", turn[0] * (foot.r.q[2] - 1.9) + turn[1] * (foot.r.q[3] - 0.4), 0,
                   1e-14);
        check_near("fibre",
                   turn[0] * (slow.r.q[2] - foot.r.q[2]) + turn[1] * (slow.r.q[3] - foot.r.q[3]), 0,
                   1e-15);
        check_row(slow.r.q[2] != foot.r.q[2], "the slow point is the foot point");
    }
    projected_drop(&foot);
    projected_drop(&slow);
}

/* Driven crank: theta is prescribed, so holding it changes nothing but the last bits; the slider
 * crank is rigid. */
static void test_cranks(void)
{
    check_group("cranks");
    taut_load how = {
        .size = sizeof how, .set = (const char *[]){"c=1e-5"}, .set_count = 1, .from = 0.3};
    projected p = project_model("four_bar", &how, "method=series from=0.3 hold=theta,theta'");
    projected q = project_model("four_bar", &how, "method=series from=0.3");
    if (projected_good("held", &p) && projected_good("free", &q)) {
        check_below("difference", farthest(&p, &q), 1e-14);
        check_near("theta", p.r.q[0], 0.6, 0);
        check_near("theta'", p.r.v[0], 2, 0);
    }
    projected_drop(&p);
    projected_drop(&q);
    taut_load crank = {.size = sizeof crank,
                       .init = (const char *[]){"theta=0.4", "psi=0.2", "x2=2.5", "theta'=-1.5"},
                       .init_count = 4};
    p = project_model("slider_crank", &crank, "hold=theta,theta'");
    /* its closed form [C example 4]: psi = asin(r sin(theta)/l) */
    if (projected_good("slider_crank", &p)) {
        double psi = asin(sin(0.4) / 3), rate = cos(0.4) * -1.5 / (3 * cos(psi));
        check_contains("method", p.r.method, "constraint");
        check_near("theta", p.r.q[0], 0.4, 0);
        check_near("theta'", p.r.v[0], -1.5, 0);
        check_near("psi", p.r.q[3], psi, 1e-15);
        check_near("psi'", p.r.v[3], rate, 1e-15);
        check_near("x2", p.r.q[1], cos(0.4) + 2 * cos(psi), 1e-15);
    }
    projected_drop(&p);
}

/* A spring of which everything is held is checked against the slow motion, not against rest. */
static void test_checked(void)
{
    check_group("bonds that are held whole");
    const char *omega[] = {"omega=100"};
    taut_load how = {.size = sizeof how, .set = omega, .set_count = 1};
    projected p = project_model("double_pendulum", &how, "method=series");
    char *text = projected_good("free", &p) ? start_text(&p) : NULL;
    how.start_text = text;
    projected q = project_model("double_pendulum", &how, "method=series hold=x1,y1,x1',y1'");
    if (text && projected_good("held", &q)) {
        check_below("moved", farthest(&p, &q), 1e-13);
        check_row(q.r.q[0] == q.r.start_q[0] && q.r.v[1] == q.r.start_v[1],
                  "held values have changed");
    }
    projected_drop(&p);
    projected_drop(&q);
    free(text);
    how.start_text = NULL;
    q = project_model("double_pendulum", &how, "method=series hold=x1,y1");
    if (check_row(q.projection != NULL, "no result"))
        check_row(memcmp(q.r.q, q.r.start_q, 4 * sizeof(double)) == 0,
                  "a failure has moved the state");
    projected_refused("off", &q, TAUT_ERROR_CONVERGE, "'inner' are held");
    taut_load driven = {.size = sizeof driven,
                        .from = 0.3,
                        .init = (const char *[]){"theta=0.61"},
                        .init_count = 1};
    q = project_model("four_bar", &driven, "from=0.3 hold=theta");
    projected_refused("crank off", &q, TAUT_ERROR_CONVERGE, "'drive'");
}

static double noise(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (double)(*seed >> 8) / 8388608.0 - 1;
}

/* Starts off the bonds by up to kappa in every direction, bent links, other coordinates held each
 * time: all have a slow point. */
static void test_random(void)
{
    static const char *const held[] = {"y1", "x1'", "y1,x2'", "y2,y1'", "y1,y1'", "x2,y2'"};
    static const double kappa[] = {1e-6, 1e-3, 0.01, 0.1};
    check_group("random starts");
    unsigned seed = 11;
    for (int row = 0; row < 96; row++) {
        double a = 0.7 * noise(&seed), b = a + (row % 2 ? 1 : -1) * (0.8 + 0.5 * noise(&seed)),
               k = kappa[row % 4], z[8];
        double base[8] = {
            cos(a), sin(a), cos(a) + cos(b), sin(a) + sin(b), -0.3 * sin(a), 0.3 * cos(a),
            0.1,    0.2};
        for (int i = 0; i < 8; i++)
            z[i] = base[i] + k * noise(&seed);
        char text[400];
        snprintf(text, sizeof text,
                 "x1 = %.17g\ny1 = %.17g\nx2 = %.17g\ny2 = %.17g\nx1' = %.17g\ny1' = %.17g\nx2' = "
                 "%.17g\ny2' = %.17g\n",
                 z[0], z[1], z[2], z[3], z[4], z[5], z[6], z[7]);
        const char *thousand[] = {"omega=1000"};
        taut_load how = {.size = sizeof how, .set = thousand, .set_count = 1, .start_text = text};
        run_cell("double_pendulum", how, "method=auto", held[row % 6], 1e-12, 1e-13);
    }
}

/* A guess moves first, from afar; but a state that is slow already stays where it is, to
 * rounding. */
static void test_guess(void)
{
    check_group("guess");
    const char *model =
        "[coordinates]\nx1, y1, x2, y2\n[potential]\ny1 + y2\n[bonds]\na = sqrt(x1^2 + y1^2) - 1 "
        "stiffness 1e4\nb = sqrt((x1-x2)^2 + (y1-y2)^2) - 1 stiffness 1e4\n[start]\nx1 = 0.8, y1 = "
        "-0.6, x2 = 1.4, y2 = -1.9 guess, x1' = 0.1\n";
    projected p = project_model(model, NULL, "method=series");
    if (projected_good("from afar", &p)) {
        char *text = start_text(&p);
        check_below("x1", fabs(p.r.q[0] - 0.8),
                    /* on the bonds y2 = -1.4: the guess takes all of it but the stretch, 1e-4 of
                     * pull */
                    5e-3);
        check_below("y2", fabs(p.r.q[3] + 1.4), 5e-3);
        taut_load how = {.size = sizeof how, .start_text = text};
        projected again = project_model(model, &how, "method=series");
        if (projected_good("again", &again))
            check_below("moved", farthest(&p, &again), 1e-14);
        projected_drop(&again);
        free(text);
    }
    projected_drop(&p);
}

static void test_refusals(void)
{
    static const struct {
        const char *model, *options, *words;
        int code;
    } rows[] = {
        {"double_pendulum", "hold=x3", "did you mean x1?", TAUT_ERROR_USAGE},
        {"four_bar", "hold=thet", "did you mean theta?", TAUT_ERROR_USAGE},
        {"double_pendulum", "hold=x1,,y1", "expected names", TAUT_ERROR_USAGE},
        {"double_pendulum", "hold=zebra", "hold: unknown coordinate 'zebra'", TAUT_ERROR_USAGE},
        {"chain", "hold=bob[21].x", "bob[1].x to bob[20].y", TAUT_ERROR_USAGE},
        {"chain", "hold=bob[2].z", "unknown 'bob[2].z'", TAUT_ERROR_USAGE},
        {"chain", "hold=bob[2,3]", "unknown 'bob[2,3]'", TAUT_ERROR_USAGE},
        {"chain", "hold=bob[2", "bob[2", TAUT_ERROR_USAGE},
        {"chain", "hold=bbo[2]", "did you mean bob?", TAUT_ERROR_USAGE},
        {"michaelis_menten", "hold=y'", "velocity", TAUT_ERROR_USAGE},
        {"four_bar", "hold=ax", "with the held coordinates fixed", TAUT_ERROR_SINGULAR},
        {"[coordinates]\nx, y\n[bonds]\na = x + y stiffness 1e6\nb = x - y stiffness "
         "1e6\n[start]\nx = 0.01\n",
         "method=series hold=x", "release one", TAUT_ERROR_SINGULAR},
        {"[coordinates]\nx, y\n[bonds]\na = x + y stiffness 1e6\nb = x - y stiffness "
         "1e6\n[start]\nx = 0.01\n",
         "method=series hold=x'", "release one", TAUT_ERROR_SINGULAR},
        {"quartic_rod", "method=series hold=x", "stiff potential", TAUT_ERROR_REFUSED},
    };
    check_group("refusals");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        projected p = project_model(rows[k].model, NULL, rows[k].options);
        projected_refused(rows[k].options, &p, rows[k].code, rows[k].words);
    }
}

/* Names of several: a particle, a family, a family's velocities, members of families of two
 * indices. */
static void test_names(void)
{
    check_group("names");
    projected p = project_model(bent, NULL, "method=constraint hold=bob[5],bob[2]'");
    if (projected_good("particle", &p)) {
        check_row(p.r.q[8] == p.r.start_q[8] && p.r.q[9] == p.r.start_q[9], "bob[5] has moved");
        check_row(p.r.v[2] == p.r.start_v[2] && p.r.v[3] == p.r.start_v[3], "bob[2]' has moved");
        check_row(p.r.q[6] != p.r.start_q[6], "bob[4] has not moved");
    }
    projected_drop(&p);
    /* consistent: everything is held and checked */
    p = project_model("chain", NULL, "method=constraint hold=bob,bob'");
    if (projected_good("family", &p))
        check_row(memcmp(p.r.q, p.r.start_q, 40 * sizeof(double)) == 0, "bob has moved");
    projected_drop(&p);
    const char *grid = "[particles]\ndimension = 2\nnode[i,j] for i in 1..2, j in 1..2 mass "
                       "1\n[bonds]\na = length(node[1,1] - node[1,2]) - 1 stiffness 1e6\nb = "
                       "length(node[2,1] - node[2,2]) - 1 stiffness 1e6\n[start]\n"
                       "node[i,j] = (i*1.1, j*1.05) for i in 1..2, j in 1..2\n";
    p = project_model(grid, NULL, "method=series hold=node[1,2],node[2,1].y");
    if (projected_good("two indices", &p)) {
        check_row(p.r.q[2] == 1.1 && p.r.q[3] == 2.1 && p.r.q[5] == 1.05,
                  "held values have changed");
        check_near("a", hypot(p.r.q[0] - p.r.q[2], p.r.q[1] - p.r.q[3]), 1, 1e-15);
        check_near("b", hypot(p.r.q[4] - p.r.q[6], p.r.q[5] - p.r.q[7]), 1, 1e-15);
    }
    projected_drop(&p);
}

/* C functions without derivatives: names are q[1]..q[4]; auto takes a filter. The measure is
 * series on the same system as a model. */
static void test_callbacks(void)
{
    check_group("C functions");
    const double q[4] = {1, 0.25, 2, 0}, v[4] = {0, -0.5, 0, 0.5}, c[2] = {1e-6, 1e-6};
    taut_callbacks calls = two_rods_calls(c, q, v);
    static const char *const ways[] = {"hold=q[2],q[1]'", "method=constraint hold=q[2],q[1]'",
                                       "method=ipa hold=q[2],q[1]'"};
    for (int k = 0; k < 3; k++) {
        projected p = {0};
        p.code = taut_system_from_callbacks(&calls, NULL, &p.system, &p.error);
        projected_run(&p, ways[k], NULL);
        if (projected_good(ways[k], &p)) {
            check_row(p.r.q[1] == 0.25 && p.r.v[0] == 0, "%s: held values have changed", ways[k]);
            char text[300];
            snprintf(text, sizeof text,
                     "x1 = %.17g, y1 = %.17g, x2 = %.17g, y2 = %.17g\nx1' = %.17g, y1' = %.17g, "
                     "x2' = %.17g, y2' = %.17g\n",
                     p.r.q[0], p.r.q[1], p.r.q[2], p.r.q[3], p.r.v[0], p.r.v[1], p.r.v[2],
                     p.r.v[3]);
            const char *thousand[] = {"omega=1000"};
            taut_load how = {
                .size = sizeof how, .set = thousand, .set_count = 1, .start_text = text};
            projected s = project_model("double_pendulum", &how,
                                        k == 1 ? "method=constraint" : "method=series");
            if (projected_good("measured", &s)) /* the accuracy of ipa [docs/sources.md, A], of
                                                   which differences of g take nothing */
                check_below(ways[k], s.r.moved_normal, k == 1 ? 1e-9 : 4e-10);
            projected_drop(&s);
        }
        projected_drop(&p);
    }
}

/* First order [D (1.1)]: what is held is an observable like those of the model. */
static void test_first_order(void)
{
    check_group("first order");
    projected p = project_model("five_dimensions", NULL, ""),
              q = project_model("five_dimensions", NULL, "hold=y[3]");
    if (projected_good("free", &p) && projected_good("held", &q)) {
        taut_index k = taut_system_find(q.system, TAUT_COORDINATE, "y[3]");
        check_row(k >= 0 && q.r.q[k] == q.r.start_q[k], "it has moved");
        check_row(k >= 0 && p.r.q[k] != p.r.start_q[k],
                  "it does not move without hold: this shows nothing");
    }
    projected_drop(&p);
    projected_drop(&q);
}

static void test_memory(void)
{
    check_group("memory");
    const char *model = "[coordinates]\nx, y\n[potential]\ny\n[bonds]\nrod = sqrt(x^2+y^2) - 1 "
                        "stiffness 1e6\n[start]\nx = 0.6, y = 0.81, x' = 0.1\n";
    static const char *const ways[] = {"method=series hold=x,y'", "method=ipa hold=x",
                                       "method=series richardson=2 expansion=yes"};
    projected p = project_model(model, NULL, "method=constraint");
    for (int way = 0; way < 3; way++)
        projected_faults(p.system, ways[way]);
    projected_drop(&p);
}

int main(void)
{
    test_series();
    test_filters();
    test_exact();
    test_foot();
    test_cranks();
    test_checked();
    test_random();
    test_guess();
    test_refusals();
    test_names();
    test_callbacks();
    test_first_order();
    test_memory();
    return check_done();
}
