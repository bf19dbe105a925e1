#include "hypertape/tape/partition.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <unordered_map>

namespace hypertape {
namespace {

// Fewer rows than this would not fill a register of eight lanes.
constexpr std::size_t fewest_rows = 8;
// A shorter sum is left in the expression that it is part of: rows may be made of such sums.
constexpr std::size_t fewest_addends = 16;
// A cluster with more results than this is a whole function rather than a row of one.
constexpr std::size_t most_results = 1000;
// Opening sums shows others inside them. Nested loops go three deep as a rule; twice that.
constexpr int most_passes = 6;

constexpr int nobody = -1;

std::uint64_t mixed(std::uint64_t hash, std::uint64_t with) {
  hash = (hash ^ with) * 0x9e3779b97f4a7c15u;
  return hash ^ (hash >> 29);
}

class Partitioner {
 public:
  explicit Partitioner(const Recording& recording) : r_(recording), size_(recording.result + 1) {}

  Partition run() {
    count_uses();
    open(r_.result);
    for (int pass = 0; pass < most_passes; ++pass) {
      find_shared_addends();
      find_clusters();
      find_owners();
      group_rows();
      if (!open_sums_in_what_does_not_repeat()) break;
    }
    return result();
  }

 private:
  using Operand = Recording::Operand;
  struct Addend {
    Operand operand;
    int sign;
  };
  struct Sum {
    int root;
    std::vector<Addend> addends;
  };
  /// Rows found alike: of a sum, or values of one level.
  struct Alike {
    int sum, level;
    std::vector<int> shape;  // as explore writes it
    std::vector<int> roots, signs;
  };

  static auto& at(auto& v, int n) { return v[static_cast<std::size_t>(n)]; }
  Op op(int n) const { return at(r_.ops, n); }
  bool is_sum_like(Operand n) const { return n >= 0 && (op(n) == Op::add || op(n) == Op::sub); }

  /// A node that is computed, and not part of an opened sum.
  bool is_inner(Operand n) const { return n >= r_.inputs() && at(sum_of_, n) == nobody; }
  template <class F>
  void for_arguments(int n, const F& f) const {
    for (int k = 0; k < arity(op(n)); ++k) f(r_.argument(n, k));
  }

  void count_uses() {
    const auto size = static_cast<std::size_t>(size_);
    reached_.assign(size, 0);
    uses_.assign(size, 0);
    weight_.assign(size, 1);
    depends_.assign(size, 0);
    sum_of_.assign(size, nobody);
    local_.assign(size, nobody);
    at(reached_, r_.result) = 1;
    for (int n = r_.result; n >= 0; --n)
      if (at(reached_, n))
        for_arguments(n, [&](Operand a) {
          if (a < 0) return;
          at(reached_, a) = 1;
          ++at(uses_, a);
        });
    for (int n = 0; n < size_; ++n) {
      if (op(n) == Op::input) at(depends_, n) = n < r_.dims.x ? 1 : 2;
      for_arguments(n, [&](Operand a) {
        if (a < 0) return;
        at(weight_, n) += at(weight_, a);
        at(depends_, n) |= at(depends_, a);
      });
    }
  }

  /// Makes the chain of additions below n a sum, if it is long. It goes on where most of the work is.
  bool open(int n) {
    std::vector<int> chain;
    Sum sum{n, {}};
    Addend next{n, 1};
    while (is_sum_like(next.operand) && at(sum_of_, next.operand) == nobody &&
           (next.operand == n || at(uses_, next.operand) == 1)) {
      const int node = next.operand;
      Addend a{r_.argument(node, 0), next.sign};
      Addend b{r_.argument(node, 1), op(node) == Op::sub ? -next.sign : next.sign};
      if (a.operand == b.operand) break;
      chain.push_back(node);
      const auto goes_on = [&](Operand m) { return is_sum_like(m) && at(uses_, m) == 1; };
      if (goes_on(b.operand) && (!goes_on(a.operand) || at(weight_, b.operand) > at(weight_, a.operand)))
        std::swap(a, b);
      sum.addends.push_back(b);
      next = a;
      // A sum of several addends outweighs each of them: this is the first addend, which may be an addition itself.
      if (b.operand >= 0 && a.operand >= 0 && at(weight_, a.operand) <= at(weight_, b.operand)) break;
    }
    sum.addends.push_back(next);
    if (chain.empty() || sum.addends.size() < fewest_addends) return false;
    std::reverse(sum.addends.begin(), sum.addends.end());
    for (const int node : chain) at(sum_of_, node) = static_cast<int>(sums_.size());
    sums_.push_back(std::move(sum));
    return true;
  }

  /// Addends that something else needs too are values of their own.
  void find_shared_addends() {
    const auto size = static_cast<std::size_t>(size_);
    std::vector<int> times(size, 0);
    addend_.assign(size, 0);
    shared_.assign(size, 0);
    const auto for_addends = [&](const auto& f) {
      for (const Sum& s : sums_)
        for (const Addend& a : s.addends)
          if (a.operand >= 0) f(a.operand);
    };
    for_addends([&](int a) {
      at(addend_, a) = 1;
      ++at(times, a);
    });
    for_addends([&](int a) { at(shared_, a) = at(uses_, a) > at(times, a) || at(times, a) > 1; });
  }

  /// What hangs together when inputs and sums are taken away. A cluster is a row if several addends of one sum, and
  /// nothing else, come out of it, and there are others like it.
  void find_clusters() {
    std::vector<int> up(static_cast<std::size_t>(size_));
    for (int n = 0; n < size_; ++n) at(up, n) = n;
    const auto find = [&](int n) {
      while (at(up, n) != n) n = at(up, n) = at(up, at(up, n));
      return n;
    };
    for (int n = r_.inputs(); n < size_; ++n)
      if (at(reached_, n) && is_inner(n))
        for_arguments(n, [&](Operand a) {
          if (is_inner(a)) at(up, find(n)) = find(a);
        });

    clusters_.clear();
    cluster_of_.assign(static_cast<std::size_t>(size_), nobody);
    std::vector<int> number(static_cast<std::size_t>(size_), nobody), sum_of_cluster;
    constexpr int several = -2;
    for (std::size_t s = 0; s < sums_.size(); ++s)
      for (const Addend& a : sums_[s].addends) {
        if (!is_inner(a.operand)) continue;
        int& c = at(number, find(a.operand));
        if (c == nobody) {
          c = static_cast<int>(clusters_.size());
          clusters_.emplace_back();
          sum_of_cluster.push_back(static_cast<int>(s));
        }
        if (at(sum_of_cluster, c) != static_cast<int>(s)) at(sum_of_cluster, c) = several;
        at(clusters_, c).push_back(a);
      }
    if (is_inner(r_.result) && at(number, find(r_.result)) != nobody)
      at(sum_of_cluster, at(number, find(r_.result))) = several;

    is_row_.assign(clusters_.size(), 0);
    for (std::size_t c = 0; c < clusters_.size(); ++c)
      is_row_[c] = sum_of_cluster[c] != several && clusters_[c].size() > 1 && clusters_[c].size() < most_results;
    for (int n = r_.inputs(); n < size_; ++n)
      if (at(reached_, n) && is_inner(n)) at(cluster_of_, n) = at(number, find(n));
    std::map<std::pair<int, std::vector<int>>, std::vector<int>> alike;
    for (std::size_t c = 0; c < clusters_.size(); ++c) {
      if (!is_row_[c]) continue;
      explore(clusters_[c][0].operand, 1, false);
      alike[{sum_of_cluster[c], shape_}].push_back(static_cast<int>(c));
    }
    for (const auto& [shape, list] : alike)
      if (list.size() < fewest_rows)
        for (const int c : list) at(is_row_, c) = 0;
  }

  bool in_cluster_row(int n) const { return at(cluster_of_, n) != nobody && at(is_row_, at(cluster_of_, n)); }

  /// The owner of a node is the value or addend that alone needs it; a node that several need is a value of its own.
  void find_owners() {
    const auto size = static_cast<std::size_t>(size_);
    owner_.assign(size, nobody);
    std::vector<int> candidate(size, nobody);
    for (int n = r_.result; n >= r_.inputs(); --n) {
      if (!at(reached_, n) || !is_inner(n) || in_cluster_row(n)) continue;
      at(owner_, n) = at(addend_, n) || n == r_.result || at(candidate, n) == nobody ? n : at(candidate, n);
      for_arguments(n, [&](Operand a) {
        if (!is_inner(a)) return;
        int& c = at(candidate, a);
        if (c == nobody)
          c = at(owner_, n);
        else if (c != at(owner_, n))
          c = a;
      });
    }
  }

  LeafKind kind_of(int n) const {
    const int depends = at(depends_, n);
    if (n < r_.inputs()) return depends == 1 ? LeafKind::x : LeafKind::y;
    return depends == 1 ? LeafKind::inner_x : depends == 2 ? LeafKind::inner_y : LeafKind::inner_both;
  }

  /// The shape of the row with this root, into shape_; its leaves and constants in order. Returns its level: one more
  /// than the values that it needs. `is_value`: the root is a value already, and the row just adds it.
  int explore(int root, int sign, bool is_value) {
    const bool clustered = is_inner(root) && in_cluster_row(root);
    const auto inside = [&](Operand n) {
      return clustered ? is_inner(n) : is_inner(n) && (n == root || at(owner_, n) == root);
    };
    shape_.clear();
    leaves_.clear();
    constants_.clear();
    visited_.clear();
    stack_.clear();
    const std::vector<Addend> alone{{root, sign}};
    const std::vector<Addend>& results = clustered ? at(clusters_, at(cluster_of_, root)) : alone;
    if (clustered || (is_inner(root) && !is_value))
      for (auto a = results.rbegin(); a != results.rend(); ++a) stack_.push_back(a->operand);
    int level = 0;
    const auto code = [&](Operand a) {
      if (a < 0) {
        constants_.push_back(r_.constant(a));
        return RowShape::constant;
      }
      if (at(local_, a) != nobody) return at(local_, a);
      leaves_.push_back(a);
      if (!level_.empty()) level = std::max(level, at(level_, a));
      return RowShape::code(kind_of(a));
    };
    while (!stack_.empty()) {
      const int n = stack_.back();
      if (n < 0) {  // its arguments are done
        stack_.pop_back();
        const int node = ~n;
        if (at(local_, node) != nobody) continue;
        shape_.push_back(static_cast<int>(op(node)));
        for_arguments(node, [&](Operand a) { shape_.push_back(code(a)); });
        at(local_, node) = static_cast<int>(visited_.size());
        visited_.push_back(node);
      } else if (at(local_, n) != nobody) {
        stack_.pop_back();
      } else {
        stack_.back() = ~n;
        for (int k = arity(op(n)) - 1; k >= 0; --k)
          if (const Operand a = r_.argument(n, k); a >= 0 && inside(a)) stack_.push_back(a);
      }
    }
    shape_.push_back(end_of_nodes);
    for (const Addend& a : results) {
      shape_.push_back(code(a.operand));
      shape_.push_back(clustered ? a.sign : sign);
    }
    for (const int n : visited_) at(local_, n) = nobody;
    return level + 1;
  }

  void group_rows() {
    alike_.clear();
    index_.clear();
    level_.assign(static_cast<std::size_t>(size_), 0);
    std::vector<char> placed(clusters_.size(), 0);
    std::vector<int> sum_at(static_cast<std::size_t>(size_), nobody);
    for (std::size_t s = 0; s < sums_.size(); ++s) at(sum_at, sums_[s].root) = static_cast<int>(s);
    for (int n = r_.inputs(); n < size_; ++n) {  // arguments come before
      if (!at(reached_, n)) continue;
      if (const int s = at(sum_at, n); s != nobody) {
        int level = 0;
        for (const Addend& a : at(sums_, s).addends) {
          if (a.operand < 0) continue;
          const bool inner = is_inner(a.operand);
          if (inner && in_cluster_row(a.operand)) {  // the first of its results stands for all
            if (at(placed, at(cluster_of_, a.operand))) continue;
            at(placed, at(cluster_of_, a.operand)) = 1;
          }
          const int l = explore(a.operand, a.sign, at(shared_, a.operand));
          if (inner && !at(shared_, a.operand)) at(level_, a.operand) = l;
          level = std::max(level, l);
          put(a.operand, a.sign, s, 0);
        }
        at(level_, n) = level + 1;
      } else if (is_inner(n) && at(owner_, n) == n && (!at(addend_, n) || at(shared_, n)) && !in_cluster_row(n)) {
        at(level_, n) = explore(n, 1, false);
        put(n, 1, nobody, at(level_, n));
      }
    }
  }

  void put(int root, int sign, int sum, int level) {
    std::uint64_t hash = mixed(static_cast<std::uint64_t>(sum + 1), static_cast<std::uint64_t>(level));
    for (const int code : shape_) hash = mixed(hash, static_cast<std::uint64_t>(code));
    std::vector<int>& known = index_[hash];
    const auto same = [&](int k) {
      const Alike& a = at(alike_, k);
      return a.sum == sum && a.level == level && a.shape == shape_;
    };
    auto found = std::find_if(known.begin(), known.end(), same);
    if (found == known.end()) {
      known.push_back(static_cast<int>(alike_.size()));
      alike_.push_back({sum, level, shape_, {}, {}});
      found = known.end() - 1;
    }
    at(alike_, *found).roots.push_back(root);
    at(alike_, *found).signs.push_back(sign);
  }

  bool is_group(const Alike& a) const { return a.roots.size() >= fewest_rows; }
  static bool has_nodes(const Alike& a) { return a.shape[0] != end_of_nodes; }

  /// Marks the roots whose cones are loose operations.
  std::vector<char> loose_roots() const {
    std::vector<char> loose(static_cast<std::size_t>(size_), 0);
    for (const Alike& a : alike_)
      if (!is_group(a) && has_nodes(a))
        for (const int root : a.roots) at(loose, root) = 1;
    return loose;
  }

  /// The outermost sums only: what is inside their addends may repeat now, and a row may contain sums of its own.
  bool open_sums_in_what_does_not_repeat() {
    const std::vector<char> loose = loose_roots();
    std::vector<char> inside(static_cast<std::size_t>(size_), 0);
    bool opened = false;
    for (int n = r_.result; n >= r_.inputs(); --n) {
      if (!at(reached_, n)) continue;
      if (at(inside, n)) {
        for_arguments(n, [&](Operand a) {
          if (a >= 0) at(inside, a) = 1;
        });
      } else if (is_inner(n) && is_sum_like(n) && at(owner_, n) != nobody && at(loose, at(owner_, n)) && open(n)) {
        opened = true;
        for (const Addend& a : sums_.back().addends)
          if (a.operand >= 0) at(inside, a.operand) = 1;
      }
    }
    return opened;
  }

  Partition result();
  RowGroup group_of(const Alike& alike, const std::vector<int>& slot);

  static constexpr int end_of_nodes = -100;

  const Recording& r_;
  int size_;
  std::vector<char> reached_, depends_, addend_, shared_, is_row_;
  std::vector<int> uses_, sum_of_, owner_, level_, local_, cluster_of_;
  std::vector<float> weight_;  // operations below, roughly
  std::vector<Sum> sums_;
  std::vector<std::vector<Addend>> clusters_;
  std::vector<Alike> alike_;
  std::unordered_map<std::uint64_t, std::vector<int>> index_;
  std::vector<int> shape_, leaves_, visited_, stack_;  // of explore
  std::vector<double> constants_;
};

RowGroup Partitioner::group_of(const Alike& alike, const std::vector<int>& slot) {
  RowGroup group;
  const int depends = at(depends_, alike.sum == nobody ? alike.roots[0] : at(sums_, alike.sum).root);
  group.depends_on_x = (depends & 1) != 0;
  group.depends_on_y = (depends & 2) != 0;
  group.rows = static_cast<int>(alike.roots.size());
  group.adds = alike.sum != nobody;
  std::size_t k = 0;
  while (alike.shape[k] != end_of_nodes) group.shape.nodes.push_back(alike.shape[k++]);
  for (++k; k < alike.shape.size(); k += 2) group.shape.results.push_back({alike.shape[k], alike.shape[k + 1]});
  for (int row = 0; row < group.rows; ++row) {
    const int root = at(alike.roots, row);
    explore(root, at(alike.signs, row), group.adds && at(shared_, root));
    if (row == 0) {
      for (const int leaf : leaves_)
        group.leaves.push_back({kind_of(leaf), std::vector<int>(static_cast<std::size_t>(group.rows))});
      group.constants.assign(constants_.size(), std::vector<double>(static_cast<std::size_t>(group.rows)));
    }
    for (std::size_t j = 0; j < leaves_.size(); ++j) at(group.leaves[j].slots, row) = at(slot, leaves_[j]);
    for (std::size_t j = 0; j < constants_.size(); ++j) at(group.constants[j], row) = constants_[j];
  }
  return group;
}

Partition Partitioner::result() {
  Partition out;
  out.inputs_x = static_cast<int>(r_.dims.x);
  out.inputs = out.slots = r_.inputs();
  const std::vector<char> loose = loose_roots();
  std::vector<int> slot(static_cast<std::size_t>(size_), nobody);
  for (int n = 0; n < std::min(size_, out.inputs); ++n) at(slot, n) = n;
  for (const Alike& a : alike_)
    if (is_group(a) && a.sum == nobody)
      for (const int root : a.roots) at(slot, root) = out.slots++;
  const auto is_loose = [&](int n) {
    return at(reached_, n) && is_inner(n) && at(owner_, n) != nobody && at(loose, at(owner_, n));
  };
  for (int n = out.inputs; n < size_; ++n) {
    if (!at(reached_, n)) continue;
    ++out.operations;
    if (is_loose(n))
      at(slot, n) = out.slots++;
    else
      ++out.operations_in_rows;
  }
  for (const Sum& s : sums_) {
    double bias = 0;
    for (const Addend& a : s.addends)
      if (a.operand < 0) bias += a.sign * r_.constant(a.operand);
    at(slot, s.root) = out.slots++;
    out.sums.push_back({at(slot, s.root), (at(depends_, s.root) & 2) != 0, bias});
  }

  const auto slot_of = [&](Operand a) {
    if (a >= 0) return at(slot, a);
    out.constants.emplace_back(out.slots, r_.constant(a));
    return out.slots++;
  };
  struct Placed {
    int level, group;
    LooseOperation operation;
  };
  std::vector<Placed> placed;
  const auto operation_of = [&](int n, Op does) {
    const int depends = at(depends_, n);
    return LooseOperation{does, false, (depends & 1) != 0, (depends & 2) != 0, at(slot, n), {}};
  };
  for (int n = out.inputs; n < size_; ++n) {
    if (!is_loose(n)) continue;
    LooseOperation operation = operation_of(n, op(n));
    for (int k = 0; k < arity(op(n)); ++k) operation.operands[static_cast<std::size_t>(k)] = slot_of(r_.argument(n, k));
    placed.push_back({at(level_, at(owner_, n)), nobody, operation});
  }
  for (const Alike& a : alike_) {
    const int level = a.sum == nobody ? a.level : at(level_, at(sums_, a.sum).root);
    if (is_group(a)) {
      RowGroup group = group_of(a, slot);
      group.target = at(slot, a.sum == nobody ? a.roots[0] : at(sums_, a.sum).root);
      placed.push_back({level, static_cast<int>(out.groups.size()), {}});
      out.groups.push_back(std::move(group));
    } else if (a.sum != nobody) {
      for (std::size_t k = 0; k < a.roots.size(); ++k) {
        LooseOperation operation = operation_of(at(sums_, a.sum).root, a.signs[k] > 0 ? Op::add : Op::sub);
        operation.accumulates = true;
        operation.operands = {operation.target, at(slot, a.roots[k])};
        placed.push_back({level, nobody, operation});
      }
    }
  }
  std::stable_sort(placed.begin(), placed.end(), [](const Placed& a, const Placed& b) { return a.level < b.level; });
  for (const Placed& p : placed) {
    const int end = static_cast<int>(out.loose.size());
    if (p.group != nobody) {
      out.steps.push_back({p.group, 0, 0});
      continue;
    }
    if (out.steps.empty() || out.steps.back().group != nobody) out.steps.push_back({nobody, end, end});
    out.loose.push_back(p.operation);
    out.steps.back().end = end + 1;
  }
  out.result = at(slot, r_.result);
  return out;
}

}  // namespace

Partition partition(const Recording& recording) { return Partitioner(recording).run(); }

}  // namespace hypertape
