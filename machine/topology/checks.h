// What the checks of several topologies have in common. Each throws InputError, naming `what`.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>

#include "machine/platform.h"

namespace slackline::machine {

/// Refuses a count of 0, which a figure has that was not given.
void require_given(std::uint32_t count, std::string_view key, std::string_view what);

/// The product of the factors. Refuses more than kMaxHosts.
std::uint32_t host_product(std::span<const std::uint32_t> factors, std::string_view what);
std::uint32_t host_product(std::initializer_list<std::uint32_t> factors, std::string_view what);

/// Refuses more than kMaxInnerLinks.
void require_few_links(double inner_links, std::string_view what);

/// Refuses more than kMaxHosts NICs of so many hosts, where a host has several.
void require_few_nics(std::uint32_t hosts, const Platform& platform, std::string_view what);

/// The rate of one cable between two switches, when nothing closer says it.
inline Rate cable_rate(const Platform& platform) {
  return platform.topology.link_rate.bits_per_second != 0 ? platform.topology.link_rate
                                                          : platform.rate;
}

}  // namespace slackline::machine
