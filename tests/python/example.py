# SPDX-License-Identifier: MIT
"""example.py PACKAGE_DIR: runs the example; it writes an image with stars on it and comes back to the same
hash. Skipped without matplotlib."""
import os
import subprocess
import sys
import tempfile

try:
    import matplotlib.image
except ImportError:
    print("skipped: matplotlib is not there (python3-matplotlib)")
    sys.exit(77)


def main():
    script = os.path.join(sys.argv[1], "examples", "galaxies.py")
    with tempfile.TemporaryDirectory() as folder:
        image = os.path.join(folder, "galaxies.png")
        done = subprocess.run([sys.executable, script, image, "2000"], capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"FAILED: {done.stderr}")
        if "2002 bodies, 480 steps" not in done.stdout or "the same hash" not in done.stdout:
            sys.exit(f"FAILED: it printed {done.stdout}")
        pixels = matplotlib.image.imread(image)
        bright = (pixels[..., :3].max(axis=2) > 0.3).sum()
        print(f"{image}: {pixels.shape}, {bright} bright pixels")
        if bright < 1000:
            sys.exit("FAILED: the image is empty")


if __name__ == "__main__":
    main()
