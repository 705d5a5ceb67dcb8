/* subjects.h - what the references of test_trust.c are made for: models, stiffnesses, and which of
 * their variables are alike. For make_references.c. */
#ifndef TAUT_TESTS_TRUST_SUBJECTS_H
#define TAUT_TESTS_TRUST_SUBJECTS_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <taut/taut.h>

typedef struct plan {
    const char *model, *set; /* W: the frequency; settings separated by ';' */
    int first, last;         /* decades of W */
    double end;              /* at most; 0: the end of the model */
} plan;

/* Vibrations keep their energy where it would grow with the stiffness. As they are shipped (no
 * settings) models are needed for runs by default. */
static const plan plans[] = {
    {"butane", "bond_stiffness=224262.4*W^2;angle_stiffness=519.6528*W^2", 0, 4, 2},
    {"butane", NULL, 0, 0, 2},
    {"cart", "omega=W", 2, 8, 0},
    {"cart", NULL, 0, 0, 0},
    {"chain", "N=5;omega=W", 2, 8, 0},
    {"chain", NULL, 0, 0, 0},
    {"double_pendulum", "omega=W;lift=sqrt(2/W)", 2, 8, 0},
    {"double_pendulum", "omega=W;lift=0", 2, 8, 0},
    {"double_pendulum", NULL, 0, 0, 0},
    {"double_pendulum_gravity", "eps=1/W", 2, 8, 0},
    {"double_pendulum_gravity", NULL, 0, 0, 0},
    {"five_dimensions", NULL, 0, 0, 0},
    {"forced_spring", "omega=W;lift=1/W", 2, 8, 0},
    {"forced_spring", NULL, 0, 0, 0},
    {"four_bar", "c=1/W^2", 2, 8, 0},
    {"four_bar", NULL, 0, 0, 0},
    {"fpu", "omega=W", 2, 8, 10},
    {"fpu", NULL, 0, 0, 10},
    {"free_pendulum", "omega=W", 2, 8, 0},
    {"free_pendulum", NULL, 0, 0, 0},
    {"hydrogen_oxygen", "mu=2.4e-7", 0, 0, 1.5e-4}, /* before it comes to rest */
    {"hydrogen_oxygen", NULL, 0, 0, 0},
    {"index2", "nu=W", 2, 8, 0},
    {"index2", NULL, 0, 0, 0},
    {"kepler", "c=1/W", 1, 2, 0},
    {"kepler", NULL, 0, 0, 0},
    {"michaelis_menten", "eps=1/W", 2, 5, 0},
    {"michaelis_menten", NULL, 0, 0, 0},
    {"michaelis_menten_mixed", "eps=1/W", 2, 5, 0},
    {"michaelis_menten_mixed", NULL, 0, 0, 0},
    {"net", "N=2;omega=W", 2, 8, 0},
    {"net", NULL, 0, 0, 0.2},
    {"pendulum", "eps=1/W", 2, 8, 0},
    {"pendulum", NULL, 0, 0, 0},
    {"quartic_rod", "omega=W", 2, 8, 0},
    {"quartic_rod", NULL, 0, 0, 0},
    {"rope_bending", "N=4;omega=W", 2, 8, 0},
    {"rope_bending", NULL, 0, 0, 0},
    {"slider_crank", NULL, 0, 0, 0},
    {"triatomic", "omega=W;lift=0.5/W", 2, 8, 0},
    {"triatomic", NULL, 0, 0, 0},
    {"truss", "modulus=W^2", 2, 8, 0},
    {"truss", NULL, 0, 0, 0},
    {"water_box", "N=2;bond_stiffness=443153.4*W^2;angle_stiffness=317.5656*W^2", 0, 3, 0.02},
    {"water_box", NULL, 0, 0, 0.005},
};

/* Variables that are not alike: those with this prefix are a group of their own. */
static const struct {
    const char *model;
    char kind; /* c: q and v, l: lambda */
    const char *prefix;
} unlike[] = {
    {"butane", 'l', "bend"},      {"cart", 'c', "phi"},           {"four_bar", 'c', "theta"},
    {"four_bar", 'l', "drive"},   {"kepler", 'c', "v"},           {"slider_crank", 'c', "theta"},
    {"slider_crank", 'c', "psi"}, {"slider_crank", 'l', "slide"}, {"water_box", 'l', "bend"},
};

/* A model with its settings; what judges take is its twin, where it has one. */
typedef struct subject_model {
    const char *name;
    char settings[200];
    taut_system *own, *judged;
    taut_sizes sizes; /* of what is judged */
    taut_index n, m, dim;
    double *start;  /* [dim] */
    double fastest; /* Omega; 0 without springs */
    double kappa;   /* largest 1/c */
    double until;
} subject_model;

/* ---- models */

static void put_settings(const char *form, int decade, char *to, size_t size)
{
    size_t used = 0;
    for (; form && *form && used + 8 < size; form++)
        used += (size_t)(*form == 'W' ? snprintf(to + used, size - used, "1e%d", decade)
                                      : snprintf(to + used, size - used, "%c", *form));
    to[used] = '\0';
}

static taut_system *read_system(const char *file, const char *text, const char *settings)
{
    char copy[200];
    const char *set[4];
    taut_load how = {.size = sizeof how, .set = set};
    taut_system *system = NULL;
    taut_error error;
    snprintf(copy, sizeof copy, "%s", settings);
    for (char *word = strtok(copy, ";"); word && how.set_count < 4; word = strtok(NULL, ";"))
        set[how.set_count++] = word;
    int status = text ? taut_system_parse(text, strlen(text), "twin.taut", &how, &system, &error)
                      : taut_system_load(file, &how, &system, &error);
    if (status != 0)
        fprintf(stderr, "%s %s: %s\n", file, settings, error.message);
    return status == 0 ? system : NULL;
}

static double run_setting(const taut_system *system, const char *wanted)
{
    const char *name, *value;
    for (taut_index k = 0; taut_system_setting(system, k, &name, &value); k++)
        if (strcmp(name, wanted) == 0)
            return strtod(value, NULL);
    return 1;
}

static void look_at_start(subject_model *s)
{
    taut_context *context = NULL;
    double frequency[8] = {0};
    int found = 0;
    bool complete;
    s->start = calloc((size_t)s->n * 2 + 2, sizeof(double));
    if (taut_context_create(s->judged, NULL, &context, NULL) != 0 ||
        taut_context_start(context, 0, s->start, s->start + s->n, NULL) != 0)
        exit(1);
    if (s->dim > s->n) {
        taut_frequencies(context, 0, s->start, 4, frequency, &found, &complete, NULL);
        const double *c = taut_context_compliance(context);
        for (taut_index i = 0; i < s->m; i++)
            s->kappa = fmax(s->kappa, c[i] > 0 ? 1 / c[i] : 0);
    }
    s->fastest = found > 0 ? frequency[found - 1] : 0;
    taut_context_destroy(context);
}

/* The shipped twin has omega = 1000: its stiffness is replaced. */
static taut_system *read_twin(const subject_model *s)
{
    static const char *const quartic =
        "[parameters]\nomega = 1000\n[coordinates]\nx, y\n[definitions]\ns = x^2 + y^2 - 1\n"
        "[potential]\ny\n[bonds]\nrod = s/2*sqrt(1 + 2*s/3 + s^2/4) stiffness omega^2\n[start]\n"
        "x = 1, y = 0\n";
    return strcmp(s->name, "quartic_rod") == 0 ? read_system("twin", quartic, s->settings) : NULL;
}

static int read_subject(const plan *p, int decade, subject_model *s)
{
    char file[1200];
    *s = (subject_model){.name = p->model};
    put_settings(p->set, decade, s->settings, sizeof s->settings);
    snprintf(file, sizeof file, "%s/models/%s.taut", TAUT_SOURCE_DIR, p->model);
    if (!(s->own = read_system(file, NULL, s->settings)))
        return -1;
    s->judged = read_twin(s);
    s->judged = s->judged ? s->judged : s->own;
    taut_sizes_init(&s->sizes);
    taut_system_sizes_get(s->judged, &s->sizes, NULL);
    s->n = s->sizes.coordinates;
    s->m = s->sizes.kind == TAUT_MECHANICAL ? s->sizes.bonds : s->sizes.algebraic;
    s->dim = s->sizes.kind == TAUT_MECHANICAL ? 2 * s->n : s->n;
    s->until = p->end > 0 ? p->end : run_setting(s->own, "until");
    look_at_start(s);
    return 0;
}

static void destroy_subject(subject_model *s)
{
    if (s->judged != s->own)
        taut_system_destroy(s->judged);
    taut_system_destroy(s->own);
    free(s->start);
}

/* ---- groups */

/* Which of [dim + m] is of which kind: 0 q, 1 v, 2 lambda. */
static int kind_of(const subject_model *s, taut_index i)
{
    return i >= s->dim ? 2 : i >= s->n;
}

static void name_of(const subject_model *s, taut_index i, char *name, size_t size)
{
    int kind = kind_of(s, i);
    bool first = s->dim == s->n;
    taut_item item = kind < 2 ? TAUT_COORDINATE : first ? TAUT_ALGEBRAIC : TAUT_BOND;
    taut_system_name(s->judged, item, i - (kind == 2 ? s->dim : kind * s->n), name, size);
}

static int group_of(const subject_model *s, taut_index i)
{
    char name[80];
    int kind = kind_of(s, i);
    name_of(s, i, name, sizeof name);
    for (size_t k = 0; k < sizeof unlike / sizeof unlike[0]; k++)
        if (strcmp(unlike[k].model, s->name) == 0 && (unlike[k].kind == 'l') == (kind == 2) &&
            strncmp(name, unlike[k].prefix, strlen(unlike[k].prefix)) == 0)
            return 3 + kind;
    return kind;
}

/* to[i] <- the largest of x over the group of i */
static void spread(const subject_model *s, const double *x, double *to)
{
    double most[6] = {0};
    for (taut_index i = 0; i < s->dim + s->m; i++)
        most[group_of(s, i)] = fmax(most[group_of(s, i)], fabs(x[i]));
    for (taut_index i = 0; i < s->dim + s->m; i++)
        to[i] = most[group_of(s, i)];
}

#endif
