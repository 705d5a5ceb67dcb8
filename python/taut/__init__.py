"""Taut: motion of mechanical systems that strong forces hold close to a manifold.

>>> import taut
>>> m = taut.Model("double_pendulum", omega=200)
>>> r = m.solve((0, 1), motion="slow", rtol=1e-8)
>>> r.success
True
"""
from ._library import Error, lib as _lib, methods, option_table as options, text as _text
from ._model import Model, Parameters, models
from ._page import Page
from ._result import Projection, Report, Result, State, load
from ._run import Stepper
from ._sweep import Sweep

__version__: str = _text(_lib.taut_version())
features: str = _text(_lib.taut_features())

__all__ = ["Error", "Model", "Page", "Parameters", "Projection", "Report", "Result", "State",
           "Stepper", "Sweep", "features", "load", "methods", "models", "options"]
