"""Programs that mypy checks with the plugin: ``faulty`` ones, whose every mistake it must flag, and ``right`` ones."""
