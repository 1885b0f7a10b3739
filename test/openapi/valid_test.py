#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: Apache-2.0
"""Is doc/openapi.yaml what OpenAPI says, by two validators that share no code?

usage: valid_test.py DOCUMENT DIRECTORY.  DIRECTORY has the packages of package.json, as tools/check installs
them: @seriousme/openapi-schema-validator holds a document against OpenAPI's own JSON Schema, and
openapi-typescript against the rules of redocly.yaml before it writes a client's types.  Both have to take the
document, and to refuse a copy with mistakes.  Without the packages the test is skipped, or fails where
FETTLE_OPENAPI is "required"."""

import os
import pathlib
import subprocess
import sys
import tempfile

RULES = pathlib.Path(__file__).resolve().parent / "redocly.yaml"
TIMEOUT_S = 120
# What is written wrong in a copy, and what the second validator says of it (the first stops at the first mistake).
MISTAKES = [
    ("{description: The nodes, content:", "{description: The nodes, all of them, content:", "`all of them` is not expected"),
    ('"#/components/schemas/NodeList"', '"#/components/schemas/NodeLists"', "Can't resolve $ref"),
    ('"200": {description: Done, content:', '"200": {content:', "`description` must be present"),
    ('{type: [string, "null"]', "{type: string, nullable: true", "`nullable` is not expected"),
]


def validators(tools):
    """What to run for each, without the document."""
    return {"schema": [tools / "validate-api"],
            "rules": [tools / "openapi-typescript", "--redocly", RULES, "--output", "types.ts"]}


def refusal(command, document, directory):
    """What the validator says against the document; empty when it takes it."""
    ended = subprocess.run([*command, document], cwd=directory, capture_output=True, text=True, timeout=TIMEOUT_S,
                           check=False)
    return f"{ended.stdout}{ended.stderr}" or "no word" if ended.returncode else ""


def with_mistakes(text):
    for right, wrong, _ in MISTAKES:
        if right not in text:
            sys.exit(f"the document has no {right} to make a mistake of")
        text = text.replace(right, wrong, 1)
    return text


def faults(commands, text, directory):
    document = pathlib.Path(directory) / "openapi.yaml"
    document.write_text(text, encoding="utf-8")
    for name, command in commands.items():
        if said := refusal(command, document, directory):
            yield f"{name}: {said}"
    document.write_text(with_mistakes(text), encoding="utf-8")
    if not refusal(commands["schema"], document, directory):
        yield "schema takes mistakes"
    said = refusal(commands["rules"], document, directory)
    for _, wrong, words in MISTAKES:
        if words not in said:
            yield f"rules takes {wrong}: {said}"


def main():
    tools = pathlib.Path(sys.argv[2]).resolve() / "node_modules" / ".bin"
    if not (tools / "validate-api").exists():
        print(f"there are no validators in {sys.argv[2]}; tools/check installs them there with npm")
        sys.exit(1 if os.environ.get("FETTLE_OPENAPI") == "required" else 77)
    text = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as directory:
        found = list(faults(validators(tools), text, directory))
    print("\n".join(found) or "both validators take the document, and refuse mistakes")
    sys.exit(1 if found else 0)


main()
