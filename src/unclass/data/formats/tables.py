"""Lists of images: a CSV or Parquet file with a path, a label and if need be a split in each row."""

import csv
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

import torch
from torch import Tensor

from unclass.border.bounds import LONGEST_LINE_OF_A_LIST
from unclass.border.offline import reading
from unclass.data.assemble import assemble
from unclass.data.classes import index_labels
from unclass.data.images import ImageData
from unclass.data.names import Names
from unclass.data.options import DataOptions
from unclass.data.pictures import Files
from unclass.errors import InputError, unknown
from unclass.extras import library

IMAGE_COLUMNS = ("path", "image", "file", "file_name", "filename", "image_path", "img")
LABEL_COLUMNS = ("label", "labels", "class", "target", "fine_label")
SPLIT_COLUMN = "split"
_MOST_ROWS_PER_BYTE = 100
_LONGEST_FIELD = 4096
_ROWS_AT_ONCE = 4096
_ROOM = 1 << 20  # for what a Parquet file writes beside its values
_MOST_BYTES_OF_A_COLUMN = 1 << 28  # of one row group
SPLITS = {"train": False, "training": False, "test": True, "val": True, "valid": True, "validation": True}


def load_csv(path: Path, options: DataOptions) -> ImageData:
    """Read a CSV list of images."""
    _require(path)
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.reader(_lines(file, path.name))
            header = next(reader, [])
            wanted = find_columns(header, options, path.name)
            places = {column: header.index(column) for column in wanted if column in header}
            columns: dict[str, list[str]] = {column: [] for column in places}
            names = Names(_rows(reader, places, columns, wanted[0], path.name), path.parent)
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 ({error.reason} at byte {error.start}); save it as UTF-8") from error
    except csv.Error as error:
        raise InputError(f"{path} is not a CSV list of paths and labels ({error}); correct it") from error
    return _load(f"csv:{path.stem}", names, columns[wanted[1]], columns.get(SPLIT_COLUMN), options)


def _lines(file: TextIO, where: str) -> Iterator[str]:
    """Walk through the lines of a text file, none of which is longer than a row of a list can be."""
    while line := file.readline(LONGEST_LINE_OF_A_LIST):
        if len(line) == LONGEST_LINE_OF_A_LIST:
            raise InputError(f"{where} has a line of {len(line):,} characters or more, which is no row of a list")
        yield line


def load_parquet(path: Path, options: DataOptions) -> ImageData:
    """Read a Parquet list of images."""
    _require(path)
    parquet = library("pyarrow.parquet", "data")
    with reading(str(path), "give a Parquet file with a path and a label in each row"):
        file = _parquet(parquet, path)
        header = list(file.schema_arrow.names)
        wanted = find_columns(header, options, path.name)
        columns: dict[str, list[str]] = {column: [] for column in wanted if column in header}
        _check_sizes(file.metadata, path, columns)
        file = _parquet(parquet, path, read_dictionary=list(columns))  # what stands in many rows is read once
        batches = file.iter_batches(_ROWS_AT_ONCE, columns=list(columns))
        rows = (row for batch in batches for row in _values(batch, columns))
        places = {column: place for place, column in enumerate(columns)}
        names = Names(_rows(rows, places, columns, wanted[0], path.name), path.parent)
    return _load(f"parquet:{path.stem}", names, columns[wanted[1]], columns.get(SPLIT_COLUMN), options)


def _parquet(parquet: Any, path: Path, **how: Any) -> Any:
    try:
        return parquet.ParquetFile(path, **how)
    except (ValueError, OSError) as error:
        raise InputError(f"{path} is not a Parquet file ({error}); give a list of paths and labels") from error


def _check_sizes(metadata: Any, path: Path, columns: Iterable[str]) -> None:
    """Raise if a Parquet file declares more rows than it can hold, or paths and labels longer than they can be."""
    if metadata.num_rows > _MOST_ROWS_PER_BYTE * path.stat().st_size:
        raise InputError(f"{path} declares {metadata.num_rows:,} rows, more than it can hold; write it again")
    for group in map(metadata.row_group, range(metadata.num_row_groups)):
        for chunk in map(group.column, range(group.num_columns)):
            most = min(group.num_rows * _LONGEST_FIELD + _ROOM, _MOST_BYTES_OF_A_COLUMN)
            if chunk.path_in_schema in columns and chunk.total_uncompressed_size > most:
                raise InputError(
                    f"{path} has {chunk.total_uncompressed_size:,} bytes in its column {chunk.path_in_schema!r}, more "
                    f"than {group.num_rows:,} paths or labels are; name the columns with `image_column`, `label_column`"
                )


def find_columns(header: Sequence[str], options: DataOptions, where: str) -> tuple[str, str, str]:
    """Return the columns of images, labels and the split, by the names given or the usual ones."""
    chosen = []
    for kind, given, usual in (
        ("image", options.image_column, IMAGE_COLUMNS),
        ("label", options.label_column, LABEL_COLUMNS),
    ):
        if given is not None and given not in header:
            raise unknown(f"{kind} column", given, header, f" in {where}")
        found = given or next((column for column in usual if column in header), None)
        if found is None:
            columns = ", ".join(header) or "no columns"
            raise InputError(f"{where} has no column {', '.join(usual)}, but {columns}; name one with `{kind}_column`")
        chosen.append(found)
    if chosen[0] == chosen[1]:
        raise InputError(f"{where}: column {chosen[0]!r} cannot hold both images and labels; name another for one")
    return chosen[0], chosen[1], SPLIT_COLUMN


def held_out_rows(splits: Sequence[str], where: str) -> Tensor:
    """Return which rows are for the test."""
    if other := sorted(set(splits) - set(SPLITS)):
        raise unknown("split", other[0], SPLITS, f" in {where}")
    return torch.tensor([SPLITS[name] for name in splits])


def _rows(
    reader: Iterator[list[str]],
    places: Mapping[str, int],
    columns: Mapping[str, list[str]],
    image: str,
    where: str,
) -> Iterator[str]:
    """Walk through the paths of a list, and put what stands beside them into `columns`."""
    for number, row in enumerate(reader, 2):
        if not row:
            continue
        if len(row) <= max(places.values()):
            raise InputError(f"{where} has {len(row)} fields in line {number}, fewer than its header; complete it")
        if max(len(row[place]) for place in places.values()) > _LONGEST_FIELD:
            raise InputError(f"{where} has a path or a label of more than {_LONGEST_FIELD} characters in line {number}")
        for column, place in places.items():
            if column != image:
                columns[column].append(sys.intern(row[place].strip()))
        yield row[places[image]].strip()


def _values(batch: Any, columns: Iterable[str]) -> Iterator[list[str]]:
    """Walk through the rows of an Arrow batch as text; what is missing is empty."""
    return map(list, zip(*(_texts(batch.column(column)) for column in columns), strict=True))


def _texts(column: Any) -> list[str]:
    """Return an Arrow column as text; a value that stands in many rows is one text for all of them."""
    if not hasattr(column, "dictionary"):
        return ["" if value is None else str(value) for value in column.to_pylist()]
    used = column.indices.unique().drop_null()
    values = column.dictionary.take(used)
    if values.nbytes > (len(values) + 1) * 4 * _LONGEST_FIELD:  # a character has up to four bytes
        raise InputError(f"a path or a label of more than {_LONGEST_FIELD} characters")
    words = {None: "", **dict(zip(used.to_pylist(), _texts(values), strict=True))}
    return [words[place] for place in column.indices.to_pylist()]


def _load(
    name: str, names: Names, labels: Sequence[str], splits: Sequence[str] | None, options: DataOptions
) -> ImageData:
    if not len(names):
        raise InputError(f"{name} lists no images; add rows")
    classes, indices = index_labels(labels, name)
    test = None if splits is None else held_out_rows(splits, name)
    return assemble(name, Files(names), classes, indices, test, options, {})


def _require(path: Path) -> None:
    if not path.is_file():
        raise InputError(f"there is no file {path}; give a list with the columns path and label")
    if not path.stat().st_size:  # or it is a file of the kernel's, some of which never end
        raise InputError(f"{path} is empty; give a list with the columns path and label")
