"""The algebra made readable: neutral descriptions of relations, and writers of them."""
