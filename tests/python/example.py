# SPDX-License-Identifier: MIT
"""example.py PACKAGE_DIR: runs each example: it prints what stands at its end, behind "# prints:", and writes no files.
Those that draw write a PNG with more than one colour; without matplotlib they say so. galaxies.py, which always
draws, comes back to the same hash."""
import os
import subprocess
import sys
import tempfile

try:
    import matplotlib.image
except ImportError:
    matplotlib = None

WITHOUT_MATPLOTLIB = ("import runpy, sys; sys.modules['matplotlib'] = None; sys.modules['matplotlib.figure'] = None; "
                      "sys.argv = sys.argv[1:]; runpy.run_path(sys.argv[0])")


def run(folder, *command):
    """What it prints, and what it says on standard error; its working directory is the folder."""
    env = {**os.environ, "WEFT_CACHE": os.path.join(folder, "cache")}
    work = os.path.join(folder, "work")
    os.makedirs(work, exist_ok=True)
    return subprocess.run([sys.executable, *command], capture_output=True, text=True, cwd=work, env=env, check=False)


def check_image(path, bright):
    """Where the image has one colour, or fewer bright pixels, the test fails."""
    with open(path, "rb") as file:
        if file.read(8) != b"\x89PNG\r\n\x1a\n":
            sys.exit(f"FAILED: {path} is no PNG")
    pixels = matplotlib.image.imread(path)[..., :3]
    count = (pixels.max(axis=2) > 0.3).sum()
    print(f"  {os.path.basename(path)}: {pixels.shape}, {count} bright pixels")
    if count < bright or (pixels == pixels[0, 0]).all():
        sys.exit(f"FAILED: {path} is empty")


def check_prints(folder, script, text):
    expected = "".join(line[2:] + "\n" for line in text.partition("\n# prints:\n")[2].splitlines())
    done = run(folder, script)
    if done.returncode != 0 or done.stdout != expected or not expected:
        sys.exit(f"FAILED: {script} printed\n{done.stdout}{done.stderr}expected\n{expected}")
    left = os.listdir(os.path.join(folder, "work"))
    if left:
        sys.exit(f"FAILED: {script} left {left} behind")


def check_picture(folder, script):
    image = os.path.join(folder, os.path.basename(script)[:-3] + ".png")
    done = run(folder, "-c", WITHOUT_MATPLOTLIB, script, image)
    if done.returncode != 1 or "needs matplotlib" not in done.stderr or os.path.exists(image):
        sys.exit(f"FAILED: {script} without matplotlib: {done.returncode} {done.stderr}")
    if matplotlib is None:
        print("  no picture: matplotlib is not there (python3-matplotlib)")
        return
    done = run(folder, script, image)
    if done.returncode != 0:
        sys.exit(f"FAILED: {done.stderr}")
    check_image(image, 1)


def check_galaxies(folder, script):
    if matplotlib is None:
        print("  not run: matplotlib is not there (python3-matplotlib)")
        return
    image = os.path.join(folder, "galaxies.png")
    done = run(folder, script, image, "2000")
    if done.returncode != 0:
        sys.exit(f"FAILED: {done.stderr}")
    if "2002 bodies, 480 steps" not in done.stdout or "the same hash" not in done.stdout:
        sys.exit(f"FAILED: it printed {done.stdout}")
    check_image(image, 1000)


def main():
    examples = os.path.abspath(os.path.join(sys.argv[1], "examples"))
    for name in sorted(os.listdir(examples)):
        if not name.endswith(".py"):
            continue
        script = os.path.join(examples, name)
        print(name)
        with open(script, encoding="utf-8") as file, tempfile.TemporaryDirectory() as folder:
            text = file.read()
            if name == "galaxies.py":
                check_galaxies(folder, script)
                continue
            check_prints(folder, script, text)
            if "[IMAGE]" in text:
                check_picture(folder, script)


if __name__ == "__main__":
    main()
