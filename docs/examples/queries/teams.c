/* SPDX-License-Identifier: MIT */
/* teams.c: filter by a shared value: entities of one team lie together, other teams are not
 * touched. */
#include <stdio.h>
#include <weft/weft.h>

typedef struct {
    int number;
} Team;
typedef struct {
    int points;
} Score;

int main(void)
{
    weft_world *world;
    if (weft_world_create(NULL, &world) != WEFT_OK) return 1;
    weft_component team = WEFT_COMPONENT_FLAGS(world, Team, WEFT_SHARED);
    weft_component score = WEFT_COMPONENT(world, Score);

    weft_entity players[9];
    weft_entity_create_many(world, WEFT_ARCHETYPE(world, team, score), 9, players);
    for (int i = 0; i < 9; i++) weft_entity_set_shared(world, players[i], team, &(Team){i % 3});

    weft_query team_two = weft_query_create(
        world, &(weft_query_desc){.terms = {{score, WEFT_WRITE}, {team, WEFT_NO_ACCESS}}});
    weft_query_filter_shared(world, team_two, team, WEFT_FILTER_EQUAL, &(Team){2}, 1);
    printf("%d players in team 2\n", (int)weft_query_count(world, team_two));

    weft_query_set(world, team_two, score, &(Score){100}, sizeof(Score)); /* all of them */
    const Score *s = weft_entity_read(world, players[5], score);
    printf("player 5 has %d\n", s->points);

    weft_query_set_shared(world, team_two, team, &(Team){0}); /* whole chunks change hands */
    printf("%d players in team 2\n", (int)weft_query_count(world, team_two));
    weft_world_destroy(world);
}

/* prints:
 * 3 players in team 2
 * player 5 has 100
 * 0 players in team 2
 */
