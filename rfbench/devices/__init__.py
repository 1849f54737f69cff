"""Physical devices and their simulations: optical processing units, energy meters, projectors."""
