"""The time zone of a session, which must be UTC for plans with timestamps."""

from __future__ import annotations

TIME_ZONE = "spark.sql.session.timeZone"
"""The setting."""

UTC = ("UTC", "Etc/UTC", "Z", "GMT")
"""The values of it that mean UTC."""
