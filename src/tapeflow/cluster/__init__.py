"""Clusters of 1.x: servers in several processes run the parts of one graph, each what is placed on its task.

A client gives its graph to a master, which places the nodes, cuts the graph at the borders of the tasks, and lets the
worker of each task run its part; tensors go from worker to worker. Strategies of 2.x do not belong here.
"""
