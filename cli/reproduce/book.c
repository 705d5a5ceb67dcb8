/* book.c - the results of recipes on one page that needs nothing else: tables, verdicts, pictures,
 * explanations, and what the best method of Taut does. The page around it is made of web/book.html
 * by cmake/Page.cmake. Every text is written as text: <, >, & and quotes never reach the browser as
 * markup, and the page forbids itself any request. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reproduce/reproduce.h"

typedef struct book {
    const cli_call *call;
    FILE *out;
    const recipe_result *result;
    int count;
    char *items, *papers; /* texts of list.txt and papers.txt */
} book;

/* ---- texts and pictures */

static void put(FILE *out, const char *text)
{
    for (; *text; text++) {
        static const char special[] = "<>&\"'";
        static const char *const written[] = {"&lt;", "&gt;", "&amp;", "&quot;", "&#39;"};
        const char *at = strchr(special, *text);
        if (at)
            fputs(written[at - special], out);
        else
            putc(*text, out);
    }
}

/* <p class="name">text</p> and the like; no class: NULL. */
static void put_element(FILE *out, const char *element, const char *class, const char *text)
{
    fprintf(out, class ? "<%s class=\"%s\">" : "<%s>", element, class);
    put(out, text);
    fprintf(out, "</%s>\n", element);
}

static void put_base64(FILE *out, const unsigned char *bytes, size_t count)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t k = 0; k < count; k += 3) {
        unsigned long three = (unsigned long)bytes[k] << 16;
        three |= k + 1 < count ? (unsigned long)bytes[k + 1] << 8 : 0;
        three |= k + 2 < count ? bytes[k + 2] : 0;
        for (size_t j = 0; j < 4; j++)
            putc(k + j <= count ? digits[three >> (18 - 6 * j) & 63] : '=', out);
    }
}

static int put_picture(const book *b, const char *path, const char *title)
{
    size_t length = 0;
    const char *why = NULL;
    char *bytes = cli_read_path(path, 1 << 24, &length, &why);
    if (!bytes)
        return cli_refuse(b->call, "--out: cannot read '%s' again: %s", path, why);
    fputs("<figure><img alt=\"", b->out);
    put(b->out, title);
    fputs("\" src=\"data:image/png;base64,", b->out);
    put_base64(b->out, (unsigned char *)bytes, length);
    fputs("\"><figcaption>", b->out);
    put(b->out, title);
    fputs("</figcaption></figure>\n", b->out);
    free(bytes);
    return 0;
}

/* ---- a recipe */

static const char *class_of(int verdict)
{
    return verdict == RECIPE_UNEXPLAINED ? "unexplained" : recipe_verdict_names[verdict];
}

static void put_counts(FILE *out, const int counts[RECIPE_VERDICTS])
{
    const char *between = "";
    for (int v = 0; v < RECIPE_VERDICTS; v++)
        if (counts[v] > 0) {
            fprintf(out, "%s<span class=\"%s\">%d %s</span>", between, class_of(v), counts[v],
                    class_of(v));
            between = ", ";
        }
}

static void put_numbers(FILE *out, const recipe_result *r)
{
    fputs("<div class=\"wide\"><table class=\"numbers\">\n<tr><th></th><th>Taut</th><th>", out);
    put(out, r->heading);
    fputs("</th><th>verdict</th><th></th></tr>\n", out);
    for (int i = 0; i < r->count; i++) {
        const recipe_number *x = &r->number[i];
        fputs("<tr><td>", out);
        put(out, x->field[0]);
        fprintf(out, "</td><td class=\"number\">%.*g</td><td class=\"number\">", x->digits,
                x->ours);
        put(out, x->field[1]);
        fprintf(out, "</td><td class=\"%s\">%s</td><td>", class_of((int)x->verdict),
                recipe_verdict_names[x->verdict]);
        put(out, recipe_number_note(x));
        fputs("</td></tr>\n", out);
    }
    fputs("</table></div>\n", out);
}

static void put_number(FILE *out, double value)
{
    fprintf(out, isfinite(value) ? "<td class=\"number\">%.1e</td>" : "<td></td>", value);
}

static void put_best(FILE *out, const recipe_best *best)
{
    fputs("<h4>The best method of Taut on this problem</h4>\n", out);
    fputs("<pre><code>", out);
    put(out, best->command);
    fputs("</code></pre>\n", out);
    if (best->same) {
        fprintf(out, "<p>The same as for <a href=\"#%s\">%s</a>.</p>\n", best->same, best->same);
        return;
    }
    if (best->model) {
        fputs("<details><summary>model.taut</summary><pre>", out);
        put(out, best->model);
        fputs("</pre></details>\n", out);
    }
    if (best->failure) {
        put_element(out, "p", "failure", best->failure);
        return;
    }
    fputs("<div class=\"wide\"><table>\n<tr><th>method</th><th>error</th><th>of velocities</th>"
          "<th>evaluations</th><th>steps or passes</th></tr>\n",
          out);
    for (int i = 0; i < best->rows; i++) {
        fputs("<tr><td>", out);
        put(out, best->row[i].name);
        fputs("</td>", out);
        put_number(out, best->row[i].error);
        put_number(out, best->row[i].error_velocity);
        fprintf(out, "<td class=\"number\">%lld</td><td class=\"number\">%lld</td></tr>\n",
                (long long)best->row[i].evaluations, (long long)best->row[i].steps);
    }
    fputs("</table></div>\n", out);
    put_element(out, "p", "note", best->explanation);
}

static int put_recipe(const book *b, const recipe_result *r)
{
    FILE *out = b->out;
    int status = 0;
    fprintf(out, "<section id=\"%s\">\n<h3>%s: ", r->recipe->name, r->recipe->name);
    put(out, r->recipe->what);
    fputs("</h3>\n", out);
    put_element(out, "p", "note", r->recipe->source);
    if (r->failure)
        put_element(out, "p", "failure", r->failure);
    else if (r->count == 0)
        put_element(out, "p", "failure", "the printed numbers are missing");
    for (int k = 0; k < r->pictures && status == 0; k++)
        status = put_picture(b, r->picture[k].path, r->picture[k].title);
    fprintf(out, "<details%s><summary>%d numbers: ", r->count <= 40 ? " open" : "", r->count);
    put_counts(out, r->counts);
    fputs("</summary>\n", out);
    if (r->count > 0)
        put_numbers(out, r);
    fputs("</details>\n", out);
    if (r->notes && r->notes[0])
        put_element(out, "p", NULL, r->notes);
    if (r->best.command)
        put_best(out, &r->best);
    fputs("</section>\n", out);
    return status;
}

/* ---- a paper */

static bool of_paper(const recipe_result *r, const char *paper)
{
    return (r->recipe->name[0] | 32) == (paper[0] | 32);
}

static bool has_recipe(const book *b, const char *name)
{
    for (int k = 0; k < b->count; k++)
        if (strcmp(b->result[k].recipe->name, name) == 0)
            return true;
    return false;
}

/* Which of its tables and figures are here. */
static void put_items(const book *b, const char *paper)
{
    recipe_item x;
    char *text = cli_format("%s", b->items);
    fputs("<details><summary>its tables, figures and theorems</summary><ul>\n", b->out);
    for (char *rest = text; rest && recipe_item_next(&rest, &x);) {
        if (strcmp(x.field[0], paper) != 0)
            continue;
        fputs("<li>", b->out);
        put(b->out, x.field[1]);
        if (has_recipe(b, x.field[2]))
            fprintf(b->out, ": <a href=\"#%s\">%s</a>", x.field[2], x.field[2]);
        else
            fprintf(b->out, ": %s", x.state);
        fputs(x.field[3][0] ? ", " : "", b->out);
        put(b->out, x.field[3]);
        fputs("</li>\n", b->out);
    }
    fputs("</ul></details>\n", b->out);
    free(text);
}

/* The title, or the remarks, of a paper. */
static void put_paper(const book *b, const char *paper, bool title)
{
    char *text = cli_format("%s", b->papers), *field[RECIPE_FIELDS];
    bool any = false;
    for (char *rest = text, *line; (line = recipe_line(&rest));) {
        if (line[0] == '#' || line[0] == '\0')
            continue;
        recipe_cut(line, field);
        if (strcmp(field[0], paper) != 0 || (strcmp(field[1], "title") == 0) != title)
            continue;
        if (title) {
            put_element(b->out, "p", NULL, field[3]);
            continue;
        }
        fputs(any ? "" : "<details><summary>misprints and omissions</summary><ul>\n", b->out);
        any = true;
        fputs("<li>", b->out);
        put(b->out, field[2]);
        fputs(": ", b->out);
        put(b->out, field[3]);
        fputs("</li>\n", b->out);
    }
    fputs(any ? "</ul></details>\n" : "", b->out);
    free(text);
}

static void put_contents(const book *b)
{
    char open = 0;
    fputs("<nav><details open><summary>contents</summary>\n<ul>\n", b->out);
    for (int k = 0; k < b->count; k++) {
        const recipe_result *r = &b->result[k];
        char letter = (char)(r->recipe->name[0] & ~32);
        if (letter != open)
            fprintf(b->out, "%s<li><a href=\"#%c\">Paper %c</a><ul>\n", open ? "</ul></li>\n" : "",
                    letter, letter);
        open = letter;
        fprintf(b->out, "<li><a href=\"#%s\">%s</a> ", r->recipe->name, r->recipe->name);
        if (r->counts[RECIPE_UNEXPLAINED] > 0 || r->failure || r->count == 0)
            fputs("<span class=\"unexplained\">UNEXPLAINED</span>", b->out);
        fputs("</li>\n", b->out);
    }
    fputs(open ? "</ul></li>\n" : "", b->out);
    fputs("</ul>\n</details></nav>\n", b->out);
}

static int put_all(const book *b)
{
    int status = 0, total[RECIPE_VERDICTS] = {0};
    char paper[2] = "";
    for (int k = 0; k < b->count; k++)
        for (int v = 0; v < RECIPE_VERDICTS; v++)
            total[v] += b->result[k].counts[v];
    fwrite(recipe_book_head, 1, recipe_book_head_size, b->out);
    put_contents(b);
    fprintf(b->out,
            "<article>\n<p>Computed by Taut %s. Each number is compared with the published "
            "one: ",
            taut_version());
    put_counts(b->out, total);
    fputs(". <em>equal</em>: to the printed digits; <em>within</em>: a stated range, of fits, "
          "orders and counts; <em>explained</em>: a misprint, a number that was truncated, another "
          "way of measuring, with the reason. Where a paper has a figure without numbers, "
          "they are from an independent computation, or from the theory.</p>\n",
          b->out);
    for (int k = 0; k < b->count && status == 0; k++) {
        const recipe_result *r = &b->result[k];
        if (!of_paper(r, paper)) {
            paper[0] = (char)(r->recipe->name[0] & ~32);
            fprintf(b->out, "<h2 id=\"%s\">Paper %s</h2>\n", paper, paper);
            put_paper(b, paper, true);
            put_items(b, paper);
            put_paper(b, paper, false);
        }
        status = put_recipe(b, r);
    }
    fputs("</article>\n", b->out);
    fwrite(recipe_book_tail, 1, recipe_book_tail_size, b->out);
    return status;
}

int recipe_book_write(const cli_call *call, const char *path, const char *folder,
                      const recipe_result *results, int count)
{
    book b = {.call = call, .result = results, .count = count};
    cli_output output;
    taut_error error;
    int status = CLI_MISUSED;
    b.items = recipe_file(call, folder, "list");
    b.papers = b.items ? recipe_file(call, folder, "papers") : NULL;
    if (b.papers) {
        status = 0;
        if (cli_output_open(&output, path)) {
            b.out = output.file;
            status = put_all(&b);
            output.reason = status != 0 ? EIO : 0;
        }
        int closed = cli_output_close(&output, "out", &error);
        status = status != 0 ? status : closed;
    }
    free(b.items);
    free(b.papers);
    return status;
}
