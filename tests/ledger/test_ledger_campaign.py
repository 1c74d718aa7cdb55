"""A few of the kills, pairs and tamperings that campaign.py does in full numbers, and its scale."""

import pytest
from campaign import kills, pairs, scale, tamperings


@pytest.mark.long
def test_a_kill_at_any_moment_loses_mixes_and_blocks_nothing() -> None:
    found = kills(8, seed=1)
    assert found["at_random"] + found["at_writes"] >= 8 and not found["lost_or_mixed"] and not found["stuck"]


@pytest.mark.long
def test_two_operators_at_once_lose_nothing() -> None:
    assert pairs(2) == {"pairs": 2, "failed": 0, "lost_or_mixed": []}


def test_every_tampering_is_found_in_time() -> None:
    found = tamperings(25, seed=2)
    assert not found["missed"] and found["slowest_seconds"] < 2


def test_many_requests_are_listed_at_once() -> None:
    found = scale(10_000, 100)
    assert found["request_list_seconds"] < 2 and found["status_seconds"] < 2  # of the processor, .5 each
