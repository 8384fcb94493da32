#include "tests/support/source_dir.h"

namespace slackline::testing {

std::string source_dir() { return SLACKLINE_SOURCE_DIR; }

}  // namespace slackline::testing
