// The options that say which of its ready operations a lane posts next.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cli/arguments.h"
#include "machine/issue_policy.h"

namespace slackline::cli {

class OrderOptions {
 public:
  void declare(Arguments& arguments);
  /// Both throw InputError.
  machine::IssuePolicy policy() const;
  std::uint32_t sends_in_flight() const;
  /// The first of these options that was given, as in "--policy"; empty if none was.
  std::string_view given() const;

 private:
  std::optional<std::string> policy_, sends_in_flight_;
};

}  // namespace slackline::cli
