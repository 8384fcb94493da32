#include "analysis/synthesis/term_sets.h"

#include <cstddef>

namespace slackline::analysis {

TermSets::TermSets(std::uint32_t terms) : terms_(terms) { number_of(Words((terms + 63) / 64)); }

std::uint32_t TermSets::of(std::uint32_t term) {
  Words words(sets_.front().size());
  words[term / 64] = std::uint64_t{1} << (term % 64);
  return number_of(std::move(words));
}

std::uint32_t TermSets::all() {
  Words words(sets_.front().size());
  for (std::uint32_t t = 0; t < terms_; ++t) words[t / 64] |= std::uint64_t{1} << (t % 64);
  return number_of(std::move(words));
}

std::uint32_t TermSets::number_of(Words words) {
  const auto [found, added] =
      numbers_.try_emplace(std::move(words), static_cast<std::uint32_t>(sets_.size()));
  if (added) sets_.push_back(found->first);
  return found->second;
}

const TermSets::Pair& TermSets::pair(std::uint32_t a, std::uint32_t b) {
  const auto found = pairs_.find({a, b});
  if (found != pairs_.end()) return found->second;
  Words words = sets_[a];
  bool apart = true;
  for (std::size_t w = 0; w < words.size(); ++w) {
    apart = apart && (words[w] & sets_[b][w]) == 0;
    words[w] |= sets_[b][w];
  }
  return pairs_.emplace(std::pair(a, b), Pair{number_of(std::move(words)), apart}).first->second;
}

}  // namespace slackline::analysis
