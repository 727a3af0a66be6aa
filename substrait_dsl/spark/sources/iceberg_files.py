"""The files of an Iceberg metadata file: data files only, with the access that the process has anyway.

A metadata file may come from anyone. What it says of the rows is used; settings that would choose a class, a host, a
credential or a signer are not, and no file outside of the store of the metadata file is opened. Specification:
https://substrait.io/relations/logical_relations/#iceberg-table, https://iceberg.apache.org/spec/.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from substrait_dsl.errors import UnsupportedError

if TYPE_CHECKING:
    from pyiceberg.io import FileIO
    from pyiceberg.table import StaticTable

PROPERTIES = frozenset({"schema.name-mapping.default"})
"""The table properties that affect rows: this one maps the columns of files without field ids.

The specification of Iceberg has no other that a reader needs. `pyiceberg` takes others for settings of its own:
``py-io-impl`` for a class to import and call, ``s3.endpoint`` and the like for hosts, keys and signers.
"""

_SAME_STORE = {"s3a": "s3", "s3n": "s3", "gcs": "gs", "abfss": "abfs", "wasb": "abfs", "wasbs": "abfs", "": "file"}
"""URI schemes that are aliases of one."""

_BY_NAME = "read such a table by its name, from a catalog of Spark's: read_named(...)"


def load_static_table(location: str) -> StaticTable:
    """Load a table by its metadata file, without the settings in it for reading files.

    Args:
        location: the URI or the path of the metadata file.

    Returns:
        The table. Of its properties it has those of `PROPERTIES`.

    Raises:
        OSError: the file cannot be read.
        ValueError: the file is no metadata file.
        UnsupportedError: later, when its files are opened: one lies in another store than the metadata file.
    """
    from pyiceberg.catalog.noop import NoopCatalog
    from pyiceberg.io import load_file_io
    from pyiceberg.serializers import FromInputFile
    from pyiceberg.table import StaticTable

    files = load_file_io({}, location)
    metadata = FromInputFile.table_metadata(files.new_input(location))
    properties = {name: value for name, value in metadata.properties.items() if name in PROPERTIES}
    return StaticTable(
        identifier=("static-table", location),
        metadata=metadata.model_copy(update={"properties": properties}),
        metadata_location=location,
        io=_restrict_to_store(files, location),
        catalog=NoopCatalog("static-table"),
    )


def _restrict_to_store(files: FileIO, location: str) -> FileIO:
    """Restrict access to reading files in the store of a location."""
    from pyiceberg.io import FileIO, InputFile, OutputFile

    store = _store(location)

    class FilesOfStore(FileIO):
        def new_input(self, location: str) -> InputFile:
            if _store(location) != store:
                raise UnsupportedError(
                    f"the metadata file {metadata_file} of an Iceberg table names the file {location}, which lies "
                    "in another store: a metadata file does not choose the hosts that are asked",
                    hint=_BY_NAME,
                )
            return files.new_input(location)

        def new_output(self, location: str) -> OutputFile:
            raise UnsupportedError(f"nothing is written by the metadata file {metadata_file} of an Iceberg table")

        def delete(self, location: str | InputFile | OutputFile) -> None:
            raise UnsupportedError(f"nothing is deleted by the metadata file {metadata_file} of an Iceberg table")

    metadata_file = location
    return FilesOfStore(files.properties)


def _store(location: str) -> tuple[str, str]:
    """Return the normalized scheme of a URI, and its host or bucket; those of local files for a path."""
    parts = urlsplit(location)
    is_drive = len(parts.scheme) == 1
    return ("file", "") if is_drive else (_SAME_STORE.get(parts.scheme, parts.scheme), parts.netloc)
