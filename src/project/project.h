/* project.h - projections as calls: settings from options, and a state projected by them. */
#ifndef TAUT_PROJECT_PROJECT_H
#define TAUT_PROJECT_PROJECT_H

#include "point/projection.h"

/* (projection_settings.c) Options may be NULL: defaults. Fails for a method that is not a
 * projection. Nothing is held. */
int taut_projection_settings_read(const taut_options *options, taut_projection_settings *settings,
                                  taut_error *error);
/* The same but for the method, which is auto. */
taut_projection_settings taut_projection_settings_of(const taut_options *options);
/* Warns of each option that was given and that the projection which made p did not read. */
void taut_projection_unread(taut_projection *p, const taut_options *options);

/* (projection_run.c) [run] of the model, then the options of the caller (or NULL), as settings; the
 * coordinates to hold are stored in the arena. */
int taut_projection_settings_for(const taut_system *system, const taut_options *options,
                                 taut_arena *arena, taut_projection_settings *settings,
                                 taut_error *error);
/* (projection_ranks.c) Over several ranks: refuses what they do not support, and takes auto's
 * place. Nothing in one process. */
int taut_projection_ranks(taut_projection *p, const taut_projection_settings *settings,
                          taut_error *error);
/* The same before names are looked up, for a result that is gathered. */
int taut_projection_ranks_begin(const taut_system *system, const taut_options *options,
                                taut_error *error);
/* A result that is the given state so far, for a row to work on. */
int taut_projection_create(taut_context *context, double t, const double *q, const double *v,
                           const unsigned char *hold, const taut_allocator *allocator,
                           taut_projection **projection, taut_error *error);
/* Projects (q, v) at time t; first order: the state, the algebraic variables.
 * As taut_project otherwise. */
int taut_project_state(taut_context *context, double t, const double *q, const double *v,
                       const taut_projection_settings *settings, const taut_allocator *allocator,
                       taut_projection **projection, taut_error *error);

#endif
