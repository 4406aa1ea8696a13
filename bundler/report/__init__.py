"""What people read: the terminal story and the issue text."""
