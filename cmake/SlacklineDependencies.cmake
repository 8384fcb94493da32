# The libraries we stand on. All are Debian packages; scripts/packages.txt lists them.
find_package(PkgConfig REQUIRED)
find_package(fmt REQUIRED)
find_package(Boost REQUIRED COMPONENTS graph)
find_package(nlohmann_json REQUIRED)
find_package(tomlplusplus REQUIRED)
find_package(Eigen3 REQUIRED)
find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)
pkg_check_modules(libsodium REQUIRED IMPORTED_TARGET libsodium)

find_path(XXHASH_INCLUDE_DIR xxhash.h REQUIRED)
add_library(slackline_xxhash INTERFACE)
target_include_directories(slackline_xxhash INTERFACE $<BUILD_INTERFACE:${XXHASH_INCLUDE_DIR}>)

find_path(PROTOZERO_INCLUDE_DIR protozero/pbf_writer.hpp REQUIRED)
add_library(slackline_protozero INTERFACE)
target_include_directories(slackline_protozero SYSTEM INTERFACE
  $<BUILD_INTERFACE:${PROTOZERO_INCLUDE_DIR}>)

pkg_check_modules(simgrid IMPORTED_TARGET simgrid>=3.32)
set(SLACKLINE_HAVE_SIMGRID ${simgrid_FOUND})
if(NOT simgrid_FOUND)
  message(STATUS "SimGrid not found: `slackline simulate --engine simgrid` will be missing "
    "(Debian: libsimgrid-dev)")
endif()

pkg_check_modules(libfabric IMPORTED_TARGET libfabric>=1.17)
set(SLACKLINE_HAVE_FABRIC ${libfabric_FOUND})
if(NOT libfabric_FOUND)
  message(STATUS "libfabric not found: the transports shm and tcp will be missing "
    "(Debian: libfabric-dev)")
endif()

if(libfabric_FOUND)
  add_library(slackline_fabric_headers INTERFACE)
  target_include_directories(slackline_fabric_headers SYSTEM INTERFACE ${libfabric_INCLUDE_DIRS})
endif()

pkg_check_modules(libibverbs IMPORTED_TARGET libibverbs)
set(SLACKLINE_HAVE_VERBS ${libibverbs_FOUND})
if(NOT libibverbs_FOUND)
  message(STATUS "libibverbs not found: the transport verbs will be missing "
    "(Debian: libibverbs-dev)")
endif()
