#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: Apache-2.0
"""Is every answer that the tests of src/api expect one that doc/openapi.yaml describes?

usage: answers_test.py DOCUMENT FILE...  The files are those golden ones of test/data/api that have requests
and their answers: METHOD PATH [BODY], and on the next line STATUS ANSWER."""

import json
import re
import sys

from answers import Answers

# Answers of these have no golden file; test/cluster/openapi.py asks a controller for them, and for the status,
# to which the controller adds members that the tests of src/api do not have.
ELSEWHERE = {"audit_checkpoint", "audit_consistency", "audit_minimum", "audit_proof", "audit_show", "audit_tile",
             "backup_list", "certificate_list", "controller_list", "event_stream", "override_end", "observed_stream", "override_list", "repair_numbers", "status_show", "whoami_show"}


def exchanges(path):
    """(method, path, status, answer) of each that a golden file has."""
    with open(path, encoding="utf-8") as file:
        for found in re.finditer(r"^(GET|POST) (\S+) ?.*\n(\d+) (.*)$", file.read(), re.MULTILINE):
            method, asked, status, answer = found.groups()
            if asked != "/v1/status":
                yield method, asked, int(status), json.loads(answer)


def wrong_answers(answers, exchange):
    """The same answer with a member too many, and with one too few, has to be a fault."""
    method, path, status, answer = exchange
    for wrong in ({**answer, "unheard-of": 1}, dict(list(answer.items())[1:])):
        if not answers.faults(method, path, status, wrong):
            yield f"{method} {path} takes {wrong}"


def main():
    answers = Answers(sys.argv[1])
    all_of_them = [each for path in sys.argv[2:] for each in exchanges(path)]
    faults = [fault for each in all_of_them for fault in answers.faults(*each)]
    faults += wrong_answers(answers, next(each for each in all_of_them if each[2] == 200))
    operations = {operation["operationId"] for operation in answers.operations.values()}
    if operations - answers.seen != ELSEWHERE:
        faults.append(f"without an answer: {sorted(operations - answers.seen)}, and not {sorted(ELSEWHERE)}")
    print("\n".join(faults) or f"{len(all_of_them)} answers of {len(answers.seen)} calls are as described")
    sys.exit(1 if faults else 0)


main()
