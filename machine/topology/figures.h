// Makers of the figures of topologies.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "machine/figure_kinds.h"
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
struct CountsFigure {
  static constexpr std::string_view kExpected = "whole numbers such as [4, 2] or \"4x2\"";
  static constexpr FigureForm kForm = FigureForm::kList;
  static std::vector<std::uint32_t> read(std::string_view text, std::string_view what);
  static std::string write(const std::vector<std::uint32_t>& counts) {
    return fmt::format("{}", fmt::join(counts, "x"));
  }
};

/// A figure of `S`, an alternative of Shape. It is not written where it is 0 or empty.
template <class Kind, class S, auto member>
constexpr PlatformFigure figure_of_shape(std::string_view key,
                                         std::string_view expected = Kind::kExpected) {
  return {key,
          "network",
          key,
          expected,
          [](Platform& platform, std::string_view text, std::string_view what) {
            shape_of<S>(platform).*member = Kind::read(text, what);
          },
          [](const Platform& platform) {
            const auto& value = shape_of<S>(platform).*member;
            return value == std::remove_cvref_t<decltype(value)>{} ? std::string()
                                                                   : Kind::write(value);
          },
          Kind::kForm};
}

template <class S, std::uint32_t S::*member>
constexpr PlatformFigure count_figure(std::string_view key) {
  return figure_of_shape<CountFigure<kMaxHosts>, S, member>(key);
}

constexpr PlatformFigure link_rate_figure() {
  return meaning(
      "of a cable between switches; rate",
      rare<RateFigure, &Platform::topology, &Topology::link_rate>("link_rate", "network"));
}

constexpr PlatformFigure hop_latency_figure() {
  return meaning("of each switch after the first; 0",
                 figure<TimeFigure, &Platform::topology, &Topology::hop_latency>(
                     "hop_latency", "network", "a time such as \"100ns\""));
}

}  // namespace slackline::machine
