// What waits in a switch for one link, first come first served. It is a fluid: what comes in one
// step is well mixed, and leaves before all that comes later.
#pragma once

#include <cstdint>
#include <deque>
#include <span>

namespace slackline::analysis {

/// Fewer bytes than this are rounding.
inline constexpr double kCrumbBytes = 1e-6;

/// A part of a message, on the n-th link of its way.
struct FluidPart {
  std::uint32_t message;
  std::uint32_t hop;
  double bytes;
};

class FluidQueue {
 public:
  /// To the back, mixed. There is something.
  void push(std::span<const FluidPart> parts);

  /// Takes up to `most` bytes from the front, and calls visit(part, is_whole) for each part of what
  /// it takes; `is_whole` if nothing of it stays. Returns the bytes taken, which may be a crumb
  /// more.
  template <class Visit>
  double take(double most, Visit&& visit) {
    double taken = 0;
    while (!pieces_.empty() && most - taken > 0) {
      Piece& piece = pieces_.front();
      if (piece.bytes <= most - taken + kCrumbBytes) {
        for (std::uint32_t i = 0; i < piece.parts; ++i) {
          visit(parts_.front(), true);
          parts_.pop_front();
        }
        taken += piece.bytes;
        pieces_.pop_front();
        continue;
      }
      const double share = (most - taken) / piece.bytes;
      double stays = 0;
      for (std::uint32_t i = 0; i < piece.parts; ++i) {
        FluidPart& part = parts_[i];
        const double moved = part.bytes * share;
        visit(FluidPart{part.message, part.hop, moved}, false);
        part.bytes -= moved;
        stays += part.bytes;
      }
      taken += piece.bytes - stays;
      piece.bytes = stays;
      break;
    }
    left_ += taken;
    bytes_ = pieces_.empty() ? 0 : bytes_ - taken;
    return taken;
  }

  bool empty() const { return pieces_.empty(); }
  double bytes() const { return bytes_; }
  /// All that ever came, and all that ever left.
  double entered() const { return entered_; }
  double left() const { return left_; }

 private:
  struct Piece {
    std::uint32_t parts;  // the first of those in parts_, after the pieces before it
    double bytes;
  };

  std::deque<Piece> pieces_;
  std::deque<FluidPart> parts_;
  double bytes_ = 0;
  double entered_ = 0;
  double left_ = 0;
};

}  // namespace slackline::analysis
