/* test_document.c - statements, sections and attributes of model files: forms, messages with their places, hostile texts. */
#include "system/document.h"

#include <dirent.h>

#include "expr/lexer.h"
#include "faulty.h"
#include "table.h"

/* ---------------------------------------------------------------------------- a document written out in one fixed way */

typedef struct writer {
    char *text;
    size_t used, size;
} writer;

__attribute__((format(printf, 2, 3))) static void put(writer *w, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int n = vsnprintf(w->text + w->used, w->size - w->used, format, list);
    va_end(list);
    w->used = w->used + (size_t)n < w->size ? w->used + (size_t)n : w->size - 1;
}

static void put_tree(writer *w, const taut_tree *tree);

static void put_list(writer *w, const char *open, taut_tree *const *child, int32_t count, const char *close)
{
    put(w, "%s", open);
    for (int32_t k = 0; k < count; k++) {
        put(w, "%s", k ? "," : "");
        put_tree(w, child[k]);
    }
    put(w, "%s", close);
}

static void put_iterators(writer *w, const taut_iterator *iterator, int32_t count)
{
    for (int32_t k = 0; k < count; k++) {
        put(w, "%s%s in ", k ? "," : " for ", iterator[k].name);
        put_tree(w, iterator[k].first);
        put(w, "..");
        put_tree(w, iterator[k].last);
    }
}

/* Brackets around every operation show the structure. */
static void put_tree(writer *w, const taut_tree *tree)
{
    switch (tree->kind) {
    case TAUT_TREE_NUMBER: put(w, "%.15g", tree->value); break;
    case TAUT_TREE_NAME:
        put(w, "%s", tree->name);
        if (tree->count)
            put_list(w, "[", tree->child, tree->count, "]");
        if (tree->member)
            put(w, ".%s", tree->member);
        if (tree->member_count)
            put_list(w, "[", tree->child + tree->count, tree->member_count, "]");
        for (int32_t k = 0; k < tree->primes; k++)
            put(w, "'");
        break;
    case TAUT_TREE_UNARY: put_list(w, "(-", tree->child, 1, ")"); break;
    case TAUT_TREE_BINARY:
        put_list(w, "(", tree->child, 1, "");
        put(w, "%c", tree->op);
        put_list(w, "", tree->child + 1, 1, ")");
        break;
    case TAUT_TREE_CALL:
        put(w, "%s", tree->name);
        put_list(w, "(", tree->child, tree->count, ")");
        break;
    case TAUT_TREE_VECTOR: put_list(w, "<", tree->child, tree->count, ">"); break;
    case TAUT_TREE_SUM:
        put_list(w, "sum(", tree->child, 1, "");
        put_iterators(w, tree->iterator, tree->iterators);
        put(w, ")");
        break;
    }
}

static void put_attribute(writer *w, const taut_attribute *attribute)
{
    static const char *const words[TAUT_WORD_COUNT] = {"stiffness", "compliance", "damping", "rigid",   "soft", "mass", "scale",
                                                       "hold",      "guess",      "rising",  "falling", "stop", "then"};
    put(w, " {%s", words[attribute->word]);
    if (attribute->value)
        put_list(w, " ", &attribute->value, 1, "");
    for (int32_t k = 0; k < attribute->assignments; k++) {
        put_list(w, k ? "," : " ", &attribute->assignment[k].left, 1, "=");
        put_tree(w, attribute->assignment[k].value);
    }
    put(w, "}");
}

static void put_document(writer *w, const taut_document *document)
{
    for (int64_t k = 0; k < document->items; k++) {
        const taut_item_tree *item = &document->item[k];
        put(w, "%s", k ? "; " : "");
        if (item->left)
            put_list(w, "", &item->left, 1, " = ");
        if (item->value)
            put_tree(w, item->value);
        if (item->raw)
            put(w, "%s\"%s\"", item->value ? " " : "", item->raw);
        put_iterators(w, item->iterator, item->iterators);
        for (int32_t j = 0; j < item->attributes; j++)
            put_attribute(w, &item->attribute[j]);
    }
}

/* Parses and writes; the result is the status. */
static int write_out(const char *text, size_t length, char *written, size_t size, taut_error *error)
{
    taut_arena arena;
    taut_document *document = NULL;
    taut_arena_init(&arena, NULL);
    int status = taut_document_parse(text, length, "test", &arena, &document, error);
    writer w = {written, 0, size};
    put(&w, "%s", "");
    if (status == 0)
        put_document(&w, document);
    taut_arena_clear(&arena);
    return status;
}

/* --------------------------------------------------------------------------------------------------------------- forms */

static const struct {
    const char *text, *written;
} forms[] = {
    {"", ""},
    {"# nothing but a comment", ""},
    {"[run]", ""},
    {"[parameters]\nomega = 1e4\nlift = .25  # a comment\n", "omega = 10000; lift = 0.25"},
    {"[parameters]\nm[1] = .3, m[2] = .5\n", "m[1] = 0.3; m[2] = 0.5"},
    {"[parameters]\nm[i] = 1/i for i in 1..N, k = 2\n", "m[i] = (1/i) for i in 1..N; k = 2"},
    {"[parameters]\nm[i,j] = 1 for i in 1..N, j in 1..i, k = 2\n", "m[i,j] = 1 for i in 1..N,j in 1..i; k = 2"},
    {"[parameters]\nmass = 1, scale = 2, rigid = mass*scale, then = 4\n", "mass = 1; scale = 2; rigid = (mass*scale); then = 4"},
    {"[coordinates]\nx1, y1, x2, y2\n", "x1; y1; x2; y2"},
    {"[coordinates]\nx[i] for i in 0..n\n", "x[i] for i in 0..n"},
    {"[coordinates]\nx[i] for i in 0..n, y, z[1], z[2]\n", "x[i] for i in 0..n; y; z[1]; z[2]"},
    {"[coordinates]\nstiffness, hold\n", "stiffness; hold"},
    {"[particles]\ndimension = 2\nbob[i] for i in 1..N   mass 1\n", "dimension = 2; bob[i] for i in 1..N {mass 1}"},
    {"[particles]\nnode[i,j] for i in 1..m, j in 1..n mass rho*h^2\n", "node[i,j] for i in 1..m,j in 1..n {mass (rho*(h^2))}"},
    {"[particles]\na mass 1, b mass 2, mass mass mass\n", "a {mass 1}; b {mass 2}; mass {mass mass}"},
    {"[definitions]\nlj(r) = 4*e*((s/r)^12 - (s/r)^6)\n", "lj(r) = ((4*e)*(((s/r)^12)-((s/r)^6)))"},
    {"[definitions]\nf(r, s) = r + s, g(a) = a\n", "f(r,s) = (r+s); g(a) = a"},
    {"[definitions]\nanchor = (A*sin(w*t), 0)\n", "anchor = <(A*sin((w*t))),0>"},
    {"[definitions]\nq[0] = 0, q[n+1] = 0\n", "q[0] = 0; q[(n+1)] = 0"},
    {"[tables]\nbars = bars.csv   # header: i, j\nb = data/b-2.csv, c=c.csv",
     "bars = \"bars.csv\"; b = \"data/b-2.csv\"; c = \"c.csv\""},
    {"[mass]\ntheta = J1, M[theta, psi] = cos(psi)\n", "theta = J1; M[theta,psi] = cos(psi)"},
    {"[kinetic]\nm*(r'^2 + r^2*phi'^2)/2\n", "((m*((r'^2)+((r^2)*(phi'^2))))/2)"},
    {"[potential]\nsum(bob[i].y for i in 1..N)\ng*y\n", "sum(bob[i].y for i in 1..N); (g*y)"},
    {"[potential]\nsum(lj(length(image(O[i] - O[j]))) for i in 1..N, j in i+1..N)\n",
     "sum(lj(length(image((O[i]-O[j])))) for i in 1..N,j in (i+1)..N)"},
    {"[potential]\nx[i]^2 for i in 1..N, y^2\n", "(x[i]^2) for i in 1..N; (y^2)"},
    {"[forces]\ntheta = sin(t) - theta'\np[i] = -alpha*p[i]' for i in 1..N\n",
     "theta = (sin(t)-theta'); p[i] = ((-alpha)*p[i]') for i in 1..N"},
    {"[bonds]\nlink[i] = length(bob[i] - bob[i-1]) - 1 for i in 2..N      stiffness omega^2\n",
     "link[i] = (length((bob[i]-bob[(i-1)]))-1) for i in 2..N {stiffness (omega^2)}"},
    {"[bonds]\nbar[k] = length(p[bars.i[k]] - p[bars.j[k]]) - bars.rest[k] for k in 1..bars.rows   stiffness bars.k[k]\n",
     "bar[k] = (length((p[bars.i[k]]-p[bars.j[k]]))-bars.rest[k]) for k in 1..bars.rows {stiffness bars.k[k]}"},
    {"[bonds]\nbush = x2 - x1 - l  stiffness 1e7  damping 200, crank = theta - Omega*t rigid\n",
     "bush = ((x2-x1)-l) {stiffness 10000000} {damping 200}; crank = (theta-(Omega*t)) {rigid}"},
    {"[bonds]\na = x compliance (1/k) soft, b = y stiffness -(2) damping [1]\n", NULL},
    {"[bonds]\na = x compliance (1/k) soft, b = stiffness stiffness stiffness\n",
     "a = x {compliance (1/k)} {soft}; b = stiffness {stiffness stiffness}"},
    {"[stiff potential]\n(x^2 + y^2 - 1)^2/4  scale omega^2\n", "(((((x^2)+(y^2))-1)^2)/4) {scale (omega^2)}"},
    {"[start]\nx1' = 0, y1' = -0.5 hold, bob[i] = (i, 0) for i in 1..N, p[1].y' = 2 guess\n",
     "x1' = 0; y1' = (-0.5) {hold}; bob[i] = <i,0> for i in 1..N; p[1].y' = 2 {guess}"},
    {"[start]\npsi = asin(r*sin(theta)/l) guess\nbob[i]' = (0, 1) for i in 1..N hold\n",
     "psi = asin(((r*sin(theta))/l)) {guess}; bob[i]' = <0,1> for i in 1..N {hold}"},
    {"[run]\nmotion = slow, until = 2*pi\nmethod = projected-impulse\nouter-step = 0.1\n",
     "motion = slow \"slow\"; until = (2*pi) \"2*pi\"; method = (projected-impulse) \"projected-impulse\"; outer-step = 0.1 "
     "\"0.1\""},
    {"[run]\nproject = every 0.5  # text\nout=a/b c.csv, until = max(1, 2)\n",
     "project = \"every 0.5\"; out = \"a/b c.csv\"; until = max(1,2) \"max(1, 2)\""},
    {"[state]\nx, y\n[algebraic]\nz\n", "x; y; z"},
    {"[rates]\nx' = u, u' = -x/(x^2 + y^2)^1.5\n", "x' = u; u' = ((-x)/(((x^2)+(y^2))^1.5))"},
    {"[constraints]\nc = (t+2)*x1\n[invariants]\nenergy = u^2/2\n", "c = ((t+2)*x1); energy = ((u^2)/2)"},
    {"[stepper]\ncommand = ./legacy --fast, -n 3  (x # runs\nhorizon = 1e-5, method = euler\nlibrary = ./lib-a.so\n",
     "command = \"./legacy --fast, -n 3  (x\"; horizon = 1e-05 \"1e-5\"; method = euler \"euler\"; library = \"./lib-a.so\""},
    {"[observables]\nH2, p[1].x, x[i] for i in 1..3\nu = x + y\n", "H2; p[1].x; x[i] for i in 1..3; u = (x+y)"},
    {"[outputs]\ntension = lambda(inner), l2 = lambda(link[2])\n", "tension = lambda(inner); l2 = lambda(link[2])"},
    {"[events]\nfloor = p[1].y   falling   stop\n", "floor = p[1].y {falling} {stop}"},
    {"[events]\nhit = p[1].y falling then p[1].y' = -0.8*p[1].y', p[1].x' = 0\n",
     "hit = p[1].y {falling} {then p[1].y'=((-0.8)*p[1].y'),p[1].x'=0}"},
    {"[events]\na = x rising, b[i] = x[i] for i in 1..2 falling then x[i]' = 0 stop\n",
     "a = x {rising}; b[i] = x[i] for i in 1..2 {falling} {then x[i]'=0} {stop}"},
    {"[parameters]\na = 1\n[run]\nuntil = 1\n[parameters]\nb = 2\n", "a = 1; until = 1 \"1\"; b = 2"},
    {"\xef\xbb\xbf[parameters]\r\n  a = (1 +\r\n\r\n  2),\\\r\n b = 3\r\n", "a = (1+2); b = 3"},
    {" \t[parameters]\t# header\n\ta=if(x<1 and y>=2 or z!=3,1,2)", "a = if((((x<1)&(yg2))|(zn3)),1,2)"},
};

static void check_forms(void)
{
    check_group("forms");
    for (size_t k = 0; k < sizeof forms / sizeof forms[0]; k++) {
        char written[4000];
        taut_error error = {0};
        int status = write_out(forms[k].text, strlen(forms[k].text), written, sizeof written, &error);
        if (!forms[k].written)
            check_row(status == TAUT_ERROR_MODEL, "\"%s\" is accepted: %s", forms[k].text, written);
        else
            check_row(status == 0 && strcmp(written, forms[k].written) == 0, "\"%s\"\n  gives    \"%s\" %s\n  expected \"%s\"",
                      forms[k].text, written, error.message, forms[k].written);
    }
}

/* The section table: names, and which headers were seen. */
static void check_sections(void)
{
    check_group("sections");
    for (int s = 0; s < TAUT_SECTION_COUNT; s++) {
        char text[64];
        taut_arena arena;
        taut_document *document;
        taut_error error = {0};
        snprintf(text, sizeof text, "[%s]\n", taut_section_name((taut_section)s));
        taut_arena_init(&arena, NULL);
        if (check_row(taut_document_parse(text, strlen(text), "test", &arena, &document, &error) == 0, "%s: %s", text,
                      error.message))
            for (int k = 0; k < TAUT_SECTION_COUNT; k++)
                check_row(document->present[k] == (k == s), "after [%s], [%s] is %s", taut_section_name((taut_section)s),
                          taut_section_name((taut_section)k), document->present[k] ? "present" : "absent");
        taut_arena_clear(&arena);
    }
    check_row(taut_section_name(TAUT_SECTION_COUNT)[0] == 0, "there is no section beyond the last");
}

static void check_title(void)
{
    static const struct {
        const char *text, *title;
    } rows[] = {
        {"# Pendulum [A (5)]  \n# more\n[run]", "Pendulum [A (5)]"},
        {"\n\n  ## Chain\r\n", "Chain"},
        {"#\n#######\n# Third line", "Third line"},
        {"[run]\n# not at the head\n", ""},
        {"", ""},
        {"#", ""},
        {"\xef\xbb\xbf# \xc3\xa9\xff\tx", "\xc3\xa9? x"},
    };
    check_group("title");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        taut_arena arena;
        taut_document *document;
        taut_error error = {0};
        taut_arena_init(&arena, NULL);
        int status = taut_document_parse(rows[k].text, strlen(rows[k].text), NULL, &arena, &document, &error);
        if (check_row(status == 0, "%s", error.message))
            check_row(strcmp(document->title, rows[k].title) == 0, "\"%s\", expected \"%s\"", document->title, rows[k].title);
        taut_arena_clear(&arena);
    }
}

/* Overrides: items of one section, and failing at a place later. */
static void check_one_section(void)
{
    taut_arena arena;
    taut_document *document;
    taut_error error = {0};
    check_group("one section");
    taut_arena_init(&arena, NULL);
    const char *text = "x1' = 2 hold, y = 3";
    check_equal("start values",
                taut_document_parse_section(TAUT_SECTION_START, text, strlen(text), "--init", &arena, &document, &error), 0);
    check_equal("items", document->items, 2);
    check_equal("section", document->item[1].section, TAUT_SECTION_START);
    check_equal("place", document->item[1].place.column, 15);
    check_row(document->present[TAUT_SECTION_START], "the section is present");
    check_equal("code", taut_document_fail(document, document->item[1].place, &error, "no %s", "y"), TAUT_ERROR_MODEL);
    check_row(error.line == 1 && error.column == 15 && !strcmp(error.file, "--init") && !strcmp(error.source, text) &&
                  !strcmp(error.message, "no y"),
              "%s:%d:%d \"%s\" \"%s\"", error.file, error.line, error.column, error.message, error.source);
    const char *header = "a = 1\n[run]\n";
    check_equal("a header",
                taut_document_parse_section(TAUT_SECTION_PARAMETERS, header, strlen(header), "--set", &arena, &document, &error),
                TAUT_ERROR_MODEL);
    check_contains("a header", error.message, "only items of [parameters]");
    check_equal("its line", error.line, 2);
    check_equal("no section", taut_document_parse_section(TAUT_SECTION_COUNT, "", 0, "", &arena, &document, &error),
                TAUT_ERROR_USAGE);
    taut_arena_clear(&arena);
}

/* ------------------------------------------------------------------------------------------------------------ messages */

static const struct {
    const char *text;
    int line, column;
    const char *message;
} faults[] = {
    {"a = 1", 1, 1, "a statement before the first section"},
    {"# title\n\n  a = 1", 3, 3, "a statement before the first section"},
    {"[bond]", 1, 1, "unknown section [bond]; did you mean [bonds]? sections are parameters, coordinates"},
    {"[Parameters]", 1, 1, "did you mean [parameters]?"},
    {"[stiff  potential]", 1, 1, "did you mean [stiff potential]?"},
    {"[ bonds]", 1, 1, "did you mean [bonds]?"},
    {"[qwertz]", 1, 1, "unknown section [qwertz]; sections are"},
    {"[]", 1, 1, "unknown section []"},
    {"[\x1b[1m]", 1, 1, "unknown section [?[1m]"},
    {"[bonds", 1, 7, "expected ']' to close the section header at column 1"},
    {"\n [bonds # x]", 2, 9, "expected ']'"},
    {"[bonds]x", 1, 8, "expected the end of the line after the section header [bonds]"},
    {"[bonds] [run]", 1, 9, "expected the end of the line after the section header"},
    {"[parameters]\na", 2, 2, "expected '=' (as in 'omega = 1e4') after 'a', found end of line"},
    {"[parameters]\na 3", 2, 3, "expected '=' (as in 'omega = 1e4') after 'a', found '3'"},
    {"[parameters]\na == 3", 2, 3, "found '=='"},
    {"[parameters]\na + b = 3", 2, 3, "expected '='"},
    {"[parameters]\n= 3", 2, 1, "expected a name, found '='"},
    {"[parameters]\n3 = a", 2, 1, "expected a name, found '3'"},
    {"[parameters]\n(a) = 3", 2, 1, "expected a name, found '('"},
    {"[parameters]\na =", 2, 4, "expected an expression after '=', found end of line"},
    {"[parameters]\na = # none\nb = 2", 2, 4, "expected an expression after '=', found end of line"},
    {"[parameters]\na = 1,", 2, 7, "expected a name after ',', found end of line"},
    {"[parameters]\na = 1,, b = 2", 2, 7, "expected a name after ',', found ','"},
    {"[parameters]\na = b = 2", 2, 7, "expected an operator, ',' or the end of the line after 'b', found '='"},
    {"[parameters]\na = 2 b", 2, 7, "unknown attribute 'b'; [parameters] knows no attributes; a product is written with '*'"},
    {"[parameters]\na = 2 (b)", 2, 7, "expected an operator, ',' or the end of the line after '2', found '('"},
    {"[parameters]\na = (1 + 2\nb = 3", 3, 1, "expected ')' to close '(' at line 2, column 5, found 'b'"},
    {"[parameters]\na = (1 + 2\n\n[run]\nuntil = 1", 2, 11, "expected ')' to close '(' at column 5, found end of line"},
    {"[parameters]\nf(x) = 2", 2, 1,
     "a function cannot stand before '=' in [parameters]; functions belong to [definitions], and indices "
     "are written f[1]"},
    {"[parameters]\na = 1 for i in 1..2 for j in 1..2", 2, 21, "'for' stands once, before the attributes"},
    {"[parameters]\nfor = 1", 2, 1, "expected a name, found 'for'"},
    {"[parameters]\na.b[1] = 1", 2, 1, "a column of a table cannot be assigned to"},
    {"[coordinates]\nx y", 2, 3, "unknown attribute 'y'; [coordinates] knows no attributes"},
    {"[coordinates]\nx = 2", 2, 3, "[coordinates] lists names"},
    {"[coordinates]\nx'", 2, 1, "expected a name, as in 'x, y'"},
    {"[coordinates]\nx(1)", 2, 1, "indices are written [i]"},
    {"[coordinates]\nx + y", 2, 3, "expected ',' or the end of the line (as in 'x, y') after 'x', found '+'"},
    {"[coordinates]\nx; y", 2, 2, "items are separated by ','"},
    {"[coordinates]\nx[i] for i in 1..N, j in", 2, 25, "expected an expression after 'in', found end of line"},
    {"[coordinates]\nx[i] for i of 1..N", 2, 12, "expected 'in' after 'i', found 'of'"},
    {"[particles]\np.x mass 1", 2, 1, "expected a name"},
    {"[particles]\np mass", 2, 7, "expected an expression after 'mass', found end of line"},
    {"[particles]\np mass 1 mass 2", 2, 10, "the attribute 'mass' appears twice"},
    {"[particles]\np[i] mass 1 for i in 1..3", 2, 13, "'for' stands once, before the attributes"},
    {"[particles]\np' = 2", 2, 1, "expected a plain name before '='"},
    {"[definitions]\nf(1) = 2", 2, 3, "expected the name of an argument of f"},
    {"[definitions]\nf(x, y, x) = 2", 2, 9, "the argument 'x' of f appears twice"},
    {"[definitions]\nf(x) + 1 = 2", 2, 6, "expected '='"},
    {"[definitions]\nsum(x for x in 1..2) = 2", 2, 1, "a function cannot stand before '='"},
    {"[tables]\na", 2, 2, "expected '=' (as in 'bars = bars.csv')"},
    {"[tables]\na = # none", 2, 4, "expected a value after '='"},
    {"[tables]\na = x.csv, b =", 2, 15, "expected a value after '='"},
    {"[tables]\na = caf\xc3\xa9.csv", 2, 8, "unexpected byte 0xc3"},
    {"[kinetic]\nT = x'^2", 2, 3, "[kinetic] takes expressions without a name and '='"},
    {"[bonds]\na = x stiffness", 2, 16, "expected an expression after 'stiffness', found end of line"},
    {"[bonds]\na = x stiff 3", 2, 7, "unknown attribute 'stiff'; [bonds] knows stiffness, compliance, damping, rigid, soft"},
    {"[bonds]\na = x Rigid", 2, 7, "did you mean 'rigid'?"},
    {"[bonds]\na = x rigid 3", 2, 13, "expected an operator, ',' or the end of the line after 'rigid', found '3'"},
    {"[bonds]\na = x hold", 2, 7, "'hold' belongs to [start]; [bonds] knows"},
    {"[bonds]\na = x rigid soft rigid", 2, 18, "the attribute 'rigid' appears twice"},
    {"[start]\nx = 1 hold guess holt", 2, 18, "did you mean 'hold'? [start] knows hold, guess"},
    {"[run]\nuntil", 2, 6, "expected '='"},
    {"[run]\nuntil =", 2, 8, "expected a value after '='"},
    {"[run]\nouter- step = 1", 2, 8, "expected the rest of a name after '-', found 'step'"},
    {"[run]\nouter -step = 1", 2, 7, "expected '='"},
    {"[run]\nuntil = 10 \\\n 3", 2, 12, "a value of [run] cannot go on in the next line"},
    {"[run]\nuntil = \x07", 2, 9, "unexpected byte 0x07"},
    {"[stepper]\nhorizon = 1 +", 2, 14, "expected an expression after '+'"},
    {"[stepper]\nhorizon = 1 2", 2, 13, "expected an operator or the end of the value after '1', found '2'"},
    {"[observables]\nx*y", 2, 2, "expected ',' or the end of the line (as in 'u = x + y') after 'x', found '*'"},
    {"[events]\na = x falling then", 2, 19, "expected a name after 'then', found end of line"},
    {"[events]\na = x falling then y", 2, 21, "expected '='"},
    {"[events]\na = x falling then y' = 0, z rising", 2, 30, "expected '='"},
    {"[events]\na = x falling then y' = 0 stop, b = x", 2, 31, "expected the end of the line that contains 'then'"},
    {"[events]\na = x falling then y' = 0 for i in 1..2", 2, 27, "'for' stands once, before the attributes"},
    {"[events]\na = x falling then f(y) = 0", 2, 20, "a function cannot stand before '='"},
};

static void check_messages(void)
{
    check_group("messages");
    for (size_t k = 0; k < sizeof faults / sizeof faults[0]; k++) {
        taut_arena arena;
        taut_document *document = NULL;
        taut_error error = {0};
        taut_arena_init(&arena, NULL);
        int status = taut_document_parse(faults[k].text, strlen(faults[k].text), "test", &arena, &document, &error);
        check_row(status == TAUT_ERROR_MODEL && error.code == status && !document && error.line == faults[k].line &&
                      error.column == faults[k].column && strstr(error.message, faults[k].message) && !strcmp(error.file, "test"),
                  "\"%s\": %d at %d:%d \"%s\", expected %d:%d \"%s\"", faults[k].text, status, error.line, error.column,
                  error.message, faults[k].line, faults[k].column, faults[k].message);
        taut_arena_clear(&arena);
    }
}

/* --------------------------------------------------------------------------------------------------------------- files */

#ifndef TAUT_SOURCE_DIR
#define TAUT_SOURCE_DIR "."
#endif

typedef struct file_text {
    char path[512];
    char *text;
    size_t length;
} file_text;

static bool read_text(file_text *file)
{
    enum { LONGEST = 1 << 20 };
    FILE *stream = fopen(file->path, "rb");
    if (!stream)
        return false;
    file->text = malloc(LONGEST);
    file->length = fread(file->text, 1, LONGEST, stream);
    fclose(stream);
    return true;
}

/* Calls `visit` for each model of a folder; returns their number. */
static int each_model(const char *folder, void (*visit)(const file_text *file))
{
    char path[256];
    int count = 0;
    snprintf(path, sizeof path, "%s/%s", TAUT_SOURCE_DIR, folder);
    DIR *directory = opendir(path);
    if (!directory)
        return 0;
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        const char *dot = strrchr(entry->d_name, '.');
        file_text file = {0};
        snprintf(file.path, sizeof file.path, "%s/%s", path, entry->d_name);
        if (!dot || strcmp(dot, ".taut") != 0 || !read_text(&file))
            continue;
        visit(&file);
        free(file.text);
        count++;
    }
    closedir(directory);
    return count;
}

/* A shipped model is good, has a title, and means the same with the line ends of another system. */
static void visit_good(const file_text *file)
{
    enum { SIZE = 200000 };
    char *written = malloc(SIZE), *again = malloc(SIZE), *other = malloc(2 * file->length + 1);
    taut_error error = {0};
    size_t length = 0;
    for (size_t k = 0; k < file->length; k++) {
        if (file->text[k] == '\n')
            other[length++] = '\r';
        other[length++] = file->text[k];
    }
    int status = write_out(file->text, file->length, written, SIZE, &error);
    check_row(status == 0 && written[0], "%s:%d:%d: %s", file->path, error.line, error.column, error.message);
    check_equal("with CR LF", write_out(other, length, again, SIZE, &error), status);
    check_row(strcmp(written, again) == 0, "%s: CR LF changes its meaning", file->path);
    free(written);
    free(again);
    free(other);
}

/* A bad model says in its first line where and what: "# expect LINE:COLUMN part of the message". */
static void visit_bad(const file_text *file)
{
    int line = 0, column = 0, rest = 0;
    char expected[256] = "", written[2000];
    taut_error error = {0};
    snprintf(expected, sizeof expected, "%.*s", (int)strcspn(file->text, "\n"), file->text);
    check_row(sscanf(expected, "# expect %d:%d %n", &line, &column, &rest) == 2 && rest > 0, "%s: no expectation", file->path);
    int status = write_out(file->text, file->length, written, sizeof written, &error);
    check_row(status == TAUT_ERROR_MODEL && error.line == line && error.column == column && strstr(error.message, expected + rest),
              "%s: %d at %d:%d \"%s\", expected %d:%d \"%s\"", file->path, status, error.line, error.column, error.message, line,
              column, expected + rest);
}

static void check_files(void)
{
    check_group("shipped models");
    check_row(each_model("models", visit_good) >= 20, "models are found in %s", TAUT_SOURCE_DIR);
    check_group("bad models");
    check_row(each_model("tests/data/syntax", visit_bad) >= 29, "bad models are found in %s", TAUT_SOURCE_DIR);
}

/* ------------------------------------------------------------------------------------------------------------- hostile */

/* The trees of a document keep their promises. Returns false where one does not. */
static bool sound_tree(const taut_document *document, const taut_tree *tree, int height)
{
    if (!tree || tree->height > height || tree->place.offset < 0 || tree->end.offset <= tree->place.offset ||
        (size_t)tree->end.offset > document->length || tree->place.line < 1 || tree->place.column < 1)
        return false;
    for (int32_t k = 0; k < tree->count + tree->member_count; k++)
        if (!sound_tree(document, tree->child[k], tree->height - 1))
            return false;
    for (int32_t k = 0; k < tree->iterators; k++)
        if (!tree->iterator[k].name || !sound_tree(document, tree->iterator[k].first, tree->height - 1) ||
            !sound_tree(document, tree->iterator[k].last, tree->height - 1))
            return false;
    return true;
}

static bool sound_item(const taut_document *document, const taut_item_tree *item)
{
    if ((!item->value && !item->raw) || (item->value && !sound_tree(document, item->value, TAUT_HEIGHT_LIMIT)) ||
        (item->left && !sound_tree(document, item->left, TAUT_HEIGHT_LIMIT)))
        return false;
    for (int32_t k = 0; k < item->attributes; k++) {
        const taut_attribute *attribute = &item->attribute[k];
        if (attribute->value && !sound_tree(document, attribute->value, TAUT_HEIGHT_LIMIT))
            return false;
        for (int32_t j = 0; j < attribute->assignments; j++)
            if (!sound_tree(document, attribute->assignment[j].left, TAUT_HEIGHT_LIMIT) ||
                !sound_tree(document, attribute->assignment[j].value, TAUT_HEIGHT_LIMIT))
                return false;
    }
    return true;
}

static bool printable(const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            return false;
    return true;
}

/* Any text gives a sound document, or an error with a place and texts that can be shown. */
static bool behaves(const char *text, size_t length, int *status)
{
    taut_arena arena;
    taut_document *document = NULL;
    taut_error error = {0};
    taut_arena_init(&arena, NULL);
    *status = taut_document_parse(text, length, "test", &arena, &document, &error);
    bool good = true;
    if (*status == 0) {
        for (int64_t k = 0; k < document->items; k++)
            good = good && sound_item(document, &document->item[k]);
    } else {
        good = *status == error.code && !document && error.message[0] && printable(error.message) && printable(error.source) &&
               (*status == TAUT_ERROR_SIZE || (*status == TAUT_ERROR_MODEL && error.line > 0 && error.column > 0));
    }
    taut_arena_clear(&arena);
    return good;
}

static void check_hostile(void)
{
    static const struct {
        const char *name, *head, *pattern;
        int status;
    } rows[] = {
        {"brackets", "[parameters]\na = ", "(", TAUT_ERROR_MODEL},
        {"square brackets", "", "[", TAUT_ERROR_MODEL},
        {"indices", "[parameters]\na = ", "x[", TAUT_ERROR_MODEL},
        {"minus signs", "[parameters]\na = ", "-", TAUT_ERROR_MODEL},
        {"one long name", "[coordinates]\n", "x", TAUT_ERROR_MODEL},
        {"names", "[coordinates]\nx", ",x", TAUT_ERROR_SIZE},
        {"numbers", "[parameters]\na = (1", ",1", TAUT_ERROR_SIZE},
        {"statements", "[parameters]\n", "a=1\n", TAUT_ERROR_SIZE},
        {"assignments", "[events]\na = x then x = 1", ",x=1", TAUT_ERROR_SIZE},
        {"comment", "", "#", 0},
        {"line ends", "[run]", "\n", 0},
        {"backslashes", "[run]", "\\\n", 0},
        {"headers", "", "[run]\n", 0},
        {"an open header", "[", "run ", TAUT_ERROR_MODEL},
        {"a text value", "[run]\nout = ", "a b", 0},
        {"a text value that opens brackets", "[run]\nout = ", "(", 0},
        {"primes", "[kinetic]\nx", "'", TAUT_ERROR_MODEL},
        {"hyphens", "[run]\na", "-a", TAUT_ERROR_MODEL},
        {"blanks", "[run]\n", " ", 0},
        {"zero bytes", "", "\0", TAUT_ERROR_MODEL},
        {"bytes 0xff", "[run]\n#", "\xff", 0},
    };
    char *text = malloc(TAUT_TEXT_LIMIT);
    check_group("16 MB of");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        size_t head = strlen(rows[k].head), period = rows[k].pattern[0] ? strlen(rows[k].pattern) : 1;
        size_t whole = head + (TAUT_TEXT_LIMIT - head) / period * period;
        memcpy(text, rows[k].head, head);
        for (size_t j = head; j < whole; j++)
            text[j] = rows[k].pattern[(j - head) % period];
        int status = 1;
        bool good = behaves(text, whole, &status);
        check_row(good && status == rows[k].status, "%s: status %d, expected %d%s", rows[k].name, status, rows[k].status,
                  good ? "" : ", unsound");
    }
    free(text);
}

/* ------------------------------------------------------------------------------- truncation, mutation, failing memory */

/* Every section and every form in one text. */
static char *example(size_t *length)
{
    size_t size = 1;
    for (size_t k = 0; k < sizeof forms / sizeof forms[0]; k++)
        size += strlen(forms[k].text) + 1;
    char *text = malloc(size), *at = text;
    for (size_t k = 0; k < sizeof forms / sizeof forms[0]; k++)
        if (forms[k].written && forms[k].text[0] != '\xef')
            at += sprintf(at, "%s\n", forms[k].text);
    *length = (size_t)(at - text);
    return text;
}

static void check_truncated(void)
{
    size_t length;
    char *text = example(&length);
    int unsound = 0, refused = 0, accepted = 0;
    check_group("truncated");
    for (size_t k = 0; k <= length; k++) {
        char *copy = malloc(k ? k : 1); /* so that the sanitizer sees a byte too far */
        memcpy(copy, text, k);
        int status;
        unsound += !behaves(copy, k, &status);
        *(status ? &refused : &accepted) += 1;
        free(copy);
    }
    check_equal("unsound answers", unsound, 0);
    check_row(refused > 200 && accepted > 200, "%d refused, %d accepted", refused, accepted);
    free(text);
}

static uint64_t draw(uint64_t *state) /* xorshift64* [Vigna 2016] */
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 2685821657736338717u;
}

/* One change: a byte, a word of the language, a piece moved, a piece lost. Returns the new length. */
static size_t mutate(char *text, size_t length, size_t size, uint64_t *state)
{
    static const char *const words[] = {"(",
                                        ")",
                                        "[",
                                        "]",
                                        ",",
                                        "=",
                                        "'",
                                        "..",
                                        ".",
                                        "for i in 1..2",
                                        "sum(",
                                        "\n",
                                        "\\\n",
                                        "#",
                                        " then ",
                                        " stiffness ",
                                        "[run]\n",
                                        "[events]\n",
                                        "[stepper]\ncommand=",
                                        "1e9",
                                        "-",
                                        "^",
                                        "\r",
                                        "\xc3"};
    size_t at = draw(state) % (length + 1), span = draw(state) % 24, from = draw(state) % (length + 1);
    const char *word = words[draw(state) % (sizeof words / sizeof words[0])];
    size_t n = strlen(word);
    span = span < length - at ? span : length - at;
    switch (draw(state) % 4) {
    case 0:
        if (at < length)
            text[at] = (char)draw(state);
        return length;
    case 1:
        if (length + n > size)
            return length;
        memmove(text + at + n, text + at, length - at);
        memcpy(text + at, word, n);
        return length + n;
    case 2: memmove(text + at, text + at + span, length - at - span); return length - span;
    default:
        span = span < length - from ? span : length - from;
        memmove(text + at, text + from, at + span <= length ? span : length - at);
        return length;
    }
}

static void check_mutations(void)
{
    enum { PIECE = 600, COUNT = 20000 };
    size_t length;
    char *text = example(&length);
    uint64_t state = 88172645463325252u;
    int unsound = 0, refused = 0, accepted = 0;
    check_group("mutations");
    for (int k = 0; k < COUNT; k++) {
        /* a piece of the example from a section to an end of line */
        size_t start = draw(&state) % (length - PIECE), n = PIECE;
        while (start > 0 && !(text[start] == '[' && text[start - 1] == '\n'))
            start--;
        while (text[start + n - 1] != '\n')
            n--;
        char copy[PIECE + 200];
        memcpy(copy, text + start, n);
        for (uint64_t changes = 1 + draw(&state) % 4; changes > 0; changes--)
            n = mutate(copy, n, sizeof copy, &state);
        char *exact = malloc(n ? n : 1);
        memcpy(exact, copy, n);
        int status;
        if (!behaves(exact, n, &status) && unsound++ < 5)
            check_row(false, "unsound answer to \"%.*s\"", (int)n, exact);
        *(status ? &refused : &accepted) += 1;
        free(exact);
    }
    check_equal("unsound answers", unsound, 0);
    check_row(refused > COUNT / 10 && accepted > COUNT / 50, "%d refused, %d accepted", refused, accepted);
    free(text);
}

static void check_garbage(void)
{
    uint64_t state = 1234567;
    int unsound = 0;
    check_group("garbage");
    for (int k = 0; k < 2000; k++) {
        char bytes[300];
        size_t length = draw(&state) % sizeof bytes;
        for (size_t j = 0; j < length; j++)
            bytes[j] = (char)(draw(&state) >> 13);
        int status;
        unsound += !behaves(bytes, length, &status);
    }
    check_equal("unsound answers", unsound, 0);
}

/* An arena asks for a block only now and then: what is taken from it beforehand moves the call that fails through the text. */
static void check_memory(void)
{
    size_t length;
    char *text = example(&length);
    int64_t wrong = 0, leaks = 0, failures = 0, successes = 0;
    check_group("memory");
    for (int64_t taken = 0; taken < 4096; taken += 48) {
        bool finished = false;
        for (int64_t k = 2; !finished && k < 1000; k++) {
            faulty f = {.fail = k};
            taut_allocator allocator = faulty_allocator(&f);
            taut_arena arena;
            taut_document *document = NULL;
            taut_error error = {0};
            taut_arena_init(&arena, &allocator);
            taut_arena_get(&arena, taken, 1);
            int status = taut_document_parse(text, length, "test", &arena, &document, &error);
            taut_arena_clear(&arena);
            finished = status == 0;
            successes += finished;
            failures += !finished;
            wrong +=
                f.failed && k > 1 ? status != TAUT_ERROR_MEMORY || error.code != status || document : f.failed == 0 && !finished;
            leaks += f.live != 0;
        }
    }
    check_row(failures > 300 && successes == 86, "%lld failed, %lld came to their end", (long long)failures, (long long)successes);
    check_equal("wrong answers", wrong, 0);
    check_equal("leaks", leaks, 0);
    free(text);
}

int main(void)
{
    check_forms();
    check_sections();
    check_title();
    check_one_section();
    check_messages();
    check_files();
    check_hostile();
    check_truncated();
    check_mutations();
    check_garbage();
    check_memory();
    return check_done();
}
