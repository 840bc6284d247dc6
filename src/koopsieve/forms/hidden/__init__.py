"""The hidden form: a sparse polynomial state space, its states learned."""
