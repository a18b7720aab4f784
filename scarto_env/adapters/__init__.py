"""One module a library that needs more than the standard interfaces; each imports its library."""
