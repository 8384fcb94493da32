// Where this checkout lies, for tests that read its files.
#pragma once

#include <string>

namespace slackline::testing {

// The absolute path of the repository, without a slash at its end. Only source_dir.cc is compiled
// with it, so that a compiler cache finds all other tests again in another checkout.
std::string source_dir();

}  // namespace slackline::testing
