# SPDX-License-Identifier: Apache-2.0
"""A folder like /sys/class/powercap, whose counter of one package grows as at 50 W as long as a test needs it."""
import os
import pathlib
import tempfile
import threading
import time


class FakeRapl:
    WATTS = 50.

    def __enter__(self):
        self._folder = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self._folder.name)
        zone = self.folder / "intel-rapl:0"
        zone.mkdir()
        (zone / "name").write_text("package-0\n")
        (zone / "max_energy_range_uj").write_text("262143328850\n")
        self._over = threading.Event()
        self._start = time.monotonic()
        self._count(zone)
        self._thread = threading.Thread(target=self._go_on, args=(zone,))
        self._thread.start()
        return {**os.environ, "LEOPARD_POWERCAP": str(self.folder)}

    def __exit__(self, *_):
        self._over.set()
        self._thread.join()
        self._folder.cleanup()

    def _count(self, zone):
        """At once, as a reader finds the file whole in sysfs."""
        (zone / "new").write_text(f"{int(1e6 * self.WATTS * (time.monotonic() - self._start))}\n")
        os.replace(zone / "new", zone / "energy_uj")

    def _go_on(self, zone):
        while not self._over.wait(1e-3):
            self._count(zone)
