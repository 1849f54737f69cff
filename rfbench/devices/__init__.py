"""The side door of step 3: physical devices, and what they draw."""
