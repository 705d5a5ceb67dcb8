/* jets.h - running Taylor jets of tapes and comparing them with series of judge/taylor.h: what the
 * tests of jets share. */
#ifndef TAUT_TESTS_SUPPORT_JETS_H
#define TAUT_TESTS_SUPPORT_JETS_H

#include "expr/curve.h"
#include "expr/tape.h"
#include "expr/values.h"
#include "judge/taylor.h"
#include "support/table.h"
#include "support/uniform.h"

/* Coefficients that neither vanish nor explode; they are doubles, so both sides start alike. */
static inline series random_series(double start)
{
    series a = constant(start);
    for (int k = 1; k < N; k++)
        a.c[k] = uniform(-1, 1) * pow(0.9, k);
    return a;
}

typedef struct bench {
    taut_graph *graph;
    taut_arena arena;
    taut_tape *tape;
} bench;

static inline bench bench_open(void)
{
    bench b = {.graph = taut_graph_create(NULL, 1 << 20)};
    taut_arena_init(&b.arena, NULL);
    return b;
}

static inline void bench_close(bench *b)
{
    taut_arena_clear(&b->arena);
    taut_graph_destroy(b->graph);
}

static inline void bench_tape(bench *b, int inputs, int outputs, const int32_t *node,
                              const unsigned char *level)
{
    taut_error error = {0};
    if (taut_tape_create(b->graph, &b->arena, inputs, outputs, node, level, &b->tape, &error) !=
        0) {
        printf("cannot make a tape: %s\n", error.message);
        exit(1);
    }
}

/* All coefficients of output `which`, one lane. */
static inline void run(const taut_tape *tape, const series *input, int which, double out[N])
{
    const size_t block = (size_t)(tape->registers + tape->companions);
    double *regs = calloc(block * N + 1, sizeof *regs);
    taut_tape_jet_prepare(tape, N, 1, regs);
    for (int k = 0; k < N; k++) {
        for (int i = 0; i < tape->inputs; i++)
            regs[block * (size_t)k + (size_t)i] = (double)input[i].c[k];
        taut_tape_jet_run(tape, TAUT_LEVELS - 1, k, 1, 1, regs);
        out[k] = regs[block * (size_t)k + (size_t)tape->output[which]];
    }
    free(regs);
}

/* The largest relative deviation; a coefficient counts relative to itself, or to a hundredth of
 * the largest before it. */
static inline double deviation(const double got[N], series want)
{
    double worst = 0, largest = 0;
    for (int k = 0; k < N; k++) {
        const double size = (double)fabsl(want.c[k]);
        largest = fmax(largest, size);
        const double off = (double)fabsl(got[k] - want.c[k]) / fmax(size, largest * 1e-2);
        worst = largest == 0 ? fmax(worst, fabs(got[k])) : isnan(off) ? INFINITY : fmax(worst, off);
    }
    return worst;
}

static inline int32_t node_of(taut_graph *graph, taut_op op)
{
    const int32_t a = taut_graph_input(graph, 0);
    return taut_op_table[op].arity == 1
               ? taut_graph_unary(graph, op, a)
               : taut_graph_binary(graph, op, a, taut_graph_input(graph, 1));
}

#endif
