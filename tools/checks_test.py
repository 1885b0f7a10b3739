#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: Apache-2.0
"""Each check sees each fault that it is there for, and passes a good tree; measures counts what it says it counts; and mutants
break what they say they break."""

import json
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import mutants
import sources

TOOLS = Path(__file__).resolve().parent
LICENCE = "/* SPDX-License-Identifier: Apache-2.0 */\n"


# Two rooms of a folder, the second on the first.
ROOMS = "folder exec/low : base\nfolder exec/high : base exec/low\n"


class Tree:
    """A small tree with the real tools/layers.txt, without the circles that the real tree has."""

    def __init__(self):
        self.root = Path(tempfile.mkdtemp(prefix="fettle-checks-"))
        (self.root / "tools").mkdir()
        lines = (TOOLS / "layers.txt").read_text().splitlines(keepends=True)
        self.layers = self.root / "tools" / "layers.txt"
        self.layers.write_text("".join(line for line in lines if not line.startswith("circle ")))
        shutil.copy(TOOLS.parent / ".clang-format", self.root)

    def write(self, name, text, licence=LICENCE):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(licence + text)

    def add_layers(self, lines):
        with self.layers.open("a") as file:
            file.write(lines)

    def check(self, tool, *more):
        run = subprocess.run([sys.executable, "-B", TOOLS / tool, *more, self.root], capture_output=True, text=True, check=False)
        return run.returncode, run.stdout + run.stderr


class Checks(unittest.TestCase):
    def setUp(self):
        self.tree = Tree()
        self.addCleanup(shutil.rmtree, self.tree.root)

    def assert_fault(self, tool, name, text, words):
        self.tree.write(name, text)
        status, said = self.tree.check(tool)
        self.assertEqual(status, 1, f"{tool} passes {name}: {text}")
        self.assertIn(words, said)
        (self.tree.root / name).unlink()

    def assert_good(self, tool, name, text):
        self.tree.write(name, text)
        status, said = self.tree.check(tool)
        self.assertEqual(status, 0, said)
        (self.tree.root / name).unlink()

    def test_layers_refuses(self):
        for name, include, words in [
            ("src/base/a.c", '"node/spec.h"', "a.c:2: \"node/spec.h\" does not lie below"),
            ("src/node/a.c", '"store/store.h"', "may include base node"),
            ("src/beat/a.h", '"cluster/cluster.h"', "does not lie below"),
            ("src/store/a.c", '"link/tls.h"', "does not lie below"),
            ("src/base/a_test.c", '"node/spec.h"', "does not lie below"),
            ("src/cluster/a_test.c", '"api/api.h"', "does not lie below"),
            ("src/node/a.c", '"spec.h"', "is not \"folder/name\""),
            ("src/link/a.c", "<sqlite3.h>", "sqlite3.h is for store"),
            ("src/store/a.c", "<uv.h>", "uv.h is for agent api controller driver fetch http link store/etcd tests"),
            ("src/http/a.c", "<openssl/ssl.h>", "is for base link"),
            ("src/base/a.c", "<cmocka.h>", "is for tests"),
            ("src/base/a.c", '"fettle.h"', "is for cli lib tests"),
            ("src/new/a.c", "<stdio.h>", "layers.txt has no folder new"),
            ("test/sim/a.c", "<sqlite3.h>", "is for store"),
        ]:
            self.assert_fault("check-layers", name, f"#include {include}\n", words)

    def test_layers_accepts(self):
        for name, include in [
            ("src/node/a.c", '"base/err.h"'),
            ("src/node/a.c", '"node/spec.h"'),
            ("src/node/a.c", "<stdio.h>"),
            ("src/link/a.c", "<openssl/ssl.h>"),
            ("src/store/a_test.c", "<cmocka.h>"),
            ("src/store/a_test.c", "<sqlite3.h>"),
            ("src/store/a_test.c", '"link/tls.h"'),
            ("src/cli/a.c", '"fettle.h"'),
            ("test/sim/a.c", '"watch/watch.h"'),
            ("test/swarm/a.c", "<uv.h>"),
        ]:
            self.assert_good("check-layers", name, f"#include {include}\n")

    def test_layers_are_bottom_to_top(self):
        self.tree.add_layers("folder low : high\nfolder high : base\n")
        status, said = self.tree.check("check-layers")
        self.assertEqual(status, 1)
        self.assertIn("low names high, which no line before it has", said)

    def test_layers_of_rooms(self):
        self.tree.add_layers(ROOMS)
        for name, include, words in [
            ("src/exec/low/a.c", '"exec/high/b.h"', "does not lie below"),
            ("src/exec/low/a.c", '"exec/command.h"', "does not lie below; this file may include base exec/low"),
            ("src/exec/low/a_test.c", '"exec/high/b.h"', "does not lie below"),
            ("src/exec/a.c", '"exec/low/b.h"', "does not lie below"),
            ("src/exec/low/a.c", '"low/b.h"', "is not \"folder/name\""),
            ("src/exec/other/a.c", "<stdio.h>", "layers.txt has no folder exec/other"),
            ("src/exec/high/a.c", '"exec/other/b.h"', "is not \"folder/name\""),
            ("src/exec/high/a.c", '"exec/low/inside.h"', "is the inside of exec/low"),
            ("src/exec/high/a.c", '"exec/low/a_internal.h"', "is the inside of exec/low"),
            ("src/exec/high/a_test.c", '"exec/low/inside.h"', "is the inside of exec/low"),
            ("src/exec/a.c", '"driver/slurm_inside.h"', "is the inside of driver"),
            ("src/exec/low/a.c", "<uv.h>", "uv.h is for agent"),
        ]:
            self.assert_fault("check-layers", name, f"#include {include}\n", words)
        for name, include in [
            ("src/exec/high/a.c", '"exec/low/b.h"'),
            ("src/exec/low/a.c", '"exec/low/inside.h"'),
            ("src/exec/low/a_test.c", '"exec/low/a_inside.h"'),
            ("src/exec/low/a_test.c", '"exec/fake_test.h"'),
            ("test/sim/a.c", '"exec/high/b.h"'),
        ]:
            self.assert_good("check-layers", name, f"#include {include}\n")

    def test_a_room_has_the_outside_headers_of_its_folder(self):
        self.tree.add_layers("folder agent/new : base\n")
        self.assert_good("check-layers", "src/agent/new/a.c", "#include <uv.h>\n")

    def test_layers_see_uses_without_an_include(self):
        self.tree.add_layers(ROOMS)
        self.tree.write("src/exec/high/b.c", "int high_one(int a)\n{\n    return a;\n}\n")
        self.assert_fault("check-layers", "src/exec/low/a.c", "int low_one(void)\n{\n    return high_one(1);\n}\n",
                          "src/exec/low/a.c: high_one of src/exec/high/b.c does not lie below")
        for text in [
            "int low_one(void)\n{\n    return x->high_one;\n}\n",
            "int low_one(int high_one)\n{\n    return high_one;\n}\n",
            "/* high_one */\nstatic int high_one(void)\n{\n    return 1;\n}\n",
        ]:
            self.assert_good("check-layers", "src/exec/low/a.c", text)

    def test_a_folder_stands_for_what_its_rooms_define(self):
        self.tree.add_layers("folder new/low : base\nfolder new : base new/low\nfolder newer : base new\nfolder newest/low : new/low\n")
        self.tree.write("src/new/low/a.c", "int low_one(int a)\n{\n    return a;\n}\n")
        self.assert_good("check-layers", "src/newer/b.c", "int newer_one(void)\n{\n    return low_one(1);\n}\n")
        self.assert_fault("check-layers", "src/newer/b.c", '#include "new/low/a.h"\n', "does not lie below")
        self.tree.write("src/new/high.c", "int high_one(int a)\n{\n    return a;\n}\n")
        self.assert_fault("check-layers", "src/newest/low/b.c", "int other_one(void)\n{\n    return high_one(1);\n}\n",
                          "high_one of src/new/high.c does not lie below")

    def write_circle(self):
        self.tree.write("src/store/a.c", "int a_one(void)\n{\n    return b_one;\n}\n")
        self.tree.write("src/store/b.c", "const int b_one = 1;\nint b_two(void)\n{\n    return c_one();\n}\n")
        self.tree.write("src/store/c.c", "int c_one(void)\n{\n    return a_one();\n}\n")

    def test_layers_find_circles(self):
        self.write_circle()
        status, said = self.tree.check("check-layers")
        self.assertEqual(status, 1)
        self.assertIn('layers.txt has no line "circle store : a b c"; a uses b_one of b; b uses c_one of c', said)
        self.tree.add_layers("circle store : a b c\n")
        self.assertEqual(self.tree.check("check-layers")[0], 0)

    def test_layers_list_circles_exactly(self):
        self.write_circle()
        for line, words in [
            ("circle store : a b", 'the circle is now "circle store : a b c"; c uses a_one of a'),
            ("circle store : a b c d", 'the circle is now "circle store : a b c"'),
            ("circle store : a b c\ncircle store : d e", "store has no such circle any more: d e"),
            ("circle link : a b c", "link has no such circle any more"),
        ]:
            before = self.tree.layers.read_text()
            self.tree.add_layers(line + "\n")
            status, said = self.tree.check("check-layers")
            self.assertEqual(status, 1, line)
            self.assertIn(words, said)
            self.tree.layers.write_text(before)

    def test_a_caller_that_is_not_called_is_no_circle(self):
        self.tree.write("src/store/a.c", "int a_one(void)\n{\n    return b_one();\n}\n")
        self.tree.write("src/store/b.c", "int b_one(void)\n{\n    return 1;\n}\n")
        self.assert_good("check-layers", "src/store/c.c", "int c_one(void)\n{\n    return a_one() + b_one();\n}\n")

    def test_banned_refuses(self):
        self.tree.add_layers("decision exec/pure : base\n")
        for name, text, words in [
            ("src/base/a.c", "strcpy(a, b);\n", "a.c:2: strcpy: does not know"),
            ("src/base/a.c", "n = sprintf (a, b);\n", "sprintf"),
            ("src/base/a.c", "/* one\ntwo */ n = atoi(s);\n", "a.c:3: atoi"),
            ("src/base/a.c", "p = strtok(s, t);\n", "strtok"),
            ("src/base/a.c", "localtime(&t);\n", "localtime"),
            ("src/base/a.c", "system(s);\n", "system"),
            ("src/base/a.c", "rand();\n", "rand"),
            ("src/base/a_test.c", "usleep(1000);\n", "usleep"),
            ("src/base/a.c", "signal(SIGTERM, on_term);\n", "signal"),
            ("src/base/a.c", "typedef struct a a;\n", "typedef struct"),
            ("src/base/a.c", "/* TODO: more */\n", "TODO"),
            ("src/node/a.c", "t = mono_now();\n", "mono_now: a decision"),
            ("src/beat/a.c", "t = time(NULL);\n", "time"),
            ("src/cluster/a.c", 'log_info("x");\n', "log_info"),
            ("src/watch/a.c", "double x;\n", "double"),
            ("src/watch/a.c", 'printf("x");\n', "printf"),
            ("src/watch/room/a.c", 'printf("x");\n', "printf"),
            ("src/exec/pure/a.c", 'printf("x");\n', "printf"),
        ]:
            self.assert_fault("check-banned", name, text, words)

    def test_banned_accepts(self):
        for name, text in [
            ("src/base/a.c", "t = mono_now(); double x; log_info(s);\n"),
            ("src/base/a.c", '/* strcpy(a, b) */ s = "system(x)"; // rand()\n'),
            ("src/base/a.c", "snprintf(a); strtok_r(a); localtime_r(a); my_system(x); s->time(x); mkstemp(x);\n"),
            ("src/base/a.c", "signal(SIGPIPE, SIG_IGN); signal(all[i], SIG_DFL);\n"),
            ("src/base/a.c", 's = "/tmp/a-XXXXXX";\n'),
            ("src/node/a_test.c", "t = mono_now();\n"),
            ("src/node/a.c", "snprintf(a); uint64_t runtime(x);\n"),
        ]:
            self.assert_good("check-banned", name, text)

    def test_banned_wants_the_licence(self):
        for name in ["src/base/a.c", "src/base/a.h", "src/base/a.tbl", "src/base/meson.build", "test/a.py"]:
            self.tree.write(name, "x\n", licence="")
            status, said = self.tree.check("check-banned")
            self.assertEqual(status, 1)
            self.assertIn(f"{name}:1: no line", said)
            (self.tree.root / name).unlink()
        self.tree.write("LICENSE", "words\n", licence="")
        self.assertEqual(self.tree.check("check-banned")[0], 0)
        self.tree.write("run", "#!/bin/sh\n", licence="")
        self.assertIn("run:1: no line", self.tree.check("check-banned")[1])

    @unittest.skipUnless(shutil.which("clang-format"), "there is no clang-format here")
    def test_format(self):
        self.assert_good("check-format", "src/base/a.c", "int a;\n")
        self.assert_fault("check-format", "src/base/a.c", "int a;\nint   b;\n", "src/base/a.c:3: here first")

    def check_compiled(self, tool, body):
        self.tree.write("src/base/a.c", body)
        build = self.tree.root / "build"
        build.mkdir(exist_ok=True)
        (build / "compile_commands.json").write_text(json.dumps(
            [{"directory": str(build), "command": "gcc -Wall -Wsuggest-attribute=cold -c ../src/base/a.c", "file": "../src/base/a.c"}]))
        run = subprocess.run([sys.executable, "-B", TOOLS / tool, self.tree.root, build], capture_output=True, text=True, check=False)
        return run.returncode, run.stdout + run.stderr

    @unittest.skipUnless(shutil.which("clang-tidy"), "there is no clang-tidy here")
    def test_tidy(self):
        shutil.copy(TOOLS.parent / ".clang-tidy", self.tree.root)
        self.assertEqual(self.check_compiled("check-tidy", "int one(int i);\nint one(int i)\n{\n    return i;\n}\n"), (0, "1 files: no faults\n"))
        status, said = self.check_compiled("check-tidy", "int one(int i);\nint one(int x)\n{\n    return x;\n}\n")
        self.assertEqual(status, 1)
        self.assertIn("src/base/a.c:2: function 'one' has a definition with different parameter names", said)

    @unittest.skipUnless(shutil.which("gcc-12"), "there is no gcc 12 here")
    def test_analyzer(self):
        known = self.tree.root / "tools" / "analyzer.txt"
        known.write_text("# none\n")
        body = "#include <stdlib.h>\n\nint one_make(void);\nint one_make(void)\n{\n    int *p = malloc(4);\n    return *p;\n}\n"
        status, said = self.check_compiled("check-analyzer", body)
        self.assertEqual(status, 1)
        self.assertIn("src/base/a.c:8: ", said)
        self.assertIn("[possible-null-dereference in one_make]", said)
        known.write_text("one_make possible-null-dereference it is a test\none_make use-of-uninitialized-value it is a test\n")
        self.assertEqual(self.check_compiled("check-analyzer", body), (0, "1 files: no faults\n"))
        status, said = self.check_compiled("check-analyzer", "int one_make(void);\n")
        self.assertEqual(status, 1)
        self.assertIn("tools/analyzer.txt: one_make possible-null-dereference is not found any more", said)

    @unittest.skipUnless(shutil.which("gcc-12"), "there is no gcc 12 here")
    def test_warnings(self):
        body = "#include <stdio.h>\n\nvoid one(char s[4], int i);\nvoid one(char s[4], int i)\n{\n    snprintf(s, 4, \"%05d\", i);\n}\n"
        self.assertEqual(self.check_compiled("check-warnings", "int one(int i);\nint one(int i)\n{\n    return i;\n}\n"), (0, "1 files: no faults\n"))
        status, said = self.check_compiled("check-warnings", body)
        self.assertEqual(status, 1)
        self.assertIn("src/base/a.c:7: ", said)
        self.assertIn("[-Wformat-truncation=]", said)

    def test_format_is_skipped_with_words(self):
        run = subprocess.run([sys.executable, "-B", TOOLS / "check-format", self.tree.root], env={"PATH": ""},
                             capture_output=True, text=True, check=False)
        self.assertEqual(run.returncode, 77)
        self.assertIn("there is no clang-format", run.stdout)

    def measured(self, what):
        """The figures of a measure, and the names behind them."""
        status, said = self.tree.check("measures", "-v")
        self.assertEqual(status, 0, said)
        lines = said.splitlines()
        at = next(number for number, line in enumerate(lines) if line.startswith(what))
        names = []
        for line in lines[at + 1:]:
            if not line.startswith("    "):
                break
            names.append(line.strip())
        return lines[at].rpartition(": ")[2].strip(), names

    def test_measures_of_sizes(self):
        self.tree.write("src/base/long.h", "\n" * 250)
        self.tree.write("src/base/fits.h", "\n" * 249)
        self.tree.write("src/base/long.c", "int a_one(void)\n{\n}\n" + "\n" * 597)
        self.tree.write("src/base/long_test.c", "\n" * 700)
        self.tree.write("src/base/fits.c", "\n" * 599)
        self.assertEqual(self.measured("headers over 250 lines, of 2:"), ("1", ["251 src/base/long.h"]))
        self.assertEqual(self.measured(".c files over 600 lines, of 2:"), ("1", ["601 src/base/long.c"]))

    def test_measures_of_walls(self):
        self.tree.write("src/store/a.c", '#include "store/a_inside.h"\nint a_one(void)\n{\n    return b_one();\n}\n')
        self.tree.write("src/store/b.c", '#include "store/a_inside.h"\nint b_one(void)\n{\n    return a_one();\n}\n')
        self.tree.write("src/link/a.c", '#include "store/a_inside.h"\nint link_one(void)\n{\n    return fetch_one();\n}\n')
        self.tree.write("src/fetch/a.c", "int fetch_one(void)\n{\n    return link_one();\n}\n")
        self.assertEqual(self.measured("circles between .c files"), ("1, 2", ["store: a b"]))
        self.assertEqual(self.measured("circles between folders"), ("1", ["src/fetch src/link"]))
        self.assertEqual(self.measured("includes of the inside"), ("1", ["src/link/a.c: store/a_inside.h"]))
        self.assertEqual(self.measured("files that share the inside"), ("2", ["2 store/a_inside.h"]))

    def test_measures_of_functions(self):
        bodies = ["static struct x *\nbegin(int a,\n      int b)\n{\n    if (a) {\n        b();\n    }\n}\n",
                  "int a_b(void)\n{\n}\n", "static int table[] = {\n    1,\n};\n\nint a_c(void)\n{\n    x();\n}\n"]
        self.tree.write("src/base/a.c", "struct a {\n    int b;\n};\n\n" + "\n".join(bodies))
        self.assertEqual(self.measured("lines of a function")[0], "4, 8, 8")
        self.assertEqual(self.measured("lines of a function")[1][0], "8 begin in src/base/a.c")
        self.assertEqual(self.measured("functions with names of one word, of 3:"), ("1", ["begin in src/base/a.c"]))

    def test_measures_of_contracts(self):
        self.tree.write("src/base/a.c", "int a_parse(void)\n{\n    assert(x);\n    static_assert(y);\n    // assert(z)\n\n"
                                        "    free((char *)(uintptr_t)s);\n    p = (uintptr_t)s;\n}\n")
        self.tree.write("src/base/b.c", "int b_parse(void)\n{\n}\n")
        self.tree.write("src/base/b_test.c", "\n")
        self.tree.write("src/base/c.c", "int c_do(void)\n{\n}\n")
        self.tree.write("src/node/d.c", "int d_do(void)\n{\n}\n")
        self.assertEqual(self.measured("assertions in 100 lines of code")[0], "6.25 (1 in 16)")
        self.assertEqual(self.measured("casts that take const away"), ("1", ["src/base/a.c:8"]))
        self.assertEqual(self.measured("files that decide or parse"), ("2 of 3, 14 lines", ["10 src/base/a.c", "4 src/node/d.c"]))


FUNCTION = """static int room_find(const struct room *r, int n)
{
    assert(r && n > 0);
    char words[64];
    struct room none = {0}; // a < b
    if (r->size < n && !room_has(r, " < ")) {
        log_info("room %d", n + 1);
        return room_make(r);
    }
    r->size += 010;
    free(words);
    return 0;
}
"""


class Mutants(unittest.TestCase):
    def made(self):
        return {(m.line, m.kind, m.after) for m in mutants.of_file("src/a.c", FUNCTION)}

    def test_the_broken_code(self):
        self.assertEqual(self.made(), {
            (6, "negate", 'if (!(r->size < n && !room_has(r, " < "))) {'),
            (6, "operator", 'if (r->size <= n && !room_has(r, " < ")) {'),
            (6, "operator", 'if (r->size < n || !room_has(r, " < ")) {'),
            (6, "drop !", 'if (r->size < n && room_has(r, " < ")) {'),
            (8, "result", "return 0;"),
            (10, "operator", "r->size -= 010;"),
            (10, "constant", "r->size += 9;"),
            (10, "statement", ";"),
            (11, "statement", ";"),
            (12, "constant", "return 1;"),
        })

    def test_a_mutant_is_applied(self):
        for mutant in mutants.of_file("src/a.c", FUNCTION):
            text = mutant.applied(FUNCTION)
            self.assertNotEqual(text, FUNCTION)
            self.assertEqual(mutants.squeezed(text.split("\n")[mutant.line - 1]), mutant.after)
            self.assertEqual(mutant.function, "room_find")

    def test_a_condition_of_several_lines(self):
        text = "int a_b(int a)\n{\n    if (a ==\n        b) {\n        c();\n    }\n}\n"
        self.assertIn("if (!(a == b)) {", {m.after for m in mutants.of_file("src/a.c", text)})

    def test_known_ones(self):
        made = mutants.of_file("src/a.c", FUNCTION)
        known = mutants.Known("# why\n\nsrc/a.c room_find\n- free(words);\n+ ;\n= it is empty\n- gone();\n+ ;\n= once\n")
        self.assertEqual([m.line for m in made if known.reason(m)], [11])
        self.assertEqual(known.stale(made), ["src/a.c room_find: gone();"])
        with self.assertRaisesRegex(ValueError, "line 1 has no place here"):
            mutants.Known("+ before its -\n")

    def test_the_list_of_the_tree_is_read(self):
        mutants.Known((TOOLS.parent / "test" / "data" / "mutants.txt").read_text())

    def test_masked_source_keeps_its_places(self):
        text = '#define A \\\n    b\nx = "a\\"b"; /* c\nd */ y = \'"\'; // e\n'
        self.assertEqual(sources.masked(text), " " * 11 + "\n" + " " * 5 + '\nx = "____";     \n     y = \'_\';     \n')


unittest.main()
