# GTest::gtest_main. A package's library is built against libstdc++, so under libc++ (or a sanitizer) it is built from
# the sources that Debian's and Ubuntu's package brings along.
include_guard(GLOBAL)

if(EXISTS /usr/src/googletest/CMakeLists.txt)
    set(INSTALL_GTEST OFF)
    set(BUILD_GMOCK OFF)
    add_subdirectory(/usr/src/googletest ${CMAKE_BINARY_DIR}/googletest EXCLUDE_FROM_ALL SYSTEM)
    foreach(target gtest gtest_main)
        if(NOT TARGET GTest::${target})
            add_library(GTest::${target} ALIAS ${target})
        endif()
    endforeach()
else()
    find_package(GTest REQUIRED)
endif()
