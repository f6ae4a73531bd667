"""The manifest of an output folder, which identifies the job of its files."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from filelock import FileLock, Timeout

from .inputs import InputFile
from .storage import Location

# Readers of a folder of Parquet ignore files whose names begin with "_" or ".".
MANIFEST = "_manifest.json"
LOCK = ".lock"
SCRATCH = "_temporary"


@contextmanager
def locked(output: Location) -> Iterator[None]:
    """Keep other jobs from writing to a folder, until this process ends.

    Only local folders can be locked. On other file systems, two jobs on the same folder
    do the same work twice, which is harmless, because files only appear under their
    names when they are complete.

    output (Location): The folder.
    """
    if not output.is_local:
        yield
        return
    try:
        with FileLock((output / LOCK).path, timeout=0):
            yield
    except Timeout:
        raise ValueError(
            f"{output.uri}: another job is writing to this folder. Wait until it ends, "
            "or stop it."
        ) from None


def check_manifest(
    output: Location,
    settings: Mapping[str, Any],
    files: list[InputFile],
    temporary: Location,
) -> None:
    """Write the manifest, or raise an error if the folder belongs to another job.

    output (Location): The output folder.
    settings (Mapping[str, Any]): All settings that the output depends on.
    files (List[InputFile]): The input files. Others may be added later.
    temporary (Location): The name of the manifest until it is complete.
    """
    inputs = {file.name: _describe(file) for file in files}
    manifest = output / MANIFEST
    if manifest.exists():
        before = json.loads(manifest.read())
        for key in settings.keys() | before["settings"].keys():
            old, new = before["settings"].get(key), settings.get(key)
            if old != new:
                raise ValueError(
                    f"{output.uri} was started with {key} = {json.dumps(old)}, not "
                    f"{json.dumps(new)}. Use the same settings to resume, or another "
                    "output folder."
                )
        for name, old in before["inputs"].items():
            new = inputs.get(name, old)
            if new["uri"] != old["uri"]:
                raise ValueError(
                    f"{output.uri} has results of {old['uri']}, and those of "
                    f"{new['uri']} would have the same name. Use another output folder."
                )
            if new != old:
                raise ValueError(
                    f"The input {name} has changed since {output.uri} was started. Use "
                    "another output folder."
                )
        inputs = {**before["inputs"], **inputs}
        if inputs == before["inputs"]:
            return
    elif any(name.endswith(".parquet") for name in output.files()):
        raise ValueError(
            f"{output.uri} already has other Parquet files. Use an empty folder."
        )
    data = {"settings": dict(settings), "inputs": inputs}
    manifest.write((json.dumps(data, indent=1) + "\n").encode(), temporary)


def _describe(file: InputFile) -> dict[str, Any]:
    size, modified = file.location.stamp
    return {"uri": file.location.uri, "size": size, "modified": modified}
