/* test_misuse.c - calls that do not make sense: NULL, sizes that are not set, numbers out of range.
 * Functions with a status give TAUT_ERROR_USAGE and a sentence; functions that return a value give
 * NULL, 0, NaN or false; destroy accepts NULL. A crash fails the run of this test. */
#include <taut/taut.h>

#include "support/table.h"

static taut_system *sys;     /* a pendulum on a spring */
static taut_context *ctx;    /* of it */
static taut_solver *run;     /* of it */
static taut_projection *prj; /* of it */
static taut_error err;

static const char pendulum[] = "# a pendulum\n[coordinates]\nx, y\n"
                               "[parameters]\nheavy = 9.81\n[forces]\ny = -heavy\n[bonds]\n"
                               "rope = sqrt(x^2 + y^2) - 1 stiffness 1e4\n[outputs]\nr = x\n"
                               "[start]\nx = 1\n[run]\nuntil = 1\n";

/* One call that must fail as misuse, with a sentence. */
#define MISUSE(call)                                                                               \
    do {                                                                                           \
        memset(&err, 0, sizeof err);                                                               \
        int given = (call);                                                                        \
        check_row(given == TAUT_ERROR_USAGE && err.message[0], "%s: %d '%s'", #call, given,        \
                  err.message);                                                                    \
    } while (0)
/* The same of a call without an error to fill. */
#define REFUSED(call) check_row((call) == TAUT_ERROR_USAGE, "%s", #call)
#define GIVES(call) check_row((call), "%s", #call)

static void open_all(void)
{
    taut_options *options = NULL;
    int code = taut_system_parse(pendulum, sizeof pendulum - 1, "pendulum", NULL, &sys, &err);
    if (code == 0)
        code = taut_context_create(sys, NULL, &ctx, &err);
    if (code == 0)
        code = taut_solver_create(sys, NULL, NULL, &run, &err);
    if (code == 0)
        code = taut_options_create(NULL, &options, &err);
    if (code == 0)
        code = taut_options_set_text(options, "method", "series", &err);
    if (code == 0)
        code = taut_project(sys, options, NULL, &prj, &err);
    taut_options_destroy(options);
    check_row(code == 0, "made: %d %s", code, err.message);
}

static void test_systems(void)
{
    taut_system *s = (taut_system *)&err;
    taut_sizes none = {0}, large = {.size = sizeof large + 1}, sizes = {.size = sizeof sizes};
    taut_load how = {0}, good = {.size = sizeof good, .set_count = 2}, set = good;
    const char *const missing[] = {"a=1", NULL};
    const char *name, *value;
    char text[8];
    set.set = missing;
    check_group("systems");
    MISUSE(taut_system_load(NULL, NULL, &s, &err));
    GIVES(s == NULL);
    MISUSE(taut_system_load("x.taut", NULL, NULL, &err));
    MISUSE(taut_system_load("x.taut", &how, &s, &err));
    MISUSE(taut_system_parse(NULL, 0, "x", NULL, &s, &err));
    MISUSE(taut_system_parse("", 0, NULL, NULL, &s, &err));
    MISUSE(taut_system_parse("", 0, "x", NULL, NULL, &err));
    MISUSE(taut_system_parse("", 0, "x", &how, &s, &err));
    MISUSE(taut_system_parse("", 0, "x", &good, &s, &err));
    MISUSE(taut_system_parse("", 0, "x", &set, &s, &err));
    MISUSE(taut_system_sizes_get(NULL, &sizes, &err));
    MISUSE(taut_system_sizes_get(sys, NULL, &err));
    MISUSE(taut_system_sizes_get(sys, &none, &err));
    MISUSE(taut_system_sizes_get(sys, &large, &err));
    GIVES(taut_system_name(NULL, TAUT_BOND, 0, text, sizeof text) == 0 && text[0] == '\0');
    GIVES(taut_system_name(sys, TAUT_BOND, 0, NULL, 4) == 0);
    GIVES(taut_system_name(sys, TAUT_BOND, -1, text, sizeof text) == 0);
    GIVES(taut_system_find(NULL, TAUT_BOND, "x") == -1);
    GIVES(taut_system_find(sys, TAUT_BOND, NULL) == -1);
    GIVES(taut_system_title(NULL) == NULL);
    GIVES(taut_system_warning(NULL, 0) == NULL && taut_system_warning(sys, 7) == NULL);
    GIVES(!taut_system_setting(NULL, 0, &name, &value));
    GIVES(!taut_system_setting(sys, 0, NULL, &value));
    GIVES(!taut_system_setting(sys, 0, &name, NULL));
    GIVES(taut_system_hold(NULL) == NULL);
    MISUSE(taut_system_rigid(NULL, &s, &err));
    MISUSE(taut_system_rigid(sys, NULL, &err));
    MISUSE(taut_system_with(NULL, 1, &(taut_index){0}, &(double){1}, &s, &err));
    MISUSE(taut_system_with(sys, 1, NULL, &(double){1}, &s, &err));
    MISUSE(taut_system_with(sys, 1, &(taut_index){99}, &(double){1}, &s, &err));
    MISUSE(taut_system_effective(NULL, &(double){1}, 1, &s, &err));
    MISUSE(taut_system_effective(sys, NULL, 1, &s, &err));
    MISUSE(taut_system_effective(sys, &(double){1}, 0, &s, &err));
    MISUSE(taut_system_effective(sys, &(double){1}, 1, NULL, &err));
    taut_system_destroy(NULL);
}

static void test_contexts(void)
{
    taut_context *c = (taut_context *)&err;
    taut_pattern pattern;
    taut_event_info event = {.size = sizeof event};
    double q[2] = {1, 0}, v[2] = {0};
    check_group("contexts");
    MISUSE(taut_context_create(NULL, NULL, &c, &err));
    GIVES(c == NULL);
    MISUSE(taut_context_create(sys, NULL, NULL, &err));
    MISUSE(taut_context_set_parameter(NULL, 0, 1, &err));
    MISUSE(taut_context_set_parameter(ctx, -1, 1, &err));
    MISUSE(taut_context_set_parameter(ctx, 100, 1, &err));
    MISUSE(taut_context_start(NULL, 0, q, v, &err));
    MISUSE(taut_context_start(ctx, 0, NULL, v, &err));
    MISUSE(taut_context_start(ctx, 0, q, NULL, &err));
    GIVES(taut_context_system(NULL) == NULL && taut_context_statistics(NULL) == NULL);
    GIVES(isnan(taut_context_parameter(NULL, 0)) && isnan(taut_context_parameter(ctx, -1)));
    GIVES(!taut_context_compliance(NULL) && !taut_context_damping(NULL) &&
          !taut_context_mass(NULL));
    GIVES(!taut_context_soft(NULL, 0) && !taut_context_soft(ctx, 99));
    MISUSE(taut_system_pattern_get(NULL, TAUT_PATTERN_JACOBIAN, &pattern, &err));
    MISUSE(taut_system_pattern_get(sys, TAUT_PATTERN_JACOBIAN, NULL, &err));
    MISUSE(taut_system_pattern_get(sys, TAUT_PATTERN_CONTROL, &pattern, &err));
    MISUSE(taut_system_event_get(NULL, 0, &event, &err));
    MISUSE(taut_system_event_get(sys, 0, &event, &err));
    MISUSE(taut_event_apply(NULL, 0, 0, q, v, NULL, &err));
    MISUSE(taut_event_apply(ctx, 0, 0, q, v, NULL, &err));
    taut_context_destroy(NULL);
}

static void test_evaluation(void)
{
    taut_values empty = {.size = sizeof empty}, zero = {0};
    taut_jet *jet = (taut_jet *)&err;
    double q[2] = {1, 0}, v[2] = {0}, outputs[1];
    check_group("evaluation");
    MISUSE(taut_evaluate(NULL, 0, q, v, TAUT_WANT_ENERGY, &empty, &err));
    MISUSE(taut_evaluate(ctx, 0, NULL, v, TAUT_WANT_ENERGY, &empty, &err));
    MISUSE(taut_evaluate(ctx, 0, q, v, TAUT_WANT_ENERGY, NULL, &err));
    MISUSE(taut_evaluate(ctx, 0, q, v, TAUT_WANT_ENERGY, &zero, &err));
    for (unsigned bit = TAUT_WANT_FORCE; bit <= TAUT_WANT_MOMENTUM; bit <<= 1)
        if (bit != TAUT_WANT_ENERGY)
            MISUSE(taut_evaluate(ctx, 0, q, v, bit, &empty, &err));
    MISUSE(taut_evaluate_parameter(NULL, 0, q, v, 0, TAUT_WANT_ENERGY, &empty, &err));
    MISUSE(taut_evaluate_parameter(ctx, 0, q, v, 5, TAUT_WANT_ENERGY, &empty, &err));
    MISUSE(taut_evaluate_parameter(ctx, 0, q, v, 0, TAUT_WANT_FORCE, &empty, &err));
    MISUSE(taut_evaluate_outputs(NULL, 0, q, v, NULL, outputs, &err));
    MISUSE(taut_evaluate_outputs(ctx, 0, NULL, v, NULL, outputs, &err));
    MISUSE(taut_evaluate_outputs(ctx, 0, q, v, NULL, NULL, &err));
    MISUSE(taut_evaluate_events(NULL, 0, q, v, NULL, outputs, &err));
    MISUSE(taut_shapes_at(NULL, 0, q, v, NULL, outputs, &err));
    MISUSE(taut_shapes_at(ctx, 0, NULL, v, NULL, outputs, &err));
    MISUSE(taut_shape_get(NULL, 0, &(taut_shape){.size = sizeof(taut_shape)}, &err));
    GIVES(taut_shape_count(NULL) == 0);
    MISUSE(taut_jet_create(NULL, 2, TAUT_WANT_FORCE, &jet, &err));
    GIVES(jet == NULL);
    MISUSE(taut_jet_create(ctx, 2, TAUT_WANT_FORCE, NULL, &err));
    MISUSE(taut_jet_create(ctx, -1, TAUT_WANT_FORCE, &jet, &err));
    MISUSE(taut_jet_create(ctx, TAUT_JET_ORDER_MAX + 1, TAUT_WANT_FORCE, &jet, &err));
    MISUSE(taut_jet_advance(NULL, 0, 0, q, v, &empty, &err));
    check_equal("a jet", taut_jet_create(ctx, 2, TAUT_WANT_FORCE, &jet, &err), 0);
    MISUSE(taut_jet_advance(jet, 0, 0, q, v, &empty, &err));
    MISUSE(taut_jet_advance(jet, 0, 0, q, v, NULL, &err));
    MISUSE(taut_jet_advance(jet, 0, 0, NULL, v, &empty, &err));
    taut_jet_destroy(jet);
    taut_jet_destroy(NULL);
}

static void test_modes(void)
{
    taut_mode mode[2];
    taut_modes_report report = {.size = sizeof report}, zero = {0};
    double q[2] = {1, 0}, frequency[4];
    int found;
    bool complete;
    check_group("modes");
    MISUSE(taut_modes(NULL, 0, q, NULL, 2, mode, &report, &err));
    MISUSE(taut_modes(ctx, 0, NULL, NULL, 2, mode, &report, &err));
    MISUSE(taut_modes(ctx, 0, q, NULL, 2, NULL, &report, &err));
    MISUSE(taut_modes(ctx, 0, q, NULL, 2, mode, NULL, &err));
    MISUSE(taut_modes(ctx, 0, q, NULL, 2, mode, &zero, &err));
    MISUSE(taut_modes(ctx, 0, q, NULL, 0, mode, &report, &err));
    MISUSE(taut_solver_watch(NULL, NULL, NULL, &err));
    taut_modes_along *along = NULL;
    taut_modes_rows rows = {.size = sizeof rows}, no_rows = {0};
    taut_modes_episode episode = {.size = sizeof episode};
    taut_sink sink;
    MISUSE(taut_modes_along_create(NULL, 2, NULL, &along, &sink, &err));
    MISUSE(taut_modes_along_create(sys, 0, NULL, &along, &sink, &err));
    MISUSE(taut_modes_along_create(sys, 2, NULL, NULL, &sink, &err));
    MISUSE(taut_modes_along_create(sys, 2, NULL, &along, NULL, &err));
    MISUSE(taut_modes_along_get(NULL, &rows, &err));
    MISUSE(taut_modes_episode_get(NULL, 0, &episode, &err));
    check_equal("along", taut_modes_along_create(sys, 2, NULL, &along, &sink, &err), 0);
    MISUSE(taut_modes_along_get(along, NULL, &err));
    MISUSE(taut_modes_along_get(along, &no_rows, &err));
    MISUSE(taut_modes_episode_get(along, -1, &episode, &err));
    MISUSE(taut_modes_episode_get(along, 0, &episode, &err));
    taut_modes_along_destroy(along);
    taut_modes_along_destroy(NULL);
    MISUSE(taut_frequencies(NULL, 0, q, 2, frequency, &found, &complete, &err));
    MISUSE(taut_frequencies(ctx, 0, NULL, 2, frequency, &found, &complete, &err));
    MISUSE(taut_frequencies(ctx, 0, q, -1, frequency, &found, &complete, &err));
    MISUSE(taut_frequencies(ctx, 0, q, 2, NULL, &found, &complete, &err));
    MISUSE(taut_frequencies(ctx, 0, q, 2, frequency, NULL, &complete, &err));
    MISUSE(taut_frequencies(ctx, 0, q, 2, frequency, &found, NULL, &err));
}

static void test_solvers(void)
{
    taut_solver *solver = (taut_solver *)&err;
    taut_result zero = {0}, result = {.size = sizeof result};
    taut_sink empty = {0};
    taut_file_sink *file = NULL;
    taut_options *options = NULL;
    taut_method_info info = {.size = sizeof info}, nothing = {0};
    check_group("solvers");
    MISUSE(taut_options_create(NULL, NULL, &err));
    MISUSE(taut_options_set(NULL, "step", "1", &err));
    check_equal("options", taut_options_create(NULL, &options, &err), 0);
    MISUSE(taut_options_set(options, NULL, "1", &err));
    MISUSE(taut_options_set_real(options, NULL, 1, &err));
    MISUSE(taut_options_set_real(NULL, "step", 1, &err));
    MISUSE(taut_options_set_text(options, "method", NULL, &err));
    GIVES(taut_options_text(NULL, NULL) == NULL && isnan(taut_options_real(NULL, NULL)));
    GIVES(taut_options_integer(NULL, NULL) == 0 && !taut_options_flag(options, NULL));
    GIVES(!taut_options_given(NULL, "step") && !taut_options_given(options, NULL));
    taut_options_destroy(options);
    taut_options_destroy(NULL);
    MISUSE(taut_method_get(-1, &info, &err));
    MISUSE(taut_method_get(10000, &info, &err));
    MISUSE(taut_method_get(0, NULL, &err));
    MISUSE(taut_method_get(0, &nothing, &err));
    MISUSE(taut_solver_create(NULL, NULL, NULL, &solver, &err));
    GIVES(solver == NULL);
    MISUSE(taut_solver_create(sys, NULL, NULL, NULL, &err));
    MISUSE(taut_solver_run(NULL, NULL, 0, NULL, NULL, &err));
    MISUSE(taut_solver_run(run, NULL, 1, NULL, NULL, &err));
    MISUSE(taut_solver_run(run, &empty, -1, NULL, NULL, &err));
    MISUSE(taut_solver_run(run, &empty, 1, NULL, NULL, &err));
    MISUSE(taut_solver_advance(NULL, 1, &err));
    MISUSE(taut_solver_advance(run, NAN, &err));
    MISUSE(taut_solver_advance(run, INFINITY, &err));
    MISUSE(taut_solver_result_get(NULL, &result, &err));
    MISUSE(taut_solver_result_get(run, NULL, &err));
    MISUSE(taut_solver_result_get(run, &zero, &err));
    GIVES(isnan(taut_solver_time(NULL)) && !taut_solver_position(NULL));
    GIVES(!taut_solver_velocity(NULL) && !taut_solver_multipliers(NULL));
    GIVES(!taut_solver_explanation(NULL) && !taut_solver_warning(NULL, 0));
    GIVES(!taut_solver_notice(NULL, 0) && !taut_solver_notice(run, -1) &&
          !taut_solver_notice(run, 99));
    GIVES(!taut_solver_warning(run, -1) && !taut_solver_warning(run, 99));
    MISUSE(taut_csv_create(NULL, &file, &empty, &err));
    MISUSE(taut_csv_create("x.csv", NULL, &empty, &err));
    MISUSE(taut_csv_create("x.csv", &file, NULL, &err));
    MISUSE(taut_picture_create("x.svg", NULL, NULL, &empty, &err));
    MISUSE(taut_picture_create("x.svg", NULL, &file, NULL, &err));
    MISUSE(taut_hdf5_create("x.h5", NULL, &empty, &err));
    MISUSE(taut_hdf5_create("x.h5", &file, NULL, &err));
    MISUSE(taut_plot(NULL, NULL, NULL, 0, NULL, NULL, NULL, false, &err));
    MISUSE(taut_plot("x.svg", (const char *const[]){"a", "b", "c"}, NULL, 1, NULL, NULL, NULL,
                     false, &err));
    taut_memory_sink *memory = NULL;
    taut_memory_rows rows = {.size = sizeof rows}, no_rows = {0};
    taut_record *record = NULL;
    taut_sizes sizes = {.size = sizeof sizes};
    MISUSE(taut_record_open(NULL, NULL, &record, &err));
    MISUSE(taut_record_open("x.h5", NULL, NULL, &err));
    MISUSE(taut_record_sizes_get(NULL, &sizes, NULL, &err));
    MISUSE(taut_record_rows_get(NULL, 0, -1, &rows, &err));
    MISUSE(taut_file_sink_text(NULL, "a", "b", &err));
    GIVES(!taut_record_name(NULL, TAUT_BOND, 0) && !taut_record_text(NULL, "model"));
    GIVES(!taut_record_text_name(NULL, 0) && taut_record_find(NULL, 0) == -1);
    taut_record_destroy(NULL);
    MISUSE(taut_memory_sink_create(NULL, NULL, &empty, &err));
    MISUSE(taut_memory_sink_create(NULL, &memory, NULL, &err));
    MISUSE(taut_memory_sink_get(NULL, &rows, &err));
    check_equal("memory", taut_memory_sink_create(NULL, &memory, &empty, &err), 0);
    MISUSE(taut_memory_sink_get(memory, NULL, &err));
    MISUSE(taut_memory_sink_get(memory, &no_rows, &err));
    taut_memory_sink_destroy(memory);
    taut_memory_sink_destroy(NULL);
    MISUSE(taut_solver_keep(NULL, true, &err));
    MISUSE(taut_solver_times(NULL, &(double){1}, 1, &err));
    MISUSE(taut_solver_interpolate(NULL, 0, NULL, NULL, NULL, &err));
    MISUSE(taut_solver_interpolate(run, 0, NULL, NULL, NULL, &err));
    GIVES(taut_solver_kept(NULL, NULL, NULL) == 0);
    taut_file_sink_destroy(NULL);
    taut_solver_destroy(NULL);
}

static void test_projections(void)
{
    taut_projection *p = (taut_projection *)&err;
    taut_projection_result result = {.size = sizeof result}, zero = {0};
    taut_projection_info info = {.size = sizeof info};
    taut_projection_stage stage = {.size = sizeof stage};
    taut_projection_window window = {.size = sizeof window};
    check_group("projections");
    MISUSE(taut_project(NULL, NULL, NULL, &p, &err));
    MISUSE(taut_project(sys, NULL, NULL, NULL, &err));
    MISUSE(taut_projection_get(-1, &info, &err));
    MISUSE(taut_projection_get(99, &info, &err));
    MISUSE(taut_projection_get(0, NULL, &err));
    MISUSE(taut_projection_result_get(NULL, &result, &err));
    MISUSE(taut_projection_result_get(prj, NULL, &err));
    MISUSE(taut_projection_result_get(prj, &zero, &err));
    MISUSE(taut_projection_stage_get(NULL, 0, &stage, &err));
    MISUSE(taut_projection_stage_get(prj, 99, &stage, &err));
    MISUSE(taut_projection_window_get(NULL, 0, &window, &err));
    MISUSE(taut_projection_window_get(prj, 2, &window, &err));
    MISUSE(taut_projection_plot(NULL, "x.svg", NULL, &err));
    MISUSE(taut_projection_plot(prj, NULL, NULL, &err));
    GIVES(!taut_projection_warning(NULL, 0) && !taut_projection_warning(prj, 99));
    GIVES(!taut_projection_pass(NULL, 0, NULL, NULL, NULL));
    GIVES(!taut_projection_pass(prj, -1, NULL, NULL, NULL));
    GIVES(!taut_projection_expansion(NULL, 0, NULL, NULL, NULL));
    taut_projection_destroy(NULL);
}

static void test_comparing(void)
{
    taut_comparison *c = (taut_comparison *)&err;
    taut_compare_request zero = {0}, empty = {.size = sizeof empty};
    taut_compare_request half = {.size = sizeof half, .method_count = 1, .value_count = 1};
    taut_compared row = {.size = sizeof row};
    taut_check_report report = {.size = sizeof report}, none = {0};
    double uncertainty;
    check_group("comparing and checking");
    MISUSE(taut_compare(NULL, NULL, &empty, NULL, &c, &err));
    GIVES(c == NULL);
    MISUSE(taut_compare(sys, NULL, NULL, NULL, &c, &err));
    MISUSE(taut_compare(sys, NULL, &zero, NULL, &c, &err));
    MISUSE(taut_compare(sys, NULL, &empty, NULL, &c, &err));
    MISUSE(taut_compare(sys, NULL, &half, NULL, &c, &err));
    MISUSE(taut_compare(sys, NULL, &empty, NULL, NULL, &err));
    MISUSE(taut_comparison_get(NULL, 0, &row, &err));
    GIVES(!taut_comparison_explanation(NULL, &uncertainty) && isnan(uncertainty));
    MISUSE(taut_check(NULL, NULL, &report, &err));
    MISUSE(taut_check(sys, NULL, NULL, &err));
    MISUSE(taut_check(sys, NULL, &none, &err));
    taut_comparison_destroy(NULL);
}

static int no_force(void *user, double t, const double *q, const double *v, double *f)
{
    (void)user, (void)t, (void)q, (void)v;
    f[0] = 0;
    return 0;
}

static void test_made_in_c(void)
{
    taut_system *s = (taut_system *)&err;
    taut_callbacks zero = {0}, empty = {.size = sizeof empty};
    taut_callbacks good = {.size = sizeof good, .coordinates = 1, .force = no_force};
    taut_black_box no_size = {0}, no_flow = {.size = sizeof no_flow, .variables = 1};
    taut_builder *b = (taut_builder *)&err;
    const taut_index end[1] = {0}, triple[3] = {0, 1, 2};
    const double rest[1] = {1};
    check_group("systems made in C");
    MISUSE(taut_system_from_callbacks(NULL, NULL, &s, &err));
    MISUSE(taut_system_from_callbacks(&zero, NULL, &s, &err));
    MISUSE(taut_system_from_callbacks(&empty, NULL, &s, &err));
    MISUSE(taut_system_from_callbacks(&good, NULL, NULL, &err));
    good.bonds = 1;
    MISUSE(taut_system_from_callbacks(&good, NULL, &s, &err));
    MISUSE(taut_system_from_flow(NULL, NULL, &s, &err));
    MISUSE(taut_system_from_flow(&no_size, NULL, &s, &err));
    MISUSE(taut_system_from_flow(&no_flow, NULL, &s, &err));
    MISUSE(taut_system_from_flow(&no_flow, NULL, NULL, &err));
    MISUSE(taut_builder_create(4, 1, NULL, &b, &err));
    MISUSE(taut_builder_create(2, 0, NULL, &b, &err));
    MISUSE(taut_builder_create(2, 1, NULL, NULL, &err));
    REFUSED(taut_builder_mass(NULL, rest));
    REFUSED(taut_builder_start(NULL, rest, NULL));
    REFUSED(taut_builder_gravity(NULL, rest));
    REFUSED(taut_builder_distances(NULL, "a", 1, end, end, NULL, rest, NULL));
    REFUSED(taut_builder_angles(NULL, 1, triple, rest, rest));
    MISUSE(taut_builder_finish(NULL, &s, &err));
    const char *what[] = {"mass", "start", "gravity", "distances", "angles", "name"};
    for (int k = 0; k < 6; k++) {
        check_equal("builder", taut_builder_create(2, 1, NULL, &b, &err), 0);
        int code = k == 0   ? taut_builder_mass(b, NULL)
                   : k == 1 ? taut_builder_start(b, NULL, NULL)
                   : k == 2 ? taut_builder_gravity(b, NULL)
                   : k == 3 ? taut_builder_distances(b, "a", 1, NULL, NULL, NULL, NULL, NULL)
                   : k == 4 ? taut_builder_angles(b, 1, NULL, NULL, NULL)
                            : taut_builder_distances(b, NULL, 1, end, end, NULL, rest, NULL);
        check_equal(what[k], code, TAUT_ERROR_USAGE);
        MISUSE(taut_builder_finish(b, &s, &err));
        taut_builder_destroy(b);
    }
    check_equal("builder", taut_builder_create(2, 1, NULL, &b, &err), 0);
    MISUSE(taut_builder_finish(b, NULL, &err));
    taut_builder_destroy(b);
    taut_builder_destroy(NULL);
}

/* A program that was compiled with an older header: its structs are shorter. Nothing is written
 * behind them, and what they lack is read as zero. */
static void test_older(void)
{
    union {
        taut_result now;
        unsigned char byte[sizeof(taut_result)];
    } room;
    check_group("an older program");
    memset(&room, 0x5a, sizeof room);
    room.now.size = offsetof(taut_result, statistics);
    check_equal("result", taut_solver_result_get(run, &room.now, &err), 0);
    check_row(room.now.size == offsetof(taut_result, statistics), "its size stays");
    check_row(room.now.method && strcmp(room.now.method, "none") != 0, "%s", room.now.method);
    bool untouched = true;
    for (size_t k = offsetof(taut_result, statistics); k < sizeof room; k++)
        untouched &= room.byte[k] == 0x5a;
    check_row(untouched, "nothing is written behind the end");
    taut_load how = {.size = offsetof(taut_load, from), .start_text = "(nonsense"};
    taut_system *s = NULL;
    check_equal("load", taut_system_parse(pendulum, sizeof pendulum - 1, "p", &how, &s, &err), 0);
    taut_system_destroy(s);
}

/* The functions of init.h: the size, and zero. */
static void test_init(void)
{
    check_group("init");
#define INIT(type)                                                                                 \
    do {                                                                                           \
        taut_##type x, zero;                                                                       \
        memset(&x, 0x5a, sizeof x);                                                                \
        memset(&zero, 0, sizeof zero);                                                             \
        taut_##type##_init(&x);                                                                    \
        zero.size = sizeof zero;                                                                   \
        check_row(memcmp(&x, &zero, sizeof x) == 0 && offsetof(taut_##type, size) == 0, #type);    \
    } while (0)
    INIT(load);
    INIT(sizes);
    INIT(method_info);
    INIT(result);
    INIT(projection_info);
    INIT(projection_result);
    INIT(projection_window);
    INIT(projection_stage);
    INIT(compare_request);
    INIT(compared);
    INIT(check_report);
    INIT(values);
    INIT(modes_report);
    INIT(modes_rows);
    INIT(modes_episode);
    INIT(event_info);
    INIT(callbacks);
    INIT(black_box);
    INIT(butcher_tableau);
    INIT(memory_rows);
#undef INIT
}

int main(void)
{
    open_all();
    test_systems();
    test_contexts();
    test_evaluation();
    test_modes();
    test_solvers();
    test_projections();
    test_comparing();
    test_made_in_c();
    test_older();
    test_init();
    GIVES(strcmp(taut_code_name(12345), "unknown") == 0 && taut_code_text(12345) != NULL);
    GIVES(taut_option_table(NULL) != NULL);
    taut_projection_destroy(prj);
    taut_solver_destroy(run);
    taut_context_destroy(ctx);
    taut_system_destroy(sys);
    return check_done();
}
