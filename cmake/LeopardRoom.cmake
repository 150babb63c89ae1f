# SPDX-License-Identifier: Apache-2.0
# The sources of a folder, for rooms with CUDA files.
include_guard(GLOBAL)

# Sets result to the sources of a folder: *.cc, and *.cu or the stubs *_stub.cc that stand in for them without CUDA.
function(leopard_room_sources result folder)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.cc)
  if(LEOPARD_WITH_CUDA)
    list(FILTER sources EXCLUDE REGEX "_stub\\.cc$")
    file(GLOB cuda_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.cu)
    list(APPEND sources ${cuda_sources})
  endif()
  set(${result} ${sources} PARENT_SCOPE)
endfunction()

# What a target with CUDA files needs.
function(leopard_setup_cuda target)
  if(NOT LEOPARD_WITH_CUDA)
    return()
  endif()
  set_target_properties(${target} PROPERTIES CUDA_STANDARD 17 CUDA_STANDARD_REQUIRED ON CUDA_ARCHITECTURES "${LEOPARD_CUDA_ARCHITECTURES}")
  # kernels go to a stream of the calling thread, not to the legacy stream, so that they can be recorded in CUDA graphs
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:--default-stream=per-thread>)
endfunction()
