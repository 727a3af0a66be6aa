"""What plans read: named tables, files, rows in the plan, and what files and folders say of their columns."""
