"""Labelled images, the data sets they come from, and the split into what is kept and what is forgotten."""

from unclass.data.images import Batches, ImageData, ImageSet
from unclass.data.options import DataOptions
from unclass.data.sources import DATA, load_data
from unclass.data.split import BatchSource, Counted, Indexed, Split, TensorBatches, TrainingData, Withheld

__all__ = [
    "DATA",
    "BatchSource",
    "Batches",
    "Counted",
    "DataOptions",
    "ImageData",
    "ImageSet",
    "Indexed",
    "Split",
    "TensorBatches",
    "TrainingData",
    "Withheld",
    "load_data",
]
