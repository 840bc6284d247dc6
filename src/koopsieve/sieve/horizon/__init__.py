"""The horizon sieve: one flag per observable, shared by all outputs at several horizons."""

from koopsieve.sieve.horizon.horizon_sieve import HorizonEstimate, HorizonSieve

__all__ = ["HorizonEstimate", "HorizonSieve"]
