"""What people write: relations as chains of verbs, expressions by operators, schemas as classes."""
