"""The manifest of an output folder, which identifies the job of its files."""

from __future__ import annotations

import json
import re
from base64 import b64decode, b64encode
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
from filelock import FileLock, Timeout

from .columns import merge_schemas
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
    files: Sequence[tuple[InputFile, pa.Schema]],
    there: Collection[str],
    temporary: Location,
) -> pa.Schema:
    """Write the manifest, or raise an error if the folder belongs to another job.

    output (Location): The output folder.
    settings (Mapping[str, Any]): All settings that the output depends on.
    files (Sequence[Tuple[InputFile, pyarrow.Schema]]): The input files, with their
        columns. Others may be added later.
    there (Collection[str]): The files that are already in the folder.
    temporary (Location): The name of the manifest until it is complete.
    RETURNS (pyarrow.Schema): The columns of the input in all files of the folder.
    """
    schemas = {file.location.uri: schema for file, schema in files}
    inputs = {file.name: _describe(file) for file, _ in files}
    manifest = output / MANIFEST
    if manifest.exists():
        before = _read(manifest)
        for key in settings.keys() | before["settings"].keys():
            old, new = before["settings"].get(key), settings.get(key)
            if old != new:
                raise ValueError(
                    f"{output.uri} was started with {key} = {json.dumps(old)}, not "
                    f"{json.dumps(new)}. Use the same settings to resume, or another "
                    "output folder."
                )
        stems = {file.name: file.stem for file, _ in files}
        for name, old in before["inputs"].items():
            new = inputs.get(name, old)
            if new == old or not _has_results(stems[name], there):
                continue
            if new["uri"] != old["uri"]:
                raise ValueError(
                    f"{output.uri} has results of {old['uri']}, and those of "
                    f"{new['uri']} would have the same name. Use another output folder."
                )
            raise ValueError(
                f"The input {name} has changed since {output.uri} was started. Use "
                "another output folder."
            )
        inputs = {**before["inputs"], **inputs}
        old_schema = pa.ipc.read_schema(pa.py_buffer(b64decode(before["schema"])))
        schema = merge_schemas({output.uri: old_schema, **schemas})
        if schema != old_schema:
            changed = [field.name for field in schema if field not in list(old_schema)]
            raise ValueError(
                f"The input has other columns or types than when {output.uri} was "
                f"started: {', '.join(map(repr, changed))}. Use another output folder."
            )
        if inputs == before["inputs"]:
            return schema
    elif any(name.endswith(".parquet") for name in there):
        raise ValueError(
            f"{output.uri} already has other Parquet files. Use an empty folder."
        )
    else:
        schema = merge_schemas(schemas)
    if files:
        data = {
            "settings": dict(settings),
            "schema": b64encode(schema.serialize()).decode(),
            "inputs": inputs,
        }
        manifest.write((json.dumps(data, indent=1) + "\n").encode(), temporary)
    return schema


def _read(manifest: Location) -> dict[str, Any]:
    try:
        data = json.loads(manifest.read())
        if not {"settings", "schema", "inputs"} <= data.keys():
            raise ValueError
    except (ValueError, AttributeError):
        raise ValueError(
            f"{manifest.uri} is not a manifest of this version of spacy_sdp. Use "
            "another output folder."
        ) from None
    return data


def _has_results(stem: str, there: Collection[str]) -> bool:
    pattern = re.compile(re.escape(stem) + r"(-\d{5,})?\.parquet")
    return any(map(pattern.fullmatch, there))


def _describe(file: InputFile) -> dict[str, Any]:
    size, modified = file.location.stamp
    return {"uri": file.location.uri, "size": size, "modified": modified}
