"""Extension files: the specification's examples, a user's own, and what is wrong with a broken one."""

from __future__ import annotations

import itertools
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import attrs
import pytest

from substrait_dsl.algebra.type_text import parse_type
from substrait_dsl.algebra.types import I32, I64, String, TypeVariation, UserDefined
from substrait_dsl.catalog import Catalog, Option, Typed, standard, standard_catalog
from substrait_dsl.catalog.load import read_extension
from substrait_dsl.catalog.records import Deprecation
from substrait_dsl.errors import CatalogError, FunctionNotFoundError
from tests.catalog.parsed_extensions import PATH, parsed_extensions

EXTENSIONS = files("substrait_extensions.extensions")
EXAMPLES = Path(str(EXTENSIONS.joinpath("__init__.py"))).parents[1] / "examples"


@pytest.mark.parametrize("urn", standard_catalog().urns)
def test_a_file_read_lazily_is_the_file_read_whole(urn: str) -> None:
    name = f"{urn.rpartition(':')[2]}.yaml"
    whole = read_extension(EXTENSIONS.joinpath(name).read_text(encoding="utf-8"), name, {})
    lazy = standard_catalog().extensions[urn]
    assert dict(lazy.functions) == whole.functions
    assert attrs.evolve(lazy, functions=whole.functions) == whole


def test_the_parsed_extension_files_are_those_that_are_installed() -> None:
    """``python -m tests.catalog.parsed_extensions`` writes them anew."""
    assert PATH.read_text(encoding="utf-8") == parsed_extensions()


def test_an_extension_file_that_was_not_parsed_ahead_is_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    """As one of another version, or one that somebody has changed: the installed file counts."""
    contents = standard.extension_files()
    contents["functions_set.yaml"] = contents["functions_set.yaml"].replace(b"index_in", b"place_in")
    monkeypatch.setattr(standard, "extension_files", lambda: contents)
    changed = {extension.urn: extension for extension in standard.standard_extensions()}
    assert set(changed["extension:io.substrait:functions_set"].functions) == {"place_in"}
    assert list(changed) == list(standard_catalog().urns)


def test_standard_files_come_in_their_order_of_preference() -> None:
    stems = [urn.rpartition(":")[2] for urn in standard_catalog().urns]
    assert len(stems) == 16
    assert stems.index("functions_aggregate_generic") < stems.index("functions_aggregate_decimal_output")
    assert stems.index("functions_aggregate_approx") < stems.index("functions_aggregate_decimal_output")
    assert standard_catalog().resolve("aggregate", "count", []).output_type == I64()


def test_the_standard_catalogue_loads_no_yaml() -> None:
    program = (
        "from substrait_dsl.catalog import standard_catalog as c; c(); import sys; sys.exit('yaml' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


@pytest.mark.parametrize("path", sorted(EXAMPLES.rglob("*.yaml")), ids=lambda path: path.name)
def test_the_specifications_examples_load(path: Path) -> None:
    catalog = standard_catalog()
    if path.name == "distance_functions.yaml":
        with pytest.raises(CatalogError, match=r"depends on .*extension_types.* \(as .ext.\).* add it first"):
            catalog.with_extension(path)
        catalog = catalog.with_extension(path.with_name("extension_types.yaml"))
    assert len(catalog.with_extension(path).urns) == len(catalog.urns) + 1


def test_functions_over_another_files_types() -> None:
    folder = EXAMPLES / "extensions"
    catalog = standard_catalog().with_extension(folder / "extension_types.yaml")
    catalog = catalog.with_extension(str(folder / "distance_functions.yaml"))
    point = UserDefined("extension:org.example:extension_types", "point")
    resolution = catalog.resolve("scalar", "distance", [Typed(point), Typed(point.as_nullable())])
    assert resolution.overload.key == "distance:u!point_u!point"
    assert resolution.output_type == parse_type("fp64?")
    with pytest.raises(FunctionNotFoundError, match="no overload takes distance"):
        catalog.resolve("scalar", "distance", [Typed(point), Typed(UserDefined("extension:mine", "point"))])


MINE = """\
urn: extension:com.mine:functions
types:
  - name: money
    structure: {amount: "decimal<18,2>", currency: fixedchar<3>}
    parameters:
      - {name: digits, type: integer, min: 0, max: 6}
type_variations:
  - {parent: string, name: folded, functions: SEPARATE}
  - {parent: string, name: interned}
scalar_functions:
  - name: convert
    description: Convert to another currency.
    deprecated: {since: 1.2.0, reason: use exchange}
    impls:
      - args:
          - {name: x, value: u!money<D>}
          - {name: digits, value: i8}
          - {name: how, options: [YES, NO, "NULL"]}
        options:
          rounding: {values: [UP, NO]}
        nullability: DECLARED_OUTPUT
        return: |
          digits = integer_parameter(digits)
          u!money?<digits>
  - name: pick
    impls:
      - args: [{value: any}, {value: any1}]
        variadic: {min: 1, max: 3, parameterConsistency: INCONSISTENT}
        return: any1
      - args: [{value: i32?}]
        nullability: DISCRETE
        return: i64?
  - name: width
    impls:
      - args: [{value: varchar<L>}]
        return: "L > 10 && !(L = 20) || L < 3 ? i64 : if L / 2 * -1 + 5 >= 1 then i32 else i16"
aggregate_functions:
  - name: collect
    impls:
      - args: [{value: any1, constant: true}]
        ordered: true
        decomposable: MANY
        intermediate: list<any1>
        return: list<any1>
"""


@pytest.fixture(scope="module")
def mine() -> Catalog:
    return standard_catalog().with_extension(MINE)


def test_a_users_file(mine: Catalog) -> None:
    (convert,) = mine.named("convert")
    (overload,) = convert.overloads
    assert convert.description == "Convert to another currency."
    assert convert.deprecated == Deprecation("1.2.0", "use exchange")
    assert overload.key == "convert:u!money_i8_req"
    assert overload.options == (Option("rounding", ("UP", "NO")),)  # words, not the booleans of YAML 1.1
    assert str(overload) == "convert(x: u!money<D>, digits: i8, how: YES | NO | NULL) -> u!money<digits>?"
    (collect,) = mine.named("collect", "aggregate")[0].overloads
    assert (collect.ordered, collect.decomposable, str(collect.intermediate)) == (True, "MANY", "list<any1>")
    structure = mine.extensions["extension:com.mine:functions"].types["money"].structure
    assert str(structure) == "nstruct<amount: decimal<18,2>, currency: fixedchar<3>>"


def test_all_that_an_overload_says() -> None:
    text = """\
urn: extension:com.mine:windows
types:
  - name: money
    parameters: [{name: digits, type: integer, min: 0, max: 6}]
window_functions:
  - name: running
    impls:
      - args: [{value: i64}]
        description: The sum so far.
        deterministic: false
        sessionDependent: true
        maxset: 5
        window_type: STREAMING
        implementation: {trino: com.mine.Running}
        return: i64?
"""
    catalog = standard_catalog().with_extension(text)
    (overload,) = catalog.named("running", "window")[0].overloads
    assert overload.description == "The sum so far."
    assert (overload.deterministic, overload.session_dependent, overload.max_set) == (False, True, 5)
    assert overload.window_type == "STREAMING"
    assert overload.implementation == (("trino", "com.mine.Running"),)
    (digits,) = catalog.extensions["extension:com.mine:windows"].types["money"].parameters
    assert (digits.kind, digits.minimum, digits.maximum) == ("integer", 0, 6)


def test_the_standard_catalogue_is_unchanged(mine: Catalog) -> None:
    assert "extension:com.mine:functions" in mine.urns
    with pytest.raises(FunctionNotFoundError):
        standard_catalog().named("convert")


def test_the_same_extension_twice_is_the_same_catalogue(mine: Catalog) -> None:
    assert mine.with_extension(MINE) is mine
    with pytest.raises(CatalogError, match=r"declares the URN .* which another extension of the catalogue has"):
        mine.with_extension(MINE.replace("YES", "OF COURSE"))


@pytest.mark.parametrize(
    ("length", "result"),
    [(2, "i64"), (3, "i32"), (8, "i32"), (10, "i16"), (11, "i64"), (20, "i16")],
)
def test_expressions_in_return_types(mine: Catalog, length: int, result: str) -> None:
    """8: 8 / 2 * -1 + 5 = 1; 10: 10 / 2 * -1 + 5 = 0; 20 is excluded from > 10, and 20 / 2 * -1 + 5 = -5."""
    resolution = mine.resolve("scalar", "width", [Typed(parse_type(f"varchar<{length}>"))])
    assert resolution.output_type == parse_type(result)


def test_numbers_that_a_return_type_computes_have_64_bits() -> None:
    squares = "".join(f"          a{n} = a{n - 1} * a{n - 1}\n" for n in range(1, 30))
    text = broken("{name: f, impls: []}").replace("{name: f, impls: []}", "name: f\n    impls:\n")
    text += (
        f"      - args: [{{value: varchar<L>}}]\n        return: |\n          a0 = L\n{squares}          varchar<a29>\n"
    )
    catalog = standard_catalog().with_extension(text)
    assert catalog.resolve("scalar", "f", [Typed(parse_type("varchar<1>"))]).output_type == parse_type("varchar<1>")
    with pytest.raises(CatalogError, match=r"computes with \(a4 \* a4\), which has more than 64 bits"):
        catalog.resolve("scalar", "f", [Typed(parse_type("varchar<5>"))])


def test_variadic_bounds_and_inconsistent_types(mine: Catalog) -> None:
    def pick(*texts: str) -> object:
        return mine.resolve("scalar", "pick", [Typed(parse_type(text)) for text in texts]).output_type

    assert pick("date", "i64", "string?") == I64(nullable=True)
    assert pick("date", "string", "i64", "fp64") == String()
    with pytest.raises(FunctionNotFoundError):
        pick("date", "i64", "i64", "i64", "i64")


@pytest.mark.parametrize(
    ("bounds", "given", "hint"),
    [
        ("min: 2", 1, "write g(how, x1, x2)"),
        ("min: 2", 0, "write g(how, x1, x2)"),
        ("min: 1", 0, "write g(how, x)"),
        ("min: 2, max: 3", 4, "write g(how, x1, x2, x3)"),
        ("min: 999999999999", 4, "give it 1000000000000 arguments"),
    ],
)
def test_the_number_of_variadic_arguments_is_told(bounds: str, given: int, hint: str) -> None:
    """The call with one argument was the advice for a call with one argument."""
    text = broken(
        "{name: g, impls: [{args: [{name: how, value: string}, {name: x, value: i64}], "
        f"variadic: {{{bounds}}}, return: i64}}]}}"
    )
    catalog = standard_catalog().with_extension(text)
    with pytest.raises(FunctionNotFoundError, match=r"no overload takes g\(") as error:
        catalog.resolve("scalar", "g", [Typed(String()), *[Typed(I64())] * given])
    assert error.value.hint == hint


def test_discrete_nullability_must_match(mine: Catalog) -> None:
    assert mine.resolve("scalar", "pick", [Typed(I32(nullable=True))]).output_type == I64(nullable=True)
    with pytest.raises(FunctionNotFoundError):
        mine.resolve("scalar", "pick", [Typed(I32())])


def test_separate_variations_are_not_taken_by_the_parents_functions(mine: Catalog) -> None:
    def upper(variation: str) -> object:
        type_ = String(variation=TypeVariation("extension:com.mine:functions", variation))
        return mine.resolve("scalar", "upper", [Typed(type_)]).output_type

    assert upper("interned") == String()
    with pytest.raises(FunctionNotFoundError, match=r"upper\(string\[folded\]\)"):
        upper("folded")


def broken(function: str) -> str:
    return f"urn: extension:x:y\nscalar_functions:\n  - {function}\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("description: none\n", 'extension text: the key "urn" is missing'),
        ("urn: extension:x:y\nfunctions: []\n", 'unknown key "functions"; expected "urn"'),
        ("urn: [\n", "extension text is not valid YAML"),
        ("- a\n- b\n", "extension text: expected a mapping, got ['a', 'b']"),
        (broken("{impls: [{return: i64}]}"), 'extension text, scalar_functions 1: the key "name" is missing'),
        (broken("{name: f}"), "scalar function f has no overloads"),
        (broken("{name: f, impls: [{args: []}]}"), 'scalar function f, overload 1: the key "return" is missing'),
        (broken("{name: f, impls: [{args: [{value: strng}], return: i64}]}"),
         'expected the name of a type at column 1, got "strng"\n  hint: did you mean "string"?'),
        (broken("{name: f, impls: [{return: 'list<'}]}"), "expected a type at column 6, got the end of the text"),
        (broken("{name: f, impls: [{return: 'decimal<P,S>'}]}"), "the return type reads P, which no argument binds"),
        (broken("{name: f, impls: [{args: [{value: any}], return: any}]}"), "reads any, which no argument binds"),
        (broken('{name: f, impls: [{return: "x = avg(1, 2)\\nvarchar<x>"}]}'),
         'the return type calls avg; expected one of "min", "max"'),
        (broken('{name: f, impls: [{return: "x = integer_parameter(n)\\nvarchar<x>"}]}'),
         "integer_parameter(n) must name one of the value arguments none"),
        (broken("{name: f, impls: [{args: [{value: u!pt}], return: i64}]}"),
         'expected a user-defined type that an extension declares at column 3, got "pt"'),
        (broken("{name: f, impls: [{args: [{value: 'decimal<P + 1,S>'}], return: i64}]}"),
         "an argument pattern holds types, names and numbers, got (P + 1)"),
        (broken("{name: f, impls: [{return: i64, nullability: MIROR}]}"),
         'one of "MIRROR", "DECLARED_OUTPUT", "DISCRETE", got \'MIROR\'\n  hint: did you mean "MIRROR"?'),
        (broken("{name: f, impls: [{return: i64, window_type: STREAMING}]}"), 'unknown key "window_type"'),
        (broken("{name: f, impls: [{return: i64, deterministic: maybe}]}"), "deterministic must be true or false"),
        (broken("{name: f, impls: [{return: i64, variadic: {min: 1}}]}"), "is variadic but has no argument to repeat"),
        (broken("{name: f, impls: [{return: i64, args: [{value: i64}], variadic: {min: 3, max: 2}}]}"),
         "overload 1, variadic: expected 0 <= min <= max, got min 3 and max 2"),
        (broken("{name: f, impls: [{return: i64, args: [{name: x}]}]}"),
         'argument x: expected one of "value", "options", "type"'),
        (broken("{name: f, impls: [{return: i64}, {return: i32}]}"), "two overloads with the signature f:"),
        (broken("{name: f, impls: [{return: i64, options: {o: {values: UP}}}]}"),
         "option o: values must be a sequence of words, got 'UP'"),
        ("urn: extension:x:y\ntype_variations: [{parent: strin, name: v}]\n", 'unknown parent type "strin"'),
        (broken("{name: 'a:b', impls: [{return: i64}]}"),
         'scalar function a:b: a name has no colon, which stands between it and the arguments in a signature\n  hint: '
         'write "a_b"'),
        ("urn: extension:x:y\ntypes: [{name: p, structure: i64}, {name: q}, {name: p, structure: string}]\n",
         'extension text, types 3: the file has another type "p"\n  hint: rename or remove one of them'),
        ("urn: extension:x:y\ntype_variations: [{parent: i64, name: v}, {parent: string, name: v}]\n",
         'extension text, type_variations 2: the file has another type variation "v"'),
        ("urn: extension:x:y\nurn: extension:x:z\n",
         'extension text: line 2 has the key "urn" again, which line 1 has\n  hint: remove one of them'),
        ("urn: extension:x:y\ntypes:\n - name: p\n   structure: i64\n   structure: i32\n",
         'extension text: line 5 has the key "structure" again, which line 4 has'),
        (broken("{name: f, impls: [{return: i64, 'return': i32}]}"), 'has the key "return" again, which line 3 has'),
    ],
)  # fmt: skip
def test_broken_files_are_explained(text: str, message: str) -> None:
    with pytest.raises(CatalogError) as error:
        standard_catalog().with_extension(text)
    assert message in str(error.value)


def test_comments_behind_types_are_no_part_of_them() -> None:
    text = """\
urn: extension:x:y
types: [{name: p, structure: {a: "i64 // ?", b: "i32? /* x */"}}]
scalar_functions:
  - name: f
    impls:
      - args: [{value: "i64 // it may be NULL?"}]
        nullability: DECLARED_OUTPUT
        return: "i64 // is it NULL for 0?"
"""
    catalog = standard_catalog().with_extension(text)
    (overload,) = catalog.named("f")[0].overloads
    assert str(overload) == "f(i64) -> i64"
    assert str(catalog.extensions["extension:x:y"].types["p"].structure) == "nstruct<a: i64, b: i32?>"


LISTS = "list<" * 500 + "i64" + ">" * 500


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (broken(f"{{name: f, impls: [{{args: [{{value: '{LISTS}'}}], return: i64}}]}}"),
         "function f, overload 1, args 1, argument ?: cannot read a type nested this deeply: list<list<"),
        (broken(f"{{name: f, impls: [{{return: '{LISTS}'}}]}}"),
         "scalar function f, overload 1: cannot read a type nested this deeply: list<list<"),
        (broken(f"{{name: f, impls: [{{args: [{{value: varchar<L>}}], return: 'varchar<L{'+L' * 2000}>'}}]}}"),
         "scalar function f, overload 1: cannot read a type nested this deeply: varchar<L+L+"),
        (broken(f"{{name: f, impls: [{{return: '{'!' * 3000}'}}]}}"), "cannot read a type nested this deeply: !!!"),
        (broken(f"{{name: f, impls: [{{return: 'varchar<{'9' * 5000}>'}}]}}"),
         'expected a number of at most 20 digits at column 9, got "99999999999999999999..."'),
        (f"urn: extension:x:y\ntypes: [{{name: p, parameters: [{{type: integer, min: {'9' * 5000}}}]}}]\n",
         "types 1, type p, parameters 1: min must be an integer, got '9999"),
        (f"urn: extension:x:y\ntypes: [{{name: p, structure: '{LISTS}'}}]\n",
         "types 1, type p: cannot read a type nested this deeply: list<"),
        ("urn: extension:x:y\ntypes: [{name: p, structure: [i64]}]\n",
         "types 1, type p: structure must be a text, got ['i64']"),
        ("urn: extension:x:y\ntypes: [{name: p, structure: {a: [i64]}}]\n",
         "types 1, type p, structure: a must be a text, got ['i64']"),
        ("urn: extension:x:y\ntypes: [{name: p, structure: {a: 'i64 /*', b: '*/ i32'}}]\n",
         'types 1, type p, structure, a: cannot read the type "i64 /*"'),
        ("urn: extension:x:y\ntypes: [{name: p, structure: {a: 'i64, b: i32'}}]\n",
         'types 1, type p, structure, a: cannot read the type "i64, b: i32": expected the end of the text at column 4'),
        ("urn: extension:x:y\ntypes: [{name: p, structure: {'a: i64, b': i32}}]\n",
         'types 1, type p, structure: expected the name of a field, got "a: i64, b"'),
        ("urn: extension:x:y\ntypes: [{name: p, structure: {}}]\n",
         "types 1, type p, structure: expected at least one field"),
        (f"urn: extension:x:y\nmetadata: {'[' * 5000}{']' * 5000}\n", ": line 2 nests more than 99 levels"),
        (f"urn: extension:x:y\nmetadata: {'[' * 200_000}\n", "extension text: line 2 nests more than 99 levels"),
        (f"urn: extension:x:y\nmetadata:\n  {'- ' * 200_000}x\n", "extension text: line 3 nests more than 99 levels"),
        ("urn: \ud800\n", "extension text is not valid YAML"),
    ],
    ids=itertools.count(),
)  # fmt: skip
def test_deep_and_odd_files_are_explained(text: str, message: str) -> None:
    """Each once was an error of Python, or the end of the process."""
    with pytest.raises(CatalogError) as error:
        standard_catalog().with_extension(text)
    assert message in str(error.value)
    assert len(str(error.value)) < 500


def test_values_of_a_file_are_shown_in_short() -> None:
    value = f"[{'[x, x], ' * 10_000}]"
    with pytest.raises(CatalogError, match="description must be a text, got ") as error:
        standard_catalog().with_extension(f"urn: extension:x:y\ndescription: {value}\n")
    assert len(str(error.value)) < 2000


@pytest.mark.parametrize(
    "text",
    [
        "urn: &a extension:x:y\nscalar_functions: [{name: *a, impls: []}]\n",
        "urn: extension:x:y\nscalar_functions:\n - &f {name: f, impls: [{return: i64}]}\n - *f\n",
        "urn: extension:x:y\nx: &a [x]\nscalar_functions: [{<<: *a}]\n",
        "urn: extension:x:y\nscalar_functions: &a [*a]\n",
    ],
)
def test_no_text_of_a_file_stands_for_another(text: str) -> None:
    """With aliases of aliases a file of 72 kB took half a minute and 391 MB to read."""
    with pytest.raises(CatalogError, match=r"extension text: line \d has an alias, \*[af]"):
        standard_catalog().with_extension(text)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(CatalogError, match=r"cannot read the extension file .*nowhere\.yaml"):
        standard_catalog().with_extension(tmp_path / "nowhere.yaml")


def test_messages_name_the_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("urn: extension:x:y\nscalar_functions: [{name: f, impls: [{return: int}]}]\n")
    with pytest.raises(CatalogError, match=r"expected the name of a type at column 1") as error:
        standard_catalog().with_extension(path)
    assert str(error.value).startswith("mine.yaml: scalar function f, overload 1: ")
