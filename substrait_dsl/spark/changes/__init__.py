"""What plans change: writes, updates and data definition, made whole or not at all."""
