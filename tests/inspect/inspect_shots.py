#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""inspect_shots.py HOST FOLDER [WINDOW ...]: pictures of every window of the inspector, light and dark, at 1280
and 400 pixels, for people to look at."""
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import webdriver  # noqa: E402

WINDOWS = ["start", "archetypes", "entities", "components", "systems", "queries", "timeline", "memory", "scenes", "jobs", "shards", "space", "groups", "observers", "program"]


def main():
    host, folder = sys.argv[1], sys.argv[2]
    os.makedirs(folder, exist_ok=True)
    program = subprocess.Popen([host, "--write", "--entities", "200000"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    url = program.stdout.readline().split()[1]
    browser = webdriver.Browser()
    try:
        for width, height, dark in ((1280, 860, False), (1280, 860, True), (400, 860, False)):
            browser.emulate(width, height, dark)
            for name in sys.argv[3:] or WINDOWS:
                browser.go(f"{url}/{name}")
                browser.wait("the window", "document.querySelector('main .window') && document.querySelector('#figures dd')")
                if name == "entities":
                    browser.keys(browser.find("#query"), "Position, Orbit")
                    browser.click(browser.find(".query button"))
                    browser.wait("rows", "document.querySelectorAll('main tbody tr').length === 4")
                    browser.click(browser.find("main tbody tr .link"))
                    browser.wait("the entity", "document.querySelectorAll('.part').length > 3")
                if name == "systems":
                    browser.wait("rows", "document.querySelector('main tbody .link')")
                    browser.click(browser.find_text("main tbody .link", "bounce"))
                time.sleep(1.6)  # curves and times need some samples
                if name == "entities" and width == 400:
                    browser.run("document.querySelector('main').scrollTop = 0")
                browser.screenshot(f"{folder}/{name}-{width}{'-dark' if dark else ''}.png")
    finally:
        browser.close()
        program.stdin.close()
        program.wait()
    for entry in sorted(os.listdir(folder)):
        print(os.path.join(folder, entry))


main()
