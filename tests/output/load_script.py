# SPDX-License-Identifier: Apache-2.0
"""A program of scripts/ as a module, for its functions."""
import importlib.machinery
import importlib.util
import pathlib
import sys


def load_script(name):
    sys.dont_write_bytecode = True
    loader = importlib.machinery.SourceFileLoader(name, str(pathlib.Path(__file__).resolve().parents[2] / "scripts" / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module
