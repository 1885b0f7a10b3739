# SPDX-License-Identifier: Apache-2.0
"""The checker of histories finds what it is for: each history here that must fail differs little from one that must not."""
import random
import unittest

from linear import DONE, REFUSED, UNKNOWN, Call, journal, leaders, linear, quotas


def change(began, ended, before, after, outcome=DONE, **more):
    return Call(began, ended, 'n1', before, after, outcome, **more)


def read(began, ended, owner):
    return Call(began, ended, 'n1', after=owner, is_read=True)


class Linear(unittest.TestCase):
    def good(self, *calls):
        self.assertIsNone(linear(calls))

    def bad(self, *calls):
        self.assertTrue(linear(calls))

    def test_one_after_another(self):
        self.good(change(0, 1, '', 'a'), change(2, 3, 'a', 'b'), read(4, 5, 'b'), change(6, 7, 'b', ''), read(8, 9, ''))

    def test_two_at_once_in_either_order(self):
        self.good(change(0, 9, '', 'a'), change(1, 8, 'a', ''), read(2, 3, ''), read(4, 5, 'a'), read(6, 7, ''))
        self.good(change(0, 3, '', 'a'), change(1, 2, '', 'b', REFUSED, owner='a'))

    def test_a_lost_acknowledgement(self):
        self.bad(change(0, 1, '', 'a'), read(2, 3, ''))
        self.bad(change(0, 1, '', 'a'), change(2, 3, '', 'b'))
        self.good(change(0, 1, '', 'a', UNKNOWN), change(2, 3, '', 'b'))

    def test_a_stale_read_after_a_newer_one(self):
        self.bad(change(0, 9, '', 'a'), read(1, 2, 'a'), read(3, 4, ''))
        self.good(change(0, 9, '', 'a'), read(1, 3, 'a'), read(2, 4, ''))

    def test_a_double_effect(self):
        self.bad(change(0, 1, '', 'a'), change(2, 3, 'a', ''), read(4, 5, 'a'))
        self.bad(change(0, 1, '', 'a', UNKNOWN), read(2, 3, 'a'), change(4, 5, 'a', ''), read(6, 7, 'a'))

    def test_two_owners(self):
        self.bad(change(0, 3, '', 'a'), change(1, 2, '', 'b'))

    def test_a_refusal_needs_its_reason(self):
        self.bad(change(0, 1, '', 'a', REFUSED, owner='b'))
        self.bad(change(0, 1, '', 'b'), change(2, 3, '', 'a', REFUSED, owner='c'))
        self.bad(change(0, 1, '', 'b'), change(2, 3, 'b', ''), change(4, 5, '', 'a', REFUSED))
        self.good(change(0, 1, '', 'b'), change(2, 3, '', 'a', REFUSED, owner='b'))

    def test_an_unknown_outcome_may_come_late_or_never(self):
        self.good(change(0, 1, '', 'a', UNKNOWN), read(2, 3, ''), read(4, 5, 'a'))
        self.good(change(0, 1, '', 'a', UNKNOWN), read(2, 3, ''), change(4, 5, '', 'b'))
        self.bad(read(0, 1, 'a'), change(2, 3, '', 'a', UNKNOWN))

    def test_a_long_history(self):
        """Clients of a register that is careful; then one of the answers is changed."""
        chance, calls, state = random.Random(1), [], ''
        for t in range(400):
            before, after = (state, f'o{t}') if chance.random() < 0.7 else ('other', f'o{t}')
            calls.append(change(t, t + 3.5 * chance.random() + 1, before, after, *(
                (DONE,) if before == state else (REFUSED,)), owner=None if before == state else state))
            state = after if before == state else state
            if chance.random() < 0.1:
                calls.append(change(t, t + 1, state, f'u{t}', UNKNOWN))
        self.good(*calls)
        self.bad(*calls, read(1000, 1001, 'o1'))


class Journal(unittest.TestCase):
    def test_what_was_acknowledged_is_there_once(self):
        ok = [change(0, 1, '', 'a', revision=1), change(2, 3, 'a', 'b', UNKNOWN), change(2, 3, '', 'c', REFUSED)]
        self.assertEqual(journal(ok, [(1, 'n1', '', 'a')]), [])
        self.assertEqual(journal(ok, [(1, 'n1', '', 'a'), (2, 'n1', 'a', 'b')]), [])
        self.assertTrue(journal(ok, []))
        self.assertTrue(journal(ok, [(1, 'n1', '', 'a'), (2, 'n1', 'a', ''), (3, 'n1', '', 'a')]))
        self.assertTrue(journal(ok, [(1, 'n1', '', 'a'), (2, 'n1', 'a', ''), (3, 'n1', '', 'c')]))
        self.assertTrue(journal(ok, [(1, 'n1', '', 'a'), (2, 'n1', '', 'b')]))

    def test_at_the_revision_that_was_named(self):
        entries = [(1, 'n1', '', 'a'), (2, 'n1', 'a', 'b')]
        self.assertTrue(journal([change(0, 1, '', 'a', revision=2)], entries))

    def test_quotas(self):
        entries = [(1, 'n1', '', 'p:1'), (2, 'n2', '', 'p:2'), (3, 'n1', 'p:1', 'q:1')]
        self.assertEqual(quotas(entries, {'p': 2, 'q': 1}), [])
        self.assertTrue(quotas(entries, {'p': 1}))


class Leaders(unittest.TestCase):
    def test_one_at_a_time(self):
        self.assertEqual(leaders([(0, 1, 'c0', 1), (2, 3, 'c1', 2), (4, 5, 'c1', 2)]), [])
        self.assertEqual(leaders([(0, 3, 'c0', 1), (1, 2, 'c1', 2)]), [])
        self.assertEqual(len(leaders([(0, 1, 'c0', 1), (2, 3, 'c1', 2), (4, 5, 'c0', 1)])), 1)
        self.assertEqual(len(leaders([(0, 1, 'c0', 1), (2, 3, 'c1', 1)])), 1)


unittest.main()
