/* matrix_page.h - docs/refusals.md as the matrix makes it: the rules in words, the refusals, who
 * judged what. */
#ifndef TAUT_TESTS_SUPPORT_MATRIX_PAGE_H
#define TAUT_TESTS_SUPPORT_MATRIX_PAGE_H

#include "support/table.h"

static const char page_head[] =
    "# Refusals, and how the rest is judged\n"
    "\n"
    "Made by `tests/test_matrix.c` (`test_matrix FILE`), which runs every method on every shipped "
    "model in every motion, each model as it\n"
    "is shipped, and checks that this page is up to date. A combination is refused with the "
    "sentence below, or its result is compared\n"
    "with a judge that shares no code with the method. First-order models have no motions.\n"
    "\n"
    "## Refusals\n"
    "\n"
    "| model | motion | method | what it says |\n"
    "|---|---|---|---|\n";

static const char page_rules[] =
    "\n"
    "## Judges and rules\n"
    "\n"
    "Judges are trajectories of an integrator that lives in the test (extrapolated midpoint rule, "
    "order 12) on accelerations formed there\n"
    "by dense elimination. Each is computed twice, in two ways or with two tolerances; ten times "
    "the difference is added to what is\n"
    "allowed. In slow motion the two ways are the explicit slow field, whose multipliers come from "
    "Taylor jets, and the full motion from the\n"
    "same slow point, which stays slow; where the field does not settle to 1e-11 (slow and fast "
    "too close) or is too expensive (more than\n"
    "200 coordinates), the full motion alone.\n"
    "\n"
    "- Error control with rtol 1e-7 (methods of order 2: 1e-5): off by at most 100 rtol of the "
    "largest coordinate, or rtol for every step\n"
    "  where there are more than 100 steps; velocities, times the mean step and in the rms norm, "
    "likewise.\n"
    "- Equal steps h and h/2: the error with h is below a tenth of the largest coordinate, and h/2 "
    "makes it smaller by 2^(p - 1/2) at least, p\n"
    "  the order of the method (1 in slow motion, where orders are reduced), or brings it below "
    "1e-9. In full motion h is 0.2 radian of the\n"
    "  fastest vibration over 100 radians; for order 2, 0.05 (phase errors of ab2); for order 1, "
    "0.01 radian over 20: forward Euler grows on\n"
    "  every oscillation. First-order models take 10000 steps, or their own step when that is "
    "shorter; the rest takes 500.\n"
    "- Effective motion is right up to O(1/omega). Its positions are compared, at eight times, "
    "with the foot point of the full motion that\n"
    "  the judge resolves, over a period of the lowest vibration at least, at two stiffnesses with "
    "frequencies 1 : 2 and a start that keeps the\n"
    "  energy of vibration. The error must be below 20/omega, omega the lowest frequency, and at "
    "the doubled frequency at most 3/4 of the first\n"
    "  (slope 1 is 1/2), or below 1e-6. Outer steps are 0.6/sqrt(omega), omega now the highest, or "
    "2/omega for the plain impulse method, which\n"
    "  has resonances beyond. Most models hardly ring as they are shipped: "
    "`tests/test_matrix_effective.c` makes them ring, and compares W, its\n"
    "  derivatives, the motion of `effective` (to 100 rtol) and the mean tensions with frequencies "
    "and differences computed in the test; W wrong by\n"
    "  a tenth fails in every model.\n"
    "\n"
    "Motions are followed over one radian of the slow motion (its rate as `taut check` estimates "
    "it), to t = 1 or the model's own end at most:\n"
    "beyond, nonlinear motions magnify errors, and no rule made of tolerances holds. Models with "
    "more than 100 coordinates (net) are followed\n"
    "to a twentieth of their time and over a fifth of the radians in `make test`, and as far as "
    "the others in `make test-all`.\n"
    "\n"
    "| model | motion | until | judge | methods |\n"
    "|---|---|---|---|---|\n";

static const char page_exceptions[] =
    "\n"
    "## Exceptions\n"
    "\n"
    "- Methods of order 1 under error control (`radau1`): the norm of the driver admits velocity "
    "errors of rtol/h in a step, which add up to\n"
    "  rtol times the square of the number of steps. Beyond 100 rtol they are judged by "
    "proportionality: error below 0.01, and smaller by\n"
    "  2 sqrt(2) at least when rtol, here 1e-6, is 16 times smaller (error ~ rtol^(1/2)).\n"
    "- `butane` is followed over one radian of its torsion in the trans well, 22 per ps; `taut "
    "check` knows only the start, where it is slower.\n"
    "- `water_box` has 8 molecules in `make test`, a twelfth of the pairs of its 27, which `make "
    "test-all` takes; its own end, 0.2, is six\n"
    "  radians of its slow motion, in which molecules collide. Its slow forces are so strong "
    "(hydrogens meet, and bend the molecules by 0.3 rad)\n"
    "  that with 27 molecules the effective motion is off by 0.078 where 20/omega is 0.077; it is "
    "allowed 20 times the rate of the slow motion\n"
    "  over omega, and the error shrinks with slope 1.7.\n";

/* The page line by line. `partial`: models were left out, so that lines may be missing. */
static inline void page_compare(FILE *ours, bool partial)
{
    enum { LINES = 1000, WIDTH = 900 };
    char(*page)[WIDTH] = calloc(LINES, WIDTH), line[WIDTH];
    FILE *file = fopen(TAUT_SOURCE_DIR "/docs/refusals.md", "r");
    int lines = 0, at = 0, strange = 0;
    while (page && file && lines < LINES && fgets(page[lines], WIDTH, file))
        lines++;
    rewind(ours);
    while (page && fgets(line, sizeof line, ours)) {
        int found = at;
        while (partial && found < lines && strcmp(page[found], line) != 0)
            found++;
        bool same = found < lines && strcmp(page[found], line) == 0;
        if (!same && strange++ == 0)
            check_row(false,
                      "docs/refusals.md is not what the methods say: make it anew with test_matrix "
                      "FILE; first: %s",
                      line);
        at = same ? found + 1 : at + !partial;
    }
    check_row(strange == 0 && lines > 50 && (partial || at == lines),
              "docs/refusals.md: %d of %d lines, %d differ", at, lines, strange);
    if (file)
        fclose(file);
    free(page);
}

#endif
