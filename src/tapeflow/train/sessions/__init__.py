"""What `MonitoredSession` and `Supervisor` are made of."""
