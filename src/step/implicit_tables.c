/* implicit_tables.c - coefficients of implicit Runge-Kutta methods other than Radau IIA:
 *
 *     gauss    Gauss collocation, orders 2, 4, 6         [Hairer, Wanner II, IV.5]
 *     lobatto  Lobatto IIIC, orders 2, 4, 6               [Chipman 1971; Hairer, Wanner II, IV.5]
 *     sdirk    L-stable, order 2 and 3 [Alexander 1977]; order 4 [Hairer, Wanner II, (IV.6.16)]
 *     trbdf2   trapezoidal rule and BDF2, order 2         [Bank and others 1985; Hosea, Shampine
 *              1996]
 *     esdirk4  ESDIRK4(3)6L[2]SA, order 4                 [Kennedy, Carpenter 2003]
 *
 * Spectra were computed with 60 digits. Errors: b - b^ of the embedded formula where the source has
 * one; else the difference of the stages of highest degree (trbdf2: of the ends), multiples of
 * h^(p-1) a^(p-1) or, for Lobatto, h^(s-1) a^(s-1), with the constant of the error of q or above.
 * tests/test_implicit.c checks conditions of order, stage order and stability of all. */
#include "step/collocation.h"

/* clang-format off */
const taut_stage_data taut_gauss2_table = {
    .stages = 1, .blocks = 1, .c = {0.5}, .block = {
        {true, {0.5, 0}, {{1, 0}}, {{1, 0}}},
    }};
const taut_stage_data taut_gauss4_table = {
    .stages = 2, .blocks = 1, .c = {0.2113248654051871177, 0.7886751345948128823}, .block = {
        {false, {0.25, 0.1443375672974064411}, {{0, 0.2679491924311227065}, {1, 0}},
            {{0, -1.866025403784438647}, {0.5, 0}}},
    }};
const taut_stage_data taut_gauss6_table = {
    .stages = 3, .blocks = 2, .c = {0.1127016653792583115, 0.5, 0.8872983346207416885}, .block = {
        {true, {0.2153144231161121782, 0}, {{0.07215185205520017032, 0}, {0.1188325787412778071,
            0}, {1, 0}}, {{5.991698084937800776, 0}, {1.139214295155735445, 0},
            {0.4323121137838583856, 0}}},
        {false, {0.1423427884419439109, 0.1357999257081538031}, {{-0.08224123057363067065,
            -0.06012073861930850173}, {0.05306509074206139505, 0.3162050511322915732}, {1, 0}},
            {{-2.995849042468900388, 0.6231066367931157054}, {-0.5696071475778677223,
            -1.462779823096156831}, {0.2838439431080708072, 0.1288676006367162462}}},
    }};

static const double lobatto2_a[] = {0.5, -0.5, 0.5, 0.5};
static const double lobatto2_error[] = {-1. / 6, 1. / 6};
const taut_stage_data taut_lobatto2_table = {
    .stages = 2, .blocks = 1, .c = {0, 1}, .block = {
        {false, {0.5, 0.5}, {{0, 1}, {1, 0}}, {{0, -0.5}, {0.5, 0}}},
    }, .a = lobatto2_a, .error = lobatto2_error};

static const double lobatto4_a[] = {
    1. / 6, -1. / 3, 1. / 6,
    1. / 6, 5. / 12, -1. / 12,
    1. / 6, 2. / 3, 1. / 6};
static const double lobatto4_error[] = {0.04, -0.08, 0.04};
const taut_stage_data taut_lobatto4_table = {
    .stages = 3, .blocks = 2, .c = {0, 0.5, 1}, .block = {
        {true, {0.3808338772072650364, 0}, {{0.4554100411010284672, 0}, {0.2073983055356404378,
            0}, {1, 0}}, {{0.9234665031131368612, 0}, {0.7661015518583512411, 0},
            {0.4205559181381766909, 0}}},
        {false, {0.1845830613963674818, 0.2744779181807058941}, {{-0.6027050205505142336,
            -0.4309321229203225731}, {0.1775508472321797811, 0.5194499080011394844}, {1, 0}},
            {{-0.4617332515565684306, 0.02653107404752058373}, {-0.3830507759291756205,
            -0.9405467214680379563}, {0.2897220409309116545, 0.1829852787871372627}}},
    }, .a = lobatto4_a, .error = lobatto4_error};

static const double lobatto6_a[] = { /* sqrt(5)/12, (10 -+ 7 sqrt(5))/60, sqrt(5)/60 */
    1. / 12, -0.1863389981249824747, 0.1863389981249824747, -1. / 12,
    1. / 12, 0.25, -0.09420793070830879791, 0.03726779962499649494,
    1. / 12, 0.4275412640416421312, 0.25, -0.03726779962499649494,
    1. / 12, 5. / 12, 5. / 12, 1. / 12};
static const double lobatto6_error[] = {-0.06, 0.1341640786499873818, -0.1341640786499873818, 0.06};
const taut_stage_data taut_lobatto6_table = {
    .stages = 4, .blocks = 2,
    .c = {0, 0.2763932022500210304, 0.7236067977499789696, 1}, .block = {
        {false, {0.233476348870017052, 0.085270408332421677}, {{-0.1165862498870159662,
            0.2331588855995925882}, {0.06854105219638146056, 0.01174994570529409329},
            {0.3151194350690626574, 0.1462672571725994139}, {1, 0}}, {{-0.09403994768408915658,
            -1.651378625020905068}, {1.059544034235659763, -2.670682323070597639},
            {0.06479006110059355844, -0.5714609640648162315}, {0.3959973647529208381,
            0.1706017916308978596}}},
        {false, {0.09985698446331628137, 0.1870544254177931807}, {{0.5610306943314604107,
            -0.1107083224016423977}, {-0.3403229323407857137, -0.04114766878194511098},
            {0.2677735561864527068, 0.5122199542649772243}, {1, 0}}, {{0.09403994768408915658,
            0.4628679849114956571}, {-1.059544034235659763, 0.8605647203321676234},
            {-0.06479006110059355844, -0.8069705726566355296}, {0.1040026352470791619,
            0.2492721421118566228}}},
    }, .a = lobatto6_a, .error = lobatto6_error};

/* gamma on the diagonal, and nothing else of the spectrum: the matrix is defective */
#define DIAGONAL(gamma) {{.real = true, .mu = {gamma, 0}}}

#define GAMMA2 0.2928932188134524756 /* 1 - 1/sqrt(2) */
static const double sdirk2_a[] = {GAMMA2, 0, 1 - GAMMA2, GAMMA2};
static const double sdirk2_error[] = {-0.07, 0.07};
const taut_stage_data taut_sdirk2_table = {
    .stages = 2, .blocks = 1, .c = {GAMMA2, 1}, .block = DIAGONAL(GAMMA2), .a = sdirk2_a,
    .triangular = true, .error = sdirk2_error};

#define GAMMA3 0.4358665215084589994 /* zero of x^3 - 3 x^2 + 3/2 x - 1/6 */
static const double sdirk3_a[] = {
    GAMMA3, 0, 0,
    (1 - GAMMA3) / 2, GAMMA3, 0,
    1.20849664917601007, -0.6443631706844690698, GAMMA3};
static const double sdirk3_error[] = {0.125, -0.25, 0.125};
const taut_stage_data taut_sdirk3_table = {
    .stages = 3, .blocks = 1, .c = {GAMMA3, (1 + GAMMA3) / 2, 1}, .block = DIAGONAL(GAMMA3),
    .a = sdirk3_a, .triangular = true, .error = sdirk3_error};

static const double sdirk4_a[] = {
    1. / 4, 0, 0, 0, 0,
    1. / 2, 1. / 4, 0, 0, 0,
    17. / 50, -1. / 25, 1. / 4, 0, 0,
    371. / 1360, -137. / 2720, 15. / 544, 1. / 4, 0,
    25. / 24, -49. / 48, 125. / 16, -85. / 12, 1. / 4};
static const double sdirk4_error[] = {-3. / 16, -27. / 32, 25. / 32, 0, 1. / 4};
const taut_stage_data taut_sdirk4_table = {
    .stages = 5, .blocks = 1, .c = {1. / 4, 3. / 4, 11. / 20, 1. / 2, 1},
    .block = DIAGONAL(0.25), .a = sdirk4_a, .triangular = true, .error = sdirk4_error};

static const double trbdf2_a[] = {GAMMA2, 0, 0.3535533905932737622, GAMMA2};
static const double trbdf2_early[] = {GAMMA2, 0.3535533905932737622};
static const double trbdf2_error[] = {0, 0.05};
const taut_stage_data taut_trbdf2_table = {
    .stages = 2, .blocks = 1, .c = {2 * GAMMA2, 1}, .block = DIAGONAL(GAMMA2), .a = trbdf2_a,
    .triangular = true, .early = trbdf2_early, .error = trbdf2_error, .early_error = -0.05};

static const double esdirk4_a[] = {
    1. / 4, 0, 0, 0, 0,
    -1743. / 31250, 1. / 4, 0, 0, 0,
    -654441. / 2922500, 174375. / 388108, 1. / 4, 0, 0,
    -71443401. / 120774400, 730878875. / 902184768, 2285395. / 8070912, 1. / 4, 0,
    0, 15625. / 83664, 69875. / 102672, -2260. / 8211, 1. / 4};
static const double esdirk4_early[] = {1. / 4, 8611. / 62500, 5012029. / 34652500,
    15267082809. / 155376265600., 82889. / 524892};
/* twenty times b - b^, which is half of the error of q */
static const double esdirk4_error[] = {0, 20 * (15625. / 83664 - 178811875. / 945068544),
    20 * (69875. / 102672 - 814220225. / 1159782912), 20 * (-2260. / 8211 + 3700637. / 11593932),
    20 * (1. / 4 - 61727. / 225920)};
const taut_stage_data taut_esdirk4_table = {
    .stages = 5, .blocks = 1, .c = {1. / 2, 83. / 250, 31. / 50, 17. / 20, 1},
    .block = DIAGONAL(0.25), .a = esdirk4_a, .triangular = true, .early = esdirk4_early,
    .error = esdirk4_error, .early_error = 20 * (82889. / 524892 - 4586570599. / 29645900160.)};
/* clang-format on */
