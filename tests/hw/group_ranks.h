// Processes that are members of groups, and tell the test what they see.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "hw/group.h"
#include "hw/transports.h"
#include "tests/hw/local_ranks.h"
#include "tests/hw/mesh_ranks.h"
#include "tests/hw/mortal_transport.h"

namespace slackline::testing {

/// A rank's mesh and groups. Its process may be told to die or to stop (mortal_transport.h).
struct GroupRank {
  hw::Mesh mesh;
  hw::Groups groups;

  GroupRank(const hw::MeshOptions& options, const std::string& provider,
            const hw::GroupsOptions& group_options)
      : mesh(options),
        groups(
            mesh,
            [provider] {
              return std::make_unique<MortalTransport>(
                  hw::make_transport(provider, transport_options(provider)));
            },
            group_options) {}

  std::uint32_t rank() const { return mesh.rank(); }

 private:
  static hw::TransportOptions transport_options(const std::string& provider) {
    hw::TransportOptions options;
    if (provider != "shm") options.host = "127.0.0.1";
    return options;
  }
};

/// Quick to sleep: the machine may have fewer cores than there are ranks.
inline hw::GroupsOptions quick_groups() {
  hw::GroupsOptions options;
  options.poll_for = std::chrono::microseconds(500);
  return options;
}

/// "EXIT_CODE MESSAGE" of the error that is thrown.
inline std::string refusal(const std::function<void()>& does) {
  try {
    does();
    return "nothing was refused";
  } catch (const Error& error) {
    return fmt::format("{} {}", error.exit_code(), error.what());
  }
}

/// The bytes of a message, by which it is told from every other: the same at all ranks.
inline std::byte message_byte(std::uint64_t message, std::size_t offset) {
  std::uint64_t x = (message + 1) * 0x9e3779b97f4a7c15u + offset / 8;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return static_cast<std::byte>(x >> (8 * (offset % 8)) & 0xff);
}

inline std::vector<std::byte> make_message(std::uint64_t message, std::size_t bytes) {
  std::vector<std::byte> made(bytes);
  for (std::size_t i = 0; i < bytes; ++i) made[i] = message_byte(message, i);
  return made;
}

inline bool is_message(std::span<const std::byte> bytes, std::uint64_t message) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] != message_byte(message, i)) return false;
  }
  return true;
}

/// One group's messages at one rank: gives memory for each, and looks at what came.
class Receiver {
 public:
  /// `first`: the number of the group's first message.
  explicit Receiver(std::uint64_t first) : first_(first) {}

  hw::GroupCallbacks callbacks() {
    return {
        .incoming =
            [this](std::size_t bytes) {
              buffers_.emplace_back(bytes + 2 * kGuard, std::byte{0xee});
              return std::span(buffers_.back()).subspan(kGuard, bytes);
            },
        .completion =
            [this](std::span<std::byte> message) {
              if (!is_message(message, first_ + sizes_.size())) ++wrong_;
              sizes_.push_back(message.size());
            },
        .failure = [this](std::uint32_t rank) { failures_.push_back(rank); },
    };
  }

  /// "3 messages of 0 1 2 bytes", and what was wrong.
  std::string text() const {
    std::string text = fmt::format("{} messages:", sizes_.size());
    for (const std::size_t size : sizes_) text += fmt::format(" {}", size);
    if (wrong_ != 0) text += fmt::format("; {} WRONG", wrong_);
    for (const auto& buffer : buffers_) {
      for (std::size_t i = 0; i < kGuard; ++i) {
        if (buffer[i] != std::byte{0xee} || buffer[buffer.size() - 1 - i] != std::byte{0xee}) {
          text += "; BEYOND ITS MEMORY";
          break;
        }
      }
    }
    return text;
  }
  std::size_t messages() const { return sizes_.size(); }
  bool all_right() const { return wrong_ == 0; }
  const std::vector<std::uint32_t>& failures() const { return failures_; }
  std::vector<std::vector<std::byte>>& buffers() { return buffers_; }

 private:
  static constexpr std::size_t kGuard = 64;
  std::uint64_t first_;
  std::vector<std::vector<std::byte>> buffers_;
  std::vector<std::size_t> sizes_;
  std::vector<std::uint32_t> failures_;
  int wrong_ = 0;
};

}  // namespace slackline::testing
