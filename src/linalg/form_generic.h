/* form_generic.h - scaling, assembly and right-hand sides over SCALAR (scalar_real.h,
 * scalar_complex.h). Included by form.c. */

/* Values of loops that threads share. */
typedef struct NAME(work) {
    const taut_form *form;
    const taut_saddle_values *values;
    SCALAR *x;
    const SCALAR *y;
} NAME(work);

static double NAME(load_rows)(void *context, int64_t begin, int64_t end)
{
    const NAME(work) *w = context;
    const taut_saddle_shape *shape = &w->form->shape;
    const SCALAR *g1 = w->values->g1, *g2 = w->values->g2, *d = w->values->d,
                 *k_inverse = w->form->k_inverse;
    SCALAR *kept1 = w->form->g1, *kept2 = w->form->g2;
    for (taut_index i = (taut_index)begin; i < end; i++) {
        double size = d ? MAGNITUDE(d[i]) : 0;
        for (taut_index e = shape->g_start[i]; e < shape->g_start[i + 1]; e++)
            size += MAGNITUDE(g1[e]) * MAGNITUDE(g2[e]) * MAGNITUDE(k_inverse[shape->g_column[e]]);
        double scale = w->form->scale[i] = inverse_root(size);
        for (taut_index e = shape->g_start[i]; e < shape->g_start[i + 1]; e++)
            kept1[e] = g1[e] * scale;
        if (kept2 != kept1)
            for (taut_index e = shape->g_start[i]; e < shape->g_start[i + 1]; e++)
                kept2[e] = g2[e] * scale;
    }
    return 0;
}

/* Schur: the scale of bond i makes A_ii + d_i about 1; K is inverted, G is kept scaled. */
static int NAME(load_schur)(taut_form *form, const taut_saddle_values *values, taut_error *error)
{
    const taut_saddle_shape *shape = &form->shape;
    const SCALAR *k = values->k;
    SCALAR *k_inverse = form->k_inverse;
    for (taut_index j = 0; j < shape->n; j++) {
        if (!(MAGNITUDE(k[j]) > 0))
            return taut_form_no_mass(j, error);
        k_inverse[j] = 1.0 / k[j];
    }
    NAME(work) w = {form, values, NULL, NULL};
    taut_pool_loop(shape->pool, shape->m, NAME(load_rows), &w);
    return 0;
}

static void NAME(assemble_schur)(const taut_form *form, const taut_saddle_values *values,
                                 SCALAR *matrix)
{
    const taut_columns *columns = &form->columns;
    const SCALAR *k_inverse = form->k_inverse, *g1 = form->g1, *g2 = form->g2, *d = values->d;
    SCALAR *origin = matrix + form->offset;
    /* every pair of entries in a column of G contributes g2_i g1_j / k */
    for (taut_index c = 0; c < form->shape.n; c++)
        for (taut_index a = columns->start[c]; a < columns->start[c + 1]; a++) {
            taut_index i = columns->row[a];
            SCALAR left = TIMES(g2[columns->entry[a]], k_inverse[c]);
            for (taut_index b = columns->start[c]; b < columns->start[c + 1]; b++) {
                taut_index j = columns->row[b];
                if (i >= j || !form->lower)
                    origin[i + j * form->step] += TIMES(left, g1[columns->entry[b]]);
            }
        }
    if (d)
        for (taut_index i = 0; i < form->shape.m; i++)
            origin[form->place[i] * (form->step + 1)] += d[i] * (form->scale[i] * form->scale[i]);
}

/* Whole: coordinates by the size of their row of K; bonds by that of G scaled so far and d;
 * massless coordinates by their bonds. */
TAUT_INLINED void NAME(scale_whole)(taut_form *form, const taut_saddle_values *values,
                                    const taut_saddle_sum *sum)
{
    const taut_saddle_shape *shape = &form->shape;
    const taut_index n = shape->n, m = shape->m;
    const void *g1 = values->g1, *g2 = values->g2;
    double *x = form->scale, *y = form->scale + n;
    for (taut_index i = 0; i < n; i++) {
        double size = 0;
        taut_index first = shape->k_start ? shape->k_start[i] : i,
                   end = shape->k_start ? shape->k_start[i + 1] : i + 1;
        for (taut_index e = first; e < end; e++)
            size =
                larger(size, MAGNITUDE(NAME(entry_of_k)(
                                 values, sum, e, i, !shape->k_start || shape->k_column[e] == i)));
        x[i] = size > 0 ? inverse_root(size) : 0;
    }
    for (taut_index i = 0; i < m; i++) {
        double size = values->d ? MAGNITUDE(NAME(entry_of_d)(values, sum, i)) : 0, alone = 0;
        for (taut_index e = shape->g_start[i]; e < shape->g_start[i + 1]; e++) {
            double entry = larger(MAGNITUDE(NAME(entry_of_g)(sum, g1, e)),
                                  MAGNITUDE(NAME(entry_of_g)(sum, g2, e))),
                   scaled = entry * x[shape->g_column[e]];
            size = larger(size, scaled * scaled);
            alone = larger(alone, entry * entry);
        }
        y[i] = inverse_root(size > 0 ? size : alone);
    }
    for (taut_index i = 0; i < m; i++)
        for (taut_index e = shape->g_start[i]; e < shape->g_start[i + 1]; e++) {
            double entry = larger(MAGNITUDE(NAME(entry_of_g)(sum, g1, e)),
                                  MAGNITUDE(NAME(entry_of_g)(sum, g2, e))) *
                           y[i],
                   *scale = &x[shape->g_column[e]];
            if (*scale <= 0 && entry > 0) /* negative: found here, the least so far */
                *scale = larger(*scale < 0 ? *scale : -HUGE_VAL, -1 / entry);
        }
    for (taut_index i = 0; i < n; i++)
        x[i] = x[i] > 0 ? x[i] : x[i] < 0 ? inverse_root(1 / (x[i] * x[i])) : 1;
}

static void NAME(load_whole)(taut_form *form, const taut_saddle_values *values)
{
    if (!values->sum) {
        NAME(scale_whole)(form, values, NULL);
        return;
    }
    const taut_saddle_sum sum = *values->sum; /* which stores cannot alter */
    NAME(scale_whole)(form, values, &sum);
}

TAUT_INLINED void NAME(add_whole)(const taut_form *form, const taut_saddle_values *values,
                                  const taut_saddle_sum *sum, SCALAR *matrix)
{
    const taut_saddle_shape *shape = &form->shape;
    const taut_index n = shape->n, *place = form->place;
    const double *scale = form->scale;
    SCALAR *origin = matrix + form->offset;
    for (taut_index i = 0; i < n; i++) {
        taut_index first = shape->k_start ? shape->k_start[i] : i,
                   end = shape->k_start ? shape->k_start[i + 1] : i + 1;
        for (taut_index e = first; e < end; e++) {
            taut_index j = shape->k_start ? shape->k_column[e] : i;
            if (place[i] >= place[j] || !form->lower)
                origin[place[i] + place[j] * form->step] +=
                    NAME(entry_of_k)(values, sum, e, i, i == j) * (scale[i] * scale[j]);
        }
    }
    for (taut_index i = 0; i < shape->m; i++) {
        int64_t row = place[n + i];
        for (taut_index e = shape->g_start[i]; e < shape->g_start[i + 1]; e++) {
            taut_index j = shape->g_column[e];
            double both = scale[n + i] * scale[j];
            if (place[j] >= row || !form->lower)
                origin[place[j] + row * form->step] += NAME(entry_of_g)(sum, values->g1, e) * both;
            if (place[j] <= row || !form->lower)
                origin[row + place[j] * form->step] += NAME(entry_of_g)(sum, values->g2, e) * both;
        }
        if (values->d)
            origin[row * (form->step + 1)] -=
                NAME(entry_of_d)(values, sum, i) * (scale[n + i] * scale[n + i]);
    }
}

static void NAME(assemble_whole)(const taut_form *form, const taut_saddle_values *values,
                                 SCALAR *matrix)
{
    if (!values->sum) {
        NAME(add_whole)(form, values, NULL, matrix);
        return;
    }
    const taut_saddle_sum sum = *values->sum;
    NAME(add_whole)(form, values, &sum, matrix);
}

static double NAME(before_rows)(void *context, int64_t begin, int64_t end)
{
    const NAME(work) *w = context;
    const taut_saddle_shape *shape = &w->form->shape;
    const SCALAR *k_inverse = w->form->k_inverse, *g2 = w->form->g2;
    SCALAR *vector = w->form->vector;
    for (taut_index i = (taut_index)begin; i < end; i++) {
        SCALAR sum = -w->y[i] * w->form->scale[i];
        for (taut_index e = shape->g_start[i]; e < shape->g_start[i + 1]; e++) {
            taut_index j = shape->g_column[e];
            sum += TIMES(g2[e], TIMES(k_inverse[j], w->x[j]));
        }
        vector[w->form->place[i]] = sum;
    }
    return 0;
}

/* By columns of G: each coordinate is written once. */
static double NAME(after_columns)(void *context, int64_t begin, int64_t end)
{
    const NAME(work) *w = context;
    const SCALAR *vector = w->form->vector, *g1 = w->form->g1, *k_inverse = w->form->k_inverse;
    const taut_columns *columns = &w->form->columns;
    for (taut_index j = (taut_index)begin; j < end; j++) {
        SCALAR x = w->x[j];
        for (taut_index e = columns->start[j]; e < columns->start[j + 1]; e++)
            x -= TIMES(g1[columns->entry[e]], vector[columns->row[e]]);
        w->x[j] = TIMES(k_inverse[j], x);
    }
    return 0;
}

static void NAME(before)(taut_form *form, const SCALAR *x, const SCALAR *y)
{
    const taut_saddle_shape *shape = &form->shape;
    SCALAR *vector = form->vector;
    if (!form->schur) {
        for (taut_index j = 0; j < shape->n; j++)
            vector[form->place[j]] = x[j] * form->scale[j];
        for (taut_index i = 0; i < shape->m; i++)
            vector[form->place[shape->n + i]] = y[i] * form->scale[shape->n + i];
        return;
    }
    /* x is only read */
    NAME(work) w = {form, NULL, (SCALAR *)(uintptr_t)x, y};
    taut_pool_loop(shape->pool, shape->m, NAME(before_rows), &w);
}

static void NAME(after)(taut_form *form, SCALAR *x, SCALAR *y)
{
    const taut_saddle_shape *shape = &form->shape;
    const SCALAR *vector = form->vector;
    if (!form->schur) {
        for (taut_index j = 0; j < shape->n; j++)
            x[j] = vector[form->place[j]] * form->scale[j];
        for (taut_index i = 0; i < shape->m; i++)
            y[i] = vector[form->place[shape->n + i]] * form->scale[shape->n + i];
        return;
    }
    for (taut_index i = 0; i < shape->m; i++)
        y[i] = vector[form->place[i]] * form->scale[i];
    NAME(work) w = {form, NULL, x, NULL};
    taut_pool_loop(shape->pool, shape->n, NAME(after_columns), &w);
}

static bool NAME(all_finite)(int64_t count, const SCALAR *values)
{
    double sum = 0;
    for (int64_t k = 0; values && k < count; k++)
        sum += 0 * MAGNITUDE(values[k]); /* NaN as soon as one value is infinite or NaN */
    return sum == 0;
}
