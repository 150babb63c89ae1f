# SPDX-License-Identifier: Apache-2.0
"""What scripts/watch is made of: what a run directory says, its picture, the page and the frame for a terminal. All of it reads only."""
import importlib.machinery
import importlib.util
import pathlib


def load(name):
    """A program of scripts/ as a module, for its functions."""
    loader = importlib.machinery.SourceFileLoader(name, str(pathlib.Path(__file__).resolve().parents[1] / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


render = load("render")
Error = render.Error
name_of = load("plot_statistics").name_of
