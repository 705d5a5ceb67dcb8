/* emit.c - C text from a tape.
 *
 * One function for a tape; for each level that differs, one body with a local constant for each
 * instruction, called for every lane. Inputs are read, outputs written, everything between stays
 * in machine registers. The text is made of operation rows (values.h), register numbers and
 * hexadecimal numbers: nothing of it comes from a model file. No headers are included, so a
 * compiler without a C library's headers will do, and no variable of the environment can put
 * others in their place. */
#include "expr/native.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/field.h"
#include "expr/curve.h"
#include "expr/emit_preamble.h"
#include "expr/values.h"

/* LOOP_LENGTH: compilers take seconds to vectorise longer bodies; the interpreter, whose loops over
 * the lanes are vectors too, runs such levels of families. STAGE_LENGTH: longer forms are compiled
 * once, and called from the stages. */
enum { CURVE_NUMBERS = 200000, INLINE_LENGTH = 2000, LOOP_LENGTH = 150, STAGE_LENGTH = 150 };
enum { SUM_BLOCKS = 4 }; /* of a sum of stages that are formed at once */

#define ROW(name, value) [TAUT_OP_##name] = #value,
#define TEXT(value) #value
#define EXPANDED(value) TEXT(value)

/* The same rows as the interpreter's, as text. */
static const char *const row_text[TAUT_OP_COUNT] = {
    TAUT_UNARY_ROWS(ROW) TAUT_BINARY_ROWS(ROW)[TAUT_OP_SELECT] = EXPANDED(TAUT_SELECT_VALUE),
};

_Static_assert(TAUT_MOST_TERMS == 16 && sizeof(taut_sum) == 16 * sizeof(double) + 18 * sizeof(int),
               "struct taut_sum is written out in emit_preamble.h");
_Static_assert(offsetof(taut_stages, t) == 8 + 2 * sizeof(void *) &&
                   offsetof(taut_stages, next_v) == 24 + 7 * sizeof(void *) &&
                   sizeof(taut_stages) == 24 + 8 * sizeof(void *),
               "struct taut_stages is written out in emit_preamble.h");

static void put(taut_source *source, const char *text, size_t length)
{
    while (!source->failed && (int64_t)length >= source->capacity - source->length) {
        const int64_t wanted = source->capacity < 4096 ? 8192 : 2 * source->capacity;
        char *larger = taut_arena_get(source->arena, wanted, 1);
        if (larger && source->length)
            memcpy(larger, source->text, (size_t)source->length);
        source->failed = !larger;
        if (larger) {
            source->text = larger;
            source->capacity = wanted;
        }
    }
    if (source->failed)
        return;
    memcpy(source->text + source->length, text, length);
    source->length += (int64_t)length;
    source->text[source->length] = '\0';
}

__attribute__((format(printf, 2, 3))) static void print(taut_source *source, const char *format,
                                                        ...)
{
    char line[512];
    va_list list;
    va_start(list, format);
    const int length = vsnprintf(line, sizeof line, format, list);
    va_end(list);
    if (length < 0 || (size_t)length >= sizeof line)
        source->failed = true;
    else
        put(source, line, (size_t)length);
}

/* A number, exactly, and independent of the locale: integer mantissa and binary exponent. */
static void put_number(taut_source *source, double value)
{
    const char *sign = signbit(value) ? "-" : "";
    if (value != value) {
        put(source, "(0.0 / 0.0)", 11);
    } else if (value - value != 0) {
        print(source, "(%s1.0 / 0.0)", sign);
    } else {
        int exponent;
        const double mantissa = frexp(fabs(value), &exponent);
        print(source, "(%s0x%llxp%d)", sign, (unsigned long long)ldexp(mantissa, 53),
              value == 0 ? 0 : exponent - 53);
    }
}

static bool is_constant(const taut_tape *tape, int32_t reg)
{
    return reg >= tape->inputs && reg < tape->inputs + tape->constants;
}

static void put_operand(taut_source *source, const taut_tape *tape, int32_t reg)
{
    if (is_constant(tape, reg))
        put_number(source, tape->constant[reg - tape->inputs]);
    else
        print(source, "r%d", (int)reg);
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* The row of an operation with a, b, c replaced by its operands. */
static void put_row(taut_source *source, const taut_tape *tape, const taut_instruction *in)
{
    const int32_t operand[3] = {in->a, in->b, in->c};
    for (const char *at = row_text[in->op]; *at;) {
        size_t length = 1;
        while (is_word(*at) && is_word(at[length]))
            length++;
        if (length == 1 && *at >= 'a' && *at <= 'c')
            put_operand(source, tape, operand[*at - 'a']);
        else
            put(source, at, length);
        at += length;
    }
}

static void put_instruction(taut_source *source, const taut_tape *tape, const char *function,
                            const taut_instruction *in)
{
    print(source, "    const double r%d = ", (int)in->to);
    if (in->op == TAUT_OP_CURVE) {
        print(source, "%s_curve%d(%d, ", function, (int)in->c, (int)in->b);
        put_operand(source, tape, in->a);
        put(source, ")", 1);
    } else {
        put_row(source, tape, in);
    }
    put(source, ";\n", 2);
}

enum { READ = 1, WRITTEN = 2 };

/* Where inputs are: in registers s apart, or where one member or member i of a family is bound
 * to. */
typedef struct places {
    const taut_bound_input *input; /* or NULL */
    bool family;
} places;

/* Reads input k. */
static void put_input(taut_source *source, places at, int32_t k)
{
    const taut_bound_input *in = at.input ? &at.input[k] : NULL;
    print(source, "    const double r%d = ", (int)k);
    if (in && in->number)
        put_number(source, *in->number);
    else if (in && in->array >= 0 && at.family)
        print(source, "f%d[%d * i + %d]", (int)in->array, (int)in->stride, (int)in->place);
    else if (in && in->array >= 0)
        print(source, "from[%d][%d]", (int)in->array, (int)in->place);
    else
        print(source, in && !at.family ? "x[%d]" : "x[%d * s]", (int)k);
    put(source, ";\n", 2);
}

/* An instruction, and before it the inputs that it is the first to need. */
static void put_step(taut_source *source, const taut_tape *tape, places at, const char *function,
                     int32_t i, unsigned char *flag)
{
    const taut_instruction *in = &tape->code[i];
    const int32_t operand[3] = {in->a, in->b, in->c};
    for (int k = 0; k < taut_op_table[in->op].arity; k++)
        if (operand[k] < tape->inputs && !(flag[operand[k]] & READ)) {
            flag[operand[k]] |= READ;
            put_input(source, at, operand[k]);
        }
    put_instruction(source, tape, function, in);
}

/* One body: all instructions up to a level, for one lane; registers of a lane lie s apart.
 * Outputs that are inputs or constants are in their place already. The pointers are restricted:
 * no register is both an input and the result of an instruction. */
static void put_body(taut_source *source, const taut_tape *tape, const char *function,
                     int32_t length, unsigned char *flag)
{
    memset(flag, 0, (size_t)tape->registers);
    for (int32_t i = 0; i < tape->outputs; i++)
        flag[tape->output[i]] |= WRITTEN;
    print(source,
          "static inline%s void %s_%d(const double *restrict x, double *restrict y, long s)\n{\n",
          length <= INLINE_LENGTH ? " __attribute__((always_inline))" : "", function, (int)length);
    for (int32_t i = 0; i < length; i++) {
        put_step(source, tape, (places){0}, function, i, flag);
        if (flag[tape->code[i].to] & WRITTEN)
            print(source, "    y[%d * s] = r%d;\n", (int)tape->code[i].to, (int)tape->code[i].to);
    }
    print(source, "}\n");
}

/* Inputs that an output or the sum of a bound tape shows directly. */
static void put_shown(taut_source *source, const taut_tape *tape, places at, int32_t reg,
                      unsigned char *flag)
{
    if (reg >= tape->inputs || (flag[reg] & READ))
        return;
    flag[reg] |= READ;
    put_input(source, at, reg);
}

/* Leaves the function when a pivot is too small, NaN included. */
static void put_pivot(taut_source *source, const taut_tape *tape, const int32_t *pair,
                      unsigned char *flag)
{
    const places at = {tape->binding->input, false};
    put_shown(source, tape, at, pair[0], flag);
    put_shown(source, tape, at, pair[1], flag);
    print(source, "    if (!(");
    put_operand(source, tape, pair[0]);
    print(source, " > ");
    put_number(source, tape->binding->tolerance);
    print(source, " * ");
    put_operand(source, tape, pair[1]);
    print(source, "))\n        return 0.0 / 0.0;\n");
}

/* Neighbours that are loaded and stored at once, of `left` ones. */
static int block_of(int32_t left)
{
    return left >= 4 ? 4 : left >= 2 ? 2 : 1;
}

/* How many of the next outputs go to neighbours? */
static int32_t count_neighbours(const taut_bound_output *out, const taut_bound_output *end)
{
    int32_t count = 0;
    while (out + count < end && out[count].how == '=' && !out[count].optional &&
           out[count].array == out->array && out[count].place == out->place + count)
        count++;
    return count;
}

/* One output, or a block: what reads them next are vectors, which would wait for single numbers on
 * their way to memory. Returns how many. */
static int put_store(taut_source *source, const taut_tape *tape, const taut_bound_output *out,
                     const taut_bound_output *end)
{
    const int block = block_of(count_neighbours(out, end));
    if (block > 1) {
        print(source, "    TAUT_STORE%d(to[%d] + %d", block, (int)out->array, (int)out->place);
        for (int k = 0; k < block; k++) {
            print(source, ", ");
            put_operand(source, tape, out[k].from);
        }
        print(source, ");\n");
        return block;
    }
    if (out->optional)
        print(source, "    if (to[%d])\n    ", (int)out->array);
    print(source, "    to[%d][%d] %s ", (int)out->array, (int)out->place,
          out->how == '+'   ? "+="
          : out->how == '-' ? "-="
                            : "=");
    put_operand(source, tape, out->from);
    put(source, ";\n", 2);
    return 1;
}

/* The bound form of a level: everything is read before anything is written, so that arrays may
 * overlap. */
static void put_bound(taut_source *source, const taut_tape *tape, const char *function, int level,
                      unsigned char *flag)
{
    const taut_tape_binding *binding = tape->binding;
    const taut_bound_output *end = binding->output + binding->output_end[level];
    const places at = {binding->input, false};
    memset(flag, 0, (size_t)tape->registers);
    print(source,
          "static%s double %s_bound%d(const double *const *from, double *const *to, const double "
          "*x)\n{\n",
          binding->coordinates > 0 && tape->level_end[level] <= STAGE_LENGTH
              ? " inline __attribute__((always_inline))"
              : "",
          function, level);
    for (int32_t i = 0; i < tape->level_end[level]; i++)
        put_step(source, tape, at, function, i, flag);
    for (const taut_bound_output *out = binding->output; out < end; out++)
        put_shown(source, tape, at, out->from, flag);
    for (int32_t k = 0; k < binding->watch_end[level]; k++)
        put_shown(source, tape, at, binding->watch[k], flag);
    print(source, "    const double sum = 0.0");
    for (int32_t k = 0; k < binding->watch_end[level]; k++) {
        put(source, " + ", 3);
        put_operand(source, tape, binding->watch[k]);
    }
    print(source, ";\n");
    for (int32_t k = 0; k < binding->pivots; k++)
        put_pivot(source, tape, binding->pivot + 2 * (int64_t)k, flag);
    for (const taut_bound_output *out = binding->output; out < end;)
        out += put_store(source, tape, out, end);
    print(source, "    return sum - sum;\n}\n");
}

/* A macro of the sum of a row, for each of some blocks from coordinate `first` on; returns the
 * coordinate behind them. */
static int32_t put_blocks(taut_source *source, const char *macro, int32_t first, int32_t n)
{
    int32_t p = first;
    for (int k = 0; k < SUM_BLOCKS && p < n; p += block_of(n - p), k++)
        print(source, "    %s(taut_block%d, %d)\n", macro, block_of(n - p), (int)p);
    return p;
}

/* Stages of an explicit method: sums over the coordinates, and the bound form. */
static void put_stages(taut_source *source, const taut_tape *tape, const char *function)
{
    const int32_t n = tape->binding->coordinates;
    print(source,
          "#ifdef __GNUC__\n"
          "static inline __attribute__((always_inline)) void %s_sum(const struct taut_stages *s, "
          "int i, double *zq, double *zv)\n{\n"
          "    const struct taut_sum *row = s->row + i;\n    const double *xq, *xv;\n"
          "    double w;\n",
          function);
    for (int32_t p = 0, next; p < n; p = next) {
        print(source, "    TAUT_TERM(0)\n");
        put_blocks(source, "TAUT_FIRST", p, n);
        print(source, "    for (int j = 1; j < row->terms; j++) {\n    TAUT_TERM(j)\n");
        put_blocks(source, "TAUT_NEXT", p, n);
        print(source, "    }\n");
        next = put_blocks(source, "TAUT_LAST", p, n);
    }
    print(source,
          "}\nint %s_stages(const struct taut_stages *s, const double *known, double *lambda, "
          "double *jacobian)\n{\n    const int count = s->count;\n"
          "    for (int i = s->first; i < count; i++) {\n"
          "        double zq[%d], time = s->t + s->c[i] * s->h;\n"
          "        const double *from[4] = {zq, s->kq[i], &time, known};\n"
          "        double *to[3] = {s->kv[i], lambda, jacobian};\n"
          "        if (i > 0)\n            %s_sum(s, i, zq, s->kq[i]);\n",
          function, (int)n, function);
    print(source,
          "        else\n            from[0] = s->q;\n"
          "        if (%s_bound0(from, to, 0) != 0.0)\n            return i;\n    }\n"
          "    %s_sum(s, count, s->next_q, s->next_v);\n    return count;\n}\n#endif\n",
          function, function);
}

/* The table of one curve, and a function that looks it up as taut_curve_value does. */
static void put_curve(taut_source *source, const taut_curve *curve, const char *function, int32_t k)
{
    print(source, "static const double %s_table%d[][4] = {\n", function, (int)k);
    for (int32_t i = 0; i + 1 < curve->count; i++) {
        put(source, "{", 1);
        for (int j = 0; j < 4; j++) {
            put_number(source, curve->coefficient[4 * (int64_t)i + j]);
            put(source, j < 3 ? ", " : "},\n", j < 3 ? 2 : 3);
        }
    }
    print(source,
          "{0, 0, 0, 0}};\nstatic double %s_curve%d(int d, double x)\n{\n    return "
          "taut_curve_value(%s_table%d, %d, ",
          function, (int)k, function, (int)k, (int)curve->count);
    const double ends[4] = {curve->first, curve->last, curve->slope_first, curve->slope_last};
    for (int j = 0; j < 4; j++) {
        put_number(source, ends[j]);
        put(source, ", ", 2);
    }
    print(source, "d, x);\n}\n");
}

/* Curves that the tape uses, each once; false when their tables are too long for a source text. */
static bool put_curves(taut_source *source, const taut_tape *tape, const char *function,
                       unsigned char *flag)
{
    int64_t numbers = 0;
    for (int32_t i = 0; i < tape->length; i++) {
        const taut_instruction *in = &tape->code[i];
        /* there are fewer curves than instructions, hence than registers: flag[] is long enough */
        if (in->op != TAUT_OP_CURVE || flag[in->c])
            continue;
        flag[in->c] = 1;
        numbers += 4 * (int64_t)tape->curve[in->c]->count;
        if (numbers > CURVE_NUMBERS)
            return false;
        put_curve(source, tape->curve[in->c], function, in->c);
    }
    return true;
}

/* Lanes do not depend on one another, which the compiler cannot prove. */
static void put_loop(taut_source *source, const char *function, int length)
{
    print(source,
          "static void %s_%d_lanes(double *regs, long s, int n)\n{\n    TAUT_INDEPENDENT\n    for "
          "(int l = 0; l < n; l++)\n        %s_%d(regs + l, regs + l, s);\n}\n",
          function, length, function, length);
}

/* Long bodies are not vectorised, since compilers take too long for that. */
static bool has_loops(const taut_tape *tape, int32_t length)
{
    return length <= INLINE_LENGTH && tape->members != 1;
}

/* The bound form of a tape that has others too. */
static bool has_bound(const taut_tape *tape)
{
    return tape->binding && !tape->binding->alone &&
           tape->level_end[TAUT_BOUND_LEVELS - 1] <= INLINE_LENGTH;
}

/* Levels without a body of their own run the next one: where it is the same, values of families,
 * which are seldom wanted without their gradients, and those for which there are bound forms. */
static bool has_body(const taut_tape *tape, int level)
{
    const int levels = taut_native_levels(tape);
    return level + 1 == levels ||
           (tape->level_end[level + 1] != tape->level_end[level] &&
            (level > 0 || tape->members <= 1) && (level >= TAUT_BOUND_LEVELS || !has_bound(tape)));
}

/* The entry: the body of the level wanted. */
static void put_entry(taut_source *source, const taut_tape *tape, const char *function)
{
    print(source,
          "void %s(int level, int lanes, int n, double *regs)\n{\n    const long s = lanes;\n",
          function);
    const int levels = taut_native_levels(tape);
    for (int level = 0; level < levels; level++) {
        const int length = tape->level_end[level];
        if (!has_body(tape, level))
            continue;
        if (level + 1 < levels)
            print(source, "    if (level <= %d) {\n", level);
        else
            print(source, "    {\n");
        if (has_loops(tape, length))
            print(source, "        %s_%d_lanes(regs, s, n);\n", function, length);
        else
            print(
                source,
                "        for (int l = 0; l < n; l++)\n            %s_%d(regs + l, regs + l, s);\n",
                function, length);
        print(source, "        return;\n    }\n");
    }
    print(source, "}\n");
}

/* One lane alone: addresses are constant, and the caller goes to the body of its level without
 * any test. */
static void put_table(taut_source *source, const taut_tape *tape, const char *function)
{
    print(source, "void (*const %s_one[])(double *) = {", function);
    for (int level = 0; level < TAUT_LEVELS; level++) {
        int body = level;
        while (!has_body(tape, body))
            body++;
        print(source, "%s%s_%d_one", level ? ", " : "", function, (int)tape->level_end[body]);
    }
    print(source, "};\n");
}

static void put_bound_table(taut_source *source, const taut_tape *tape, const char *function,
                            unsigned char *flag)
{
    if (!tape->binding || (!tape->binding->alone && !has_bound(tape)))
        return;
    const int levels = tape->binding->alone ? 1 : TAUT_BOUND_LEVELS;
    for (int level = 0; level < levels; level++)
        put_bound(source, tape, function, level, flag);
    print(source,
          "double (*const %s_bound[])(const double *const *, double *const *, const double *) = "
          "{%s_bound0, %s_bound%d};\n",
          function, function, function, levels - 1);
    if (tape->binding->coordinates > 0)
        put_stages(source, tape, function);
}

/* The family form (tape.h); arrays get names, so that compilers see which loads are neighbours. */
static void put_family(taut_source *source, const taut_tape *tape, const char *function,
                       unsigned char *flag)
{
    const taut_family_binding *family = tape->family;
    const places at = {family->input, true};
    memset(flag, 0, (size_t)tape->registers);
    print(source,
          "void %s_family(const double *const *from, const double *restrict x, long s, long first, "
          "long n, double *const *to)\n{\n    double *restrict y0 = to[0];\n",
          function);
    for (int32_t k = -1; k < tape->inputs; k++) {
        const int32_t array = k < 0 ? family->factor : family->input[k].array;
        bool known = array < 0 || (k >= 0 && array == family->factor);
        for (int32_t j = 0; j < k; j++)
            known = known || family->input[j].array == array;
        if (!known)
            print(source, "    const double *restrict f%d = from[%d];\n", (int)array, (int)array);
    }
    for (int32_t b = 1; b <= family->buffers; b++)
        print(source, "    double *restrict y%d = to[%d];\n", (int)b, (int)b);
    print(source, "    TAUT_INDEPENDENT TAUT_UNROLLED\n    for (long l = 0; l < n; l++) {\n"
                  "    const long i = first + l;\n");
    for (int32_t i = 0; i < tape->level_end[1]; i++)
        put_step(source, tape, at, function, i, flag);
    put_shown(source, tape, at, tape->output[0], flag);
    for (int32_t b = 0; b < family->buffers; b++)
        put_shown(source, tape, at, family->reg[b], flag);
    print(source, "    const double lambda = f%d[i + %d] * ", (int)family->factor,
          (int)family->row);
    put_operand(source, tape, tape->output[0]);
    print(source, ";\n    y0[l] = lambda;\n");
    for (int32_t b = 0; b < family->buffers; b++) {
        print(source, "    y%d[l] = lambda * ", (int)b + 1);
        put_operand(source, tape, family->reg[b]);
        print(source, ";\n");
    }
    print(source, "    }\n}\n");
}

/* Everything for one level: the body, its form for one lane and, for short ones, the loops. */
static void put_level(taut_source *source, const taut_tape *tape, const char *function, int length,
                      unsigned char *flag)
{
    put_body(source, tape, function, length, flag);
    if (tape->members <= 1)
        print(source, "static void %s_%d_one(double *regs)\n{\n    %s_%d(regs, regs, 1);\n}\n",
              function, length, function, length);
    if (has_loops(tape, length))
        put_loop(source, function, length);
}

int taut_native_levels(const taut_tape *tape)
{
    int levels = TAUT_LEVELS;
    while (tape->members > 1 && levels > 0 && tape->level_end[levels - 1] > LOOP_LENGTH)
        levels--;
    return levels;
}

int taut_native_emit(const taut_tape *tape, const char *function, taut_source *source,
                     taut_error *error)
{
    if (tape->length > TAUT_NATIVE_LENGTH)
        return taut_fail(
            error, TAUT_ERROR_SIZE,
            "%d operations are too many to compile (at most %d); they stay interpreted",
            (int)tape->length, TAUT_NATIVE_LENGTH);
    unsigned char *flag = TAUT_NEW(source->arena, unsigned char, tape->registers);
    TAUT_NEED(error, flag);
    if (source->length == 0)
        put(source, preamble, sizeof preamble - 1);
    if (!put_curves(source, tape, function, flag))
        return taut_fail(
            error, TAUT_ERROR_SIZE,
            "the tables have too many values to compile (at most %d); they stay interpreted",
            CURVE_NUMBERS / 4);
    const bool alone = tape->binding && tape->binding->alone;
    const int levels = alone ? 0 : taut_native_levels(tape);
    for (int level = 0; level < levels; level++)
        if (has_body(tape, level))
            put_level(source, tape, function, tape->level_end[level], flag);
    if (!alone && tape->members != 1)
        put_entry(source, tape, function);
    if (!alone && tape->members <= 1)
        put_table(source, tape, function);
    put_bound_table(source, tape, function, flag);
    if (tape->family && tape->level_end[1] <= LOOP_LENGTH)
        put_family(source, tape, function, flag);
    return source->failed ? taut_fail_memory(error) : 0;
}
