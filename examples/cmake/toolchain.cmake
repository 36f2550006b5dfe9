# Included before project(): chooses a compiler that knows C++23, so that
# `cmake -S examples/NN-slug -B somewhere` works as it is where the default compiler is too old.
if(CMAKE_CXX_COMPILER)
    return()  # the reader named one, or a preset did, or this tree is already configured
endif()

execute_process(
    COMMAND ${CMAKE_CURRENT_LIST_DIR}/../../scripts/find-compiler.sh
    OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE failed)
if(failed)
    message(FATAL_ERROR "no C++23 compiler (GCC 14 or later, or Clang 19 or later with libc++). "
                        "Run scripts/setup.sh: it installs one or prints the command that does.")
endif()

separate_arguments(found UNIX_COMMAND "${found}")
list(POP_FRONT found compiler)
find_program(CMAKE_CXX_COMPILER ${compiler} REQUIRED)
string(JOIN " " flags ${found})
set(CMAKE_CXX_FLAGS_INIT "${flags}")
