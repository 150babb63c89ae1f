# SPDX-License-Identifier: Apache-2.0
# Installs the build in BUILD to FOLDER/prefix, and configures, builds and runs the project beside this file with what is there.
# Also given: GENERATOR, COMPILER, CONFIGURATION, FLAGS.
function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    list(JOIN ARGV " " command)
    message(FATAL_ERROR "${command}\n${output}")
  endif()
  set(output ${output} PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${FOLDER})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${FOLDER}/prefix --component leopard_solvers)
run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR} -B ${FOLDER}/build -G ${GENERATOR} -D CMAKE_CXX_COMPILER=${COMPILER}
    -D CMAKE_BUILD_TYPE=${CONFIGURATION} -D CMAKE_CXX_FLAGS=${FLAGS} -D CMAKE_PREFIX_PATH=${FOLDER}/prefix)
run(${CMAKE_COMMAND} --build ${FOLDER}/build)
run(${FOLDER}/build/main)
message(STATUS ${output})
run(${FOLDER}/prefix/bin/leopard-solve --version)
message(STATUS ${output})
file(STRINGS ${FOLDER}/prefix/${LIBRARIES}/cmake/leopard_solvers/leopard_solversTargets.cmake paths REGEX "${BUILD}|${SOURCE}")
if(paths)
  message(FATAL_ERROR "the installed package knows paths of the build:\n${paths}")
endif()
