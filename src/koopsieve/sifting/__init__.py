"""The whole method, `sift`: split, plan, search, choose, judge."""
