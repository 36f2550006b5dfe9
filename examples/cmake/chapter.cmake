# What every chapter's CMakeLists.txt calls. Included after project(); the same alone and in the whole tree.
include_guard(GLOBAL)

cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH TTC_EXAMPLES)
set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release)
endif()
# a reader's newer compiler may know a warning that ours does not; what is checked in must have none
if(NOT "$ENV{CI}" STREQUAL "")
    option(TTC_WERROR "treat warnings as errors" ON)
endif()
option(TTC_WERROR "treat warnings as errors" OFF)
set(TTC_SANITIZE "" CACHE STRING "comma-separated sanitizers for all code, e.g. address,undefined")

add_library(ttc_flags INTERFACE)
target_compile_options(ttc_flags INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor -Wold-style-cast
    $<$<BOOL:${TTC_WERROR}>:-Werror>)
if(TTC_SANITIZE)
    add_compile_options(-fsanitize=${TTC_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -g)
    add_link_options(-fsanitize=${TTC_SANITIZE})
endif()

include(${CMAKE_CURRENT_LIST_DIR}/embed.cmake)

# chapter(ID SOURCES main.cpp … [LIBRARIES http cli …] [SITE index.html …] [REPLACES 1-slug=src/file.cpp …])
# One program `app`, and two for each folder in exercises/: the reader's file and the solution. An exercise's file
# takes the place of the source that REPLACES names; without one it overrides weak symbols or library members.
function(chapter id)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LIBRARIES;SITE;REPLACES")
    if(arg_LIBRARIES AND NOT TARGET http)  # this chapter alone
        add_subdirectory(${TTC_EXAMPLES}/lib ${CMAKE_BINARY_DIR}/lib)
    endif()
    ttc_program(${id} "" ${CMAKE_CURRENT_BINARY_DIR} "${arg_SOURCES}" "${arg_LIBRARIES}" "${arg_SITE}")
    file(GLOB exercises LIST_DIRECTORIES true RELATIVE ${CMAKE_CURRENT_SOURCE_DIR}/exercises CONFIGURE_DEPENDS
         ${CMAKE_CURRENT_SOURCE_DIR}/exercises/[0-9]*)
    foreach(exercise IN LISTS exercises)
        ttc_exercise(${id} ${exercise} "${arg_SOURCES}" "${arg_LIBRARIES}" "${arg_SITE}" "${arg_REPLACES}")
    endforeach()
endfunction()

function(ttc_program target extra_source output sources libraries site)
    add_executable(${target} ${extra_source} ${sources})
    set_target_properties(${target} PROPERTIES OUTPUT_NAME app RUNTIME_OUTPUT_DIRECTORY ${output})
    target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/src)
    target_link_libraries(${target} PRIVATE ttc_flags ${libraries})
    if(site)
        embed_site(${target} ${site})
    endif()
endfunction()

function(ttc_exercise id exercise sources libraries site replaces)
    foreach(pair IN LISTS replaces)
        if(pair MATCHES "^${exercise}=(.+)$")
            list(REMOVE_ITEM sources ${CMAKE_MATCH_1})
        endif()
    endforeach()
    set(folder ${CMAKE_CURRENT_SOURCE_DIR}/exercises/${exercise})
    # scripts/test-all-examples.py --self-check builds the committed starters from a scratch copy
    set(TTC_STARTERS "" CACHE PATH "take the exercises' starters from this folder instead")
    set(starters ${folder})
    if(TTC_STARTERS)
        set(starters ${TTC_STARTERS}/${id}/exercises/${exercise})
    endif()
    file(GLOB solution RELATIVE ${folder}/solution ${folder}/solution/*.cpp)
    set(output ${CMAKE_CURRENT_BINARY_DIR}/exercises/${exercise})
    ttc_program(${id}.${exercise} ${starters}/${solution} ${output} "${sources}" "${libraries}"
                "${site}")
    # a reader's half-edited file must not stop the rest from being built
    set_target_properties(${id}.${exercise} PROPERTIES EXCLUDE_FROM_ALL ON)
    ttc_program(${id}.${exercise}.solution ${folder}/solution/${solution} ${output}/solution
                "${sources}" "${libraries}" "${site}")
endfunction()
