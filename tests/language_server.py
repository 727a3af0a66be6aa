"""A client of language servers, as editors are: it opens a file and asks what may be written at a place."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any


class LanguageServer:
    """A server that speaks the protocol of language servers on its standard input and output.

    Args:
        process: the server.
        root: the folder of the project.
        settings: what the server is told when it asks for its configuration, by section.
    """

    def __init__(self, process: subprocess.Popen[bytes], root: Path, settings: Mapping[str, object]) -> None:
        self._process = process
        self._settings = settings
        self._number = 0
        folder = {"uri": root.as_uri(), "name": root.name}
        capabilities = {
            "workspace": {"configuration": True, "workspaceFolders": True},
            "textDocument": {"completion": {"completionItem": {"snippetSupport": False}}},
        }
        self.ask(
            "initialize",
            {
                "processId": None,
                "rootUri": folder["uri"],
                "workspaceFolders": [folder],
                "capabilities": capabilities,
                "initializationOptions": settings.get("", {}),
            },
        )
        self._tell("initialized", {})

    def completions(self, file: Path, text: str) -> set[str]:
        """What is offered at the end of a text that stands in a file."""
        document = {"uri": file.as_uri(), "languageId": "python", "version": 1, "text": text}
        self._tell("textDocument/didOpen", {"textDocument": document})
        *before, last = text.split("\n")
        place = {"line": len(before), "character": len(last)}
        found = self.ask("textDocument/completion", {"textDocument": {"uri": file.as_uri()}, "position": place})
        self._tell("textDocument/didClose", {"textDocument": {"uri": file.as_uri()}})
        items = found["items"] if isinstance(found, dict) else found or []
        return {item["label"].rstrip("=") for item in items}

    def stop(self) -> None:
        """End the server: whoever waits for an answer is told that there is none."""
        self._process.kill()

    def ask(self, method: str, parameters: object) -> Any:
        """The answer to a request; what the server asks meanwhile is answered."""
        self._number += 1
        self._send({"id": self._number, "method": method, "params": parameters})
        for message in self._messages():
            if "method" not in message and message.get("id") == self._number:
                assert "error" not in message, message
                return message["result"]
            if "id" in message and "method" in message:
                self._send({"id": message["id"], "result": self._answer(message)})
        raise AssertionError(f"the server has ended before it has answered {method}")

    def _answer(self, message: Mapping[str, Any]) -> object:
        if message["method"] == "workspace/configuration":
            return [self._settings.get(item.get("section", ""), {}) for item in message["params"]["items"]]
        return None

    def _tell(self, method: str, parameters: object) -> None:
        self._send({"method": method, "params": parameters})

    def _send(self, message: Mapping[str, object]) -> None:
        data = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self._process.stdin is not None
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(data), data))
        self._process.stdin.flush()

    def _messages(self) -> Iterator[Mapping[str, Any]]:
        output = self._process.stdout
        assert output is not None
        while head := output.readline():
            length = 0
            while head.strip():
                name, _, value = head.partition(b":")
                length = int(value) if name.lower() == b"content-length" else length
                head = output.readline()
            yield json.loads(output.read(length))


@contextmanager
def language_server(command: Sequence[str], root: Path, settings: Mapping[str, object]) -> Iterator[LanguageServer]:
    """Start a server, which ends afterwards."""
    process = subprocess.Popen(
        command, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    try:
        yield LanguageServer(process, root, settings)
    finally:
        process.kill()
        process.communicate()
