# SPDX-License-Identifier: Apache-2.0
# The graph partitioner METIS: the target METIS::METIS. Installed with the solver library, whose package needs it.
find_library(METIS_LIBRARY metis)
find_path(METIS_INCLUDE_DIRECTORY metis.h)
mark_as_advanced(METIS_LIBRARY METIS_INCLUDE_DIRECTORY)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(METIS REQUIRED_VARS METIS_LIBRARY METIS_INCLUDE_DIRECTORY)
if(METIS_FOUND AND NOT TARGET METIS::METIS)
  add_library(METIS::METIS UNKNOWN IMPORTED)
  set_target_properties(METIS::METIS PROPERTIES IMPORTED_LOCATION ${METIS_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES ${METIS_INCLUDE_DIRECTORY})
endif()
