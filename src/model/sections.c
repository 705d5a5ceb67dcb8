/* sections.c - the sections of a model file: declarations, and a kernel for each statement. */
#include "model/model.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    ANY = 1u << TAUT_FROM_Q | 1u << TAUT_FROM_V | 1u << TAUT_FROM_PARAMETER | 1u << TAUT_FROM_TIME,
    POSITION = 1u << TAUT_FROM_Q | 1u << TAUT_FROM_PARAMETER | 1u << TAUT_FROM_TIME,
};

taut_statement taut_statement_make(taut_model *model, const taut_document *document,
                                   const taut_item_tree *item, taut_role role, unsigned allow,
                                   const char *what)
{
    return (taut_statement){.model = model,
                            .document = document,
                            .item = item,
                            .role = role,
                            .list = -1,
                            .whole_row = model->whole_row,
                            .allow = allow,
                            .what = what};
}

int taut_model_add_kernel(taut_model *model, int list, taut_statement_kernel *kernel)
{
    taut_system *system = model->system;
    taut_statement_kernel ***const lists[TAUT_LIST_COUNT] = {
        &system->parameter_kernel, &system->compliance_kernel, &system->damping_kernel,
        &system->start_kernel,     &system->output_kernel,     &system->event_kernel,
        &system->tension_kernel,   &system->conserved_kernel,  &system->pair_kernel,
        &system->shape_kernel,     &system->setting_kernel};
    taut_statement_kernel ***to = list < 0 ? &system->kernel : lists[list];
    int32_t *count = list < 0 ? &system->kernels : &system->value_kernels[list];
    int64_t *capacity = list < 0 ? &model->kernel_capacity : &model->list_capacity[list];
    *to = taut_arena_grow(&system->arena, *to, *count, capacity, sizeof **to);
    TAUT_NEED(model->error, *to);
    (*to)[(*count)++] = kernel;
    return 0;
}

const taut_attribute *taut_item_attribute(const taut_item_tree *item, taut_word word)
{
    for (int32_t k = 0; k < item->attributes; k++)
        if (item->attribute[k].word == word)
            return &item->attribute[k];
    return NULL;
}

/* ---- declarations */

static int dimension_item(taut_model *model, const taut_item_tree *item)
{
    if (strcmp(item->left->name, "dimension") != 0 || item->left->count)
        return taut_model_fail(model, item->left->place,
                               "expected 'dimension = 2' or names of particles, found '%s ='",
                               item->left->name);
    taut_expand x;
    int32_t node;
    double value = 0;
    TAUT_TRY(taut_expand_init(&x, model, model->document, 0, "the dimension"));
    int status = taut_expand_index(&x, item->value, NULL, &node);
    if (status == 0 &&
        (!taut_graph_is_constant(x.graph, node, &value) || (value != 2 && value != 3)))
        status = taut_model_fail(model, item->value->place, "the dimension of particles is 2 or 3");
    taut_expand_clear(&x);
    if (model->dimension && status == 0)
        status = taut_model_fail(model, item->place, "the dimension is given twice");
    if (status == 0)
        model->dimension = (int)value;
    return status;
}

static int find_dimension(taut_model *model)
{
    for (int64_t k = 0; k < model->document->items; k++) {
        const taut_item_tree *item = &model->document->item[k];
        if (item->section == TAUT_SECTION_PARTICLES && item->left)
            TAUT_TRY(dimension_item(model, item));
    }
    return 0;
}

/* One item of the sections that declare variables. */
static int declare_variable(taut_model *model, const taut_item_tree *item, bool algebraic)
{
    taut_system *system = model->system;
    bool particle = item->section == TAUT_SECTION_PARTICLES;
    if (!item->value || item->value->kind != TAUT_TREE_NAME)
        return taut_model_fail(model, item->place, "expected a name to declare");
    if (particle && !model->dimension)
        return taut_model_fail(model, item->place,
                               "write 'dimension = 2' or 'dimension = 3' in [particles]");
    return taut_model_declare(model, model->document,
                              algebraic ? TAUT_SYMBOL_ALGEBRAIC : TAUT_SYMBOL_COORDINATE, item,
                              item->value, algebraic ? &system->algebraic : &system->coordinates,
                              particle ? model->dimension : 1, NULL);
}

/* last[items]: how many variables the items up to each one have declared. */
static int mark_positive(taut_model *model, const int64_t *last)
{
    taut_system *system = model->system;
    system->positive = TAUT_NEW(&system->arena, unsigned char, system->coordinates.total);
    if (!system->positive)
        return taut_fail_memory(model->error);
    for (int64_t k = 0; k < model->document->items; k++)
        if (taut_item_attribute(&model->document->item[k], TAUT_WORD_POSITIVE))
            for (int64_t i = k ? last[k - 1] : 0; i < last[k]; i++)
                system->positive[i] = 1;
    return 0;
}

/* Coordinates; then algebraic variables that constraints contain, which are state variables too
 * (algebraic.c); then the other algebraic ones. */
static int declare_variables(taut_model *model)
{
    bool declared = false, positive = false;
    const taut_document *document = model->document;
    int64_t *last = TAUT_NEW(&model->system->arena, int64_t, document->items + 1);
    if (!last)
        return taut_fail_memory(model->error);
    for (int64_t k = 0; k < document->items; k++) {
        const taut_item_tree *item = &document->item[k];
        if (item->section == TAUT_SECTION_COORDINATES || item->section == TAUT_SECTION_STATE ||
            (item->section == TAUT_SECTION_PARTICLES && !item->left)) {
            TAUT_TRY(declare_variable(model, item, false));
            declared = true;
            positive |= taut_item_attribute(item, TAUT_WORD_POSITIVE) != NULL;
        }
        last[k] = model->system->coordinates.total;
    }
    if (model->system->coordinates.total == 0)
        return taut_model_fail(
            model, (taut_place){1, 1, 0},
            declared ? "all families of coordinates are empty: check the parameters in their ranges"
                     : "the model has no coordinates: add a section "
                       "[coordinates], [particles] or [state]");
    TAUT_TRY(taut_model_find_followed(model));
    TAUT_TRY(taut_model_declare_followed(model));
    for (int64_t k = 0; k < document->items; k++)
        if (document->item[k].section == TAUT_SECTION_ALGEBRAIC && !model->followed[k])
            TAUT_TRY(declare_variable(model, &document->item[k], true));
    return positive ? mark_positive(model, last) : 0;
}

static int declare_definitions(taut_model *model)
{
    for (int64_t k = 0; k < model->document->items; k++) {
        const taut_item_tree *item = &model->document->item[k];
        if (item->section != TAUT_SECTION_DEFINITIONS)
            continue;
        bool function = item->left->kind == TAUT_TREE_CALL;
        if (function && item->iterators)
            return taut_model_fail(model, item->place, "a function has arguments, not loops");
        for (int32_t i = 0; function && i < item->left->count; i++)
            for (int32_t j = 0; j < i; j++)
                if (strcmp(item->left->child[i]->name, item->left->child[j]->name) == 0)
                    return taut_model_fail(model, item->left->child[i]->place,
                                           "two arguments have the same name");
        TAUT_TRY(taut_model_declare(model, model->document,
                                    function ? TAUT_SYMBOL_FUNCTION : TAUT_SYMBOL_DEFINITION, item,
                                    item->left, NULL, 1, NULL));
    }
    return 0;
}

double *taut_model_row_values(taut_model *model, int64_t count)
{
    if (count <= model->row_capacity)
        return model->row_value;
    model->row_value = TAUT_NEW(&model->scratch, double, count);
    model->row_capacity = model->row_value ? count : 0;
    return model->row_value;
}

/* ---- rows: bonds, constraints, invariants, observables */

/* One row of g. Bonds are declared before any is built. */
int taut_model_row_item(taut_model *model, const taut_item_tree *item, taut_index first,
                        const char *what, const taut_attribute *spring)
{
    const taut_tree *g = item->value;
    if (g->kind == TAUT_TREE_BINARY && strchr("<l>g=n", g->op)) /* also in brackets */
        return taut_model_fail(model, g->place, TAUT_ONE_SIDED);
    taut_statement s =
        taut_statement_make(model, model->document, item, TAUT_ROLE_BOND, POSITION, what);
    s.first_row = first;
    s.spring = spring;
    return taut_statement_terms(&s, item->value);
}

/* Invariants of mechanical models are no rows of g (conserved_section.c). */
static bool is_conserved(const taut_model *model, taut_section section)
{
    return section == TAUT_SECTION_INVARIANTS && !model->first_order;
}

static int declare_rows(taut_model *model, taut_section section)
{
    taut_names *names = &model->system->bonds;
    taut_model observed = taut_space_make(model);
    int status = 0;
    for (int64_t k = 0; k < model->document->items && status == 0; k++) {
        const taut_item_tree *item = &model->document->item[k];
        taut_symbol_block block;
        if (item->section != section || is_conserved(model, section))
            continue;
        if (item->left)
            status = taut_model_declare(model, model->document, TAUT_SYMBOL_BOND, item, item->left,
                                        names, 1, NULL);
        else if (item->value->kind != TAUT_TREE_NAME || item->value->member || item->value->primes)
            status = taut_model_fail(model, item->place, "expected a name, or name = expression");
        else
            status = taut_space_name(&observed, model, item, item->value, names, &block);
    }
    taut_arena_clear(&observed.scratch);
    return status;
}

static int build_rows(taut_model *model)
{
    static const taut_section order[] = {TAUT_SECTION_BONDS, TAUT_SECTION_CONSTRAINTS,
                                         TAUT_SECTION_INVARIANTS, TAUT_SECTION_OBSERVABLES};
    static const char *const what[] = {"a bond", "a constraint", "an invariant", "an observable"};
    taut_system *system = model->system;
    taut_index *const counts[] = {NULL, &system->sizes.constraints, &system->sizes.invariants,
                                  &system->sizes.observables};
    for (int s = 0; s < 4; s++) {
        int64_t before = system->bonds.total;
        TAUT_TRY(declare_rows(model, order[s]));
        if (counts[s])
            *counts[s] = (taut_index)(system->bonds.total - before);
    }
    system->sizes.bonds = (taut_index)system->bonds.total;
    TAUT_TRY(taut_model_divide(model));
    if (!(system->soft = TAUT_NEW(&system->arena, unsigned char, system->sizes.bonds)))
        return taut_fail_memory(model->error);
    int64_t block = 0;
    for (int s = 0; s < 4; s++)
        for (int64_t k = 0; k < model->document->items; k++) {
            const taut_item_tree *item = &model->document->item[k];
            if (item->section != order[s] || is_conserved(model, order[s]))
                continue;
            const taut_name_block *box = &system->bonds.block[block++].block;
            const taut_attribute *varies = NULL;
            model->whole_row = box->first;
            taut_index first = box->first;
            const int64_t count = taut_part_bonds(model, &first, box->count);
            if (s == 0)
                TAUT_TRY(taut_model_bond_attributes(model, item, first, count, &varies));
            TAUT_TRY(taut_model_row_item(model, item, first, what[s], varies));
        }
    return 0;
}

/* ---- forces, energies, masses */

/* Masses that are numbers must not be negative; massless coordinates are allowed, but M cannot
 * be inverted then. */
static int check_masses(taut_model *model, int32_t before, taut_place place)
{
    taut_system *system = model->system;
    for (int32_t k = before; k < system->kernels; k++) {
        const taut_statement_kernel *kernel = system->kernel[k];
        if (kernel->uses_q || kernel->uses_t || kernel->row != kernel->column)
            continue;
        double *mass = taut_model_row_values(model, system->sizes.coordinates);
        TAUT_NEED(model->error, mass);
        TAUT_TRY(taut_model_run(model, kernel, mass));
        for (int64_t i = 0; i < kernel->members; i++) {
            double m = mass[kernel->row[i]];
            char name[160];
            taut_names_print(&system->coordinates, m > 0 ? -1 : kernel->row[i], name, sizeof name);
            if (!(m >= 0) || !isfinite(m))
                return taut_model_fail(
                    model, place,
                    "the mass of %s is %g: it must be positive (0 for a massless coordinate)", name,
                    m);
            model->massless = model->massless || m == 0;
        }
    }
    return 0;
}

static int mass_statement(taut_model *model, const taut_item_tree *item, const taut_tree *left,
                          const taut_tree *left2, const taut_tree *value)
{
    taut_statement s =
        taut_statement_make(model, model->document, item, TAUT_ROLE_MASS, POSITION, "a mass");
    s.left = left;
    s.left2 = left2;
    if (left->primes)
        return taut_model_fail(model, left->place, "expected a coordinate, without a prime");
    int32_t before = model->system->kernels;
    TAUT_TRY(taut_statement_terms(&s, value));
    return check_masses(model, before, value->place);
}

static int mass_item(taut_model *model, const taut_item_tree *item)
{
    const taut_tree *left = item->left;
    if (strcmp(left->name, "M") != 0)
        return mass_statement(model, item, left, NULL, item->value);
    if (left->count != 2 || left->child[0]->kind != TAUT_TREE_NAME ||
        left->child[1]->kind != TAUT_TREE_NAME)
        return taut_model_fail(model, left->place,
                               "expected M[a, b] with the names of two coordinates");
    return mass_statement(model, item, left->child[0], left->child[1], item->value);
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* `1,5*x` is two terms, 1 and 5*x: does a number end at the comma at which the next one begins? */
static bool decimal_comma(const taut_document *document, const taut_item_tree *item)
{
    const char *text = document->text;
    size_t comma = (size_t)item->value->end.offset, k = comma;
    if (comma + 1 >= document->length || text[comma] != ',' || !is_digit(text[comma + 1]))
        return false;
    while (k > 0 && (text[k - 1] == '.' || is_digit(text[k - 1])))
        k--;
    return k < comma && k > 0 && text[k - 1] != '_' && !isalpha((unsigned char)text[k - 1]);
}

int taut_model_energy_item(taut_model *model, const taut_item_tree *item, taut_role role,
                           const char *what)
{
    taut_statement s = taut_statement_make(model, model->document, item, role,
                                           role == TAUT_ROLE_KINETIC ? ANY : POSITION, what);
    if (!model->survey && decimal_comma(model->document, item))
        TAUT_TRY(taut_model_warn(model, model->document, item->value->end,
                                 "the comma separates two terms, which are added; if it is a "
                                 "decimal comma, write a point (1.5), else a blank after it"));
    const taut_attribute *scale = taut_item_attribute(item, TAUT_WORD_SCALE);
    if (role == TAUT_ROLE_STIFF && !scale)
        return taut_model_fail(model, item->place,
                               "a stiff potential needs its scale: V(q)  scale omega^2");
    s.times = scale ? scale->value : NULL;
    s.fast = taut_item_attribute(item, TAUT_WORD_FAST) != NULL;
    model->system->fast_terms = model->system->fast_terms || s.fast;
    return taut_statement_terms(&s, item->value);
}

/* Each state variable has one rate, although a sum makes several kernels of it. */
static int mark_rates(taut_model *model, const taut_item_tree *item, int32_t before)
{
    taut_system *system = model->system;
    if (!model->rate_item && !(model->rate_item = TAUT_NEW(&model->scratch, const taut_item_tree *,
                                                           system->coordinates.total)))
        return taut_fail_memory(model->error);
    for (int32_t k = before; k < system->kernels; k++)
        for (int64_t i = 0; i < system->kernel[k]->members; i++) {
            const taut_item_tree **owner = &model->rate_item[system->kernel[k]->row[i]];
            char name[160];
            if (system->kernel[k]->row[i] >= system->coordinates.total - system->sizes.followed) {
                taut_names_print(&system->coordinates, system->kernel[k]->row[i], name,
                                 sizeof name);
                return taut_model_fail(model, item->place,
                                       "%s is algebraic: its rate follows from the constraints",
                                       name);
            }
            if (*owner && *owner != item) {
                taut_names_print(&system->coordinates, system->kernel[k]->row[i], name,
                                 sizeof name);
                return taut_model_fail(model, item->place,
                                       "the rate of %s is given twice (first in line %d)", name,
                                       (*owner)->place.line);
            }
            *owner = item;
        }
    return 0;
}

int taut_model_force_item(taut_model *model, const taut_item_tree *item, bool rate)
{
    taut_statement s = taut_statement_make(model, model->document, item, TAUT_ROLE_FORCE, ANY,
                                           rate ? "a rate" : "a force");
    s.left = item->left;
    if (item->left->kind != TAUT_TREE_NAME || item->left->primes != (rate ? 1 : 0))
        return taut_model_fail(
            model, item->left->place,
            rate ? "expected %s' = ... : the rate of a state variable"
                 : "expected %s = ... : the force on a coordinate, without a prime",
            item->left->name);
    int32_t before = model->system->kernels;
    TAUT_TRY(taut_statement_terms(&s, item->value));
    return rate ? mark_rates(model, item, before) : 0;
}

static int build_item(taut_model *model, const taut_item_tree *item)
{
    const taut_attribute *mass = taut_item_attribute(item, TAUT_WORD_MASS);
    switch (item->section) {
    case TAUT_SECTION_PARTICLES:
        return mass && !item->left ? mass_statement(model, item, item->value, NULL, mass->value)
                                   : 0;
    case TAUT_SECTION_MASS: return mass_item(model, item);
    case TAUT_SECTION_KINETIC:
        return taut_model_energy_item(model, item, TAUT_ROLE_KINETIC, "a kinetic energy");
    case TAUT_SECTION_POTENTIAL:
        return taut_model_energy_item(model, item, TAUT_ROLE_POTENTIAL, "a potential");
    case TAUT_SECTION_STIFF_POTENTIAL:
        return taut_model_energy_item(model, item, TAUT_ROLE_STIFF, "a stiff potential");
    case TAUT_SECTION_FORCES: return taut_model_force_item(model, item, false);
    case TAUT_SECTION_RATES: return taut_model_force_item(model, item, true);
    default: return 0;
    }
}

/* Where a coordinate is declared. */
static taut_place declared_at(const taut_model *model, taut_index k)
{
    const taut_names *names = &model->system->coordinates;
    for (int64_t b = 0; b < names->blocks; b++) {
        const taut_name_block *block = &names->block[b].block;
        const taut_symbol *symbol = taut_model_find(model, names->block[b].name);
        for (int32_t i = 0; symbol && i < symbol->blocks; i++)
            if (k >= block->first && k < block->first + block->count * block->components &&
                symbol->block[i].box.first == block->first &&
                symbol->block[i].kind == TAUT_SYMBOL_COORDINATE)
                return symbol->block[i].item->value->place;
    }
    return (taut_place){1, 1, 0};
}

static int check_rates(taut_model *model)
{
    taut_system *system = model->system;
    char name[160];
    for (int64_t i = 0; i < system->coordinates.total - system->sizes.followed; i++)
        if (!model->rate_item || !model->rate_item[i]) {
            taut_names_print(&system->coordinates, (taut_index)i, name, sizeof name);
            return taut_model_fail(model, declared_at(model, (taut_index)i),
                                   "the state variable %s has no rate: write %s' = ... in [rates]",
                                   name, name);
        }
    if (!system->sizes.algebraic || system->sizes.algebraic == system->sizes.constraints)
        return taut_model_check_followed(model);
    int64_t k = 0;
    while (model->document->item[k].section != TAUT_SECTION_ALGEBRAIC)
        k++;
    return taut_model_fail(model, model->document->item[k].place,
                           "there are %d algebraic variables and %d constraints: there must be one "
                           "constraint for each",
                           system->sizes.algebraic, system->sizes.constraints);
}

/* ---- which sections may occur together */

static int check_sections(taut_model *model)
{
    const bool *present = model->document->present;
    static const taut_section mechanical[] = {
        TAUT_SECTION_COORDINATES, TAUT_SECTION_PARTICLES,      TAUT_SECTION_MASS,
        TAUT_SECTION_KINETIC,     TAUT_SECTION_POTENTIAL,      TAUT_SECTION_FORCES,
        TAUT_SECTION_BONDS,       TAUT_SECTION_STIFF_POTENTIAL};
    static const taut_section first_order[] = {TAUT_SECTION_ALGEBRAIC, TAUT_SECTION_RATES,
                                               TAUT_SECTION_CONSTRAINTS, TAUT_SECTION_STEPPER,
                                               TAUT_SECTION_OBSERVABLES};
    model->first_order = present[TAUT_SECTION_STATE];
    const taut_section *wrong = model->first_order ? mechanical : first_order;
    size_t count = model->first_order ? sizeof mechanical / sizeof mechanical[0]
                                      : sizeof first_order / sizeof first_order[0];
    for (int64_t i = 0; i < model->document->items; i++)
        for (size_t k = 0; k < count; k++)
            if (model->document->item[i].section == wrong[k])
                return taut_model_fail(model, model->document->item[i].place,
                                       model->first_order
                                           ? "[%s] is not allowed with [state]: a model is either "
                                             "mechanical or of first order"
                                           : "[%s] needs a first-order model with [state]",
                                       taut_section_name(wrong[k]));
    for (int64_t i = 0; i < model->document->items && present[TAUT_SECTION_KINETIC]; i++) {
        const taut_item_tree *item = &model->document->item[i];
        if (item->section == TAUT_SECTION_MASS || taut_item_attribute(item, TAUT_WORD_MASS))
            return taut_model_fail(
                model, item->place,
                "masses come from [kinetic] in this model: give either masses or a kinetic energy");
    }
    return 0;
}

int taut_model_sections(taut_model *model)
{
    taut_system *system = model->system;
    TAUT_TRY(check_sections(model));
    system->sizes.kind = model->first_order ? TAUT_FIRST_ORDER : TAUT_MECHANICAL;
    TAUT_TRY(find_dimension(model));
    TAUT_TRY(declare_variables(model));
    TAUT_TRY(declare_definitions(model));
    system->sizes.coordinates = (taut_index)system->coordinates.total;
    system->sizes.algebraic = (taut_index)system->algebraic.total;
    system->sizes.dimension = model->dimension;
    TAUT_TRY(taut_model_settings(model));
    TAUT_TRY(build_rows(model));
    for (int64_t k = 0; k < model->document->items; k++)
        TAUT_TRY(build_item(model, &model->document->item[k]));
    if (system->sizes.kind == TAUT_FIRST_ORDER)
        TAUT_TRY(check_rates(model));
    else if (system->sizes.kind == TAUT_MECHANICAL)
        TAUT_TRY(taut_model_conserved(model));
    return taut_model_capabilities(model);
}
