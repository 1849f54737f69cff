"""`rfbench report`: all results below a directory as one page, or as a table for READMEs, papers and scripts."""
