"""Repair: missing samples and uneven times refused, filled in, resampled or cut out, and counted."""
