"""Intervals and tests in closed form, for shares and for two models that saw the same images."""

from collections.abc import Callable
from math import comb, exp, log, sqrt
from statistics import NormalDist

Interval = tuple[float, float]
MOST_LOGIT = 700.0  # e^700 is about the largest number


def wilson_interval(right: float, count: float, level: float = 0.95) -> Interval:
    """(p + z²/2n ± z √(p(1−p)/n + z²/4n²)) / (1 + z²/n): of a share p = right / count (Wilson 1927).

    Unlike p ± z√(p(1−p)/n) it has a width where none or all are right.

    >>> [round(bound, 4) for bound in wilson_interval(0, 36)]
    [0.0, 0.0964]
    >>> [round(bound, 4) for bound in wilson_interval(18, 36)]
    [0.3447, 0.6553]
    """
    z, p = _z(level), right / count
    middle = p + z * z / (2 * count)
    width = z * sqrt(p * (1 - p) / count + z * z / (4 * count * count))
    scale = 1 + z * z / count
    return max(0.0, (middle - width) / scale), min(1.0, (middle + width) / scale)


def share_interval(share: float, deviation: float, least: float, level: float = 0.95) -> Interval:
    """Wilson's interval of a share p with standard deviation σ, as of p(1 − p)/σ² images, at least `least`.

    So it stays within [0, 1], and has a width where σ = 0.

    >>> [round(bound, 4) for bound in share_interval(0.5, 0.05, 10)]
    [0.4038, 0.5962]
    >>> share_interval(0.0, 0.0, 36) == wilson_interval(0, 36)
    True
    """
    count = max(least, share * (1 - share) / deviation**2) if deviation > 0 else least
    return wilson_interval(share * count, count, level)


def normal_interval(value: float, deviation: float, level: float = 0.95) -> Interval:
    """v ± z σ: of a figure whose noise is known, such as a difference on the same images.

    >>> [round(bound, 3) for bound in normal_interval(0.8, 0.05)]
    [0.702, 0.898]
    """
    width = _z(level) * deviation
    return value - width, value + width


def logit_interval(value: float, deviation: float, level: float = 0.95) -> Interval:
    """1 / (1 + e^−(l ± z σ / v(1 − v))), l = log(v / (1 − v)): of an AUC or a share whose noise is known.

    Near 0 and 1, where v ± z σ leaves the scale and takes noise for more than it is. Of exactly 0 or 1 it is v ± z σ,
    cut at the ends.

    >>> [round(bound, 3) for bound in logit_interval(0.99, 0.005)]
    [0.974, 0.996]
    >>> logit_interval(0.9, 0.0)
    (0.9, 0.9)
    """
    if deviation == 0:
        return value, value
    if not 0 < value < 1:
        low, high = normal_interval(value, deviation, level)
        return max(0.0, low), min(1.0, high)
    middle, width = log(value / (1 - value)), _z(level) * deviation / (value * (1 - value))
    low, high = (1 / (1 + exp(-end)) if end > -MOST_LOGIT else 0.0 for end in (middle - width, middle + width))
    return low, high


def student_interval(value: float, deviation: float, freedom: int, level: float = 0.95) -> Interval:
    """v ± t σ, t Student's with so many degrees of freedom: of a figure whose noise was estimated from a few parts.

    >>> [round(bound, 3) for bound in student_interval(0.8, 0.05, 9)]
    [0.687, 0.913]
    """
    from scipy.stats import t  # takes a moment to import

    width = float(t.ppf((1 + level) / 2, freedom)) * deviation
    return value - width, value + width


def paired_interval(gained: float, lost: float, count: float, level: float = 0.95) -> Interval:
    """d ± z √((g + l − d²) / (n + 2)): of the change of accuracy between two models on the same images.

    g = (gained + 1)/(n + 2) and l = (lost + 1)/(n + 2) are the shares that only the second, only the first model gets
    right, d = g − l (Bonett and Price 2012). Images on which both agree carry no news.

    >>> [round(bound, 4) for bound in paired_interval(4, 9, 135)]
    [-0.0916, 0.0186]
    """
    z, total = _z(level), count + 2
    gain, loss = (gained + 1) / total, (lost + 1) / total
    change = gain - loss
    width = z * sqrt((gain + loss - change * change) / total)
    return max(-1.0, change - width), min(1.0, change + width)


def mcnemar(gained: int, lost: int) -> float:
    """2 Σ_{i ≤ min(g, l)} C(g + l, i) / 2^(g + l), at most 1: chance of such a difference between equal models.

    The exact test of McNemar (1947) on the images of which only one of two models gets the label right.

    >>> round(mcnemar(4, 9), 4)
    0.2668
    >>> mcnemar(0, 0)
    1.0
    """
    total = gained + lost
    tail = sum(comb(total, k) for k in range(min(gained, lost) + 1))
    return min(1.0, 2 * tail / (1 << total))


def images_needed(value: float, bound: float, limit: float, count: int) -> int | None:
    """n ((v − b) / (v − L))² − n: how many more images let an interval that ends at b stop short of the limit L.

    A width shrinks with the root of the number of images. None where the value is the limit: no number will do.

    >>> images_needed(-0.02, -0.05, -0.03, 100)
    800
    """
    if value == limit:
        return None
    return max(1, round(count * ((value - bound) / (value - limit)) ** 2 - count))


def first_enough(enough: Callable[[int], bool], count: int, most: int = 10_000_000) -> int | None:
    """Return the smallest number of images beyond `count` that is enough, where more never spoil it; None above `most`.

    >>> first_enough(lambda n: wilson_interval(0, n)[1] <= 0.1, 8)
    35
    """
    low, high = count, count + 1
    while not enough(high):
        low, high = high, 2 * high
        if high > most:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _z(level: float) -> float:
    return NormalDist().inv_cdf((1 + level) / 2)
