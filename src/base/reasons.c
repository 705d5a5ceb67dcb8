/* reasons.c - the one table of reasons for refusals. */
#include "base/reasons.h"

#include <stdio.h>

/* The text of a missing CAN bit or a present HAS bit in a refusal, and the remedy. */
static const struct {
    unsigned bit;
    const char *words, *advice;
} reasons[] = {
    {TAUT_CAN_FORCE, "needs forces that can be evaluated anywhere", "this model is a black box"},
    {TAUT_CAN_DERIVATIVES, "needs exact derivatives", "state the system in a model file"},
    {TAUT_CAN_JETS, "needs Taylor jets",
     "state the system in a model file"},
    {TAUT_CAN_INVERT_MASS, "needs a mass matrix that can be inverted",
     "give every coordinate a mass"},
    {TAUT_HAS_RIGID, "does not support rigid bonds", "give the bonds a stiffness"},
    {TAUT_HAS_SPRINGS, "does not support springs", "make the bonds rigid"},
    {TAUT_HAS_DAMPING, "does not support damped bonds", "omit `damping`"},
    {TAUT_HAS_STIFF_POTENTIAL, "does not support a stiff potential",
     "write it as bonds with a stiffness"},
    {TAUT_HAS_VELOCITY_FORCES, "does not support forces that depend on velocities", "omit them"},
    {TAUT_HAS_VARYING_MASS, "does not support a mass matrix that varies",
     "use coordinates in which it is constant, such as particles"},
    {TAUT_HAS_TIME, "does not support forces or masses that depend on t", "omit `t`"},
    {TAUT_HAS_MOVING_BONDS, "does not support bonds that depend on t", "omit `t`"},
    {TAUT_HAS_KINETIC, "does not support a kinetic energy", "give masses"},
    {TAUT_HAS_FORCES, "does not support forces without a potential", "give potentials"},
    {TAUT_HAS_EVENTS, "does not support events", "omit [events]"},
    {TAUT_HAS_ALGEBRAIC, "does not support algebraic variables", "eliminate them"},
    {TAUT_HAS_INVARIANTS, "does not support invariants", "omit [invariants]"},
    {TAUT_HAS_STEPPER, "does not support a black box", "give equations"},
    {TAUT_HAS_KINKS, "does not support kinks (abs, min, floor)", "use smooth functions"},
    {TAUT_HAS_PAIRS, "does not support sums over pairs of more than 100 particles",
     "use an explicit method"},
};

const char *taut_reasons_text(unsigned bits, char *buffer, size_t size)
{
    size_t used = 0;
    buffer[0] = '\0';
    for (size_t k = 0; k < sizeof reasons / sizeof reasons[0]; k++)
        if ((bits & reasons[k].bit) && used < size)
            used += (size_t)snprintf(buffer + used, size - used, "%s%s (%s)", used ? ", " : "",
                                     reasons[k].words, reasons[k].advice);
    return buffer;
}
