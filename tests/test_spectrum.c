/* test_spectrum.c - frequencies against analytic chains, against the definition computed densely
 * here (Gauss, Jacobi), and as properties: the limit of infinite stiffness, springs stated
 * twice, bonds against their own potential, iteration against dense. */
#include "linalg/spectrum.h"
#include "support/faulty.h"
#include "support/table.h"

static uint64_t seed = 7;

static double uniform(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(seed >> 11) / 4503599627370496.0 - 1;
}

/* ---- dense oracle, sizes up to 40 */

enum { SIZE = 40 };

/* a^-1 b by Gauss with partial pivoting; a is n x n, b is n x k, both overwritten. */
static void gauss(int n, int k, double a[][SIZE], double b[][SIZE])
{
    for (int p = 0; p < n; p++) {
        int best = p;
        for (int i = p + 1; i < n; i++)
            if (fabs(a[i][p]) > fabs(a[best][p]))
                best = i;
        for (int j = 0; j < SIZE; j++) {
            double held = a[p][j];
            a[p][j] = a[best][j], a[best][j] = held;
            held = b[p][j];
            b[p][j] = b[best][j], b[best][j] = held;
        }
        for (int i = 0; i < n; i++) {
            double factor = i == p ? 0 : a[i][p] / a[p][p];
            for (int j = p; j < n && factor != 0; j++)
                a[i][j] -= factor * a[p][j];
            for (int j = 0; j < k && factor != 0; j++)
                b[i][j] -= factor * b[p][j];
        }
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < k; j++)
            b[i][j] /= a[i][i];
}

/* Eigenvalues by cyclic Jacobi rotations, ascending. */
static void jacobi(int n, double a[][SIZE], double *value)
{
    for (int sweep = 0; sweep < 60; sweep++)
        for (int p = 0; p < n; p++)
            for (int q = p + 1; q < n; q++) {
                if (fabs(a[p][q]) < 1e-300)
                    continue;
                double h = (a[q][q] - a[p][p]) / (2 * a[p][q]),
                       t = copysign(1, h) / (fabs(h) + sqrt(h * h + 1));
                double c = 1 / sqrt(t * t + 1), s = t * c;
                for (int k = 0; k < n; k++) {
                    double x = a[k][p], y = a[k][q];
                    a[k][p] = c * x - s * y, a[k][q] = s * x + c * y;
                }
                for (int k = 0; k < n; k++) {
                    double x = a[p][k], y = a[q][k];
                    a[p][k] = c * x - s * y, a[q][k] = s * x + c * y;
                }
            }
    for (int i = 0; i < n; i++) {
        value[i] = a[i][i];
        for (int k = i; k > 0 && value[k - 1] > value[k]; k--) {
            double held = value[k];
            value[k] = value[k - 1], value[k - 1] = held;
        }
    }
}

/* ---- systems */

enum { LARGEST = 260000 };

/* A system by rows; plane nodes 0..N-1. */
static struct {
    taut_index n, m, g_start[65001], g_column[LARGEST], k_start[SIZE + 1], k_column[SIZE * SIZE];
    double g[LARGEST], mass[130000], c[65000];
    bool diagonal;
} s;

static taut_saddle_shape shape_of(void)
{
    return (taut_saddle_shape){.n = s.n,
                               .m = s.m,
                               .k_start = s.diagonal ? NULL : s.k_start,
                               .k_column = s.diagonal ? NULL : s.k_column,
                               .g_start = s.g_start,
                               .g_column = s.g_column,
                               .symmetric = true,
                               .positive = true};
}

/* A bond between nodes a and b (b < 0: a fixed point), direction by an angle. */
static void add_bond(taut_index a, taut_index b, double angle, double compliance)
{
    taut_index e = s.g_start[s.m];
    for (int c = 0; c < 2; c++) {
        s.g_column[e] = 2 * a + c;
        s.g[e++] = c ? sin(angle) : cos(angle);
        if (b >= 0) {
            s.g_column[e] = 2 * b + c;
            s.g[e++] = c ? -sin(angle) : -cos(angle);
        }
    }
    s.c[s.m] = compliance;
    s.g_start[++s.m] = e;
}

static void begin(taut_index nodes)
{
    s.n = 2 * nodes;
    s.m = 0;
    s.diagonal = true;
    for (taut_index i = 0; i < s.n; i++)
        s.mass[i] = 1;
}

static void straight_chain(taut_index links, double omega)
{
    begin(links);
    for (taut_index i = 0; i < links; i++)
        add_bond(i, i - 1, 0, 1 / (omega * omega));
}

/* A = G G^T is tridiag(-1, 2, -1) with A_11 = 1: vectors cos((j - 1/2) theta) with cos((N + 1/2)
 * theta) = 0, so theta_k = (2k - 1) pi / (2N + 1) and Omega_k = 2 omega sin(theta_k / 2), k =
 * 1..N. */
static double chain_frequency(taut_index links, double omega, taut_index k)
{
    return 2 * omega * sin((2 * k - 1) * acos(-1) / (2 * (2.0 * links + 1)));
}

static int bonds(int count, double *frequency, double *mode, taut_spectrum *spectrum)
{
    taut_saddle_shape shape = shape_of();
    taut_error error;
    int status = taut_spectrum_bonds(&shape, s.mass, s.g, s.c, count, frequency, mode, spectrum,
                                     NULL, &error);
    if (status)
        printf("# %s\n", error.message);
    return status;
}

/* Compares the found frequencies with expected(k), k = 1..modes. */
static void compare_chain(const char *what, taut_index links, double omega, int count,
                          double tolerance)
{
    double frequency[1000], worst = 0;
    taut_spectrum spectrum = {0};
    int status = bonds(count, frequency, NULL, &spectrum);
    bool all = links <= 2 * count;
    for (int k = 0; k < spectrum.found; k++) {
        taut_index index = all || k < count ? k + 1 : links - 2 * count + k + 1;
        worst = fmax(worst, fabs(frequency[k] / chain_frequency(links, omega, index) - 1));
    }
    check_row(status == 0 && spectrum.modes == links &&
                  spectrum.found == (all ? links : 2 * count) && spectrum.complete == all,
              "%s, N=%d count=%d: status %d, found %d, modes %lld, complete %d", what, links, count,
              status, spectrum.found, (long long)spectrum.modes, spectrum.complete);
    check_row(worst <= tolerance, "%s, N=%d count=%d: relative error %.3g, limit %.3g", what, links,
              count, worst, tolerance);
}

static void chains(void)
{
    static const taut_index small[] = {1, 2, 5, 50, 400};
    for (int k = 0; k < 5; k++) {
        straight_chain(small[k], 1000);
        compare_chain("dense", small[k], 1000, 400, 1e-10);
        compare_chain("dense", small[k], 1000, 1, 1e-10);
    }
    static const taut_index large[] = {401, 3000, 60000};
    for (int k = 0; k < 3; k++) {
        straight_chain(large[k], 50);
        compare_chain("ends", large[k], 50, 1, 5e-7);
        compare_chain("ends", large[k], 50, 4, 5e-7);
    }
    /* each spring stated twice, half as stiff: the same modes, half of the rows redundant */
    begin(700);
    for (taut_index i = 0; i < 1400; i++)
        add_bond(i / 2, i / 2 - 1, 0, 2.0);
    compare_chain("doubled springs, ends", 700, 1, 3, 1e-6);
    begin(30);
    for (taut_index i = 0; i < 60; i++)
        add_bond(i / 2, i / 2 - 1, 0, 2.0);
    double frequency[60];
    taut_spectrum spectrum;
    check_equal("doubled springs", bonds(30, frequency, NULL, &spectrum), 0);
    check_equal("doubled springs, modes", spectrum.modes, 30);
    check_near("doubled springs, lowest", frequency[0], chain_frequency(30, 1, 1), 1e-12);
}

/* A random mechanism: some bonds springs, some rigid; M diagonal or full. */
static void random_system(int nodes, int count, int rods, bool diagonal)
{
    begin(nodes);
    for (taut_index i = 0; i < count; i++) {
        double angle = 3 * uniform(), compliance = 1.5 + uniform();
        taut_index other = i % nodes + 1 + i / nodes;
        add_bond(i % nodes, other < nodes ? other : -1, angle,
                 i % 3 == 1 && rods-- > 0 ? 0 : compliance);
    }
    s.diagonal = diagonal;
    taut_index entries = 0;
    for (taut_index i = 0; i < s.n; i++) {
        for (taut_index j = 0; j < s.n && !diagonal; j++) {
            s.k_column[entries] = j;
            s.mass[entries] = j < i ? s.mass[s.k_start[j] + i] : i == j ? s.n + 1 : uniform();
            entries++;
        }
        if (diagonal)
            s.mass[i] = 2 + uniform();
        else
            s.k_start[i + 1] = entries;
    }
}

/* S = A_ss - A_sr A_rr^-1 A_rs from its blocks. Returns the number of springs, which are listed. */
static int schur_complement(double result[][SIZE], int *spring)
{
    static double mass[SIZE][SIZE], z[SIZE][SIZE], a[SIZE][SIZE], rr[SIZE][SIZE], rs[SIZE][SIZE],
        g[SIZE][SIZE];
    int p = 0, r = 0, rod[SIZE];
    memset(mass, 0, sizeof mass), memset(z, 0, sizeof z), memset(g, 0, sizeof g);
    for (int i = 0; i < s.n; i++)
        for (int j = 0; j < s.n; j++)
            mass[i][j] = s.diagonal ? (i == j ? s.mass[i] : 0) : s.mass[i * s.n + j];
    for (int i = 0; i < s.m; i++)
        for (taut_index e = s.g_start[i]; e < s.g_start[i + 1]; e++) {
            g[i][s.g_column[e]] += s.g[e];
            z[s.g_column[e]][i] += s.g[e];
        }
    gauss(s.n, s.m, mass, z);
    for (int i = 0; i < s.m; i++) {
        for (int j = 0; j < s.m; j++) {
            a[i][j] = 0;
            for (int k = 0; k < s.n; k++)
                a[i][j] += g[i][k] * z[k][j];
        }
        if (s.c[i] > 0)
            spring[p++] = i;
        else
            rod[r++] = i;
    }
    memset(rr, 0, sizeof rr), memset(rs, 0, sizeof rs);
    for (int i = 0; i < r; i++) {
        for (int j = 0; j < r; j++)
            rr[i][j] = a[rod[i]][rod[j]];
        for (int j = 0; j < p; j++)
            rs[i][j] = a[rod[i]][spring[j]];
    }
    gauss(r, p, rr, rs);
    for (int i = 0; i < p; i++)
        for (int j = 0; j < p; j++) {
            result[i][j] = a[spring[i]][spring[j]];
            for (int k = 0; k < r; k++)
                result[i][j] -= a[spring[i]][rod[k]] * rs[k][j];
        }
    return p;
}

static void definitions(int nodes, int count, int rods, bool diagonal)
{
    static double schur[SIZE][SIZE], scaled[SIZE][SIZE], mode[SIZE * SIZE];
    double expected[SIZE], frequency[SIZE], worst = 0, equation = 0, norm = 0;
    int spring[SIZE];
    random_system(nodes, count, rods, diagonal);
    int p = schur_complement(schur, spring);
    for (int i = 0; i < p; i++)
        for (int j = 0; j < p; j++)
            scaled[i][j] = schur[i][j] / sqrt(s.c[spring[i]] * s.c[spring[j]]);
    jacobi(p, scaled, expected);
    taut_spectrum spectrum = {0};
    int status = bonds(SIZE / 2, frequency, mode, &spectrum);
    for (int k = 0; k < p && k < spectrum.found; k++) {
        const double *u = mode + k * s.m;
        double energy = 0;
        worst = fmax(worst, fabs(frequency[k] * frequency[k] - expected[k]) / expected[p - 1]);
        /* S C^-1 u = Omega^2 u; u^T S^-1 u = 1 gives u^T C^-1 u = Omega^2 */
        for (int i = 0; i < p; i++) {
            double left = 0;
            for (int j = 0; j < p; j++)
                left += schur[i][j] * u[spring[j]] / s.c[spring[j]];
            equation = fmax(equation, fabs(left - expected[k] * u[spring[i]]) / expected[p - 1]);
            energy += u[spring[i]] * u[spring[i]] / s.c[spring[i]];
        }
        norm = fmax(norm, fabs(energy - expected[k]) / expected[p - 1]);
        for (int i = 0; i < s.m; i++)
            if (s.c[i] == 0)
                equation = fmax(equation, fabs(u[i]));
    }
    check_row(status == 0 && spectrum.found == p && spectrum.complete,
              "%d nodes, %d bonds, %d rods: status %d, found %d of %d", nodes, count, rods, status,
              spectrum.found, p);
    check_row(worst <= 1e-12, "%d nodes, %d bonds, %d rods, %s M: Omega^2 off by %.3g", nodes,
              count, rods, diagonal ? "diagonal" : "full", worst);
    check_row(equation <= 1e-11 && norm <= 1e-11,
              "%d nodes, %d bonds, %d rods: modes off by %.3g, their norm by %.3g", nodes, count,
              rods, equation, norm);
}

static void rigid_limit(void)
{
    double soft[SIZE], rigid[SIZE], error[2][SIZE] = {{0}};
    taut_spectrum spectrum;
    int p = 0;
    /* rigid bonds, then springs of compliance 1e-4 and 1e-5 in their place */
    for (int round = 0; round < 2; round++) {
        seed = 11;
        random_system(8, 12, 4, true);
        check_equal("rods", bonds(SIZE / 2, rigid, NULL, &spectrum), 0);
        p = spectrum.found;
        for (int i = 0; i < s.m; i++)
            s.c[i] = s.c[i] > 0 ? s.c[i] : round ? 1e-5 : 1e-4;
        check_equal("stiff springs in their place", bonds(SIZE / 2, soft, NULL, &spectrum), 0);
        check_equal("as many modes as springs", spectrum.found, s.m);
        for (int k = 0; k < p; k++)
            error[round][k] = fabs(soft[k] / rigid[k] - 1);
    }
    for (int k = 0; k < p; k++)
        check_row(error[0][k] < 1e-3 && error[1][k] < 0.11 * error[0][k] + 1e-11,
                  "mode %d: off by %.3g for c = 1e-4, %.3g for 1e-5", k, error[0][k], error[1][k]);
    /* a rigid bond stated twice changes nothing */
    seed = 11;
    random_system(8, 12, 4, true);
    bonds(SIZE / 2, rigid, NULL, &spectrum);
    taut_index e = s.g_start[s.m], first = s.g_start[1];
    for (taut_index k = first; k < s.g_start[2]; k++, e++) {
        s.g_column[e] = s.g_column[k];
        s.g[e] = 2 * s.g[k];
    }
    check_near("bond 2 is a rod", s.c[1], 0, 0);
    s.c[s.m] = 0;
    s.g_start[++s.m] = e;
    check_equal("a rod stated twice", bonds(SIZE / 2, soft, NULL, &spectrum), 0);
    check_equal("modes", spectrum.found, p);
    for (int k = 0; k < p; k++)
        check_near("frequency", soft[k], rigid[k], 1e-12);
}

/* A net of w x w nodes with random masses and angles, a tenth of the bonds rigid. */
static void net(taut_index w, bool with_rods)
{
    begin(w * w);
    for (taut_index i = 0; i < s.n; i++)
        s.mass[i] = 2 + uniform();
    for (taut_index i = 0; i < w * w; i++) {
        double angle = 0.3 * uniform(), compliance = 1.1 + uniform();
        if (i % w)
            add_bond(i, i - 1, angle, with_rods && i % 10 == 3 ? 0 : compliance);
        if (i >= w)
            add_bond(i, i - w, 1.6 - angle, 2.2 - compliance);
    }
}

/* The iteration for the ends against the dense solution of the same system. */
static void ends_against_dense(const char *what, int count)
{
    static double all[2000], ends[200];
    taut_spectrum spectrum;
    double *mode = malloc((size_t)s.m * (size_t)s.m * sizeof *mode), worst = 0;
    check_equal(what, bonds(1000, all, mode, &spectrum), 0);
    int modes = spectrum.found;
    check_row(spectrum.complete && modes > 400, "%s: %d modes, dense", what, modes);
    check_equal(what, bonds(count, ends, NULL, &spectrum), 0);
    check_equal(what, spectrum.found, 2 * count);
    for (int k = 0; k < 2 * count; k++)
        worst = fmax(worst, fabs(ends[k] / all[k < count ? k : modes - 2 * count + k] - 1));
    check_row(worst < 5e-7, "%s, %d from each end: relative error %.3g", what, count, worst);
    free(mode);
}

static void large_systems(void)
{
    net(16, false);
    ends_against_dense("net", 1);
    ends_against_dense("net", 5);
    net(16, true);
    ends_against_dense("net with rods", 1);
    ends_against_dense("net with rods", 5);
    begin(600);
    for (taut_index i = 0; i < 600; i++) {
        double angle = 0.5 * uniform(), compliance = pow(10, 2 * uniform());
        s.mass[2 * i] = s.mass[2 * i + 1] = 2 + uniform();
        add_bond(i, i - 1, angle, i % 7 == 3 ? 0 : compliance);
    }
    ends_against_dense("bent chain with rods", 3);
}

/* V = G_s^T C^-1 G_s on its pattern, by brute force over pairs of entries; rigid bonds go to G. */
static taut_index *hessian_start, *hessian_column;
static double *hessian;

static void bond_hessian(void)
{
    taut_index capacity = 64 * s.n, count = 0, *last = malloc((size_t)s.n * sizeof *last);
    hessian_start = calloc((size_t)s.n + 1, sizeof *hessian_start);
    hessian_column = malloc((size_t)capacity * sizeof *hessian_column);
    hessian = calloc((size_t)capacity, sizeof *hessian);
    for (taut_index i = 0; i < s.n; i++)
        last[i] = -1;
    /* bonds of each coordinate, found by scanning: sizes are small */
    for (taut_index i = 0; i < s.n; i++) {
        for (taut_index b = 0; b < s.m; b++)
            for (taut_index e = s.g_start[b]; e < s.g_start[b + 1]; e++)
                for (taut_index f = s.g_start[b];
                     s.g_column[e] == i && s.c[b] > 0 && f < s.g_start[b + 1]; f++) {
                    taut_index j = s.g_column[f];
                    if (last[j] < hessian_start[i])
                        last[j] = count, hessian_column[count++] = j;
                    hessian[last[j]] += s.g[e] * s.g[f] / s.c[b];
                }
        hessian_start[i + 1] = count;
    }
    free(last);
}

/* A potential made of the springs has the springs' frequencies. */
static void potential_against_bonds(const char *what, int count, double tolerance)
{
    static double expected[2000], frequency[2000], g[LARGEST];
    static taut_index start[65001], column[LARGEST];
    taut_spectrum spectrum, same;
    double worst = 0;
    bond_hessian();
    check_equal(what, bonds(count, expected, NULL, &same), 0);
    taut_saddle_shape shape = shape_of();
    taut_index rods = 0;
    for (taut_index b = 0; b < s.m; b++)
        if (s.c[b] == 0) {
            start[rods + 1] = start[rods];
            for (taut_index e = s.g_start[b]; e < s.g_start[b + 1]; e++) {
                column[start[rods + 1]] = s.g_column[e];
                g[start[rods + 1]++] = s.g[e];
            }
            rods++;
        }
    shape.m = rods;
    shape.g_start = start;
    shape.g_column = column;
    taut_error error;
    int status = taut_spectrum_potential(&shape, s.mass, g, hessian_start, hessian_column, hessian,
                                         count, frequency, &spectrum, NULL, &error);
    for (int k = 0; k < same.found && k < spectrum.found; k++)
        worst = fmax(worst, fabs(frequency[k] / expected[k] - 1));
    check_row(status == 0 && spectrum.found == same.found && worst <= tolerance,
              "%s: status %d, found %d of %d, relative error %.3g", what, status, spectrum.found,
              same.found, worst);
    check_row(spectrum.modes == same.modes || spectrum.modes == -1, "%s: modes %lld", what,
              (long long)spectrum.modes);
    free(hessian_start), free(hessian_column), free(hessian);
}

static void potentials(void)
{
    random_system(8, 12, 0, true);
    potential_against_bonds("potential, dense", 20, 1e-9);
    random_system(8, 12, 4, false);
    potential_against_bonds("potential with rods and full M, dense", 20, 1e-9);
    net(12, false);
    potential_against_bonds("potential of a net, dense", 5, 1e-9);
    net(16, false);
    potential_against_bonds("potential of a net", 1, 1e-6);
    net(16, true);
    potential_against_bonds("potential of a net with rods", 3, 1e-6);
}

enum { MOST_ROWS = 150 };

/* Values ascend; vectors are the rows of v. */
static void check_vectors(const char *what, int n, int kind, const double *a, const double *value,
                          const double *v, double limit)
{
    double residual = 0, angle = 0, size = n ? fmax(fabs(value[0]), fabs(value[n - 1])) : 1;
    bool sorted = true;
    for (int p = 0; p < n; p++) {
        sorted = sorted && (p == 0 || value[p] >= value[p - 1]);
        for (int q = 0; q < n; q++) {
            double product = 0, left = 0;
            for (int j = 0; j < n; j++) {
                product += v[p * n + j] * v[q * n + j];
                left += a[q * n + j] * v[p * n + j];
            }
            angle = fmax(angle, fabs(product - (p == q)));
            residual = fmax(residual, fabs(left - value[p] * v[p * n + q]) / size);
        }
    }
    check_row(sorted && residual <= 1e-13 && angle <= limit,
              "%s, n=%d kind %d: residual %.3g, orthogonality %.3g", what, n, kind, residual,
              angle);
}

/* a, cut to a band. */
static void check_band(int n, int kind, int b, double *a, double *v, double *value)
{
    static double band[MOST_ROWS * MOST_ROWS];
    taut_error error;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            if (abs(i - j) > b)
                a[i * n + j] = 0;
            else if (i >= j)
                band[j * (b + 1) + i - j] = a[i * n + j];
        }
    check_equal("band", taut_eigen_band(n, b, band, value, v, &error, NULL), 0);
    check_vectors("band", n, kind, a, value, v, 1e-9);
}

static void eigenproblems(void)
{
    static const int sizes[] = {0, 1, 2, 3, 10, 61, MOST_ROWS};
    static double a[MOST_ROWS * MOST_ROWS], v[MOST_ROWS * MOST_ROWS], value[MOST_ROWS];
    for (int k = 0; k < 7; k++)
        for (int kind = 0; kind < 4; kind++) {
            int n = sizes[k];
            taut_error error;
            for (int i = 0; i < n; i++)
                for (int j = 0; j <= i; j++) /* random; tridiagonal; of rank 2; block diagonal with
                                                equal eigenvalues */
                    a[i * n + j] = a[j * n + i] = kind == 0   ? uniform()
                                                  : kind == 1 ? (i == j       ? 2
                                                                 : i == j + 1 ? -1
                                                                              : 0)
                                                  : kind == 2
                                                      ? (i + 1.0) * (j + 1.0) + sin(i) * sin(j)
                                                      : (i / 2 == j / 2 ? 1 + (i == j) : 0);
            memcpy(v, a, sizeof a);
            check_equal("dense", taut_eigen_symmetric(n, v, value, &error, NULL), 0);
            check_vectors("dense", n, kind, a, value, v, 1e-13);
            for (int b = n > 5 ? 5 : 0; b > 0; b -= 2)
                check_band(n, kind, b, a, v, value);
        }
}

static void fail_every(const char *what, int count)
{
    taut_error error;
    taut_spectrum spectrum;
    double frequency[100];
    faulty c = {0};
    taut_allocator allocator = faulty_allocator(&c);
    taut_saddle_shape shape = shape_of();
    int status = TAUT_ERROR_MEMORY, fail_at = 1;
    for (; fail_at < 1000 && status; fail_at++) {
        c = (faulty){.fail = fail_at};
        status = taut_spectrum_bonds(&shape, s.mass, s.g, s.c, count, frequency, NULL, &spectrum,
                                     &allocator, &error);
        if ((status != 0 && status != TAUT_ERROR_MEMORY) || c.live)
            check_row(false, "%s, allocation %d fails: status %d, %lld blocks left", what, fail_at,
                      status, (long long)c.live);
    }
    check_row(status == 0 && fail_at > 5, "%s: succeeds after %d allocations", what, fail_at - 2);
}

static void refusals(void)
{
    double frequency[10];
    taut_spectrum spectrum;
    straight_chain(5, 1);
    check_equal("count 0", bonds(0, frequency, NULL, &spectrum), TAUT_ERROR_USAGE);
    s.c[2] = -1;
    check_equal("negative compliance", bonds(5, frequency, NULL, &spectrum), TAUT_ERROR_USAGE);
    s.c[2] = NAN;
    check_equal("NaN compliance", bonds(5, frequency, NULL, &spectrum), TAUT_ERROR_USAGE);
    for (int i = 0; i < 5; i++)
        s.c[i] = 0;
    check_equal("rods alone", bonds(5, frequency, NULL, &spectrum), 0);
    check_row(spectrum.found == 0 && spectrum.complete && spectrum.modes == 0,
              "rods alone have no modes");
    straight_chain(5, 1);
    s.mass[0] = 0;
    check_row(bonds(5, frequency, NULL, &spectrum) < 0, "a massless coordinate is refused");
    straight_chain(2500, 1);
    check_equal("too many modes", bonds(1000, frequency, NULL, &spectrum), TAUT_ERROR_REFUSED);
    straight_chain(20, 1);
    fail_every("dense", 3);
    straight_chain(450, 1);
    fail_every("ends", 2);
}

int main(void)
{
    check_group("chain");
    chains();
    check_group("definition");
    for (int rods = 0; rods <= 4; rods += 2)
        for (int diagonal = 0; diagonal < 2; diagonal++) {
            definitions(5, 8, rods, diagonal);
            definitions(12, 20, rods, diagonal);
        }
    check_group("rigid limit");
    rigid_limit();
    check_group("large");
    large_systems();
    check_group("potential");
    potentials();
    check_group("eigenproblem");
    eigenproblems();
    check_group("refusals");
    refusals();
    return check_done();
}
