"""The pytest plugin: a session of the embedded engine for tests of pipelines, and contracts as tests.

The file that the setting `substrait_contracts` names is collected: each module with contracts is a test, which fails if
one of the module's pipelines has other columns than its contract says.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from substrait_dsl.texts import printable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from substrait_dsl.contracts import Contracts

FILE = "substrait_contracts"
ALLOWED = "substrait_contracts_allow"


@pytest.fixture(scope="session")
def embedded_session() -> SparkSession:
    """Return the session of the embedded engine, one for all tests: `substrait_dsl.testing` uses it, too."""
    from substrait_dsl.spark.session.embedded import embedded_session

    return embedded_session()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the settings."""
    parser.addini(FILE, "the file with the contracts of pipelines, seen from the root folder: contracts.json")
    parser.addini(
        ALLOWED,
        "what may become of columns: added, dropped, retyped, loosened, tightened, moved",
        type="args",
        default=[],
    )


def pytest_configure(config: pytest.Config) -> None:
    """Refuse settings that mean nothing."""
    file = _contract_file(config)
    if file is None:
        return
    from substrait_dsl.contracts import WRITE, require_column_changes
    from substrait_dsl.errors import InvalidChoiceError

    try:
        require_column_changes(config.getini(ALLOWED))
    except InvalidChoiceError as error:
        raise pytest.UsageError(f"{ALLOWED}: {error}") from None
    if not file.is_file():
        raise pytest.UsageError(f"{FILE}: there is no file {printable(str(file))}; write it: {WRITE} MODULE")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect the file of contracts."""
    if file_path != _contract_file(parent.config):
        return None
    return ContractFile.from_parent(parent, path=file_path)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(session: pytest.Session, config: pytest.Config, items: list[pytest.Item]) -> None:
    """Test the contracts wherever their file lies, unless the command line names the tests that run."""
    file = _contract_file(config)
    if file is None or _names_tests(config) or any(isinstance(item, ContractItem) for item in items):
        return
    items.extend(session.genitems(ContractFile.from_parent(session, path=file)))


def _names_tests(config: pytest.Config) -> bool:
    """Return whether the command line names files or folders; those that the settings add to it count as none."""
    if config.args_source is not pytest.Config.ArgsSource.ARGS:
        return False
    folder = config.invocation_params.dir
    return any(
        not argument.startswith("-") and (folder / argument.partition("::")[0]).exists()
        for argument in map(str, config.invocation_params.args)
    )


def _contract_file(config: pytest.Config) -> Path | None:
    """Return the file of contracts that the settings name.

    Raises `pytest.UsageError` for a setting that is no text.
    """
    name = config.getini(FILE)
    if not isinstance(name, str):
        raise pytest.UsageError(f"{FILE} is the path of one file, got {name!r}")
    return Path(os.path.normpath(config.rootpath / name)) if name else None


class ContractFile(pytest.File):
    """A file of contracts: a test for each module that it has contracts of."""

    def collect(self) -> Iterator[pytest.Item]:
        """Yield the tests."""
        from substrait_dsl.contracts import Contracts
        from substrait_dsl.errors import SubstraitDslError

        try:
            contracts = Contracts.load(self.path)
        except SubstraitDslError as error:
            raise self.CollectError(str(error)) from None
        for module in sorted({name.rpartition(".")[0] for name in contracts.columns}):
            yield ContractItem.from_parent(
                self, name=printable(module), module=module, contracts=contracts.of([module])
            )


class ContractItem(pytest.Item):
    """A test that the pipelines of a module have the columns that their contracts promise."""

    def __init__(self, *, module: str, contracts: Contracts, **arguments: Any) -> None:
        super().__init__(**arguments)
        self._module = module
        self._contracts = contracts

    def runtest(self) -> None:
        """Compare the columns of the pipelines with the contracts."""
        from substrait_dsl.contracts import WRITE, Contracts

        allowed = self.config.getini(ALLOWED)
        with chdir(self.config.rootpath):  # modules are those of the project
            changes = list(self._contracts.changes(Contracts.of_modules([self._module])))
        broken = [str(change) for change in changes if not change.is_allowed(allowed)]
        if broken:
            raise AssertionError("\n".join([*broken, f"if that is meant, write: {WRITE} {self.name}"]))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return what is wrong, without a traceback: nobody wrote a line of this test."""
        from substrait_dsl.errors import SubstraitDslError

        if isinstance(excinfo.value, AssertionError | SubstraitDslError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, None, str]:
        """Return where the contract stands, and what the test is called."""
        return self.path, None, f"contracts of {self.name}"
