"""Labelled images, the data sets they come from, and the split into what is kept and what is forgotten."""

from unclass.data.batches import Batches, BatchSource, Counted, Indexed, TensorBatches, Withheld
from unclass.data.forget_list import listed_rows
from unclass.data.images import ImageData, ImageSet
from unclass.data.options import DataOptions
from unclass.data.pairs import Paired, Turns
from unclass.data.sources import DATA, OWN, load_data
from unclass.data.split import Split, TrainingData
from unclass.data.torch_datasets import image_data

__all__ = [
    "DATA",
    "OWN",
    "BatchSource",
    "Batches",
    "Counted",
    "DataOptions",
    "ImageData",
    "ImageSet",
    "Indexed",
    "Paired",
    "Split",
    "TensorBatches",
    "TrainingData",
    "Turns",
    "Withheld",
    "image_data",
    "listed_rows",
    "load_data",
]
