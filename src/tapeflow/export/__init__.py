"""`tapeflow.export`: functions written for other programs to run."""
