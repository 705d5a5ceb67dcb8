/* summary.c - the result of a run: as text, and as JSON (docs/cli.md describes it). */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "cli.h"

/* Statistics by name: the JSON keys, and the lines of --verbose. */
static const struct {
    const char *name;
    size_t offset;
} counts[] = {
    {"steps", offsetof(taut_statistics, steps)},
    {"rejected", offsetof(taut_statistics, rejected)},
    {"force_evaluations", offsetof(taut_statistics, force_evaluations)},
    {"fast_force_evaluations", offsetof(taut_statistics, fast_force_evaluations)},
    {"jets", offsetof(taut_statistics, jets)},
    {"jacobians", offsetof(taut_statistics, jacobians)},
    {"factorisations", offsetof(taut_statistics, factorisations)},
    {"solves", offsetof(taut_statistics, solves)},
    {"newton_iterations", offsetof(taut_statistics, newton_iterations)},
    {"micro_steps", offsetof(taut_statistics, micro_steps)},
    {"stabilizer_factorisations", offsetof(taut_statistics, stabilizer_factorisations)},
    {"stabilizer_solves", offsetof(taut_statistics, stabilizer_solves)},
    {"stabilizer_evaluations", offsetof(taut_statistics, stabilizer_evaluations)},
    {"restarts", offsetof(taut_statistics, restarts)},
    {"projections", offsetof(taut_statistics, projections)},
};
enum { COUNTS = sizeof counts / sizeof counts[0], LABEL = 24 };

static int64_t count_value(int k, const taut_statistics *statistics)
{
    int64_t value;
    memcpy(&value, (const char *)statistics + counts[k].offset, sizeof value);
    return value;
}

static const char *status_word(int code)
{
    switch (code) {
    case TAUT_OK: return "done";
    case TAUT_EVENT: return "event";
    case TAUT_INTERRUPTED: return "interrupted";
    case TAUT_LIMIT: return "limit";
    case TAUT_INACCURATE: return "inaccurate";
    default: return "failed";
    }
}

static void print_end(FILE *out, const cli_outcome *outcome, const taut_result *result)
{
    fprintf(out, "  %-*s", LABEL, "ended");
    switch (outcome->code) {
    case TAUT_OK: fprintf(out, "at t = %.6g\n", result->t); break;
    case TAUT_EVENT:
        fprintf(out, "at t = %.6g by event '%s'\n", result->t, result->event ? result->event : "?");
        break;
    case TAUT_INTERRUPTED: fprintf(out, "at t = %.6g, interrupted\n", result->t); break;
    case TAUT_INACCURATE:
        fprintf(out, "at t = %.6g; %s\n", result->t,
                result->error > 100 * result->rtol ? "the measured error is above 100 tolerances"
                : result->error_lambda > 1000 * result->rtol
                    ? "the measured error of multipliers is above 1000 tolerances"
                : isnan(result->error) && isfinite(result->predictable)
                    ? "the second run failed, so that the result is not confirmed"
                    : "averaging was not justified all the way, see the warning");
        break;
    case TAUT_LIMIT:
        fprintf(out, "at t = %.6g, the limit of steps was reached\n", result->t);
        break;
    default: fprintf(out, "at t = %.6g, with the error above\n", result->t); break;
    }
}

/* Where energy is conserved its change is an error; elsewhere work and dissipation account for it,
 * and `balance` (where it is known) is what they leave unexplained. */
static void print_energy(FILE *out, const taut_result *result)
{
    double work = result->energy_work, lost = result->energy_dissipated,
           rest = result->energy_balance;
    if (!isfinite(result->energy_first) || !isfinite(result->energy_last))
        return;
    fprintf(out, "  %-*s%.6g -> %.6g", LABEL, "energy", result->energy_first, result->energy_last);
    if (work == 0 && lost == 0 && isfinite(rest))
        fprintf(out, ", change %.3g", rest);
    else if (isfinite(work) && work != 0)
        fprintf(out, ": work of forces %.6g", work);
    if (isfinite(lost) && lost != 0)
        fprintf(out, "%s dissipated %.6g", work == 0 ? ":" : ",", lost);
    if (isfinite(rest) && (work != 0 || lost != 0))
        fprintf(out, ", unexplained %.2g", rest);
    fprintf(out, "\n");
}

/* Of rigid bonds, or of constraints and invariants. */
static void print_drift(FILE *out, const taut_sizes *sizes, const taut_result *result)
{
    if (sizes->constraints + sizes->invariants > 0 && sizes->kind != TAUT_MECHANICAL)
        fprintf(out, "  %-*s%.3g at most\n", LABEL, "drift", result->drift_position);
    else if (((sizes->can & TAUT_HAS_RIGID) || strcmp(result->motion, "rigid") == 0) &&
             !isnan(result->drift_position))
        fprintf(out, "  %-*s|g|%s %.3g, |gdot| %.3g at most\n", LABEL, "drift",
                sizes->invariants > 0 ? " and invariants" : "", result->drift_position,
                result->drift_velocity);
    else if (sizes->invariants > 0)
        fprintf(out, "  %-*sinvariants %.3g at most\n", LABEL, "drift", result->drift_position);
}

/* Multipliers that are known to less than six digits. */
static void print_multipliers(FILE *out, const cli_outcome *outcome, const taut_sizes *sizes,
                              double uncertainty)
{
    const double *lambda = taut_solver_multipliers(outcome->solver);
    double most = 0;
    for (taut_index i = 0; i < sizes->bonds && sizes->kind == TAUT_MECHANICAL; i++)
        most = fmax(most, fabs(lambda[i]));
    if (uncertainty > 1e-6 * most + 1e-12) /* of zeros rounding is left */
        fprintf(out, "  %-*suncertain by %.2g, of at most %.3g\n", LABEL, "multipliers",
                uncertainty, most);
}

/* How often events changed the state, and how far it was projected back. */
static void print_events(FILE *out, const taut_result *result)
{
    if (result->altered == 0)
        return;
    fprintf(out, "  %-*s%lld changed the state", LABEL, "events", (long long)result->altered);
    if (result->put_back > 1e-12)
        fprintf(out, "; projected back by at most %.3g", result->put_back);
    fprintf(out, "\n");
}

/* What slow and effective motion rely on, at its worst. */
static void print_watched(FILE *out, const taut_result *result)
{
    const int *mode = result->resonance_modes;
    if (isfinite(result->separation))
        fprintf(out, "  %-*s%.3g at least, at t = %.4g (%lld looks)\n", LABEL, "separation",
                result->separation, result->separation_at, (long long)result->looks);
    if (isnan(result->resonance_at))
        return;
    fprintf(out, "  %-*smode %d ~ mode %d", LABEL, "resonance", mode[0] + 1, mode[1] + 1);
    if (mode[2] >= 0)
        fprintf(out, " + mode %d", mode[2] + 1);
    fprintf(out, ", apart by %.1f%%, at t = %.4g\n", 100 * result->resonance_gap,
            result->resonance_at);
}

/* What a second run measured; without one, that nothing is known of the end. */
static void print_error(FILE *out, const taut_result *result)
{
    bool forces = result->error <= 100 * result->rtol;
    if (isnan(result->error) && isfinite(result->predictable))
        fprintf(out, "  %-*snot measured; both runs agree until t = %.4g\n", LABEL, "error",
                result->predictable);
    else if (isnan(result->error) && isfinite(result->error_share))
        fprintf(out, "  %-*snot measured (--verify always); worst step %.3g of its tolerance\n",
                LABEL, "error", result->error_share);
    if (isnan(result->error))
        return;
    fprintf(out, "  %-*s%.2g", LABEL, "error", result->error_position);
    if (isfinite(result->error_velocity))
        fprintf(out, ", velocities %.2g", result->error_velocity);
    if (isfinite(result->error_lambda))
        fprintf(out, ", multipliers %.2g", result->error_lambda);
    fprintf(out, " (measured, relative; rtol %g%s)\n", result->rtol,
            strcmp(result->motion, "effective") == 0 ? "; without that of averaging" : "");
    if (isfinite(result->predictable))
        fprintf(out, "  %-*suntil t = %.4g; from there on the error is above %d tolerances%s\n",
                LABEL, "predictable", result->predictable, forces ? 1000 : 100,
                forces ? " in the multipliers" : ", as in chaotic motion");
}

static void print_averaging(FILE *out, const taut_result *result)
{
    if (strcmp(result->motion, "effective") != 0)
        return;
    if (isfinite(result->averaging_error))
        fprintf(out, "  %-*s%.2g (estimated from full motion, relative)\n", LABEL,
                "averaging error", result->averaging_error);
    else
        fprintf(out,
                "  %-*sunknown: full motion, which shows it, was not affordable or not wanted\n",
                LABEL, "averaging error");
}

void cli_summary_print(FILE *out, const cli_outcome *outcome, bool verbose)
{
    taut_result result = {.size = sizeof result};
    taut_sizes sizes = {.size = sizeof sizes};
    taut_solver_result_get(outcome->solver, &result, NULL);
    taut_system_sizes_get(outcome->model->system, &sizes, NULL);
    if (sizes.kind == TAUT_MECHANICAL || isfinite(result.direct_steps))
        fprintf(out, "%s: motion %s, method %s\n", outcome->model->name, result.motion,
                result.method);
    else
        fprintf(out, "%s: method %s\n", outcome->model->name, result.method);
    print_end(out, outcome, &result);
    fprintf(out, "  %-*s%lld", LABEL, "steps", (long long)result.statistics.steps);
    if (result.statistics.rejected > 0)
        fprintf(out, ", and %lld rejected", (long long)result.statistics.rejected);
    fprintf(out, "\n  %-*s%lld\n", LABEL, "force evaluations",
            (long long)result.statistics.force_evaluations);
    for (int k = 0; verbose && k < COUNTS; k++)
        if (count_value(k, &result.statistics) > 0 && strcmp(counts[k].name, "steps") != 0 &&
            strcmp(counts[k].name, "rejected") != 0 &&
            strcmp(counts[k].name, "force_evaluations") != 0)
            fprintf(out, "  %-*s %lld\n", LABEL - 1, counts[k].name,
                    (long long)count_value(k, &result.statistics));
    if (isfinite(result.direct_steps))
        fprintf(out, "  %-*s%lld, where direct integration needs %.0f (%.3g times as many)\n",
                LABEL, "inner steps", (long long)result.statistics.micro_steps, result.direct_steps,
                result.direct_steps / fmax((double)result.statistics.micro_steps, 1));
    print_events(out, &result);
    print_energy(out, &result);
    print_drift(out, &sizes, &result);
    print_multipliers(out, outcome, &sizes, result.lambda_uncertainty);
    if (result.level >= 0)
        fprintf(out, "  %-*slevel %d; truncation at most %.2g in a step, relative\n", LABEL,
                "slow field", result.level, result.truncation);
    print_watched(out, &result);
    print_error(out, &result);
    print_averaging(out, &result);
    if (outcome->seconds > 0) /* measured */
        fprintf(out, "  %-*s%.3g s\n", LABEL, "wall time", outcome->seconds);
    if (outcome->out)
        fprintf(out, "  %-*s%s\n", LABEL, "rows in", outcome->out);
    if (outcome->plot)
        fprintf(out, "  %-*s%s\n", LABEL, "picture in", outcome->plot);
    if (outcome->view)
        fprintf(out, "  %-*s%s\n", LABEL, "page in", outcome->view);
}

void cli_json_statistics(cli_json *json, const taut_statistics *statistics)
{
    cli_json_open(json, "stats", '{');
    for (int k = 0; k < COUNTS; k++)
        cli_json_integer(json, counts[k].name, count_value(k, statistics));
    cli_json_close(json, '}');
}

/* Modes count from 1, as in `taut spectrum`. */
static void json_watched(cli_json *json, const taut_result *result)
{
    const int *mode = result->resonance_modes;
    cli_json_open_flat(json, "watched", '{');
    cli_json_integer(json, "looks", result->looks);
    cli_json_real(json, "separation", result->separation);
    cli_json_real(json, "separation_at", result->separation_at);
    cli_json_real(json, "resonance_at", result->resonance_at);
    cli_json_real(json, "resonance_gap", result->resonance_gap);
    cli_json_open_flat(json, "resonance", '[');
    for (int k = 0; k < 3 && mode[k] >= 0; k++)
        cli_json_integer(json, NULL, mode[k] + 1);
    cli_json_close(json, ']');
    cli_json_close(json, '}');
}

void cli_summary_json(FILE *out, const cli_outcome *outcome)
{
    taut_result result = {.size = sizeof result};
    taut_solver_result_get(outcome->solver, &result, NULL);
    cli_json json = {.out = out};
    cli_json_open(&json, NULL, '{');
    cli_json_text(&json, "status", outcome->unfinished ? "unfinished" : status_word(outcome->code));
    cli_json_text(&json, "model", outcome->model->name);
    if (outcome->code == TAUT_EVENT)
        cli_json_text(&json, "event", result.event);
    cli_json_real(&json, "t", result.t);
    if (cli_ranks()) /* each has its part of the state: --end FILE writes all of it */
        cli_json_integer(&json, "ranks", taut_space_size(cli_ranks()));
    else if (!outcome->stateless)
        cli_json_state(&json, outcome->model->system, taut_solver_position(outcome->solver),
                       taut_solver_velocity(outcome->solver),
                       taut_solver_multipliers(outcome->solver));
    cli_json_text(&json, "method", result.method);
    cli_json_text(&json, "motion", result.motion);
    cli_json_text(&json, "explanation", taut_solver_explanation(outcome->solver));
    cli_json_real(&json, "rtol", result.rtol);
    cli_json_open(&json, "warnings", '[');
    for (int k = 0; taut_solver_warning(outcome->solver, k); k++) {
        char text[200];
        snprintf(text, sizeof text, "--%s", taut_solver_warning(outcome->solver, k));
        cli_json_text(&json, NULL, text);
    }
    for (int k = 0; taut_solver_notice(outcome->solver, k); k++)
        cli_json_text(&json, NULL, taut_solver_notice(outcome->solver, k));
    if (result.caution)
        cli_json_text(&json, NULL, result.caution);
    cli_json_close(&json, ']');
    cli_json_statistics(&json, &result.statistics);
    cli_json_open_flat(&json, "events", '{');
    cli_json_integer(&json, "altered", result.altered);
    cli_json_real(&json, "put_back", result.put_back);
    cli_json_close(&json, '}');
    if (outcome->code >= 0)
        cli_json_real(&json, "error", result.error);
    cli_json_open_flat(&json, "errors", '{');
    cli_json_real(&json, "position", result.error_position);
    cli_json_real(&json, "velocity", result.error_velocity);
    cli_json_real(&json, "lambda", result.error_lambda);
    cli_json_close(&json, '}');
    cli_json_real(&json, "predictable", result.predictable);
    cli_json_real(&json, "averaging_error", result.averaging_error);
    cli_json_real(&json, "error_estimate", result.error_estimate);
    cli_json_real(&json, "error_share", result.error_share);
    cli_json_open_flat(&json, "drift", '{');
    cli_json_real(&json, "position", result.drift_position);
    cli_json_real(&json, "velocity", result.drift_velocity);
    cli_json_close(&json, '}');
    cli_json_open_flat(&json, "energy", '{');
    cli_json_real(&json, "first", result.energy_first);
    cli_json_real(&json, "last", result.energy_last);
    cli_json_real(&json, "work", result.energy_work);
    cli_json_real(&json, "dissipated", result.energy_dissipated);
    cli_json_real(&json, "balance", result.energy_balance);
    cli_json_close(&json, '}');
    cli_json_real(&json, "lambda_uncertainty", result.lambda_uncertainty);
    cli_json_open_flat(&json, "slow_field", '{');
    cli_json_integer(&json, "level", result.level);
    cli_json_real(&json, "truncation", result.truncation);
    cli_json_close(&json, '}');
    cli_json_real(&json, "direct_steps", result.direct_steps);
    json_watched(&json, &result);
    cli_json_real(&json, "seconds", outcome->seconds);
    if (outcome->code < 0)
        cli_json_error(&json, outcome->error);
    cli_json_close(&json, '}');
}
