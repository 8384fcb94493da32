// Memory cut into cells that messages move whole, so that an emulator can follow every byte.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "offload/queue_program.h"
#include "sched/schedule.h"

namespace slackline::offload {

/// What stands in a cell: these bytes of this value. Nothing if the value is none().
struct CellContent {
  sched::ValueId value;
  std::uint64_t offset = 0;
  friend bool operator==(CellContent, CellContent) = default;
};

/// Cells of all buffers, numbered. Every piece of memory that the program or the contract names is
/// a run of whole cells, and a message's cells are as long as those where it lands.
class MemoryMap {
 public:
  /// Throws Unsupported above 2^24 cells.
  MemoryMap(const QueueProgram& program, const sched::Schedule& schedule);

  /// What the contract's pre facts say.
  const std::vector<CellContent>& initial() const { return initial_; }
  /// What its post facts say; nothing where they say nothing.
  const std::vector<CellContent>& expected() const { return expected_; }
  /// The cells that an entry reads, or a receive writes, by its place in the program's table.
  std::span<const std::uint32_t> local(std::uint32_t entry) const {
    return std::span(cells_).subspan(begin_[2 * entry], begin_[2 * entry + 1] - begin_[2 * entry]);
  }
  /// The cells that a write lands in.
  std::span<const std::uint32_t> remote(std::uint32_t entry) const {
    return std::span(cells_).subspan(begin_[2 * entry + 1],
                                     begin_[2 * entry + 2] - begin_[2 * entry + 1]);
  }
  /// Where the entry's cells begin if those of all entries stand one after another.
  std::uint32_t first(std::uint32_t entry) const { return begin_[2 * entry]; }
  std::size_t all() const { return cells_.size(); }
  /// The cell as people know it: "rank 3, buffer 4 at 65536".
  std::string describe(std::uint32_t cell) const;

 private:
  struct Cell {
    sched::BufferId buffer;
    sched::RankId rank;
    std::uint64_t offset;
  };
  std::vector<Cell> table_;
  std::vector<CellContent> initial_;
  std::vector<CellContent> expected_;
  std::vector<std::uint32_t> begin_;
  std::vector<std::uint32_t> cells_;
};

}  // namespace slackline::offload
