/* test_project_matrix.c - every projection on every shipped model: within its stated accuracy, or a refusal with a reason.
 *
 * The accuracy is the distance to the slow manifold, measured by series from the result (DESIGN 1); that of constraint is |g| and |gdot|. Cells
 * that do not end with a result are the reviewed list below, and no others. */
#include <dirent.h>

#include "projected.h"

/* Letters: i ipa, k kernel, s series, c constraint, d difference, a auto. In `refused` the model lacks what the method needs, or has what it
 * cannot treat; in `far` slow and fast are not separated well enough for a filter. */
static const struct {
    const char *model, *refused, *far;
} reviewed[] = {
    {"butane", "d", "k"},
    {"cart", "ikd", ""},
    {"chain", "d", ""},
    {"double_pendulum", "d", ""},
    {"double_pendulum_gravity", "d", ""},
    {"five_dimensions", "iksc", ""},
    {"forced_spring", "d", ""},
    {"four_bar", "iksd", ""},
    {"fpu", "d", "ik"},
    {"free_pendulum", "d", ""},
    {"hydrogen_oxygen", "iksc", ""},
    {"index2", "ikscda", ""},
    {"kepler", "ikscda", ""},
    {"michaelis_menten", "iksc", ""},
    {"michaelis_menten_mixed", "iksc", ""},
    {"net", "d", ""},
    {"pendulum", "d", ""},
    {"quartic_rod", "ikd", ""},
    {"rope_bending", "d", ""},
    {"slider_crank", "iksd", ""},
    {"triatomic", "d", ""},
    {"truss", "ikd", ""},
    {"water_box", "d", "ik"},
};

enum { MODELS = sizeof reviewed / sizeof reviewed[0] };

/* relative to the largest coordinate, in q and v; filters on models where slow and fast are barely apart are worst */
static const struct {
    const char *method;
    double limit;
} stated[] = {{"ipa", 1e-3}, {"kernel", 3e-4}, {"series", 1e-9}, {"constraint", 1e-9}, {"difference", 0}, {"auto", 1e-9}};

static double largest(taut_index count, const double *x)
{
    double most = 0;
    for (taut_index i = 0; i < count; i++)
        most = fabs(x[i]) <= most ? most : fabs(x[i]);
    return most;
}

/* Does the result have the accuracy that its method states? */
static void check_accuracy(const char *cell, projected *p, const char *model, double limit)
{
    taut_sizes sizes;
    taut_system_sizes(p->system, &sizes);
    double size = fmax(1e-3, largest(sizes.coordinates, p->r.q));
    if (sizes.kind != TAUT_MECHANICAL) {
        check_row(isfinite(largest(sizes.coordinates, p->r.q)), "%s: the state is not finite", cell);
        return;
    }
    const double *g, *gdot;
    if (strcmp(p->r.method, "constraint") == 0) {
        taut_projection_pass(p->projection, p->r.passes, &g, &gdot, NULL);
        check_below(cell, largest(sizes.bonds, g) / size, limit);
        return;
    }
    size_t room = (size_t)sizes.coordinates * 300, used = 0;
    char *text = malloc(room), name[96];
    for (taut_index i = 0; i < sizes.coordinates && text; i++) {
        taut_system_name(p->system, TAUT_COORDINATE, i, name, sizeof name);
        used += (size_t)snprintf(text + used, room - used, "%s = %.17g\n%s' = %.17g\n", name, p->r.q[i], name, p->r.v[i]);
    }
    taut_load how = {.start_text = text};
    projected s = project_model(model, &how, "method=series");
    if (projected_good(cell, &s)) {
        check_below(cell, s.r.moved_normal / size, limit);
        check_below(cell, s.r.moved_normal_velocity / fmax(size, largest(sizes.coordinates, s.r.v)), limit);
    }
    projected_drop(&s);
    free(text);
}

static void run_cell(int model, int method)
{
    char cell[120], options[60];
    snprintf(cell, sizeof cell, "%s, %s", reviewed[model].model, stated[method].method);
    snprintf(options, sizeof options, "method=%s", stated[method].method);
    char letter = stated[method].method[0];
    projected p = project_model(reviewed[model].model, NULL, options);
    if (strchr(reviewed[model].refused, letter)) {
        check_row(p.code == TAUT_ERROR_REFUSED || p.code == TAUT_ERROR_USAGE, "%s: %s, expected a refusal", cell,
                  taut_code_name(p.code));
        check_row(strlen(p.error.message) > 40 && strstr(p.error.message, "projection"), "%s: no reason: %s", cell,
                  p.error.message);
    } else if (strchr(reviewed[model].far, letter)) {
        check_equal(cell, p.code, TAUT_ERROR_CONVERGE);
        check_row(p.projection && memcmp(p.r.q, p.r.start_q, sizeof(double)) == 0, "%s: the start is not kept", cell);
        check_row(strlen(p.error.message) > 40, "%s: no reason: %s", cell, p.error.message);
    } else if (projected_good(cell, &p)) {
        check_accuracy(cell, &p, reviewed[model].model, stated[method].limit);
    }
    projected_drop(&p);
}

/* A model or a projection that nobody has reviewed is a failure. */
static void test_complete(void)
{
    check_group("reviewed");
    char path[300];
    int found = 0;
    snprintf(path, sizeof path, "%s/models", TAUT_SOURCE_DIR);
    DIR *folder = opendir(path);
    for (struct dirent *file; folder && (file = readdir(folder));) {
        char *end = strstr(file->d_name, ".taut");
        bool known = !end;
        for (int k = 0; k < MODELS && !known; k++)
            known = strlen(reviewed[k].model) == (size_t)(end - file->d_name) &&
                    strncmp(file->d_name, reviewed[k].model, (size_t)(end - file->d_name)) == 0;
        check_row(known, "%s is not in the reviewed list", file->d_name);
        found += end != NULL;
    }
    if (folder)
        closedir(folder);
    check_equal("models", found, MODELS);
    check_equal("projections", taut_projection_count(), (long long)(sizeof stated / sizeof stated[0]));
}

int main(void)
{
    test_complete();
    check_group("projections on models");
    for (int model = 0; model < MODELS; model++)
        for (int method = 0; method < (int)(sizeof stated / sizeof stated[0]); method++)
            run_cell(model, method);
    return check_done();
}
