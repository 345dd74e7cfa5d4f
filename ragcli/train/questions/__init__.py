"""`ragcli train questions`: question-answer pairs drafted from an index, and checked."""
