"""Parameter servers and workers in other processes, which Ray starts and connects.

`server` is the process that holds variables, `variables` what stands for them elsewhere, `calls` how operations reach
them, `step` and `worker` how workers run functions, `shipping` how functions travel, and `cluster` all processes of a
strategy. What programs use is in `distribute.strategies` and `distribute.coordinator`.
"""
