# What docs/versions.md says of find_package: a program that asks for a version gets a later patch of the
# same minor version, and no other.
#
# -D BUILD_DIR=…
include(${BUILD_DIR}/slacklineConfigVersion.cmake)
string(REGEX MATCH "^([0-9]+)\\.([0-9]+)\\.([0-9]+)$" matched "${PACKAGE_VERSION}")
if(NOT matched)
  message(FATAL_ERROR "the version is '${PACKAGE_VERSION}', expected MAJOR.MINOR.PATCH")
endif()
set(major ${CMAKE_MATCH_1})
set(minor ${CMAKE_MATCH_2})
set(patch ${CMAKE_MATCH_3})
math(EXPR next_major "${major} + 1")
math(EXPR next_minor "${minor} + 1")
math(EXPR next_patch "${patch} + 1")

# check(VERSION EXPECTED): whether a project that asks for it gets this package.
function(check version expected)
  set(PACKAGE_FIND_VERSION ${version})
  string(REPLACE "." ";" parts ${version})
  list(GET parts 0 PACKAGE_FIND_VERSION_MAJOR)
  list(GET parts 1 PACKAGE_FIND_VERSION_MINOR)
  set(PACKAGE_VERSION_COMPATIBLE FALSE)
  include(${BUILD_DIR}/slacklineConfigVersion.cmake)
  if(NOT PACKAGE_VERSION_COMPATIBLE STREQUAL expected)
    message(FATAL_ERROR "find_package(slackline ${version}) of ${PACKAGE_VERSION}: "
      "'${PACKAGE_VERSION_COMPATIBLE}', expected ${expected}")
  endif()
endfunction()

check(${major}.${minor} TRUE)
check(${major}.${minor}.${patch} TRUE)
check(${major}.${minor}.${next_patch} FALSE)
check(${major}.${next_minor} FALSE)
check(${next_major}.${minor} FALSE)
if(minor GREATER 0)
  math(EXPR last_minor "${minor} - 1")
  check(${major}.${last_minor} FALSE)
endif()
