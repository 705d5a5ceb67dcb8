/* json.c - writes JSON to a stream: one object, correct whatever bytes the names hold. */
#include <math.h>
#include <string.h>

#include "cli.h"

/* Bytes of the UTF-8 sequence at s, 0 when it is not valid. */
static int sequence_length(const unsigned char *s)
{
    if (s[0] < 0x80)
        return 1;
    int length = s[0] >= 0xc2 && s[0] <= 0xdf   ? 2
                 : (s[0] & 0xf0) == 0xe0        ? 3
                 : s[0] >= 0xf0 && s[0] <= 0xf4 ? 4
                                                : 0;
    for (int k = 1; k < length; k++)
        if ((s[k] & 0xc0) != 0x80)
            return 0;
    /* overlong forms, surrogates, beyond U+10FFFF */
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
        (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
        return 0;
    return length;
}

static void put_string(FILE *out, const char *text)
{
    fputc('"', out);
    for (const unsigned char *s = (const unsigned char *)text; *s;) {
        int length = sequence_length(s);
        if (length == 0) {
            fputs("\\ufffd", out);
            s++;
            continue;
        }
        if (*s == '"' || *s == '\\')
            fprintf(out, "\\%c", *s);
        else if (*s == '\n')
            fputs("\\n", out);
        else if (*s < 0x20 || *s == 0x7f)
            fprintf(out, "\\u%04x", *s);
        else if (*s == 0xc2 && s[1] < 0xa0) /* U+0080 to U+009F: control characters */
            fprintf(out, "\\u%04x", s[1]);
        else
            fwrite(s, 1, (size_t)length, out);
        s += length;
    }
    fputc('"', out);
}

static void put_real(FILE *out, double value)
{
    if (isfinite(value))
        fprintf(out, "%.17g", value);
    else
        fputs("null", out);
}

/* The text before an entry: comma, line break, key. */
static void lead(cli_json *json, const char *key)
{
    if (json->depth > 0) {
        if (json->filled[json->depth])
            fputs(json->flat[json->depth] ? ", " : ",", json->out);
        if (!json->flat[json->depth])
            fprintf(json->out, "\n%*s", 2 * json->depth, "");
        json->filled[json->depth] = true;
    }
    if (key) {
        put_string(json->out, key);
        fputs(": ", json->out);
    }
}

static void open_level(cli_json *json, const char *key, char bracket, bool flat)
{
    lead(json, key);
    fputc(bracket, json->out);
    json->depth++;
    json->filled[json->depth] = false;
    json->flat[json->depth] = flat || json->flat[json->depth - 1];
}

void cli_json_open(cli_json *json, const char *key, char bracket)
{
    open_level(json, key, bracket, false);
}

void cli_json_open_flat(cli_json *json, const char *key, char bracket)
{
    open_level(json, key, bracket, true);
}

void cli_json_close(cli_json *json, char bracket)
{
    json->depth--;
    if (json->filled[json->depth + 1] && !json->flat[json->depth + 1])
        fprintf(json->out, "\n%*s", 2 * json->depth, "");
    fputc(bracket, json->out);
    if (json->depth == 0)
        fputc('\n', json->out);
}

void cli_json_text(cli_json *json, const char *key, const char *text)
{
    lead(json, key);
    if (text)
        put_string(json->out, text);
    else
        fputs("null", json->out);
}

void cli_json_real(cli_json *json, const char *key, double value)
{
    lead(json, key);
    put_real(json->out, value);
}

void cli_json_integer(cli_json *json, const char *key, int64_t value)
{
    lead(json, key);
    fprintf(json->out, "%lld", (long long)value);
}

void cli_json_bool(cli_json *json, const char *key, bool value)
{
    lead(json, key);
    fputs(value ? "true" : "false", json->out);
}

void cli_json_reals(cli_json *json, const char *key, const double *value, int64_t count)
{
    if (!value && count > 0) {
        cli_json_text(json, key, NULL);
        return;
    }
    cli_json_open_flat(json, key, '[');
    for (int64_t k = 0; k < count; k++)
        cli_json_real(json, NULL, value[k]);
    cli_json_close(json, ']');
}

void cli_json_names(cli_json *json, const char *key, const taut_system *system, taut_item item,
                    int64_t count)
{
    cli_json_open_flat(json, key, '[');
    for (int64_t k = 0; k < count; k++) {
        char name[256];
        taut_system_name(system, item, (taut_index)k, name, sizeof name);
        cli_json_text(json, NULL, name);
    }
    cli_json_close(json, ']');
}

void cli_json_state(cli_json *json, const taut_system *system, const double *q, const double *v,
                    const double *lambda)
{
    taut_sizes sizes = {.size = sizeof sizes};
    taut_system_sizes_get(system, &sizes, NULL);
    bool mechanical = sizes.kind == TAUT_MECHANICAL;
    cli_json_open(json, "names", '{');
    cli_json_names(json, mechanical ? "q" : "state", system, TAUT_COORDINATE, sizes.coordinates);
    if (mechanical)
        cli_json_names(json, "lambda", system, TAUT_BOND, sizes.bonds);
    else
        cli_json_names(json, "algebraic", system, TAUT_ALGEBRAIC, sizes.algebraic);
    cli_json_close(json, '}');
    cli_json_reals(json, mechanical ? "q" : "state", q, sizes.coordinates);
    cli_json_reals(json, mechanical ? "v" : "algebraic", v,
                   mechanical ? sizes.coordinates : sizes.algebraic);
    if (mechanical)
        cli_json_reals(json, "lambda", lambda, sizes.bonds);
}

void cli_json_error(cli_json *json, const taut_error *error)
{
    char message[CLI_MESSAGE];
    cli_message(error, message, sizeof message);
    cli_json_open(json, "error", '{');
    cli_json_text(json, "code", taut_code_name(error->code));
    cli_json_text(json, "message", message);
    cli_json_text(json, "option", error->option[0] ? error->option : NULL);
    cli_json_text(json, "file", error->file[0] ? error->file : NULL);
    if (error->line > 0) {
        cli_json_integer(json, "line", error->line);
        cli_json_integer(json, "column", error->column);
    } else {
        cli_json_text(json, "line", NULL);
        cli_json_text(json, "column", NULL);
    }
    cli_json_close(json, '}');
}

void cli_json_failure(const taut_error *error)
{
    cli_json json = {.out = stdout};
    cli_json_open(&json, NULL, '{');
    cli_json_text(&json, "status", "failed");
    cli_json_error(&json, error);
    cli_json_close(&json, '}');
}
