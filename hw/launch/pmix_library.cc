#include "hw/launch/pmix_library.h"

#include "hw/shared_library.h"

namespace slackline::hw {

PmixLibrary load_pmix_library() {
  const SharedLibrary library("PMIx", "libpmix.so.2", "2.0 or later (Debian: libpmix2)");
  PmixLibrary calls;
  library.find("PMIx_Init", calls.init);
  library.find("PMIx_Put", calls.put);
  library.find("PMIx_Commit", calls.commit);
  library.find("PMIx_Fence", calls.fence);
  library.find("PMIx_Get", calls.get);
  library.find("PMIx_Finalize", calls.finalize);
  library.find("PMIx_Error_string", calls.error_text);
  return calls;
}

}  // namespace slackline::hw
