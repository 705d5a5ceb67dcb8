/* test_project_settings.c - an option changes what the chosen projection reads, never which
 * projection is chosen; and the table is right about what each projection reads: a setting that
 * is not in its row leaves every bit of the result and is reported, one that is in its row
 * changes the result of some model and is not reported there. Texts are complete sentences. */
#include "point/projection.h"
#include "support/project.h"

/* Stiffness in the forces, at two scales: what is fast is a matter of omega. */
static const char bare[] = "[coordinates]\nx, y, z\n[potential]\n"
                           "1e8/2*(x - sin(z))^2 + 1e4/2*(y - cos(z))^2 + z^2/2\n"
                           "[start]\nx = 0.842, y = 0.541, z = 1\n";

static const char *const models[] = {"double_pendulum", "forced_spring", "michaelis_menten", bare};

enum { MODELS = sizeof models / sizeof models[0], TEXT = 4000 };

/* All that a caller sees of a result, as text. */
static void fingerprint(const projected *p, char *text)
{
    int used = snprintf(text, TEXT, "%d %s", p->code, p->error.message);
    if (!p->projection)
        return;
    taut_sizes sizes = {.size = sizeof sizes};
    taut_system_sizes_get(p->system, &sizes, NULL);
    used += snprintf(text + used, (size_t)(TEXT - used), " %s %s %lld %lld", p->r.method,
                     p->r.explanation, (long long)p->r.passes,
                     (long long)p->r.statistics.force_evaluations);
    for (taut_index i = 0; i < sizes.coordinates; i++)
        used += snprintf(text + used, (size_t)(TEXT - used), " %a %a", p->r.q[i],
                         sizes.kind == TAUT_MECHANICAL ? p->r.v[i] : 0);
    for (taut_index i = 0; i < sizes.bonds; i++)
        used += snprintf(text + used, (size_t)(TEXT - used), " %a", p->r.lambda[i]);
}

static const char *warning(const projected *p)
{
    const char *text = p->projection ? taut_projection_warning(p->projection, 0) : NULL;
    return text ? text : "";
}

static void never_switched(void)
{
    static const char *const rows[][2] = {
        {"omega=10", "omega has no effect: projection series does not read it; ipa and kernel do"},
        {"window=12", "window has no effect: projection series does not read it; ipa does"},
        {"micro-steps=20",
         "micro-steps has no effect: projection series does not read it; ipa and kernel do"},
        {"passes=50",
         "passes has no effect: projection series does not read it; ipa and kernel do"},
        {"tolerance=1e-3",
         "tolerance has no effect: projection series does not read it; ipa and kernel do"},
    };
    char plain[TEXT], with[TEXT];
    check_group("an option does not choose the projection");
    projected p = project_model("double_pendulum", NULL, "from=0");
    fingerprint(&p, plain);
    check_row(strcmp(p.r.method, "series") == 0, "%s", plain);
    projected_drop(&p);
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        p = project_model("double_pendulum", NULL, rows[k][0]);
        fingerprint(&p, with);
        check_row(strcmp(plain, with) == 0, "%s: %s, expected %s", rows[k][0], with, plain);
        check_row(strcmp(warning(&p), rows[k][1]) == 0, "%s: %s", rows[k][0], warning(&p));
        check_row(p.projection && !taut_projection_warning(p.projection, 1), "%s: one warning",
                  rows[k][0]);
        projected_drop(&p);
    }
    /* nor does [run]: settings of a model are for all of its projections, and not reported */
    p = project_model("[coordinates]\nx\n[bonds]\nb = x - 1 stiffness 1e6\n[start]\nx = 1.01\n"
                      "[run]\npasses = 50\nomega = 10\n",
                      NULL, "from=0");
    check_row(p.code == 0 && strcmp(p.r.method, "series") == 0 && !*warning(&p), "[run]: %s: %s",
              p.error.message, warning(&p));
    projected_drop(&p);
}

/* Two values of each setting, of which at least one is not its default. */
static const struct {
    unsigned bit;
    const char *name, *value[2];
} settings[] = {
    {TAUT_SETTING_OMEGA, "omega", {"60", "2000"}},
    {TAUT_SETTING_WINDOW, "window", {"12", "30"}},
    {TAUT_SETTING_MICRO_STEPS, "micro-steps", {"60", "90"}},
    {TAUT_SETTING_KERNEL, "kernel", {"smooth", "bump"}},
    {TAUT_SETTING_MOMENTS, "moments", {"3", "7"}},
    {TAUT_SETTING_SMOOTHNESS, "smoothness", {"1", "7"}},
    {TAUT_SETTING_ACCELERATE, "accelerate", {"yes", "yes"}},
    {TAUT_SETTING_PASSES, "passes", {"1", "3"}},
    {TAUT_SETTING_TOLERANCE, "tolerance", {"1e-2", "1e-4"}},
    {TAUT_SETTING_ORDER, "order", {"0", "1"}},
    {TAUT_SETTING_HORIZON, "horizon", {"0.1", "0.2"}},
    {TAUT_SETTING_ITERATE, "iterate", {"plain", "plain"}},
};

enum { SETTINGS = sizeof settings / sizeof settings[0] };

/* Does the setting change what the projection makes of the model? Reports a warning that is
 * there without a reason, or missing. ipa reads moments and smoothness for smooth kernels. */
static bool changes(const taut_projection_method *row, const char *model, int k, int value)
{
    char options[200], plain[TEXT], with[TEXT];
    const char *kernel = strcmp(row->name, "ipa") == 0 && settings[k].bit != TAUT_SETTING_KERNEL
                             ? " kernel=smooth"
                             : "";
    bool reads = row->reads & settings[k].bit;
    snprintf(options, sizeof options, "method=%s%s", row->name, *kernel && reads ? kernel : "");
    projected p = project_model(model, NULL, options);
    fingerprint(&p, plain);
    projected_drop(&p);
    snprintf(options + strlen(options), sizeof options - strlen(options), " %s=%s",
             settings[k].name, settings[k].value[value]);
    p = project_model(model, NULL, options);
    fingerprint(&p, with);
    bool same = strcmp(plain, with) == 0, reported = *warning(&p);
    if (p.code == 0)
        check_row(reads ? same || !reported : same && reported, "%s, %.20s: %s; %s", options, model,
                  same ? "same result" : "other result", reported ? warning(&p) : "no warning");
    projected_drop(&p);
    return !same;
}

static void read_as_listed(void)
{
    check_group("what a projection reads");
    for (int row = 0; row < taut_projection_count(); row++) {
        taut_projection_info info = {.size = sizeof info};
        const taut_projection_method *method = &taut_projection_auto;
        taut_error error = {0};
        taut_projection_get(row, &info, NULL);
        check_equal(info.name, taut_projection_find(info.name, &method, &error), 0);
        for (int k = 0; k < SETTINGS && method != &taut_projection_auto; k++) {
            bool differs = false;
            for (int model = 0; model < MODELS; model++)
                for (int value = 0; value < 2; value++)
                    differs |= changes(method, models[model], k, value);
            check_row(differs == (bool)(method->reads & settings[k].bit), "%s %s %s", method->name,
                      differs ? "reads" : "does not read", settings[k].name);
        }
    }
}

static void conditions(void)
{
    static const char *const rows[][3] = {
        {"double_pendulum", "method=kernel omega=10", "omega has no effect"},
        {"double_pendulum", "method=ipa moments=7", "moments has no effect"},
        {"double_pendulum", "method=ipa kernel=bump smoothness=3", "smoothness has no effect"},
        {"double_pendulum", "method=ipa kernel=smooth smoothness=3", ""},
        {"double_pendulum", "method=constraint passes=3 window=2", "window has no effect"},
        {"michaelis_menten", "passes=400", ""},
        {"michaelis_menten", "window=2",
         "window has no effect: projection difference does not "
         "read it"},
    };
    check_group("what a projection reads depends on settings and system");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        projected p = project_model(rows[k][0], NULL, rows[k][1]);
        if (projected_good(rows[k][1], &p))
            check_row(*rows[k][2] ? strstr(warning(&p), rows[k][2]) != NULL : !*warning(&p),
                      "%s: '%s', expected '%s'", rows[k][1], warning(&p), rows[k][2]);
        projected_drop(&p);
    }
}

int main(void)
{
    never_switched();
    read_as_listed();
    conditions();
    return check_done();
}
