/* test_rank.c - dependent rows of G: found, named in the given order, and distinguished from
 * conflicts. The oracle eliminates dense rows in the given order, in long double, and finds
 * coefficients by least squares. */
#include "linalg/saddle.h"
#include "support/faulty.h"
#include "support/table.h"

enum { ROWS = 120, COLUMNS = 160 };

static uint64_t seed = 99;

static double uniform(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(seed >> 11) / 4503599627370496.0 - 1;
}

static taut_index below(taut_index limit)
{
    return (taut_index)((uniform() + 1) / 2 * limit) % limit;
}

/* Dense rows, and the same by rows of a pattern. */
static struct {
    taut_index n, m, start[ROWS + 1], column[ROWS * COLUMNS];
    double g[ROWS * COLUMNS], dense[ROWS][COLUMNS], residual[ROWS];
} s;

static void clear(taut_index n, taut_index m)
{
    memset(&s, 0, sizeof s);
    s.n = n;
    s.m = m;
}

/* Columns in decreasing order, the first entry split in two equal ones: patterns may be unsorted
 * and repeat. */
static void compress(void)
{
    taut_index count = 0;
    for (taut_index i = 0; i < s.m; i++) {
        bool split = false;
        for (taut_index j = s.n - 1; j >= 0; j--) {
            if (s.dense[i][j] == 0)
                continue;
            s.column[count] = j;
            s.g[count++] = s.dense[i][j] / (split ? 1 : 2);
            if (!split) {
                s.column[count] = j;
                s.g[count++] = s.dense[i][j] / 2;
            }
            split = true;
        }
        s.start[i + 1] = count;
    }
}

/* Modified Gram-Schmidt, twice, row after row. */
static taut_index oracle(unsigned char *dependent)
{
    static long double basis[ROWS][COLUMNS];
    taut_index rank = 0;
    for (taut_index i = 0; i < s.m; i++) {
        long double row[COLUMNS], length = 0, left = 0;
        for (taut_index j = 0; j < s.n; j++)
            length += (long double)s.dense[i][j] * s.dense[i][j];
        length = length > 0 ? sqrtl(length) : 1;
        for (taut_index j = 0; j < s.n; j++)
            row[j] = s.dense[i][j] / length;
        for (int pass = 0; pass < 2; pass++)
            for (taut_index k = 0; k < rank; k++) {
                long double product = 0;
                for (taut_index j = 0; j < s.n; j++)
                    product += basis[k][j] * row[j];
                for (taut_index j = 0; j < s.n; j++)
                    row[j] -= product * basis[k][j];
            }
        for (taut_index j = 0; j < s.n; j++)
            left += row[j] * row[j];
        left = sqrtl(left);
        dependent[i] = left <= 1e-9L;
        for (taut_index j = 0; j < s.n && !dependent[i]; j++)
            basis[rank][j] = row[j] / left;
        rank += !dependent[i];
    }
    return rank;
}

static long double product(taut_index a, taut_index b, bool unit)
{
    long double sum = 0, aa = 0, bb = 0;
    for (taut_index j = 0; j < s.n; j++) {
        sum += (long double)s.dense[a][j] * s.dense[b][j];
        aa += (long double)s.dense[a][j] * s.dense[a][j];
        bb += (long double)s.dense[b][j] * s.dense[b][j];
    }
    return unit && aa > 0 && bb > 0 ? sum / sqrtl(aa * bb) : sum;
}

/* Coefficients of row i in the unit rows that are not dependent: normal equations, Gauss without
 * pivoting (positive definite). */
static void coefficients(taut_index i, const unsigned char *dependent, double *c)
{
    static long double a[ROWS][ROWS + 1];
    taut_index free_row[ROWS], count = 0;
    for (taut_index k = 0; k < s.m; k++) {
        c[k] = 0;
        if (!dependent[k])
            free_row[count++] = k;
    }
    for (taut_index p = 0; p < count; p++) {
        for (taut_index q = 0; q < count; q++)
            a[p][q] = product(free_row[p], free_row[q], true);
        a[p][count] = product(free_row[p], i, true);
    }
    for (taut_index p = 0; p < count; p++)
        for (taut_index q = p + 1; q < count; q++) {
            long double factor = a[q][p] / a[p][p];
            for (taut_index k = p; k <= count && factor != 0; k++)
                a[q][k] -= factor * a[p][k];
        }
    for (taut_index p = count - 1; p >= 0; p--) {
        for (taut_index k = p + 1; k < count; k++)
            a[p][count] -= a[p][k] * a[k][count];
        a[p][count] /= a[p][p];
        c[free_row[p]] = (double)a[p][count];
    }
}

static taut_saddle_shape shape_of(void)
{
    return (taut_saddle_shape){
        .n = s.n, .m = s.m, .g_start = s.start, .g_column = s.column, .symmetric = true};
}

/* Compares everything with the oracle; `conflict` is what is expected. */
static void compare(const char *name, bool conflict)
{
    unsigned char marked[ROWS], expected[ROWS];
    taut_index partner[ROWS], rank = -1, wrong = 0, partner_wrong = 0;
    bool found = !conflict;
    taut_error error;
    compress();
    taut_saddle_shape shape = shape_of();
    taut_index expected_rank = oracle(expected);
    int status =
        taut_rank(&shape, s.g, 1e-9, s.residual, &rank, marked, partner, &found, NULL, &error);
    for (taut_index i = 0; i < s.m; i++) {
        double c[ROWS], most = 0;
        wrong += marked[i] != expected[i];
        if (!expected[i]) {
            partner_wrong += partner[i] != -1;
            continue;
        }
        coefficients(i, expected, c);
        for (taut_index k = 0; k < s.m; k++)
            most = fmax(most, fabs(c[k]));
        if (most == 0)
            partner_wrong += partner[i] != -1;
        else
            partner_wrong +=
                partner[i] < 0 || expected[partner[i]] || fabs(c[partner[i]]) < most * (1 - 1e-6);
    }
    check_row(status == 0 && rank == expected_rank, "%s: status %d, rank %d, expected %d", name,
              status, rank, expected_rank);
    check_row(wrong == 0, "%s: %d rows marked differently", name, wrong);
    check_row(partner_wrong == 0, "%s: %d partners wrong", name, partner_wrong);
    check_row(found == conflict, "%s: conflict %d, expected %d", name, found, conflict);
    status = taut_rank(&shape, s.g, 1e-9, NULL, &rank, NULL, NULL, NULL, NULL, &error);
    check_row(status == 0 && rank == expected_rank, "%s, nothing else asked: rank %d, expected %d",
              name, rank, expected_rank);
}

/* A bar between plane nodes of a truss. */
static void bar(taut_index row, double node[][2], taut_index a, taut_index b)
{
    for (int c = 0; c < 2; c++) {
        s.dense[row][2 * a + c] = node[a][c] - node[b][c];
        s.dense[row][2 * b + c] = node[b][c] - node[a][c];
    }
}

static void trusses(void)
{
    static double square[4][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
    clear(8, 6);
    bar(0, square, 0, 1), bar(1, square, 1, 2), bar(2, square, 2, 3), bar(3, square, 3, 0),
        bar(4, square, 0, 2), bar(5, square, 1, 3);
    compare("square with both diagonals", false);
    s.residual[5] = 1e-3; /* the second diagonal is too long */
    compare("square with a diagonal that does not fit", true);
    /* a braced strip of 11 cells: one dependence per cell; then its rows in another order */
    double node[24][2];
    for (int i = 0; i < 24; i++)
        node[i][0] = i / 2 + 0.1 * uniform(), node[i][1] = i % 2 + 0.1 * uniform();
    for (int shuffle = 0; shuffle < 2; shuffle++) {
        taut_index order[56], row = 0;
        clear(48, 56);
        for (taut_index i = 0; i < 56; i++)
            order[i] = i;
        for (taut_index i = 55; shuffle && i > 0; i--) {
            taut_index k = below(i + 1), held = order[i];
            order[i] = order[k], order[k] = held;
        }
        for (taut_index i = 0; i < 12; i++)
            bar(order[row++], node, 2 * i, 2 * i + 1);
        for (taut_index i = 0; i < 11; i++)
            for (int k = 0; k < 4; k++)
                bar(order[row++], node, 2 * i + k / 2, 2 * i + 2 + k % 2);
        compare(shuffle ? "braced strip, shuffled" : "braced strip", false);
    }
}

static void random_rows(taut_index n, taut_index m, int length, int copies)
{
    clear(n, m);
    for (taut_index i = 0; i < m; i++)
        for (int c = 0; c < length; c++) {
            taut_index column = below(n);
            s.dense[i][column] = uniform();
        }
    for (int c = 0; c < copies; c++) { /* a row becomes a combination of three others */
        taut_index target = below(m), from[3];
        double factor[3];
        for (int k = 0; k < 3; k++) {
            from[k] = below(m);
            factor[k] = uniform();
        }
        if (target == from[0] || target == from[1] || target == from[2])
            continue;
        for (taut_index j = 0; j < n; j++)
            s.dense[target][j] = factor[0] * s.dense[from[0]][j] + factor[1] * s.dense[from[1]][j] +
                                 factor[2] * s.dense[from[2]][j];
    }
    for (taut_index j = 0; j < n; j++) { /* values that some displacement explains */
        double move = uniform();
        for (taut_index i = 0; i < m; i++)
            s.residual[i] += s.dense[i][j] * move;
    }
}

static void small_cases(void)
{
    char name[80];
    trusses();
    clear(6, 4);
    s.dense[0][0] = 1, s.dense[0][1] = 2, s.dense[1][2] = 1e-8, s.dense[2][0] = 3,
    s.dense[2][1] = 6, s.dense[3][5] = 1e9;
    compare("a repeated row, rows of very different length", false);
    s.residual[0] = 0.5, s.residual[2] = 1.5;
    compare("a repeated row that agrees", false);
    s.residual[2] = 1.6;
    compare("a repeated row that disagrees", true);
    clear(5, 3);
    s.dense[0][0] = s.dense[2][3] = 1;
    compare("a zero row", false);
    s.residual[1] = 1;
    compare("a zero row that cannot be satisfied", true);
    clear(2, 5);
    for (int i = 0; i < 5; i++)
        s.dense[i][0] = 1 + i, s.dense[i][1] = 1 + i * i;
    compare("more rows than columns", false);
    clear(4, 0);
    compare("no rows", false);
    clear(0, 3);
    compare("no columns", false);
    for (int k = 0; k < 40; k++) {
        random_rows(8 + 3 * k, 5 + 2 * k, 2 + k % 4, k / 2);
        snprintf(name, sizeof name, "random rows %d", k);
        compare(name, false);
        unsigned char dependent[ROWS];
        oracle(dependent);
        for (taut_index i = 0; i < s.m; i++)
            if (dependent[i]) {
                s.residual[i] += 1e-3;
                snprintf(name, sizeof name, "random rows %d, row %d disturbed", k, i);
                compare(name, true);
                break;
            }
    }
}

/* A long plane chain; some bonds repeat an earlier one with another factor. Rows are numbered by
 * `number`. */
static void long_chain(taut_index links, bool shuffle, taut_index copies)
{
    taut_index m = links + copies, rank = -1, wrong = 0;
    taut_index *start = malloc((size_t)(m + 1) * sizeof *start),
               *column = malloc((size_t)m * 4 * sizeof *column);
    taut_index *number = malloc((size_t)m * sizeof *number),
               *link = malloc((size_t)m * sizeof *link);
    taut_index *partner = malloc((size_t)m * sizeof *partner),
               *twin = malloc((size_t)m * sizeof *twin);
    unsigned char *marked = malloc((size_t)m);
    double *g = malloc((size_t)m * 4 * sizeof *g);
    for (taut_index i = 0; i < m; i++)
        number[i] = i;
    for (taut_index i = m - 1; shuffle && i > 0; i--) {
        taut_index k = below(i + 1), held = number[i];
        number[i] = number[k], number[k] = held;
    }
    for (taut_index i = 0; i < m; i++) /* link[row]; the extra rows repeat every so many links */
        link[number[i]] = i < links ? i : (taut_index)((int64_t)(i - links) * links / copies);
    for (taut_index i = 0; i < m; i++) {
        double angle = 0.001 * link[i], factor = 1 + (double)(i % 3);
        start[i] = 4 * i;
        for (int c = 0; c < 2; c++) {
            column[4 * i + c] = 2 * link[i] + c;
            g[4 * i + c] = factor * (c ? sin(angle) : cos(angle));
            column[4 * i + 2 + c] = link[i] ? 2 * link[i] - 2 + c : c;
            g[4 * i + 2 + c] = link[i] ? -g[4 * i + c] : 0;
        }
    }
    start[m] = 4 * m;
    taut_saddle_shape shape = {
        .n = 2 * links, .m = m, .g_start = start, .g_column = column, .symmetric = true};
    taut_error error;
    int status = taut_rank(&shape, g, 1e-10, NULL, &rank, marked, partner, NULL, NULL, &error);
    for (taut_index l = 0; l < m; l++)
        twin[l] = -1;
    /* the first row of a link is free, the second depends on it */
    for (taut_index i = 0; i < m; i++) {
        wrong += marked[i] != (twin[link[i]] >= 0) || partner[i] != twin[link[i]];
        if (twin[link[i]] < 0)
            twin[link[i]] = i;
    }
    check_row(status == 0 && rank == links && wrong == 0,
              "chain of %d links, %d copies%s: status %d, rank %d, %d rows wrong", links, copies,
              shuffle ? ", shuffled" : "", status, rank, wrong);
    free(start), free(column), free(number), free(link), free(partner), free(twin), free(marked),
        free(g);
}

/* A square net of w x w plane nodes; one bond more repeats another (half of it) when `extra`.
 * Its band is as wide as the net. */
static void wide_net(taut_index w, bool extra)
{
    taut_index m = 2 * w * (w - 1) + extra, rank = -1, row = 0,
               *partner = malloc((size_t)m * sizeof *partner);
    taut_index *start = malloc((size_t)(m + 1) * sizeof *start),
               *column = malloc((size_t)m * 4 * sizeof *column);
    double *g = malloc((size_t)m * 4 * sizeof *g);
    unsigned char *marked = malloc((size_t)m);
    for (taut_index i = 0; i < w * w; i++)
        for (int side = 0; side < 2; side++) {
            if (side ? i < w : i % w == 0)
                continue;
            double angle = (side ? 1.57 : 0) + 0.3 * uniform();
            for (int c = 0; c < 4; c++) {
                column[4 * row + c] = 2 * (c < 2 ? i : side ? i - w : i - 1) + c % 2;
                g[4 * row + c] = (c % 2 ? sin(angle) : cos(angle)) * (c < 2 ? 1 : -1);
            }
            row++;
        }
    for (int c = 0; c < 4 && extra; c++) {
        column[4 * row + c] = column[4 * (row / 2) + c];
        g[4 * row + c] = 0.5 * g[4 * (row / 2) + c];
    }
    for (taut_index i = 0; i <= m; i++)
        start[i] = 4 * i;
    taut_saddle_shape shape = {
        .n = 2 * w * w, .m = m, .g_start = start, .g_column = column, .symmetric = true};
    taut_error error;
    int status = taut_rank(&shape, g, 1e-10, NULL, &rank, marked, partner, NULL, NULL, &error);
    check_row(status == 0 && rank == m - extra, "net of %d x %d nodes%s: status %d, rank %d of %d",
              w, w, extra ? ", one bond more" : "", status, rank, m);
    check_row(!extra || (marked[m - 1] && partner[m - 1] == row / 2),
              "net: the bond more is marked %d, its partner is %d", marked[m - 1], partner[m - 1]);
    free(partner), free(start), free(column), free(g), free(marked);
}

/* Bonds between one hub and many ends; one repeats bond 5 when `extra`. */
static void star(taut_index ends, bool extra)
{
    taut_index m = ends + extra, rank = -1, *partner = malloc((size_t)m * sizeof *partner);
    taut_index *start = malloc((size_t)(m + 1) * sizeof *start),
               *column = malloc((size_t)m * 2 * sizeof *column);
    double *g = malloc((size_t)m * 2 * sizeof *g);
    unsigned char *marked = malloc((size_t)m);
    for (taut_index i = 0; i < m; i++) {
        start[i] = 2 * i;
        column[2 * i] = 0;
        column[2 * i + 1] = i < ends ? i + 1 : 6;
        g[2 * i] = i < ends ? 1.5 + uniform() : 3 * g[10];
        g[2 * i + 1] = i < ends ? 1.5 + uniform() : 3 * g[11];
    }
    start[m] = 2 * m;
    taut_saddle_shape shape = {
        .n = ends + 1, .m = m, .g_start = start, .g_column = column, .symmetric = true};
    taut_error error;
    int status = taut_rank(&shape, g, 1e-10, NULL, &rank, marked, partner, NULL, NULL, &error);
    check_row(status == 0 && rank == ends, "star of %d bonds: status %d, rank %d", m, status, rank);
    check_row(!extra || (marked[m - 1] && partner[m - 1] == 5),
              "star: the last bond is marked %d, its partner is %d", marked[m - 1], partner[m - 1]);
    free(partner), free(start), free(column), free(g), free(marked);
}

static void faults(void)
{
    taut_error error;
    taut_index rank;
    faulty c = {0};
    taut_allocator allocator = faulty_allocator(&c);
    random_rows(100, 80, 3, 12);
    compress();
    taut_saddle_shape shape = shape_of();
    int status = TAUT_ERROR_MEMORY, fail_at = 1;
    for (; fail_at < 200 && status; fail_at++) {
        c = (faulty){.fail = fail_at};
        status = taut_rank(&shape, s.g, 1e-9, NULL, &rank, NULL, NULL, NULL, &allocator, &error);
        check_row((status == 0 || status == TAUT_ERROR_MEMORY) && c.live == 0,
                  "allocation %d fails: status %d, %lld blocks left", fail_at, status,
                  (long long)c.live);
    }
    check_row(status == 0 && fail_at > 3, "succeeds after %d allocations", fail_at - 2);
    s.g[5] = NAN;
    check_equal("NaN in G",
                taut_rank(&shape, s.g, 1e-9, NULL, &rank, NULL, NULL, NULL, NULL, &error),
                TAUT_ERROR_EVALUATE);
}

int main(void)
{
    check_group("small");
    small_cases();
    check_group("large");
    for (int shuffle = 0; shuffle < 2; shuffle++) {
        long_chain(1000, shuffle, 0);
        long_chain(1000, shuffle, 1000);
        long_chain(100000, shuffle, 0);
        long_chain(100000, shuffle, 3);
        long_chain(20000, shuffle, 2000);
    }
    wide_net(30, false);
    wide_net(30, true);
    wide_net(120, false); /* wide enough to ask the sparse solver first */
    star(1100, false);
    star(1100, true);
    check_group("faults");
    faults();
    return check_done();
}
