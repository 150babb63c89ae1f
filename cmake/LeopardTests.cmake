# SPDX-License-Identifier: Apache-2.0
# What tests of MPI programs share.

# As root, on fewer cores than ranks; ranks are not bound to cores, as those of several tests would be bound to the same ones.
set(LEOPARD_MPI_ENVIRONMENT OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
  OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_hwloc_base_binding_policy=none)

# leopard_add_gtests(PROGRAM LABEL SOURCES...): for each source NAME_test.cc one test LABEL.NAME, which runs what stands there in one start of
# the program. A program that links deal.II needs 0.4 s of processor time to start, more than most of its tests.
function(leopard_add_gtests program label)
  foreach(source ${ARGN})
    file(STRINGS ${source} lines REGEX "^ *(TYPED_)?TEST(_F|_P)?\\(")
    if(NOT lines)
      continue()
    endif()
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
    set(suites)
    foreach(line ${lines})
      string(REGEX REPLACE "^ *[A-Z_]+\\( *([A-Za-z0-9]+).*" "\\1" suite "${line}")
      list(APPEND suites "${suite}.*:*/${suite}.*:${suite}/*")
    endforeach()
    list(REMOVE_DUPLICATES suites)
    string(REPLACE ";" ":" filter "${suites}")
    get_filename_component(name ${source} NAME_WE)
    string(REGEX REPLACE "_test$" "" name ${name})
    add_test(NAME ${label}.${name} COMMAND ${program} "--gtest_filter=${filter}")
    set_tests_properties(${label}.${name} PROPERTIES LABELS ${label} TIMEOUT 3000 COST 10 ENVIRONMENT "${LEOPARD_MPI_ENVIRONMENT}"
      FAIL_REGULAR_EXPRESSION "\\[  PASSED  \\] 0 tests") # a filter that is wrong
  endforeach()
endfunction()
