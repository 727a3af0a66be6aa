"""Sources of reads: named tables, files and virtual tables, and the columns of files and folders."""
