# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# json-schema.py SCHEMA REPORTS...: each line of the files must be an object
# that is valid by the schema. And the schema must be strict enough to tell:
# without any one of its names, or with one more, no object may be valid.

import json
import sys

import jsonschema


def no_constant(name):
    raise ValueError(name + " is not JSON")


def no_duplicates(pairs):
    names = [name for name, _ in pairs]
    if len(set(names)) < len(names):
        raise ValueError("a name stands twice in %s" % names)
    return dict(pairs)


def read_line(line):
    return json.loads(line, parse_constant=no_constant,
                      object_pairs_hook=no_duplicates)


# Where names are data, and operations that are like write.
FREE = ("bins", "percentile", "by_errno", "numbers")
LIKE_WRITE = ("read", "trim", "zero", "cache", "flush")
# An interval has those with news.
OPS = LIKE_WRITE + ("write", "extents")
NEWS = OPS + ("opening", "several", "waiting", "no_client", "gaps",
              "other_exports")


def objects(value, name=None):
    """All objects in value that have only certain names, one of each kind."""
    if isinstance(value, dict):
        if name not in FREE:
            yield value
        for name, child in value.items():
            if name not in LIKE_WRITE:
                yield from objects(child, name)
    elif isinstance(value, list):
        for child in value[:1]:
            yield from objects(child)


def shortened(value, name=None):
    """Of lists and bins the first alone, since this takes long."""
    if isinstance(value, list):
        return [shortened(child) for child in value[:1]]
    if isinstance(value, dict):
        items = list(value.items())[:1 if name == "bins" else None]
        return {name: shortened(child, name) for name, child in items}
    return value


def check_strict(validator, report):
    final = report["type"] == "final"
    report = shortened(report)
    assert validator.is_valid(report)
    for part in list(objects(report)):
        for name in list(part):
            if name in NEWS and not final:
                continue
            saved = dict(part)
            del part[name]
            assert not validator.is_valid(report), "optional: " + name
            part.clear()
            part.update(saved)
        part["surprise"] = 1
        assert not validator.is_valid(report), "surprise in %s" % list(part)
        del part["surprise"]
    assert validator.is_valid(report)


with open(sys.argv[1]) as f:
    schema = json.load(f)
validator_class = jsonschema.validators.validator_for(schema)
validator_class.check_schema(schema)
validator = validator_class(schema)

errors = 0
for path in sys.argv[2:]:
    with open(path, "rb") as f:
        reports = [read_line(line.decode("utf-8")) for line in f]
    assert reports, path + " is empty"
    for report in reports:
        for error in validator.iter_errors(report):
            print("%s: %s: %s" % (path,
                                  "/".join(map(str, error.absolute_path)),
                                  error.message))
            errors += 1
    print("%s: %d reports" % (path, len(reports)))
    if not errors:
        for kind in ("final", "interval"):
            of_kind = [r for r in reports if r["type"] == kind]
            if of_kind:
                check_strict(validator, max(of_kind, key=lambda r: len(str(r))))
sys.exit(errors > 0)
