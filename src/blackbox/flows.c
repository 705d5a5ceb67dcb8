/* flows.c - which flow a system asks for: its [stepper] names a command, or a method for its own
 * rates; or it was made from a function. */
#include "blackbox/flows.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "blackbox/process.h"
#include "system/system.h"

/* A setting of [stepper], or NULL. */
static const char *setting(const taut_system *system, const char *name)
{
    for (int32_t k = 0; k < system->steppers; k++)
        if (strcmp(system->stepper[k].name, name) == 0)
            return system->stepper[k].value;
    return NULL;
}

double taut_stepper_number(const taut_system *system, const char *name)
{
    const char *text = setting(system, name);
    double value;
    return text && taut_number_parse(text, &value) ? value : NAN;
}

/* The folder of the model file, in the arena. */
static char *folder_of(const taut_system *system, taut_arena *arena)
{
    const char *slash = strrchr(system->file, '/');
    if (!slash)
        return taut_arena_text(arena, ".", 1);
    return taut_arena_text(arena, system->file,
                           slash == system->file ? 1 : (size_t)(slash - system->file));
}

static int whole_number(const taut_system *system, const char *name, int least, int most,
                        int otherwise, int *value, taut_error *error)
{
    double number = taut_stepper_number(system, name);
    if (!isnan(number) && !(number >= least && number <= most && number == floor(number)))
        return taut_fail(error, TAUT_ERROR_USAGE,
                         "[stepper] %s: expected a whole number from %d to %d, found %g", name,
                         least, most, number);
    *value = isnan(number) ? otherwise : (int)number;
    return TAUT_OK;
}

/* Code from outside runs only where the program that loads the model has allowed it. */
static int check_allowed(const taut_system *system, const char *does, const char *what,
                         taut_error *error)
{
    if (system->allow_command)
        return TAUT_OK;
    return taut_fail_option(error, TAUT_ERROR_REFUSED, "allow-command",
                            "the model %s '%.200s'; check it, then allow it when the model is "
                            "loaded (allow_command of taut_load)",
                            does, what);
}

/* A file with a '/' is relative to the folder of the model; others are found by the loader. */
static int library_flow(const taut_system *system, taut_arena *arena, taut_statistics *statistics,
                        const char *library, taut_flow **flow, taut_error *error)
{
    char path[4200];
    char *folder = folder_of(system, arena);
    TAUT_NEED(error, folder);
    bool relative = library[0] != '/' && strchr(library, '/');
    if (snprintf(path, sizeof path, "%s%s%s", relative ? folder : "", relative ? "/" : "",
                 library) >= (int)sizeof path)
        return taut_fail(error, TAUT_ERROR_USAGE, "[stepper] library: the name is too long");
    return taut_flow_shared_library(system, arena, statistics, path, flow, error);
}

static int process_flow(const taut_system *system, taut_arena *arena, taut_statistics *statistics,
                        const char *command, int copies, taut_flow **flow, taut_error *error)
{
    double timeout = taut_stepper_number(system, "timeout");
    if (timeout <= 0)
        return taut_fail(error, TAUT_ERROR_USAGE,
                         "[stepper] timeout: expected seconds > 0, found %g", timeout);
    taut_process_settings settings = {.command = command,
                                      .folder = folder_of(system, arena),
                                      .timeout = isnan(timeout) ? 60 : timeout,
                                      .copies = copies};
    TAUT_NEED(error, settings.folder);
    TAUT_TRY(whole_number(system, "restarts", 0, 1000000, 100, &settings.restarts, error));
    if (copies == 0)
        TAUT_TRY(whole_number(system, "copies", 1, TAUT_CHILD_COPIES, 1, &settings.copies, error));
    return taut_flow_process(system, arena, statistics, &settings, flow, error);
}

int taut_flow_open(taut_context *context, taut_arena *arena, taut_statistics *statistics,
                   double step, taut_flow **flow, const char **description, taut_error *error)
{
    const char *method = setting(taut_context_system(context), "method");
    char text[100];
    *flow = NULL;
    snprintf(text, sizeof text, "%.40s in steps of %.6g", method ? method : "rk4", step);
    if (!(*description = taut_arena_text(arena, text, strlen(text))))
        return taut_fail_memory(error);
    return taut_flow_inner(context, arena, statistics, method ? method : "rk4", step, flow, error);
}

static int rates_flow(taut_context *context, taut_arena *arena, taut_statistics *statistics,
                      double horizon, taut_flow **flow, const char **description, taut_error *error)
{
    double step = taut_stepper_number(taut_context_system(context), "step");
    if (isnan(step))
        step = horizon;
    if (!(step > 0) || horizon / step > 1e9)
        return taut_fail(
            error, TAUT_ERROR_USAGE,
            "[stepper] step: expected a number > 0, and not below 1e-9 of the horizon %g, found %g",
            horizon, step);
    return taut_flow_open(context, arena, statistics, fmin(step, horizon), flow, description,
                          error);
}

int taut_flow_create(taut_context *context, taut_arena *arena, taut_statistics *statistics,
                     double horizon, int copies, taut_flow **flow, const char **description,
                     taut_error *error)
{
    const taut_system *system = taut_context_system(context);
    const char *command = setting(system, "command"), *library = setting(system, "library");
    *flow = NULL;
    *description = "";
    if (command && library)
        return taut_fail(error, TAUT_ERROR_USAGE,
                         "[stepper] has a command and a library; keep one of them");
    if (command || library)
        TAUT_TRY(check_allowed(system, command ? "runs the command" : "loads the library",
                               command ? command : library, error));
    if (library) {
        *description = library;
        return library_flow(system, arena, statistics, library, flow, error);
    }
    if (command) {
        *description = command;
        return process_flow(system, arena, statistics, command, copies, flow, error);
    }
    if (system->sizes.kind == TAUT_BLACK_BOX) {
        *description = "the given function";
        return taut_flow_callback(system, arena, statistics, copies, flow, error);
    }
    return rates_flow(context, arena, statistics, horizon, flow, description, error);
}
