// Which NUMA node memory comes from: what is asked of the kernel, and what it says.
#pragma once

#include <cstddef>
#include <span>

namespace slackline::hw {

/// Asks for pages, none of which was touched, to come from the node while it has any; −1: from the
/// caller's. Where the kernel knows no nodes, or not this one, they come from anywhere.
void prefer_node(std::span<std::byte> pages, int node);

/// The node that all of the pages stand on, which were touched; −1: on several, or the kernel does
/// not say. `page_bytes`: of one of them.
int node_of(std::span<std::byte> pages, std::size_t page_bytes);

}  // namespace slackline::hw
