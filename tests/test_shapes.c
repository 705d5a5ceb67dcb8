/* test_shapes.c - [shapes] of a model: numbers of their points against closed forms, families,
 * attributes, errors with line and column; the shipped models draw themselves with joints that
 * meet. */
#include <dirent.h>

#include "support/table.h"
#include <taut/taut.h>

typedef struct drawn {
    taut_system *system;
    taut_context *context;
    int shapes, points;
    double q[64], v[64], *numbers;
    taut_error error;
    int code;
} drawn;

/* Numbers at the initial state. */
static void draw(drawn *d)
{
    taut_shape last;
    taut_shape_init(&last);
    d->shapes = taut_shape_count(d->system);
    if (d->code == 0 && d->shapes > 0)
        d->code = taut_shape_get(d->system, d->shapes - 1, &last, &d->error);
    d->points = last.first + last.points;
    d->numbers = calloc(3 * (size_t)d->points + 1, sizeof *d->numbers);
    if (d->code == 0)
        d->code = taut_context_create(d->system, NULL, &d->context, &d->error);
    if (d->code == 0)
        d->code = taut_context_start(d->context, 0, d->q, d->v, &d->error);
    if (d->code == 0)
        d->code = taut_shapes_at(d->context, 0, d->q, d->v, NULL, d->numbers, &d->error);
}

static drawn draw_text(const char *text)
{
    drawn d = {0};
    d.code = taut_system_parse(text, strlen(text), "model.taut", NULL, &d.system, &d.error);
    draw(&d);
    return d;
}

static void drop(drawn *d)
{
    free(d->numbers);
    taut_context_destroy(d->context);
    taut_system_destroy(d->system);
}

static taut_shape shape_of(const drawn *d, int k)
{
    taut_shape shape;
    taut_shape_init(&shape);
    taut_shape_get(d->system, k, &shape, NULL);
    return shape;
}

/* Number k of the shape with this name; NaN: there is none. */
static double number(const drawn *d, const char *name, int k)
{
    for (int j = 0; j < d->shapes; j++) {
        taut_shape shape = shape_of(d, j);
        if (strcmp(shape.name, name) == 0 && k < 3 * shape.points)
            return d->numbers[3 * shape.first + k];
    }
    return NAN;
}

/* ---- numbers and attributes */

static const char mechanism[] = "[parameters]\nr = 2, N = 3, w = 1.5\n"
                                "[coordinates]\ntheta, x[i] for i in 1..N\n"
                                "[definitions]\npin = r*(cos(theta), sin(theta))\n"
                                "[bonds]\nrod = x[1] - 1 stiffness 1e4\n"
                                "[start]\ntheta = 0.3, theta' = 4, x[i] = i^2 for i in 1..N\n"
                                "[shapes]\n"
                                "crank = line((0, 0), pin)  width 2*w  colour #1a2B3c # not this\n"
                                "hub = point((0, 0, theta')), wheel = circle(pin, r/4) colour red\n"
                                "arm[i] = line((i, x[i]), (x[i], i, r)) for i in 1..N  width 1\n"
                                "way = path((0, 0), pin, (1, 1, 1), (t, 2))\n"
                                "part[i,j] = box((i, j), (i + 1, j + 1)) for i in 1..2, j in 0..1\n"
                                "pull = arrow(pin, pin + lambda(rod)*(1, 0))\n"
                                "A = text(pin), B = text(pin)  label \"<pin> # B\"  width 12\n";

static void numbers(void)
{
    drawn d = draw_text(mechanism);
    check_group("numbers");
    if (!check_row(d.code == 0, "%s (line %d, column %d)", d.error.message, d.error.line,
                   d.error.column))
        return;
    double px = 2 * cos(0.3), py = 2 * sin(0.3);
    check_equal("shapes", d.shapes, 3 + 3 + 1 + 4 + 1 + 2);
    check_equal("points", d.points, 2 + 1 + 2 + 6 + 4 + 8 + 2 + 2);
    check_near("line", number(&d, "crank", 3), px, 1e-15);
    check_near("line", number(&d, "crank", 4), py, 1e-15);
    check_near("in a plane", number(&d, "crank", 5), 0, 0);
    check_near("velocity", number(&d, "hub", 2), 4, 0);
    check_near("radius", number(&d, "wheel", 3), 0.5, 0);
    for (int i = 1; i <= 3; i++) {
        char name[20];
        snprintf(name, sizeof name, "arm[%d]", i);
        const double expected[] = {i, i * i, 0, i * i, i, 2};
        for (int k = 0; k < 6; k++)
            check_near(name, number(&d, name, k), expected[k], 0);
    }
    check_near("path", number(&d, "way", 4), py, 1e-15);
    check_near("path", number(&d, "way", 10), 2, 0);
    check_near("two indices", number(&d, "part[2,0]", 0), 2, 0);
    check_near("two indices", number(&d, "part[1,1]", 4), 2, 0);
    check_near("without multipliers they are 0", number(&d, "pull", 3), px, 1e-15);
    double lambda = 7;
    check_equal("other state", taut_shapes_at(d.context, 5, d.q, NULL, &lambda, d.numbers, NULL),
                0);
    check_near("multiplier", number(&d, "pull", 3), px + 7, 1e-15);
    check_near("time", number(&d, "way", 9), 5, 0);
    check_near("no velocities are 0", number(&d, "hub", 2), 0, 0);
    check_equal("parameter", taut_context_set_parameter(d.context, 0, 4, NULL), 0);
    taut_shapes_at(d.context, 5, d.q, d.v, NULL, d.numbers, NULL);
    check_near("another parameter", number(&d, "wheel", 3), 1, 0);
    taut_shape s = shape_of(&d, 0), a = shape_of(&d, d.shapes - 2), b = shape_of(&d, d.shapes - 1);
    check_row(s.width == 3 && strcmp(s.colour, "#1a2B3c") == 0 && !s.text &&
                  s.kind == TAUT_SHAPE_LINE,
              "attributes: %g %s", s.width, s.colour);
    check_row(!a.colour && a.width == 0 && a.kind == TAUT_SHAPE_TEXT, "none");
    check_contains("a text shows its name", a.text, "A");
    check_contains("or its label, '#' and all", b.text, "<pin> # B");
    check_equal("out of range", taut_shape_get(d.system, d.shapes, &s, &d.error), TAUT_ERROR_USAGE);
    drop(&d);

    d = draw_text("[coordinates]\nx\n");
    check_equal("no shapes", d.shapes, 0);
    check_equal("nothing to write", taut_shapes_at(d.context, 0, d.q, d.v, NULL, NULL, NULL), 0);
    drop(&d);
}

/* ---- errors */

static const struct {
    const char *line, *words;
    int column;
} wrong[] = {
    {"a = x", "expected a shape: point, line, path", 5},
    {"a = lime((0, 0), (1, 1))", "did you mean 'line'?", 5},
    {"a = line((0, 0))", "line needs two points, found 1 argument", 5},
    {"a = circle((0, 0), (1, 2))", "expected a number, found a vector of 2", 20},
    {"a = line((0, 0), x)", "expected a point (x, y) or (x, y, z), found a number", 18},
    {"a = point((1, 2, 3, 4))", "more components", 11},
    {"a = point((y, 0))", "'y'", 12},
    {"a = point((x, 0))  width 0", "expected a width > 0", 26},
    {"a = point((x, 0))  width x", "width", 26},
    {"a = point((x, 0))  colour mauve", "expected a colour: black, grey", 27},
    {"a = point((x, 0))  colour #12345", "#rrggbb with six digits", 27},
    {"a = point((x, 0))  colour", "expected a colour", 26},
    {"a = text((x, 0))  label \"pin", "in double quotes", 25},
    {"a = text((x, 0))  label pin", "in double quotes", 25},
    {"a = point((x, 0))  label \"pin\"", "'label' is the words of a shape text", 20},
    {"a = point((x, 0))  stiffness 3", "[shapes] accepts width, colour, label", 20},
    {"a = point((x, 0)), a = point((0, x))", "'a'", 20},
    {"a' = point((x, 0))", "plain name", 1},
    {"a[i] = point((p[i], 0)) for i in 1..3", "p[3]", 15},
};

static void errors(void)
{
    check_group("errors");
    for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; k++) {
        char text[300];
        taut_system *system = NULL;
        taut_error error;
        snprintf(text, sizeof text, "[coordinates]\nx, p[i] for i in 1..2\n[shapes]\n%s\n",
                 wrong[k].line);
        int code = taut_system_parse(text, strlen(text), "model.taut", NULL, &system, &error);
        check_row(code == TAUT_ERROR_MODEL && error.line == 4 && error.column == wrong[k].column,
                  "%s: %d, line %d, column %d, expected %d: %s", wrong[k].line, code, error.line,
                  error.column, wrong[k].column, error.message);
        check_contains(wrong[k].line, error.message, wrong[k].words);
        taut_system_destroy(system);
    }
}

/* ---- shipped models */

static drawn draw_shipped(const char *name)
{
    char path[600];
    drawn d = {0};
    snprintf(path, sizeof path, "%s/models/%s", TAUT_SOURCE_DIR, name);
    d.code = taut_system_load(path, NULL, &d.system, &d.error);
    return d;
}

/* Mechanical models without particles have shapes, which are finite at the initial state. */
static void shipped(void)
{
    char path[600];
    int with = 0;
    check_group("shipped models");
    snprintf(path, sizeof path, "%s/models", TAUT_SOURCE_DIR);
    DIR *folder = opendir(path);
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        if (!strstr(entry->d_name, ".taut"))
            continue;
        drawn d = draw_shipped(entry->d_name);
        taut_sizes sizes = {.size = sizeof sizes};
        char first[100] = "";
        taut_system_sizes_get(d.system, &sizes, NULL);
        taut_system_name(d.system, TAUT_COORDINATE, 0, first, sizeof first);
        int shapes = taut_shape_count(d.system);
        if (sizes.kind == TAUT_MECHANICAL && !strchr(first, '.'))
            check_row(shapes > 0, "%s: %d shapes", entry->d_name, shapes);
        if (shapes > 0 && sizes.coordinates <= 64) {
            bool finite = true;
            draw(&d);
            for (int k = 0; k < 3 * d.points; k++)
                finite = finite && isfinite(d.numbers[k]);
            check_row(d.code == 0 && finite, "%s: finite", entry->d_name);
            with++;
        }
        drop(&d);
    }
    if (folder)
        closedir(folder);
    check_row(with >= 20, "%d models with shapes", with);
}

/* Ends of parts that are joined by a pin, at the initial state, and lengths of parts. */
static const struct {
    const char *model, *a, *b;
    int from_a, from_b;
} joints[] = {
    {"four_bar.taut", "crank", "coupler", 3, 0},
    {"four_bar.taut", "coupler", "rocker", 3, 0},
    {"slider_crank.taut", "crank", "rod", 3, 0},
    {"squeezer.taut", "crank", "lever", 3, 0},
    {"squeezer.taut", "lever", "triangle", 3, 0},
    {"squeezer.taut", "upper[1]", "upper[2]", 3, 0},
    {"squeezer.taut", "lower[1]", "lever", 0, 3},
    {"robot_arm.taut", "link[1]", "link[2]", 3, 0},
    {"double_pendulum.taut", "inner", "outer", 3, 0},
    {"top.taut", "disc[24]", "disc[1]", 3, 0},
};
static const struct {
    const char *model, *name;
    double length;
} lengths[] = {
    {"four_bar.taut", "crank", 1},       {"four_bar.taut", "coupler", 3},
    {"four_bar.taut", "rocker", 3},      {"slider_crank.taut", "rod", 3},
    {"squeezer.taut", "lever", 0.028},   {"squeezer.taut", "triangle", 0.035},
    {"squeezer.taut", "upper[1]", 0.02}, {"squeezer.taut", "lower[1]", 0.02},
    {"robot_arm.taut", "link[2]", 0.4},  {"top.taut", "stem", 0.2},
    {"top.taut", "spoke", 0.08},
};

static void parts(void)
{
    check_group("parts");
    for (size_t k = 0; k < sizeof joints / sizeof joints[0]; k++) {
        drawn d = draw_shipped(joints[k].model);
        draw(&d);
        for (int c = 0; c < 3; c++)
            check_near(joints[k].a, number(&d, joints[k].a, joints[k].from_a + c),
                       number(&d, joints[k].b, joints[k].from_b + c), 1e-14);
        drop(&d);
    }
    for (size_t k = 0; k < sizeof lengths / sizeof lengths[0]; k++) {
        drawn d = draw_shipped(lengths[k].model);
        double sum = 0;
        draw(&d);
        for (int c = 0; c < 3; c++)
            sum += pow(number(&d, lengths[k].name, 3 + c) - number(&d, lengths[k].name, c), 2);
        check_near(lengths[k].name, sqrt(sum), lengths[k].length, 1e-12);
        drop(&d);
    }
}

int main(void)
{
    numbers();
    errors();
    shipped();
    parts();
    return check_done();
}
