"""What all tests share: property tests try the same examples every time, and are not timed."""

from hypothesis import settings

settings.register_profile("koopsieve", deadline=None, derandomize=True)
settings.load_profile("koopsieve")
