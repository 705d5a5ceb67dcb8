/* model.h - from statements to kernels: symbols, expansion of expressions, families.
 *
 * A statement is expanded for all members of its family at once: indices become nodes of the
 * statement's graph, references become slots. Where members differ in more than integers (one
 * end of a chain refers to a definition, an `if` over the index has the other branch), a
 * *decision* splits the members into groups and each group is expanded again with the decision
 * made. */
#ifndef TAUT_MODEL_MODEL_H
#define TAUT_MODEL_MODEL_H

#include "model/document.h"
#include "system/pair_sums.h"
#include "system/system.h"

enum {
    TAUT_ITERATOR_LIMIT = 8,
    TAUT_VECTOR_LIMIT = 16,
    TAUT_FACTOR_LIMIT = 8,       /* factors of a sum that stays a loop */
    TAUT_MEMBER_LIMIT = 1 << 24, /* members of one statement, and passes of its loops */
    /* numbers in the maps of all statements: members times what one refers to */
    TAUT_ENTRY_LIMIT = 1 << 27,
    TAUT_RANGE_LIMIT = 4096,   /* lines with `for` that declare one name */
    TAUT_UNROLL_LIMIT = 4096,  /* terms of a sum inside a nonlinear expression */
    TAUT_GROUP_LIMIT = 1000,   /* different forms of one statement */
    TAUT_WORK_LIMIT = 2000000, /* tree nodes visited in expanding one statement */
    TAUT_EFFORT_LIMIT =
        50000000, /* the same for all statements, with the nodes visited by derivatives */
    /* levels of trees inside one another, through definitions and parameters: recursion is this
     * deep */
    TAUT_LEVEL_LIMIT = 4000,
    TAUT_CALL_LIMIT = 64,       /* functions and definitions inside one another */
    TAUT_GRAPH_LIMIT = 1000000, /* nodes of one statement's graph */
};

typedef struct taut_table {
    int32_t rows, columns;
    const char **column;
    const double *value;      /* [columns][rows] */
    const taut_curve **curve; /* [columns], made when first used */
} taut_table;

typedef enum taut_symbol_kind {
    TAUT_SYMBOL_PARAMETER,
    TAUT_SYMBOL_COORDINATE,
    TAUT_SYMBOL_ALGEBRAIC,
    TAUT_SYMBOL_DEFINITION,
    TAUT_SYMBOL_FUNCTION,
    TAUT_SYMBOL_TABLE,
    TAUT_SYMBOL_BOND
} taut_symbol_kind;

typedef struct taut_symbol_block {
    taut_symbol_kind kind;
    taut_name_block box;
    const taut_item_tree *item;    /* what defines it */
    const taut_document *document; /* where */
    int8_t iterator_of[4];         /* which iterator of the item each index is, -1 for a number */
} taut_symbol_block;

typedef struct taut_symbol {
    const char *name;
    taut_symbol_kind kind; /* of the first block */
    bool mixed;            /* blocks of several kinds, or several definitions */
    bool used;
    /* parameters: 0 not evaluated, 1 being evaluated, 2 done; definitions: depth of expansion */
    int state;
    /* of a definition: see statement.c */
    enum { TAUT_SUMS_UNKNOWN, TAUT_SUMS_ASKED, TAUT_SUMS_NONE, TAUT_SUMS_LOOP } sums;
    int dims;
    int32_t blocks;
    int64_t capacity;
    taut_symbol_block *block;
    int32_t *point; /* hash of the blocks that are one member each: number + 1, 0 for none */
    int64_t points, point_size;
    int32_t *range; /* the other blocks */
    int64_t ranges, range_capacity;
    /* the first block that is no definition, -1 for none: in expressions all such are alike */
    int32_t plain;
    taut_table *table;
    taut_place place; /* of the first mention */
} taut_symbol;

typedef struct taut_model {
    taut_system *system;
    taut_arena scratch; /* everything that is not kept */
    const taut_document *document;
    const taut_document *overrides, *further; /* initial values besides, or NULL */
    const taut_load *how;
    taut_error *error;
    int64_t symbols, symbol_capacity;
    taut_symbol **symbol; /* in the order of declaration */
    int32_t *hash;
    int64_t hash_size;
    int dimension;
    bool first_order;
    double *parameter; /* values so far */
    int64_t parameter_capacity;
    int depth;               /* of parameters being evaluated through one another */
    int levels;              /* of trees being expanded */
    int64_t entries, effort; /* so far, of the limits above */
    double *row_value;       /* numbers of bonds or masses while they are checked */
    int64_t row_capacity;
    int64_t kernel_capacity, list_capacity[TAUT_LIST_COUNT];
    int64_t setting_capacity, stepper_capacity, hold_count, pair_capacity;
    const taut_document *parameter_overrides;
    const taut_item_tree **rate_item; /* what gives the rate of each state variable */
    bool massless;
    /* of a model in parts (divide.c): statements are shown to it instead of being built; NULL:
     * built
     */
    const struct taut_survey *survey;
    int64_t whole_row; /* number in the whole model of the first bond of an item */
    /* [items]: algebraic variables that constraints contain, and those constraints; NULL without
     * [algebraic] (algebraic.c) */
    bool *followed, *direct;
    /* the first statement of the motion with a kink; line 0: there is none */
    const taut_document *kink_document;
    taut_place kink_place;
} taut_model;

/* symbols.c */
taut_symbol *taut_model_find(const taut_model *model, const char *name);
int taut_model_unknown(const taut_model *model, const taut_document *document, taut_place place,
                       const char *name);
int taut_model_declare(taut_model *model, const taut_document *document, taut_symbol_kind kind,
                       const taut_item_tree *item, const taut_tree *left, taut_names *names,
                       int components, taut_symbol **symbol);
/* Outputs, events and observed variables have spaces of names of their own: nothing refers to
 * them, but each is given once. A space is a model of which only the names matter; its scratch
 * arena is to be cleared. */
taut_model taut_space_make(const taut_model *model);
int taut_space_name(taut_model *space, taut_model *model, const taut_item_tree *item,
                    const taut_tree *left, taut_names *names, taut_symbol_block *block);
/* The block that has a member with these indices, and its number there; -1 when there is none. */
int32_t taut_symbol_block_of(const taut_symbol *symbol, const int32_t *index, int64_t *ordinal);
const char *taut_symbol_word(taut_symbol_kind kind); /* "parameter", "coordinate", ... */

/* A vector of graph nodes; scalars have n = 1. */
typedef struct taut_value {
    int n;
    int32_t node[TAUT_VECTOR_LIMIT];
} taut_value;

typedef struct taut_binding { /* names inside functions and families; innermost first */
    struct taut_binding *next;
    const char *name;
    int32_t node;          /* of an iterator; -1 for a tree */
    const taut_tree *tree; /* an argument, in the scope `where` of document `document` */
    struct taut_binding *where;
    const taut_document *document;
    bool known;
    taut_value value; /* when known */
} taut_binding;

/* One use of a family: its symbol, component and indices. Positions and velocities share it. */
typedef struct taut_reference {
    taut_symbol *symbol;
    int component;
    int dims;
    int32_t index[4]; /* nodes */
    taut_place place;
    const taut_document *document;
} taut_reference;

typedef struct taut_slot_key {
    taut_slot_source source;
    taut_reference reference; /* coordinates, parameters, multipliers; table look-ups: index[0] */
    const taut_table *table;  /* data from a table */
    int column;
    int iterator; /* data: values of this iterator; -1 otherwise */
} taut_slot_key;

typedef struct taut_range_check { /* an index that must lie in a block */
    taut_reference reference;
} taut_range_check;

enum { TAUT_PENDING = 1000 }; /* status: a decision must be made first */

typedef struct taut_expand {
    taut_model *model;
    const taut_document *document;
    taut_graph *graph;
    taut_arena arena;
    unsigned allow;   /* 1 << taut_slot_source */
    const char *what; /* "a stiffness": for refusals */
    bool index_mode;
    bool still, timed; /* t is the initial time, a number; t was met */
    /* positions are those of two particles at the cut-off, a node (pairs.c) */
    bool at_cut;
    int32_t cut;
    bool starved; /* memory ran out in a place that gives nodes, not codes */
    int32_t slots;
    int64_t slot_capacity;
    taut_slot_key *slot;
    int32_t *slot_hash;
    int64_t slot_hash_size;
    int iterators;
    const taut_iterator *iterator[TAUT_ITERATOR_LIMIT];
    int32_t iterator_node[TAUT_ITERATOR_LIMIT];
    taut_binding binding[TAUT_ITERATOR_LIMIT];
    int32_t checks;
    int64_t check_capacity;
    taut_range_check *check;
    int64_t work;
    int calls;
    int unrolled;
    /* decisions: known ones are consumed in the order in which they are met */
    const int32_t *decision;
    int32_t decisions, met;
    enum { TAUT_DECIDE_BLOCK, TAUT_DECIDE_TRUTH, TAUT_DECIDE_COUNT } pending;
    taut_reference pending_reference;
    int32_t pending_node; /* truth value or count */
    taut_place pending_place;
} taut_expand;

/* expand.c, builtins.c: trees to nodes */
int taut_expand_init(taut_expand *x, taut_model *model, const taut_document *document,
                     unsigned allow, const char *what);
void taut_expand_clear(taut_expand *x);
int taut_expand_tree(taut_expand *x, const taut_tree *tree, taut_binding *scope, taut_value *value);
int taut_expand_scalar(taut_expand *x, const taut_tree *tree, taut_binding *scope, int32_t *node);
int taut_expand_index(taut_expand *x, const taut_tree *tree, taut_binding *scope, int32_t *node);
int taut_expand_call(taut_expand *x, const taut_tree *tree, taut_binding *scope, taut_value *value);
int taut_expand_sum(taut_expand *x, const taut_tree *tree, taut_binding *scope, taut_value *value);
int taut_expand_table(taut_expand *x, const taut_tree *tree, taut_binding *scope,
                      taut_symbol *symbol, taut_value *value); /* tables.c */
int taut_expand_reference(taut_expand *x, const taut_tree *tree, taut_binding *scope,
                          taut_reference *reference);
/* the input node, -1 when out of memory */
int32_t taut_expand_slot(taut_expand *x, const taut_slot_key *key);
int taut_expand_decide(taut_expand *x, int kind, const taut_reference *reference, int32_t node,
                       taut_place place, int32_t *choice);
bool taut_expand_is_index(taut_expand *x, int32_t node); /* depends on iterators and tables only */
int taut_expand_fail(taut_expand *x, taut_place place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* members.c: members of a statement, evaluation of indices, groups */
typedef struct taut_members {
    int64_t count;
    int iterators;
    int32_t *value[TAUT_ITERATOR_LIMIT]; /* [count] each */
    int32_t *ordinal; /* of events, of which a part is here: [count], among all; else NULL */
} taut_members;

/* Makes the loop names x->iterator[] inputs 0, 1, ...; gives the scope in which the first
 * `depth` of them are seen. */
int taut_expand_iterators(taut_expand *x);
/* NULL for depth 0 or without memory: see taut_expand_iterators */
taut_binding *taut_expand_scope(taut_expand *x, int depth);
int taut_members_list(taut_expand *x, taut_members *members);
/* The same in pieces of at most `most` members, of which the first is number `first`; their arrays
 * are used again. */
typedef int taut_members_piece(void *user, const taut_members *members, int64_t first);
int taut_members_each(taut_expand *x, int64_t most, taut_members_piece *piece, void *user);
/* Values of nodes for one member: evaluates what `mark` flags. */
typedef struct taut_index_run {
    taut_expand *x;
    const taut_members *members;
    int32_t nodes;
    int32_t *node; /* to evaluate, in order */
    double *value; /* [size of graph] */
} taut_index_run;
int taut_index_prepare(taut_index_run *run, taut_expand *x, const taut_members *members,
                       const int32_t *root, int32_t roots);
int taut_index_member(taut_index_run *run, int64_t member);
/* Finds the member of a family that a reference means; fills the block and ordinal; fails with
 * names and numbers. */
int taut_index_resolve(taut_index_run *run, const taut_reference *reference, int64_t member,
                       int32_t *block, int64_t *ordinal);

/* One statement in the making: consumers set it up, then get one call per group of members. */
typedef struct taut_term {
    const taut_tree *factor[TAUT_FACTOR_LIMIT]; /* value = sign * product of factor^(+-1) * body */
    bool inverse[TAUT_FACTOR_LIMIT];
    int depth[TAUT_FACTOR_LIMIT]; /* iterators visible to the factor */
    int factors;
    double sign;
    const taut_tree *body;
    int iterators;
    const taut_iterator *iterator[TAUT_ITERATOR_LIMIT];
    const taut_pairs *pairs; /* the two iterators are pairs of particles, or NULL */
} taut_term;

typedef struct taut_statement {
    taut_model *model;
    const taut_document *document;
    const taut_item_tree *item;
    taut_term term;
    const taut_tree *left;  /* target reference, or NULL */
    const taut_tree *left2; /* second target (M[a,b]), or NULL */
    const taut_tree *times; /* multiplies the value (scale), or NULL */
    unsigned allow;
    const char *what;
    taut_role role;
    /* rows are first_row + ordinal of the member when there is no left; whole_row in the whole
     * model, of which this may be a part */
    taut_index first_row;
    int64_t whole_row;
    int list;           /* of VALUE kernels; -1: system->kernel */
    int stride;         /* of the rows of members; 0: 1 */
    bool point;         /* the value is a vector of 2 or 3 components, in as many rows */
    bool velocity_rows; /* a primed target is n + k (start) */
    bool reciprocal;    /* the value is 1/expression (stiffness) */
    /* of a spring, e(t): the value is that of the initial time; or sqrt(e(t)/e), the inverse for
     * a compliance; or multiplied by that of `spring`, or NULL */
    bool still, relative;
    const taut_attribute *spring;
    bool fast;            /* the potential moves with the inner steps of impulse methods */
    bool joined;          /* velocities are positions n + k */
    bool timed;           /* result of `still`: e depends on t */
    taut_pair_sum *pairs; /* being made, or NULL */
    /* receive the values of their members instead of a list, with room for them; or NULL */
    taut_event *events;
} taut_statement;

int taut_statement_build(taut_statement *statement);

/* Parts of a model (divide.c). What a survey sees of one member: coordinates by their numbers in
 * the whole model, those of a particle as the first one and how many they are. */
typedef struct taut_sighting {
    const taut_statement *statement;
    int64_t member, place; /* its ordinal, and that among the members of the present piece */
    int targets, target_width[2];
    taut_index target[2];
    int count, *width;
    taut_index *at;
} taut_sighting;
typedef enum taut_near { TAUT_NEAR_ROW, TAUT_NEAR_COORDINATE, TAUT_NEAR_TARGET } taut_near;
typedef struct taut_survey {
    int (*see)(void *user, const taut_sighting *seen);
    /* Is a member of interest that refers to one of the numbers begin .. end-1? A piece in which no
     * number is of interest is not shown. */
    bool (*near)(void *user, const taut_statement *statement, taut_near what, int64_t begin,
                 int64_t end);
    void *user;
} taut_survey;
int taut_statement_show(taut_statement *statement, const taut_survey *survey,
                        taut_members_piece *after, void *user);
/* Decides, in a run over several ranks, which part of the model is here: system->part. */
int taut_model_divide(taut_model *model);
/* The members of a statement that are here; own: how many come first that belong to this rank, of
 * statements whose values add up. */
int taut_part_members(taut_statement *statement, taut_arena *arena, taut_members *members,
                      int64_t *own);
/* What is here of `count` bonds from *first on, which becomes their place. */
int64_t taut_part_bonds(const taut_model *model, taut_index *first, int64_t count);
/* The nodes of its term. (term_value.c) */
int taut_statement_value(taut_statement *statement, taut_expand *x, taut_value *value);
/* (load.c) Notes file and line of an item at the conditions of its kernel. */
int taut_model_place_guards(taut_model *model, const taut_document *document,
                            const taut_item_tree *item, taut_guards *guards);
/* Splits a tree into terms whose sums stay loops, and builds each. (sums.c) */
int taut_statement_terms(taut_statement *statement, const taut_tree *tree);

/* Sums over pairs (pairs.c): a statement whose term is one; its members, the pairs of particles of
 * equal number; what becomes of its kernel; a coordinate of two particles at the cut-off, a node.
 */
int taut_pairs_build(taut_statement *statement, taut_place place);
int taut_pairs_members(taut_statement *statement, taut_arena *arena, taut_members *members);
int taut_pairs_add(taut_statement *statement, taut_expand *x, taut_statement_kernel *kernel);
/* Once all bonds are there: finds the pairs that they exclude. (pair_bonds.c) */
int taut_pairs_exclude(taut_model *model);
int32_t taut_pairs_end(taut_expand *x, const taut_reference *reference, int components);

/* sections.c, capabilities.c, start.c, parameters.c, tables.c, events.c */
int taut_model_parameters(taut_model *model, const taut_document *overrides);
/* Runs a VALUE kernel at load time into value[row]. */
int taut_model_run(taut_model *model, const taut_statement_kernel *kernel, double *value);
taut_statement taut_statement_make(taut_model *model, const taut_document *document,
                                   const taut_item_tree *item, taut_role role, unsigned allow,
                                   const char *what);
int taut_model_demand(taut_model *model, taut_symbol *symbol, const taut_document *document,
                      taut_place place);
int taut_model_tables(taut_model *model);
int taut_model_start(taut_model *model);
/* Its statements, to be shown. */
int taut_model_start_show(taut_model *model);
int taut_model_sections(taut_model *model);
/* The statements of an item, which a survey is shown too. (sections.c) */
int taut_model_row_item(taut_model *model, const taut_item_tree *item, taut_index first,
                        const char *what, const taut_attribute *spring);
int taut_model_energy_item(taut_model *model, const taut_item_tree *item, taut_role role,
                           const char *what);
int taut_model_force_item(taut_model *model, const taut_item_tree *item, bool rate);
const taut_attribute *taut_item_attribute(const taut_item_tree *item, taut_word word);
/* Room for numbers of rows 0..count-1; the model's, until the next use. */
double *taut_model_row_values(taut_model *model, int64_t count);
/* *varies: the stiffness or compliance where it depends on t, else NULL. (bond_attributes.c) */
int taut_model_bond_attributes(taut_model *model, const taut_item_tree *item, taut_index first,
                               int64_t count, const taut_attribute **varies);
int taut_model_find_followed(taut_model *model);    /* sets followed and direct */
int taut_model_declare_followed(taut_model *model); /* as state variables, with their rates */
int taut_model_check_followed(taut_model *model);   /* as many constraints as variables */
int taut_model_conserved(taut_model *model);        /* [invariants] of a mechanical model */
int taut_model_capabilities(taut_model *model);
int taut_model_settings(taut_model *model);
int taut_model_events(taut_model *model);
/* Before a model is divided: names of all events; then statements of one, the first of its members
 * being number `first`, to be shown. */
int taut_model_event_names(taut_model *model);
int taut_model_event_show(taut_model *model, const taut_item_tree *item, taut_index first);
int taut_model_shapes(taut_model *model); /* (shapes.c) */
int taut_model_add_kernel(taut_model *model, int list, taut_statement_kernel *kernel);
/* Fails with a place in the model's document, as taut_document_fail. */
int taut_model_fail(const taut_model *model, taut_place place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int taut_model_warn(taut_model *model, const taut_document *document, taut_place place,
                    const char *format, ...) __attribute__((format(printf, 4, 5)));

#endif
