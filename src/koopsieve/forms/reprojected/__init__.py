"""The reprojected form."""
