#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "hypertape/autodiff/row_kernel.hpp"
#include "hypertape/tape/partition.hpp"

namespace hypertape {

/// The parts of (x, y) that a derivative is by, or that a direction has.
struct Parts {
  bool x = false;
  bool y = false;
};

/// What is computed of rows. Adjoints of inputs are results; those of values between are needed on the way.
enum class FoundPass {
  value,          ///< the rows' values
  gradient,       ///< adjoints of everything
  gradient_y,     ///< of what depends on y, with what depends on x alone computed once for each x
  adjoints,       ///< of values between only
  curvature,      ///< tangents of adjoints: y in the direction, y wanted, at a fixed point
  cross,          ///< y in the direction, x wanted
  adjoint_cross,  ///< x in the direction, y wanted
  hessian,        ///< both
  curvature_tangents,
  cross_tangents,
  adjoint_cross_tangents,
  hessian_tangents,  ///< tangents of the rows' values for each of these
  count
};

/// Where x, y and the values between stand. What is read past the end of a pack is inside these or copied.
struct PartArrays {
  const double* x = nullptr;
  const double* y = nullptr;
  const double* inner = nullptr;
};

/// A result that becomes zeros just before something is added to them, while they are in cache.
class Cleared {
 public:
  Cleared() = default;
  explicit Cleared(Vec& out) : data_(out.data()), size_(out.size()) {}

  /// What is zero already; no place is out of reach.
  static Cleared at_hand(double* data) {
    Cleared c;
    c.data_ = data;
    return c;
  }

  double* data() const { return data_; }

  /// Makes zeros of what stands before `end` and was not yet reached.
  void reach(Index end) {
    end = std::min(end, size_);
    if (end <= reached_) return;
    std::fill(data_ + reached_, data_ + end, 0.0);
    reached_ = end;
  }
  void reach_all() { reach(size_); }

 private:
  double* data_ = nullptr;
  Index size_ = 0, reached_ = 0;
};

/// What a pass over rows reads and writes. Unused ones may be null.
struct FoundArguments {
  PartArrays point, direction;
  const double* adjoints = nullptr;          ///< of values between
  const double* adjoint_tangents = nullptr;  ///< likewise
  Cleared* out_x = nullptr;                  ///< adjoints, or tangents of adjoints, are added here
  Cleared* out_y = nullptr;
  double* out_inner = nullptr;
  double* out_value = nullptr;  ///< by slot: values or tangents
  bool new_x = true;            ///< x is not that of the last gradient_y
  int threads = 1;              ///< results do not depend on them
};

/// A group of rows, ready to be run: one row's derivatives are derived when they are first asked for, and run on packs.
///
/// Leaves that are the same in all rows are numbers; equal columns of leaves or constants are one. A pack ends where
/// the stride of a leaf changes, so that most leaves are read where they stand.
///
/// If the rows' sum has a known weight in the result (a constant, as in a mean), `weight` is it: adjoints then need no
/// sweep before. Otherwise each row is multiplied with its adjoint, which is a component of its own.
class FoundRows {
 public:
  FoundRows(RowGroup group, Dims dims, int slots, std::optional<double> weight, const Kernels& kernels, int threads);

  bool has_weight() const { return weight_.has_value(); }
  bool depends_on_x() const { return depends_on_x_; }
  bool depends_on_y() const { return depends_on_y_; }

  void run(FoundPass pass, const FoundArguments& arguments);

  /// Before products at a fixed point: what they go on reading.
  void prepare(FoundPass pass, const FoundArguments& arguments);

  std::size_t bytes() const;

 private:
  struct Column {
    LeafKind kind;
    bool uniform = false;
    std::vector<int> places;  ///< in its array; one if uniform, none where no pack gathers
    struct At {
      int place, stride;
    };
    std::vector<At> at;  ///< by pack
  };
  struct PackRange {
    int row, rows;
    std::size_t lanes;  ///< padded, of the packs before
  };
  /// An input of a program that is not one number: data, stored numbers (no column), or leaves.
  struct Input {
    int number;
    RowSource source;
    const Column* column;
  };
  /// How the packs of a pass are shared among threads; it depends on the rows alone, and so do the results. They are
  /// cut into chunks, whose sums are added in their order. Where chunks write to places that their neighbours write to
  /// as well, every other chunk is done first; where they all write to few places, each has a copy of those.
  struct Plan {
    int chunks = 1;
    bool takes_turns = false;
    struct Range {
      Index begin = 0, end = 0;
    };
    std::array<Range, 3> copied{};  ///< of x, y and the values between
    std::vector<double> copies;     ///< by chunk
    std::size_t copy_size = 0;
    std::vector<int> sums;         ///< outputs that are one number
    std::vector<double> partials;  ///< those, by chunk
  };
  struct Compiled {
    StagedProgram staged;
    std::vector<Input> prepare_inputs, run_inputs;
    std::vector<int> varying_outputs;                               ///< those that differ from pack to pack
    std::vector<RowProgram::Scratch> prepare_scratch, run_scratch;  ///< by thread
    std::vector<double> stored;
    bool prepared = false;
    Plan plan;
  };
  struct Worker {
    std::vector<double> buffers;
    std::vector<RowOutput> outputs;
  };
  static constexpr int gathered = 1 << 30;

  void make_columns(RowGroup& group);
  void make_constants(RowGroup& group, std::vector<int>& constant_of);
  void make_packs();
  Compiled& compiled(FoundPass pass);
  StagedProgram derive(FoundPass pass);
  RowSelection select(Parts parts, bool inputs) const;
  const Column& column(const RowSource& source) const;
  const double* source_array(const RowSource& source, const FoundArguments& arguments) const;
  bool is_value(const RowSource& source) const;
  RowOutput output(const RowSource& source, const FoundArguments& arguments, std::size_t pack) const;
  Index array_size(LeafKind kind) const;

  std::vector<Input> inputs_of(const std::vector<RowSource>& sources) const;
  void set_numbers(const std::vector<RowSource>& sources, const FoundArguments& arguments, const double** inputs) const;
  void set_packs(const std::vector<Input>& packs, const FoundArguments& arguments, const Compiled& compiled,
                 std::size_t pack, double* buffer, const double** inputs) const;
  std::array<Plan::Range, 3> written_by(const Compiled& compiled, Plan::Range packs) const;
  Plan plan_of(const Compiled& compiled) const;
  Plan::Range packs_of(const Plan& plan, int chunk) const;
  void run_chunk(Compiled& compiled, const FoundArguments& arguments, int chunk, std::size_t worker);
  const double* read(const Column& column, const double* from, std::size_t pack, double* buffer) const;

  const Kernels& kernels_;
  Dims dims_;
  int slots_, rows_, target_;
  bool adds_, depends_on_x_, depends_on_y_;
  std::optional<double> weight_;
  int data_columns_ = 0, lanes_ = pack_lanes;
  std::vector<Column> a_, b_;  // seen through y or not; of a_, the rows' own adjoint is the last if they have no weight
  std::vector<PackRange> packs_;
  std::vector<double> data_;
  std::unique_ptr<RowKernel> kernel_;
  std::array<std::unique_ptr<Compiled>, static_cast<std::size_t>(FoundPass::count)> compiled_;
  std::vector<Worker> workers_;
};

}  // namespace hypertape
