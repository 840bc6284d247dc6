"""Reading: files and frames become tables, by pandas, SciPy and h5py; `koopsieve.data` makes trajectories of them."""
