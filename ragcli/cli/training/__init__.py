"""`ragcli train`."""
