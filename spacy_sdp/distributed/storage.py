"""Files and folders, local or in any file system that pyarrow or fsspec supports."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyarrow import fs


@dataclass(frozen=True)
class Location:
    """A path in a file system.

    uri (str): The absolute path or the URI, for use in other processes.
    filesystem (pyarrow.fs.FileSystem): The file system.
    path (str): The path in the file system.
    """

    uri: str
    filesystem: Any
    path: str

    @classmethod
    def find(cls, uri: str) -> Location:
        """Find the file system of a path or URI.

        uri (str): A local path, or a URI such as `s3://bucket/folder`.
        RETURNS (Location): The location.
        """
        if "://" not in uri:
            # Make the path absolute, because workers have other working directories.
            uri = str(Path(uri).absolute())
            return cls(uri, *fs.FileSystem.from_uri(uri))
        try:
            return cls(uri, *fs.FileSystem.from_uri(uri))
        except ValueError:
            # Not supported by pyarrow itself.
            import fsspec

            try:
                found, path = fsspec.core.url_to_fs(uri)
            except (ImportError, ValueError) as error:
                raise ValueError(
                    f"{uri}: this file system is not supported ({error})."
                ) from None
            return cls(uri, fs.PyFileSystem(fs.FSSpecHandler(found)), path)

    @property
    def is_local(self) -> bool:
        """RETURNS (bool): Whether the path is on this machine, or mounted."""
        return isinstance(self.filesystem, fs.LocalFileSystem)

    def __truediv__(self, name: str) -> Location:
        return Location(
            f"{self.uri.rstrip('/')}/{name}",
            self.filesystem,
            posixpath.join(self.path, name),
        )

    def exists(self) -> bool:
        """RETURNS (bool): Whether the file or folder exists."""
        return self._info.type != fs.FileType.NotFound

    def is_folder(self) -> bool:
        """RETURNS (bool): Whether this is a folder."""
        return self._info.type == fs.FileType.Directory

    @property
    def size(self) -> int:
        """RETURNS (int): The size of the file in bytes."""
        return self._info.size or 0

    @property
    def stamp(self) -> tuple[int | None, int | None]:
        """RETURNS (Tuple[Optional[int], Optional[int]]): Size and time of the file."""
        return self._info.size, self._info.mtime_ns

    @property
    def _info(self) -> Any:
        return self.filesystem.get_file_info(self.path)

    def files(self) -> list[str]:
        """RETURNS (List[str]): The files in the folder and below, by relative path."""
        selector = fs.FileSelector(self.path, recursive=True, allow_not_found=True)
        found = self.filesystem.get_file_info(selector)
        return sorted(
            posixpath.relpath(each.path, self.path)
            for each in found
            if each.type == fs.FileType.File
        )

    def is_inside(self, other: Location) -> bool:
        """RETURNS (bool): Whether this is the other folder, or a path below it."""
        if self.is_local and other.is_local:
            return Path(self.path).resolve().is_relative_to(Path(other.path).resolve())
        here, there = (f"{each.path.rstrip('/')}/" for each in (self, other))
        return type(self.filesystem) is type(other.filesystem) and here.startswith(
            there
        )

    def make_folder(self) -> None:
        """Create the folder and its parents."""
        self.filesystem.create_dir(self.path, recursive=True)

    def delete(self) -> None:
        """Delete the file or folder if it exists."""
        if self.is_folder():
            self.filesystem.delete_dir(self.path)
        elif self.exists():
            self.filesystem.delete_file(self.path)

    def read(self) -> bytes:
        """RETURNS (bytes): The content of the file."""
        with self.filesystem.open_input_stream(self.path) as file:
            return file.read()

    @contextmanager
    def new_file(self, temporary: Location) -> Iterator[Any]:
        """Open a file for writing that only appears when it is complete.

        temporary (Location): Its name while incomplete, in the same file system.
        YIELDS: The file.
        """
        for folder in (self, temporary):
            parent = posixpath.dirname(folder.path)
            self.filesystem.create_dir(parent, recursive=True)
        file = self.filesystem.open_output_stream(temporary.path)
        try:
            yield file
            file.close()
            self.filesystem.move(temporary.path, self.path)
        except BaseException:
            # Closing the file raises the same error again.
            with suppress(OSError):
                file.close()
            with suppress(OSError):
                temporary.delete()
            raise

    def write(self, data: bytes, temporary: Location) -> None:
        """Write a file, either all of it or nothing, as `new_file` does."""
        with self.new_file(temporary) as file:
            file.write(data)
