# SPDX-License-Identifier: Apache-2.0
"""Holds doc/openapi.yaml against the tables and limits that the code is made of.

usage: openapi_test.py SOURCE_ROOT; prints each difference, and exits with 1 when there is one.
"""
import re
import sys

import yaml

root = sys.argv[1]
differences = []


def read(path):
    with open(f"{root}/{path}", encoding="utf-8") as file:
        return file.read()


def same(what, said, is_):
    if said != is_:
        differences.append(f"{what}: openapi.yaml has {said}, the code has {is_}")


def rows(path, name):
    """The argument lists of NAME(...) rows of a table, as text."""
    return re.findall(rf"^{name}\((.*?)\)$", read(path), re.MULTILINE | re.DOTALL)


document = yaml.safe_load(read("doc/openapi.yaml"))
schemas = document["components"]["schemas"]


def resolve(thing):
    while "$ref" in thing:
        kind, name = thing["$ref"].split("/")[-2:]
        thing = document["components"][kind][name]
    return thing


operations = {}
described = set()
for path, methods in document["paths"].items():
    for method, operation in methods.items():
        operations[operation["operationId"]] = operation
        described.add((operation["operationId"], method.upper(), path))

routes = {}
for row in rows("src/api/route.tbl", "ROUTE"):
    operation, method, path, right = [part.strip().strip('"') for part in row.split(",")]
    routes[operation] = (method, path, right)

for route in sorted(described - {(o, m, p) for o, (m, p, _) in routes.items()}):
    differences.append(f"only in openapi.yaml: {' '.join(route)}")
for route in sorted({(o, m, p) for o, (m, p, _) in routes.items()} - described):
    differences.append(f"only in route.tbl: {' '.join(route)}")
# Each right: whether it changes something, and the roles that have it.
roles = dict(re.findall(r'^ROLE\((\w+), "([^"]*)"', read("src/access/role.tbl"), re.MULTILINE))
rights = {right: (changes == "true", [roles[role] for role in roles if f"OF({role})" in has])
          for right, changes, has in re.findall(r'^RIGHT\((\w+), (\w+), ([^"]*),', read("src/access/right.tbl"), re.MULTILINE)}
for operation, (method, _, right) in routes.items():
    changes, have = rights[right]
    if (method == "POST") != changes:
        differences.append(f"route.tbl: {operation} is {method}, and for those who may {right}")
    same(f"security of {operation}", operations.get(operation, {}).get("security", document["security"]),
         [{kind: have} for kind in ("localUser", "certificate", "token")])
same("roles of a caller", schemas["Caller"]["properties"]["roles"]["items"]["enum"], list(roles.values()))

# The keys of each body, in the table of ask.c and in the document.
taken = {}
for operation, empty, keys in re.findall(
        r"\[ROUTE_(\w+)\] = \{\w+,\s+(true|false),\s+\d+,\s+\{([^}]*)\}\}", read("src/api/ask.c")):
    taken[operation] = (empty == "true", set(re.findall(r'"(\w+)"', keys)))
same("calls with a body", {o for o, (_, _, right) in routes.items() if rights[right][0]}, set(taken))
for operation, (may_be_empty, keys) in taken.items():
    body = operations.get(operation, {}).get("requestBody", {})
    schema = resolve(body.get("content", {}).get("application/json", {}).get("schema", {}))
    same(f"keys of {operation}", set(schema.get("properties", {})), keys)
    same(f"{operation} needs a body", body.get("required", False), not may_be_empty)
    if body:
        same(f"{operation} has unknown keys", schema.get("additionalProperties"), False)

queries = {}
for operation, keys in re.findall(r"\[ROUTE_(\w+)\] = \{\d+,\s+\{([^}]*)\}\}", read("src/api/route.c")):
    queries[operation] = set(re.findall(r'"(\w+)"', keys))
for operation, said in operations.items():
    in_query = {p["name"] for p in map(resolve, said.get("parameters", [])) if p["in"] == "query"}
    changes = rights.get(routes.get(operation, ("", "", ""))[2], (False, []))[0]
    same(f"query of {operation}", in_query, queries.get(operation, set()) | ({"dry_run"} if changes else set()))

# Words that are rows of a table, by the first text of each row.
words = {
    ("src/cluster/state/claim.tbl", "CLAIM"): schemas["Claim"]["properties"]["kind"],
    ("src/watch/view/alarm.tbl", "ALARM"): schemas["Alarm"]["properties"]["alarm"],
    ("src/controller/outbox/counterpart.tbl", "COUNTERPART"): schemas["Counterpart"]["properties"]["name"],
    ("src/health/result.tbl", "RESULT"): schemas["Verdict"]["properties"]["result"],
    ("src/health/act.tbl", "ACT"): schemas["Incident"]["properties"]["act"],
    ("src/health/blame.tbl", "BLAME"): schemas["Explanation"]["properties"]["blame"],
    ("src/place/term.tbl", "PLACE_TERM"): schemas["Placement"]["properties"]["terms"]["items"]["properties"]["name"],
    ("src/node/step.tbl", "STEP"): schemas["Repair"]["properties"]["step"],
}
for (table, name), schema in words.items():
    rows_of = re.findall(rf'^{name}\(\w+,\s+"([^"]*)"', read(table), re.MULTILINE)
    same(f"words of {table}", schema["enum"], rows_of)

limit = int(re.search(r"REASON_BYTES_MAX = (\d+)", read("src/cluster/state/claim.h"))[1])
same("length of a reason", schemas["Hold"]["properties"]["reason"]["maxLength"], limit)
entries = int(re.search(r"JOURNAL_ENTRIES_MAX = (\d+)", read("src/api/journal.c"))[1])
parameters = {p["name"]: p["schema"] for p in operations["journal_list"]["parameters"]}
same("limit of the journal", parameters["limit"]["maximum"], entries)
same("tail of the journal", parameters["tail"]["maximum"], entries)

weights = re.search(r"WEIGHT_CONFORMANT = (\d+), WEIGHT_UNPROVEN = (\d+), WEIGHT_DRIFTED = (\d+)", read("src/api/slurm.c"))
described_weights = re.search(r"(\d+) conformant, (\d+) unproven,\s+(\d+) drifted", operations["slurm_features"]["description"])
same("weights for Slurm", described_weights.groups(), weights.groups())
policies = re.findall(r'^PLACE_POLICY\(\w+, "(\w+)"', read("src/place/policy.tbl"), re.MULTILINE)
placing = {p["name"]: p["schema"] for p in operations["place"]["parameters"]}
same("policies of placing", placing["policy"]["enum"], policies)
days = int(re.search(r"ROLLOUT_DAYS_MAX = (\d+)", read("src/api/ask.h"))[1])
same("deadline of a rollout", f"{days}d at most" in str(operations["rollout_start"]["requestBody"]), True)
named = int(re.search(r"ALSO_NAMES_MAX = (\d+)", read("src/api/also.h"))[1])
difference = schemas["Diff"]["properties"]["differences"]["items"]["properties"]
same("nodes with the same component", f"{named} at most" in difference["also"]["description"], True)

event = re.search(r"void event_format\(.*?\n}", read("src/api/events.c"), re.DOTALL)[0]
written = re.search(r"void entry_fields_write\(.*?\n}", read("src/cluster/decision/entry.c"), re.DOTALL)[0]
for_programs = set(re.findall(r'write_(?:word|name)\("(\w+)"', written))
for_programs |= {re.match(r'\w+, "(\w+)"', row)[1] for row in rows("src/cluster/decision/entry.tbl", "ID")}
same("members of an event", set(schemas["Event"]["properties"]),
     set(re.findall(r'\\"(\w+)\\":', event)) | for_programs)
same("events of a repair", schemas["Event"]["properties"]["trigger"]["enum"],
     [re.match(r'\w+, "(\w+)"', row)[1] for row in rows("src/node/step_move.tbl", "EVENT")])
claim = re.search(r"void render_claim\(.*?\n}", read("src/api/render.c"), re.DOTALL)[0]
same("members of a claim", set(schemas["Claim"]["properties"]), set(re.findall(r'\\"(\w+)\\":', claim)))

# Each field of a node, as its row has it. A new row's line for the document stands in the difference.
TYPES = {"TEXT": ["string", "null"], "NUMBER": ["integer", "null"], "MILLI": ["number", "null"], "FLAG": "boolean",
         "LIST": ["array", "null"], "TIME": ["integer", "null"], "SPAN": ["integer", "null"]}
described_fields = schemas["Node"]["properties"]
fields = [re.match(r'\w+, "(\w+)", (\w+), "\w*", "([^"]*)", \w+, "(.*)"$', row).groups()
          for row in rows("src/node/field.tbl", "FIELD")]
same("fields of a node", list(described_fields), [name for name, *_ in fields])
for name, kind, unit, what in fields:
    is_ = {"type": TYPES[kind], "description": what + (f"; {unit}" if unit else "")}
    said = {key: value for key, value in described_fields.get(name, {}).items() if key != "items"}
    same(f"field {name}", yaml.safe_dump(said, width=1000), yaml.safe_dump(is_, width=1000))

print("\n".join(differences) or f"{len(routes)} routes agree")
sys.exit(1 if differences else 0)
