# SPDX-License-Identifier: Apache-2.0
# Sources that are compiled together.
include_guard(GLOBAL)
get_filename_component(leopard_together_root ${CMAKE_CURRENT_LIST_DIR}/.. ABSOLUTE)
option(LEOPARD_UNITY "Compile the sources of a folder together: two to three times faster from nothing, slower after a change to one of them" ON)

# leopard_together(RESULT ROOT SOURCES... [BY_LETTER] [APART NAMES...]): sets RESULT to what is to be compiled for the sources: one source for each
# folder of the folder ROOT, or with BY_LETTER for each letter that names of sources begin with, which includes them; CUDA sources and those of the
# names stay as they are. CMake's own unity builds write whole paths into these sources, so that ccache finds nothing in another checkout.
function(leopard_together result root)
  cmake_parse_arguments(PARSE_ARGV 2 given "BY_LETTER" "" "APART")
  set(sources) # a function sees its caller's variables
  set(folders)
  foreach(source ${given_UNPARSED_ARGUMENTS})
    get_filename_component(name ${source} NAME)
    if(NOT LEOPARD_UNITY OR name MATCHES "\\.cu$" OR name IN_LIST given_APART)
      list(APPEND sources ${source})
      continue()
    endif()
    file(RELATIVE_PATH path ${root} ${source})
    string(REGEX MATCH "^[^/]*" folder ${path})
    if(given_BY_LETTER)
      string(SUBSTRING ${name} 0 1 folder)
    endif()
    file(RELATIVE_PATH path ${leopard_together_root} ${source})
    string(APPEND text_of_${folder} "#include <${path}> // NOLINT(bugprone-suspicious-include)\n")
    list(APPEND folders ${folder})
  endforeach()
  list(REMOVE_DUPLICATES folders)
  foreach(folder ${folders})
    set(together ${CMAKE_CURRENT_BINARY_DIR}/together/${folder}.cc)
    file(CONFIGURE OUTPUT ${together} CONTENT "// made by CMake: the sources of a folder, compiled together\n${text_of_${folder}}" @ONLY)
    list(APPEND sources ${together})
  endforeach()
  set(${result} ${sources} PARENT_SCOPE)
endfunction()
