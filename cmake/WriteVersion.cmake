# SPDX-License-Identifier: Apache-2.0
# Run at build time: writes OUTPUT with VERSION and the commit of SOURCE, only if that changes it.
execute_process(COMMAND git -C ${SOURCE} describe --always --dirty OUTPUT_VARIABLE commit
                OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE status)
if(NOT status STREQUAL "0")
  set(commit unknown)
endif()
set(text "#include <leopard/version.h>\nconst char *leopard::version() { return \"${VERSION}\"; }\nconst char *leopard::git_commit() { return \"${commit}\"; }\n")
set(old "")
if(EXISTS ${OUTPUT})
  file(READ ${OUTPUT} old)
endif()
if(NOT old STREQUAL text)
  file(WRITE ${OUTPUT} "${text}")
endif()
