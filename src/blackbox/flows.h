/* flows.h - flows that projections run without looking inside: an inner integration of the
 * model's own rates, a separate process, a C function. Each is one file; flows.c chooses by what
 * the system has. Memory comes from the arena, which must outlive the flow; advance() allocates
 * nothing. */
#ifndef TAUT_BLACKBOX_FLOWS_H
#define TAUT_BLACKBOX_FLOWS_H

#include "base/flow.h"

/* Rates of a first-order system with a fixed step size of at most `step`, by a method of the method
 * table. (inner.c) */
int taut_flow_inner(taut_context *context, taut_arena *arena, taut_statistics *statistics,
                    const char *method, double step, taut_flow **flow, taut_error *error);

/* What a separate process is started with. */
typedef struct taut_process_settings {
    const char *command; /* program and arguments; quotes as in docs/black-boxes.md */
    const char *folder;  /* where it runs */
    double timeout;      /* seconds for one answer */
    int copies;          /* that may run at the same time, up to TAUT_CHILD_COPIES */
    int restarts;        /* of processes that failed, all together */
} taut_process_settings;

/* A program that speaks the line protocol of docs/black-boxes.md. It is started here and ends
 * with the flow. (process.c) */
int taut_flow_process(const taut_system *system, taut_arena *arena, taut_statistics *statistics,
                      const taut_process_settings *settings, taut_flow **flow, taut_error *error);
/* Splits a command into words, in the arena, NULL at the end. (command.c) */
int taut_command_split(const char *command, taut_arena *arena, char ***words, taut_error *error);

/* A shared library that exports three functions. (shared_library.c) */
int taut_flow_shared_library(const taut_system *system, taut_arena *arena,
                             taut_statistics *statistics, const char *path, taut_flow **flow,
                             taut_error *error);

/* The C function of taut_system_from_flow, in up to `copies` threads where it allows several.
 * (callback.c) */
int taut_flow_callback(const taut_system *system, taut_arena *arena, taut_statistics *statistics,
                       int copies, taut_flow **flow, taut_error *error);

/* The flow that the system asks for, and a text in the arena that describes it. Inner steps
 * are not longer than the horizon; a program runs in up to `copies` processes (0: as many as
 * [stepper] specifies), a function in as many threads. */
int taut_flow_create(taut_context *context, taut_arena *arena, taut_statistics *statistics,
                     double horizon, int copies, taut_flow **flow, const char **description,
                     taut_error *error);
/* The same of a model with rates: by the method of [stepper], or rk4, in steps of at most `step`.
 */
int taut_flow_open(taut_context *context, taut_arena *arena, taut_statistics *statistics,
                   double step, taut_flow **flow, const char **description, taut_error *error);
/* A setting of [stepper] as a number, or NaN. */
double taut_stepper_number(const taut_system *system, const char *name);

#endif
