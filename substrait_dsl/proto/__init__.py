"""Plans as protobuf messages of the Substrait specification. The only part of the library that imports protobuf."""

from substrait_dsl.catalog.standard import INSTALL, MESSAGES
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.proto.installed_versions import find_version


def require_messages() -> None:
    """Raise `UnsupportedError` for messages of another version: what that has more would be lost in silence."""
    found = find_version("substrait_protobuf")
    if found is None:
        raise UnsupportedError("the package substrait-protobuf is not installed", hint=INSTALL)
    if tuple(found.split(".")[:2]) != MESSAGES:
        raise UnsupportedError(
            f"plans are read and written with the messages of substrait-protobuf {'.'.join(MESSAGES)}, "
            f"but {found} is installed",
            hint=INSTALL,
        )


require_messages()
