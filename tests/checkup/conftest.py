"""What check-ups of the suite share."""

from dataclasses import replace

import pytest

from unclass.models import Classifier


@pytest.fixture(autouse=True)
def nothing_forgotten(trained: Classifier) -> None:
    """Other tests may have written into the shared network's card."""
    trained.card = replace(trained.card, forgotten=())
