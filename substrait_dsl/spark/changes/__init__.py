"""Changes: writes, updates and data definition, made as a whole or not at all."""
