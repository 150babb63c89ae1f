# SPDX-License-Identifier: Apache-2.0
# What tests of MPI programs share.

# As root, on fewer cores than ranks; ranks are not bound to cores, as those of several tests would be bound to the same ones.
set(LEOPARD_MPI_ENVIRONMENT OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
  OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_hwloc_base_binding_policy=none)

set(LEOPARD_TEST_RANKS 1 2 3 4 CACHE STRING "Numbers of ranks for the tests of ranks, with semicolons; 8 on a machine with as many cores or GPUs")

# What tests of a program from outside share: it is loaded once for many starts (tests/started.py), but with sanitizers, whose libraries come first.
set(LEOPARD_STARTS_ENVIRONMENT)
if(BUILD_TESTING AND NOT LEOPARD_SANITIZER AND CMAKE_SYSTEM_NAME STREQUAL "Linux")
  add_library(leopard_fork_server MODULE tests/fork_server.cc)
  target_compile_options(leopard_fork_server PRIVATE -Wall -Wextra -Wpedantic)
  target_link_libraries(leopard_fork_server PRIVATE ${CMAKE_DL_LIBS})
  set(LEOPARD_STARTS_ENVIRONMENT LEOPARD_FORK_SERVER_LIBRARY=$<TARGET_FILE:leopard_fork_server>)
endif()

# What sanitizers leave out of the tests of a program: they look for what convergence does not show, so no studies of rates over many sizes, whose
# code other tests run; and the thread sanitizer no tests with one thread.
set(leopard_left_out)
if(LEOPARD_SANITIZER)
  set(leopard_left_out "-Aggregation.TheVCycle*:Aggregation.LevelsAre*:*MultigridConvergence.DoesNotDependOnTheSize*:*MultigridConvergence.AsyncIs*"
    "*MultigridConvergence.FactorOf*:*MultigridOldValues*:*Prediction.OfConvergence*:*Eigenvalues.*:*RealMatrixAnalysis*:*Chebyshev.Needs*"
    "*Chebyshev.Estimates*:*MomentumThatIsChosen*:AggregationOfSystems.IterationsDo*:AggregationOfSystems.FollowsStrong*"
    "*Incomplete.FactorsMakeConjugate*:*CorrectionsTest.EverySchedule*:*CorrectionsTest.ReachTheAccuracy*:*CorrectionsTest.InDoubleAreAsync*:*ManyStepsKeep*"
    "*Stencils.SolutionIsAFixedPoint*:*SinglePrecision.CyclesContract*:NearNullSpace.SmoothedProlongation*:Refinement.RealMatrices:*MixedMultigrid.Takes*"
    "AggregationOfSystems.ABasisIs*:AggregationOfSystems.BodiesThat*:AggregationOfSystems.Networks*:PrecisionChoice.IsMixedWhere*"
    "BlockAsync/Backends.EverySchedule*:TwoStage.AllContract*:Stagnation.IsNotARealMatrix*:Prediction.OfARealMatrix:Prediction.GoesOnUntil*"
    "*ReactionDiffusionMesh.StepsOfAPattern*:*ReactionDiffusionSteps.AnExplicitReaction*:ReactionDiffusionMemory*:*ExponentialSteps.AreThoseOf*/reference"
    "*ExponentialSteps.HaveOrder*:*ExponentialSteps.ErrorsFollow*:*LongCells.TakeHardly*:*MomentumBackend.SavesCycles*:P*.DoesNotDependOn*Scaling*"
    "*RanksTest.ErrorControlled*:*SlabsTest.ErrorControlled*:*MeshRanksByNode.Beside*:*ReactionDiffusionGrowth.ModesDecay*")
  if(LEOPARD_SANITIZER MATCHES "thread")
    list(APPEND leopard_left_out "*/reference:MatrixMarket*:*MultigridConvergence.WithEverySmoother*:*MultigridUpdate.StencilEqualsAFreshOne*:*ExponentialSteps.AreThoseOf*:*MultigridThreads.*/1:*MultigridThreads.*/2:*MultigridThreads.*/5"
      "NearNullSpace.TentativeProlongation*:Refinement.AMatrixThatIsToo*:DistributedStencilMultigrid.ConvergesAsFast*"
      "*MeshRanksByNode.NoiseIs*:*ReactionDiffusion.ErrorControlKeeps*:*ReactionDiffusion.OrderOfBdf3*:*ReactionDiffusionLongSteps.StepsGrow*")
  endif()
  string(REPLACE ";" ":" leopard_left_out "${leopard_left_out}")
endif()

# How programs of tests are compiled: quickly, as the library does the work. A sanitizer looks at unoptimized code as well; half of the time.
function(leopard_setup_test_program program)
  target_compile_options(${program} PRIVATE -Wall -Wextra -Wpedantic $<$<CONFIG:Release>:-O1>)
  if(LEOPARD_SANITIZER)
    target_compile_options(${program} PRIVATE -O0)
  endif()
endfunction()

# leopard_add_gtests(PROGRAM LABEL SOURCES...): for each source NAME_test.cc one test LABEL.NAME, which runs what stands there in one start of
# the program. A program that links deal.II or has a sanitizer needs 0.2 to 0.4 s of processor time to start, more than most of its tests.
function(leopard_add_gtests program label)
  foreach(source ${ARGN})
    file(STRINGS ${source} lines REGEX "^ *(TYPED_)?TEST(_F|_P)?\\(")
    if(NOT lines)
      continue()
    endif()
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
    set(tests)
    foreach(line ${lines}) # TEST, TEST_P, TYPED_TEST; a suite may have tests in several sources
      string(REGEX REPLACE "^ *[A-Z_]+\\( *([A-Za-z0-9_]+) *, *([A-Za-z0-9_]+).*" "\\1.\\2:*/\\1.\\2/*:\\1/*.\\2:*/\\1/*.\\2" test "${line}")
      list(APPEND tests "${test}")
    endforeach()
    string(REPLACE ";" ":" filter "${tests}${leopard_left_out}")
    get_filename_component(name ${source} NAME_WE)
    string(REGEX REPLACE "_test$" "" name ${name})
    add_test(NAME ${label}.${name} COMMAND ${program} "--gtest_filter=${filter}")
    set_tests_properties(${label}.${name} PROPERTIES LABELS ${label} TIMEOUT 3000 COST 10 ENVIRONMENT "${LEOPARD_MPI_ENVIRONMENT}")
    if(NOT leopard_left_out)
      set_tests_properties(${label}.${name} PROPERTIES FAIL_REGULAR_EXPRESSION "\\[  PASSED  \\] 0 tests") # a filter that is wrong
    endif()
  endforeach()
endfunction()

# leopard_include_all(PROGRAM HEADERS...): a source of the program that includes all of them together; what two define alike is an error.
function(leopard_include_all program)
  set(text "// SPDX-License-Identifier: Apache-2.0\n")
  foreach(header ${ARGN})
    cmake_path(RELATIVE_PATH header BASE_DIRECTORY ${leopard_root})
    if(header MATCHES "\\.h$")
      string(APPEND text "#include <${header}>\n")
    endif()
  endforeach()
  file(CONFIGURE OUTPUT ${program}_headers.cc CONTENT "${text}" @ONLY)
  target_sources(${program} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/${program}_headers.cc)
endfunction()
get_filename_component(leopard_root ${CMAKE_CURRENT_LIST_DIR}/.. ABSOLUTE)

# leopard_add_unit_tests(PROGRAM PREFIX LABELS SOURCES...): each test of its own, so that those that a machine without GPU skips are seen;
# with a sanitizer as leopard_add_gtests().
include(GoogleTest)
function(leopard_add_unit_tests program prefix labels)
  if(LEOPARD_SANITIZER)
    leopard_add_gtests(${program} ${prefix} ${ARGN})
  else()
    gtest_discover_tests(${program} TEST_PREFIX ${prefix}. DISCOVERY_TIMEOUT 600 PROPERTIES LABELS "${labels}" TIMEOUT 3000)
  endif()
endfunction()
