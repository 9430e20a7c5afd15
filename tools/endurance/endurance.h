/* SPDX-License-Identifier: MIT */
/* endurance.h: `weft stress endurance`: a world that lives for hours, and what must not grow.
 *
 * stress_endurance.c has the clock and the command; behind that name bed.c the world and its
 * systems, acts.c what its owner does between steps, guest.c worlds that come and go beside it,
 * page.c an inspector's page, ranks.c runs over ranks as child processes, measures.c the figures
 * and their bounds.
 *
 * What happens in step k follows from the seed and k alone: of the main world, which the hash
 * covers. Guests, pages and ranks live beside it. */
#ifndef WEFT_ENDURANCE_H
#define WEFT_ENDURANCE_H

#include "stress.h"

#include <weft/live.h>
#include <weft/observer.h>
#include <weft/snapshot.h>
#include <weft/stream.h>
#include <weft/weft.h>

#include <limits.h>

enum {
    ENDURANCE_PEOPLE = 20000, /* entities of the main world, about */
    ENDURANCE_CYCLE = 100,    /* steps: every act once */
    ENDURANCE_EPOCH = 1000,   /* steps: a guest comes and goes; figures are taken between epochs */
    ENDURANCE_TAGS = 3,
    ENDURANCE_SHARES = 6,
    ENDURANCE_ROOTS = 48,   /* of linked groups that live at a time */
    ENDURANCE_STORIES = 64, /* blobs that live at a time */
    ENDURANCE_KEPT = 3,     /* snapshots that live at a time */
    ENDURANCE_SECTIONS = 9, /* of the file of the stream, section 0 among them */
};

/* Handles of components; the same list in every world. */
typedef struct endurance_kinds {
    weft_component seed, value, tag[ENDURANCE_TAGS], share, lot, trail, rare, lever, debt, story,
        spin, total, parent, linked, section;
} endurance_kinds;

/* What an entity knows of itself: stirred by each step, decides what it does. */
typedef struct endurance_seed {
    uint64_t state;
} endurance_seed;
typedef struct endurance_value {
    double at[3];
} endurance_value;
typedef struct endurance_story {
    weft_blob_ref text;
} endurance_story;
typedef struct endurance_spin {
    float speed, angle;
} endurance_spin;

typedef struct endurance_page endurance_page;
typedef struct endurance_ranks endurance_ranks;

/* The main world and all that its owner holds. Owner: the thread of the command. Systems read
 * what is constant during a step. */
typedef struct endurance {
    uint64_t seed, step;
    uint64_t random; /* of acts */
    uint32_t workers;
    uint32_t errors;
    bool is_json;
    bool is_stopped;           /* by Ctrl-C: nothing is judged */
    char folder[PATH_MAX / 4]; /* of files that are written meanwhile */
    char document[PATH_MAX / 4 + 16], sections[PATH_MAX / 4 + 16], saved[PATH_MAX / 4 + 16];

    weft_world *world;
    endurance_kinds kinds;
    weft_archetype plain; /* Seed and Value */
    weft_query people;    /* with a Seed */
    uint64_t death;       /* per 1024: more when there are many; constant during a step */
    uint64_t made;        /* names, queries, systems: each gets a number of its own */
    weft_entity prefab;   /* root of a linked group */
    weft_entity roots[ENDURANCE_ROOTS];     /* instances of it; the oldest is replaced */
    weft_entity readers[ENDURANCE_STORIES]; /* each has a story */
    weft_blob_ref stories[ENDURANCE_STORIES];
    weft_snapshot *kept[ENDURANCE_KEPT]; /* the newest first */
    weft_system timer, passing[2];       /* passing: come and go */
    weft_observer watching;              /* comes and goes */
    weft_live *live;
    weft_stream *stream;
    uint32_t edits; /* of the document */

    weft_world *guest; /* NULL: none now */
    weft_live *guest_live;
    endurance_page *page;   /* NULL: built without the inspector */
    endurance_ranks *ranks; /* NULL: the program for them is missing */
} endurance;

/* Says what went wrong; the run ends after this step with status 1. */
void endurance_fail(endurance *e, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A call that must succeed; false, and reported, when it did not. */
bool endurance_ok(endurance *e, weft_world *world, weft_result result, const char *what);

static inline uint64_t endurance_draw(endurance *e, uint64_t below)
{
    return weft_stress_random(&e->random) % below;
}

/* bed.c: components, systems, the first entities. */
endurance_kinds endurance_register(weft_world *world);
bool endurance_bed_make(endurance *e);
/* Sets versions near their ends: of the world, of dead entities, queries, systems and blobs. */
void endurance_age(endurance *e);
/* Change versions pass by the million, as they do in days. */
void endurance_pass(endurance *e, uint32_t versions);
/* What a file of such a world holds, for the loads of it. */
extern const weft_load_desc endurance_loads;
/* A blob of its own, with one reference. */
weft_blob_ref endurance_story_make(endurance *e, weft_world *world, uint64_t number);
/* As in weft_value_io; `user` is the endurance, and what is read is for its guest. */
size_t endurance_story_write(weft_blob_ref blob, char *text, size_t capacity, void *user);
const char *endurance_story_read(const char *word, size_t length, weft_blob_ref *out, void *user);

/* acts.c: what the owner does before step e->step. Between epochs: the stream is closed and opened
 * again. At the end: all that the owner holds goes. */
void endurance_act(endurance *e);
void endurance_settle(endurance *e);
void endurance_let_go(endurance *e);
bool endurance_documents_make(endurance *e);

/* guest.c */
void endurance_guest_come(endurance *e);
void endurance_guest_step(endurance *e);
void endurance_guest_go(endurance *e);

/* page.c: a page that is open, closed and opened again. `events` it got so far; 0 without. */
void endurance_page_open(endurance *e);
uint64_t endurance_page_events(const endurance *e);
void endurance_page_close(endurance *e);

/* ranks.c: runs over one, two and three ranks, one after the other, each a child process; all
 * print the same hash. */
void endurance_ranks_begin(endurance *e);
/* Looks after the run there is, or starts the next; `is_last`: waits for it. */
void endurance_ranks_look(endurance *e, bool is_last);
/* How many runs ended as they should. */
uint32_t endurance_ranks_end(endurance *e);

/* measures.c */
enum { ENDURANCE_FIGURES = 28 };
/* A figure, as means over tenths of the run: what one sample says varies by chance. */
typedef struct endurance_figure {
    const char *name;
    double slack;        /* beside 5 % */
    bool is_drawn;       /* a count of what lives and dies by chance */
    double means[10];    /* of the tenths with samples: the second one of the run first */
    double sum, squares; /* of the tenth that is under way */
    double spread;       /* squares of the differences from the means, of all tenths */
} endurance_figure;
typedef struct endurance_table {
    endurance_figure figures[ENDURANCE_FIGURES];
    uint32_t count;
    uint32_t tenths;  /* with samples, that are complete */
    uint32_t samples; /* of the tenth that is under way */
    uint32_t all;     /* samples in the tenths that are complete */
    uint32_t fewest;  /* samples in one of them */
} endurance_table;

/* Takes the figures. The first tenth that has samples is the one that the others are compared
 * with. */
void endurance_measure(const endurance *e, endurance_table *table);
void endurance_tenth_end(endurance_table *table);
void endurance_table_print(const endurance *e, const endurance_table *table);
/* Fails the run for each figure that left its bounds. */
void endurance_table_judge(endurance *e, const endurance_table *table);

/* `weft stress endurance`. */
int endurance_command(int argc, char **argv);

#endif
