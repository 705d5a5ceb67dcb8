/* matrix_variants.h - what the matrix of projections runs in addition to the shipped models, and
 * how its judge evaluates those that it does not support directly. */
#ifndef TAUT_TESTS_SUPPORT_MATRIX_VARIANTS_H
#define TAUT_TESTS_SUPPORT_MATRIX_VARIANTS_H

#include <stdio.h>
#include <string.h>
#include <taut/taut.h>

typedef struct subject {
    const char *name, *model; /* a shipped one, or a text */
    const char *set;          /* one parameter, or NULL */
    double from;
    const char *twin; /* the same motion as the judge takes it, in bonds that do not depend on one
                         another; NULL: it takes the model */
} subject;

/* Four masses, their sides and both diagonals: six springs for five lengths. */
#define SQUARE(word)                                                                               \
    "[particles]\ndimension = 2\np[i] for i in 1..4 mass 1\n[potential]\nsum(p[i].y for i in "     \
    "1..4) + 0.5*dot(p[1], p[1])\n"                                                                \
    "[bonds]\nside[i] = length(p[i+1] - p[i]) - 1 for i in 1..3 stiffness 1e6\nside[4] = "         \
    "length(p[4] - p[1]) - 1 stiffness 1e6\n"                                                      \
    "brace[1] = length(p[3] - p[1]) - sqrt(2) stiffness 1e6\nbrace[2] = length(p[4] - p[2]) - "    \
    "sqrt(2) stiffness 1e6" word                                                                   \
    "\n[start]\np[1] = (0, 0), p[2] = (1.001, 0), p[3] = (1, 1), p[4] = (0, 1.002)\n"              \
    "p[1]' = (0, 0), p[2]' = (0, 0.3), p[3]' = (-0.3, 0.3), p[4]' = (-0.3, 0)\n"

static const subject variants[] = {
    {"mass matrix that varies",
     "[coordinates]\nx, y\n[mass]\nx = 2 + 0.3*sin(y), y = 1 + 0.2*x^2\nM[x,y] = "
     "0.4*cos(x)\n[potential]\ny\n[bonds]\n"
     "rod = sqrt(x^2 + y^2) - 1 stiffness 1e6\n[start]\nx = 0.81, y = -0.6, x' = 0.3, y' = 0.4\n",
     NULL, 0, NULL},
    {"moving bonds",
     "[coordinates]\nx, y\n[potential]\ny\n[bonds]\nrod = sqrt((x - 0.2*sin(t))^2 + y^2) - 1 - "
     "0.1*cos(2*t) stiffness 1e6\n[start]\n"
     "x = 0.9, y = -0.6, x' = 0.3, y' = 0.4\n",
     NULL, 0.7, NULL},
    {"forces that depend on velocities",
     "[coordinates]\nx, y\n[potential]\ny\n[forces]\nx = 0.5*y' - 0.1*x', y = -0.5*x' - "
     "0.1*y'\n[bonds]\nrod = sqrt(x^2 + y^2) - 1 stiffness 1e6\n[start]\nx = 0.81, y = -0.6, x' = "
     "0.3, y' = 0.4\n",
     NULL, 0, NULL},
    {"damped bonds",
     "[coordinates]\nx, y\n[potential]\ny\n[bonds]\nrod = sqrt(x^2 + y^2) - 1 stiffness 1e6 "
     "damping 50\n[start]\nx = 0.81, y = -0.6, x' = 0.3, y' = 0.4\n",
     NULL, 0, NULL},
    {"two stiffnesses",
     "[parameters]\nomega = 1000, alpha = 10\n[coordinates]\nx1, y1, x2, y2\n[potential]\ny1 + "
     "y2\n[bonds]\n"
     "inner = sqrt(x1^2 + y1^2) - 1 stiffness omega^2\nouter = sqrt((x1-x2)^2 + (y1-y2)^2) - 1 "
     "stiffness (alpha*omega)^2\n[start]\n"
     "x1 = 1, y1 = 0.01, x2 = 1.7, y2 = -0.7, y1' = -0.5, y2' = 0.5\n",
     NULL, 0, NULL},
    {"a double pendulum by its stiff potential",
     "[coordinates]\nx1, y1, x2, y2\n[definitions]\na = sqrt(x1^2 + y1^2) - 1\nb = sqrt((x1-x2)^2 "
     "+ (y1-y2)^2) - 1\n[stiff potential]\n"
     "(a^2 + b^2)/2 scale 1e6\n[start]\nx1 = 1, y1 = 0.05, x2 = 2, y1' = -0.5, y2' = 0.5\n",
     NULL, 0,
     "[coordinates]\nx1, y1, x2, y2\n[bonds]\na = sqrt(x1^2 + y1^2) - 1 stiffness 1e6\n"
     "b = sqrt((x1-x2)^2 + (y1-y2)^2) - 1 stiffness 1e6\n[start]\nx1 = 1, y1 = 0.05, x2 = 2, y1' = "
     "-0.5, y2' = 0.5\n"},
    {"rigid bonds and springs",
     "[coordinates]\nx1, y1, x2, y2\n[potential]\ny1 + y2\n[bonds]\ninner = sqrt(x1^2 + y1^2) - 1 "
     "rigid\n"
     "outer = sqrt((x1-x2)^2 + (y1-y2)^2) - 1 stiffness 1e6\n[start]\nx1 = 1, x2 = 1.71, y2 = "
     "-0.7, y1' = -0.5, y2' = 0.5\n",
     NULL, 0, NULL},
    {"a soft spring and stiff ones",
     "[coordinates]\nx, y\n[potential]\ny\n[bonds]\nrod = sqrt(x^2 + y^2) - 1 stiffness 1e6\nband "
     "= x - 0.5 stiffness 2 soft\n[start]\n"
     "x = 0.81, y = -0.6, x' = 0.3, y' = 0.4\n",
     NULL, 0, NULL},
    {"an elastic coupler", "four_bar", "c=1e-6", 0.3, NULL},
    /* a force, for the judge, however strong */
    {"springs that depend on one another", SQUARE(""), NULL, 0, SQUARE(" soft")},
};

/* Twins of shipped models. s^2/8 + s^3/12 + s^4/32 is g^2/2 with g = s/2 sqrt(1 + 2s/3 + s^2/4). */
static const struct {
    const char *model, *twin;
} shipped_twins[] = {
    {"quartic_rod",
     "[coordinates]\nx, y\n[definitions]\ns = x^2 + y^2 - 1\n[potential]\ny\n[bonds]\n"
     "rod = s/2*sqrt(1 + 2*s/3 + s^2/4) stiffness 1e6\n[start]\nx = 1, y = 0\n"},
};

static inline const char *subject_twin(const subject *s)
{
    for (size_t k = 0; k < sizeof shipped_twins / sizeof shipped_twins[0]; k++)
        if (strcmp(shipped_twins[k].model, s->model) == 0)
            return shipped_twins[k].twin;
    return s->twin;
}

/* What the judge takes; NULL when it cannot be read. */
static inline taut_system *subject_judged(const subject *s)
{
    const char *model = subject_twin(s) ? subject_twin(s) : s->model;
    taut_load how = {
        .size = sizeof how, .set = &s->set, .set_count = s->set != NULL, .from = s->from};
    taut_system *system = NULL;
    taut_error error;
    char path[1200];
    if (strchr(model, '\n')) {
        taut_system_parse(model, strlen(model), "model.taut", &how, &system, &error);
    } else {
        snprintf(path, sizeof path, "%s/models/%s.taut", TAUT_SOURCE_DIR, model);
        taut_system_load(path, &how, &system, &error);
    }
    return system;
}

#endif
