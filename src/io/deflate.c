/* deflate.c - the format deflate [RFC 1951], which every browser expands: blocks with Huffman codes
 * of their own; earlier bytes are found by one table of hashes, without chains. The byte planes of
 * pages gain from the codes, and little from a longer search. */
#include "io/deflate.h"

#include <string.h>

enum {
    LITERALS = 286,
    DISTANCES = 30,
    LENGTH_CODES = 19,
    END = 256,
    LONGEST_CODE = 15,
    SHORTEST = 4, /* match; RFC 1951 allows 3, which rarely pays */
    LONGEST = 258,
    WINDOW = 32768,
    HASHES = 1 << 15,
    BLOCK = 1 << 15 /* tokens */
};

static const uint16_t length_base[29] = {3,  4,  5,  6,   7,   8,   9,   10,  11, 13,
                                         15, 17, 19, 23,  27,  31,  35,  43,  51, 59,
                                         67, 83, 99, 115, 131, 163, 195, 227, 258};
static const uint8_t length_bits[29] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                        2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
static const uint8_t order_of_lengths[LENGTH_CODES] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                                       11, 4,  12, 3, 13, 2, 14, 1, 15};

/* A literal (distance 0), or a match. */
typedef struct token {
    uint16_t value, distance;
} token;

typedef struct code {
    uint16_t bits[LITERALS]; /* reversed, as they are written */
    uint8_t length[LITERALS];
} code;

typedef struct writer {
    taut_bytes *to;
    uint64_t held;
    int bits;
} writer;

typedef struct work {
    int32_t latest[HASHES]; /* position + 1 of the latest bytes with this hash; 0: none */
    token token[BLOCK];
} work;

void taut_bytes_add(taut_bytes *to, const void *bytes, int64_t count)
{
    while (!to->failed && to->count + count > to->capacity) {
        void *more = taut_arena_grow(to->arena, to->data, to->capacity, &to->capacity, 1);
        to->failed = more == NULL;
        to->data = more ? more : to->data;
    }
    if (to->failed || count == 0)
        return;
    memcpy(to->data + to->count, bytes, (size_t)count);
    to->count += count;
}

static void put(writer *w, uint32_t value, int bits)
{
    w->held |= (uint64_t)value << w->bits;
    for (w->bits += bits; w->bits >= 8; w->bits -= 8, w->held >>= 8)
        taut_bytes_add(w->to, &(unsigned char){(unsigned char)w->held}, 1);
}

/* ---- codes */

/* Lengths by Huffman's construction: the two lightest trees become one. Returns the longest. */
static int find_lengths(const int64_t *weight, int symbols, uint8_t *length)
{
    int64_t tree[2 * LITERALS];
    int parent[2 * LITERALS] = {0}, nodes = symbols, longest = 0;
    for (int k = 0; k < symbols; k++)
        tree[k] = weight[k];
    for (;;) {
        int a = -1, b = -1;
        for (int k = 0; k < nodes; k++) {
            if (tree[k] == 0)
                continue;
            if (a < 0 || tree[k] < tree[a]) {
                b = a;
                a = k;
            } else if (b < 0 || tree[k] < tree[b]) {
                b = k;
            }
        }
        if (b < 0)
            break;
        tree[nodes] = tree[a] + tree[b];
        parent[a] = parent[b] = nodes++;
        tree[a] = tree[b] = 0;
    }
    for (int k = 0; k < symbols; k++) {
        length[k] = 0;
        for (int at = k; weight[k] && at < nodes - 1; at = parent[at])
            length[k]++;
        longest = length[k] > longest ? length[k] : longest;
    }
    return longest;
}

/* A complete code: at least two symbols have one. */
static void make_code(code *c, int64_t *weight, int symbols, int most)
{
    int used = 0;
    for (int k = 0; k < symbols; k++)
        used += weight[k] > 0;
    for (int k = 0; used < 2; k++)
        if (weight[k] == 0) {
            weight[k] = 1;
            used++;
        }
    while (find_lengths(weight, symbols, c->length) > most)
        for (int k = 0; k < symbols; k++)
            weight[k] = (weight[k] + 1) / 2;
    uint32_t next = 0;
    for (int bits = 1; bits <= LONGEST_CODE; bits++, next <<= 1)
        for (int k = 0; k < symbols; k++) {
            if (c->length[k] != bits)
                continue;
            uint32_t reversed = 0;
            for (int i = 0; i < bits; i++)
                reversed |= (next >> i & 1) << (bits - 1 - i);
            c->bits[k] = (uint16_t)reversed;
            next++;
        }
}

static int length_code(int length)
{
    int k = 28;
    while (length_base[k] > length)
        k--;
    return k;
}

/* Codes 2k and 2k + 1 begin at (2, 3) << (k - 1) and have k - 1 more bits. */
static int distance_code(int distance, int *extra, int *rest)
{
    int bits = 0, d = distance - 1;
    if (d < 4) {
        *extra = *rest = 0;
        return d;
    }
    while (d >> (bits + 2))
        bits++;
    *extra = bits;
    *rest = d & ((1 << bits) - 1);
    return 2 * bits + (d >> bits);
}

/* ---- blocks */

static void put_lengths(writer *w, const code *literals, const code *distances)
{
    int64_t weight[LENGTH_CODES] = {0};
    code lengths;
    for (int k = 0; k < LITERALS; k++)
        weight[literals->length[k]]++;
    for (int k = 0; k < DISTANCES; k++)
        weight[distances->length[k]]++;
    make_code(&lengths, weight, LENGTH_CODES, 7);
    put(w, LITERALS - 257, 5);
    put(w, DISTANCES - 1, 5);
    put(w, LENGTH_CODES - 4, 4);
    for (int k = 0; k < LENGTH_CODES; k++)
        put(w, lengths.length[order_of_lengths[k]], 3);
    for (int k = 0; k < LITERALS + DISTANCES; k++) {
        int length = k < LITERALS ? literals->length[k] : distances->length[k - LITERALS];
        put(w, lengths.bits[length], lengths.length[length]);
    }
}

static void put_block(writer *w, const token *tokens, int count, bool last)
{
    int64_t weight[LITERALS] = {[END] = 1}, distance_weight[DISTANCES] = {0};
    code literals, distances;
    int extra, rest;
    for (int k = 0; k < count; k++) {
        int value = tokens[k].value;
        weight[tokens[k].distance ? 257 + length_code(value) : value]++;
        if (tokens[k].distance)
            distance_weight[distance_code(tokens[k].distance, &extra, &rest)]++;
    }
    make_code(&literals, weight, LITERALS, LONGEST_CODE);
    make_code(&distances, distance_weight, DISTANCES, LONGEST_CODE);
    put(w, last, 1);
    put(w, 2, 2); /* codes of its own */
    put_lengths(w, &literals, &distances);
    for (int k = 0; k < count; k++) {
        int value = tokens[k].value, symbol = value;
        if (tokens[k].distance) {
            int of_length = length_code(value);
            symbol = 257 + of_length;
            put(w, literals.bits[symbol], literals.length[symbol]);
            put(w, (uint32_t)(value - length_base[of_length]), length_bits[of_length]);
            symbol = distance_code(tokens[k].distance, &extra, &rest);
            put(w, distances.bits[symbol], distances.length[symbol]);
            put(w, (uint32_t)rest, extra);
        } else {
            put(w, literals.bits[symbol], literals.length[symbol]);
        }
    }
    put(w, literals.bits[END], literals.length[END]);
}

static uint32_t hash_at(const unsigned char *p)
{
    uint32_t word;
    memcpy(&word, p, sizeof word);
    return word * 2654435761u >> 17;
}

/* The match at `at`, or a literal. */
static token next_token(work *w, const unsigned char *bytes, int64_t at, int64_t count)
{
    token literal = {bytes[at], 0};
    if (at + SHORTEST > count)
        return literal;
    int32_t *latest = &w->latest[hash_at(bytes + at)];
    int64_t from = (int64_t)*latest - 1;
    *latest = (int32_t)(at + 1);
    if (from < 0 || at - from > WINDOW)
        return literal;
    int length = 0;
    while (length < LONGEST && at + length < count && bytes[from + length] == bytes[at + length])
        length++;
    return length < SHORTEST ? literal : (token){(uint16_t)length, (uint16_t)(at - from)};
}

void taut_deflate(taut_bytes *to, const unsigned char *bytes, int64_t count)
{
    work *w = TAUT_NEW(to->arena, work, 1);
    writer out = {.to = to};
    if (!w || count >= INT32_MAX) {
        to->failed = true;
        return;
    }
    for (int64_t at = 0; at < count || count == 0;) {
        int tokens = 0;
        while (tokens < BLOCK && at < count) {
            token t = next_token(w, bytes, at, count);
            w->token[tokens++] = t;
            at += t.distance ? t.value : 1;
        }
        put_block(&out, w->token, tokens, at >= count);
        if (count == 0)
            break;
    }
    put(&out, 0, 7); /* to the end of a byte */
}

void taut_base64(taut_bytes *to, const unsigned char *bytes, int64_t count)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (int64_t k = 0; k < count; k += 3) {
        uint32_t word = (uint32_t)bytes[k] << 16 |
                        (k + 1 < count ? (uint32_t)bytes[k + 1] << 8 : 0) |
                        (k + 2 < count ? bytes[k + 2] : 0);
        char four[4] = {digits[word >> 18], digits[word >> 12 & 63],
                        k + 1 < count ? digits[word >> 6 & 63] : '=',
                        k + 2 < count ? digits[word & 63] : '='};
        taut_bytes_add(to, four, 4);
    }
}
