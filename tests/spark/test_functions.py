"""The specification's own cases of scalar and aggregate functions, run on Spark.

Every case of a function that Spark runs must come out as stated, with the derived type. The others stand in tables
here, with the reason; an entry that no longer applies fails the tests.
"""

from __future__ import annotations

import datetime as dt
import math
from collections import Counter
from collections.abc import Iterable, Iterator
from decimal import Decimal
from functools import cache
from itertools import batched_ as batched
from typing import TYPE_CHECKING, Any

import attrs
import pytest

