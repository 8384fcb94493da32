// Which files are the traces of a Chakra program: one of each rank, PREFIX.RANK.et.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace slackline::sched {

struct ChakraFiles {
  std::string prefix;
  std::uint32_t ranks = 1;  // PREFIX.0.et to PREFIX.(ranks − 1).et

  std::string of_rank(std::uint32_t rank) const;
};

/// What `path` names: any one of the files, the prefix of them, or a folder that has those of one
/// program. Nothing for a path of another kind. Throws InputError where the file of a rank is
/// missing, for a folder that has the traces of several programs, or of none.
std::optional<ChakraFiles> chakra_files(const std::string& path);

}  // namespace slackline::sched
