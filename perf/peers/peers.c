/* SPDX-License-Identifier: MIT */
/* peers.c: `weft-peers`: runs each row by all libraries in turn, round by round, demands that they
 * come to the same result, and prints a table or a line of `weft bench --json` for each. */
#include "peers.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

enum { ROUNDS_LIMIT = 101, LIBRARIES_LIMIT = 5 };

typedef struct row {
    const char *name;
    uint32_t n;       /* entities, jobs; of `world`: worlds */
    const char *unit; /* of a figure: time divided by n */
    const char *what;
} row;

static const row rows[] = {
    {"create", 100000, "ns/entity", "entities one by one, two components set"},
    {"create.bulk", 1000000, "ns/entity",
     "entities by one call, with the values of two components"},
    {"create.observed", 100000, "ns/entity", "the same, with an observer that counts"},
    {"copy", 100000, "ns/entity", "copies of one entity with two components, one by one"},
    {"destroy", 100000, "ns/entity", "entities one by one, in random order"},
    {"destroy.bulk", 100000, "ns/entity", "all entities with a component, by one call"},
    {"iterate", 1000000, "ns/entity", "position += velocity"},
    {"iterate.fragments", 100000, "ns/entity", "the same over entities with one of 26 tags"},
    {"iterate.tables", 102400, "ns/entity", "the same over entities with any of ten tags"},
    {"iterate.few", 10000, "ns/pass", "the same over ten entities"},
    {"follow", 100000, "ns/entity", "position += velocity of the entity that a component names"},
    {"query", 1000, "ns/query", "a query made and ended, beside 1,024 sets of components"},
    {"get", 1000000, "ns/entity", "a value by entity, in random order"},
    {"has", 1000000, "ns/entity", "whether an entity has a component, in random order"},
    {"set", 100000, "ns/entity", "a value by entity, in random order"},
    {"add", 100000, "ns/entity", "a component added one by one, in random order"},
    {"add.bulk", 100000, "ns/entity", "a component added to all, by one call where there is one"},
    {"remove", 100000, "ns/entity", "and removed"},
    {"remove.bulk", 100000, "ns/entity", "and removed from all, by one call"},
    {"tag.add", 100000, "ns/entity", "a tag added one by one, in random order"},
    {"tag.remove", 100000, "ns/entity", "and removed"},
    {"enable", 100000, "ns/entity", "a component switched off, one by one, in random order"},
    {"sparse.add", 100000, "ns/entity", "added to a sparse store, in random order"},
    {"sparse.add.order", 100000, "ns/entity", "the same, in order"},
    {"sparse.get", 100000, "ns/entity", "its value by entity, in random order"},
    {"sparse.remove", 100000, "ns/entity", "removed from it, in random order"},
    {"observe.add", 100000, "ns/entity", "added one by one, with an observer that counts"},
    {"observe.add.bulk", 100000, "ns/entity", "the same, by one call where there is one"},
    {"observe.set", 100000, "ns/entity", "set one by one, with an observer that counts"},
    {"commands.add", 100000, "ns/entity", "a component added by recorded commands, then played"},
    {"commands.create", 100000, "ns/entity", "entities with two components, the same way"},
    {"commands.destroy", 100000, "ns/entity", "and destroyed, in random order"},
    {"name", 100000, "ns/entity", "an entity found by its name, in random order"},
    {"children", 320000, "ns/entity", "children put below one parent, one by one"},
    {"trees", 100000, "ns/entity", "trees of ten: nine put below each tenth, one by one"},
    {"trees.pass", 100000, "ns/entity", "each child's position += that of its parent"},
    {"world", PEERS_WORLDS, "us/world",
     "a world with 1,000 entities of two components, made and destroyed"},
    {"world.make", PEERS_WORLDS, "us/world", "made and filled"},
    {"world.end", PEERS_WORLDS, "us/world", "destroyed"},
    {"jobs.spawn", 100000, "ns/job", "jobs that add one, spawned by one thread"},
    {"jobs.for", 100000, "ns/item", "a loop over items of about 90 ns"},
    {"jobs.chain", 1000, "ns/node", "a graph of nodes one after the other, run again"},
    {"jobs.layers", 1024, "ns/node", "a graph of 32 layers of 32 nodes, two predecessors each"},
};
enum { ROWS = sizeof rows / sizeof *rows };

static const peers_library *const libraries[] = {
    &peers_weft,
#ifdef WEFT_PEERS_FLECS
    &peers_flecs,
#endif
#ifdef WEFT_PEERS_ENTT
    &peers_entt,
#endif
#ifdef WEFT_PEERS_TASKFLOW
    &peers_taskflow,
#endif
#ifdef WEFT_PEERS_ENKITS
    &peers_enkits,
#endif
};
enum { LIBRARIES = sizeof libraries / sizeof *libraries };

uint32_t peers_work(uint32_t i)
{
    uint32_t value = i | 1;
    for (uint32_t k = 0; k < 100; k++) value = value * 1664525u + 1013904223u;
    return value;
}

typedef struct options {
    uint32_t workers, rounds;
    bool is_json, is_markdown;
    char **names; /* beginnings of rows; none: all */
    int name_count;
} options;

/* The figures of one library in one row. */
typedef struct figures {
    double values[ROUNDS_LIMIT];
    double median, least;
} figures;

static const peers_case *case_of(const peers_library *library, const char *name)
{
    for (const peers_case *each = library->cases; each->row != NULL; each++)
        if (strcmp(each->row, name) == 0) return each;
    return NULL;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* One run; the time of it in ns. */
static double run_once(const peers_case *one, uint32_t n, uint32_t workers, uint64_t *sum)
{
    void *state = one->open(n, workers);
    double begin = now();
    one->run(state);
    double spent = now() - begin;
    *sum = one->sum(state);
    one->close(state);
    return spent;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* False: two libraries came to different results, which is said. */
static bool run_row(const row *r, const options *o, figures *out)
{
    uint64_t first = 0;
    for (uint32_t round = 0; round <= o->rounds; round++) /* the first one warms up */
        for (uint32_t i = 0; i < LIBRARIES; i++) {
            const peers_case *one = case_of(libraries[i], r->name);
            uint64_t sum;
            if (one == NULL) continue;
            double spent = run_once(one, r->n, o->workers, &sum);
            if (i == 0) first = sum;
            if (sum != first) {
                fprintf(stderr, "weft-peers: %s: %s comes to %llu, weft to %llu\n", r->name,
                        libraries[i]->name, (unsigned long long)sum, (unsigned long long)first);
                return false;
            }
            bool is_us = strncmp(r->unit, "us", 2) == 0;
            if (round != 0) out[i].values[round - 1] = spent / r->n / (is_us ? 1000 : 1);
        }
    for (uint32_t i = 0; i < LIBRARIES; i++) {
        qsort(out[i].values, o->rounds, sizeof(double), by_value);
        out[i].median = out[i].values[o->rounds / 2];
        out[i].least = out[i].values[0];
    }
    return true;
}

static uint32_t workers_of(const row *r, const options *o)
{
    return strncmp(r->name, "jobs.", 5) == 0 ? o->workers : 1;
}

static void print_json(const row *r, const options *o, const figures *f)
{
    for (uint32_t i = 1; i < LIBRARIES; i++) {
        if (case_of(libraries[i], r->name) == NULL) continue;
        printf("{\"bench\":\"peers.%s\",\"case\":\"%u\",\"workers\":%u,\"unit\":\"%s\","
               "\"median\":%.4g,\"min\":%.4g,\"raw\":%.4g,\"ratio\":%.4g,\"peer\":\"%s\"}\n",
               r->name, r->n, workers_of(r, o), r->unit, f[0].median, f[0].least, f[i].median,
               f[0].median / f[i].median, libraries[i]->name);
    }
}

/* A line of the table: medians, and weft's by the best of the others. */
static void print_row(const row *r, const options *o, const figures *f)
{
    double best = 0;
    const char *edge = o->is_markdown ? " |" : "";
    if (o->is_markdown)
        printf("| `%s` %u | %s |", r->name, r->n, r->unit);
    else
        printf("%-18s %8u %-10s", r->name, r->n, r->unit);
    for (uint32_t i = 0; i < LIBRARIES; i++) {
        char text[32] = "";
        bool has = case_of(libraries[i], r->name) != NULL;
        if (has) snprintf(text, sizeof text, "%.4g", f[i].median);
        if (has && i != 0 && (best == 0 || f[i].median < best)) best = f[i].median;
        printf(" %*s%s", o->is_markdown ? 0 : 12, text, edge);
    }
    if (best != 0) printf(" %*.2f%s", o->is_markdown ? 0 : 8, f[0].median / best, edge);
    if (best == 0 && o->is_markdown) printf(" |");
    printf("%s%s%s\n", o->is_markdown ? " " : "  ", r->what, edge);
    fflush(stdout);
}

static void machine(char *out, size_t bytes)
{
    char line[256], cpu[128] = "";
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file != NULL && cpu[0] == '\0' && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, "model name", 10) == 0) sscanf(line, "%*[^:]: %127[^\n]", cpu);
    if (file != NULL) fclose(file);
    struct utsname name;
    time_t today = time(NULL);
    char date[16];
    strftime(date, sizeof date, "%Y-%m-%d", gmtime(&today));
    cpu_set_t set;
    int cpus = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    snprintf(out, bytes, "%s, %d CPUs, %s %s, compiler %s, %s", cpu, cpus,
             uname(&name) == 0 ? name.sysname : "", name.release, __VERSION__, date);
}

static void print_head(const options *o)
{
    char text[512];
    machine(text, sizeof text);
    if (o->is_json) {
        printf("{\"machine\":\"%s\"", text);
        for (uint32_t i = 0; i < LIBRARIES; i++)
            printf(",\"%s\":\"%s\"", libraries[i]->name, libraries[i]->version);
        printf("}\n");
        return;
    }
    printf("%s; medians of %u rounds, jobs on %u workers.\n", text, o->rounds, o->workers);
    if (o->is_markdown) printf("\n| Row | unit |");
    if (!o->is_markdown) printf("%-38s", "row");
    for (uint32_t i = 0; i < LIBRARIES; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s%s%.8s", libraries[i]->name,
                 libraries[i]->version[0] == 0 ? "" : " ", libraries[i]->version);
        printf(" %*s%s", o->is_markdown ? 0 : 12, name, o->is_markdown ? " |" : "");
    }
    printf("%s\n", o->is_markdown ? " weft / best | what |" : "   / best");
    for (uint32_t i = 0; i < LIBRARIES + 4 && o->is_markdown; i++) printf("|---");
    if (o->is_markdown) printf("|\n");
}

static void usage(void)
{
    printf("usage: weft-peers [options] [ROW ...]\n\n"
           "The same work in weft and in the libraries found in -DWEFT_PEERS=DIR, in turn in one\n"
           "process; different results are an error. ROW: the beginning of a name; none: all.\n\n"
           "  --workers N   of the rows jobs.* (default 2)\n"
           "  --rounds N    runs of each (default 11)\n"
           "  --markdown    the table of docs/performance.md\n"
           "  --json        one JSON object a line, as weft bench: raw and ratio are the peer's\n"
           "  --list        rows, and what they do\n"
           "  --help        this text\n");
}

static bool number(const char *text, uint32_t most, uint32_t *out)
{
    char *end;
    unsigned long value = text == NULL ? 0 : strtoul(text, &end, 10);
    if (value == 0 || value > most || *end != '\0') return false;
    *out = (uint32_t)value;
    return true;
}

static bool is_wanted(const row *r, const options *o)
{
    for (int i = 0; i < o->name_count; i++)
        if (strncmp(r->name, o->names[i], strlen(o->names[i])) == 0) return true;
    return o->name_count == 0;
}

/* -1: go on; else the exit status. */
static int parse(int argc, char **argv, options *o)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0) {
            usage();
            return 0;
        }
        if (strcmp(argv[i], "--list") == 0) {
            for (uint32_t k = 0; k < ROWS; k++)
                printf("%-18s %8u  %s\n", rows[k].name, rows[k].n, rows[k].what);
            return 0;
        }
        bool is_bad = false;
        if (strcmp(argv[i], "--json") == 0)
            o->is_json = true;
        else if (strcmp(argv[i], "--markdown") == 0)
            o->is_markdown = true;
        else if (strcmp(argv[i], "--workers") == 0)
            is_bad = !number(argv[++i], 256, &o->workers);
        else if (strcmp(argv[i], "--rounds") == 0)
            is_bad = !number(argv[++i], ROUNDS_LIMIT, &o->rounds);
        else if (argv[i][0] == '-')
            is_bad = true;
        else
            o->names[o->name_count++] = argv[i];
        if (!is_bad) continue;
        fprintf(stderr, "weft-peers: bad option or number near \"%s\": see --help\n",
                i < argc ? argv[i] : argv[argc - 1]);
        return 2;
    }
    for (int i = 0; i < o->name_count; i++) {
        uint32_t fits = 0;
        for (uint32_t k = 0; k < ROWS; k++)
            fits += strncmp(rows[k].name, o->names[i], strlen(o->names[i])) == 0;
        if (fits != 0) continue;
        fprintf(stderr, "weft-peers: no row begins with \"%s\": see --list\n", o->names[i]);
        return 2;
    }
    return -1;
}

int main(int argc, char **argv)
{
    options o = {.workers = 2, .rounds = 11};
    o.names = calloc((size_t)argc, sizeof *o.names);
    int status = o.names == NULL ? 1 : parse(argc, argv, &o);
    if (status >= 0) {
        free(o.names);
        return status;
    }
    print_head(&o);
    bool is_same = true;
    for (uint32_t i = 0; i < ROWS; i++) {
        static figures f[LIBRARIES_LIMIT];
        if (!is_wanted(&rows[i], &o) || case_of(&peers_weft, rows[i].name) == NULL) continue;
        bool is_done = run_row(&rows[i], &o, f);
        if (is_done && o.is_json) print_json(&rows[i], &o, f);
        if (is_done && !o.is_json) print_row(&rows[i], &o, f);
        is_same = is_same && is_done;
    }
    free(o.names);
    return is_same ? 0 : 1;
}
