/* keep.c - kept values of a run, computed while its rows pass; no row is stored.
 *
 * An expression has two parts: what is inside start, end, min, max, mean, rms, argmin, argmax is a
 * function of one row, what is outside combines their results. Each part is one tape for all
 * expressions. Over rows (t_i, x_i):
 *
 *     mean = sum (t_i+1 - t_i) (x_i + x_i+1)/2 / (t_n - t_0),     rms = sqrt(mean of x^2)
 *
 * by the trapezoidal rule; min and max are those of the rows, not of what lies between them. */
#include "verbs/keep.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/nearmiss.h"
#include "expr/parser.h"
#include "expr/tape.h"
#include "system/system.h"

enum { MOST = 256, NODES = 100000, NAME = 200 };

/* ---- what there is */

typedef enum over { START, END, MIN, MAX, MEAN, RMS, ARGMIN, ARGMAX, COUNT, OVERS } over;
static const char *const over_name[OVERS] = {"start", "end",    "min",    "max",  "mean",
                                             "rms",   "argmin", "argmax", "count"};

typedef enum source {
    TIME,
    ENERGY,
    POSITION,
    VELOCITY,
    MULTIPLIER,
    OUTPUT,
    PARAMETER,
    RESULT
} source;

typedef struct input {
    source from;
    int32_t k; /* which; of RESULT: a reduction */
} input;

/* A function over the rows of a run. */
typedef struct reduction {
    over how;
    int32_t node;     /* in the graph of rows: what it is a function of */
    taut_index event; /* of COUNT */
} reduction;

typedef struct part { /* of rows, or of ends */
    taut_graph *graph;
    input input[MOST];
    int inputs;
    taut_tape *tape;
} part;

struct taut_keep {
    part row, end;
    reduction reduction[MOST];
    int reductions, count;
};

typedef struct build {
    taut_keep *keep;
    const taut_system *system;
    taut_parser parser;
    enum { OUTSIDE, INSIDE, INSIDE_START } where;
} build;

/* ---- names */

static int fail(const build *b, taut_place place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static int fail(const build *b, taut_place place, const char *format, ...)
{
    const taut_lexer *l = &b->parser.lexer;
    va_list list;
    va_start(list, format);
    int code = taut_text_fail(b->parser.error, TAUT_ERROR_MODEL, l->file, l->text,
                              (size_t)l->length, place, format, list);
    va_end(list);
    return code;
}

static int32_t add_input(part *p, source from, int32_t k)
{
    int i = 0;
    while (i < p->inputs && (p->input[i].from != from || p->input[i].k != k))
        i++;
    if (i == MOST)
        return -1;
    p->input[i] = (input){from, k};
    p->inputs += i == p->inputs;
    return taut_graph_input(p->graph, i);
}

static part *present(const build *b)
{
    return b->where == OUTSIDE ? &b->keep->end : &b->keep->row;
}

static int take(const build *b, const taut_tree *tree, source from, int32_t k, int32_t *node)
{
    *node = add_input(present(b), from, k);
    return *node >= 0 ? TAUT_OK : fail(b, tree->place, "more than %d different values", MOST);
}

/* bob[N].x as text, N a parameter. */
static int name_text(const build *b, const taut_tree *tree, char text[NAME])
{
    int used = snprintf(text, NAME, "%s", tree->name);
    for (int i = 0; i < tree->count && used < NAME; i++) {
        const taut_tree *index = tree->child[i];
        double value = index->value;
        taut_index k = index->kind == TAUT_TREE_NAME && !index->primes && b->system
                           ? taut_system_find(b->system, TAUT_PARAMETER, index->name)
                           : -1;
        if (k >= 0)
            value = b->system->parameter_value[k];
        if ((k < 0 && index->kind != TAUT_TREE_NUMBER) || value != rint(value) || fabs(value) > 2e9)
            return fail(b, index->place, "expected a whole number or a parameter as index");
        used += snprintf(text + used, (size_t)(NAME - used), "%s%.0f%s", i ? "," : "[", value,
                         i + 1 == tree->count ? "]" : "");
    }
    if (tree->member && used < NAME)
        used += snprintf(text + used, (size_t)(NAME - used), ".%s", tree->member);
    return used < NAME && !tree->member_count ? TAUT_OK : fail(b, tree->place, "unknown name");
}

static int unknown(const build *b, const taut_tree *tree, const char *name, const taut_item *items,
                   int count)
{
    enum { CANDIDATES = 400, LENGTH = 48 };
    static const char *const words[] = {"energy", "t", "pi"};
    char room[CANDIDATES][LENGTH];
    const char *known[CANDIDATES];
    int found = 0;
    for (; count > 2 && found < 3; found++)
        known[found] = words[found];
    for (int i = 0; i < count && b->system; i++)
        for (taut_index k = 0; found < CANDIDATES; k++, found++) {
            if (taut_system_name(b->system, items[i], k, room[found], LENGTH) == 0)
                break;
            known[found] = room[found];
        }
    const char *near = taut_near_miss(name, known, found);
    return fail(b, tree->place, "unknown %s '%s'%s%s%s",
                count > 2               ? "name"
                : items[0] == TAUT_BOND ? "bond"
                                        : "event",
                name, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

static int name_node(const build *b, const taut_tree *tree, int32_t *node)
{
    static const taut_item items[] = {TAUT_COORDINATE, TAUT_ALGEBRAIC, TAUT_OUTPUT, TAUT_PARAMETER};
    static const source sources[] = {POSITION, VELOCITY, OUTPUT, PARAMETER};
    char name[NAME];
    TAUT_TRY(name_text(b, tree, name));
    bool mechanical = b->system && b->system->sizes.kind == TAUT_MECHANICAL;
    for (int i = 0; i < 4 && b->system; i++) {
        taut_index k = taut_system_find(b->system, items[i], name);
        if (k < 0)
            continue;
        if (tree->primes > (i == 0 && mechanical))
            return fail(b, tree->place, "'%s' has no %s here", name,
                        i == 0 && mechanical ? "second derivative" : "derivative");
        if (i < 3 && b->where == OUTSIDE)
            return fail(b, tree->place,
                        "'%s' has a value at each row of a run: write end(%s), max(%s) or another "
                        "function over the run",
                        name, name, name);
        return take(b, tree, tree->primes ? VELOCITY : sources[i], k, node);
    }
    if (strcmp(name, "pi") == 0 && !tree->primes) {
        *node = taut_graph_constant(present(b)->graph, acos(-1));
        return TAUT_OK;
    }
    bool row = strcmp(name, "energy") == 0 || strcmp(name, "t") == 0;
    if (row && b->system && b->where == OUTSIDE)
        return fail(b, tree->place,
                    "'%s' has a value at each row of a run: write end(%s) or max(%s)", name, name,
                    name);
    if (row && b->system && !tree->primes)
        return take(b, tree, name[0] == 't' ? TIME : ENERGY, 0, node);
    return unknown(b, tree, name, items, 4);
}

/* The bond or event that is the only argument of a call. */
static int named(const build *b, const taut_tree *tree, taut_item item, taut_index *k)
{
    char name[NAME];
    const char *what = item == TAUT_BOND ? "a bond" : "an event";
    if (tree->count != 1 || tree->child[0]->kind != TAUT_TREE_NAME || tree->child[0]->primes)
        return fail(b, tree->place, "%s needs the name of %s", tree->name, what);
    TAUT_TRY(name_text(b, tree->child[0], name));
    *k = b->system ? taut_system_find(b->system, item, name) : -1;
    return *k >= 0 ? TAUT_OK : unknown(b, tree->child[0], name, &item, 1);
}

/* ---- trees to nodes */

static int tree_node(build *b, const taut_tree *tree, int32_t *node);

/* A function over the run: *node is its result, where it is used. */
static int reduce(build *b, const taut_tree *tree, over how, int32_t *node)
{
    taut_keep *keep = b->keep;
    int was = b->where;
    if (was == INSIDE_START || (was == INSIDE && how != START))
        return fail(b, tree->place,
                    "%s is a function over the run, which cannot be inside another one; only start "
                    "can, once",
                    tree->name);
    if (tree->count != 1)
        return fail(b, tree->place, "%s needs 1 argument, found %d", tree->name, tree->count);
    reduction r = {.how = how, .node = -1};
    if (how == COUNT) {
        TAUT_TRY(named(b, tree, TAUT_EVENT_ITEM, &r.event));
    } else {
        b->where = how == START ? INSIDE_START : INSIDE;
        int status = tree_node(b, tree->child[0], &r.node);
        b->where = was;
        TAUT_TRY(status);
    }
    if (keep->reductions == MOST)
        return fail(b, tree->place, "more than %d functions over the run", MOST);
    keep->reduction[keep->reductions] = r;
    return take(b, tree, RESULT, keep->reductions++, node);
}

static int call_node(build *b, const taut_tree *tree, int32_t *node)
{
    taut_graph *graph = present(b)->graph;
    taut_op op = TAUT_OP_SELECT;
    taut_index bond;
    for (int k = 0; k < OVERS && b->system; k++)
        if (strcmp(tree->name, over_name[k]) == 0 && ((k != MIN && k != MAX) || tree->count < 2))
            return reduce(b, tree, (over)k, node);
    if (strcmp(tree->name, "lambda") == 0 && b->where != OUTSIDE) {
        TAUT_TRY(named(b, tree, TAUT_BOND, &bond));
        return take(b, tree, MULTIPLIER, bond, node);
    }
    if (strcmp(tree->name, "lambda") == 0 && b->system)
        return fail(b, tree->place,
                    "lambda has a value at each row of a run: write max(lambda(..))");
    if (strcmp(tree->name, "if") != 0 && !taut_op_find(tree->name, &op))
        return fail(b, tree->place,
                    "unknown function '%s'; functions over a run are start, end, "
                    "min, max, mean, rms, argmin, argmax and count",
                    tree->name);
    int arity = taut_op_table[op].arity;
    bool many = op == TAUT_OP_MIN || op == TAUT_OP_MAX;
    if (many ? tree->count < 2 : tree->count != arity)
        return fail(b, tree->place, "%s needs %d %s, found %d", tree->name, arity,
                    arity == 1 ? "argument" : "arguments", tree->count);
    int32_t a[3] = {-1, -1, -1};
    for (int k = 0; k < tree->count; k++) {
        int at = k < 2 || !many ? k : 1;
        TAUT_TRY(tree_node(b, tree->child[k], &a[at]));
        if (many && k > 0)
            a[0] = taut_graph_binary(graph, op, a[0], a[1]);
    }
    *node = many         ? a[0]
            : arity == 1 ? taut_graph_unary(graph, op, a[0])
            : arity == 2 ? taut_graph_binary(graph, op, a[0], a[1])
                         : taut_graph_select(graph, a[0], a[1], a[2]);
    return TAUT_OK;
}

static int binary_node(build *b, const taut_tree *tree, int32_t *node)
{
    static const struct {
        char letter;
        taut_op op;
    } ops[] = {{'+', TAUT_OP_ADD}, {'-', TAUT_OP_SUB}, {'*', TAUT_OP_MUL}, {'/', TAUT_OP_DIV},
               {'^', TAUT_OP_POW}, {'<', TAUT_OP_LT},  {'l', TAUT_OP_LE},  {'>', TAUT_OP_LT},
               {'g', TAUT_OP_LE},  {'=', TAUT_OP_EQ},  {'n', TAUT_OP_NE},  {'&', TAUT_OP_AND},
               {'|', TAUT_OP_OR}};
    int32_t a[2];
    bool swapped = tree->op == '>' || tree->op == 'g';
    TAUT_TRY(tree_node(b, tree->child[0], &a[0]));
    TAUT_TRY(tree_node(b, tree->child[1], &a[1]));
    size_t k = 0;
    while (ops[k].letter != tree->op)
        k++;
    *node = taut_graph_binary(present(b)->graph, ops[k].op, a[swapped], a[!swapped]);
    return TAUT_OK;
}

static int tree_node(build *b, const taut_tree *tree, int32_t *node)
{
    switch (tree->kind) {
    case TAUT_TREE_NUMBER:
        *node = taut_graph_constant(present(b)->graph, tree->value);
        return TAUT_OK;
    case TAUT_TREE_UNARY:
        TAUT_TRY(tree_node(b, tree->child[0], node));
        *node = taut_graph_unary(present(b)->graph, TAUT_OP_NEG, *node);
        return TAUT_OK;
    case TAUT_TREE_BINARY: return binary_node(b, tree, node);
    case TAUT_TREE_CALL: return call_node(b, tree, node);
    case TAUT_TREE_NAME: return name_node(b, tree, node);
    default: break;
    }
    return fail(b, tree->place, "%s are unsupported here: write out their components",
                tree->kind == TAUT_TREE_VECTOR ? "vectors" : "sums");
}

static int text_node(build *b, taut_arena *arena, const char *text, int32_t *node,
                     taut_error *error)
{
    taut_tree *tree;
    TAUT_TRY(taut_parser_init(&b->parser, "<keep>", text, strlen(text), arena, error));
    TAUT_TRY(taut_parse_expression(&b->parser, &tree));
    if (!taut_parser_at_end(&b->parser))
        return taut_parser_expected(&b->parser, "an operator or the end");
    b->where = OUTSIDE;
    return tree_node(b, tree, node);
}

static int make_tape(part *p, taut_arena *arena, int count, const int32_t *node, taut_error *error)
{
    unsigned char level[MOST] = {0};
    TAUT_TRY(taut_graph_status(p->graph, error));
    return taut_tape_create(p->graph, arena, p->inputs, count, node, level, &p->tape, error);
}

static int make_tapes(taut_keep *keep, taut_arena *arena, const int32_t *end, taut_error *error)
{
    int32_t node[MOST];
    for (int k = 0; k < keep->reductions; k++)
        node[k] = keep->reduction[k].how == COUNT ? taut_graph_constant(keep->row.graph, 0)
                                                  : keep->reduction[k].node;
    TAUT_TRY(make_tape(&keep->row, arena, keep->reductions, node, error));
    return make_tape(&keep->end, arena, keep->count, end, error);
}

int taut_keep_create(taut_arena *arena, const taut_system *system, const char *const *text,
                     int count, taut_keep **result, taut_error *error)
{
    int32_t end[MOST];
    if (count > MOST)
        return taut_fail_option(error, TAUT_ERROR_SIZE, "keep", "at most %d expressions", MOST);
    taut_keep *keep = *result = TAUT_NEW(arena, taut_keep, 1);
    build *b = TAUT_NEW(arena, build, 1);
    TAUT_NEED(error, keep, b);
    *b = (build){.keep = keep, .system = system};
    keep->count = count;
    keep->row.graph = taut_graph_create(&arena->allocator, NODES);
    keep->end.graph = taut_graph_create(&arena->allocator, NODES);
    int status = keep->row.graph && keep->end.graph ? TAUT_OK : taut_fail_memory(error);
    for (int k = 0; k < count && status == 0; k++)
        status = text_node(b, arena, text[k], &end[k], error);
    if (status == 0)
        status = make_tapes(keep, arena, end, error);
    taut_graph_destroy(keep->row.graph);
    taut_graph_destroy(keep->end.graph);
    return status;
}

int taut_keep_number(const char *text, double *value, taut_error *error)
{
    taut_arena arena;
    taut_arena_init(&arena, NULL);
    taut_keep *keep;
    taut_keeping *keeping;
    int status = taut_keep_create(&arena, NULL, &text, 1, &keep, error);
    if (status == 0)
        status = taut_keeping_create(&arena, keep, &keeping, error);
    if (status == 0)
        taut_keeping_values(keeping, value);
    taut_arena_clear(&arena);
    return status;
}

/* ---- along a run */

typedef struct state {
    double value, at; /* extreme value and its time; of means the sum */
} state;

struct taut_keeping {
    const taut_keep *keep;
    double *row, *end; /* registers */
    double *before;    /* [reductions] of the last row */
    state *state;      /* [reductions] */
    double first, last;
    int64_t rows;
};

int taut_keeping_create(taut_arena *arena, const taut_keep *keep, taut_keeping **result,
                        taut_error *error)
{
    taut_keeping *k = *result = TAUT_NEW(arena, taut_keeping, 1);
    TAUT_NEED(error, k);
    *k = (taut_keeping){.keep = keep};
    k->state = TAUT_NEW(arena, state, keep->reductions);
    TAUT_NEED(error, k->state);
    TAUT_TRY(TAUT_RESERVE(arena, keep->reductions, error, &k->before));
    TAUT_TRY(TAUT_RESERVE(arena, keep->row.tape->registers, error, &k->row));
    TAUT_TRY(TAUT_RESERVE(arena, keep->end.tape->registers, error, &k->end));
    taut_tape_prepare(keep->row.tape, 1, k->row);
    taut_tape_prepare(keep->end.tape, 1, k->end);
    return TAUT_OK;
}

static int begin(void *user, const taut_system *system, taut_error *error)
{
    taut_keeping *k = user;
    const part *parts[] = {&k->keep->row, &k->keep->end};
    double *regs[] = {k->row, k->end};
    (void)error;
    for (int p = 0; p < 2; p++)
        for (int i = 0; i < parts[p]->inputs; i++)
            if (parts[p]->input[i].from == PARAMETER)
                regs[p][i] = system->parameter_value[parts[p]->input[i].k];
    for (int i = 0; i < k->keep->reductions; i++)
        k->state[i] = (state){k->keep->reduction[i].how == COUNT ? 0 : NAN, NAN};
    k->rows = 0;
    return TAUT_OK;
}

static void load(taut_keeping *k, const taut_row *row)
{
    const part *p = &k->keep->row;
    for (int i = 0; i < p->inputs; i++) {
        int32_t j = p->input[i].k;
        switch (p->input[i].from) {
        case TIME: k->row[i] = row->t; break;
        case ENERGY: k->row[i] = row->energy; break;
        case POSITION: k->row[i] = row->q[j]; break;
        case VELOCITY: k->row[i] = row->v[j]; break;
        case MULTIPLIER: k->row[i] = row->lambda[j]; break;
        case OUTPUT: k->row[i] = row->outputs[j]; break;
        case PARAMETER: break;
        case RESULT: k->row[i] = k->state[j].value; break; /* of start */
        }
    }
}

/* x at the time t joins the reduction. NaN stays. */
static void join(const taut_keeping *k, int i, const taut_row *row, double x)
{
    state *s = &k->state[i];
    const reduction *r = &k->keep->reduction[i];
    bool first = k->rows == 0;
    double half = (row->t - k->last) / 2, before = k->before[i];
    switch (r->how) {
    case START: s->value = first ? x : s->value; break;
    case END: s->value = x; break;
    case MIN:
    case ARGMIN:
        if (first || x < s->value || isnan(x))
            *s = (state){x, row->t};
        break;
    case MAX:
    case ARGMAX:
        if (first || x > s->value || isnan(x))
            *s = (state){x, row->t};
        break;
    case MEAN: s->value = first ? 0 : s->value + half * (x + before); break;
    case RMS: s->value = first ? 0 : s->value + half * (x * x + before * before); break;
    case COUNT: s->value += row->event == r->event + 1; break;
    default: break;
    }
    k->before[i] = x;
}

static int take_row(void *user, const taut_row *row, taut_error *error)
{
    taut_keeping *k = user;
    const taut_keep *keep = k->keep;
    (void)error;
    /* of the first row twice: start may be inside others */
    for (int pass = k->rows > 0; pass < 2; pass++) {
        load(k, row);
        taut_tape_run(keep->row.tape, 0, 1, 1, k->row);
        for (int i = 0; i < keep->reductions; i++)
            if (pass == 1 || keep->reduction[i].how == START)
                join(k, i, row, k->row[keep->row.tape->output[i]]);
    }
    k->first = k->rows > 0 ? k->first : row->t;
    k->last = row->t;
    k->rows++;
    return TAUT_OK;
}

taut_sink taut_keeping_sink(taut_keeping *keeping)
{
    return (taut_sink){.begin = begin, .row = take_row, .user = keeping};
}

static double result(const taut_keeping *k, int i)
{
    const state *s = &k->state[i];
    double length = k->last - k->first, x = k->before[i];
    switch (k->keep->reduction[i].how) {
    case ARGMIN:
    case ARGMAX: return isnan(s->value) ? NAN : s->at;
    case MEAN: return length != 0 ? s->value / length : x;
    case RMS: return length != 0 ? sqrt(s->value / length) : fabs(x);
    default: return s->value;
    }
}

void taut_keeping_values(taut_keeping *k, double *value)
{
    const part *p = &k->keep->end;
    for (int i = 0; i < p->inputs; i++)
        if (p->input[i].from == RESULT)
            k->end[i] = k->rows > 0 ? result(k, p->input[i].k) : NAN;
    taut_tape_run(p->tape, 0, 1, 1, k->end);
    for (int i = 0; i < k->keep->count; i++)
        value[i] = k->end[p->tape->output[i]];
}
