/* test_hostile.c - model texts made to do harm: huge, deep, cut, mutated, binary; and memory
 * that fails while they are read.
 *
 * The answer is always a sound document or an error with a place, in bounded time and memory. */
#include "model/document.h"

#include "support/faulty.h"
#include "support/forms.h"
#include "support/table.h"

/* ---- sound answers */

/* The trees of a document keep their promises. Returns false where one does not. */
static bool sound_tree(const taut_document *document, const taut_tree *tree, int height)
{
    if (!tree || tree->height > height || tree->place.offset < 0 ||
        tree->end.offset <= tree->place.offset || (size_t)tree->end.offset > document->length ||
        tree->place.line < 1 || tree->place.column < 1)
        return false;
    for (int32_t k = 0; k < tree->count + tree->member_count; k++)
        if (!sound_tree(document, tree->child[k], tree->height - 1))
            return false;
    for (int32_t k = 0; k < tree->iterators; k++)
        if (!tree->iterator[k].name ||
            !sound_tree(document, tree->iterator[k].first, tree->height - 1) ||
            !sound_tree(document, tree->iterator[k].last, tree->height - 1))
            return false;
    return true;
}

static bool sound_item(const taut_document *document, const taut_item_tree *item)
{
    if ((!item->value && !item->raw) ||
        (item->value && !sound_tree(document, item->value, TAUT_HEIGHT_LIMIT)) ||
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
        good = *status == error.code && !document && error.message[0] && printable(error.message) &&
               printable(error.source) &&
               (*status == TAUT_ERROR_SIZE ||
                (*status == TAUT_ERROR_MODEL && error.line > 0 && error.column > 0));
    }
    taut_arena_clear(&arena);
    return good;
}

/* ---- large texts */

static void check_large(void)
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
        size_t head = strlen(rows[k].head),
               period = rows[k].pattern[0] ? strlen(rows[k].pattern) : 1;
        size_t whole = head + (TAUT_TEXT_LIMIT - head) / period * period;
        memcpy(text, rows[k].head, head);
        for (size_t j = head; j < whole; j++)
            text[j] = rows[k].pattern[(j - head) % period];
        int status = 1;
        bool good = behaves(text, whole, &status);
        check_row(good && status == rows[k].status, "%s: status %d, expected %d%s", rows[k].name,
                  status, rows[k].status, good ? "" : ", unsound");
    }
    free(text);
}

/* ---- truncation, mutation, failing memory */

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

/* One change: a byte, a word of the language, a piece moved, a piece lost. Returns the new
 * length. */
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
    size_t at = draw(state) % (length + 1), span = draw(state) % 24,
           from = draw(state) % (length + 1);
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
    check_row(refused > COUNT / 10 && accepted > COUNT / 50, "%d refused, %d accepted", refused,
              accepted);
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

/* An arena asks for a block only now and then: what is taken from it beforehand moves the call
 * that fails through the text. */
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
            wrong += f.failed && k > 1
                         ? status != TAUT_ERROR_MEMORY || error.code != status || document
                         : f.failed == 0 && !finished;
            leaks += f.live != 0;
        }
    }
    check_row(failures > 300 && successes == 86, "%lld failed, %lld came to their end",
              (long long)failures, (long long)successes);
    check_equal("wrong answers", wrong, 0);
    check_equal("leaks", leaks, 0);
    free(text);
}

int main(void)
{
    check_large();
    check_truncated();
    check_mutations();
    check_garbage();
    check_memory();
    return check_done();
}
