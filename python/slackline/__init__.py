"""Slackline, a laboratory for RDMA schedules.

A schedule is one dataflow graph of operations over ranks. It is compiled from a pattern, proved,
simulated, analysed and carried out for real:

>>> import slackline
>>> s = slackline.compile("binomial-pipeline:ranks=16,bytes=16MiB").prove()
>>> run = s.simulate("fat-tree:arity=8", delays=[slackline.Delay(op=17, by="10us")])
>>> run.done_s.max() == run.makespan_s
True
>>> run.slack().total_float_s.min()
0.0
"""

import builtins
from types import ModuleType

from slackline._native import version as __version__
from slackline.builder import *
from slackline.delays import *
from slackline.errors import *
from slackline.lists import *
from slackline.ops import *
from slackline.platform import *
from slackline.program import program
from slackline.real_run import *
from slackline.run import *
from slackline.samples import *
from slackline.schedule import *
from slackline.slack import *

# What `from slackline import *` brings hides nothing of Python's own: neither compile nor
# EnvironmentError.
__all__ = [name for name, value in list(globals().items())
           if not name.startswith("_") and not hasattr(builtins, name)
           and not isinstance(value, ModuleType) and name != "ModuleType"]
