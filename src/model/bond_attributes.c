/* bond_attributes.c - stiffness, compliance and damping of bonds: numbers of each bond, as kernels
 * over parameters, tables and the index. A stiffness k(t) that depends on t stays a constant, that
 * of the initial time, while the bond is multiplied by sqrt(k(t)/k): (sqrt(k(t)/k) g)^2 k/2 is
 * k(t) g^2/2 (docs/theory.md). */
#include "model/model.h"

#include <math.h>

enum { TIMED = 1u << TAUT_FROM_PARAMETER | 1u << TAUT_FROM_TIME };

static int each_row(taut_model *model, const taut_item_tree *item, double *value, taut_index first,
                    int64_t count, const taut_attribute *a)
{
    char name[160];
    for (int64_t i = 0; i < count; i++) {
        if (value[first + i] >= 0 && isfinite(value[first + i]))
            continue;
        taut_names_print(&model->system->bonds, (taut_index)(first + i), name, sizeof name);
        if (a->word == TAUT_WORD_STIFFNESS)
            return taut_model_fail(model, a->value->place,
                                   "the stiffness of %s is %g: it must be positive", name,
                                   1 / value[first + i]);
        return taut_model_fail(
            model, a->value->place, "the %s of %s is %g: it must not be negative",
            a->word == TAUT_WORD_COMPLIANCE ? "compliance" : "damping", name, value[first + i]);
    }
    (void)item;
    return 0;
}

/* Compliance or damping time of a family of bonds, as kernels over parameters, tables and the
 * index. */
static int bond_number(taut_model *model, const taut_item_tree *item, taut_index first,
                       int64_t count, int list, const taut_attribute *a,
                       const taut_attribute *stiffness, const taut_attribute *compliance,
                       bool *timed)
{
    int32_t before = model->system->value_kernels[list];
    taut_statement s = taut_statement_make(model, model->document, item, TAUT_ROLE_VALUE, TIMED,
                                           a->word == TAUT_WORD_STIFFNESS    ? "a stiffness"
                                           : a->word == TAUT_WORD_COMPLIANCE ? "a compliance"
                                                                             : "a damping");
    s.list = list;
    s.first_row = first;
    s.term = (taut_term){.sign = 1, .body = a->value, .iterators = item->iterators};
    for (int k = 0; k < item->iterators; k++)
        s.term.iterator[k] = &item->iterator[k];
    if (list == TAUT_LIST_DAMPING) { /* tau = d c */
        s.term.factor[0] = stiffness ? stiffness->value : compliance->value;
        s.term.inverse[0] = stiffness != NULL;
        s.term.depth[0] = item->iterators;
        s.term.factors = 1;
    }
    s.reciprocal = a->word == TAUT_WORD_STIFFNESS;
    s.still = true;
    TAUT_TRY(taut_statement_build(&s));
    *timed = s.timed;
    double *value = taut_model_row_values(model, model->system->sizes.bonds);
    TAUT_NEED(model->error, value);
    for (int32_t k = before; k < model->system->value_kernels[list]; k++) {
        taut_statement_kernel **kernels = list == TAUT_LIST_DAMPING
                                              ? model->system->damping_kernel
                                              : model->system->compliance_kernel;
        TAUT_TRY(taut_model_run(model, kernels[k], value));
    }
    TAUT_TRY(each_row(model, item, value, first, count, a));
    for (int64_t i = 0; i < count && list == TAUT_LIST_COMPLIANCE; i++)
        model->system->sizes.can |= value[first + i] > 0 ? TAUT_HAS_SPRINGS : TAUT_HAS_RIGID;
    for (int64_t i = 0; i < count && list == TAUT_LIST_DAMPING; i++)
        model->system->sizes.can |= value[first + i] > 0 ? TAUT_HAS_DAMPING : 0;
    return 0;
}

/* A stiffness that depends on t: the factor sqrt(k(t)/k) of the multipliers; the bond itself is
 * multiplied by it too (row_item). */
static int bond_tension(taut_model *model, const taut_item_tree *item, taut_index first,
                        int64_t count, const taut_attribute *spring)
{
    taut_statement s =
        taut_statement_make(model, model->document, item, TAUT_ROLE_VALUE, TIMED, "a stiffness");
    const double *c = model->row_value; /* of bond_number */
    char name[160];
    for (int64_t i = 0; i < count; i++)
        if (!(c[first + i] > 0)) {
            taut_names_print(&model->system->bonds, (taut_index)(first + i), name, sizeof name);
            return taut_model_fail(model, spring->value->place,
                                   "the compliance of %s depends on t and is 0 at the initial "
                                   "time: it must be positive at all times",
                                   name);
        }
    s.list = TAUT_LIST_TENSION;
    s.first_row = first;
    s.term = (taut_term){.sign = 1, .body = spring->value, .iterators = item->iterators};
    for (int k = 0; k < item->iterators; k++)
        s.term.iterator[k] = &item->iterator[k];
    s.relative = true;
    s.spring = spring;
    return taut_statement_build(&s);
}

int taut_model_bond_attributes(taut_model *model, const taut_item_tree *item, taut_index first,
                               int64_t count, const taut_attribute **varies)
{
    const taut_attribute *stiffness = taut_item_attribute(item, TAUT_WORD_STIFFNESS),
                         *compliance = taut_item_attribute(item, TAUT_WORD_COMPLIANCE);
    const taut_attribute *damping = taut_item_attribute(item, TAUT_WORD_DAMPING),
                         *rigid = taut_item_attribute(item, TAUT_WORD_RIGID),
                         *soft = taut_item_attribute(item, TAUT_WORD_SOFT);
    const taut_attribute *spring = stiffness ? stiffness : compliance;
    bool timed = false, damping_timed = false;
    *varies = NULL;
    if (stiffness && compliance)
        return taut_model_fail(model, compliance->place, "give either a stiffness or a compliance");
    if (rigid && spring)
        return taut_model_fail(model, rigid->place, "a rigid bond has no stiffness or compliance");
    if (damping && !spring)
        return taut_model_fail(
            model, damping->place,
            "a rigid bond cannot be damped: give it a stiffness or a compliance");
    if (soft && !spring)
        return taut_model_fail(model, soft->place, "a soft bond needs a stiffness or a compliance");
    if (spring)
        TAUT_TRY(bond_number(model, item, first, count, TAUT_LIST_COMPLIANCE, spring, stiffness,
                             compliance, &timed));
    else
        model->system->sizes.can |= TAUT_HAS_RIGID;
    if (timed) {
        TAUT_TRY(bond_tension(model, item, first, count, spring));
        *varies = spring;
    }
    if (damping)
        TAUT_TRY(bond_number(model, item, first, count, TAUT_LIST_DAMPING, damping, stiffness,
                             compliance, &damping_timed));
    if (damping_timed)
        return taut_model_fail(
            model, damping->place,
            "a damped bond cannot have a stiffness or damping that depends on t: write the damping "
            "as a force in [forces]");
    for (int64_t i = 0; soft && i < count; i++)
        model->system->soft[first + i] = 1;
    return 0;
}
