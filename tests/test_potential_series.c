/* test_potential_series.c - slow points of stiff potentials in general position, against two
 * independent computations: Taylor polynomials of the polar equations in extended precision, and
 * the multiplier recursion of bonds on long chains. */
#include <stdlib.h>

#include "support/project.h"
#include "judge/taylor.h"

/* V'(r) and V''(r) of quartic_rod, s = r^2 - 1: V' = 2 r (s/4 + s^2/4 + s^3/8). */
static void slopes(series r, series *first, series *second)
{
    series s = add(multiply(r, r), constant(1), -1), s2 = multiply(s, s);
    series inner = add(add(scale(s, 0.25L), s2, 0.25L), multiply(s2, s), 0.125L);
    series slope = add(add(constant(0.25L), s, 0.5L), s2, 0.375L);
    *first = scale(multiply(r, inner), 2);
    *second = add(scale(inner, 2), multiply(multiply(r, r), slope), 4);
}

/* The motion along the circle for a given r(t): r phi'' = -2 r' phi' - cos phi, from phi0 with r
 * phi' = speed; Picard's iteration. */
static series turn_with(series r, real phi0, real speed)
{
    real rate = speed / r.c[0];
    series phi = integral(constant(rate), phi0), over = power(r, -1);
    for (int k = 0; k < N; k++) {
        series pull = multiply(derivative(r), derivative(phi));
        series a = multiply(add(scale(pull, -2), circular(phi, 1), -1), over);
        phi = integral(integral(a, rate), phi0);
    }
    return phi;
}

/* The smooth solution over (phi0, speed) of r'' - r phi'^2 = -sin phi - omega^2 V'(r): r <-
 * V'^-1((r phi'^2 - sin phi - r'')/omega^2) on Taylor polynomials [docs/sources.md, B, the recipe
 * of the smooth start]. Each round uses up two orders and gains a factor omega^2. */
static series smooth_radius(real omega, real phi0, real speed)
{
    series r = constant(1);
    for (int round = 0; round < 7; round++) {
        series phi = turn_with(r, phi0, speed), rate = derivative(phi), first, second;
        series wanted = add(multiply(r, multiply(rate, rate)), circular(phi, 0), -1);
        wanted = scale(add(wanted, derivative(derivative(r)), -1), 1 / (omega * omega));
        for (int k = 0; k < 8; k++) { /* Newton */
            slopes(r, &first, &second);
            r = add(r, multiply(add(first, wanted, -1), power(second, -1)), -1);
        }
    }
    return r;
}

static void test_quartic(void)
{
    static const double omega[] = {60, 100, 1000, 1e4, 1e6}, turn[] = {-1.3, 0, 0.4, 2.2},
                        speed[] = {0, 1, -2.5};
    check_group("quartic rod under gravity");
    for (int k = 0; k < 5; k++)
        for (int j = 0; j < 4; j++)
            for (int i = 0; i < 3; i++) {
                char text[500];
                double c = cos(turn[j]), s = sin(turn[j]);
                snprintf(text, sizeof text,
                         "[coordinates]\nx, y\n[definitions]\ns = x^2 + y^2 - "
                         "1\n[potential]\ny\n[stiff potential]\ns^2/8 + s^3/12 + s^4/32 scale "
                         "%.17g\n[start]\nx = 1.03*%.17g, y = 1.03*%.17g, x' = %.17g, y' = %.17g\n",
                         omega[k] * omega[k], c, s, -speed[i] * s + 0.1 * c,
                         speed[i] * c + 0.1 * s);
                projected p = project_model(text, NULL, "method=series");
                if (projected_good("series", &p)) {
                    series r = smooth_radius(omega[k], turn[j], speed[i]);
                    /* the last round of the oracle changes r by about (2k)! (speed/omega)^2k, as
                     * the levels do: 1e-9 at omega = 60 */
                    double limit = omega[k] < 100 ? 1e-9 : omega[k] < 1000 ? 1e-12 : 1e-13;
                    check_near("x", p.r.q[0], (double)r.c[0] * c, limit);
                    check_near("y", p.r.q[1], (double)r.c[0] * s, limit);
                    check_near("radial velocity", c * p.r.v[0] + s * p.r.v[1], (double)r.c[1],
                               10 * limit);
                    check_near("speed along", -s * p.r.v[0] + c * p.r.v[1], speed[i], 1e-13);
                }
                projected_drop(&p);
            }
}

/* Crooked chains, springs off rest by 1e-3: the links as potential against the links as bonds. */
static void test_chain(void)
{
    static const char *const links[] = {
        "[stiff potential]\n(length(bob[1]) - 1)^2/2 scale omega^2\nsum((length(bob[i] - bob[i-1]) "
        "- 1)^2/2 for i in 2..N) scale omega^2\n",
        "[bonds]\nlink[1] = length(bob[1]) - 1 stiffness omega^2\nlink[i] = length(bob[i] - "
        "bob[i-1]) - 1 for i in 2..N stiffness omega^2\n"};
    check_group("chains");
    for (int size = 3; size <= 30; size += 9) {
        projected p[2];
        for (int k = 0; k < 2; k++) {
            char text[900];
            snprintf(text, sizeof text,
                     "[parameters]\nN = %d\nomega = 1e6\n[particles]\ndimension = 2\nbob[i] for i "
                     "in 1..N mass 1\n[potential]\n"
                     "sum(bob[i].y for i in 1..N)\n%s[start]\nbob[1] = (1.001*cos(0.3), "
                     "1.001*sin(0.3))\n"
                     "bob[i] = (bob[i-1].x + 1.0005*cos(0.4*sin(i)), bob[i-1].y + "
                     "1.0005*sin(0.4*sin(i))) for i in 2..N\n"
                     "bob[i]' = (0.3*cos(i), -0.2*i) for i in 1..N\n",
                     size, links[k]);
            p[k] = project_model(text, NULL, "method=series");
        }
        if (projected_good("potential", &p[0]) && projected_good("bonds", &p[1]))
            for (int i = 0; i < 2 * size;
                 i++) { /* rounding: u times the length, and the weak modes of the potential */
                check_near("q", p[0].r.q[i], p[1].r.q[i], 1e-12);
                check_near("v", p[0].r.v[i], p[1].r.v[i], 1e-10);
            }
        projected_drop(&p[0]);
        projected_drop(&p[1]);
    }
}

int main(void)
{
    test_quartic();
    test_chain();
    return check_done();
}
