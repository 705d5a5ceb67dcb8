/* oxygen.h - the hydrogen-oxygen reactions of Gear, Kaper, Kevrekidis, Zagaris 2005, section 4.2:
 * table 3, and the shipped model with another inner method or in the five variables of the paper.
 */
#ifndef TAUT_TESTS_SUPPORT_OXYGEN_H
#define TAUT_TESTS_SUPPORT_OXYGEN_H

#include <stdio.h>
#include <string.h>

#include "support/table.h"

/* D table 3: O2, H, OH, O, H2, H2O, HO2 */
static const double table_3[7] = {4.2783465727e-13, 3.9878034748e-8, 1.3883748623e-10,
                                  1.1300067412e-11, 4.4019256520e-7, 3.9848995981e-8,
                                  5.3981503775e-15};

/* The text of the model; another inner method when one is given. */
static inline const char *ho_model(const char *stepper)
{
    static char text[8000];
    char rest[8000] = "", path[1200];
    snprintf(path, sizeof path, "%s/models/hydrogen_oxygen.taut", TAUT_SOURCE_DIR);
    FILE *file = fopen(path, "r");
    size_t length = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
        fclose(file);
    text[length] = '\0';
    char *begin = strstr(text, "[stepper]"), *end = strstr(text, "[observables]");
    if (!check_row(begin && end, "the model has [stepper] before [observables]") || !stepper)
        return text;
    snprintf(rest, sizeof rest, "%s", end);
    snprintf(begin, sizeof text - (size_t)(begin - text), "[stepper]\n%s\nhorizon = 2e-5\n%s",
             stepper, rest);
    return text;
}

/* H and OH follow from the balances [D 4.2]; r1 .. r8 as in the model. */
static inline const char *ho_reduced(void)
{
    static char text[8000];
    const double *z = table_3;
    double oxygen = 2 * z[0] + z[2] + z[3] + z[5] + 2 * z[6],
           hydrogen = z[1] + z[2] + 2 * z[4] + 2 * z[5] + z[6];
    const char *whole = ho_model(NULL), *state = strstr(whole, "[state]"),
               *first = strstr(whole, "r1 ="), *rates = strstr(whole, "[rates]");
    if (!check_row(state && first && rates && first < rates,
                   "the model has [state], r1 and [rates]"))
        return "[state]\n";
    snprintf(
        text, sizeof text,
        "%.*s[state]\nO2, O, H2, H2O, HO2\n[definitions]\nOH = %.17g - (2*O2 + O + H2O + 2*HO2)\n"
        "H = %.17g - (OH + 2*H2 + 2*H2O + HO2)\n%.*s[rates]\nO2' = -r1 + r4 - r5\nO' = r1 - r2 + "
        "r8\nH2' = -r2 - r3\n"
        "H2O' = r3 + r4 + r8\nHO2' = -r4 + r5\n[stepper]\nmethod = radau5\nstep = 1e-6\nhorizon = "
        "2e-5\n[observables]\nH2\n"
        "[start]\nO2 = %.17g, O = %.17g, H2 = %.17g, H2O = %.17g, HO2 = %.17g\n",
        (int)(state - whole), whole, oxygen, hydrogen, (int)(rates - first), first, z[0], z[3],
        z[4], z[5], z[6]);
    return text;
}

#endif
