// Makers of the figures of topologies. `S` is the alternative of Shape that a figure belongs to.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "machine/delay_values.h"
#include "machine/platform_figures.h"

namespace slackline::machine {

template <class S>
S& shape_of(Platform& platform) {
  return std::get<S>(platform.topology.shape);
}
template <class S>
const S& shape_of(const Platform& platform) {
  return std::get<S>(platform.topology.shape);
}

/// "4x4x2": whole numbers from 1 to kMaxHosts, at most 20 of them. Throws InputError.
std::vector<std::uint32_t> parse_counts(std::string_view text, std::string_view what);

template <class S, std::uint32_t S::*member>
constexpr PlatformFigure count_figure(std::string_view key) {
  return {key,
          "network",
          key,
          "a whole number such as 16",
          [](Platform& platform, std::string_view text, std::string_view what) {
            shape_of<S>(platform).*member =
                static_cast<std::uint32_t>(sched::parse_count(text, what, 1, kMaxHosts));
          },
          [](const Platform& platform) {
            const std::uint32_t count = shape_of<S>(platform).*member;
            return count == 0 ? std::string() : fmt::format("{}", count);
          },
          FigureForm::kWhole};
}

template <class S, std::vector<std::uint32_t> S::*member>
constexpr PlatformFigure counts_figure(std::string_view key) {
  return {key,
          "network",
          key,
          "whole numbers such as [4, 2] or \"4x2\"",
          [](Platform& platform, std::string_view text, std::string_view what) {
            shape_of<S>(platform).*member = parse_counts(text, what);
          },
          [](const Platform& platform) {
            return fmt::format("{}", fmt::join(shape_of<S>(platform).*member, "x"));
          },
          FigureForm::kList};
}

/// A rate that is not written when it is 0.
template <class S, Rate S::*member>
constexpr PlatformFigure rate_of_shape(std::string_view key) {
  return {key,
          "network",
          key,
          "a rate such as \"100Gbps\"",
          [](Platform& platform, std::string_view text, std::string_view what) {
            shape_of<S>(platform).*member = sched::parse_rate(text, what);
          },
          [](const Platform& platform) {
            const Rate rate = shape_of<S>(platform).*member;
            return rate.bits_per_second == 0 ? std::string() : sched::format_rate(rate);
          }};
}

PlatformFigure constexpr link_rate_figure() {
  return meaning("of a cable between switches; rate",
                 {"link_rate", "network", "link_rate", "a rate such as \"100Gbps\"",
                  [](Platform& platform, std::string_view text, std::string_view what) {
                    platform.topology.link_rate = sched::parse_rate(text, what);
                  },
                  [](const Platform& platform) {
                    const Rate rate = platform.topology.link_rate;
                    return rate.bits_per_second == 0 ? std::string() : sched::format_rate(rate);
                  }});
}

PlatformFigure constexpr hop_latency_figure() {
  return meaning(
      "of each switch after the first; 0",
      {"hop_latency", "network", "hop_latency", "a time such as \"100ns\"",
       [](Platform& platform, std::string_view text, std::string_view what) {
         platform.topology.hop_latency = parse_finite_time(text, what);
       },
       [](const Platform& platform) { return sched::format_time(platform.topology.hop_latency); }});
}

}  // namespace slackline::machine
