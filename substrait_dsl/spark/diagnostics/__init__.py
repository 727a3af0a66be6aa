"""Diagnostics: settings that change the meaning of a plan, and errors of running jobs in the words of the plan."""
