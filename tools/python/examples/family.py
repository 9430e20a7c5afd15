# SPDX-License-Identifier: MIT
"""family.py: a tree of entities, and a relation of its own: Parent, children, depth, targets and sources."""
import weft

world = weft.World()
Likes = world.relation("Likes")  # who is liked; cleared when that one dies

names = ["Ada", "Ben", "Cleo", "Dan", "Eve", "Finn"]
ada, ben, cleo, dan, eve, finn = people = [world.create(name=name) for name in names]
world.relate([ben, cleo], world.parent, ada)
world.relate([dan, eve], world.parent, ben)
world.relate(finn, world.parent, cleo)
world.relate([ada, dan, finn], Likes, eve)
world.settle()  # look-ups are as of the last step, or of settle()


def show(person: int) -> None:
    print("  " * world.depth(person) + world.name(person))
    for child in world.children(person):
        show(child)


def names_of(relation: weft.Component, target: weft.Entity) -> str:
    return ", ".join(world.name(source) for source in world.sources(relation, target))


show(ada)
print("Eve is liked by", names_of(Likes, eve))

try:
    world.relate(ada, world.parent, finn)
except weft.CycleError as error:
    print(f"refused ({error.code}): Ada is above Finn")

# Eve moves to another parent; what likes her does not change.
world.relate(eve, world.parent, cleo)
world.settle()
print("children of Cleo:", names_of(world.parent, cleo))

# A parent takes its children along; those who liked Eve lose their target.
world.destroy(cleo)
world.step(0)
print("alive:", ", ".join(world.name(person) for person in people if world.is_alive(person)))
print("Dan likes", world.target(dan, Likes))

# prints:
# Ada
#   Ben
#     Dan
#     Eve
#   Cleo
#     Finn
# Eve is liked by Ada, Dan, Finn
# refused (CYCLE): Ada is above Finn
# children of Cleo: Eve, Finn
# alive: Ada, Ben, Dan
# Dan likes None
