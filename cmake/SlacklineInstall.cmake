# find_package(slackline) from another project: `cmake --install` puts the libraries, the headers
# (under include/slackline, so that `#include "sched/schedule.h"` reads there as here) and the
# package files in place.
include(CMakePackageConfigHelpers)

set(SLACKLINE_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/slackline)

# One export file per library, so that a missing dependency takes away only what needs it.
get_property(slackline_targets GLOBAL PROPERTY SLACKLINE_LIBRARIES)
set(SLACKLINE_COMPONENTS "")
foreach(target IN LISTS slackline_targets)
  string(REPLACE slackline_ "" folder ${target})
  list(APPEND SLACKLINE_COMPONENTS ${folder})
  install(TARGETS ${target} EXPORT slackline-${folder} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(EXPORT slackline-${folder} NAMESPACE slackline:: FILE slackline-${folder}.cmake
    DESTINATION ${SLACKLINE_PACKAGE_DIR})
  # Headers that include a library which only our sources need are private (scripts/check-includes).
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.h)
  foreach(header IN LISTS headers)
    file(STRINGS ${header} private REGEX "^#include <(asio|boost|CLI|Eigen|infiniband|nlohmann|rdma|simgrid|toml|xbt)/")
    if(NOT private)
      cmake_path(RELATIVE_PATH header BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE path)
      cmake_path(GET path PARENT_PATH directory)
      install(FILES ${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/slackline/${directory})
    endif()
  endforeach()
endforeach()

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/slacklineConfig.cmake.in
  ${PROJECT_BINARY_DIR}/slacklineConfig.cmake INSTALL_DESTINATION ${SLACKLINE_PACKAGE_DIR})
# Before 1.0 each minor version may change the interface.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/slacklineConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/slacklineConfig.cmake
  ${PROJECT_BINARY_DIR}/slacklineConfigVersion.cmake DESTINATION ${SLACKLINE_PACKAGE_DIR})

if(TARGET slackline)
  install(TARGETS slackline RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/README.md
  DESTINATION ${CMAKE_INSTALL_DOCDIR})
