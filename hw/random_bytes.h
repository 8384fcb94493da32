// Bytes that nobody can guess.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace slackline::hw {

/// Fills it with bytes that the kernel draws. Throws EnvironmentError where it draws none.
void draw_bytes(std::span<std::byte> bytes);

/// 64 bits of them.
std::uint64_t drawn_number();

}  // namespace slackline::hw
