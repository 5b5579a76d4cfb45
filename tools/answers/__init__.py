"""What two revisions of kraftool answer to the same questions (tools/same_answers.py)."""
