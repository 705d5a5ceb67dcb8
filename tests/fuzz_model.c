/* fuzz_model.c - any bytes as a model file: the reader must answer with a system or an error, in
 * bounded time and memory. A small system must then answer everything that can be asked of it,
 * with numbers or an error. Tables are those of the shipped truss.
 *
 * With libFuzzer (preset fuzz) this is the target; otherwise main replays the files given as
 * arguments, so that an input that once failed can be tried in any build. */
#include <taut/taut.h>

#include "support/fuzz.h"

/* Names are made on request: ask for the first and the last of each kind, and for those beyond. */
static void look_at(const taut_system *system)
{
    taut_sizes sizes = {.size = sizeof sizes};
    taut_system_sizes_get(system, &sizes, NULL);
    const struct {
        taut_item item;
        taut_index count;
    } kinds[] = {{TAUT_COORDINATE, sizes.coordinates},
                 {TAUT_ALGEBRAIC, sizes.algebraic},
                 {TAUT_BOND, sizes.bonds},
                 {TAUT_PARAMETER, sizes.parameters},
                 {TAUT_OUTPUT, sizes.outputs},
                 {TAUT_EVENT_ITEM, sizes.events}};
    char name[24];
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        demand(kinds[k].count >= 0, "counts are not negative");
        if (kinds[k].count > 0) {
            demand(taut_system_name(system, kinds[k].item, 0, name, sizeof name) > 0,
                   "the first has a name");
            demand(taut_system_name(system, kinds[k].item, kinds[k].count - 1, name, sizeof name) >
                       0,
                   "the last has a name");
        }
        demand(taut_system_name(system, kinds[k].item, kinds[k].count, name, sizeof name) == 0,
               "beyond the last there is no name");
    }
    for (taut_index k = 0; k < sizes.warnings; k++)
        demand(taut_system_warning(system, k) != NULL, "warnings have a text");
}

enum { SMALL = 64, TANGENT = SMALL * SMALL };

/* Room for everything that a small system answers. */
typedef struct room {
    double q[SMALL], v[SMALL], lambda[SMALL], force[SMALL], bond[SMALL], dt[SMALL], gamma[SMALL],
        momentum[SMALL], stiff[SMALL];
    double jacobian[TANGENT], matrix[6][TANGENT], outputs[SMALL];
} room;

static void demand_answer(int status, const taut_error *error)
{
    demand(status <= 0, "without callbacks nothing asks for a smaller step");
    demand(status == 0 || (error->code == status && error->message[0]),
           "a failure has its code and a message");
}

static void ask_jets(taut_context *context, unsigned wanted, room *r, taut_values *values,
                     taut_error *error)
{
    enum { ORDER = 3 };
    taut_jet *jet = NULL;
    int status = taut_jet_create(context, ORDER, wanted, &jet, error);
    demand_answer(status, error);
    for (int j = 0; status == 0 && j <= ORDER; j++) {
        status = taut_jet_advance(jet, j, 0, r->q, r->v, values, error);
        demand_answer(status, error);
    }
    taut_jet_destroy(jet);
}

/* All questions at the initial state of a system that fits. */
static void ask(taut_context *context, const taut_sizes *sizes, room *r)
{
    taut_error error = {0};
    taut_values values = {.size = sizeof values,
                          .force = r->force,
                          .bond = r->bond,
                          .jacobian = r->jacobian,
                          .bond_dt = r->dt,
                          .gamma = r->gamma,
                          .bond_hessian = r->matrix[0],
                          .force_dq = r->matrix[1],
                          .force_dv = r->matrix[2],
                          .mass = r->matrix[3],
                          .mass_dq = r->matrix[4],
                          .stiff_force = r->stiff,
                          .stiff_hessian = r->matrix[5],
                          .momentum = r->momentum,
                          .bond_weight = r->lambda,
                          .mass_weight = r->v};
    const unsigned simple = TAUT_WANT_FORCE | TAUT_WANT_BOND | TAUT_WANT_JACOBIAN,
                   mechanical = TAUT_WANT_GAMMA | TAUT_WANT_BOND_HESSIAN | TAUT_WANT_MASS |
                                TAUT_WANT_MASS_DQ | TAUT_WANT_STIFF_FORCE |
                                TAUT_WANT_STIFF_HESSIAN | TAUT_WANT_ENERGY | TAUT_WANT_MOMENTUM,
                   wanted = simple | TAUT_WANT_FORCE_DQ | TAUT_WANT_FORCE_DV |
                            (sizes->kind == TAUT_MECHANICAL ? mechanical : 0);
    demand_answer(taut_context_start(context, 0, r->q, r->v, &error), &error);
    demand_answer(taut_evaluate(context, 0, r->q, r->v, simple, &values, &error), &error);
    demand_answer(taut_evaluate(context, 0, r->q, r->v, wanted, &values, &error), &error);
    demand_answer(taut_evaluate_outputs(context, 0, r->q, r->v, r->lambda, r->outputs, &error),
                  &error);
    demand_answer(taut_evaluate_events(context, 0, r->q, r->v, r->lambda, r->outputs, &error),
                  &error);
    for (taut_index k = 0; k < sizes->events; k++)
        demand_answer(taut_event_apply(context, k, 0, r->q, r->v, r->lambda, &error), &error);
    ask_jets(context, simple, r, &values, &error);
    for (taut_index k = 0; k < sizes->parameters && k < 3; k++) {
        demand_answer(taut_evaluate_parameter(context, 0, r->q, r->v, k, simple, &values, &error),
                      &error);
        demand_answer(taut_context_set_parameter(context, k, 0.5, &error), &error);
    }
}

static void use(const taut_system *system)
{
    taut_sizes sizes = {.size = sizeof sizes};
    taut_pattern pattern;
    taut_error error = {0};
    taut_system_sizes_get(system, &sizes, NULL);
    bool small = sizes.coordinates <= SMALL && sizes.algebraic <= SMALL && sizes.bonds <= SMALL &&
                 sizes.outputs <= SMALL && sizes.events <= SMALL && sizes.members < 10000 &&
                 sizes.jacobian_entries <= TANGENT;
    if (!small || sizes.kind == TAUT_BLACK_BOX)
        return;
    demand(taut_system_pattern_get(system, TAUT_PATTERN_TANGENT, &pattern, &error) ==
                   TAUT_ERROR_MEMORY ||
               error.code == 0,
           "a small system has its pattern");
    taut_context *context = NULL;
    room *r = calloc(1, sizeof *r);
    int status = taut_context_create(system, NULL, &context, &error);
    demand_answer(status, &error);
    if (status == 0 && r)
        ask(context, &sizes, r);
    taut_context_destroy(context);
    free(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t used = 0;
    taut_allocator allocator = {bounded_allocate, bounded_release, &used};
    taut_load how = {
        .size = sizeof how, .allocator = &allocator, .table_folder = TAUT_SOURCE_DIR "/models"};
    taut_system *system = NULL;
    taut_error error = {0};

    int status = taut_system_parse((const char *)data, size, "fuzz", &how, &system, &error);
    if (status == 0) {
        demand(system != NULL, "success gives a system");
        look_at(system);
        use(system);
    } else {
        demand(status < 0, "reading ends with success or an error");
        demand(system == NULL, "an error creates nothing");
        demand(error.code == status && error.message[0], "an error has its code and a message");
        demand(status != TAUT_ERROR_MODEL || (error.line > 0 && error.column > 0),
               "a wrong model has a place");
    }
    taut_system_destroy(system);
    demand(used == 0, "all memory is given back");
    return 0;
}
