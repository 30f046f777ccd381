"""The reference of a chapter as YAML, in which a part, a control and a series are a line each.

    claims:
    - claim: {id: ch6-stagewise, verdict: holds, value: 35.674, half_width: 0}
      parts:
        T_k > T_1: [supported, 21.09, 0, '> 1']
"""

import msgspec
import yaml

from claimbook.checker.drawn import Series
from claimbook.checker.reference import Headline, Part, Reference

MAPPING, SEQUENCE = "tag:yaml.org,2002:map", "tag:yaml.org,2002:seq"
ON_ONE_LINE = (Headline, Series)


class _Dumper(yaml.SafeDumper):
    """Writes what :mod:`claimbook.checker.reference` holds."""


def _fields(dumper: _Dumper, one: msgspec.Struct) -> yaml.Node:
    fields = msgspec.structs.fields(one)
    named = [(field.encode_name, getattr(one, field.name)) for field in fields]
    given = [(name, value) for name, value in named if value not in ("", None)]
    return dumper.represent_mapping(MAPPING, given, isinstance(one, ON_ONE_LINE))


def _part(dumper: _Dumper, part: Part) -> yaml.Node:
    fields = [one for one in msgspec.structs.astuple(part) if one is not None]
    return dumper.represent_sequence(SEQUENCE, fields, flow_style=True)


def _number(dumper: _Dumper, number: float) -> yaml.Node:
    """A whole number without its decimal point."""
    if number.is_integer() and abs(number) < 1e15:
        return dumper.represent_int(int(number))
    return dumper.represent_float(number)


_Dumper.add_multi_representer(msgspec.Struct, _fields)
_Dumper.add_representer(Part, _part)
_Dumper.add_representer(float, _number)


def write(reference: Reference, head: str) -> str:
    """The reference as YAML under ``head``."""
    width = 10**6  # no line is broken
    return head + yaml.dump(
        reference, Dumper=_Dumper, allow_unicode=True, width=width, sort_keys=False
    )


def parse(text: str) -> Reference:
    """Read what :func:`claimbook.checker.written.write` wrote.

    Raises ``ValueError`` for anything else, and for two entries of one claim.
    """
    try:
        found = msgspec.yaml.decode(text, type=Reference)
    except msgspec.DecodeError as error:
        raise ValueError(str(error)) from None
    ids = [one.claim.id for one in found.entries]
    if not ids:
        raise ValueError("holds no claim")
    for id in found.claims:
        if ids.count(id) > 1:
            raise ValueError(f"two entries for {id}")
    return found
