/* command.c - a command becomes words without a shell: blanks separate; "..." and '...' group; a
 * backslash outside '...' takes the next character as it is. Nothing is expanded. */
#include <string.h>

#include "blackbox/flows.h"

enum { MOST_WORDS = 256 };

static bool blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Copies one word to *to, past its end; false when a quote is not closed. */
static bool take_word(const char **from, char **to)
{
    const char *c = *from;
    char *out = *to, quote = 0;
    for (; *c && (quote || !blank(*c)); c++) {
        if (*c == quote)
            quote = 0;
        else if (!quote && (*c == '"' || *c == '\''))
            quote = *c;
        else if (*c == '\\' && quote != '\'' && c[1])
            *out++ = *++c;
        else
            *out++ = *c;
    }
    *out++ = '\0';
    *from = c;
    *to = out;
    return !quote;
}

int taut_command_split(const char *command, taut_arena *arena, char ***words, taut_error *error)
{
    char *text = TAUT_NEW(arena, char, 2 * strlen(command) + 2),
         **word = TAUT_NEW(arena, char *, MOST_WORDS + 1);
    TAUT_TRY(taut_arena_check(arena, error));
    int count = 0;
    for (const char *c = command;;) {
        while (blank(*c))
            c++;
        if (!*c)
            break;
        if (count == MOST_WORDS)
            return taut_fail(error, TAUT_ERROR_USAGE, "[stepper] command: more than %d words",
                             MOST_WORDS);
        word[count++] = text;
        if (!take_word(&c, &text))
            return taut_fail(error, TAUT_ERROR_USAGE,
                             "[stepper] command: a quote is not closed in '%.200s'", command);
    }
    if (count == 0 || !word[0][0])
        return taut_fail(error, TAUT_ERROR_USAGE,
                         "[stepper] command: expected a program, found nothing");
    word[count] = NULL;
    *words = word;
    return TAUT_OK;
}
