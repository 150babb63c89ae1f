# SPDX-License-Identifier: Apache-2.0
set(LEOPARD_VERSION_FOLDER ${CMAKE_CURRENT_LIST_DIR})

# For <leopard/version.h> in a target: VERSION, and the commit that is asked for in each build.
function(leopard_add_version target version)
  set(file ${CMAKE_CURRENT_BINARY_DIR}/version.cc)
  add_custom_target(${target}_version
    COMMAND ${CMAKE_COMMAND} -D SOURCE=${CMAKE_CURRENT_SOURCE_DIR} -D VERSION=${version} -D OUTPUT=${file} -P ${LEOPARD_VERSION_FOLDER}/WriteVersion.cmake
    BYPRODUCTS ${file})
  configure_file(${LEOPARD_VERSION_FOLDER}/version.h ${PROJECT_BINARY_DIR}/include/leopard/version.h COPYONLY)
  target_sources(${target} PRIVATE ${file})
  target_include_directories(${target} PRIVATE ${PROJECT_BINARY_DIR}/include)
  add_dependencies(${target} ${target}_version)
endfunction()
