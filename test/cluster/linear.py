# SPDX-License-Identifier: Apache-2.0
"""Whether a history of requests and answers is one that a single, careful controller could have given.

A history is a list of Calls. Each began at a moment and had its answer at a later one, or never; clients called at the
same time. `linear` looks for an order of all calls that keeps their times apart and in which each answer is right (Wing
and Gong's search, with Lowe's memory of where it has been). A call whose outcome nobody knows may have its effect at any
moment after its beginning, or never.

`journal` holds answers against the journal: a change to a new owner that was acknowledged stands there, at the revision
that the answer named, once; one that was refused does not.
"""
import math
from dataclasses import dataclass

DONE, REFUSED, UNKNOWN = 'done', 'refused', 'unknown'
NOTHING = 'nothing'  # it was not done, for a reason that says nothing about the owner


@dataclass
class Call:
    """A change of who owns a node, from one owner to another ("": nobody), or a read of it (READ)."""
    began: float
    ended: float
    node: str
    before: str = ''  # the owner that it expects
    after: str = ''   # the owner that it makes; of a read, the one that was read
    outcome: str = DONE
    owner: str = None  # of a refusal: the present owner that it named; None: it named none
    is_read: bool = False
    revision: int = None


def effect(call, state):
    """The owner after the call, when its answer is right for this owner before it; else None."""
    if call.is_read:
        return state if call.after == state else None
    if call.outcome == REFUSED:
        right = state not in (call.before, call.after) and call.owner in (None, state)
        return state if right else None
    if state == call.after:  # the call was repeated
        return state
    return call.after if state == call.before else None


def linear(calls, state=''):
    """None when there is such an order; else the calls at which the search came to its end."""
    calls = sorted(calls, key=lambda c: c.began)
    known = [c for c in calls if c.outcome in (DONE, REFUSED)]
    unknown = [c for c in calls if c.outcome == UNKNOWN]
    been, furthest, stuck = set(), -1, []
    # A place: the calls before `first` are in the order, and so are those in `taken`; the unknown ones that had an effect;
    # the owner.
    stack = [(0, frozenset(), frozenset(), state)]
    while stack:
        first, taken, had, state = stack.pop()
        while first in taken:
            first, taken = first + 1, taken - {first}
        if first == len(known):
            return None
        if (first, taken, had, state) in been:
            continue
        been.add((first, taken, had, state))
        ready, until = candidates(known, first, taken)
        if first + len(taken) > furthest:
            furthest, stuck = first + len(taken), [known[i] for i in ready]
        after = {i: effect(known[i], state) for i in ready}
        same = [i for i in ready if after[i] is not None and (known[i].is_read or known[i].outcome == REFUSED)]
        if same:  # what never changes anything may be as early as it is right
            stack.append((first, taken.union(same), had, state))
            continue
        stack += [(first, taken, had | {i}, c.after) for i, c in enumerate(unknown)
                  if i not in had and c.began <= until and c.before == state != c.after]
        stack += [(first, taken | {i}, had, after[i]) for i in ready if after[i] is not None]
    return stuck


def candidates(known, first, taken):
    """The calls that may be next: they began before any of those that are left had ended. And until when that is."""
    found, until = [], math.inf
    for i in range(first, len(known)):
        if known[i].began > until:
            break
        if i not in taken:
            found.append(i)
            until = min(until, known[i].ended)
    return [i for i in found if known[i].began <= until], until


def journal(calls, entries):
    """Sentences about answers that the journal does not bear out. An entry is (revision, node, before, after), in order."""
    wrong, made, is_there = [], {}, {}
    for revision, node, before, after in entries:
        if is_there.get(node, '') != before:
            wrong.append(f'revision {revision} takes {node} from {before!r}, and {is_there.get(node, "")!r} owned it')
        is_there[node] = after
        made.setdefault((node, before, after), []).append(revision)
    for key, revisions in made.items():
        if len(revisions) > 1 and key[2]:
            wrong.append(f'{key} was done at revisions {revisions}')
    for c in calls:
        if c.is_read or not c.after:  # a release is no name of its own: `linear` judges it
            continue
        done = made.get((c.node, c.before, c.after), [])
        if c.outcome in (REFUSED, NOTHING) and done:
            wrong.append(f'{c} is there at revision {done[0]}')
        if c.outcome == DONE and done != [c.revision]:
            wrong.append(f'{c} was acknowledged, and stands at revisions {done}')
    return wrong


def quotas(entries, limits):
    """The revisions after which a tenant owned more nodes than it may. Owners are "TENANT:ALLOCATION"."""
    wrong, owner, count = [], {}, {}
    for revision, node, _, after in entries:
        for name, step in ((owner.get(node, ''), -1), (after, 1)):
            tenant = name.partition(':')[0]
            count[tenant] = count.get(tenant, 0) + step
        owner[node] = after
        wrong += [f'revision {revision}: {tenant} owns {n} nodes, and may own {limits[tenant]}'
                  for tenant, n in count.items() if n > limits.get(tenant, math.inf)]
    return wrong


def leaders(looks):
    """Looks are (began, ended, controller, term) of controllers that said that they lead. Once one of them has said it
    of a term, nobody says it of an older one. Sentences about those that did."""
    wrong, heard = [], []
    for look in sorted(looks, key=lambda k: k[0]):
        began, _, controller, term = look
        newer = [h for h in heard if h[1] < began and h[3] > term]
        other = [h for h in heard if h[3] == term and h[2] != controller]
        wrong += [f'{controller} leads in term {term}, and {h[2]} in term {h[3]}' for h in (newer + other)[:1]]
        heard = [h for h in heard if h[3] != term] + [min([look] + [h for h in heard if h[3] == term and h[2] == controller],
                                                           key=lambda k: k[1])]
    return wrong
