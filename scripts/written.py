# SPDX-License-Identifier: Apache-2.0
"""What the scripts write into a run directory goes with the run when leopard --overwrite deletes it, and so into its list."""


def note(run_directory, path):
    """Adds a file to the manifest.txt of the run directory, if it has one and the file is inside."""
    manifest = run_directory / "manifest.txt"
    try:
        name = path.resolve().relative_to(run_directory.resolve()).as_posix()
        if name not in manifest.read_text(encoding="utf-8").splitlines():
            with open(manifest, "a", encoding="utf-8") as stream:
                stream.write(name + "\n")
    except (OSError, ValueError):
        pass  # an older run, or a file elsewhere: it stays
