#include "hw/fabric/library.h"

#include <stdlib.h>

#include "hw/fabric/kept_signals.h"
#include "hw/shared_library.h"

namespace slackline::hw {
namespace {

FabricLibrary load() {
  // The libraries of two providers would write files of their own when a process is ended by a
  // signal.
  setenv("IPATH_NO_BACKTRACE", "1", 0);
  setenv("HFI_NO_BACKTRACE", "1", 0);
  // Small messages that come before their receive: with its usual 4 of them, net leaves whatever
  // their sender sends after them unread, answers to gets and atomics too.
  setenv("FI_NET_MAX_SAVED", "1000000", 0);
  const KeptSignals kept;
  const SharedLibrary library("libfabric", "libfabric.so.1", "1.17 or later (Debian: libfabric1)");
  FabricLibrary calls;
  library.find("fi_getinfo", calls.getinfo);
  library.find("fi_freeinfo", calls.freeinfo);
  library.find("fi_dupinfo", calls.dupinfo);
  library.find("fi_fabric", calls.fabric);
  library.find("fi_strerror", calls.strerror);
  library.find("fi_version", calls.version);
  return calls;
}

}  // namespace

const FabricLibrary& load_fabric_library() {
  static const FabricLibrary library = load();
  return library;
}

}  // namespace slackline::hw
