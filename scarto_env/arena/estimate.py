"""A mean over deals and what it can tell: the deal is the unit, never the hand."""

from __future__ import annotations

import dataclasses
import math
from statistics import NormalDist
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

CONFIDENCE: Final = 0.95

Verdict = Literal["ahead", "behind", "cannot tell", "equal"]


@dataclasses.dataclass(frozen=True)
class Estimate:
    """Mean points a deal with its interval.

    Attributes:
        mean: mean over deals.
        deviation: standard deviation of a deal.
        num_deals: deals behind it.
    """

    mean: float
    deviation: float
    num_deals: int

    @classmethod
    def of(cls, points: NDArray[np.float64]) -> Estimate:
        """Return the estimate from one number a deal, [deals]."""
        deviation = float(points.std(ddof=1)) if len(points) > 1 else math.inf
        # Sums of exact thirds leave rounding dust: identical bots score zero, not 1e-17.
        return cls(round(float(points.mean()), 9) + 0.0, round(deviation, 9), len(points))

    @property
    def error(self) -> float:
        """Standard error of the mean."""
        return self.deviation / math.sqrt(self.num_deals)

    @property
    def margin(self) -> float:
        """Half the width of the 95 % interval (Student's)."""
        return student_quantile(self.num_deals - 1) * self.error if self.num_deals > 1 else math.inf

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the mean."""
        return self.mean - self.margin, self.mean + self.margin

    @property
    def verdict(self) -> Verdict:
        """Whether the whole interval lies above or below 0; ``"equal"`` when every deal gave exactly 0."""
        low, high = self.interval
        if low > 0:
            return "ahead"
        if high < 0:
            return "behind"
        return "equal" if self.mean == 0 and self.deviation == 0 else "cannot tell"

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON; a bound that one deal cannot give is null."""
        low, high = self.interval
        known = self.num_deals > 1
        return {
            "mean": self.mean,
            "interval": [low, high] if known else None,
            "deviation": self.deviation if known else None,
            "deals": self.num_deals,
            "verdict": self.verdict,
        }

    def __str__(self) -> str:
        """Return mean and half width: ``"+8.51 ± 0.12"``."""
        return f"{self.mean:+.2f} ± {self.margin:.2f}"


def student_quantile(freedom: int) -> float:
    """Return the 97.5 % point of Student's distribution (Cornish and Fisher's expansion, three terms).

    >>> round(student_quantile(10), 2), round(student_quantile(1000), 2)
    (2.23, 1.96)
    """
    z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return z + first / freedom + second / freedom**2 + third / freedom**3
