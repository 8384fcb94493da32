// The lines of PMI-1's simple wire protocol, which Hydra (mpiexec of MPICH), Flux (its RFC 13) and
// Slurm's plugin pmi2 speak with the processes that they start: "cmd=get_maxes", answered by
// "cmd=maxes rc=0 kvsname_max=256 keylen_max=64 vallen_max=1024".
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace slackline::hw {

/// Bytes that an answer may have, its line feed included. Launchers themselves take 1 or 2 KiB.
inline constexpr std::size_t kMostPmi1Line = 4096;

/// "cmd=NAME key=value …", with the line feed. Values must have no white space.
std::string pmi1_command(
    std::string_view name,
    std::initializer_list<std::pair<std::string_view, std::string_view>> values = {});

/// A launcher's answer. What it holds may be secret, so that no error repeats any of it but
/// numbers.
class Pmi1Answer {
 public:
  /// Takes an answer to `asked` ("get") apart, without its line feed. Throws EnvironmentError if it
  /// is not `expected` ("get_result"), tells of a failure, or is no line of the protocol.
  Pmi1Answer(std::string line, std::string_view asked, std::string_view expected);

  /// The value of a key that must stand there, once and not empty. Throws EnvironmentError.
  std::string_view value(std::string_view key) const;
  /// The same of a whole number. Throws EnvironmentError.
  std::uint32_t number(std::string_view key) const;

 private:
  [[noreturn]] void refuse(std::string_view why) const;
  /// Empty where it does not stand. Throws EnvironmentError if it stands twice.
  std::string_view find(std::string_view key) const;

  std::string line_;
  std::string asked_;
};

}  // namespace slackline::hw
