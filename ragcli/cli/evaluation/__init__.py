"""`ragcli eval`: one file a command."""
