#include "machine/topology/checks.h"

#include <fmt/format.h>

#include "base/error.h"

namespace slackline::machine {

void require_given(std::uint32_t count, std::string_view key, std::string_view what) {
  if (count > 0) return;
  throw InputError(
      fmt::format("{}: {} is missing; expected a whole number from 1 to {}", what, key, kMaxHosts));
}

std::uint32_t host_product(std::span<const std::uint32_t> factors, std::string_view what) {
  std::uint64_t product = 1;
  for (const std::uint32_t factor : factors) {
    product *= factor;
    if (product > kMaxHosts) {
      throw InputError(fmt::format("{}: too many hosts; expected at most {}", what, kMaxHosts));
    }
  }
  return static_cast<std::uint32_t>(product);
}

std::uint32_t host_product(std::initializer_list<std::uint32_t> factors, std::string_view what) {
  return host_product(std::span(factors.begin(), factors.size()), what);
}

void require_few_nics(std::uint32_t hosts, const Platform& platform, std::string_view what) {
  const Rails& rails = platform.node.rails;
  if (!rails.are_several() || std::uint64_t{hosts} * rails.count <= kMaxHosts) return;
  throw InputError(
      fmt::format("{}: too many NICs: {} hosts with {} rails each; expected at most {}", what,
                  hosts, rails.count, kMaxHosts));
}

void require_few_links(double inner_links, std::string_view what) {
  if (inner_links <= kMaxInnerLinks) return;
  throw InputError(fmt::format("{}: too many links between switches; expected at most {}", what,
                               kMaxInnerLinks));
}

}  // namespace slackline::machine
