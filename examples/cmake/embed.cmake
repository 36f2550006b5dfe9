# embed_site(TARGET FILE…): each file of examples/lib/http/site becomes a generated header, so that
# index.html is `site::index_html` of "site/index_html.hpp". (#embed is not in all our compilers yet.)
function(embed_site target)
    set(generated ${CMAKE_CURRENT_BINARY_DIR}/generated)
    foreach(name IN LISTS ARGN)
        string(MAKE_C_IDENTIFIER ${name} symbol)
        set(source ${TTC_EXAMPLES}/lib/http/site/${name})
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
        file(READ ${source} text)
        string(CONCAT header
            "// Generated from ${name} by embed.cmake.\n#pragma once\n\n#include <string_view>\n\n"
            "namespace site {\n\ninline constexpr std::string_view ${symbol} =\n"
            "    R\"site(${text})site\";\n\n}  // namespace site\n")
        file(WRITE ${generated}/${symbol}.new "${header}")
        file(MAKE_DIRECTORY ${generated}/site)
        file(COPY_FILE ${generated}/${symbol}.new ${generated}/site/${symbol}.hpp ONLY_IF_DIFFERENT)
    endforeach()
    target_include_directories(${target} PRIVATE ${generated})
endfunction()
