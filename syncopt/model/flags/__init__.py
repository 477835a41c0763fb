"""From hazards to flags: channels with their sites, made to alternate, with event ids, written into the kernel."""
