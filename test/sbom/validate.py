#!/usr/bin/env python3
"""Hold a bill of materials against the JSON Schema of CycloneDX 1.6, and look whether its references lead somewhere.

usage: $(test/interop/venv ../sbom) test/sbom/validate.py FILE
"""

import json
import sys
from pathlib import Path

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

text = Path(sys.argv[1]).read_text()
validator = JsonStrictValidator(SchemaVersion.V1_6)
if error := validator.validate_str(text):
    sys.exit(f"{sys.argv[1]}: {error}")
if validator.validate_str(text.replace('"library"', '"libary"')) is None:
    sys.exit("the validator takes everything")
bill = json.loads(text)
refs = {bill["metadata"]["component"]["bom-ref"]} | {component["bom-ref"] for component in bill["components"]}
known = {dependency["ref"] for dependency in bill["dependencies"]}
reached, todo = set(), [bill["metadata"]["component"]["bom-ref"]]
edges = {dependency["ref"]: dependency["dependsOn"] for dependency in bill["dependencies"]}
while todo:
    ref = todo.pop()
    if ref not in reached:
        reached.add(ref)
        todo += edges[ref]
if not (refs == known == reached):
    sys.exit(f"{len(refs)} components, {len(known)} with dependencies, {len(reached)} that the program needs")
print(f"{sys.argv[1]}: valid CycloneDX 1.6, {len(bill['components'])} components")
