# Debian packages by CPack, one for each component of what is installed. scripts/package configures
# this, with Debian's flags and the prefix /usr.
if(NOT CMAKE_INSTALL_PREFIX STREQUAL "/usr")
  message(FATAL_ERROR
    "SLACKLINE_PACKAGES with CMAKE_INSTALL_PREFIX ${CMAKE_INSTALL_PREFIX}; expected /usr")
endif()
set(SLACKLINE_MAINTAINER "" CACHE STRING "Who answers for the packages: NAME <ADDRESS>")
set(SLACKLINE_PACKAGE_DATE "" CACHE STRING "Of the changelog, as `date -R` writes it")
if(NOT SLACKLINE_MAINTAINER MATCHES "^[^<>]+ <[^<>@]+@[^<>@]+>$")
  message(FATAL_ERROR "SLACKLINE_MAINTAINER is '${SLACKLINE_MAINTAINER}', expected NAME <ADDRESS>")
endif()
if(NOT SLACKLINE_PACKAGE_DATE)
  message(FATAL_ERROR "SLACKLINE_PACKAGE_DATE is empty, expected a date as `date -R` writes it")
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL ${SLACKLINE_INSTALL_COMPONENTS})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")  # each has its own
set(CPACK_PACKAGE_CONTACT "${SLACKLINE_MAINTAINER}")
set(CPACK_DEBIAN_PACKAGE_RELEASE 0deb12)  # below what Debian itself would begin with
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(slackline_version ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})

find_program(GZIP_PROGRAM gzip REQUIRED)
set(slackline_notices ${PROJECT_BINARY_DIR}/debian)
configure_file(${CMAKE_CURRENT_LIST_DIR}/debian/changelog.in ${slackline_notices}/changelog @ONLY)
execute_process(COMMAND ${GZIP_PROGRAM} --best --no-name --stdout ${slackline_notices}/changelog
  OUTPUT_FILE ${slackline_notices}/changelog.Debian.gz COMMAND_ERROR_IS_FATAL ANY)

# slackline_package(COMPONENT NAME SECTION SUMMARY TEXT): the package NAME of the component, with the
# notices that each package has. Lines of TEXT have 79 characters at most.
macro(slackline_package component name section summary text)
  install(FILES ${CMAKE_CURRENT_LIST_DIR}/debian/copyright ${slackline_notices}/changelog.Debian.gz
    DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${name} COMPONENT ${component})
  string(TOUPPER ${component} slackline_key)
  set(CPACK_DEBIAN_${slackline_key}_PACKAGE_NAME ${name})
  set(CPACK_DEBIAN_${slackline_key}_PACKAGE_SECTION ${section})
  set(CPACK_DEBIAN_${slackline_key}_DESCRIPTION "${summary}\n${text}")
endmacro()

set(slackline_what "Slackline compiles a named pattern of communication, such as a multicast, to
one dataflow graph of sends, receives and copies. It proves that graph,
simulates and predicts its time on a network, finds its slack, and carries it
out for real.
")

slackline_package(program slackline science "laboratory for RDMA schedules"
  "${slackline_what}
This package has the program.")
# Loaded, or called, when they are needed; without one, the program says which it misses.
set(CPACK_DEBIAN_PROGRAM_PACKAGE_RECOMMENDS "libfabric1, ibverbs-providers")
string(CONCAT CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS "gnuplot-nox, graphviz, iproute2, libpmix2, nftables, "
  "openmpi-bin | mpich, openssh-client, python3-slackline, qemu-system-x86, slackline-doc, "
  "slurm-client, xdg-utils")

slackline_package(dev libslackline-dev libdevel "laboratory for RDMA schedules - libraries"
  "${slackline_what}
This package has the static libraries, their headers, and what find_package()
of CMake and pkg-config need.")
math(EXPR slackline_next_fmt "${fmt_VERSION_MAJOR} + 1")
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "libfmt-dev (>= ${fmt_VERSION_MAJOR}), \
libfmt-dev (<< ${slackline_next_fmt}), libsodium-dev, libtomlplusplus-dev, pkg-config")
if(SLACKLINE_HAVE_SIMGRID)
  string(APPEND CPACK_DEBIAN_DEV_PACKAGE_DEPENDS ", libsimgrid-dev")
endif()
if(SLACKLINE_HAVE_VERBS)
  string(APPEND CPACK_DEBIAN_DEV_PACKAGE_DEPENDS ", libibverbs-dev")
endif()
# For what few headers need, and what is loaded when it is needed.
set(CPACK_DEBIAN_DEV_PACKAGE_SUGGESTS "libboost-graph-dev, libeigen3-dev, libfabric1, slackline-doc")

slackline_package(doc slackline-doc doc "laboratory for RDMA schedules - documentation"
  "${slackline_what}
This package has the tutorial, the user guide, the design and the examples, as
Markdown and sources.")
set(CPACK_DEBIAN_DOC_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_DOC_PACKAGE_SHLIBDEPS OFF)

if(TARGET slackline_python)
  slackline_package(python python3-slackline python "laboratory for RDMA schedules - Python"
    "${slackline_what}
This package has the libraries as a package for Python 3.")
  slackline_ask_python("import sys; print('%d.%d' % sys.version_info[:2])" slackline_python_version)
  slackline_ask_python("import sys; print('%d.%d' % (sys.version_info[0], sys.version_info[1] + 1))"
    slackline_next_python)
  set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS "python3 (>= ${slackline_python_version}), \
python3 (<< ${slackline_next_python}), python3-numpy")
  # Real runs are the program's, whose answers must be those that the package knows.
  set(CPACK_DEBIAN_PYTHON_PACKAGE_RECOMMENDS "slackline (= ${slackline_version})")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_SUGGESTS "python3-pandas, python3-tqdm, slackline-doc")
  # What Python compiles on its own would be left behind.
  set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA
    "${CMAKE_CURRENT_LIST_DIR}/debian/postinst;${CMAKE_CURRENT_LIST_DIR}/debian/prerm")
endif()

# All that is installed, and nothing else: examples are not.
add_custom_target(slackline_installed)
add_dependencies(slackline_installed slackline slackline_man_pages ${slackline_targets})
if(TARGET slackline_python)
  add_dependencies(slackline_installed slackline_python)
endif()

include(CPack)
