/* SPDX-License-Identifier: MIT */
/* cli.c: the shared parts of the command line (cli.h): option parsing over getopt_long, messages,
 * progress line, spelling hints.
 *
 * Every message names the command, what was wrong and what to type instead. Nothing here knows any
 * particular command.
 */
#include "cli.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_OPTIONS = 32, MAX_WORD = 64, COLUMNS = 80 };

static void left_of(const weft_cli_option *o, char left[MAX_WORD])
{
    char letter[8] = "";
    if (o->letter != 0) snprintf(letter, sizeof letter, "-%c, ", o->letter);
    const char *form = o->kind == WEFT_CLI_MAYBE ? "%s--%s[=%s]" : "%s--%s %s";
    snprintf(left, MAX_WORD, form, letter, o->name, o->argument ? o->argument : "");
}

/* The lines of a text, each behind `before`. */
static void print_lines(const char *text, const char *before)
{
    for (const char *at = text; *at;) {
        const int length = (int)strcspn(at, "\n");
        printf("%s%.*s\n", before, length, at);
        at += length + (at[length] == '\n');
    }
}

void weft_cli_print_text(const char *text, uint32_t at, uint32_t indent)
{
    bool is_first = true; /* word of its line */
    while (*text) {
        const uint32_t length = (uint32_t)strcspn(text, " \n");
        if (!is_first && at + 1 + length > COLUMNS) {
            printf("\n%*s", (int)indent, "");
            at = indent;
        } else if (!is_first) {
            putchar(' ');
            at++;
        }
        printf("%.*s", (int)length, text);
        at += length;
        text += length;
        is_first = *text == '\n';
        if (is_first) printf("\n%*s", text[1] && text[1] != '\n' ? (int)indent : 0, "");
        if (is_first) at = indent;
        text += *text != '\0';
    }
    putchar('\n');
}

static void print_option(const char *left, const char *help)
{
    const int length = printf("  %-22s ", left);
    weft_cli_print_text(help, (uint32_t)length, 25);
}

static void print_help(const weft_cli_usage *usage)
{
    printf("usage: weft %s [options] %s\n\n", usage->command, usage->arguments);
    weft_cli_print_text(usage->summary, 0, 0);
    puts("\noptions:");
    for (const weft_cli_option *o = usage->options; o->name; o++) {
        char left[MAX_WORD];
        left_of(o, left);
        print_option(left, o->help);
    }
    print_option("--help", "this text");
    if (usage->notes) putchar('\n');
    if (usage->notes) weft_cli_print_text(usage->notes, 0, 0);
    if (usage->examples == NULL) return;
    puts("\nexamples:");
    print_lines(usage->examples, "  ");
}

/* A line of roff: what would be a request or an escape is none. */
static void print_roff(const char *text)
{
    if (*text == '.' || *text == '\'') fputs("\\&", stdout);
    for (; *text; text++) {
        if (*text == '\\') fputs("\\e", stdout);
        if (*text == '-') putchar('\\');
        if (*text != '\\') putchar(*text);
        if (*text == '\n' && (text[1] == '.' || text[1] == '\'')) fputs("\\&", stdout);
    }
    putchar('\n');
}

/* The same as a manual page (man 7). */
static void print_manual(const weft_cli_usage *usage)
{
    fputs(".TH WEFT-", stdout); /* capitals, as all pages have */
    for (const char *c = usage->command; *c; c++) putchar(toupper((unsigned char)*c));
    char what[256]; /* as whatis shows it among other names: no sentence */
    int length = snprintf(what, sizeof(what), "%c%s", tolower((unsigned char)usage->summary[0]),
                          usage->summary + 1);
    if (length > 0 && what[length - 1] == '.') what[length - 1] = '\0';
    printf(" 1\n.SH NAME\nweft-%s \\- ", usage->command);
    print_roff(what);
    printf(".SH SYNOPSIS\n.B weft %s\n[options] ", usage->command);
    print_roff(usage->arguments);
    puts(".SH OPTIONS");
    for (const weft_cli_option *o = usage->options; o->name; o++) {
        char left[MAX_WORD];
        left_of(o, left);
        puts(".TP");
        print_roff(left);
        print_roff(o->help);
    }
    if (usage->notes) puts(".SH DESCRIPTION");
    if (usage->notes) print_roff(usage->notes);
    if (usage->examples) puts(".SH EXAMPLES\n.nf");
    if (usage->examples) print_roff(usage->examples);
    if (usage->examples) puts(".fi");
    puts(".SH EXIT STATUS\n0 success, 1 the job found a difference, mistake or failure, "
         "2 it could not be done, or bad usage.\n"
         ".SH SEE ALSO\n.BR weft (1)");
}

static void say(const char *command, const char *format, va_list list)
{
    weft_cli_progress_clear();
    fprintf(stderr, "weft %s: ", command);
    vfprintf(stderr, format, list);
    fputc('\n', stderr);
}

bool weft_cli_misuse_is_silent;

int weft_cli_misuse(const char *command, const char *format, ...)
{
    if (weft_cli_misuse_is_silent) return WEFT_CLI_USAGE;
    va_list list;
    va_start(list, format);
    say(command, format, list);
    va_end(list);
    fprintf(stderr, "Try `weft %s --help`.\n", command);
    return WEFT_CLI_USAGE;
}

int weft_cli_fail(const char *command, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    say(command, format, list);
    va_end(list);
    return WEFT_CLI_FAILED;
}

int weft_cli_find(const char *command, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    say(command, format, list);
    va_end(list);
    return WEFT_CLI_FOUND;
}

static bool in_range(const weft_cli_option *o, double value)
{
    return (o->min == 0 && o->max == 0) || (value >= o->min && value <= o->max);
}

static bool parse_count(const weft_cli_option *o, const char *text)
{
    char *end;
    const bool is_hexadecimal = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    if (!isdigit((unsigned char)text[0])) return false; /* strtoull takes blanks and signs */
    errno = 0;
    const uint64_t value = strtoull(text, &end, is_hexadecimal ? 16 : 10);
    if (errno || *end || !in_range(o, (double)value)) return false;
    *(uint64_t *)o->value = value;
    return true;
}

static bool parse_number(const weft_cli_option *o, const char *text)
{
    char *end;
    const double value = strtod(text, &end);
    if (end == text || *end || !isfinite(value) || !in_range(o, value)) return false;
    *(double *)o->value = value;
    return true;
}

static int store(const weft_cli_usage *usage, const weft_cli_option *o, const char *text)
{
    bool is_valid = true;
    switch (o->kind) {
    case WEFT_CLI_FLAG:
        *(bool *)o->value = true;
        break;
    case WEFT_CLI_TEXT:
    case WEFT_CLI_MAYBE:
        *(const char **)o->value = text == NULL ? "" : text;
        break;
    case WEFT_CLI_COUNT:
        is_valid = parse_count(o, text);
        break;
    case WEFT_CLI_NUMBER:
        is_valid = parse_number(o, text);
        break;
    }
    if (is_valid) return WEFT_CLI_CONTINUE;
    const char *kind = o->kind == WEFT_CLI_COUNT ? "whole number" : "number";
    if (o->min == 0 && o->max == 0) {
        return weft_cli_misuse(usage->command, "--%s needs a %s, not '%s'", o->name, kind, text);
    }
    return weft_cli_misuse(usage->command, "--%s needs a %s from %g to %g, not '%s'", o->name, kind,
                           o->min, o->max, text);
}

static int unknown_option(const weft_cli_usage *usage, const char *word)
{
    const char *names[MAX_OPTIONS + 2] = {"help"};
    uint32_t count = 1;
    for (const weft_cli_option *o = usage->options; o->name; o++) names[count++] = o->name;
    while (*word == '-') word++;
    const char *near = weft_cli_nearest(word, names);
    if (near) {
        return weft_cli_misuse(usage->command, "no option --%s; did you mean --%s?", word, near);
    }
    return weft_cli_misuse(usage->command, "no option --%s", word);
}

int weft_cli_parse(const weft_cli_usage *usage, int argc, char **argv, int *first)
{
    struct option table[MAX_OPTIONS + 2] = {{"help", optional_argument, NULL, 'h'}};
    char letters[2 * MAX_OPTIONS + 3] = ":h", *letter = letters + 2;
    for (int i = 0; i < MAX_OPTIONS && usage->options[i].name; i++) {
        const weft_cli_option *o = &usage->options[i];
        const int has = o->kind == WEFT_CLI_FLAG    ? no_argument
                        : o->kind == WEFT_CLI_MAYBE ? optional_argument
                                                    : required_argument;
        table[i + 1] = (struct option){o->name, has, NULL, 256 + i};
        if (o->letter == 0) continue;
        *letter++ = o->letter;
        if (has == required_argument) *letter++ = ':';
    }
    opterr = 0;
    optind = 0; /* glibc: start afresh, also after another command has parsed */
    for (int code; (code = getopt_long(argc, argv, letters, table, NULL)) != -1;) {
        if (code == 'h') { /* --help=man: what the installation makes manual pages of */
            const bool is_manual = optarg && strcmp(optarg, "man") == 0;
            (is_manual ? print_manual : print_help)(usage);
            return WEFT_CLI_OK;
        }
        if (code == ':') {
            return weft_cli_misuse(usage->command, "%s needs a value", argv[optind - 1]);
        }
        if (code == '?') return unknown_option(usage, argv[optind - 1]);
        const weft_cli_option *option = usage->options;
        if (code >= 256)
            option += code - 256;
        else
            while (option->letter != code) option++;
        const int status = store(usage, option, optarg);
        if (status != WEFT_CLI_CONTINUE) return status;
    }
    *first = optind;
    return WEFT_CLI_CONTINUE;
}

void weft_cli_progress(const char *format, ...)
{
    if (!isatty(STDERR_FILENO)) return;
    va_list list;
    va_start(list, format);
    fputs("\r\033[K", stderr);
    vfprintf(stderr, format, list);
    va_end(list);
    fflush(stderr);
}

/* 4.2 s, 3:07, 2:15:00. */
static void format_span(double seconds, char text[24])
{
    const unsigned long s = seconds < 1e9 ? (unsigned long)(seconds + 0.5) : 999999999;
    if (seconds < 60)
        snprintf(text, 24, "%.0f s", seconds);
    else if (s < 3600)
        snprintf(text, 24, "%lu:%02lu", s / 60, s % 60);
    else
        snprintf(text, 24, "%lu:%02lu:%02lu", s / 3600, s / 60 % 60, s % 60);
}

void weft_cli_progress_of(const char *what, uint64_t done, uint64_t all, const char *things,
                          double seconds)
{
    static const char bar[] = "####################";
    static double shown_s; /* of this piece of work */
    char left[24];
    if (all == 0) return;
    if (seconds < shown_s) shown_s = 0; /* another one */
    if (done < all && shown_s > 0 && seconds - shown_s < 0.1) return;
    shown_s = seconds;
    const double rate = seconds > 0 ? (double)done / seconds : 0;
    format_span(rate > 0 ? (double)(all - done) / rate : 0, left);
    weft_cli_progress("%.16s [%-20.*s] %3u%%  %.0f %s/s, %s left", what, (int)(20 * done / all),
                      bar, (unsigned)(100 * done / all), rate, things, left);
}

void weft_cli_progress_clear(void)
{
    if (isatty(STDERR_FILENO)) fputs("\r\033[K", stderr);
}

/* Levenshtein distance, one row at a time; words are cut at MAX_WORD letters. */
static uint32_t distance(const char *a, const char *b)
{
    uint32_t row[MAX_WORD + 1];
    const size_t n = strnlen(b, MAX_WORD);
    for (size_t j = 0; j <= n; j++) row[j] = (uint32_t)j;
    for (size_t i = 1; i <= MAX_WORD && a[i - 1]; i++) {
        uint32_t diagonal = row[0];
        row[0] = (uint32_t)i;
        for (size_t j = 1; j <= n; j++) {
            const uint32_t replace = diagonal + (a[i - 1] != b[j - 1]);
            const uint32_t step = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            diagonal = row[j];
            row[j] = replace < step ? replace : step;
        }
    }
    return row[n];
}

const char *weft_cli_nearest(const char *word, const char *const *names)
{
    const char *best = NULL;
    uint32_t best_distance = 3; /* further than two letters is no hint any more */
    for (; *names; names++) {
        const uint32_t d = distance(word, *names);
        if (d < best_distance && d < strlen(*names)) {
            best = *names;
            best_distance = d;
        }
    }
    return best;
}

uint32_t weft_cli_cpu_count(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
    const int count = CPU_COUNT(&set);
    return count > 0 ? (uint32_t)count : 1;
}
