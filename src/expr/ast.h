/* ast.h - the words and trees of the model language: lexer, expressions, iterators.
 *
 * Trees keep the place of every part, so that later errors (unknown name, wrong index) can point
 * at it. Grammar of expressions, loosest first:   or ; and ; comparison (< <= > >= == !=) ; + -
 * ; * / ; unary - ; ^ (right) ; postfix ; primary. -x^2 is -(x^2); 2^-1 is allowed. Primary:
 * number, name, name(args), name[idx,..], (expr), (a, b, ..) a vector, sum(e for i in a..b, ..),
 * sum(e for pairs i, j in a within r ..).
 * Postfix on a name: [indices], then .component or .column (which may be followed by [indices]),
 * then primes. */
#ifndef TAUT_EXPR_AST_H
#define TAUT_EXPR_AST_H

#include "base/memory.h"

typedef struct taut_place {
    int32_t line, column; /* from 1; columns count bytes after tabs are taken as one */
    int32_t offset;       /* in the text */
} taut_place;

typedef enum taut_tree_kind {
    TAUT_TREE_NUMBER, /* value */
    TAUT_TREE_NAME,   /* name, children = indices, then member/member children, primes */
    TAUT_TREE_UNARY,  /* op '-' ; 1 child */
    TAUT_TREE_BINARY, /* op: + - * / ^ < l (<=) > g (>=) = (==) n (!=) & | ; 2 children */
    TAUT_TREE_CALL,   /* name, children = arguments (if(c,a,b) too) */
    TAUT_TREE_VECTOR, /* children = components, at least 2 */
    TAUT_TREE_SUM,    /* 1 child, iterators */
} taut_tree_kind;

typedef struct taut_iterator {
    const char *name;
    struct taut_tree *first, *last; /* name in first..last */
    taut_place place;
} taut_iterator;

/* pairs i, j in a [, b] within r [apart k] [exclude k] [periodic l] [skin s] [shift]; the names i
 * and j are the iterators of the sum, which have no ranges. */
enum {
    TAUT_PAIR_WITHIN,
    TAUT_PAIR_APART,
    TAUT_PAIR_EXCLUDE,
    TAUT_PAIR_PERIODIC,
    TAUT_PAIR_SKIN,
    TAUT_PAIR_TREES
};
typedef struct taut_pairs {
    const char *family[2];                   /* the same one twice where one is given */
    taut_place place[2];                     /* of the families */
    struct taut_tree *tree[TAUT_PAIR_TREES]; /* NULL: not given */
    bool shift;
} taut_pairs;

typedef struct taut_tree {
    taut_tree_kind kind;
    taut_place place, end; /* first byte, and one past the last */
    char op;
    double value;
    const char *name; /* interned: equal names are equal pointers within one parser */
    /* after '.': component x, y, z or a column of a table; NULL without. bars.i[k]: name bars,
     * member i */
    const char *member;
    int32_t primes; /* number of ' */
    /* children: arguments, components; for names the indices before the member */
    int32_t count;
    int32_t member_count; /* indices after the member; they follow in child[count ..] */
    struct taut_tree **child;
    int32_t iterators;
    taut_iterator *iterator;
    taut_pairs *pairs; /* of a sum over pairs, else NULL */
    int32_t height;    /* levels of the tree, 1 for a leaf; bounds included */
} taut_tree;

/* Bounds for hostile input. Recursion over a tree is safe: no tree is higher than
 * TAUT_HEIGHT_LIMIT. */
enum {
    TAUT_TEXT_LIMIT = 16 << 20, /* bytes of one text */
    TAUT_DEPTH_LIMIT = 200,     /* brackets, signs and powers inside each other */
    /* terms of one a + b + ... or a * b * ... : they make a left-deep tree */
    TAUT_CHAIN_LIMIT = 1000,
    TAUT_HEIGHT_LIMIT = 2000,    /* levels of one tree: chains inside brackets inside chains */
    TAUT_OPERATOR_LIMIT = 20000, /* operators of one expression */
    TAUT_NODE_LIMIT = 2 << 20,   /* trees of one text */
    TAUT_NAME_LIMIT = 64,        /* letters of a name */
    TAUT_INDICES_LIMIT = 4,      /* of a name, and iterators of a `for` */
    TAUT_PRIMES_LIMIT = 4
};

#endif
