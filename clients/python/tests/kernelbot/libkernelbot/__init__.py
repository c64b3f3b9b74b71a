"""A fake KernelBot: the names and fields that a launcher uses."""
