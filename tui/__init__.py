"""The Textual dashboard: it takes reports and knows no bytes."""
