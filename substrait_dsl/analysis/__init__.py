"""What can be said of a plan without running it: pure functions of the algebra."""
