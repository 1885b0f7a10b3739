# SPDX-License-Identifier: Apache-2.0
"""Holds answers of a controller against doc/openapi.yaml.

A member that the document does not have is a fault, too, except where it allows any: so it cannot fall behind
the code.  What it says of a request is not looked at."""

import copy

import jsonschema
import yaml


def closed(schema):
    """The schema with nothing allowed beside what it has; parts of an allOf stay open, and the whole is closed."""
    if isinstance(schema, list):
        return [closed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    if "allOf" in schema:
        return {**schema, "allOf": [opened(each) for each in schema["allOf"]], "unevaluatedProperties": False}
    made = {key: closed(value) for key, value in schema.items()}
    if "properties" in schema:
        made.setdefault("additionalProperties", False)
    return made


def opened(schema):
    """A part of an allOf: what it has inside is closed, itself it is not."""
    if "$ref" in schema:
        return {"$ref": schema["$ref"].replace("/schemas/", "/opened/")}
    made = closed(schema)
    made.pop("additionalProperties", None)
    return made


class Answers:
    """doc/openapi.yaml, and which of its answers were seen."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            document = yaml.safe_load(file)
        self.seen = set()  # operations that were answered 200
        self.operations = {(method.upper(), path): operation for path, methods in document["paths"].items()
                           for method, operation in methods.items()}
        parts = document["components"]
        self.parts = {"components": {"schemas": {k: closed(v) for k, v in parts["schemas"].items()},
                                     "opened": {k: opened(v) for k, v in parts["schemas"].items()},
                                     "responses": closed(copy.deepcopy(parts["responses"]))}}
        self.checkers = {}

    def form(self, name):
        """The checker of one of the document's schemas."""
        return jsonschema.Draft202012Validator({**self.parts, "$ref": f"#/components/schemas/{name}"})

    def find(self, method, path):
        """The (method, path of the document) that a request is for; None for one that has no route."""
        asked = path.split("?")[0].split("/")
        fitting = [key for key in self.operations if key[0] == method and len(key[1].split("/")) == len(asked)
                   and all(said == is_ or said.startswith("{") for said, is_ in zip(key[1].split("/"), asked))]
        return min(fitting, key=lambda key: key[1].count("{"), default=None)

    def checker(self, key, status):
        """Made once for each: jsonschema takes its time to look through a schema."""
        which = key if status == 200 else None
        if which not in self.checkers:
            answer = {"$ref": "#/components/responses/Error"}
            if which:
                answer = self.operations[which]["responses"]["200"]
            schema = (self.parts["components"]["responses"]["Error"] if "$ref" in answer else answer)
            schema = closed(schema["content"]["application/json"]["schema"])
            self.checkers[which] = jsonschema.Draft202012Validator({**self.parts, **schema})
        return self.checkers[which]

    def faults(self, method, path, status, body):
        """What in an answer is not as the document says, in words."""
        key = self.find(method, path)
        if status == 200 and key is None:
            return [f"{method} {path}: the document has no such route"]
        if status == 200:
            self.seen.add(self.operations[key]["operationId"])
        return [f"{method} {path}: {'/'.join(map(str, e.absolute_path))}: {e.message[:300]}"
                for e in self.checker(key, status).iter_errors(body)]
