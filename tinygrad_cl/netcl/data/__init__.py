"""Data on its way to the device: `dataloader`."""
