/* collocation.c - Radau IIA: nodes and spectral data [Hairer, Wanner, Solving ODEs II, IV.5 and
 * IV.8]; and what follows from the data of any implicit method (implicit_tables.c has the others).
 *
 * The nodes are the zeros of P_s(2x-1) - P_{s-1}(2x-1); eigenvectors are scaled to 1 in the last
 * stage. Nodes and spectra were computed with 60 digits from these definitions; the rest is
 * formed here, and tests check simplifying assumptions and A right = mu right. */
#include "step/collocation.h"

#include <math.h>

#include "base/four.h"
#include "base/vectors.h"

enum { FEW = 24 };

/* clang-format off */
const taut_stage_data taut_radau_table[TAUT_STAGES_MAX] = {
    {.stages = 1, .blocks = 1, .c = {1}, .block = {
        {true, {1, 0}, {{1, 0}}, {{1, 0}}},
    }},
    {.stages = 2, .blocks = 1, .c = {0.3333333333333333333, 1}, .block = {
        {false, {0.3333333333333333333, 0.2357022603955158415}, {{0.1111111111111111111,
            0.3142696805273544553}, {1, 0}}, {{0, -1.59099025766973193}, {0.5,
            0.1767766952966368811}}},
    }},
    {.stages = 3, .blocks = 2, .c = {0.1550510257216821902, 0.6449489742783178098, 1}, .block = {
        {true, {0.2748888295956773677, 0}, {{0.09443876248897524149, 0}, {0.2502131229653333114,
            0}, {1, 0}}, {{4.178718591551904727, 0}, {0.3276828207610623871, 0},
            {0.523376445499449548, 0}}},
        {false, {0.1625555852021613161, 0.1849493244071407843}, {{-0.1412552950209542084,
            -0.03002919410514742449}, {0.204129352293799932, 0.3829421127572619378}, {1, 0}},
            {{-2.089359295775952364, 0.251436317472893438}, {-0.1638414103805311935,
            -1.285963474927802715}, {0.238311777250275226, 0.2980196024141124625}}},
    }},
    {.stages = 4, .blocks = 2, .c = {0.0885879595127039474, 0.4094668644407347109,
        0.787659461760847056, 1}, .block = {
        {false, {0.188663803379153952, 0.06177441689689081716}, {{-0.01178089927329709192,
            0.03545032992850723496}, {0.04634447901554471411, 0.03220730760558414029},
            {0.3368476074591732347, 0.126066621174752734}, {1, 0}}, {{-0.890165444061038661,
            -8.980653283748198383}, {1.831124813666583548, -2.694543490199012835},
            {-0.2174956479324504713, -0.7523711366916993195}, {0.4779134137039615396,
            0.2725114598096959728}}},
        {false, {0.09705048233513176226, 0.1441824711215367964}, {{0.0643812193421983361,
            -0.04521623600114014787}, {-0.195002019845278749, 0.02955378669779881555},
            {0.292099820613238915, 0.4338781205782136703}, {1, 0}}, {{0.890165444061038661,
            2.517591070091107378}, {-1.831124813666583548, 0.9717723855403826521},
            {0.2174956479324504713, -0.9562214413314245827}, {0.02208658629603846035,
            0.3067241065921860404}}},
    }},
    {.stages = 5, .blocks = 3, .c = {0.05710419611451768219, 0.2768430136381238277,
        0.5835904323689168201, 0.8602401356562194478, 1}, .block = {
        {true, {0.1590658444274691205, 0}, {{0.01357686734494794325, 0}, {0.001617900401719087476,
            0}, {0.07915785334744720764, 0}, {0.412256082680461452, 0}, {1, 0}},
            {{27.69769377568408841, 0}, {12.78333791130440602, 0}, {3.20848938671342986, 0},
            {-0.9514904122489162213, 0}, {0.7415504960259896034, 0}}},
        {false, {0.1331790770182995989, 0.07499451183581852292}, {{-0.01147851525522951471,
            -0.01401985889287541028}, {-0.007668830749180162885, 0.02470857842651852681},
            {0.01939846399882895091, 0.08180035370375117084}, {0.4076011712801990666,
            0.1996824278868025259}, {1, 0}}, {{-16.5209401067595, 4.305721989937645989},
            {-8.68847673953178351, -4.849995704764404116}, {-0.08606453162700278058,
            -0.9573643198484371424}, {-0.04958488899127132129, -1.209346003042470013},
            {0.2656140579191533336, 0.5237317439676687093}}},
        {false, {0.06506577854574361859, 0.1164685277403170757}, {{-0.01024204781790882707,
            0.04767387729029572386}, {0.05017286451737105816, -0.09433181918161143698},
            {-0.2305395340434179467, 0.1027030453801258998}, {0.3778939022488612495,
            0.4667441303324943593}, {1, 0}}, {{2.672093218917455799, -1.87402990371990243},
            {2.296807783879580502, 1.992482868171942334}, {-1.518180161729712149,
            0.5222078208040093965}, {0.5253300951157294319, -0.5920492840689742436},
            {-0.1363893059321481353, 0.2249588850783901844}}},
    }},
};
/* clang-format on */

/* The stages that the polynomials go through: all, or the first and the last. */
static bool is_node(const taut_collocation *x, int i)
{
    return !x->triangular || i == 0 || i == x->stages - 1;
}

/* Coefficients of the Lagrange polynomials, a factor (theta - c_j)/(c_i - c_j) at a time. */
static void form_basis(taut_collocation *to)
{
    for (int i = 0; i < to->stages; i++) {
        if (!is_node(to, i))
            continue;
        to->node[to->nodes++] = to->c[i];
        double *p = to->basis[i];
        p[0] = 1;
        int degree = 0;
        for (int j = 0; j < to->stages; j++) {
            if (j == i || !is_node(to, j))
                continue;
            double scale = 1 / (to->c[i] - to->c[j]);
            for (int k = ++degree; k >= 0; k--)
                p[k] = scale * ((k > 0 ? p[k - 1] : 0) - (k < degree ? to->c[j] * p[k] : 0));
        }
    }
}

static void form_spectrum(const taut_stage_data *data, taut_collocation *to)
{
    for (int b = 0; b < data->blocks; b++) {
        const taut_spectral *from = &data->block[b];
        to->real[b] = from->real;
        to->mu[b] = from->mu[0] + from->mu[1] * I;
        for (int i = 0; i < data->stages; i++) {
            to->right[b][i] = from->right[i][0] + from->right[i][1] * I;
            to->left[b][i] = from->left[i][0] + from->left[i][1] * I;
        }
    }
    to->gamma = cabs(to->mu[0]);
    for (int b = 0, row = 0; b < data->blocks; row += to->real[b] ? 1 : 2, b++)
        for (int i = 0; i < data->stages; i++) {
            to->apart[row][i] = creal(to->left[b][i]);
            to->together[i][row] = (to->real[b] ? 1 : 2) * creal(to->right[b][i]);
            if (to->real[b])
                continue;
            to->apart[row + 1][i] = cimag(to->left[b][i]);
            to->together[i][row + 1] = -2 * cimag(to->right[b][i]);
        }
}

static void multiply(int s, double x[TAUT_STAGES_MAX][TAUT_STAGES_MAX],
                     double product[TAUT_STAGES_MAX][TAUT_STAGES_MAX])
{
    for (int i = 0; i < s; i++)
        for (int j = 0; j < s; j++)
            for (int k = 0; k < s; k++)
                product[i][j] += x[i][k] * x[k][j];
}

static void invert(taut_collocation *to)
{
    for (int i = 0; i < to->stages; i++)
        for (int j = 0; j < to->stages; j++)
            if (to->triangular) { /* forward substitution */
                double sum = i == j;
                for (int k = j; k < i; k++)
                    sum -= to->a[i][k] * to->inverse[k][j];
                to->inverse[i][j] = j <= i ? sum / to->a[i][i] : 0;
            } else
                for (int b = 0; b < to->blocks; b++)
                    to->inverse[i][j] +=
                        (to->real[b] ? 1 : 2) * creal(to->right[b][i] * to->left[b][j] / to->mu[b]);
}

/* The end of the step, and what an explicit first stage adds. */
static void form_ends(const taut_stage_data *data, taut_collocation *to)
{
    int last = to->stages - 1;
    to->ends = data->c[last] == 1;
    to->begins = data->early != NULL;
    to->dense = !data->a;
    taut_collocation_weights(to, 1, 1, to->b);
    for (int j = 0; j <= last; j++) {
        if (to->ends)
            to->b[j] = to->a[last][j];
        to->early[j] = to->begins ? data->early[j] : 0;
        for (int i = 0; i <= last; i++) {
            to->b_square[j] += to->b[i] * to->a[i][j];
            to->early_square[i] += to->begins ? to->a[i][j] * data->early[j] : 0;
        }
        if (to->ends)
            to->b_square[j] = to->square[last][j];
    }
}

/* In units of gamma: the estimate multiplies by h gamma. */
static void form_comparison(const taut_stage_data *data, taut_collocation *to)
{
    to->compare_start = !data->error;
    to->compare_early = data->early_error / to->gamma;
    taut_collocation_weights(to, 0, 0, to->compare);
    for (int j = 0; data->error && j < to->stages; j++)
        to->compare[j] = data->error[j] / to->gamma;
}

void taut_collocation_make(const taut_stage_data *data, taut_collocation *to)
{
    int stages = data->stages;
    *to = (taut_collocation){
        .stages = stages, .blocks = data->blocks, .c = data->c, .triangular = data->triangular};
    form_basis(to);
    form_spectrum(data, to);
    for (int i = 0; i < stages; i++)
        taut_collocation_weights(to, data->c[i], 1, to->a[i]);
    for (int i = 0; data->a && i < stages; i++)
        for (int j = 0; j < stages; j++)
            to->a[i][j] = data->a[i * stages + j];
    invert(to);
    multiply(stages, to->a, to->square);
    multiply(stages, to->inverse, to->inverse_square);
    form_ends(data, to);
    form_comparison(data, to);
}

void taut_collocation_weights(const taut_collocation *from, double theta, int integrals,
                              double *weight)
{
    for (int i = 0; i < from->stages; i++) {
        double sum = 0;
        for (int k = from->stages - 1; k >= 0; k--) {
            double divisor = integrals == 0 ? 1 : integrals == 1 ? k + 1 : (k + 1.0) * (k + 2);
            sum = sum * theta + from->basis[i][k] / divisor;
        }
        weight[i] = sum * (integrals == 0 ? 1 : integrals == 1 ? theta : theta * theta);
    }
}

double taut_collocation_miss(const taut_collocation *x, double from, double length, int integrals)
{
    /* in powers of u = x - from: the factors are u + from - c_i */
    double p[TAUT_STAGES_MAX + 1] = {1}, sum = 0;
    for (int i = 0; i < x->nodes; i++)
        for (int k = i + 1; k >= 0; k--)
            p[k] = (k > 0 ? p[k - 1] : 0) + (from - x->node[i]) * (k <= i ? p[k] : 0);
    for (int k = x->nodes; k >= 0; k--)
        sum = sum * length + p[k] / (integrals == 1 ? k + 1 : (k + 1.0) * (k + 2));
    return sum * (integrals == 1 ? length : length * length);
}

double taut_collocation_between(const taut_collocation *x, int integrals)
{
    double largest = 0;
    for (int k = 1; k < 64; k++)
        largest = fmax(largest, fabs(taut_collocation_miss(x, 0, k / 64.0, integrals)));
    return largest;
}

/* Small systems: the loops of taut_combine are made for long vectors. */
TAUT_INLINED void combine_few(int32_t size, int count, const double *weight, double *const *term,
                              double scale, const double *base, double *to)
{
    for (int32_t k = 0; k < size; k++) {
        double sum = 0;
        for (int j = 0; j < count; j++)
            sum += weight[j] * term[j][k];
        to[k] = (base ? base[k] : 0) + scale * sum;
    }
}

/* Long vectors of three terms, or four with a base, in one pass. */
TAUT_HOT static void combine_four(int64_t size, const double *weight, const double *const *term,
                                  double scale, const double *base, double *restrict to)
{
    const double *a = term[0], *b = term[1], *c = term[2], *d = term[3];
    const double p = weight[0], q = weight[1], r = weight[2], s = weight[3];
    if (d && base) {
        TAUT_UNROLLED
        for (int64_t k = 0; k < size; k++)
            to[k] = base[k] + scale * ((p * a[k] + q * b[k]) + (r * c[k] + s * d[k]));
    } else if (base) {
        TAUT_UNROLLED
        for (int64_t k = 0; k < size; k++)
            to[k] = base[k] + scale * ((p * a[k] + q * b[k]) + r * c[k]);
    } else {
        TAUT_UNROLLED
        for (int64_t k = 0; k < size; k++)
            to[k] = scale * ((p * a[k] + q * b[k]) + r * c[k]);
    }
}

/* `to` is none of the terms. */
TAUT_INLINED void combine(int32_t size, int count, const double *weight, double *const *term,
                          double scale, const double *base, double *to)
{
    double all[4] = {0};
    const double *from[4] = {NULL};
    bool one_pass = count == 3 || (count == 4 && base);
    for (int j = 0; one_pass && j < count; j++) {
        all[j] = weight[j];
        from[j] = term[j];
    }
    if (size < FEW)
        combine_few(size, count, weight, term, scale, base, to);
    else if (one_pass)
        combine_four(size, all, from, scale, base, to);
    else
        taut_combine(size, count, weight, term, scale, base, to);
}

void taut_collocation_row(const taut_collocation *x, const double *row, double scale, int32_t size,
                          double *from, double *to)
{
    double *term[TAUT_STAGES_MAX];
    for (int j = 0; j < x->stages; j++)
        term[j] = from + (int64_t)j * size;
    combine(size, x->stages, row, term, scale, NULL, to);
}

void taut_collocation_combine(const taut_collocation *x, const double *matrix, double scale,
                              int32_t size, const double *base, double along, double *extra,
                              double *from, double *to)
{
    double *term[TAUT_STAGES_MAX + 1];
    for (int j = 0; j < x->stages; j++)
        term[j] = from + (int64_t)j * size;
    term[x->stages] = extra;
    for (int i = 0; i < x->stages; i++) {
        double weight[TAUT_STAGES_MAX + 1];
        for (int j = 0; j < x->stages; j++)
            weight[j] = matrix[i * TAUT_STAGES_MAX + j];
        weight[x->stages] = x->c[i] * (along / scale);
        combine(size, x->stages + (extra != NULL), weight, term, scale, base,
                to + (int64_t)i * size);
    }
}

void taut_collocation_extend(const taut_collocation *x, double ratio, int32_t size, double *from,
                             double *to)
{
    double weight[TAUT_STAGES_MAX][TAUT_STAGES_MAX];
    for (int i = 0; i < x->stages; i++)
        taut_collocation_weights(x, 1 + x->c[i] * ratio, 0, weight[i]);
    taut_collocation_combine(x, weight[0], 1, size, NULL, 0, NULL, from, to);
}

/* x <- matrix x over the stages, in place by blocks. */
static void turn(const taut_collocation *x, const double (*matrix)[TAUT_STAGES_MAX], int32_t size,
                 double *values)
{
    enum { BLOCK = 256 };
    double room[TAUT_STAGES_MAX][BLOCK], *term[TAUT_STAGES_MAX];
    for (int32_t k = 0; size < FEW && k < size; k++) {
        double old[TAUT_STAGES_MAX];
        for (int j = 0; j < x->stages; j++)
            old[j] = values[j * size + k];
        for (int i = 0; i < x->stages; i++) {
            double sum = 0;
            for (int j = 0; j < x->stages; j++)
                sum += matrix[i][j] * old[j];
            values[i * size + k] = sum;
        }
    }
    if (size < FEW)
        return;
    for (int32_t begin = 0; begin < size; begin += BLOCK) {
        const int32_t count = size - begin < BLOCK ? size - begin : BLOCK;
        for (int j = 0; j < x->stages; j++)
            term[j] = values + (int64_t)j * size + begin;
        for (int i = 0; i < x->stages; i++)
            combine(count, x->stages, matrix[i], term, 1, NULL, room[i]);
        for (int i = 0; i < x->stages; i++)
            taut_copy(count, room[i], term[i]);
    }
}

void taut_collocation_split(const taut_collocation *x, int32_t size, double *values)
{
    turn(x, x->apart, size, values);
}

void taut_collocation_join(const taut_collocation *x, int32_t size, double *values)
{
    turn(x, x->together, size, values);
}
