/* force_spectrum_large.c - the ends of a band of frequencies among many coordinates, from
 * differences of forces (force_spectrum.c), without arrays of vectors: Lanczos' iteration of
 * three terms,
 *
 *     beta_k M x_k+1 = K x_k - alpha_k M x_k - beta_k-1 M x_k-1,
 *     T = tridiag(beta, alpha, beta),
 *
 * without reorthogonalisation: values that were found are repeated, and none is spoiled [Parlett
 * 1998, chapter 13; Greenbaum 1989]. Slow motion is a cluster at 0, small compared with the
 * squares of fast frequencies, so that the gap is found long before the interior of the band: the
 * slowest fast frequency is an end of it, and an isolated frequency in the gap converges as
 * quickly, however slow. Between cluster and band there may be one value that is no eigenvalue of
 * K. It has a large residual beta_k |s_k|, s_k the last entry of its vector in T, and moves with
 * the next steps: the iteration ends when there is no such value and the ends no longer change. */
#include <float.h>
#include <math.h>

#include "base/vectors.h"
#include "filter/force_spectrum.h"
#include "linalg/tridiagonal.h"

/* steps; for a state that hides the gap: when its ends stand still, at most */
enum { FIRST_LOOK = 32, ENOUGH = 96, ROUGH = 160 };

static const double steady = 0.02; /* relative change of an end between looks */
/* a residual, of the value itself: with less of it there is a value of K within reach */
static const double certain = 0.5;
static const double far = 8;           /* fast over slow, at least (stiffness.c) */
static const double apart = 4;         /* frequencies nearer than this are not apart */
static const double given_least = 0.6; /* of omega: coupled springs are slower than single ones */
/* of the largest entry of T: more is no noise, some force has no reaction */
static const double uneven = 1e-3;

/* Steps until the next look: they cost the square of their number. */
static int next_look(int steps)
{
    return steps + 16 + steps / 32;
}

/* What T of so many steps shows; complete: its values are values of K. False when they could not
 * be found. */
static bool look(const taut_force_spectrum *r, int steps, bool complete,
                 taut_force_spectrum_seen *seen)
{
    double d[TAUT_FORCE_SPECTRUM_SEEN], e[TAUT_FORCE_SPECTRUM_SEEN],
        last[TAUT_FORCE_SPECTRUM_SEEN] = {0}; /* last: the last entries of the vectors */
    taut_copy(steps, r->alpha, d);
    taut_copy(steps, r->beta, e);
    last[steps - 1] = 1;
    if (!taut_tridiagonal_ql(steps, d, e, last, 1))
        return false;
    seen->count = 0;
    for (int k = 0; k < steps; k++)
        taut_force_spectrum_add(seen, fabs(d[k]), d[k] < 0,
                                complete ? 0 : r->beta[steps - 1] * fabs(last[k]));
    return true;
}

static bool is_certain(const taut_force_spectrum_seen *seen, int k)
{
    return seen->loose[k] <= certain * seen->rate[k];
}

/* What is slow for certain: the motion at the point, and what repels, for forces across stretched
 * springs and pushes across pressed ones are alike (a force that repels as the fastest attract
 * is none of these). What is as slow as noise may be anything: twice as fast is enough then. */
static double reach(const taut_force_spectrum_seen *seen)
{
    const double alike = 1.3, most = 0.25;
    double floor = fmax(seen->pace, seen->noise * 2 / far), fastest = seen->rate[seen->count - 1];
    for (int k = 0; k < seen->count && seen->rate[k] < most * fastest; k++)
        if (seen->repels[k] && seen->rate[k] > seen->noise)
            floor = fmax(floor, alike * seen->rate[k]);
    return floor;
}

static double above_noise(const taut_force_spectrum_seen *seen, int k)
{
    return k >= 0 && seen->rate[k] > seen->noise ? seen->rate[k] : 0;
}

/* What number k has below it: the next one, or the one after that where the next is the one that
 * wanders. */
static double below(const taut_force_spectrum_seen *seen, int k, double floor)
{
    int next = k > 1 && !is_certain(seen, k - 1) ? k - 2 : k - 1;
    return fmax(above_noise(seen, next), floor);
}

/* The first fast one. It is certain and above the lowest gap, not the largest: what is isolated
 * between the slow and a band is fast, because a filter for the band would leave it where it is.
 * An oscillating state may have no gap, but has a band of certain ones above its cluster. */
static int first_fast(const taut_force_spectrum_seen *seen, double given)
{
    int band = -1, widest = 0;
    double floor = reach(seen), most = 0;
    for (int k = 0; k < seen->count; k++) {
        double rate = seen->rate[k], ratio = rate / below(seen, k, floor);
        if (given > 0 && rate >= given_least * given)
            return k;
        if (given > 0 || !is_certain(seen, k))
            continue;
        if (ratio > far)
            return k;
        if (band < 0 && rate > floor && rate > apart * seen->floor)
            band = k;
        widest = ratio > most ? k : widest;
        most = fmax(most, ratio);
    }
    return given > 0 ? seen->count : most > apart || band < 0 ? widest : band;
}

/* May number k be a value that is not well below number `first`, nor noise? */
static bool in_doubt(const taut_force_spectrum_seen *seen, int k, int first)
{
    double slow = fmax(seen->rate[first] / far, 1.4 * seen->noise);
    return seen->rate[k] * (seen->rate[k] + seen->loose[k]) > slow * slow;
}

/* Has number k nothing near below it? Then it wanders, or is on its way to being seen. */
static bool is_alone(const taut_force_spectrum_seen *seen, int k)
{
    return above_noise(seen, k) > far * fmax(above_noise(seen, k - 1), reach(seen));
}

/* Is everything slower than number `first` well below it, certainly, and nothing else on its
 * way to being seen? */
static bool is_clean(const taut_force_spectrum_seen *seen, int first)
{
    for (int k = 0; k < first; k++)
        if (in_doubt(seen, k, first))
            return false;
    return !is_alone(seen, first - 1);
}

/* Steps after which even a single frequency just above the noise would have been seen. The
 * polynomial T(lambda), Chebyshev's of the band [e^2, Omega^2], is 1/2 exp(2 k e/Omega) near 0
 * compared with 1 in the band [Saad 2011, 6.6]. That must make up for the share 1/sqrt(n) that a
 * random vector has of a mode, and for what factors that vanish in the cluster and at isolated
 * frequencies lose against the band: (Omega/omega)^2 each; of the cluster once and a half,
 * because it is no point. e is where frequencies begin to be many. */
static double steps_needed(const taut_force_spectrum *r, const taut_force_spectrum_seen *seen)
{
    const double copies = 1.02, alone = 2;
    double fastest = seen->rate[seen->count - 1], edge = seen->rate[seen->first];
    double lost = log(2 * sqrt(r->n)) + 3 * log(fastest / seen->floor);
    for (int k = seen->first + 1, few = 3; k < seen->count && few > 0; k++) {
        if (seen->rate[k] > copies * edge) {
            if (seen->rate[k] < alone * edge)
                break;
            lost += 2 * log(fastest / edge);
            edge = seen->rate[k];
            few--;
        }
    }
    return fastest / (2 * edge) * lost;
}

/* Is everything slower known for what it is, even if it is not well below? Then further steps
 * show nothing else. */
static bool is_decided(const taut_force_spectrum_seen *seen, int first)
{
    for (int k = 0; k < first; k++)
        if (!is_certain(seen, k) &&
            (in_doubt(seen, k, first) || (k == first - 1 && is_alone(seen, k))))
            return false;
    return first < seen->count;
}

/* The vectors of a step: M-orthonormal, and M times them. */
typedef struct vectors {
    double *x, *mx, *x_before, *mx_before; /* [n] each */
    double beta, most;                     /* of the step before; the largest entry of T */
} vectors;

static void swap(double **a, double **b)
{
    double *c = *a;
    *a = *b;
    *b = c;
}

/* Step k of the iteration. `even` becomes false when K shows that it is not symmetric. */
static int advance(taut_force_spectrum *r, const taut_force_spectrum_point *at, int k, vectors *s,
                   bool *even, taut_error *error)
{
    taut_index n = r->n;
    double alpha = 0, back = 0;
    TAUT_TRY(taut_force_spectrum_apply(r, at, s->x, error));
    for (taut_index i = 0; i < n; i++)
        back += s->x_before[i] * r->force[i];
    for (taut_index i = 0; i < n; i++) {
        r->force[i] -= s->beta * s->mx_before[i];
        alpha += s->x[i] * r->force[i];
    }
    s->most = fmax(s->most, fmax(fabs(alpha), s->beta));
    *even = fabs(back - s->beta) <= fmax(uneven, 10 * at->noise) * s->most;
    for (taut_index i = 0; i < n; i++)
        s->mx_before[i] = r->force[i] - alpha * s->mx[i];
    swap(&s->x, &s->x_before);
    swap(&s->mx, &s->mx_before);
    TAUT_TRY(taut_force_spectrum_normalise(r, s->x, s->mx, &s->beta, error));
    r->alpha[k] = alpha;
    r->beta[k] = s->beta;
    return TAUT_OK;
}

/* How the ends have moved since the last look. */
typedef struct ends {
    double slowest, fastest;
    int quiet; /* looks in a row at which they stayed */
} ends;

static void compare(ends *e, double slowest, double fastest)
{
    bool same = fabs(slowest - e->slowest) <= steady * slowest &&
                fabs(fastest - e->fastest) <= steady * fastest;
    *e = (ends){slowest, fastest, same ? e->quiet + 1 : 0};
}

int taut_force_spectrum_ends(taut_force_spectrum *r, const taut_force_spectrum_point *at,
                             const taut_force_spectrum_request *request, double pace,
                             taut_force_spectrum_seen *seen, bool *even, taut_error *error)
{
    vectors s = {.x = r->x, .mx = r->mx, .x_before = r->x + r->n, .mx_before = r->mx + r->n};
    ends e = {0};
    double norm;
    taut_clear(r->n, s.x_before);
    taut_clear(r->n, s.mx_before);
    taut_force_spectrum_random(r, s.mx);
    TAUT_TRY(taut_force_spectrum_normalise(r, s.x, s.mx, &norm, error));
    *even = true;
    for (int k = 1, due = FIRST_LOOK; k <= TAUT_FORCE_SPECTRUM_SEEN; k++) {
        TAUT_TRY(advance(r, at, k - 1, &s, even, error));
        if (!*even)
            return TAUT_OK;
        bool ended = !(s.beta > 4 * at->noise * s.most); /* nothing new but noise */
        if (!ended && k < due && k < TAUT_FORCE_SPECTRUM_SEEN)
            continue;
        if (!look(r, k, ended, seen))
            return taut_fail(error, TAUT_ERROR_CONVERGE,
                             "the frequencies of the forces could not be computed at this state");
        due = next_look(k);
        seen->noise = 2 * sqrt(at->noise) * seen->rate[k - 1];
        seen->pace = pace;
        seen->floor = fmax(seen->noise, pace);
        seen->first = first_fast(seen, request->given);
        compare(&e, seen->first < k ? seen->rate[seen->first] : 0, seen->rate[k - 1]);
        bool clear = seen->first < k && is_clean(seen, seen->first);
        seen->clean = clear && (request->rough || ended || k >= steps_needed(r, seen));
        bool enough = request->rough && (due > ROUGH || (e.quiet > 1 && k >= ENOUGH));
        if (ended || enough || (e.quiet > 0 && seen->clean) ||
            (e.quiet > 2 && !clear && is_decided(seen, seen->first)))
            break;
    }
    return TAUT_OK;
}
