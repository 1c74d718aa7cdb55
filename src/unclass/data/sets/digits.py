"""The 1,797 handwritten digits (8 × 8, grey) that come with scikit-learn: no download, trained on in seconds."""

import numpy as np
import torch

from unclass.data.images import ImageData, ImageSet
from unclass.data.options import DataOptions

TEST_SHARE = 0.25


def load_digits(options: DataOptions) -> ImageData:
    """Read the digits and hold out a quarter of each class for the test, drawn by `split_seed`."""
    # scikit-learn takes a second to import, and of all data sets only this one needs it.
    from sklearn.datasets import load_digits as sklearn_digits
    from sklearn.model_selection import train_test_split

    values, labels = sklearn_digits(return_X_y=True)
    pixels = np.round(values * 255 / 16).astype(np.uint8).reshape(-1, 1, 8, 8)
    images = ImageSet.of(torch.from_numpy(pixels), torch.from_numpy(labels))
    train, test = train_test_split(
        np.arange(len(labels)), test_size=TEST_SHARE, stratify=labels, random_state=options.split_seed
    )
    return ImageData(
        name="digits",
        classes=tuple(str(digit) for digit in range(10)),
        train=images.select(torch.from_numpy(np.sort(train))),
        test=images.select(torch.from_numpy(np.sort(test))),
        details={"split_seed": options.split_seed, "test_share": TEST_SHARE},
    )
