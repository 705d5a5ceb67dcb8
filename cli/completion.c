/* completion.c - completion scripts for bash, zsh and fish, from the tables: `taut help
 * --completion SHELL`.
 *
 * Names of models are requested from the program when they are needed, so that a script stays right
 * when models come and go. */
#include <string.h>

#include "reproduce/reproduce.h"

static bool takes_file(const taut_option *option)
{
    return option->argument && strcmp(option->argument, "FILE") == 0;
}

static bool takes_model(const cli_verb *verb)
{
    return strcmp(verb->operand, "MODEL") == 0 || strcmp(verb->operand, "[MODEL]") == 0;
}

/* All options of a verb as words, "--a --b -q". */
static void put_options(FILE *out, const char *verb)
{
    const taut_option *option;
    const char *separator = "";
    for (int k = 0; (option = cli_option_get(k)) != NULL; k++)
        if (cli_option_belongs(option, verb)) {
            fprintf(out, "%s--%s", separator, option->name);
            separator = " ";
        }
}

static void put_choices(FILE *out, const taut_option *option, const char *verb)
{
    char choice[64];
    for (int k = 0; cli_option_choice(option, verb, k, choice, sizeof choice); k++)
        fprintf(out, "%s%s", k ? " " : "", choice);
}

static bool has_choices(const taut_option *option)
{
    char choice[64];
    return cli_option_choice(option, NULL, 0, choice, sizeof choice);
}

/* Do verbs mean different things by this option? */
static bool differs(const taut_option *option)
{
    return strcmp(option->name, "method") == 0;
}

/* What can be reproduced. */
static void put_recipes(FILE *out)
{
    for (const recipe_row *recipe = recipe_table; recipe->name; recipe++)
        fprintf(out, " %s", recipe->name);
    fprintf(out, " all");
}

/* What can be explained: verbs, methods, projections. */
static void put_topics(FILE *out)
{
    for (const cli_verb *verb = cli_verbs; verb->name; verb++)
        fprintf(out, " %s", verb->name);
    fprintf(out, " ");
    put_choices(out, cli_option_find("method", "run"), NULL);
}

/* What follows an option: its choices, a file, or a value that cannot be completed. */
static void bash_value(FILE *out, const taut_option *option)
{
    fprintf(out, "    --%s) ", option->name);
    if (differs(option)) {
        fprintf(out, "if [ \"${COMP_WORDS[1]}\" = project ]; then _taut_words '");
        put_choices(out, option, "project");
        fprintf(out, "'; else _taut_words '");
        put_choices(out, option, "run");
        fprintf(out, "'; fi; ");
    } else if (has_choices(option)) {
        fprintf(out, "_taut_words '");
        put_choices(out, option, NULL);
        fprintf(out, "'; ");
    } else if (takes_file(option)) {
        fprintf(out, "mapfile -t COMPREPLY < <(compgen -f -- \"$word\"); ");
    }
    fprintf(out, "return ;;\n");
}

static void bash_script(FILE *out)
{
    const taut_option *option;
    fprintf(out,
            "# bash completion for taut\n"
            "_taut_words() {\n    mapfile -t COMPREPLY < <(compgen -W \"$1\" -- \"$word\")\n}\n"
            "_taut_models() {\n    mapfile -t COMPREPLY < <(compgen -W \"$(taut models --names "
            "2>/dev/null)\" -- \"$word\"\n"
            "        compgen -f -- \"$word\")\n}\n"
            "_taut() {\n    local word=\"${COMP_WORDS[COMP_CWORD]}\" "
            "before=\"${COMP_WORDS[COMP_CWORD-1]}\"\n"
            "    COMPREPLY=()\n"
            "    [ \"$word\" = = ] && word=\n" /* --name=VALUE comes as three words */
            "    [ \"$before\" = = ] && before=\"${COMP_WORDS[COMP_CWORD-2]}\"\n"
            "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n        _taut_words '");
    for (const cli_verb *verb = cli_verbs; verb->name; verb++)
        fprintf(out, "%s ", verb->name);
    fprintf(out, "--help --version'\n        return\n    fi\n    case \"$before\" in\n");
    for (int k = 0; (option = cli_option_get(k)) != NULL; k++)
        if (option->type != TAUT_OPTION_FLAG)
            bash_value(out, option);
    fprintf(out, "    esac\n    case \"${COMP_WORDS[1]} $word\" in\n");
    for (const cli_verb *verb = cli_verbs; verb->name; verb++) {
        if (takes_model(verb))
            fprintf(out, "    \"%s -\"*) ;;\n    \"%s \"*) _taut_models; return ;;\n", verb->name,
                    verb->name);
    }
    fprintf(out, "    esac\n    case \"${COMP_WORDS[1]}\" in\n");
    for (const cli_verb *verb = cli_verbs; verb->name; verb++) {
        fprintf(out, "    %s) _taut_words '", verb->name);
        put_options(out, verb->name);
        if (strcmp(verb->operand, "[VERB]") == 0)
            put_topics(out);
        if (strcmp(verb->operand, "[NAME]") == 0)
            put_recipes(out);
        fprintf(out, "' ;;\n");
    }
    fprintf(out, "    esac\n}\ncomplete -o filenames -F _taut taut\n");
}

/* Text inside single quotes of zsh's _arguments: its own special characters go. */
static void put_zsh(FILE *out, const char *text)
{
    for (; *text; text++)
        if (*text == '\'')
            fputs("'\\''", out);
        else if (strchr("[]:", *text))
            fprintf(out, "\\%c", *text);
        else
            fputc(*text == '`' ? '"' : *text, out);
}

static void zsh_option(FILE *out, const taut_option *option, const char *verb)
{
    char help[600];
    cli_option_help(option, verb, help, sizeof help);
    fprintf(out, " \\\n            '%s--%s%s[", option->repeats ? "*" : "", option->name,
            option->type == TAUT_OPTION_FLAG ? "" : "=");
    put_zsh(out, help);
    fprintf(out, "]");
    if (option->type != TAUT_OPTION_FLAG) {
        fprintf(out, ":");
        put_zsh(out, option->argument);
        fprintf(out, ":");
        if (has_choices(option)) {
            fprintf(out, "(");
            put_choices(out, option, verb);
            fprintf(out, ")");
        } else if (takes_file(option)) {
            fprintf(out, "_files");
        }
    }
    fprintf(out, "'");
}

static void zsh_script(FILE *out)
{
    const taut_option *option;
    fprintf(out, "#compdef taut\n# zsh completion for taut\n_taut_models() {\n    local -a names\n"
                 "    names=(${(f)\"$(taut models --names 2>/dev/null)\"})\n    _alternative "
                 "'names:model:compadd -a names' "
                 "'files:file:_files'\n}\n"
                 "_taut() {\n    local -a verbs\n    verbs=(\n");
    for (const cli_verb *verb = cli_verbs; verb->name; verb++) {
        fprintf(out, "        '%s:", verb->name);
        put_zsh(out, verb->summary);
        fprintf(out, "'\n");
    }
    fprintf(out,
            "    )\n    if (( CURRENT == 2 )); then\n        _describe 'verb' verbs\n        "
            "return\n    fi\n"
            "    local verb=$words[2]\n    shift words\n    (( CURRENT-- ))\n    case $verb in\n");
    for (const cli_verb *verb = cli_verbs; verb->name; verb++) {
        fprintf(out, "    %s)\n        _arguments", verb->name);
        for (int k = 0; (option = cli_option_get(k)) != NULL; k++)
            if (cli_option_belongs(option, verb->name))
                zsh_option(out, option, verb->name);
        if (takes_model(verb))
            fprintf(out, " \\\n            '1:model:_taut_models'");
        if (strcmp(verb->operand, "[VERB]") == 0) {
            fprintf(out, " \\\n            '1:verb or method:(");
            put_topics(out);
            fprintf(out, ")'");
        }
        if (strcmp(verb->operand, "[NAME]") == 0) {
            fprintf(out, " \\\n            '1:name:(");
            put_recipes(out);
            fprintf(out, ")'");
        }
        fprintf(out, "\n        ;;\n");
    }
    fprintf(out, "    esac\n}\n_taut \"$@\"\n");
}

static void put_fish(FILE *out, const char *text)
{
    for (; *text; text++)
        if (*text == '\'' || *text == '\\')
            fprintf(out, "\\%c", *text);
        else
            fputc(*text, out);
}

/* One line for all verbs that have the option, or, when they differ in its values, for `only`. */
static void fish_option(FILE *out, const taut_option *option, const char *only)
{
    fprintf(out, "complete -c taut -n '__fish_seen_subcommand_from");
    for (const cli_verb *verb = cli_verbs; verb->name; verb++)
        if (cli_option_belongs(option, verb->name) && (!only || strcmp(verb->name, only) == 0))
            fprintf(out, " %s", verb->name);
    fprintf(out, "' -l %s", option->name);
    if (cli_option_letter(option->name))
        fprintf(out, " -s %c", cli_option_letter(option->name));
    if (option->type != TAUT_OPTION_FLAG)
        fprintf(out, takes_file(option) ? " -r -F" : " -x");
    if (has_choices(option)) {
        fprintf(out, " -a '");
        put_choices(out, option, only);
        fprintf(out, "'");
    }
    fprintf(out, " -d '");
    put_fish(out, option->help);
    fprintf(out, "'\n");
}

static void fish_script(FILE *out)
{
    const taut_option *option;
    fprintf(out, "# fish completion for taut\n");
    for (const cli_verb *verb = cli_verbs; verb->name; verb++) {
        fprintf(out, "complete -c taut -f -n __fish_use_subcommand -a %s -d '", verb->name);
        put_fish(out, verb->summary);
        fprintf(out, "'\n");
        if (takes_model(verb))
            fprintf(out,
                    "complete -c taut -n '__fish_seen_subcommand_from %s' -a '(taut models --names "
                    "2>/dev/null)' -d model\n",
                    verb->name);
        if (strcmp(verb->operand, "[NAME]") == 0) {
            fprintf(out, "complete -c taut -f -n '__fish_seen_subcommand_from %s' -a '",
                    verb->name);
            put_recipes(out);
            fprintf(out, "'\n");
        }
    }
    fprintf(out, "complete -c taut -f -n '__fish_seen_subcommand_from help' -a '");
    put_topics(out);
    fprintf(out, "'\n");
    for (int k = 0; (option = cli_option_get(k)) != NULL; k++)
        for (const cli_verb *verb = cli_verbs; verb->name; verb++)
            if (!differs(option)) {
                fish_option(out, option, NULL);
                break;
            } else if (cli_option_belongs(option, verb->name))
                fish_option(out, option, verb->name);
}

bool cli_completion(FILE *out, const char *shell)
{
    if (strcmp(shell, "bash") == 0)
        bash_script(out);
    else if (strcmp(shell, "zsh") == 0)
        zsh_script(out);
    else if (strcmp(shell, "fish") == 0)
        fish_script(out);
    else
        return false;
    return true;
}
