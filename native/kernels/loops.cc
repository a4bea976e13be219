#include "loops.h"

#include <map>
#include <utility>

namespace tapeflow {

namespace {

using Key = std::pair<std::string, DType>;

std::map<Key, Loops>& all_loops() {
  static std::map<Key, Loops> all;
  return all;
}

std::map<Key, Fold>& all_folds() {
  static std::map<Key, Fold> all;
  return all;
}

}  // namespace

void register_loops(const std::string& op, DType key, const Loops& loops) { all_loops()[{op, key}] = loops; }

const Loops* loops_of(const std::string& op, DType key) {
  const auto found = all_loops().find({op, key});
  return found == all_loops().end() ? nullptr : &found->second;
}

void register_fold(const std::string& op, DType dtype, Fold fold) { all_folds()[{op, dtype}] = fold; }

Fold fold_of(const std::string& op, DType dtype) {
  const auto found = all_folds().find({op, dtype});
  return found == all_folds().end() ? nullptr : found->second;
}

}  // namespace tapeflow
