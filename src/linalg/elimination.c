/* elimination.c - see elimination.h. Elements 0 .. cliques-1 are the coordinates, coordinates of a
 * point, which have the same bonds, once; element cliques + k is made by elimination k. Elements
 * are stored in the order of their numbers, so that lists are compacted by one walk. */
#include "linalg/elimination.h"

#include <stdlib.h>
#include <string.h>

typedef struct quotient {
    taut_index rows, cliques, elements;
    /* by bond; a bond stands for `weight` bonds, linked by `same`; 0: it is in another one */
    taut_index *weight, *same, *last;
    taut_index *degree, *head, *next, *before; /* lists of equal degree */
    taut_index *bag, *follow;                  /* of equal hash */
    int64_t *of;                               /* bonds: element[of .. of + many - 1] */
    taut_index *many, *element;
    /* by element */
    int64_t *list;
    taut_index *count, *total; /* entries, with dead ones; bonds */
    taut_index *up;            /* the element that took it in, or -1 */
    bool *dead;
    int64_t *outside; /* bonds that are not in the new element, from `tag` on */
    int64_t tag;
    taut_index *bond; /* lists of elements */
    int64_t used, room;
    taut_index *pivots, *border; /* of eliminations */
    taut_index *pivot;           /* their first bond */
    taut_index made, left, least;
} quotient;

/* ---- the cliques */

static bool same_column(const taut_columns *g, taut_index j)
{
    const taut_index a = g->start[j - 1], b = g->start[j], n = b - a;
    return g->start[j + 1] - b == n &&
           memcmp(g->row + a, g->row + b, (size_t)n * sizeof *g->row) == 0;
}

static bool is_clique(const taut_columns *g, taut_index j)
{
    return g->start[j + 1] > g->start[j] && (j == 0 || !same_column(g, j));
}

static int reserve(quotient *q, int64_t entries, taut_arena *arena, taut_error *error)
{
    taut_index **bonds[] = {&q->weight, &q->same,   &q->last, &q->degree, &q->head,
                            &q->next,   &q->before, &q->bag,  &q->follow, &q->many,
                            &q->pivots, &q->border, &q->pivot};
    const int64_t rows = q->rows, elements = (int64_t)q->cliques + rows;
    for (size_t k = 0; k < sizeof bonds / sizeof bonds[0]; k++)
        *bonds[k] = TAUT_NEW(arena, taut_index, rows + 1);
    q->of = TAUT_NEW(arena, int64_t, rows + 1);
    q->element = TAUT_NEW(arena, taut_index, entries);
    q->list = TAUT_NEW(arena, int64_t, elements);
    q->count = TAUT_NEW(arena, taut_index, elements);
    q->total = TAUT_NEW(arena, taut_index, elements);
    q->up = TAUT_NEW(arena, taut_index, elements);
    q->dead = TAUT_NEW(arena, bool, elements);
    q->outside = TAUT_NEW(arena, int64_t, elements);
    q->room = 2 * entries + rows;
    q->bond = TAUT_NEW(arena, taut_index, q->room);
    return taut_arena_check(arena, error);
}

static void begin(quotient *q, taut_index columns, const taut_columns *g)
{
    for (taut_index j = 0; j < columns; j++) {
        if (!is_clique(g, j))
            continue;
        const taut_index e = q->elements++;
        q->list[e] = q->used;
        q->up[e] = -1;
        for (taut_index k = g->start[j]; k < g->start[j + 1]; k++)
            if (k == g->start[j] || g->row[k] != g->row[k - 1]) {
                q->bond[q->used++] = g->row[k];
                q->many[g->row[k]]++;
            }
        q->count[e] = q->total[e] = (taut_index)(q->used - q->list[e]);
    }
    for (taut_index i = 0; i < q->rows; i++) {
        q->of[i + 1] = q->of[i] + q->many[i];
        q->many[i] = 0;
        q->weight[i] = 1;
        q->same[i] = -1;
        q->last[i] = i;
    }
    for (taut_index e = 0; e < q->elements; e++)
        for (taut_index k = 0; k < q->count[e]; k++) {
            const taut_index i = q->bond[q->list[e] + k];
            q->element[q->of[i] + q->many[i]++] = e;
            q->degree[i] += q->total[e] - 1;
        }
}

/* ---- lists of bonds of equal degree */

static void insert(quotient *q, taut_index i, int64_t degree)
{
    const taut_index most = q->left - abs(q->weight[i]),
                     d = degree < most ? (taut_index)degree : most, first = q->head[d];
    q->degree[i] = d;
    q->next[i] = first;
    q->before[i] = -1;
    if (first >= 0)
        q->before[first] = i;
    q->head[d] = i;
    if (d < q->least)
        q->least = d;
}

static void extract(quotient *q, taut_index i)
{
    if (q->next[i] >= 0)
        q->before[q->next[i]] = q->before[i];
    if (q->before[i] >= 0)
        q->next[q->before[i]] = q->next[i];
    else
        q->head[q->degree[i]] = q->next[i];
}

/* ---- one elimination */

/* i follows p wherever it goes. */
static void join(quotient *q, taut_index p, taut_index i)
{
    q->same[q->last[p]] = i;
    q->last[p] = q->last[i];
    q->weight[i] = 0;
}

/* Moves the lists of living elements together. */
static void compact(quotient *q)
{
    q->used = 0;
    for (taut_index e = 0; e < q->elements; e++) {
        if (q->dead[e])
            continue;
        int64_t to = q->used;
        for (taut_index k = 0; k < q->count[e]; k++) {
            const taut_index i = q->bond[q->list[e] + k];
            if (q->weight[i] != 0)
                q->bond[to++] = i;
        }
        q->list[e] = q->used;
        q->count[e] = (taut_index)(to - q->used);
        q->used = to;
    }
}

/* The bonds that p meets become the new element; their weights are negative meanwhile. */
static taut_index collect(quotient *q, taut_index p)
{
    int64_t most = 0;
    for (taut_index k = 0; k < q->many[p]; k++)
        most += q->count[q->element[q->of[p] + k]];
    if (q->used + most > q->room)
        compact(q);
    const taut_index e = q->elements++;
    q->list[e] = q->used;
    q->up[e] = -1;
    q->total[e] = 0;
    q->weight[p] = -q->weight[p];
    for (taut_index k = 0; k < q->many[p]; k++) {
        const taut_index from = q->element[q->of[p] + k];
        for (taut_index l = 0; l < q->count[from]; l++) {
            const taut_index i = q->bond[q->list[from] + l];
            if (q->weight[i] <= 0)
                continue;
            extract(q, i);
            q->bond[q->used++] = i;
            q->total[e] += q->weight[i];
            q->weight[i] = -q->weight[i];
        }
        q->dead[from] = true;
        q->up[from] = e;
    }
    q->count[e] = (taut_index)(q->used - q->list[e]);
    return e;
}

/* How many bonds of each other element are outside the new one. */
static void measure(quotient *q, taut_index e)
{
    q->tag += (int64_t)q->rows + 1;
    for (taut_index l = 0; l < q->count[e]; l++) {
        const taut_index i = q->bond[q->list[e] + l];
        for (taut_index k = 0; k < q->many[i]; k++) {
            const taut_index x = q->element[q->of[i] + k];
            if (q->dead[x])
                continue;
            if (q->outside[x] < q->tag)
                q->outside[x] = q->tag + q->total[x];
            q->outside[x] += q->weight[i]; /* negative */
        }
    }
}

/* The elements of i are those outside and the new one; returns the bonds that only they bring. */
static int64_t renew(quotient *q, taut_index i, taut_index e, uint64_t *hash)
{
    taut_index kept = 0, *element = q->element + q->of[i];
    int64_t sum = 0;
    *hash = 0;
    for (taut_index k = 0; k < q->many[i]; k++) {
        const taut_index x = element[k];
        if (!q->dead[x] && q->outside[x] == q->tag) {
            q->dead[x] = true;
            q->up[x] = e;
        }
        if (q->dead[x])
            continue;
        sum += q->outside[x] - q->tag;
        *hash += (uint64_t)x;
        element[kept++] = x;
    }
    element[kept++] = e;
    q->many[i] = kept;
    return sum;
}

static bool alike(const quotient *q, taut_index i, taut_index j)
{
    return q->many[i] == q->many[j] && memcmp(q->element + q->of[i], q->element + q->of[j],
                                              (size_t)q->many[i] * sizeof *q->element) == 0;
}

/* Joins i to a bond of the same elements, or keeps it in the bag of its hash. */
static void find_alike(quotient *q, taut_index i, taut_index bag)
{
    for (taut_index j = q->bag[bag]; j >= 0; j = q->follow[j])
        if (alike(q, i, j)) {
            q->weight[j] += q->weight[i];
            join(q, j, i);
            return;
        }
    q->follow[i] = q->bag[bag];
    q->bag[bag] = i;
}

/* Bonds that meet nothing else are eliminated with p. */
static void update(quotient *q, taut_index p, taut_index e)
{
    for (taut_index l = 0; l < q->count[e]; l++) {
        const taut_index i = q->bond[q->list[e] + l];
        uint64_t hash;
        const int64_t more = renew(q, i, e, &hash);
        if (q->many[i] == 1) {
            q->total[e] += q->weight[i];
            q->weight[p] += q->weight[i];
            join(q, p, i);
            continue;
        }
        q->degree[i] = more < q->degree[i] ? (taut_index)more : q->degree[i];
        q->before[i] = (taut_index)(hash % (uint64_t)q->rows);
        find_alike(q, i, q->before[i]);
    }
    for (taut_index l = 0; l < q->count[e]; l++) {
        const taut_index i = q->bond[q->list[e] + l];
        if (q->weight[i] != 0)
            q->bag[q->before[i]] = -1;
    }
}

static void finish(quotient *q, taut_index p, taut_index e)
{
    int64_t to = q->list[e];
    q->left += q->weight[p]; /* negative */
    for (taut_index l = 0; l < q->count[e]; l++) {
        const taut_index i = q->bond[q->list[e] + l];
        if (q->weight[i] == 0)
            continue;
        q->weight[i] = -q->weight[i];
        insert(q, i, (int64_t)q->degree[i] + q->total[e] - q->weight[i]);
        q->bond[to++] = i;
    }
    q->count[e] = (taut_index)(to - q->list[e]);
    q->used = to;
    q->pivots[q->made] = -q->weight[p];
    q->border[q->made] = q->total[e];
    q->pivot[q->made++] = p;
    q->weight[p] = 0;
}

static void eliminate(quotient *q)
{
    q->left = q->least = q->rows;
    for (taut_index i = 0; i <= q->rows; i++)
        q->head[i] = q->bag[i] = -1;
    for (taut_index i = 0; i < q->rows; i++)
        insert(q, i, q->degree[i]);
    while (q->left > 0) {
        while (q->head[q->least] < 0)
            q->least++;
        const taut_index p = q->head[q->least];
        extract(q, p);
        const taut_index e = collect(q, p);
        measure(q, e);
        update(q, p, e);
        finish(q, p, e);
    }
}

/* ---- fronts */

typedef struct forest {
    quotient *q;
    taut_index *up;          /* by elimination: its parent, or -1 */
    taut_index *into;        /* the one that it was merged into, or -1 */
    taut_index *pivots;      /* with those merged into it, which come first */
    taut_index *last;        /* of its bonds, the first of which is q->pivot */
    int64_t *zeros;          /* stored in its columns */
    taut_index *head, *next; /* children */
} forest;

static taut_index find(forest *f, taut_index k)
{
    taut_index root = k;
    while (root >= 0 && f->into[root] >= 0)
        root = f->into[root];
    while (k != root) {
        const taut_index next = f->into[k];
        f->into[k] = root;
        k = next;
    }
    return root;
}

static double entries_of(double pivots, double border)
{
    return pivots * (pivots + 1) / 2 + pivots * border;
}

/* Merged with its parent? Zeros that are stored then, and part of all entries that they may be. */
static bool merges(const forest *f, taut_index k, taut_index parent, int64_t *zeros)
{
    const double a = f->pivots[k], b = f->pivots[parent], border = f->q->border[parent],
                 all = entries_of(a + b, border),
                 more = all - entries_of(a, f->q->border[k]) - entries_of(b, border),
                 stored = more + (double)f->zeros[k] + (double)f->zeros[parent];
    *zeros = (int64_t)stored;
    return more <= 0 || a + b <= 6 ||
           stored < all * (a + b <= 16   ? 0.6
                           : a + b <= 48 ? 0.15
                                         : 0.05);
}

static void merge(forest *f)
{
    quotient *q = f->q;
    for (taut_index k = 0; k < q->made; k++) {
        const taut_index e = q->up[q->cliques + k];
        f->up[k] = e < 0 ? -1 : e - q->cliques;
        f->into[k] = f->head[k] = f->next[k] = -1;
        f->pivots[k] = q->pivots[k];
        f->last[k] = q->last[q->pivot[k]];
    }
    for (taut_index k = 0; k < q->made; k++) {
        int64_t zeros;
        const taut_index parent = f->up[k] = find(f, f->up[k]);
        if (parent < 0 || !merges(f, k, parent, &zeros))
            continue;
        f->into[k] = parent;
        f->pivots[parent] += f->pivots[k];
        f->zeros[parent] = zeros;
        q->same[f->last[k]] = q->pivot[parent];
        q->pivot[parent] = q->pivot[k];
    }
    for (taut_index k = q->made - 1; k >= 0; k--) {
        const taut_index parent = f->up[k] = find(f, f->up[k]);
        if (f->into[k] < 0 && parent >= 0) {
            f->next[k] = f->head[parent];
            f->head[parent] = k;
        }
    }
}

/* Postorder without recursion: `stack` holds the way down. */
static void number_fronts(forest *f, taut_elimination *x, taut_index *stack, taut_index *number)
{
    const quotient *q = f->q;
    taut_index at = 0;
    for (taut_index root = 0; root < q->made; root++) {
        taut_index depth = 0;
        if (f->into[root] >= 0 || f->up[root] >= 0)
            continue;
        for (stack[depth++] = root; depth > 0;) {
            const taut_index k = stack[depth - 1];
            if (f->head[k] >= 0) {
                stack[depth++] = f->head[k];
                f->head[k] = f->next[f->head[k]];
                continue;
            }
            depth--;
            taut_front *front = &x->front[x->fronts];
            *front = (taut_front){.first = at,
                                  .pivots = f->pivots[k],
                                  .border = q->border[k],
                                  .parent = f->up[k],
                                  .child = -1,
                                  .before = -1};
            number[k] = x->fronts++;
            for (taut_index i = q->pivot[k]; i >= 0; i = q->same[i])
                x->place[i] = at++;
        }
    }
    for (taut_index k = 0; k < x->fronts; k++) {
        taut_front *front = &x->front[k];
        if (front->parent < 0)
            continue;
        front->parent = number[front->parent];
        front->before = x->front[front->parent].child;
        x->front[front->parent].child = k;
    }
}

/* ---- borders */

static int compare(const void *a, const void *b)
{
    const taut_index x = *(const taut_index *)a, y = *(const taut_index *)b;
    return (x > y) - (x < y);
}

typedef struct borders {
    taut_elimination *x;
    const taut_columns *g;
    const taut_index *start, *column; /* cliques of each bond, by place */
    taut_index *mark;                 /* front that met a place last, and 1 */
} borders;

static int64_t add_place(borders *w, taut_index k, taut_index at, int64_t count)
{
    const taut_front *front = &w->x->front[k];
    if (at < front->first + front->pivots || w->mark[at] == k + 1)
        return count;
    w->mark[at] = k + 1;
    w->x->places[front->list + count] = at;
    return count + 1;
}

/* The border of front k: places beyond its pivots that its children have, or its bonds meet. */
static void find_border(borders *w, taut_index k)
{
    taut_elimination *x = w->x;
    const taut_front *front = &x->front[k];
    int64_t count = 0;
    for (taut_index c = front->child; c >= 0; c = x->front[c].before)
        for (taut_index r = 0; r < x->front[c].border; r++)
            count = add_place(w, k, x->places[x->front[c].list + r], count);
    for (taut_index p = front->first; p < front->first + front->pivots; p++)
        for (taut_index e = w->start[p]; e < w->start[p + 1]; e++) {
            const taut_index j = w->column[e];
            for (taut_index r = w->g->start[j]; r < w->g->start[j + 1]; r++)
                count = add_place(w, k, x->place[w->g->row[r]], count);
        }
    if (count > 1)
        qsort(x->places + front->list, (size_t)count, sizeof *x->places, compare);
}

/* Rows of the parent; both lists ascend. */
static void find_rows(taut_elimination *x, const taut_front *front)
{
    if (front->parent < 0)
        return;
    const taut_front *parent = &x->front[front->parent];
    const taut_index *places = x->places + front->list, *above = x->places + parent->list;
    for (taut_index r = 0, at = 0; r < front->border; r++) {
        const taut_index inside = places[r] - parent->first;
        while (inside >= parent->pivots && above[at] < places[r])
            at++;
        x->local[front->list + r] = inside < parent->pivots ? inside : parent->pivots + at;
    }
}

static int find_borders(taut_elimination *x, taut_index columns, const taut_columns *g,
                        taut_arena *scratch, taut_error *error)
{
    borders w = {.x = x, .g = g};
    int64_t entries = 0;
    for (taut_index j = 0; j < columns; j++)
        entries += is_clique(g, j) ? g->start[j + 1] - g->start[j] : 0;
    taut_index *start = TAUT_NEW(scratch, taut_index, (int64_t)x->rows + 2),
               *column = TAUT_NEW(scratch, taut_index, entries);
    w.mark = TAUT_NEW(scratch, taut_index, x->rows);
    TAUT_TRY(taut_arena_check(scratch, error));
    w.start = start;
    w.column = column;
    for (int pass = 0; pass < 2; pass++) {
        for (taut_index j = 0; j < columns; j++)
            for (taut_index r = g->start[j]; is_clique(g, j) && r < g->start[j + 1]; r++) {
                const taut_index p = x->place[g->row[r]];
                if (pass == 0)
                    start[p + 2]++;
                else
                    column[start[p + 1]++] = j;
            }
        for (taut_index p = 2; pass == 0 && p <= x->rows + 1; p++)
            start[p] += start[p - 1];
    }
    for (taut_index k = 0; k < x->fronts; k++)
        find_border(&w, k);
    for (taut_index k = 0; k < x->fronts; k++)
        find_rows(x, &x->front[k]);
    return TAUT_OK;
}

/* Where columns and borders are kept. */
static void measure_fronts(taut_elimination *x)
{
    int64_t list = 0, top = 0;
    for (taut_index k = 0; k < x->fronts; k++) {
        taut_front *front = &x->front[k];
        const int64_t rows = (int64_t)front->pivots + front->border,
                      size = (int64_t)front->border * (front->border + TAUT_FRONT_MORE);
        front->list = list;
        front->column = x->numbers;
        front->formed = front->kept = top;
        for (taut_index c = front->child; c >= 0; c = x->front[c].before)
            front->kept = x->front[c].kept; /* of the first child in the end */
        list += front->border;
        const double p = front->pivots, b = front->border;
        x->work += p * (p * p / 6 + p * b / 2 + b * b / 2);
        x->numbers += front->pivots * (rows + TAUT_FRONT_MORE);
        x->largest = rows > x->largest ? (taut_index)rows : x->largest;
        x->stacked = top + size > x->stacked ? top + size : x->stacked;
        top = front->kept + size;
    }
}

static int form(quotient *q, taut_index columns, const taut_columns *g, taut_arena *arena,
                taut_arena *scratch, taut_elimination *x, taut_error *error)
{
    int64_t entries = 0, bordered = 0;
    for (taut_index j = 0; j < columns; j++)
        if (is_clique(g, j)) {
            q->cliques++;
            entries += g->start[j + 1] - g->start[j];
        }
    TAUT_TRY(reserve(q, entries, scratch, error));
    begin(q, columns, g);
    eliminate(q);
    forest f = {.q = q};
    taut_index **lists[] = {&f.up, &f.into, &f.pivots, &f.last, &f.head, &f.next};
    for (size_t k = 0; k < sizeof lists / sizeof lists[0]; k++)
        *lists[k] = TAUT_NEW(scratch, taut_index, q->made);
    f.zeros = TAUT_NEW(scratch, int64_t, q->made);
    x->place = TAUT_NEW(arena, taut_index, q->rows);
    TAUT_TRY(taut_arena_check(scratch, error));
    TAUT_NEED(error, x->place);
    merge(&f);
    taut_index fronts = 0;
    for (taut_index k = 0; k < q->made; k++)
        if (f.into[k] < 0) {
            fronts++;
            bordered += q->border[k];
        }
    x->front = TAUT_NEW(arena, taut_front, fronts);
    x->places = TAUT_NEW(arena, taut_index, bordered);
    x->local = TAUT_NEW(arena, taut_index, bordered);
    TAUT_NEED(error, x->front, x->places, x->local);
    number_fronts(&f, x, q->head, q->next);
    measure_fronts(x);
    return find_borders(x, columns, g, scratch, error);
}

int taut_eliminate(taut_index rows, taut_index columns, const taut_columns *g, taut_arena *arena,
                   taut_elimination *elimination, taut_error *error)
{
    taut_arena scratch;
    taut_arena_init(&scratch, &arena->allocator);
    quotient q = {.rows = rows};
    *elimination = (taut_elimination){.rows = rows};
    int status = form(&q, columns, g, arena, &scratch, elimination, error);
    taut_arena_clear(&scratch);
    return status;
}
