"""Everything worth knowing about the machine and the failure, one file per source."""
