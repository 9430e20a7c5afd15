#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""inspect_browser.py HOST [SCENARIO ...]: the page of the inspector in headless Chromium, by WebDriver: every
window, keyboard, accessible names, widths, what happens when the program ends. Exit 77 without a browser."""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import webdriver  # noqa: E402

WINDOWS = ["archetypes", "entities", "components", "systems", "queries", "timeline", "memory", "scenes", "jobs", "shards", "space", "groups", "observers", "program"]
SCENARIOS = []


def scenario(function):
    SCENARIOS.append(function)
    return function


class Host:
    def __init__(self, program, *options):
        self.process = subprocess.Popen([program, *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().split()[1]

    def end(self):
        out = self.process.communicate("")[0]
        return self.process.returncode == 0 and "HASH" in out


def equal(actual, expected):
    assert actual == expected, f"{actual!r}, expected {expected!r}"


def open_window(b, host, name, rest=""):
    b.go(f"{host.url}/{name}{rest}")
    b.wait("the head", "document.querySelector('#figures dd')")
    b.wait(f"the window {name}", f"document.querySelector('#tab-{name}').getAttribute('aria-selected') === 'true'")


def rows(b, table="main"):
    return b.run("return [...document.querySelectorAll(arguments[0] + ' tbody tr')].map(r => [...r.children].map(c => c.textContent))", table)


def enter(b, css, text):
    """Types over what a field holds."""
    b.keys(b.find(css), "\ue009a\ue000\ue003" + text + "\ue007")


def query(b, text):
    enter(b, "#query", text)


def open_entity(b, host, name):
    open_window(b, host, "entities")
    b.wait("every entity", "document.querySelectorAll('main tbody tr').length === 50")
    query(b, "Orbit, ?Parent")
    b.wait("rows", "document.querySelectorAll('main tbody tr').length === 4")
    b.click(b.find_text("main tbody .link", name))
    b.wait("its values", "document.querySelector('.part strong') && document.querySelector('.part strong').textContent.startsWith(arguments[0])", name)


# ---- the frame

@scenario
def the_head_tells_the_world(b, host, _):
    open_window(b, host, "archetypes")
    names = b.run("return [...document.querySelectorAll('#figures dt')].map(e => e.textContent)")
    equal(names, ["Frame", "Time", "Pace", "Entities", "Systems", "Workers"])
    equal(b.run("return document.querySelectorAll('#figures dd')[4].textContent"), "5")


@scenario
def frames_go_on(b, host, _):
    first = b.text("#figures dd")
    b.wait("another frame", "document.querySelector('#figures dd').textContent !== arguments[0]", first)


@scenario
def the_program_is_named(b, host, _):
    assert "host" in b.text("#program")


@scenario
def every_window_opens_by_its_tab(b, host, _):
    for name in WINDOWS:
        b.click(b.find(f"#tab-{name}"))
        b.wait(name, f"document.querySelector('#tab-{name}').getAttribute('aria-selected') === 'true' && document.querySelector('main .panel')")
        assert f"/{name}" in b.run("return location.hash")


@scenario
def digits_open_windows(b, host, _):
    for digit, name in enumerate(WINDOWS[:10], 1):
        b.run("document.activeElement.blur()")
        b.press(str(digit % 10))
        b.wait(name, f"document.querySelector('#tab-{name}').getAttribute('aria-selected') === 'true'")


@scenario
def arrows_move_between_tabs(b, host, _):
    b.click(b.find("#tab-entities"))
    b.press("\ue015")
    equal(b.run("return document.activeElement.id"), f"tab-{WINDOWS[2]}")
    b.press("\ue013\ue013")
    equal(b.run("return document.activeElement.id"), "tab-archetypes")


@scenario
def the_first_page_says_what_to_look_at(b, host, _):
    b.go(host.url)
    b.wait("its questions", "document.querySelectorAll('.cards .panel').length === 6 && document.querySelector('#tab-start').getAttribute('aria-selected') === 'true'")
    b.wait("figures of now", "[...document.querySelectorAll('.now')].some(p => p.textContent.startsWith('A frame takes')) && [...document.querySelectorAll('.now a')].length >= 2")
    b.click(b.find_text(".cards a", "Components"))
    b.wait("its window", "document.querySelector('#tab-components').getAttribute('aria-selected') === 'true'")


@scenario
def the_url_opens_the_same_window_again(b, host, _):
    open_window(b, host, "memory")
    b.post("/refresh")
    b.wait("the window", "document.querySelector('#tab-memory') && document.querySelector('#tab-memory').getAttribute('aria-selected') === 'true'")


FRAME = "Number(document.querySelector('#figures dd').textContent.replaceAll(',', ''))"


def asked_frame(b):
    """The frame of the program itself: what the head shows may be an event that was sent before."""
    return b.later("const done = arguments[1]; import('/net.js').then(n => n.ask({do: 'status'})).then(s => done(s.frame), e => done(String(e)))", 0)


def held_frame(b):
    """The frame of a paused program, once the head shows it."""
    b.wait("paused", "document.querySelector('#state').textContent === 'paused'")
    frame = asked_frame(b)
    b.wait("the last event", "document.querySelector('#state').textContent === 'paused' && " + FRAME + " === arguments[0]", frame)
    return frame


def goes_on(b):
    """Until the head shows a frame that was run after it was told to."""
    b.wait("running", "document.querySelector('#state').textContent === 'running'")
    b.wait("it goes on", "document.querySelector('#state').textContent === 'running' && " + FRAME + " > arguments[0]", asked_frame(b))


@scenario
def pause_holds_the_frame_and_goes_on(b, host, _):
    open_window(b, host, "archetypes")
    b.click(b.find("#pause"))
    first = held_frame(b)
    time.sleep(0.3)
    equal(asked_frame(b), first)
    b.wait("it is held", "document.querySelector('#pause').getAttribute('aria-pressed') === 'true' && " + FRAME + " === arguments[0]", first)
    b.click(b.find("#pause"))
    goes_on(b)


@scenario
def step_runs_one_frame(b, host, _):
    b.click(b.find("#pause"))
    first = held_frame(b)
    b.click(b.find("#step"))
    b.wait("one more", FRAME + " === arguments[0]", first + 1)
    b.click(b.find("#pause"))
    goes_on(b)


@scenario
def shift_runs_a_hundred_frames(b, host, _):
    b.run("document.activeElement.blur()")
    b.press("p")
    first = held_frame(b)
    b.run("document.dispatchEvent(new KeyboardEvent('keydown', { key: 'S', shiftKey: true, bubbles: true }))")
    b.wait("a hundred", FRAME + " === arguments[0]", first + 100)
    b.press("p")
    goes_on(b)


@scenario
def p_and_s_are_keys(b, host, _):
    b.run("document.activeElement.blur()")
    b.press("p")
    first = held_frame(b)
    b.press("s")
    b.wait("a step", FRAME + " === arguments[0]", first + 1)
    b.press("p")
    goes_on(b)


@scenario
def speed_limits_the_pace(b, host, _):
    b.run("const s = document.querySelector('#speed'); s.value = '30'; s.dispatchEvent(new Event('change'))")
    b.wait("a pace near 30", "(() => { const p = parseFloat(document.querySelectorAll('#figures dd')[2].textContent); return p > 20 && p < 36; })()")
    b.run("const s = document.querySelector('#speed'); s.value = '0'; s.dispatchEvent(new Event('change'))")
    b.wait("full speed", "parseFloat(document.querySelectorAll('#figures dd')[2].textContent) > 40")


@scenario
def a_world_is_chosen_among_those_of_the_key(b, host, _):
    several = Host(sys.argv[1], "--second")
    try:
        assert b.run("return document.querySelector('#worlds').hidden"), "one world needs no picker"
        open_window(b, several, "memory")
        options = "return [...document.querySelectorAll('#world option')].map(o => o.textContent.split(' ')[0])"
        b.wait("the picker", "!document.querySelector('#worlds').hidden")
        equal(b.run(options), ["world", "menu"])
        first = b.run("return location.port")
        b.click(b.find_text("#world option", "menu"))
        b.wait("the other page", "location.port !== arguments[0] && document.querySelectorAll('#figures dd').length === 6 && document.querySelectorAll('#figures dd')[3].textContent === '0'", first)
        b.wait("the same window", "document.querySelector('#tab-memory').getAttribute('aria-selected') === 'true'")
        equal(b.run("return document.querySelector('#world').selectedOptions[0].textContent.split(' ')[0]"), "menu")
        b.click(b.find_text("#world option", "world"))
        b.wait("back", "location.port === arguments[0] && document.querySelectorAll('#figures dd').length === 6 && document.querySelectorAll('#figures dd')[3].textContent !== '0'", first)
    finally:
        assert several.end()


@scenario
def the_theme_can_be_chosen(b, host, _):
    before = b.run("return getComputedStyle(document.body).backgroundColor")
    b.click(b.find("#theme"))
    assert b.run("return getComputedStyle(document.body).backgroundColor") != before
    b.click(b.find("#theme"))
    equal(b.run("return getComputedStyle(document.body).backgroundColor"), before)


# ---- archetypes

@scenario
def archetypes_are_listed_with_figures(b, host, _):
    open_window(b, host, "archetypes")
    b.wait("rows", "document.querySelectorAll('main tbody tr').length >= 5")
    found = next(r for r in rows(b) if r[0] == "Position, Velocity")
    equal(found[1], "3,000")
    assert found[5].endswith("KiB") or found[5].endswith("MiB"), found


@scenario
def archetypes_sort_by_a_column(b, host, _):
    b.click(b.find_text("th button", "Entities"))
    b.wait("sorted", "document.querySelector('th[aria-sort]').textContent === 'Entities'")
    b.wait("the largest first", "document.querySelector('main tbody td').textContent === 'Position, Velocity'")


@scenario
def archetypes_are_found_by_a_component_from_either_end(b, host, _):
    open_window(b, host, "archetypes", "?sort=entities")
    b.wait("rows", "document.querySelectorAll('main tbody tr').length >= 5")
    b.click(b.find_text("th button", "Entities"))
    b.wait("the smallest first", "location.hash.includes('order=up') && document.querySelector('main tbody tr td:nth-child(2)').textContent === '0'")
    b.keys(b.find("#part"), "colour")
    b.wait("those with it", "[...document.querySelectorAll('main tbody tr')].every(r => r.textContent.includes('Colour')) && document.querySelectorAll('main tbody tr').length >= 1")
    b.post("/refresh")
    b.wait("it is kept", "document.querySelector('#part') && document.querySelector('#part').value === 'colour' && document.querySelector('main tbody tr') && [...document.querySelectorAll('main tbody tr')].every(r => r.textContent.includes('Colour'))")
    open_window(b, host, "archetypes")


@scenario
def systems_and_queries_are_found_by_a_part(b, host, _):
    open_window(b, host, "systems")
    b.wait("all", "document.querySelectorAll('[aria-label=Systems] tbody tr').length === 5")
    b.press("f")
    b.press("veloc")
    b.wait("those that touch it", "document.querySelectorAll('[aria-label=Systems] tbody tr').length === 2 && location.hash.includes('part=veloc')")
    open_window(b, host, "queries", "?part=spark")
    b.wait("its query", "document.querySelectorAll('main tbody tr').length === 1 && document.querySelector('main tbody tr').textContent.includes('Age \u270e')")
    open_window(b, host, "archetypes")
    b.wait("rows", "document.querySelectorAll('main tbody tr').length >= 5")


@scenario
def an_archetype_shows_its_occupancy(b, host, _):
    b.click(b.find_text("main tbody .link", "Position, Colour"))
    b.wait("its components", "[...document.querySelectorAll('.halves .tag')].some(t => t.textContent.startsWith('Colour shared'))")
    assert b.run("return document.querySelectorAll('.halves svg rect').length") >= 1
    equal(b.run("return document.querySelector('.halves svg').getAttribute('aria-label')"), "Chunks by how full they are")


# ---- entities

@scenario
def a_query_lists_rows_with_values(b, host, _):
    open_window(b, host, "entities")
    query(b, "Position, Orbit")
    b.wait("four rows", "document.querySelectorAll('main tbody tr').length === 4")
    heads = b.run("return [...document.querySelectorAll('main th')].map(e => (e.querySelector('.of') || e).textContent)")
    equal(heads, ["Entity", "Position", "Orbit"])
    assert any("mean_motion 0.0625" in r[2] for r in rows(b)), rows(b)


@scenario
def the_empty_query_lists_every_entity(b, host, _):
    query(b, "")
    b.wait("all", "/of [34],\\d\\d\\d/.test(document.querySelector('main footer').textContent)")


FOOT = "document.querySelector('main .panel footer span').textContent"


@scenario
def rows_scroll_into_sight(b, host, _):
    open_window(b, host, "entities")
    b.wait("rows", "document.querySelectorAll('main tbody tr').length === 50")
    query(b, "Position, Velocity, !Orbit")
    b.wait("3,000", FOOT + ".endsWith('of 3,000')")
    first = rows(b)[0][0]
    b.run("document.querySelector('.tall').scrollTop = 31 * 2000")
    b.wait("others", FOOT + ".startsWith('2,001 to ') && document.querySelector('main tbody td').textContent !== arguments[0]", first)
    equal(b.run("return document.querySelectorAll('main tbody tr').length"), 50)
    enter(b, "[aria-label='Go to row']", "3000")
    b.wait("the last one", FOOT + ".includes(' to 3,000 of ') && [...document.querySelectorAll('main tbody tr')].some(r => r.getAttribute('aria-rowindex') === '3000')")
    b.post("/refresh")
    b.wait("where it was", "document.querySelector('main .panel footer span') && " + FOOT + ".includes(' of 3,000') && !" + FOOT + ".startsWith('1 ')")


@scenario
def a_million_rows_are_scrolled_through(b, *_):
    many = Host(sys.argv[1], "--entities", "1000000")
    try:
        open_window(b, many, "entities")
        b.wait("all", "document.querySelector('main .panel footer span') && /of 1,00\\d,\\d\\d\\d$/.test(" + FOOT + ")")
        enter(b, "[aria-label='Go to row']", "500000")
        b.wait("the middle", FOOT + ".startsWith('500,000 to ') && [...document.querySelectorAll('main tbody tr')].some(r => r.getAttribute('aria-rowindex') === '500000')")
        shown = b.run("const s = document.querySelector('.tall').getBoundingClientRect(); return [...document.querySelectorAll('main tbody tr')].filter(r => { const t = r.getBoundingClientRect(); return t.top >= s.top && t.bottom <= s.bottom; }).length")
        assert shown > 10, shown
        open_window(b, many, "entities", "?query=Velocity, Position&sort=Velocity.x&order=down")
        b.wait("sorted", "document.querySelector('main tbody tr') && " + FOOT + ".includes('as of frame') && document.querySelector('main tbody').textContent.includes('x 3')")
    finally:
        assert many.end()


@scenario
def every_entity_shows_what_it_has(b, host, _):
    open_window(b, host, "entities")
    b.wait("chips", "[...document.querySelectorAll('main tbody tr')].every(r => r.querySelectorAll('.tag').length >= 1) && document.querySelectorAll('main tbody tr').length === 50")


@scenario
def columns_are_picked(b, host, _):
    open_window(b, host, "entities")
    b.wait("rows", "document.querySelectorAll('main tbody tr').length === 50")
    b.click(b.find_text(".menu button", "Columns"))
    b.wait("types", "document.querySelectorAll('.menu-list input').length > 8")
    b.click(b.find_text(".menu-list label", " Velocity".strip()))
    b.wait("its values", "[...document.querySelectorAll('main th')].some(e => e.textContent.startsWith('Velocity'))")
    assert "columns=Velocity" in b.run("return location.hash")
    b.post("/refresh")
    b.wait("it is kept", "[...document.querySelectorAll('main th')].some(e => e.textContent.startsWith('Velocity'))")


def column(b, name, field):
    """Numbers of a field in the rows that are there."""
    return b.run("""const at = [...document.querySelectorAll('main th')].findIndex(e => e.textContent.startsWith(arguments[0]));
        return [...document.querySelectorAll('main tbody tr')].map(r => r.children[at].textContent.match(new RegExp('(?:^| |[0-9])' + arguments[1] + ' (-?[0-9.e+-]+)'))).map(m => m && Number(m[1]))""", name, field)


@scenario
def a_list_is_sorted_by_a_field(b, host, _):
    open_window(b, host, "entities")
    query(b, "Velocity, !Orbit")
    b.wait("rows", FOOT + ".endsWith('of 3,000')")
    b.click(b.find("main th button[title='Sort by Velocity.y']"))
    b.wait("sorted", FOOT + ".includes('as of frame')")
    equal(set(column(b, "Velocity", "y")), {-2})
    b.click(b.find("main th button[title='Sort by Velocity.y']"))
    b.wait("the other way", "location.hash.includes('order=down') && document.querySelector('main tbody').textContent.includes('y 2')")
    equal(set(column(b, "Velocity", "y")), {2})
    b.click(b.find_text("main footer button", "Live"))
    b.wait("it goes on", "!" + FOOT + ".includes('as of')")


@scenario
def a_list_is_filtered_by_values_and_names(b, host, _):
    open_window(b, host, "entities")
    b.wait("rows", "document.querySelectorAll('main tbody tr').length === 50")
    enter(b, "#where", "Orbit.phase = burn, name ~ oo")
    b.wait("the moon", "document.querySelectorAll('main tbody tr').length === 1 && document.querySelector('main tbody').textContent.startsWith('moon')")
    enter(b, "#where", "Orbit.mean_motion < 0.2 rev/min")
    b.wait("in another unit", FOOT + ".includes('of 4, as of')")
    enter(b, "#where", "Velocity.q > 3")
    b.wait("the reason", "document.querySelector('.note.bad').textContent.includes('nothing is called \"Velocity.q\"') && document.querySelector('#where').getAttribute('aria-invalid') === 'true'")
    enter(b, "#where", "")
    b.wait("all", "document.querySelectorAll('main tbody tr').length === 50 && !document.querySelector('[aria-invalid]')")


@scenario
def a_held_list_tells_what_became_of_its_rows(b, host, _):
    made = [did(b, {"do": "create", "components": "Position, Colour, Age", "name": f"ship {i}"}) for i in range(3)]
    open_window(b, host, "entities")
    query(b, "Age, Colour")
    b.wait("three", "document.querySelectorAll('main tbody tr').length === 3")
    b.click(b.find_text("main footer button", "Hold"))
    b.wait("held", FOOT + ".includes('as of frame')")
    told(b, {"do": "destroy", "entity": made[0]["entity"]})
    told(b, {"do": "change", "entity": made[1]["entity"], "remove": "Age"})
    b.wait("both", "[...document.querySelectorAll('main tbody .tag.bad')].map(t => t.textContent).sort().join() === 'dead,left'")
    b.click(b.find_text("main footer button", "Lost since"))
    b.wait("only they", "document.querySelectorAll('main tbody tr').length === 2")
    for one in made[1:]:
        told(b, {"do": "destroy", "entity": one["entity"]})


@scenario
def the_last_frames_tell_what_was_lost(b, host, _):
    """Nothing was held before: pages of other windows were open."""
    open_window(b, host, "archetypes")
    b.wait("rows", "document.querySelectorAll('main tbody tr').length >= 5")
    made = did(b, {"do": "create", "components": "Position, Colour, Age", "name": "frigate"})
    b.wait("200 frames", FRAME + " > arguments[0]", asked_frame(b) + 200)
    b.click(b.find("#pause"))
    held_frame(b)
    told(b, {"do": "change", "entity": made["entity"], "remove": "Colour"})
    open_window(b, host, "components", "?component=Colour")
    b.click(b.find_text("main .link", "Who lost it lately"))
    b.wait("the ship", "[...document.querySelectorAll('main tbody tr')].some(r => r.textContent.includes('frigate') && r.textContent.includes('left')) && document.querySelectorAll('main tbody tr').length === 1")
    b.wait("since when", FOOT + ".includes('1 to 1 of 1, lost since frame ')")
    query(b, "Spark")
    b.wait("as it is now", "location.hash.includes('query=Spark') && !location.hash.includes('lost=yes') && document.querySelectorAll('main tbody tr').length > 9")
    b.click(b.find_text("main footer button", "Lost lately"))
    b.wait("those that died", FOOT + ".includes('lost since frame') && [...document.querySelectorAll('main tbody .tag')].filter(t => t.textContent === 'dead').length > 9")
    b.click(b.find_text("main footer button", "Live"))
    b.wait("as it is now", "!location.hash.includes('lost=yes') && !document.querySelector('main tbody .tag.bad')")
    told(b, {"do": "destroy", "entity": made["entity"]})
    b.click(b.find("#pause"))
    goes_on(b)


@scenario
def a_wrong_query_says_why(b, host, _):
    open_window(b, host, "entities")
    b.wait("the window", "document.querySelector('#query')")
    query(b, "Positio")
    b.wait("the reason", "(document.querySelector('.note.bad') || {}).textContent === 'no component \"Positio\"; did you mean Position?'")
    equal(b.run("return document.querySelector('#query').getAttribute('aria-invalid')"), "true")
    query(b, "Position")
    b.wait("rows", "document.querySelectorAll('main tbody tr').length === 50")


@scenario
def f_goes_to_the_query(b, host, _):
    b.run("document.activeElement.blur()")
    b.press("f")
    equal(b.run("return document.activeElement.id"), "query")


@scenario
def component_names_are_offered(b, host, _):
    b.wait("names", "[...document.querySelectorAll('#types option')].some(o => o.value === 'Velocity')")


@scenario
def entities_are_found_by_a_part_of_their_name(b, host, _):
    b.click(b.find_text(".modes button", "Name"))
    query(b, "OO")
    b.wait("the moon", "document.querySelectorAll('main tbody tr').length === 1 && document.querySelector('main tbody td').textContent === 'moon'")


@scenario
def names_are_text_not_markup(b, host, _):
    query(b, "<script>")
    b.wait("it", "(document.querySelector('main tbody td') || {}).textContent?.startsWith('<script>alert(1)</script>')")
    equal(b.run("return document.querySelectorAll('main script').length"), 0)


@scenario
def the_tree_opens_by_relation(b, host, _):
    b.click(b.find_text(".modes button", "Tree"))
    b.wait("the root", "document.querySelector('.tree .link') && document.querySelector('.tree .link').textContent === 'sun'")
    b.click(b.find(".tree .twist"))
    b.wait("its children", "document.querySelectorAll('.tree .tree .link').length === 2")
    equal(b.run("return document.querySelector('[role=treeitem]').getAttribute('aria-expanded')"), "true")
    b.click(b.find(".tree .tree .twist:not(.leaf)"))
    b.wait("the moon", "[...document.querySelectorAll('.tree .link')].some(l => l.textContent === 'moon')")


@scenario
def arrows_go_through_the_tree(b, host, _):
    open_window(b, host, "entities", "?mode=tree")
    b.wait("the root", "document.querySelector('.tree .link') && document.querySelector('.tree .link').textContent === 'sun'")
    focused = "document.activeElement.getAttribute('aria-label')"
    b.run("document.querySelector('.tree [role=treeitem]').focus()")
    b.press("\ue014")
    b.wait("open", "document.querySelectorAll('.tree .tree [role=treeitem]').length === 2")
    b.press("\ue014")
    equal(b.run("return " + focused), "earth")
    b.press("\ue014")
    b.wait("the moon", "[...document.querySelectorAll('.tree .link')].some(l => l.textContent === 'moon')")
    b.press("\ue015")
    equal(b.run("return " + focused), "moon")
    b.press("\ue007")
    b.wait("it is chosen", "document.querySelector('.part strong') && document.querySelector('.part strong').textContent.startsWith('moon')")
    b.press("\ue012\ue012")
    equal(b.run("return [document.querySelectorAll('.tree [role=treeitem]').length, " + focused + "]"), [3, "earth"])


@scenario
def an_entity_shows_values_units_and_systems(b, host, _):
    open_entity(b, host, "earth")
    parts = b.run("return [...document.querySelectorAll('.part h3')].map(h => h.textContent)")
    for name in ("Position", "Orbit", "Secret", "Frozen", "Trail", "Parent"):
        assert name in parts, parts
    units = b.run("return [...document.querySelectorAll('.part .unit')].map(h => h.textContent)")
    assert "rad/min" in units and "m/s" in units, units
    b.wait("systems", "[...document.querySelectorAll('.part .tags .link')].some(t => t.textContent === 'move')")


@scenario
def an_entity_leads_to_its_parent(b, host, _):
    b.click(b.find_text(".part .row-gap .link", "sun"))
    b.wait("the sun", "document.querySelector('.part strong').textContent.startsWith('sun')")


@scenario
def an_entity_tells_where_it_comes_from(b, host, _):
    b.wait("an origin", "document.querySelector('main').textContent.includes('Comes from')")


@scenario
def undescribed_values_are_bytes(b, host, _):
    values = b.run("return [...document.querySelectorAll('.part .value')].map(v => v.textContent)")
    assert "0x000000000000000000000000" in values, values


@scenario
def a_value_is_edited_with_a_unit(b, host, _):
    open_entity(b, host, "sun")
    enter(b, "#f-Orbit-mean_motion", "15 rev/day")
    b.run("document.activeElement.blur()")
    b.wait("radians a minute", "Math.abs(parseFloat(document.querySelector('#f-Orbit-mean_motion').value) - 0.065449847) < 1e-6")
    equal(b.run("return document.querySelectorAll('.problem').length"), 0)


@scenario
def a_value_out_of_range_is_refused(b, host, _):
    enter(b, "#f-Orbit-mean_motion", "5")
    b.wait("the reason", "document.querySelector('.problem') && document.querySelector('.problem').textContent.includes('0.2')")
    equal(b.run("return document.querySelector('#f-Orbit-mean_motion').value"), "5")
    b.press("\ue00c")
    b.wait("the old value", "parseFloat(document.querySelector('#f-Orbit-mean_motion').value) < 0.1")
    equal(b.run("return document.querySelectorAll('.problem, [aria-invalid]').length"), 0)


@scenario
def a_value_of_another_dimension_is_refused(b, host, _):
    enter(b, "#f-Position-x", "3 s")
    b.wait("the reason", "[...document.querySelectorAll('.problem')].some(p => p.textContent.includes('is a time'))")


@scenario
def a_constant_is_chosen_by_name(b, host, _):
    b.run("const s = document.querySelector('#f-Orbit-phase'); s.value = 'decay'; s.dispatchEvent(new Event('change'))")
    b.wait("the world has it", "document.querySelector('#f-Orbit-phase').value === 'decay'")
    answer = b.later("const done = arguments[1]; import('/net.js').then(n => n.ask({do: 'entity', name: 'sun'})).then(e => done(e.components.find(c => c.name === 'Orbit').fields[2].value), e => done(String(e)))", 0)
    equal(answer, '"decay"')


@scenario
def texts_flags_and_arrays_are_edited(b, host, _):
    open_entity(b, host, "sun")
    for name, text in (("label", "hubble"), ("drag", "[1, 2, 3]")):
        enter(b, f"#f-Orbit-{name}", text)
        b.run("document.activeElement.blur()")
        b.wait(name, "document.querySelector(arguments[0]).value === arguments[1]", f"#f-Orbit-{name}", text)
    b.click(b.find("#f-Orbit-is_tracked"))
    b.wait("checked", "document.querySelector('#f-Orbit-is_tracked').checked")
    equal(b.run("return document.querySelectorAll('.problem').length"), 0)


@scenario
def bits_are_chosen_by_name(b, host, _):
    open_entity(b, host, "moon")
    box = "[aria-label='Orbit.marks seen']"
    b.wait("both", "document.querySelector(arguments[0]).checked && document.querySelector(\"[aria-label='Orbit.marks lost']\").checked", box)
    b.click(b.find(box))
    value = lambda: [c for c in told(b, {"do": "entity", "name": "moon"})["components"] if c["name"] == "Orbit"][0]["fields"][3]["value"]  # noqa: E731
    deadline = time.monotonic() + 10
    while value() != '"lost"' and time.monotonic() < deadline:
        time.sleep(0.05)
    equal(value(), '"lost"')
    b.click(b.find_text("main button", "Undo"))
    b.wait("as before", "document.querySelector(arguments[0]).checked", box)


@scenario
def a_colour_is_shown_and_chosen(b, host, _):
    open_entity(b, host, "moon")
    patch = "[aria-label='Colour Gear.paint']"
    b.wait("its colour", "document.querySelector(arguments[0]).value === '#ff8000'", patch)
    b.run("const e = document.querySelector(arguments[0]); e.value = '#00ff00'; e.dispatchEvent(new Event('change'))", patch)
    b.wait("it is written", "document.querySelector('.written')")
    gear = [c for c in told(b, {"do": "entity", "name": "moon"})["components"] if c["name"] == "Gear"][0]
    equal(gear["fields"][2]["value"], "[0, 1, 0]")


@scenario
def buffers_and_blobs_are_tables(b, host, _):
    open_entity(b, host, "moon")
    b.wait("both", "document.querySelector(\"table[aria-label='Elements of Trail']\") && document.querySelector(\"table[aria-label='corners']\")")
    equal(len(rows(b, "table[aria-label='Elements of Trail']")), 16)
    equal(rows(b, "table[aria-label='corners']")[4], ["4", "4", "0", "0"])
    b.click(b.find_text(".wide-field .link", "more"))
    b.wait("all", "document.querySelectorAll(\"table[aria-label='Elements of Trail'] tbody tr\").length === 20")


@scenario
def a_field_gets_another_entity_by_name(b, host, _):
    open_entity(b, host, "moon")
    b.wait("its target", "document.querySelector('#f-Gear-target').parentNode.textContent.includes('earth (')")
    b.click(b.find("[aria-label='Change Gear.target']"))
    b.keys(b.find("#f-Gear-target"), "su")
    b.wait("names", "[...document.querySelectorAll('#f-Gear-target-names option')].some(o => o.value === 'sun')")
    enter(b, "#f-Gear-target", "sun")
    b.wait("it is written", "document.querySelector('#f-Gear-target').parentNode.textContent.includes('sun (')")
    b.click(b.find("[aria-label='Change Gear.target']"))
    enter(b, "#f-Gear-target", "none at all")
    b.wait("the reason", "document.querySelector('.problem') && document.querySelector('.problem').textContent.includes('no entity has this name')")
    b.press("\ue00c")


@scenario
def a_unit_is_chosen_for_showing_and_writing(b, host, _):
    open_entity(b, host, "moon")
    enter(b, "#f-Velocity-x", "5")
    b.wait("it is written", "document.querySelector('.written')")
    b.run("document.activeElement.blur()")
    unit = "[...document.querySelectorAll('.unit.link')].find(e => ['m/s', 'km/s', 'km/h', 'kn'].includes(e.textContent))"
    for _ in range(2):
        b.run(unit + ".click()")
    b.wait("in km/h", "document.querySelector('#f-Velocity-x').value === '18'")
    enter(b, "#f-Velocity-x", "36")
    velocity = lambda: [c for c in told(b, {"do": "entity", "name": "moon"})["components"] if c["name"] == "Velocity"][0]["fields"][0]["value"]  # noqa: E731
    deadline = time.monotonic() + 10
    while velocity() != "10" and time.monotonic() < deadline:
        time.sleep(0.05)
    equal(velocity(), "10")
    for _ in range(2):
        b.run(unit + ".click()")
    b.wait("in m/s", "document.querySelector('#f-Velocity-x').value === '10'")
    enter(b, "#f-Velocity-x", "0")


@scenario
def whole_numbers_are_64_bits_wide(b, host, _):
    open_entity(b, host, "sun")
    equal(b.run("return document.querySelector('#f-Wide-number').value"), "-9007199254740993")
    for name, text in (("number", "9007199254740995"), ("pair", "[18446744073709551613,3]")):
        enter(b, f"#f-Wide-{name}", text)
        b.wait("it is written", f"document.querySelector('#f-Wide-{name}').nextSibling.textContent.includes('written')")
        b.run("document.activeElement.blur()")
        equal(b.run(f"return document.querySelector('#f-Wide-{name}').value.replaceAll(' ', '')"), text)
    query(b, "Wide")
    b.wait("the list has them", "document.querySelector('main tbody') && document.querySelector('main tbody').textContent.includes('9007199254740995') && document.querySelector('main tbody').textContent.includes('18446744073709551613')")


@scenario
def escape_takes_back_what_was_typed(b, host, _):
    open_entity(b, host, "sun")
    before = b.run("return document.querySelector('#f-Wide-number').value")
    field = b.find("#f-Wide-number")
    b.keys(field, "\ue009a\ue000\ue003" + "77")
    b.press("\ue00c")
    equal(b.run("return document.querySelector('#f-Wide-number').value"), before)
    b.run("document.activeElement.blur()")
    time.sleep(0.3)
    equal(b.run("return document.querySelector('#f-Wide-number').value"), before)
    equal(b.run("return document.querySelectorAll('.problem, .written').length"), 0)


@scenario
def a_mark_goes_with_the_next_good_value(b, host, _):
    enter(b, "#f-Orbit-mean_motion", "7")
    said = b.wait("the reason", "document.querySelector('.problem') && document.querySelector('.problem').textContent")
    assert not said.startswith("value:"), said
    enter(b, "#f-Orbit-mean_motion", "0.03")
    b.wait("it is written", "document.querySelector('.written')")
    equal(b.run("return document.querySelectorAll('.problem, [aria-invalid]').length"), 0)


@scenario
def an_enable_bit_is_switched(b, host, _):
    box = b.find("input[aria-label='Frozen is enabled']")
    b.click(box)
    b.wait("enabled", "document.querySelector(\"input[aria-label='Frozen is enabled']\").checked")
    answer = b.later("const done = arguments[1]; import('/net.js').then(n => n.ask({do: 'entities', query: 'Frozen'})).then(e => done(e.total), e => done(String(e)))", 0)
    equal(answer, 1)


@scenario
def what_is_read_only_has_no_field(b, host, _):
    equal(b.run("return document.querySelector('#f-Orbit-number')"), None)
    assert "25544" in b.text("main")


@scenario
def a_click_shows_values_within_50_ms(b, host, _):
    open_window(b, host, "entities")
    query(b, "Orbit")
    b.wait("rows", "document.querySelectorAll('main tbody tr').length === 4")
    times = b.later("""const done = arguments[1], links = [...document.querySelectorAll('main tbody .link')], times = [];
        (async () => { for (let i = 0; i < 12; i++) { const name = links[i % 4].textContent, begin = performance.now(); links[i % 4].click();
          while (!(document.querySelector('.part strong') || {}).textContent?.startsWith(name.slice(0, 3))) await new Promise(requestAnimationFrame);
          times.push(performance.now() - begin); await new Promise(r => setTimeout(r, 30)); } done(times.sort((a, b) => a - b)); })()""", 0)
    print(f"  click to value: median {times[6]:.0f} ms, most {times[-1]:.0f} ms")
    assert times[6] < 500, times  # the figure is printed; the limit only finds what hangs


# ---- systems, queries

@scenario
def a_component_tells_who_writes_it_and_where_it_is(b, host, _):
    open_window(b, host, "components")
    b.wait("types", "document.querySelectorAll('main tbody tr').length > 10")
    b.click(b.find_text("main tbody .link", "Velocity"))
    b.wait("its systems", "[...document.querySelectorAll('.tags')].some(t => t.textContent === 'bounce')")
    said = b.run("return [...document.querySelectorAll('.body h3')].map(h => [h.textContent, h.nextElementSibling.textContent])")
    said = dict(said)
    equal(said["Written by"], "bounce")
    equal(said["Read by"], "move")
    assert "m/s" in said["Fields"] and "Position, Velocity" in said["Archetypes"], said
    b.click(b.find_text(".body .link", "Entities with Velocity"))
    b.wait("its entities", "document.querySelector('#tab-entities').getAttribute('aria-selected') === 'true' && document.querySelectorAll('main tbody tr').length === 50")
    equal(b.run("return document.querySelector('#query').value"), "Velocity")


@scenario
def components_are_found_by_kind_and_sorted(b, host, _):
    open_window(b, host, "components")
    b.wait("types", "document.querySelectorAll('main tbody tr').length > 10")
    b.click(b.find_text("th button", "Entities"))
    first = b.wait("sorted", "document.querySelector('th[aria-sort=descending]') && document.querySelector('main tbody td').textContent")
    equal(first, "Position")
    b.keys(b.find("#part"), "buffer")
    b.wait("one kind", "document.querySelectorAll('main tbody tr').length === 2")
    equal([row[0] for row in rows(b)], ["Trail", "LinkedGroup"])


@scenario
def a_resource_is_shown_and_edited(b, host, _):
    open_window(b, host, "components", "?component=Gravity")
    b.wait("its value", "document.querySelector('#f-Gravity-y') && document.querySelector('#f-Gravity-y').value === '-9.81'")
    enter(b, "#f-Gravity-y", "-1.62")
    b.wait("it is written", "document.querySelector('.written')")
    enter(b, "#f-Gravity-seed", "9223372036854775807")
    b.wait("it is written", "document.querySelector('#f-Gravity-seed').nextSibling.textContent.includes('written')")
    answer = b.later("const done = arguments[1]; import('/net.js').then(n => n.ask({do: 'component', component: 'Gravity'})).then(e => done(e.fields.map(f => f.value).join()), e => done(String(e)))", 0)
    equal(answer, "-1.62,9223372036854775807")


@scenario
def systems_have_times(b, host, _):
    open_window(b, host, "systems")
    b.wait("times", "[...document.querySelectorAll('main tbody tr')].length === 5 && /[1-9]/.test(document.querySelectorAll('main tbody td')[4].textContent)")
    equal(sorted(r[1] for r in rows(b)), ["age", "bounce", "look", "move", "spark"])


@scenario
def systems_tell_what_they_touch(b, host, _):
    found = next(r for r in rows(b) if r[1] == "look")
    equal(found[10], "main threadPositionFrozen")


@scenario
def the_frame_is_drawn_over_the_workers(b, host, _):
    b.wait("pixels", """(() => { const c = document.querySelector('.lanes canvas'); if (!c || !c.width) return false;
        const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data; let n = 0;
        for (let i = 3; i < d.length; i += 4) n += d[i] > 200; return n > 2000; })()""")


@scenario
def the_reason_of_an_order_is_told(b, host, _):
    b.click(b.find_text("main tbody .link", "bounce"))
    b.wait("edges", "[...document.querySelectorAll('main .row-gap button')].some(e => e.textContent.startsWith('move'))")
    b.click(b.find_text("main .row-gap button", "move"))
    b.wait("why", "document.querySelector('pre.why').textContent.includes('Position')")


@scenario
def a_system_is_switched_off_and_on(b, host, _):
    open_window(b, host, "systems", "?sort=name") # by times a row may move between aim and click
    b.wait("its row", "document.querySelector(\"input[aria-label='spark runs']\")")
    b.click(b.find("input[aria-label='spark runs']"))
    b.wait("off", "!document.querySelector(\"input[aria-label='spark runs']\").checked")
    answer = b.later("const done = arguments[1]; import('/net.js').then(n => n.ask({do: 'systems'})).then(e => done(e.systems.find(s => s.name === 'spark').enabled), e => done(String(e)))", 0)
    equal(answer, False)
    b.click(b.find("input[aria-label='spark runs']"))
    b.wait("on", "document.querySelector(\"input[aria-label='spark runs']\").checked")


@scenario
def queries_are_listed_with_their_systems(b, host, _):
    open_window(b, host, "queries")
    b.wait("rows", "document.querySelectorAll('main tbody tr').length >= 4")
    found = next(r for r in rows(b) if r[7] == "look")
    assert found[0] == "Positionwithout Frozen" and found[3].startswith("3,60"), found


# ---- timeline, memory, scenes, jobs

@scenario
def the_timeline_follows_and_stops(b, host, _):
    open_window(b, host, "timeline")
    b.wait("a canvas", "document.querySelector('.lanes canvas') && document.querySelector('.lanes canvas').height > 60")
    b.click(b.find_text("main button", "Follow"))
    equal(b.run("return [...document.querySelectorAll('main button')].find(e => e.textContent === 'Follow').getAttribute('aria-pressed')"), "false")


@scenario
def the_timeline_zooms_by_keys(b, host, _):
    picture = "const c = document.querySelector('.lanes canvas'); return c.toDataURL()"
    before = b.run(picture)
    b.run("document.querySelector('.lanes canvas').focus()")
    b.press("+")
    b.wait("another picture", "document.querySelector('.lanes canvas').toDataURL() !== arguments[0]", before)
    b.press("\ue012-")


@scenario
def the_timeline_is_exported(b, host, _):
    b.click(b.find_text("main button", "Export"))
    b.wait("exported", "/[1-9][\\d,]* spans exported/.test(document.querySelector('main header').textContent)")


@scenario
def memory_is_drawn_over_time(b, host, _):
    open_window(b, host, "memory")
    b.wait("curves", "document.querySelectorAll('main svg .curve').length >= 3")
    b.wait("categories", "[...document.querySelectorAll('main tbody td')].some(c => c.textContent === 'chunks')")
    equal(b.run("return document.querySelectorAll('main tbody tr').length"), 11)


@scenario
def mistakes_of_scenes_have_places(b, host, _):
    open_window(b, host, "scenes")
    b.wait("the mistake", "[...document.querySelectorAll('main tbody td')].some(c => c.textContent.startsWith('level.weft:3:'))")
    assert "is a time" in b.text("main")


@scenario
def sections_are_loaded_by_the_page(b, host, _):
    b.click(b.find_text("main tbody button", "Load"))
    b.wait("both loaded", "[...document.querySelectorAll('main tbody .tag')].filter(t => t.textContent === 'loaded').length === 2")


def write_document(folder, motion):
    with open(os.path.join(folder, "next"), "w", encoding="utf-8") as f:
        f.write('{ "weft": 1, "objects": {\n  "planet": {"Orbit": {"mean_motion": "%s"}}}}\n' % motion)
    os.replace(os.path.join(folder, "next"), os.path.join(folder, "level.weft"))


@scenario
def live_links_and_streams_are_found(b, host, _):
    with tempfile.TemporaryDirectory() as folder:
        write_document(folder, "0.1 rad/min")
        guest = Host(sys.argv[1], "--write", "--live", folder)
        open_window(b, guest, "scenes")
        b.wait("the document", "[...document.querySelectorAll('main .tag')].some(t => t.textContent.endsWith('level.weft'))")
        section = "[...document.querySelectorAll('main table[aria-label^=\"Sections of\"] tbody tr')].find(r => r.children[0].textContent === '1')"
        b.wait("its sections", section)
        b.run(f"{section}.querySelector('button').click()")
        b.wait("loaded", f"{section}.children[1].textContent === 'loaded' && {section}.children[3].textContent === '100'")
        open_window(b, guest, "entities")
        b.wait("every entity", "document.querySelectorAll('main tbody tr').length === 50")
        query(b, "Section")
        b.wait("those of the section", "document.querySelector('main thead').textContent.includes('Section') && document.querySelector('main tbody').textContent.includes('section 1')")
        b.click(b.find("main tbody .link"))
        b.wait("where it is from", "document.querySelector('main').textContent.includes('parts.wss, section 1')")
        query(b, "Orbit")
        b.wait("five", "document.querySelectorAll('main tbody tr').length === 5")
        b.click(b.find_text("main tbody .link", "planet"))
        b.wait("its document", "/level.weft:2 planet/.test(document.querySelector('main').textContent)")
        enter(b, "[id='f-Orbit-mean_motion']", "0.05 rad/min")
        b.wait("the edit", "document.querySelector('main tbody').textContent.includes('mean_motion 0.05')")
        write_document(folder, "0.15 rad/min")
        b.wait("the conflict", "document.querySelector('main').textContent.includes('planet.Orbit.mean_motion: the run and the document')")
        write_document(folder, "0.15 s")
        open_window(b, guest, "scenes")
        b.wait("the mistake", "[...document.querySelectorAll('main .why')].some(t => t.textContent.includes('level.weft:2:'))")
        assert guest.end()


def open_planet(b, guest, field):
    """Chooses the planet of the document, whose field can be written back."""
    open_window(b, guest, "entities", "?query=Orbit")
    b.wait("five", "document.querySelectorAll('main tbody tr').length === 5")
    b.click(b.find_text("main tbody .link", "planet"))
    b.wait("its values", "document.querySelector(`[aria-label='Write ${arguments[0]} into its document']`)", field)


@scenario
def values_are_written_into_their_document(b, host, _):
    """Also lists and words; where no live link has the entity, nothing offers it."""
    with tempfile.TemporaryDirectory() as folder:
        write_document(folder, "0.1 rad/min")
        guest = Host(sys.argv[1], "--write", "--live", folder)
        try:
            open_planet(b, guest, "Orbit.drag")
            enter(b, "[id='f-Orbit-drag']", "[0.25, 0, 1]")
            b.wait("the edit", "document.querySelector('main tbody').textContent.includes('drag [0.25,0,1]')")
            b.run("const s = document.querySelector('[id=f-Orbit-phase]'); s.value = 'burn'; s.dispatchEvent(new Event('change'))")
            b.wait("the other", "document.querySelector('main tbody').textContent.includes('phase burn')")
            for field in ("drag", "phase"):
                b.run("document.querySelector('[role=status].soft').textContent = ''; document.querySelector(arguments[0]).click()", f"[aria-label='Write Orbit.{field} into its document']")
                b.wait("it says so", "document.querySelector('main').textContent.includes('written into its document')")
            with open(os.path.join(folder, "level.weft"), encoding="utf-8") as f:
                text = f.read()
            assert '"mean_motion": "0.1 rad/min"' in text and '"drag": [0.25, 0, 1]' in text and '"phase": "burn"' in text, text
            b.click(b.find_text("main tbody .link", "sun"))
            b.wait("another", STRONG, "sun")
            assert not b.run("return document.querySelector('[title=\"Write it into its document\"]')"), "the sun is in no document"
        finally:
            assert guest.end()


@scenario
def the_unit_of_a_document_stays_and_undo_reaches_it(b, host, _):
    """What is written back has the unit that stood there; Undo gives the document its bytes again."""
    with tempfile.TemporaryDirectory() as folder:
        write_document(folder, "0.1 deg/min")
        def text():
            with open(os.path.join(folder, "level.weft"), encoding="utf-8") as f:
                return f.read()
        def motion(then):
            b.wait(then, "Math.abs(Number(document.querySelector('[id=\"f-Orbit-mean_motion\"]').value) - arguments[0]) < 1e-7", then * 3.141592653589793 / 180)
        before = text()
        guest = Host(sys.argv[1], "--write", "--live", folder)
        try:
            open_planet(b, guest, "Orbit.mean_motion")
            enter(b, "[id='f-Orbit-mean_motion']", "3 deg/min")
            b.wait("the edit", "document.querySelector('main tbody').textContent.includes('mean_motion 0.0523')")
            b.run("document.querySelector('[aria-label=\"Write Orbit.mean_motion into its document\"]').click()")
            b.wait("it says so", "document.querySelector('main').textContent.includes('written into its document')")
            equal(text(), before.replace("0.1 deg/min", "3 deg/min"))
            b.run("document.activeElement.blur()")
            b.click(b.find_text("main button", "Undo"))
            b.wait("the document is taken back", "document.querySelector('main').textContent.includes('Orbit.mean_motion in its document is as it was')")
            equal(text(), before)
            motion(0.1)
        finally:
            assert guest.end()


@scenario
def jobs_show_workers(b, host, _):
    open_window(b, host, "jobs")
    b.wait("two workers", "document.querySelectorAll('main tbody tr').length === 2")
    b.wait("they are busy", "/\\d %/.test(document.querySelectorAll('main tbody td')[1].textContent)")
    b.wait("curves", "document.querySelectorAll('main svg .curve').length === 4")


# ---- shards

@scenario
def a_plain_world_has_no_shards(b, host, _):
    open_window(b, host, "shards")
    b.wait("why", "document.querySelector('main').textContent.includes('This world is not sharded.')")


class Ranks:
    """A run of three ranks, inspected on rank 0."""
    def __init__(self, weft):
        command = ["mpirun", "--bind-to", "none", "--oversubscribe", "-np", "3", weft, "shard-demo", "flock", "--ticks", "1000000000",
                   "--size", "3000", "--workers", "1", "--inspect=0,write"]
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True) # of mpirun: beside other runs, none is shared
        environment = {**os.environ, "TMPDIR": self.folder.name, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_btl": "self,vader",
                       "OMPI_MCA_mpi_yield_when_idle": "1"}
        self.process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.url = next(line for line in self.process.stderr if "http" in line).split("inspector: ")[1].strip()

    def end(self):
        self.process.terminate()
        self.process.communicate()
        self.folder.cleanup()


@scenario
def ranks_are_shown_with_sums_over_them(b, *_):
    weft = os.environ.get("WEFT_SHARDS")
    if not weft or not shutil.which("mpirun"):
        print("  without ranks: built without MPI, or mpirun is not installed")
        return
    run = Ranks(weft)
    try:
        open_window(b, run, "shards")
        b.wait("ranks", "document.querySelectorAll('main table[aria-label=Ranks] tbody tr').length === 3 && document.querySelector('main table[aria-label=Ranks] tbody td + td').textContent")
        equal([r[0] for r in rows(b, "main table[aria-label=Ranks]")], ["0", "1", "2"])
        found = {r[0]: r for r in rows(b, "main table[aria-label='Over all ranks']")}
        equal(found["Entities"][1:3], ["3,000", "1,000"])
        assert float(found["Work, each tick"][5]) >= 1 and "iB" in found["Sent, each tick"][1], found
        b.click(b.find_text("main table[aria-label=Ranks] th button", "Rank"))
        equal([r[0] for r in rows(b, "main table[aria-label=Ranks]")], ["2", "1", "0"])
    finally:
        run.end()


# ---- reading only, keys, widths

@scenario
def reading_only_has_no_fields(b, _, host):
    open_window(b, host, "entities")
    query(b, "Orbit")
    b.wait("rows", "document.querySelectorAll('main tbody tr').length === 4")
    b.click(b.find_text("main tbody .link", "sun"))
    b.wait("values", "document.querySelectorAll('.part .value').length > 6")
    equal(b.run("return document.querySelectorAll('.part .fields input:not(:disabled), .part .fields select').length"), 0)
    open_window(b, host, "systems")
    b.wait("switches", "document.querySelector('main tbody .switch')")
    equal(b.run("return document.querySelectorAll('main tbody .switch:not(:disabled)').length"), 0)


@scenario
def without_the_key_nothing_is_shown(b, host, _):
    b.go(host.url.split("#")[0])
    b.wait("why", "document.querySelector('main').textContent.includes('needs its key')")
    b.go(host.url[:-1] + ("0" if host.url[-1] != "0" else "1"))
    b.wait("why", "document.querySelector('main').textContent.includes('needs its key')")


@scenario
def all_names_and_all_roots_can_be_reached(b, *_):
    probes = Host(sys.argv[1], "--probes", "230", "--entities", "450000")
    try:
        open_window(b, probes, "entities")
        b.click(b.find_text(".modes button", "Name"))
        query(b, "probe")
        b.wait("names", "document.querySelector('main .panel footer span') && " + FOOT + ".endsWith('of 230')")
        names = set()
        for first in range(0, 230, 20):
            enter(b, "[aria-label='Go to row']", str(first + 1))
            b.wait(f"row {first}", "[...document.querySelectorAll('main tbody tr')].some(r => r.getAttribute('aria-rowindex') === arguments[0]) && [...document.querySelectorAll('main tbody tr')].some(r => r.getAttribute('aria-rowindex') === arguments[1])", str(first + 1), str(min(first + 20, 230)))
            names.update(row[0] for row in rows(b))
        equal(len(names), 230)
        b.click(b.find_text(".modes button", "Tree"))
        b.wait("the first root, without a click", "document.querySelector('.tree .link') && document.querySelector('.tree .link').textContent === 'sun'")
    finally:
        assert probes.end()


HASH = "decodeURIComponent(location.hash.split('?')[1] || '')"


@scenario
def back_and_forward_go_through_what_was_looked_at(b, host, _):
    open_window(b, host, "entities")
    query(b, "Orbit, ?Parent")
    b.wait("rows", "document.querySelectorAll('main tbody tr').length === 4")
    b.click(b.find_text("main tbody .link", "earth"))
    b.wait("earth", "document.querySelector('.part strong') && document.querySelector('.part strong').textContent.startsWith('earth')")
    b.click(b.find_text(".part .link", "sun"))
    b.wait("sun", "document.querySelector('.part strong').textContent.startsWith('sun')")
    b.click(b.find_text(".tags .link", "move"))
    b.wait("its system", "document.querySelector('#tab-systems').getAttribute('aria-selected') === 'true' && document.querySelector('.body h3')")
    equal(b.run("return " + HASH), "system=move")
    b.post("/back")
    b.wait("sun again", "document.querySelector('.part strong') && document.querySelector('.part strong').textContent.startsWith('sun')")
    b.post("/back")
    b.wait("earth again", "document.querySelector('.part strong') && document.querySelector('.part strong').textContent.startsWith('earth')")
    equal(b.run("return document.querySelector('#query').value"), "Orbit, ?Parent")
    b.post("/forward")
    b.wait("sun", "document.querySelector('.part strong') && document.querySelector('.part strong').textContent.startsWith('sun')")


@scenario
def the_url_keeps_query_mode_choice_and_sort(b, host, _):
    open_window(b, host, "entities")
    query(b, "Orbit")
    b.wait("rows", "document.querySelectorAll('main tbody tr').length === 4")
    b.click(b.find_text("main tbody .link", "moon"))
    b.wait("moon", "document.querySelector('.part strong') && document.querySelector('.part strong').textContent.startsWith('moon')")
    b.post("/refresh")
    b.wait("moon", "document.querySelector('.part strong') && document.querySelector('.part strong').textContent.startsWith('moon')")
    equal(b.run("return document.querySelector('#query').value"), "Orbit")
    b.click(b.find("#tab-memory"))
    b.click(b.find("#tab-entities"))
    b.wait("as it was left", "document.querySelector('#query').value === 'Orbit' && document.querySelector('.part strong')")
    b.click(b.find_text(".modes button", "Tree"))
    b.wait("the tree", "document.querySelector('.tree .link')")
    b.post("/refresh")
    b.wait("the tree", "document.querySelector('.tree .link') && document.querySelector('.modes [aria-pressed=true]').textContent === 'Tree'")
    open_window(b, host, "queries", "?sort=archetypes&order=up")
    b.wait("sorted", "document.querySelector('th[aria-sort=ascending]') && document.querySelector('th[aria-sort=ascending]').textContent === 'Archetypes'")


@scenario
def a_query_of_the_program_leads_to_its_entities(b, host, _):
    open_window(b, host, "queries")
    b.wait("rows", "document.querySelector('main tbody a[href*=entities]')")
    for href in b.run("return [...new Set([...document.querySelectorAll('main tbody a[href*=entities]')].map(e => e.href))]"):
        b.go(href)
        b.wait("rows or none", "document.querySelector('.panel footer span') && document.querySelector('.panel footer span').textContent !== ''")
        equal(b.run("return document.querySelectorAll('[aria-invalid]').length"), 0)


@scenario
def a_program_that_does_not_step_is_told(b, *_):
    held = Host(sys.argv[1])
    try:
        open_window(b, held, "archetypes")
        held.process.send_signal(signal.SIGUSR1)
        b.wait("it says so", "document.querySelector('#state').textContent.startsWith('no step for') && document.body.classList.contains('stale')")
        b.go(f"{held.url}/memory")
        b.wait("a new page, too", "document.querySelector('#state').textContent.startsWith('no step for') && !document.querySelector('#still').hidden")
        held.process.send_signal(signal.SIGUSR1)
        b.wait("it goes on", "document.querySelector('#state').textContent === 'running' && !document.body.classList.contains('stale')")
        b.wait("the window that was chosen meanwhile", "document.querySelector('main dd') && document.querySelector('#still').hidden")
    finally:
        assert held.end()


@scenario
def ten_tabs_look_at_once(b, host, _):
    first = b.call("GET", b.path + "/window")
    tabs = []
    try:
        for i in range(9):
            tabs.append(b.post("/window/new", type="tab")["handle"])
            b.post("/window", handle=tabs[-1])
            open_window(b, host, WINDOWS[i % len(WINDOWS)])
        for tab in [first, *tabs]:
            b.post("/window", handle=tab)
            if tab == first:
                open_window(b, host, "archetypes")
            frame = b.run("return document.querySelector('#figures dd').textContent")
            b.wait("frames go on", "document.querySelector('#figures dd').textContent !== arguments[0]", frame)
    finally:
        for tab in tabs:
            b.post("/window", handle=tab)
            b.call("DELETE", b.path + "/window")
        b.post("/window", handle=first)


@scenario
def windows_get_their_own_events_only(b, host, _):
    open_window(b, host, "archetypes")
    b.log()
    bad = b.later("""const done = arguments[0], names = ['systems', 'queries', 'memory', 'jobs', 'entities', 'archetypes', 'timeline'];
        let at = 0, bad = [];
        const look = new MutationObserver(() => { const text = document.querySelector('main').textContent;
            if (/NaN|undefined|\\[object/.test(text)) bad.push(names[at % names.length] + ': ' + text.slice(0, 80)); });
        look.observe(document.querySelector('main'), { subtree: true, childList: true, characterData: true });
        const next = () => { if (++at === 140) { look.disconnect(); done(bad); return; }
            document.querySelector('#tab-' + names[at % names.length]).click(); setTimeout(next, at % 5 * 13); };
        next();""")
    equal(bad, [])
    b.wait("the stream goes on", "document.querySelector('#state').textContent === 'running'")
    equal([line["message"] for line in b.log() if line["level"] == "SEVERE"], [])


@scenario
def the_later_list_counts_whichever_comes_first(b, host, _):
    open_window(b, host, "archetypes")
    got = b.later("""const done = arguments[0], real = window.fetch; let late = null, sent = 0;
        window.fetch = (to, how) => { // the first list waits until the second one was answered
            if (to !== '/api' || !how.body.includes('"watch"')) return real(to, how);
            if (++sent === 1) return new Promise(r => { late = () => r(real(to, how)); });
            return real(to, how).then(a => { if (late) { late(); late = null; } return a; }); };
        import('/net.js').then(n => { const refused = []; let events = 0;
            const s = new n.Stream((kind) => { if (kind !== 'open') return;
                setTimeout(() => s.watch([{ request: { do: 'status' }, update: () => { if (sent > 1 && !late) events++; }, refused: (p) => refused.push(p.message) }]), 0); });
            s.watch([{ request: { do: 'memory' }, update() {}, refused: (p) => refused.push(p.message) }]);
            const end = Date.now() + 8000, look = () => { if (events > 5 || Date.now() > end) { window.fetch = real; done([sent, events > 5, refused]); } else setTimeout(look, 50); };
            look(); });""")
    equal(got, [2, True, []])


# ---- search

def find_open(b, text):
    b.run("document.activeElement.blur()")
    b.press("/")
    b.wait("the field", "document.querySelector('dialog.find[open]') && document.activeElement.id === 'find'")
    b.keys(b.find("#find"), text)


def found(b):
    return b.run("return [...document.querySelectorAll('#found li')].map(e => [...e.children].map(c => c.textContent))")


@scenario
def a_slash_finds_a_system_and_enter_opens_it(b, host, _):
    open_window(b, host, "memory")
    find_open(b, "boun")
    b.wait("the system", "document.querySelector('#found li') && document.querySelector('#found li').textContent.includes('bounce')")
    equal(found(b)[0], ["bounce", "system"])
    b.press("\ue007")
    b.wait("its window", "document.querySelector('#tab-systems').getAttribute('aria-selected') === 'true'")
    equal(b.run("return " + HASH), "system=bounce")


@scenario
def a_resource_a_group_and_a_window_are_found(b, host, _):
    open_window(b, host, "memory")
    for word, kind in (("gravi", "resource"), ("effects", "group"), ("timel", "window"), ("frozen", "component"), ("parent", "component")):
        find_open(b, word)
        b.wait(word, "[...document.querySelectorAll('#found li')].some(e => e.lastChild.textContent === arguments[0])", kind)
        b.press("\ue00c")
        b.wait("closed", "!document.querySelector('dialog.find[open]')")


@scenario
def entities_are_found_by_name_and_by_handle(b, host, _):
    open_window(b, host, "memory")
    find_open(b, "moo")
    b.wait("the moon", "[...document.querySelectorAll('#found li')].some(e => e.textContent === 'moonentity')")
    b.press("\ue00c")
    find_open(b, "3601:1")
    b.wait("the handle", "document.querySelector('#found li') && document.querySelector('#found li').textContent === '3601:1entity'")
    b.press("\ue007")
    b.wait("its values", "document.querySelector('.part strong') && document.querySelector('.part strong').textContent.startsWith('earth')")


@scenario
def arrows_move_through_what_was_found(b, host, _):
    open_window(b, host, "memory")
    find_open(b, "o")
    b.wait("several", "document.querySelectorAll('#found li').length > 3")
    b.press("\ue015\ue015\ue013")
    equal(b.run("return [...document.querySelectorAll('#found li')].findIndex(e => e.getAttribute('aria-selected') === 'true')"), 1)
    b.press("\ue00c")
    b.wait("closed", "!document.querySelector('dialog.find[open]')")


@scenario
def what_is_not_there_is_said(b, host, _):
    open_window(b, host, "memory")
    b.click(b.find("#find-open"))
    b.keys(b.find("#find"), "zzzz")
    b.wait("nothing", "document.querySelector('#found').textContent.startsWith('Nothing has this')")
    b.press("\ue00c")


# ---- changes of the world

def told(b, request):
    """The program's answer, or the words of its refusal."""
    return b.later("const done = arguments[1]; import('/net.js').then(n => n.ask(arguments[0])).then(done, e => done(e.message))", request)


def did(b, request):
    answer = told(b, request)
    assert isinstance(answer, dict), (request, answer)
    return answer


STRONG = "document.querySelector('.part strong') && document.querySelector('.part strong').textContent.startsWith(arguments[0])"


@scenario
def an_entity_is_made_named_and_destroyed(b, host, _):
    open_window(b, host, "entities")
    query(b, "Position, Velocity, !Orbit")
    b.wait("rows", "document.querySelectorAll('main tbody tr').length === 50")
    before = told(b, {"do": "entities", "query": "Position, Velocity, !Orbit"})["total"]
    b.click(b.find_text("main button", "New"))
    b.wait("its values", "document.querySelectorAll('.fields').length >= 2 && document.querySelector('details')")
    b.wait("one more", "document.querySelector('footer span').textContent.endsWith(arguments[0])", f"{before + 1:,}")
    b.click(b.find("summary"))
    enter(b, "[aria-label='Name of the entity']", "newborn")
    b.wait("its name", STRONG, "newborn")
    handle = b.text(".part code")
    b.click(b.find("summary"))
    b.click(b.find_text("details button", "Destroy"))
    assert isinstance(told(b, {"do": "entity", "entity": handle}), dict), "one click destroys nothing"
    b.click(b.find_text("details button", "Destroy it for good"))
    b.wait("it is said", "document.querySelector('main').textContent.includes('was destroyed')")
    assert "not alive" in told(b, {"do": "entity", "entity": handle})


@scenario
def a_copy_has_the_same_values(b, host, _):
    open_entity(b, host, "moon")
    handle = b.text(".part code")
    b.click(b.find("summary"))
    b.click(b.find_text("details button", "Clone"))
    b.wait("another one", "document.querySelector('.part code').textContent !== arguments[0]", handle)
    copy = told(b, {"do": "entity", "entity": b.text(".part code")})
    first = told(b, {"do": "entity", "entity": handle})
    orbit = [[c for c in one["components"] if c["name"] == "Orbit"][0]["fields"] for one in (first, copy)]
    equal(orbit[0], orbit[1])
    told(b, {"do": "destroy", "entity": copy["entity"]})


@scenario
def a_component_is_added_and_removed(b, host, _):
    made = did(b, {"do": "create", "components": "Position", "name": "changed"})
    open_window(b, host, "entities", f"?entity={made['entity']}")
    b.wait("its values", STRONG, "changed")
    b.click(b.find("summary"))
    enter(b, "[aria-label='Component to add']", "Age")
    b.wait("it has it", "[...document.querySelectorAll('.part h3')].some(e => e.textContent === 'Age')")
    b.click(b.find("[aria-label='Remove Position']"))
    b.wait("it lost it", "![...document.querySelectorAll('.part h3')].some(e => e.textContent === 'Position')")
    b.click(b.find("summary"))
    enter(b, "[aria-label='Component to add']", "Nonsense")
    b.wait("the reason", "document.querySelector('main').textContent.includes('no component \"Nonsense\"')")
    told(b, {"do": "destroy", "entity": made["entity"]})


@scenario
def an_entity_gets_another_parent(b, host, _):
    made = did(b, {"do": "create", "components": "Position", "name": "guest"})
    open_window(b, host, "entities", f"?entity={made['entity']}")
    b.wait("its values", STRONG, "guest")
    b.click(b.find("summary"))
    b.wait("the relations", "document.querySelector('[aria-label=\"Relation to set\"]').value === 'Parent'")
    enter(b, "[aria-label='Target']", "earth")
    b.wait("its parent", "[...document.querySelectorAll('.part .link')].some(e => e.textContent === 'earth')")
    b.click(b.find("summary"))
    enter(b, "[aria-label='Target']", "nothing at all")
    b.wait("the reason", "document.querySelector('main').textContent.includes('no entity')")
    enter(b, "[aria-label='Target']", "")
    b.wait("none", "![...document.querySelectorAll('.part .link')].some(e => e.textContent === 'earth')")
    told(b, {"do": "destroy", "entity": made["entity"]})


TREE_ITEM = "[...document.querySelectorAll('[role=treeitem]')].find(e => e.getAttribute('aria-label') === arguments[0])"


def tree_parent(b, name):
    return b.run(f"const one = {TREE_ITEM}; const up = one && one.parentNode.closest('[role=treeitem]'); return up && up.getAttribute('aria-label')", name)


def open_branches(b, *names):
    for name in names:
        b.wait(name, f"({TREE_ITEM})", name)
        b.run(f"const one = {TREE_ITEM}; if (one.getAttribute('aria-expanded') === 'false') one.querySelector('.twist').click()", name)


@scenario
def an_entity_is_dragged_to_another_parent(b, host, _):
    open_window(b, host, "entities", "?mode=tree&relation=Parent")
    open_branches(b, "sun", "earth")
    b.wait("the moon", f"({TREE_ITEM})", "moon")
    drag = f"""const by = (name) => [...document.querySelectorAll('[role=treeitem]')].find(e => e.getAttribute('aria-label') === name).firstChild;
        const data = new DataTransfer(), one = by(arguments[0]), fire = (node, type) => node.dispatchEvent(new DragEvent(type, {{ dataTransfer: data, bubbles: true, cancelable: true }})), done = arguments[2];
        fire(one, 'dragstart');
        setTimeout(() => {{ const onto = by(arguments[1]), may = !fire(onto, 'dragover'); fire(onto, 'drop'); fire(one, 'dragend'); done(may); }}, 50)"""
    equal(b.later(drag, "moon", "sun"), True)
    b.wait("below the sun, and chosen", f"(() => {{ const one = {TREE_ITEM}; return one && one.parentNode.closest('[role=treeitem]').getAttribute('aria-label') === 'sun' && document.querySelector('.part strong') && document.querySelector('.part strong').textContent.startsWith('moon'); }})()", "moon")
    b.later(drag, "sun", "moon")
    b.wait("why not", "document.querySelector('.moving').textContent.startsWith('sun stays: ')")
    equal(tree_parent(b, "moon"), "sun")


@scenario
def keys_take_an_entity_to_another_parent(b, host, reading):
    open_window(b, host, "entities", "?mode=tree&relation=Parent")
    open_branches(b, "sun")
    b.wait("the moon", f"({TREE_ITEM})", "moon")
    b.run(f"({TREE_ITEM}).focus()", "moon")
    b.press("m")
    b.wait("it is told", "document.querySelector('.moving').textContent.startsWith('moon: ')")
    b.press("\ue00c")
    b.wait("left", "document.querySelector('.moving').textContent.startsWith('Drag one')")
    b.press("m")
    b.run(f"({TREE_ITEM}).focus()", "earth")
    b.press("\ue007")
    b.wait("below the earth, and in the focus", "document.activeElement.getAttribute('aria-label') === 'moon' && document.activeElement.parentNode.closest('[role=treeitem]').getAttribute('aria-label') === 'earth'")
    open_window(b, reading, "entities", "?mode=tree&relation=Parent")
    b.wait("the tree", "document.querySelector('[role=treeitem]')")
    assert b.run("return document.querySelector('.moving').hidden"), "a page that only reads offers no move"


@scenario
def a_cycle_is_refused_with_its_sentence(b, host, _):
    open_entity(b, host, "sun")
    b.click(b.find("summary"))
    enter(b, "[aria-label='Target']", "moon")
    b.wait("the reason", "document.querySelector('main').textContent.includes('would be above itself')")


@scenario
def changes_of_values_are_undone_one_by_one(b, host, _):
    open_entity(b, host, "moon")
    field = "[id='f-Orbit-mean_motion']"
    first = b.run("return document.querySelector(arguments[0]).value", field)
    for value in ("0.05", "0.07"):
        enter(b, field, value)
        b.wait("written", "document.querySelector('.written')")
        b.wait("it is there", "document.querySelector(arguments[0]).value === arguments[1]", field, value)
    b.run("document.activeElement.blur()")
    for value in ("0.05", first):
        b.click(b.find_text("main button", "Undo"))
        b.wait("as before", "document.querySelector(arguments[0]).value === arguments[1]", field, value)
    b.wait("nothing is left", "[...document.querySelectorAll('main button')].find(e => e.textContent === 'Undo').hidden")


@scenario
def an_undo_tells_what_the_program_made_of_the_value(b, host, _):
    open_entity(b, host, "moon")
    field = "[id='f-Orbit-mean_motion']"
    first = b.run("return document.querySelector(arguments[0]).value", field)
    enter(b, field, "0.05")
    b.wait("written", "document.querySelector('.written')")
    b.run("document.activeElement.blur()")
    moon = b.text(".part code")
    told(b, {"do": "set", "entity": moon, "component": "Orbit", "path": "mean_motion", "value": 0.06}) # as a system would
    b.wait("it is shown", "document.querySelector(arguments[0]).value === '0.06'", field)
    b.click(b.find_text("main button", "Undo"))
    b.wait("it is told", "document.querySelector('main').textContent.includes('Orbit.mean_motion: it is 0.06 now, no longer 0.05 as it was written; Undo again takes it back anyway')")
    equal([f["value"] for c in told(b, {"do": "entity", "entity": moon})["components"] if c["name"] == "Orbit" for f in c["fields"] if f["path"] == "mean_motion"], ["0.06"])
    b.click(b.find_text("main button", "Undo"))
    b.wait("as before", "document.querySelector(arguments[0]).value === arguments[1]", field, first)
    b.wait("nothing is left", "[...document.querySelectorAll('main button')].find(e => e.textContent === 'Undo').hidden")


@scenario
def an_undo_goes_to_the_entity_that_was_changed(b, host, _):
    open_entity(b, host, "moon")
    enter(b, "[id='f-Wide-number']", "5")
    b.wait("written", "document.querySelector('.written')")
    handle = b.text(".part code")
    b.click(b.find_text("main tbody .link", "earth"))
    b.wait("earth", STRONG, "earth")
    b.click(b.find_text("main button", "Undo"))
    b.wait("it is said", "document.querySelector('main').textContent.includes('Wide.number is as it was')")
    wide = [c for c in told(b, {"do": "entity", "entity": handle})["components"] if c["name"] == "Wide"][0]
    equal(wide["fields"][0]["value"], "-9007199254740993")
    b.wait("earth is shown", STRONG, "earth")


@scenario
def a_page_that_only_reads_changes_nothing(b, host, reading):
    open_window(b, reading, "entities", "?query=Orbit&entity=3601:1")
    b.wait("its values", STRONG, "earth")
    equal(b.run("return [document.querySelector('details'), document.querySelector('[aria-label^=Remove]')].map(e => e === null)"), [True, True])
    for request in ({"do": "create", "components": ""}, {"do": "clone", "entity": "3601:1"}, {"do": "destroy", "entity": "3601:1"}, {"do": "rename", "entity": "3601:1", "name": "x"},
                    {"do": "change", "entity": "3601:1", "remove": "Orbit"}, {"do": "relate", "entity": "3601:1", "relation": "Parent"}, {"do": "write_back", "entity": "3601:1"},
                    {"do": "run_system", "system": "move"}, {"do": "switch_group", "group": "effects", "enabled": False}):
        answer = told(b, request)
        assert isinstance(answer, str) and "only reads" in answer, (request, answer)


# ---- pauses by themselves

@scenario
def it_pauses_when_a_number_passes_a_bound(b, host, _):
    open_window(b, host, "memory")
    made = did(b, {"do": "create", "components": "Position, Velocity", "name": "falling"})
    open_window(b, host, "entities", f"?entity={made['entity']}")
    b.wait("its values", STRONG, "falling")
    b.click(b.find("[aria-label^='Pause when Position.y']"))
    b.run("document.querySelector('.when select').value = '>'")
    enter(b, ".when input", "1.5")
    b.wait("it waits", "document.querySelector('#until').textContent.includes('Position.y') && !document.querySelector('#until').hidden")
    told(b, {"do": "set", "entity": made["entity"], "component": "Velocity", "path": "y", "value": 5})
    b.wait("it paused", "document.querySelector('#state').textContent === 'paused' && document.querySelector('#until').textContent.startsWith('Paused in frame')")
    y = float([c for c in told(b, {"do": "entity", "entity": made["entity"]})["components"] if c["name"] == "Position"][0]["fields"][1]["value"])
    assert 1.5 < y <= 1.5 + 5 * 0.017, y
    b.click(b.find("#until button"))
    b.wait("forgotten", "document.querySelector('#until').hidden")
    b.click(b.find("#pause"))
    goes_on(b)
    told(b, {"do": "destroy", "entity": made["entity"]})


@scenario
def it_pauses_when_an_entity_dies(b, host, _):
    open_window(b, host, "memory")
    told(b, {"do": "pause", "paused": True})  # first: it lives for 32 steps
    made = did(b, {"do": "create", "components": "Age, Spark", "name": "mortal"})
    open_window(b, host, "entities", f"?entity={made['entity']}")
    b.wait("its values", STRONG, "mortal")
    b.click(b.find_text(".part .link", "Pause when it dies"))
    b.wait("it waits", "document.querySelector('#until').textContent.includes('dies')")
    b.click(b.find("#pause"))
    b.wait("it paused", "document.querySelector('#until').textContent.startsWith('Paused in frame')")
    b.wait("in the head", "document.querySelector('#state').textContent === 'paused'")
    told(b, {"do": "pause_when"})
    told(b, {"do": "pause", "paused": False})


@scenario
def it_pauses_when_an_archetype_changes(b, host, _):
    made = did(b, {"do": "create", "components": "Position, Secret", "name": "lonely"})
    told(b, {"do": "pause_when", "archetype": made["archetype"]})
    open_window(b, host, "archetypes")
    b.wait("it waits", "document.querySelector('#until').textContent.includes('gets or loses entities')")
    told(b, {"do": "destroy", "entity": made["entity"]})
    b.wait("it paused", "document.querySelector('#until').textContent.startsWith('Paused in frame')")
    told(b, {"do": "pause_when"})
    told(b, {"do": "pause", "paused": False})


@scenario
def conditions_that_cannot_be_are_refused(b, host, _):
    open_window(b, host, "memory")
    for request, words in (({"entity": "9:9", "is": "dead"}, "not alive"), ({"entity": "3601:1", "is": "green"}, "<, >, changed or dead"),
                           ({"entity": "3601:1", "is": "<", "component": "Orbit", "path": "label"}, "no number"), ({"entity": "3601:1", "is": "<", "component": "Age", "path": "seconds"}, "no values"),
                           ({"archetype": 99999}, "no archetype")):
        answer = told(b, {"do": "pause_when", **request})
        assert isinstance(answer, str) and words in answer, (request, answer)


# ---- numbers over time

@scenario
def a_number_is_drawn_over_time(b, host, _):
    open_window(b, host, "entities", "?query=Position, Velocity, !Orbit")
    b.wait("rows", "document.querySelectorAll('main tbody tr').length === 50")
    b.click(b.find("main tbody .link"))
    b.wait("its values", "document.querySelector('.part code')")
    b.click(b.find("[aria-label='Draw Position.x over time']"))
    b.wait("its curve", "document.querySelector('.chart polyline') && document.querySelector('.chart polyline').getAttribute('points').split(' ').length > 5")
    b.click(b.find("[aria-label^='Take ']"))
    b.wait("it is gone", "!document.querySelector('main .chart')")


# ---- space

POINTS = "document.querySelector('.panel footer span') && document.querySelector('.panel footer span').textContent"


@scenario
def points_of_a_query_are_drawn(b, host, _):
    open_window(b, host, "space")
    b.wait("all rows", POINTS + ".endsWith('rows')")
    equal(b.run("return [...document.querySelector('[aria-label=Position]').options].map(o => o.textContent)"), ["Position: x, y, z", "Velocity: x, y, z"])
    drawn = b.run("const c = document.querySelector('main canvas'), d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data; let n = 0; for (let i = 3; i < d.length; i += 4) n += d[i] !== 0; return n")
    assert drawn > 100, drawn
    query(b, "Orbit")
    b.wait("four", POINTS + " === '4 rows'")


@scenario
def more_rows_than_are_drawn_are_said(b, *_):
    many = Host(sys.argv[1], "--entities", "20000")
    try:
        open_window(b, many, "space")
        b.wait("so many of so many", POINTS + ".includes('of 20,') && " + POINTS + ".includes('evenly drawn')")
    finally:
        assert many.end()


@scenario
def a_click_on_a_point_chooses_it_and_tells_its_nearest(b, host, _):
    open_window(b, host, "memory")
    sun = did(b, {"do": "create", "components": "Position, Secret", "name": "here"})
    near = did(b, {"do": "create", "components": "Position, Secret", "name": "near"})
    far = did(b, {"do": "create", "components": "Position, Secret", "name": "far"})
    for made, x in ((near, 3), (far, 50)):
        told(b, {"do": "set", "entity": made["entity"], "component": "Position", "path": "x", "value": x})
    open_window(b, host, "space", f"?query=Secret, !Orbit&view=flat&entity={sun['entity']}")
    b.wait("its nearest", "document.querySelectorAll('.plain li').length === 2")
    equal(b.run("return [...document.querySelectorAll('.plain li')].map(e => e.textContent)"), ["near3 m", "far50 m"])
    b.wait("points", POINTS + " === '3 rows'")
    # the point furthest to the right is that of "far"
    spot = b.run("const c = document.querySelector('main canvas'), r = c.getBoundingClientRect(); return [r.left + r.width / 2 + Math.min(r.width, r.height) * 0.42, r.top + r.height / 2]")
    b.post("/actions", actions=[{"type": "pointer", "id": "mouse", "actions": [{"type": "pointerMove", "x": round(spot[0]), "y": round(spot[1])}, {"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}]}])
    b.wait("far is chosen", "document.querySelector('.split > section:last-child').textContent.includes(arguments[0])", far["entity"])
    for made in (sun, near, far):
        told(b, {"do": "destroy", "entity": made["entity"]})


@scenario
def points_are_coloured_by_a_number(b, host, _):
    open_window(b, host, "space", "?query=Velocity&colour=Velocity.x")
    b.wait("points", POINTS + ".endsWith('rows')")
    tones = b.run("const c = document.querySelector('main canvas'), d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data; let red = 0, blue = 0; for (let i = 0; i < d.length; i += 4) if (d[i + 3] > 200) { red += d[i] > 180 && d[i + 2] < 80; blue += d[i + 2] > 180 && d[i] < 80; } return [red, blue]")
    assert min(tones) > 0, tones


@scenario
def keys_turn_and_zoom_and_the_url_keeps_the_view(b, host, _):
    open_window(b, host, "space", "?query=Orbit")
    b.wait("points", POINTS + " === '4 rows'")
    b.run("document.querySelector('main canvas').focus()")
    b.press("\ue014\ue014++")
    b.wait("the view", "location.hash.includes('zoom=1.96') && location.hash.includes('yaw=1.08')")
    b.post("/refresh")
    b.wait("points", POINTS + " === '4 rows'")
    assert "yaw=1.08" in b.run("return location.hash")


@scenario
def a_query_that_is_wrong_is_said_in_space(b, host, _):
    open_window(b, host, "space")
    b.wait("points", POINTS + ".endsWith('rows')")
    query(b, "Orbitt")
    b.wait("the reason", "document.querySelector('.note.bad') && !document.querySelector('.note.bad').hidden && document.querySelector('.note.bad').textContent.includes('Orbitt')")


@scenario
def the_chosen_point_is_drawn_whatever_is_left_out(b, host, _):
    open_window(b, host, "space", "?query=Orbit")
    b.wait("points", POINTS + " === '4 rows'")
    asked = {"do": "points", "query": "", "component": "Position", "x": "x", "y": "y", "count": 3}
    few = told(b, asked)
    some = set(few["entities"])
    moon = told(b, {"do": "entity", "name": "moon"})["entity"]
    assert few["unit"] == "m" and moon not in some and few["total"] > 1000, few
    equal(set(told(b, {**asked, "entity": moon})["entities"]) - some, {moon})
    equal(len(told(b, {**asked, "entity": few["entities"][0]})["entities"]), len(some))
    equal(len(told(b, {**asked, "entity": "4000000:1"})["entities"]), len(some))


@scenario
def an_entity_leads_to_space_and_back(b, host, _):
    open_entity(b, host, "moon")
    b.click(b.find_text(".part a.link", "Show it in space"))
    b.wait("space", "document.querySelector('#tab-space').getAttribute('aria-selected') === 'true' && document.querySelectorAll('.plain li').length > 3")
    b.wait("distances have the unit", "/\\d m$/.test(document.querySelector('.plain li').textContent)")
    b.click(b.find_text(".split a.link", "moon ("))
    b.wait("the moon", STRONG, "moon")


# ---- groups, and systems over time

@scenario
def groups_are_listed_with_their_systems(b, host, _):
    open_window(b, host, "groups")
    b.wait("both", "document.querySelectorAll('main tbody tr').length === 2")
    equal(sorted(row[1] for row in rows(b)), ["default", "effects"])
    b.click(b.find_text("main tbody .tag", "spark"))
    b.wait("its window", "document.querySelector('#tab-systems').getAttribute('aria-selected') === 'true'")


@scenario
def a_group_is_switched_off_and_on(b, host, _):
    open_window(b, host, "groups", "?sort=name")
    b.wait("both", "document.querySelectorAll('main tbody tr').length === 2")
    box = "[aria-label='effects runs']"
    b.click(b.find(box))
    b.wait("it is off", "!document.querySelector(arguments[0]).checked", box)
    runs = lambda: [s["runs"] for s in told(b, {"do": "systems"})["systems"] if s["name"] == "spark"][0]  # noqa: E731
    held = runs()
    frame = asked_frame(b)
    b.wait("frames", FRAME + " > arguments[0] + 20", frame)
    equal(runs(), held)
    b.click(b.find(box))
    b.wait("it is on", "document.querySelector(arguments[0]).checked", box)


@scenario
def a_group_is_not_switched_by_a_page_that_only_reads(b, host, reading):
    open_window(b, reading, "groups")
    b.wait("both", "document.querySelectorAll('main tbody tr').length === 2")
    equal(b.run("return [...document.querySelectorAll('main tbody .switch')].every(e => e.disabled)"), True)


@scenario
def a_system_that_is_off_has_no_share_and_is_dimmed(b, host, _):
    open_window(b, host, "systems")
    b.wait("times", "document.querySelector('main tbody .link') && [...document.querySelectorAll('main tbody tr')].every(r => r.children[5].textContent !== '')")
    b.click(b.find("[aria-label='bounce runs']"))
    row = "[...document.querySelectorAll('main tbody tr')].find(r => r.children[1].textContent === 'bounce')"
    b.wait("it is dimmed", row + ".classList.contains('off') && " + row + ".querySelector('.meter').title.startsWith('0 %')")
    b.click(b.find("[aria-label='bounce runs']"))
    b.wait("it is back", "!" + row + ".classList.contains('off')")


@scenario
def a_pause_sets_a_mark_that_times_are_compared_with(b, host, _):
    open_window(b, host, "systems")
    b.wait("times", "[...document.querySelectorAll('main tbody tr')].some(r => /[1-9]/.test(r.children[4].textContent))")
    b.click(b.find("#pause"))
    b.wait("the mark", "document.querySelector('main').textContent.includes('compared with the pause in frame')")
    b.click(b.find("#pause"))
    goes_on(b)
    b.wait("differences", "[...document.querySelectorAll('main tbody tr')].some(r => /[+\u2212]\\d+ %/.test(r.textContent))")


@scenario
def five_questions_are_followed_from_the_first_page(b, host, _):
    # by clicks on what the page shows, and typing into its fields
    base = host.url
    b.go(base)
    b.wait("the first page", "document.querySelectorAll('.cards .panel').length === 6 && document.querySelector('.now a')")
    # which of my systems writes Velocity?
    b.click(b.find_text(".cards a", "Components"))
    b.wait("types", "document.querySelectorAll('main tbody tr').length > 10")
    b.click(b.find_text("main tbody .link", "Age"))
    b.wait("its systems", "[...document.querySelectorAll('.body h3')].some(h => h.textContent === 'Written by' && h.nextElementSibling.textContent === 'age')")
    # and who lost theirs in the last 100 frames?
    b.wait("100 frames", FRAME + " > arguments[0]", asked_frame(b) + 100)
    b.click(b.find_text(".body .link", "Who lost it lately"))
    b.wait("those that died", "document.querySelector('#tab-entities').getAttribute('aria-selected') === 'true' && document.querySelectorAll('main tbody tr').length > 5 && [...document.querySelectorAll('main tbody tr')].every(r => r.textContent.includes('dead')) && " + FOOT + ".includes('lost since frame')")
    # and from a moment of my own?
    b.click(b.find_text("main footer button", "Live"))
    b.wait("as it goes on", "!location.hash.includes('lost=yes') && document.querySelectorAll('main tbody tr').length > 5 && !document.querySelector('main tbody .tag.bad')")
    b.click(b.find_text("main footer button", "Hold"))
    b.wait("held", FOOT + ".includes('as of frame')")
    b.click(b.find("#pause"))
    frame = held_frame(b)
    b.run("document.querySelector('#step').dispatchEvent(new MouseEvent('click', { shiftKey: true, bubbles: true }))")
    b.wait("a hundred", FRAME + " === arguments[0]", frame + 100)
    b.click(b.find_text("main footer button", "Lost since"))
    b.wait("those that died", "document.querySelectorAll('main tbody tr').length > 5 && [...document.querySelectorAll('main tbody tr')].every(r => r.textContent.includes('dead'))")
    b.click(b.find("#pause"))
    goes_on(b)
    # which archetype wastes most?
    b.click(b.find("#tab-start"))
    b.wait("it is named", "[...document.querySelectorAll('.now')].some(p => /Most in .*: /.test(p.textContent))")
    b.click(b.find(".now a[href*='archetypes']"))
    b.wait("it is the first", "document.querySelector('main tbody tr') && document.querySelector('main tbody tr').getAttribute('aria-selected') === 'true' && document.querySelector('th[aria-sort=descending]').textContent === 'Wasted'")
    # which system grew slower since I paused? The pause is another window's
    b.click(b.find("#tab-start"))
    b.wait("times", "[...document.querySelectorAll('.now')].some(p => /A frame takes [1-9]/.test(p.textContent))")
    b.click(b.find("#pause"))
    held_frame(b)
    b.click(b.find("#pause"))
    goes_on(b)
    b.click(b.find_text(".cards a[href*='sort=since']", "Systems"))
    b.wait("differences", "document.querySelector('main').textContent.includes('compared with the pause in frame') && [...document.querySelectorAll('main tbody tr')].some(r => /[+\u2212]\\d+ %/.test(r.textContent)) && document.querySelector('th[aria-sort=descending]').textContent === 'Since the mark'")
    # why does bounce wait for move?
    b.click(b.find_text("main tbody .link", "bounce"))
    b.wait("what it waits for", "[...document.querySelectorAll('main .row-gap button')].some(e => e.textContent.startsWith('move'))")
    b.click(b.find_text("main .row-gap button", "move"))
    b.wait("why", "document.querySelector('pre.why').textContent.includes('Position')")
    b.run("const s = document.querySelector('[aria-label=\"bounce and another system\"]'); s.value = 'look'; s.dispatchEvent(new Event('change'))")
    b.wait("of any two", "document.querySelector('pre.why').textContent.includes('look')")
    # where is the entity nearest to the moon?
    find_open(b, "moon")
    b.wait("it is found", "[...document.querySelectorAll('dialog [role=option]')].some(e => e.textContent.includes('moon'))")
    b.press("\ue007")
    b.wait("its values", STRONG, "moon")
    b.click(b.find_text(".part a.link", "Show it in space"))
    b.wait("the nearest, with its distance", "document.querySelectorAll('.plain li').length > 3 && /\\d m$/.test(document.querySelector('.plain li').textContent)")
    nearest = b.run("return document.querySelector('.plain li .link').textContent")
    b.click(b.find(".plain li .link"))
    b.wait("it is chosen", "document.querySelector('.split p a.link').textContent.includes(arguments[0])", nearest)
    b.click(b.find(".split p a.link"))
    b.wait("it is opened", "document.querySelector('.part strong') && arguments[0].startsWith(document.querySelector('.part strong').textContent)", nearest)


@scenario
def times_of_a_system_are_drawn_over_ten_seconds(b, host, _):
    open_window(b, host, "systems", "?system=move")
    b.wait("its curve", "[...document.querySelectorAll('.panel h2')].some(e => e.textContent === 'move: the last 10 s') && document.querySelectorAll('.chart polyline').length === 2")


@scenario
def a_budget_is_kept_and_told(b, host, _):
    open_window(b, host, "systems")
    b.wait("figures", "document.querySelector('.figures')")
    enter(b, "#budget", "0.0001")
    b.wait("its share", "[...document.querySelectorAll('.figures dt')].some(e => e.textContent === 'Of the budget') && document.querySelector('.panel.over')")
    b.post("/refresh")
    b.wait("it is kept", "document.querySelector('#budget') && document.querySelector('#budget').value === '0.0001'")
    enter(b, "#budget", "")


@scenario
def a_system_runs_once_when_it_is_told_to(b, host, _):
    told(b, {"do": "pause", "paused": True})
    open_window(b, host, "systems", "?system=move")
    b.wait("the button", "[...document.querySelectorAll('main button')].some(e => e.textContent === 'Run once')")
    runs = lambda: [s["runs"] for s in told(b, {"do": "systems"})["systems"] if s["name"] == "move"][0]  # noqa: E731
    before = runs()
    b.click(b.find_text("main button", "Run once"))
    deadline = time.monotonic() + 5
    while runs() == before and time.monotonic() < deadline:
        time.sleep(0.05)
    equal(runs(), before + 1)
    told(b, {"do": "pause", "paused": False})


@scenario
def the_slowest_frame_is_kept(b, host, _):
    open_window(b, host, "systems")
    b.wait("a frame", "[...document.querySelectorAll('main button')].some(e => e.textContent.startsWith('Slowest frame, '))")
    slowest = told(b, {"do": "timeline", "slowest": True})
    assert slowest["to"] - slowest["from"] == slowest["slowest"] and sum(len(lane["spans"]) for lane in slowest["lanes"]) > 4, slowest
    frame = asked_frame(b)
    b.wait("frames later", FRAME + " > arguments[0] + 100", frame)
    later = told(b, {"do": "timeline", "slowest": True})
    assert later["slowest"] >= slowest["slowest"], (later["slowest"], slowest["slowest"])
    assert sum(len(lane["spans"]) for lane in later["lanes"]) > 4, later
    b.click(b.find_text("main button", "Slowest frame"))
    equal(b.run("return [...document.querySelectorAll('main button')].find(e => e.textContent.startsWith('Slowest frame')).getAttribute('aria-pressed')"), "true")


@scenario
def fused_slices_are_divided_by_system(b, host, _):
    open_window(b, host, "timeline")
    b.wait("a canvas", "document.querySelector('.lanes canvas') && document.querySelector('.lanes canvas').height > 60")
    def inside():
        spans = told(b, {"do": "export"})["traceEvents"]
        whole = [s for s in spans if s["name"] == "fused slices"]
        parts = [s for s in spans if s["name"] in ("move", "bounce")]
        return [[p["name"] for p in parts if p["tid"] == w["tid"] and w["ts"] <= p["ts"] + 0.002 and p["ts"] + p["dur"] <= w["ts"] + w["dur"] + 0.002] for w in whole]
    deadline = time.monotonic() + 20
    while ["bounce", "move"] not in [sorted(i) for i in inside()] and time.monotonic() < deadline:
        time.sleep(0.2)
    assert ["bounce", "move"] in [sorted(i) for i in inside()], inside()[:5]


@scenario
def percentiles_of_a_system_are_told(b, host, _):
    open_window(b, host, "systems", "?system=move")
    b.wait("its history", "[...document.querySelectorAll('.figures dt')].map(e => e.textContent).join().includes('Median,90 %,99 %,Most,Samples')")


@scenario
def observers_are_listed_in_their_order(b, host, _):
    open_window(b, host, "observers")
    b.wait("both", "document.querySelectorAll('main tbody tr').length === 2")
    equal([row[:4] for row in rows(b)], [["1", "ends", "destroyed", "all entities"], ["2", "sparks", "created", "Spark"]])
    b.click(b.find_text("main tbody .link", "Spark"))
    b.wait("its component", "document.querySelector('#tab-components').getAttribute('aria-selected') === 'true'")


@scenario
def panels_of_the_program_are_shown_and_pressed(b, host, _):
    open_window(b, host, "program")
    b.wait("the panel", "[...document.querySelectorAll('.panel h2')].some(e => e.textContent === 'Flight') && document.querySelectorAll('main tbody tr').length === 2")
    equal(rows(b), [["1", "0.4"], ["2", ""]])
    equal(b.run("return [document.querySelector('main p.wide').textContent, document.querySelectorAll('main b').length]"), ["<b>as it flies</b>", 0])
    before = int(b.text("main .figures dd"))
    b.click(b.find_text("main button", "Ignite"))
    b.wait("it counts", "document.querySelector('main .figures dd').textContent === arguments[0]", str(before + 1))


@scenario
def a_button_is_not_pressed_by_a_page_that_only_reads(b, host, reading):
    open_window(b, reading, "program")
    b.wait("the button", "[...document.querySelectorAll('main button')].some(e => e.textContent === 'Ignite' && e.disabled)")
    assert "only reads" in told(b, {"do": "press", "panel": "Flight"})


@scenario
def a_page_of_another_version_is_told(b, host, _):
    open_window(b, host, "memory")
    equal(told(b, {"do": "status"})["protocol"], 1)
    b.wait("no warning", "document.querySelector('#other').hidden")
    # as a program of another version answers: the page asks its status by the button, too
    b.run("""window.real = window.fetch; window.fetch = async (to, how) => { const a = await window.real(to, how);
        if (to !== '/api' || !how.body.includes('"step"')) return a;
        return new Response(JSON.stringify({ ...await a.json(), protocol: 2, frame: 1e15 })); };
        window.seen = ''; new MutationObserver(() => { if (!document.querySelector('#other').hidden) window.seen = document.querySelector('#other').innerText; })
          .observe(document.querySelector('#other'), { attributes: true });""")
    b.click(b.find("#step"))
    b.wait("the note", "window.seen === 'This page is of another version than the program: reload it.'")
    b.wait("it goes with the next answer", "document.querySelector('#other').hidden")
    b.run("window.fetch = window.real")


@scenario
def first_paint_is_quick(b, host, _):
    b.go(f"{host.url}/archetypes")
    b.wait("rows", "document.querySelector('main tbody tr')")
    paint = b.run("return performance.getEntriesByName('first-contentful-paint')[0]?.startTime || performance.now()")
    print(f"  first paint: {paint:.0f} ms")
    assert paint < 3000, paint  # the figure is printed; the limit only finds what hangs


@scenario
def the_page_is_small(b, host, _):
    open_window(b, host, "archetypes")
    b.wait("all windows, which come when there is time", "performance.getEntriesByType('resource').filter(r => r.name.endsWith('.js')).length >= 20")
    sizes = b.run("return performance.getEntriesByType('resource').filter(r => !r.name.includes('/api') && !r.name.includes('/events')).map(r => [r.name, r.decodedBodySize])")
    total = sum(size for _, size in sizes)
    print(f"  page: {total} bytes in {len(sizes)} files")
    assert 20000 < total <= 200 * 1024, sizes


@scenario
def controls_have_names(b, host, _):
    for name in WINDOWS:
        open_window(b, host, name)
        b.wait("content", "document.querySelector('main .panel')")
        nameless = b.run("""return [...document.querySelectorAll('button, input, select, canvas, svg, [role=tab]')].filter(e => e.offsetParent !== null &&
            !(e.getAttribute('aria-label') || e.textContent.trim() || (e.labels && e.labels.length) || e.title)).map(e => e.outerHTML.slice(0, 90))""")
        equal(nameless, [])


@scenario
def nothing_is_wider_than_the_page(b, host, _):
    for width in (1280, 400):
        b.emulate(width, 860)
        for name in WINDOWS:
            open_window(b, host, name)
            b.wait("content", "document.querySelector('main .panel')")
            wide = b.run("return document.documentElement.scrollWidth")
            assert wide <= width, (width, name, wide)
    b.emulate(1280, 860)


@scenario
def nothing_overflows_inside_the_windows(b, host, _):
    """At 400 px: what is wider stands in something that scrolls; texts are of 11 px and more."""
    script = """const bad = [], scrolls = (e) => { for (let p = e.parentElement; p && p.tagName !== 'MAIN'; p = p.parentElement) if (/auto|scroll|hidden/.test(getComputedStyle(p).overflowX)) return true; return false; };
        for (const e of document.querySelectorAll('main *')) {
          if (!e.getClientRects().length || e.closest('svg') && e.tagName !== 'svg') continue;
          const r = e.getBoundingClientRect();
          if (r.right > innerWidth + 0.5 && !scrolls(e)) bad.push(e.tagName + '.' + e.className + ' ' + Math.round(r.right) + ' ' + e.textContent.slice(0, 30));
          if ([...e.childNodes].some(n => n.nodeType === 3 && n.data.trim()) && parseFloat(getComputedStyle(e).fontSize) < 11) bad.push('small: ' + e.tagName + ' ' + e.textContent.slice(0, 30));
        }
        return bad.slice(0, 5)"""
    b.emulate(400, 860)
    for name, rest in [("start", ""), *[(name, "") for name in WINDOWS], ("entities", "?query=Orbit&entity=3601:1"), ("entities", "?mode=tree"), ("systems", "?system=move"), ("components", "?component=Orbit"),
                       ("archetypes", "?archetype=4"), ("space", "?query=Orbit&entity=3601:1")]:
        open_window(b, host, name, rest)
        b.wait("content", "document.querySelector('main .panel') && !document.querySelector('main').textContent.includes('Waiting for')")
        time.sleep(0.3)
        equal((name, rest, b.run(script)), (name, rest, []))
    b.emulate(1280, 860)


@scenario
def text_can_be_read_in_both_themes(b, host, _):
    script = """const parse = (c) => c.match(/[\\d.]+/g).map(Number), lum = (c) => { const [r, g, bl] = c.slice(0, 3).map((v) => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; }); return 0.2126 * r + 0.7152 * g + 0.0722 * bl; };
        const back = (e) => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor); if (c.length < 4 || c[3] > 0.9) return c; } return [255, 255, 255]; };
        return [...document.querySelectorAll('body *')].filter(e => e.offsetParent && [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim()) && !e.disabled)
          .map(e => { const a = lum(parse(getComputedStyle(e).color)), b = lum(back(e)); return [(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), e.textContent.slice(0, 30)]; })
          .filter(([ratio]) => ratio < 4.5).slice(0, 5)"""
    for dark in (False, True):
        b.emulate(1280, 860, dark)
        for name in ["start", *WINDOWS]:
            open_window(b, host, name)
            b.wait("content", "document.querySelector('main .panel') && !document.querySelector('main').textContent.includes('Waiting for')")
            equal((name, dark, b.run(script)), (name, dark, []))
    b.emulate(1280, 860, False)


@scenario
def the_console_is_clean(b, host, _):
    b.log()
    for name in WINDOWS:
        open_window(b, host, name)
        b.wait("content", "document.querySelector('main .panel')")
    bad = [line["message"] for line in b.log() if line["level"] in ("SEVERE", "WARNING")]
    equal(bad, [])


@scenario
def the_end_of_the_program_is_told(b, host, reading):
    open_window(b, reading, "archetypes")
    assert reading.end()
    b.wait("no answer", "document.querySelector('#state').textContent === 'no answer'")


def main():
    if webdriver.programs() is None:
        print("skipped: needs chromium and chromedriver (packages chromium, chromium-driver)")
        return 77
    host, reading = Host(sys.argv[1], "--write"), Host(sys.argv[1])
    browser = webdriver.Browser()
    browser.post("/timeouts", script=20000)
    browser.emulate(1280, 860, False)
    failed = 0
    try:
        for function in SCENARIOS:
            if sys.argv[2:] and function.__name__ not in sys.argv[2:]:
                continue
            try:
                function(browser, host, reading)
            except (AssertionError, webdriver.Failed, StopIteration) as problem:
                failed += 1
                print(f"FAILED: {function.__name__}: {problem}")
    finally:
        browser.close()
    if not host.end():
        failed += 1
        print("FAILED: the program did not end well")
    print(f"{len(SCENARIOS) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
