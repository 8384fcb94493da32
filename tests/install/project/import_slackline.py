"""Prints the digest that chain_digest prints, by the package that PYTHONPATH leads to. Called with the
prefix, which must hold all of it."""

import pathlib
import sys

import slackline

prefix = pathlib.Path(sys.argv[1]).resolve()
for path in (slackline.__file__, slackline._native.__file__, slackline.program()):
    assert prefix in pathlib.Path(path).resolve().parents, f"{path} is not in {prefix}"

print(slackline.compile("chain:ranks=4,bytes=1MiB,block=64KiB").digest)
