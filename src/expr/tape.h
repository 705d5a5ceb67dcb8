/* tape.h - a graph made linear: instructions over registers, evaluated for many members at once.
 *
 * Outputs have levels 0, 1, 2, ...; instructions are sorted so that those needed up to level k
 * are a prefix of the code. Running to level k computes all outputs of levels <= k. Registers:
 * inputs first (register = slot), then constants, then one for each instruction. A block of
 * registers is regs[register * lanes + lane]: structure of arrays, one lane for each member. */
#ifndef TAUT_EXPR_TAPE_H
#define TAUT_EXPR_TAPE_H

#include "base/vectors.h"
#include "expr/graph.h"

enum { TAUT_LEVELS = 8 };

typedef struct taut_instruction {
    int32_t op; /* taut_op */
    /* the same, or from TAUT_OP_COUNT on: TAUT_PAIR of this and the next one, of the same level */
    int32_t pair;
    /* registers; b of TAUT_OP_CURVE is the derivative order, c the index of the curve */
    int32_t to, a, b, c;
    /* jets: first register of the companion series (cos for sin, ...), from `registers` on; -1
     * for none */
    int32_t companion;
} taut_instruction;

/* ADD, SUB, MUL and DIV (neighbours in taut_op), one after another: the interpreter goes to both at
 * once, and the second has the result of the first at hand where that is its operand a (uses = 1)
 * or b (2). */
enum { TAUT_PAIR_OPS = 4, TAUT_PAIR_USES = 3 };
static inline bool taut_is_paired(int32_t op)
{
    return op >= TAUT_OP_ADD && op < TAUT_OP_ADD + TAUT_PAIR_OPS;
}
#define TAUT_PAIR(first, second, uses)                                                             \
    (TAUT_OP_COUNT + (uses) +                                                                      \
     TAUT_PAIR_USES * (TAUT_PAIR_OPS * ((first)-TAUT_OP_ADD) + ((second)-TAUT_OP_ADD)))

/* A tape of one member can be bound to arrays: its compiled form then loads its inputs and
 * stores its outputs itself, without any trip through registers in memory. Input k is *number,
 * or from[array][place], or stays in its register when array < 0; an output goes
 * to[array][place], by '=', '+' or '-'. What is stored up to level k is a prefix, and so are the
 * registers whose sum is returned. */
enum { TAUT_BOUND_LEVELS = 2 };
typedef struct taut_bound_input {
    const double *number;
    int32_t array, place, stride; /* stride: of a family, from member to member */
} taut_bound_input;
typedef struct taut_bound_output {
    int32_t from, array, place; /* from: register */
    char how;
    bool optional; /* to[array] may be NULL */
} taut_bound_output;
typedef struct taut_tape_binding {
    const taut_bound_input *input; /* [inputs] */
    const taut_bound_output *output;
    const int32_t *watch; /* registers */
    int32_t output_end[TAUT_BOUND_LEVELS], watch_end[TAUT_BOUND_LEVELS];
    /* pairs of registers: the first must be above `tolerance` times the second */
    int32_t pivots;
    const int32_t *pivot;
    double tolerance;
    bool alone; /* no other form is compiled */
    /* inputs are q[n], v[n], t and known[], outputs v'[n], lambda and G: stages of explicit methods
     * are compiled too; 0: not so */
    int32_t coordinates;
} taut_tape_binding;
/* Returns sum - sum of the watched registers: 0, or NaN when one is not finite or they are very
 * large; and NaN when a pivot is too small. */
typedef double (*taut_bound_function)(const double *const *from, double *const *to,
                                      const double *regs);

/* A tape of a family of springs can be bound likewise: its compiled form loads members first ..
 * first + n - 1, input k of member i from[array][place + stride i], or, the same for all, from its
 * register, and stores, of the l-th of them, lambda = (output 0) from[factor][row + i] at to[0][l]
 * and lambda reg[b] at to[1 + b][l]. */
typedef struct taut_family_binding {
    const taut_bound_input *input; /* [inputs] */
    int32_t factor, row, buffers;
    const int32_t *reg; /* [buffers] */
} taut_family_binding;
typedef void (*taut_family_function)(const double *const *from, const double *regs, long lanes,
                                     long first, long n, double *const *to);

/* Stages of an explicit method (base/field.h); returns the first one that fails, or the count. */
struct taut_stages;
typedef int (*taut_stages_function)(const struct taut_stages *stages, const double *known,
                                    double *lambda, double *jacobian);

typedef struct taut_tape {
    int32_t inputs, constants, registers; /* counts; registers includes inputs and constants */
    int32_t companions;                   /* further registers that jets need */
    int32_t length;                       /* instructions */
    int32_t level_end[TAUT_LEVELS];       /* instructions to run for level k */
    int32_t outputs;
    const int32_t *output;  /* register of each output */
    const double *constant; /* [constants] */
    const taut_instruction *code;
    const struct taut_curve *const *curve;
    bool kinks; /* some instruction has a kink */
    /* how many members are evaluated: 1 and more have compiled forms of their own; 0: both */
    int64_t members;
    /* compiled form, or NULL: same effect as the interpreter on outputs; and for each level the
     * form for one lane alone, or NULL; a tape may have one of them or both */
    void (*native)(int level, int lanes, int n, double *regs);
    int native_levels; /* levels that it has; beyond, the interpreter is used */
    void (*const *native_one)(double *regs); /* [TAUT_LEVELS] */
    const taut_tape_binding *binding;        /* of a tape with one member, or NULL */
    const taut_bound_function *native_bound; /* [TAUT_BOUND_LEVELS], or NULL */
    taut_stages_function native_stages;      /* or NULL */
    const taut_family_binding *family;       /* or NULL */
    taut_family_function native_family;      /* or NULL */
} taut_tape;

static inline bool taut_tape_is_constant(const taut_tape *tape, int32_t reg)
{
    return reg >= tape->inputs && reg < tape->inputs + tape->constants;
}

/* Makes a tape of `count` outputs (graph nodes) with their levels. `inputs` is the number of
 * slots. The tape lives in the arena. */
int taut_tape_create(const taut_graph *graph, taut_arena *arena, int32_t inputs, int32_t count,
                     const int32_t *node, const unsigned char *level, taut_tape **tape,
                     taut_error *error);

/* A good number of lanes for `members` members: registers stay in the first-level cache; 1 for a
 * single member; a multiple of 8 otherwise. */
int taut_tape_lanes(const taut_tape *tape, int64_t members);
/* Writes the constants into all lanes of a block of registers; once per block. */
void taut_tape_prepare(const taut_tape *tape, int lanes, double *regs);
/* The interpreter: lanes 0..n-1 up to a level of the tape. */
void taut_tape_interpret(const taut_tape *tape, int level, int lanes, int n, double *regs);
/* Runs lanes 0..n-1 up to a level. Never allocates, never fails: NaN and infinity pass through.
 * Inline, because a small system is many such calls with one lane, and what they are is known
 * where they are made. */
static inline void taut_tape_run(const taut_tape *tape, int level, int lanes, int n, double *regs)
{
    if (level < 0 || n <= 0)
        return;
    if (level >= TAUT_LEVELS)
        level = TAUT_LEVELS - 1;
    if (lanes == 1 && tape->native_one)
        tape->native_one[level](regs);
    else if (tape->native && level < tape->native_levels)
        tape->native(level, lanes, n, regs);
    else
        taut_tape_interpret(tape, level, lanes, n, regs);
}

/* How many companion registers jets of an operation need (contiguous, from `registers` on;
 * jet.c). */
int taut_jet_companions(taut_op op);
/* Taylor coefficient `order` of every register, those of lower order being there already.
 * Coefficient j is regs[(j * (registers + companions) + register) * lanes + lane]; inputs of
 * this order are set by the caller (constants by taut_tape_jet_prepare, for `orders`
 * coefficients 0..orders-1). One order costs O(order) per instruction. (jet.c) */
void taut_tape_jet_prepare(const taut_tape *tape, int orders, int lanes, double *regs);
void taut_tape_jet_run(const taut_tape *tape, int level, int order, int lanes, int n, double *regs);

/* The same for one chunk of a long family, of which only the registers are kept that later orders
 * need. Blocks for order 0 and for all others, shared by the chunks, have inputs, constants
 * (taut_tape_prepare; those of `later` are 0) and results by register; coefficient j of a register
 * is also kept[(j * count + slot[register]) * lanes + lane], where slot[register] >= 0. */
typedef struct taut_jet_places {
    double *first, *later, *kept;
    const int32_t *slot;
    int32_t count;
} taut_jet_places;
enum { TAUT_JET_LANES = 256 }; /* of a chunk */
/* Fills slot[registers + companions] for a level and these of its outputs; returns the count.
 * (jet_slots.c) */
int32_t taut_tape_jet_slots(const taut_tape *tape, int level, const int32_t *output, int outputs,
                            int32_t *slot);
void taut_tape_jet_run_kept(const taut_tape *tape, int level, int order, int lanes, int n,
                            const taut_jet_places *places);

#endif
