/* radau_archive.c - what a Radau method remembers between steps: the polynomials and values of the
 * latest two steps, the frozen Jacobian with its factorisations, how well Newton's iteration
 * converged, and the modes of a stiff potential, which are found again where they were found. */
#include "step/radau.h"

static void archive_past(const taut_radau *w, taut_radau_past *past, taut_archive *to)
{
    taut_archive_reals(to, past->a, (int64_t)w->s * w->n);
    taut_archive_reals(to, past->lambda, (int64_t)w->s * w->m);
    taut_archive_real(to, &past->h);
    taut_archive_flag(to, &past->smooth);
    taut_archive_flag(to, &past->ended);
    taut_archive_flag(to, &past->begun);
    taut_archive_reals(to, past->force, w->n);
    taut_archive_reals(to, past->jacobian, w->entries);
    taut_archive_reals(to, past->mass, w->varying ? w->mass_entries : 0);
    taut_archive_reals(to, past->pull, w->rows > 0 ? w->n : 0);
    double *const bond[] = {past->drift, past->tension, past->gamma, past->rate, past->bond};
    for (size_t k = 0; k < sizeof bond / sizeof bond[0]; k++)
        taut_archive_reals(to, bond[k], w->m);
    for (int k = 0; w->jumps && k < 2; k++) {
        taut_archive_reals(to, past->jump[k], w->n);
        taut_archive_reals(to, past->push[k], w->m);
    }
}

/* First order: df/dy in place of df/dv, and both G of the saddle matrices. */
static void archive_frozen(taut_stepper *s, taut_archive *to)
{
    taut_radau *w = s->work;
    taut_radau_frozen *f = &w->frozen;
    taut_sizes sizes;
    taut_system_sizes(taut_context_system(s->context), &sizes);
    bool algebraic = s->first_order && w->m > 0;
    taut_archive_flag(to, &f->valid);
    taut_archive_real(to, &f->h);
    if (f->kept && w->varying)
        taut_archive_reals(to, f->mass, w->mass_entries);
    if (f->kept) {
        taut_archive_reals(to, f->stiff, w->tangents);
        taut_archive_reals(to, f->jacobian, s->first_order ? sizes.jacobian_entries : w->entries);
    }
    taut_archive_reals(to, f->drag,
                       algebraic     ? w->control.start[w->n]
                       : w->velocity ? w->tangents
                                     : 0);
    for (int k = 0; algebraic && k < 2; k++)
        taut_archive_reals(to, k ? w->g2 : w->control_g, w->shape.g_start[w->m]);
    taut_saddle_archive(w->whole, to);
    for (int b = 0; b < w->table.blocks && !w->stage_wise; b++)
        taut_saddle_archive(w->block[b], to);
    if (!w->stage_wise)
        taut_archive_reals(to, (double *)w->block_inverse,
                           2 * (int64_t)w->table.blocks * (w->moves ? w->m : 1));
    taut_saddle_archive(w->filter, to);
}

static void archive_potential(taut_stepper *s, taut_archive *to)
{
    taut_radau *w = s->work;
    taut_radau_potential *p = &w->potential;
    taut_archive_same(to, w->rows, "its stiff potential has other rows");
    taut_archive_same(to, p->q != NULL, "its stiff potential is another one");
    taut_archive_integer(to, &p->rank, 0, p->q ? w->n : 0);
    taut_archive_real(to, &p->most);
    taut_archive_real(to, &p->least);
    taut_archive_reals(to, p->compliance, w->rows > 0 ? w->m : 0);
    taut_archive_flag(to, &p->found);
    taut_archive_flag(to, &p->sought);
    taut_archive_real(to, &p->t);
    if (!p->q)
        return;
    taut_archive_reals(to, p->q, w->n);
    if (to->reading && to->status == TAUT_OK && p->sought &&
        taut_potential_modes_find(&p->modes, p->t, p->q, NULL) != 0)
        taut_archive_fail(to, TAUT_ERROR_EVALUATE, "its stiff potential cannot be evaluated");
}

void taut_radau_archive(taut_stepper *s, taut_archive *to)
{
    taut_radau *w = s->work;
    taut_archive_integer(to, &w->top, 0, 1);
    for (int k = 0; k < 2; k++)
        archive_past(w, &w->past[k], to);
    archive_frozen(s, to);
    taut_archive_real(to, &w->rate);
    taut_archive_real(to, &w->reach);
    taut_archive_flag(to, &w->complete);
    taut_archive_flag(to, &w->redundant);
    if (w->stiff)
        archive_potential(s, to);
}
