"""Loading data and sending it to the device: `dataloader`."""
