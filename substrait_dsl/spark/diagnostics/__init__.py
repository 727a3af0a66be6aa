"""What is wrong, in words of the plan: settings that do not fit, and errors of running jobs."""
