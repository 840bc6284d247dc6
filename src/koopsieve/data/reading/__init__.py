"""Reading: files, frames and named arrays become tables, and tables become episodes."""
