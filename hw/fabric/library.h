// libfabric, loaded when it is first needed: it brings a dozen libraries of its providers along,
// some of which look for devices and catch signals as soon as they are there, and that is not for
// programs which move no byte.
#pragma once

#include <rdma/fabric.h>

namespace slackline::hw {

/// Its calls that are functions of the library; all others go through what these return.
struct FabricLibrary {
  decltype(&::fi_getinfo) getinfo = nullptr;
  decltype(&::fi_freeinfo) freeinfo = nullptr;
  decltype(&::fi_dupinfo) dupinfo = nullptr;  // of nothing: an empty one
  decltype(&::fi_fabric) fabric = nullptr;
  decltype(&::fi_strerror) strerror = nullptr;
  decltype(&::fi_version) version = nullptr;
};

/// Loads it, the first time, and for good; cheap after that. Throws EnvironmentError if it is not
/// installed.
const FabricLibrary& load_fabric_library();

}  // namespace slackline::hw
