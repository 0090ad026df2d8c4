class NIRRenderer:
    """Nothing is one."""
