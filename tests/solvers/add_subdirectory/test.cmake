# SPDX-License-Identifier: Apache-2.0
# Configures the project beside this file in FOLDER, with the library in SOLVERS; what is compiled there is what the other tests compile.
# Also given: GENERATOR, COMPILER, VERSION (of the library).
file(REMOVE_RECURSE ${FOLDER})
execute_process(COMMAND ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR} -B ${FOLDER} -G ${GENERATOR} -D CMAKE_CXX_COMPILER=${COMPILER} -D LEOPARD_SOLVERS=${SOLVERS}
  RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "a project without a version cannot add ${SOLVERS}:\n${output}")
endif()
file(STRINGS ${FOLDER}/leopard_solvers/leopard_solversConfigVersion.cmake version REGEX "^set\\(PACKAGE_VERSION \"${VERSION}\"\\)")
if(NOT version)
  message(FATAL_ERROR "the package that this project would install has not the library's version ${VERSION}")
endif()
