#!/usr/bin/python3
"""The OpenRPC document against what the switch answers: every method is in it, every answer is of its schema and has nothing that
the document lacks, parameters that it calls needed are needed; and tools/python has the same methods. Its examples run, too."""

import importlib.util
import inspect
import json
import os
import pathlib
import shutil
import subprocess
import types
import unittest

import control
import sluice
from control import Case, Programs, Running
from methods_test import calls, switch_of

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "tools" / "python" / "examples"
TYPES = {"string": str, "boolean": bool, "integer": int, "object": dict, "array": list, "null": type(None)}
IN_PYTHON = {"for_": "for", "from_": "from"}


def wrong(value, schema, document, path="result"):
    """The first difference of a value from its schema, as words; None when there is none. A member that the schema does not have is one."""
    if "$ref" in schema:
        return wrong(value, document["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]], document, path)
    if "anyOf" in schema:
        found = [wrong(value, one, document, path) for one in schema["anyOf"]]
        return None if None in found else " or ".join(found)
    kind = schema.get("type")
    if kind is None:
        return None
    if not isinstance(value, TYPES[kind]) or (kind == "integer" and isinstance(value, bool)):
        return f"{path} is {value!r}, no {kind}"
    if kind == "integer" and value < schema.get("minimum", value):
        return f"{path} is {value}, below {schema['minimum']}"
    if kind == "array":
        return next((each for n, item in enumerate(value) if (each := wrong(item, schema["items"], document, f"{path}[{n}]"))), None)
    if kind != "object" or "properties" not in schema:
        return None
    missing = [name for name in schema.get("required", ()) if name not in value]
    if missing:
        return f"{path} has no {missing[0]}"
    for name, item in value.items():
        if name not in schema["properties"]:
            return f"{path}.{name} is not in the document"
        if found := wrong(item, schema["properties"][name], document, f"{path}.{name}"):
            return found
    return None


class OpenRpc(Case):
    def running(self):
        return Running(switch_of(self))

    def test_the_checker_itself_refuses(self):
        document = {"components": {"schemas": {"A": {"type": "object", "properties": {"n": {"type": "integer", "minimum": 0}}, "required": ["n"]}}}}
        schema = {"anyOf": [{"type": "null"}, {"type": "array", "items": {"$ref": "#/components/schemas/A"}}]}
        self.assertIsNone(wrong([{"n": 1}], schema, document))
        self.assertIsNone(wrong(None, schema, document))
        for bad in ([{"n": -1}], [{"n": True}], [{"n": "1"}], [{}], [{"n": 1, "m": 2}], {"n": 1}, 0):
            self.assertIsNotNone(wrong(bad, schema, document), bad)

    def test_the_switch_prints_what_it_answers(self):
        running = self.running()
        printed = json.loads(subprocess.run([Programs.sluiced, "--openrpc"], capture_output=True, check=True).stdout)
        self.assertEqual(printed, running.call("rpc.discover"))
        self.assertEqual([method["name"] for method in printed["methods"]], [method["name"] for method in running.call("methods")])
        for method in printed["methods"]:
            names = {int(error["$ref"].rsplit("/", 1)[1]) for error in method["errors"]}
            self.assertEqual(names, {int(code) for code in printed["components"]["errors"]}, method["name"])
        running.stop()

    def test_every_answer_is_as_the_document_says(self):
        running = self.running()
        document = running.call("rpc.discover")
        methods = {method["name"]: method for method in document["methods"]}
        answered = set()
        for name, parameters in calls(running.config.read_text()):
            with self.subTest(method=name, parameters=parameters):
                described = {each["name"]: each for each in methods[name]["params"]}
                for given, value in parameters.items():
                    self.assertIn(given, described)
                    self.assertIsNone(wrong(value, described[given]["schema"], document, given))
                self.assertIsNone(wrong(running.call(name, **parameters), methods[name]["result"]["schema"], document, name))
                answered.add(name)
        self.assertEqual(answered, set(methods))
        running.stop()

    def test_needed_parameters_are_needed_and_others_are_not(self):
        """Without a parameter that is needed a request is refused as such; an unknown one is refused in any method."""
        running = self.running()
        for method in running.call("rpc.discover")["methods"]:
            needed = [each["name"] for each in method["params"] if each["required"]]
            with self.subTest(method=method["name"]):
                if needed:
                    self.assertEqual(running.refused(method["name"]).code, -32602)
                self.assertEqual(running.refused(method["name"], surely_unknown=1).code, -32602)
        running.stop()

    def test_the_client_has_the_same_methods_and_parameters(self):
        running = self.running()
        document = running.call("rpc.discover")
        theirs = {}
        for name, function in vars(sluice.Switch).items():
            if isinstance(function, types.FunctionType) and not name.startswith("_"):
                parameters = list(inspect.signature(function).parameters.values())[1:]
                theirs[name] = [(IN_PYTHON.get(each.name, each.name), each.default is inspect.Parameter.empty) for each in parameters]
        ours = {method["name"].replace(".", "_"): [(each["name"], each["required"]) for each in method["params"]]
                for method in document["methods"]}
        self.assertEqual({name: sorted(each) for name, each in theirs.items()}, {name: sorted(each) for name, each in ours.items()})
        for method in document["methods"]:  # and each sends what it is called: a test of its own would only repeat the table
            said = []
            client = sluice.Switch.__new__(sluice.Switch)
            client.call = lambda name, said=said, **parameters: said.append((name, parameters))
            given = {each["name"]: each["name"] for each in method["params"]}
            backwards = {value: key for key, value in IN_PYTHON.items()}
            getattr(client, method["name"].replace(".", "_"))(**{backwards.get(name, name): value for name, value in given.items()})
            self.assertEqual(said, [(method["name"], given)])
        running.stop()

    def test_the_examples_hold(self):
        """Each against a switch of its own, as pytest would."""
        text = (EXAMPLES / "conftest.py").read_text()
        config = text.split('CONFIG = """')[1].split('"""')[0]
        spec = importlib.util.spec_from_file_location("test_switch", EXAMPLES / "test_switch.py")
        examples = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(examples)
        tests = [name for name in vars(examples) if name.startswith("test_")]
        self.assertEqual(len(tests), 5)
        for name in tests:
            with self.subTest(example=name):
                running = Running(switch_of(self), config=config, name=f"{name}.toml", path=None)
                getattr(examples, name)(running.first)
                running.kill()
                os.unlink(running.path)

    @unittest.skipUnless(shutil.which("pytest"), "pytest is not installed")
    def test_the_examples_hold_under_pytest(self):
        done = subprocess.run(["pytest", "-q", "-p", "no:cacheprovider", str(EXAMPLES)], capture_output=True, text=True,
                              env={**os.environ, "SLUICED": str(Programs.sluiced)})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    control.main()
