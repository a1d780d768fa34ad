/* Completion for bash and zsh. Words that the program knows when it is built (choices, formats,
 * kinds) stand in the script, so that no program runs; cards are files, which a user may add to
 * (GPUSIM_DATA), so the script asks `gpusim list` for them. */
#include "cli/manual.h"

#include <string.h>

static void words_of(FILE *to, const char *const *word)
{
    for (size_t i = 0; word && word[i]; i++) fprintf(to, i ? " %s" : "%s", word[i]);
}

/* The command's options, then those of its formats that have another name: the n-th, or NULL. */
static const struct opt *any_option(const struct command *c, size_t n)
{
    const char *format;
    for (const struct opt *o = c->opts; o && o->name; o++)
        if (n-- == 0) return o;
    for (size_t i = 0; c->format_opts && c->format_opts(i, &format); i++)
        for (const struct opt *o = c->format_opts(i, &format); o->name; o++) {
            bool known = false;
            for (const struct opt *k = c->opts; k && k->name; k++)
                known |= !strcmp(k->name, o->name);
            for (size_t f = 0; f < i; f++)
                for (const struct opt *k = c->format_opts(f, &format); k->name; k++)
                    known |= !strcmp(k->name, o->name);
            /* cppcheck-suppress returnDanglingLifetime ; the options are of the format's table,
             * not of `format` */
            if (!known && n-- == 0) return o;
        }
    return NULL;
}

/* What a word in capitals of a command's or an option's syntax asks for. */
enum asks { ASKS_NOTHING, ASKS_FILE, ASKS_DIR };

static enum asks asks(const char *syntax)
{
    static const char *const files[] = { "FILE", "SCENARIO", "SPEC", "RESULT" };
    if (!syntax) return ASKS_NOTHING;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (strstr(syntax, files[i])) return ASKS_FILE;
    return strstr(syntax, "DIR") ? ASKS_DIR : ASKS_NOTHING;
}

/* ---- bash ---- */

static const char *const bash_reply[] = { "COMPREPLY=()", "_gpusim_reply -f", "_gpusim_reply -d" };

/* "run:--output|run:-o" */
static void bash_names(FILE *to, const struct command *c, const struct opt *o)
{
    fprintf(to, "    %s:--%s", c->name, o->name);
    if (o->letter) fprintf(to, "|%s:-%c", c->name, o->letter);
}

static void bash_values(FILE *to, const struct command *c)
{
    const struct opt *o;
    for (size_t n = 0; (o = any_option(c, n)); n++) {
        if (!o->arg) continue;
        bash_names(to, c, o);
        if (o->type == OPT_CHOICE) {
            fputs(") _gpusim_reply -W \"", to);
            words_of(to, o->choices);
            fputs("\"; return ;;\n", to);
        } else {
            fprintf(to, ") %s; return ;;\n", bash_reply[asks(o->arg)]);
        }
    }
}

/* Counts the operands before the cursor: the value of an option is none. */
static void bash_place(FILE *to)
{
    fputs("    for ((i = 2; i < COMP_CWORD; i++)); do\n"
          "        [[ ${COMP_WORDS[i + 1]} == = ]] && { ((i += 2)); continue; }\n"
          "        case $cmd:${COMP_WORDS[i]} in\n",
          to);
    const struct opt *o;
    for (const struct command *const *c = cmd_all; *c; c++)
        for (size_t n = 0; (o = any_option(*c, n)); n++) {
            if (!o->arg) continue;
            fputs("    ", to);
            bash_names(to, *c, o);
            fputs(") ((i++)) ;;\n", to);
        }
    fputs("        *:-*) ;;\n        *) ((place++)) ;;\n        esac\n    done\n", to);
}

static void bash_operands(FILE *to, const struct command *c)
{
    if (c->operand_list)
        fprintf(to,
                "    %s:0) _gpusim_reply -W \"$(\"${COMP_WORDS[0]}\" list %s 2>/dev/null | "
                "awk 'NR > 1 { print $1 }')\" ;;\n",
                c->name, c->operand_list);
    for (size_t place = 0; c->operand && c->operand(place, 0); place++) {
        const char *word;
        fprintf(to, "    %s:%zu) _gpusim_reply %s-W \"", c->name, place,
                place && asks(c->args) ? "-f " : "");
        for (size_t i = 0; (word = c->operand(place, i)); i++) fprintf(to, i ? " %s" : "%s", word);
        fputs("\" ;;\n", to);
    }
    if (asks(c->args)) fprintf(to, "    %s:*) %s ;;\n", c->name, bash_reply[asks(c->args)]);
}

void manual_bash(FILE *to)
{
    fputs("# bash completion for gpusim; written by: gpusim manual bash\n"
          "_gpusim_reply() { mapfile -t COMPREPLY < <(compgen \"$@\" -- \"$cur\"); }\n"
          "_gpusim()\n{\n"
          "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} "
          "cmd=${COMP_WORDS[1]} i place=0\n"
          "    COMPREPLY=()\n"
          "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n        _gpusim_reply -W \"help",
          to);
    for (const struct command *const *c = cmd_all; *c; c++) fprintf(to, " %s", (*c)->name);
    fputs("\"\n        return\n    fi\n"
          "    # bash splits --name=value into three words\n"
          "    if [[ $cur == = ]]; then cur=\n"
          "    elif [[ $prev == = ]]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
          "    case $cmd:$prev in\n",
          to);
    for (const struct command *const *c = cmd_all; *c; c++) bash_values(to, *c);
    fputs("    esac\n    case $cmd:$cur in\n", to);
    for (const struct command *const *c = cmd_all; *c; c++) {
        fprintf(to, "    %s:-*) _gpusim_reply -W \"--help", (*c)->name);
        const struct opt *o;
        for (size_t n = 0; (o = any_option(*c, n)); n++) fprintf(to, " --%s", o->name);
        fputs("\"; return ;;\n", to);
    }
    fputs("    esac\n", to);
    bash_place(to);
    fputs("    case $cmd:$place in\n", to);
    for (const struct command *const *c = cmd_all; *c; c++) bash_operands(to, *c);
    fputs("    esac\n}\ncomplete -o filenames -F _gpusim gpusim\n", to);
}

/* ---- zsh ---- */

static const char *const zsh_action[] = { " ", "_files", "_files -/" };

/* Text within single quotes of zsh, inside [...] of _arguments. */
static void zsh_text(FILE *to, const char *text)
{
    for (; *text; text++) {
        if (*text == '\'')
            fputs("'\\''", to);
        else if (strchr("[]:\\", *text))
            fprintf(to, "\\%c", *text);
        else
            fputc(*text, to);
    }
}

/* One spelling: "-o+" or "--output=". */
static void zsh_spelling(FILE *to, const struct opt *o, const char *spelled)
{
    fprintf(to, " \\\n            '%s%s[", o->type == OPT_LIST ? "*" : "", spelled);
    zsh_text(to, o->help ? o->help : "");
    fputc(']', to);
    if (o->arg) fprintf(to, ":%s:", o->arg);
    if (o->type == OPT_CHOICE) {
        fputc('(', to);
        words_of(to, o->choices);
        fputc(')', to);
    } else if (o->arg) {
        fputs(zsh_action[asks(o->arg)], to);
    }
    fputc('\'', to);
}

static void zsh_option(FILE *to, const struct opt *o)
{
    char spelled[80];
    snprintf(spelled, sizeof spelled, "--%s%s", o->name, o->arg ? "=" : "");
    zsh_spelling(to, o, spelled);
    if (!o->letter) return;
    snprintf(spelled, sizeof spelled, "-%c%s", o->letter, o->arg ? "+" : "");
    zsh_spelling(to, o, spelled);
}

static void zsh_operands(FILE *to, const struct command *c)
{
    if (c->operand_list)
        fprintf(to,
                " \\\n            '1:name:compadd -- "
                "${${(f)\"$($program list %s 2>/dev/null)\"}[2,-1]%%%%[[:space:]]*}'",
                c->operand_list);
    for (size_t place = 0; c->operand && c->operand(place, 0); place++) {
        const char *word;
        const bool files = place && asks(c->args);
        fprintf(to, " \\\n            '%zu:word:%s", place + 1, files ? "{ compadd --" : "(");
        for (size_t i = 0; (word = c->operand(place, i)); i++)
            fprintf(to, i || files ? " %s" : "%s", word);
        fputs(files ? "; _files }'" : ")'", to);
    }
    if (asks(c->args)) fprintf(to, " \\\n            '*:file:%s'", zsh_action[asks(c->args)]);
}

void manual_zsh(FILE *to)
{
    fputs("#compdef gpusim\n# zsh completion for gpusim; written by: gpusim manual zsh\n"
          "_gpusim() {\n    local -a commands\n    local program=$words[1]\n"
          "    commands=(\n        'help:show help'\n",
          to);
    for (const struct command *const *c = cmd_all; *c; c++) {
        fprintf(to, "        '%s:", (*c)->name);
        zsh_text(to, (*c)->help ? (*c)->help : "");
        fputs("'\n", to);
    }
    fputs("    )\n    if (( CURRENT == 2 )); then\n        _describe command commands\n"
          "        return\n    fi\n"
          "    # the command's name is not an operand of it\n"
          "    shift words; (( CURRENT-- ))\n    case $words[1] in\n",
          to);
    for (const struct command *const *c = cmd_all; *c; c++) {
        fprintf(to, "        %s)\n            _arguments '--help[show this text]'", (*c)->name);
        const struct opt *o;
        for (size_t n = 0; (o = any_option(*c, n)); n++) zsh_option(to, o);
        zsh_operands(to, *c);
        fputs(" ;;\n", to);
    }
    fputs("        *) _files ;;\n    esac\n}\n_gpusim \"$@\"\n", to);
}
