/* reasons.c - the one table of reasons for refusals. */
#include "base/reasons.h"

#include <stdio.h>

/* What a missing CAN bit or a present HAS bit means in a refusal, and what to do about it. */
static const struct {
    unsigned bit;
    const char *words, *advice;
} reasons[] = {
    {TAUT_CAN_FORCE, "needs forces that can be evaluated anywhere", "this model is a black box"},
    {TAUT_CAN_DERIVATIVES, "needs exact derivatives", "state the system in a model file"},
    {TAUT_CAN_JETS, "needs Taylor jets", "state the system in a model file"},
    {TAUT_CAN_INVERT_MASS, "needs a mass matrix that can be inverted",
     "give every coordinate a mass"},
    {TAUT_HAS_RIGID, "cannot treat rigid bonds", "give the bonds a stiffness"},
    {TAUT_HAS_SPRINGS, "cannot treat springs", "make the bonds rigid"},
    {TAUT_HAS_DAMPING, "cannot treat damped bonds", "leave out `damping`"},
    {TAUT_HAS_STIFF_POTENTIAL, "cannot treat a stiff potential",
     "write it as bonds with a stiffness"},
    {TAUT_HAS_VELOCITY_FORCES, "cannot treat forces that depend on velocities", "leave them out"},
    {TAUT_HAS_VARYING_MASS, "cannot treat a mass matrix that varies",
     "use coordinates in which it is constant, such as particles"},
    {TAUT_HAS_TIME, "cannot treat forces or masses that depend on t", "leave out `t`"},
    {TAUT_HAS_MOVING_BONDS, "cannot treat bonds that depend on t", "leave out `t`"},
    {TAUT_HAS_KINETIC, "cannot treat a kinetic energy", "give masses"},
    {TAUT_HAS_FORCES, "cannot treat forces without a potential", "give potentials"},
    {TAUT_HAS_EVENTS, "cannot treat events", "leave out [events]"},
    {TAUT_HAS_ALGEBRAIC, "cannot treat algebraic variables", "eliminate them"},
    {TAUT_HAS_INVARIANTS, "cannot treat invariants", "leave out [invariants]"},
    {TAUT_HAS_STEPPER, "cannot treat a black box", "give equations"},
    {TAUT_HAS_KINKS, "cannot treat kinks (abs, min, floor)", "use smooth functions"},
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
