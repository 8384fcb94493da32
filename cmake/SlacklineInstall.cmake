# find_package(slackline) and pkg-config from another project: `cmake --install` puts the libraries,
# their public headers (under include/slackline, so that `#include "sched/schedule.h"` reads there as
# here) and the package files in place.
include(CMakePackageConfigHelpers)

set(SLACKLINE_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/slackline)
get_property(slackline_targets GLOBAL PROPERTY SLACKLINE_LIBRARIES)

# slackline_needs(TARGET RESULT): the libraries of ours that the target needs, those first that others
# need.
function(slackline_needs target result)
  set(needs "")
  get_target_property(linked ${target} INTERFACE_LINK_LIBRARIES)
  foreach(one IN LISTS linked)
    if(one IN_LIST slackline_targets)
      slackline_needs(${one} deeper)
      string(REPLACE slackline_ "" folder ${one})
      list(APPEND needs ${deeper} ${folder})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES needs)
  set(${result} "${needs}" PARENT_SCOPE)
endfunction()

# From the folder of the .pc files to the prefix.
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX
  BASE_DIRECTORY ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig OUTPUT_VARIABLE SLACKLINE_PC_PREFIX)

# What libraries of ours take from others' packages, as pkg-config calls them.
set(slackline_requires_base fmt)
set(slackline_requires_machine tomlplusplus)
set(slackline_requires_sim simgrid)
set(slackline_requires_hw libsodium)
if(SLACKLINE_HAVE_VERBS)
  list(APPEND slackline_requires_hw libibverbs)
endif()

set(slackline_public_headers "")

# One export file per library, so that a missing dependency takes away only what needs it.
set(SLACKLINE_COMPONENTS "")
set(SLACKLINE_NEEDS "")
foreach(target IN LISTS slackline_targets)
  string(REPLACE slackline_ "" folder ${target})
  list(APPEND SLACKLINE_COMPONENTS ${folder})
  get_target_property(headers ${target} HEADER_SET)
  list(APPEND slackline_public_headers ${headers})
  slackline_needs(${target} needs)
  string(APPEND SLACKLINE_NEEDS "set(slackline_needs_${folder} ${needs})\n")
  install(TARGETS ${target} EXPORT slackline-${folder}
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev
    FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/slackline COMPONENT dev)
  install(EXPORT slackline-${folder} NAMESPACE slackline:: FILE slackline-${folder}.cmake
    DESTINATION ${SLACKLINE_PACKAGE_DIR} COMPONENT dev)

  list(TRANSFORM needs PREPEND slackline- OUTPUT_VARIABLE SLACKLINE_REQUIRES)
  list(APPEND SLACKLINE_REQUIRES ${slackline_requires_${folder}})
  list(JOIN SLACKLINE_REQUIRES ", " SLACKLINE_REQUIRES)
  set(SLACKLINE_FOLDER ${folder})
  configure_file(${CMAKE_CURRENT_LIST_DIR}/slackline.pc.in
    ${PROJECT_BINARY_DIR}/slackline-${folder}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/slackline-${folder}.pc
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)
endforeach()

# For scripts/site, which has a page for each.
list(TRANSFORM slackline_public_headers REPLACE "^${PROJECT_SOURCE_DIR}/" "")
list(JOIN slackline_public_headers "\n" slackline_public_headers)
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/public_headers.txt CONTENT
  "${slackline_public_headers}\n")

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/slacklineConfig.cmake.in
  ${PROJECT_BINARY_DIR}/slacklineConfig.cmake INSTALL_DESTINATION ${SLACKLINE_PACKAGE_DIR})
# Before 1.0 each minor version may change the interface.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/slacklineConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/slacklineConfig.cmake
  ${PROJECT_BINARY_DIR}/slacklineConfigVersion.cmake DESTINATION ${SLACKLINE_PACKAGE_DIR}
  COMPONENT dev)

if(TARGET slackline)
  install(TARGETS slackline RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
  # Where each shell looks.
  set(completion ${PROJECT_SOURCE_DIR}/cli/completion)
  install(FILES ${completion}/slackline.bash RENAME slackline COMPONENT program
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES ${completion}/_slackline COMPONENT program
    DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
  install(FILES ${completion}/slackline.fish COMPONENT program
    DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
  include(SlacklineManPages)
endif()
# As they lie here, so that their links to each other hold.
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md
  DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT doc)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT doc
  FILES_MATCHING PATTERN "*.md" PATTERN site EXCLUDE)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT doc
  FILES_MATCHING PATTERN "*.cc" PATTERN "*.h" PATTERN "*.py" PATTERN "*.ipynb")
if(SLACKLINE_PACKAGES)
  include(SlacklinePackages)
else()
  # Debian's packages have a notice of their own, which says where the licence stands.
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT doc)
endif()
