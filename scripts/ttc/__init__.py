"""What the scripts share: the manifest, the build, running programs, reading TAP, reporting."""
