std = "lua54"
max_line_length = 100
self = false -- a method may leave its object unused: t:equal(…) reads the same as t:serve(…)
exclude_files = { "build/" }
