"""Text of the algebra: neutral descriptions of relations, and writers of them."""
