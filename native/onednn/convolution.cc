// Convolution and its two gradients. What a shape needs (the primitive, the layouts it wants, the
// reorders to and from ours) is a plan; plans of recent shapes are kept.
#include <pthread.h>

#include <cstring>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "plugin.h"

namespace tapeflow::plugin {
namespace {

using dnnl::memory;
using dims = memory::dims;
constexpr auto f32 = memory::data_type::f32;

// One tensor of the primitive: our layout, the one it wants, and the way between them.
struct Operand {
  memory::desc ours, wanted;
  std::optional<dnnl::reorder> reorder;  // absent where the layouts agree
  size_t offset = 0;                     // of the copy in the scratch memory

  void settle(const memory::desc& ours_, const memory::desc& wanted_, bool is_result,
              size_t& bytes) {
    ours = ours_;
    wanted = wanted_;
    if (ours == wanted) return;
    const auto& from = is_result ? wanted : ours;
    const auto& to = is_result ? ours : wanted;
    reorder.emplace(dnnl::reorder::primitive_desc(engine(), from, engine(), to));
    offset = bytes;
    bytes += (wanted.get_size() + 63) / 64 * 64;
  }
};

struct Plan {
  dnnl::primitive primitive;
  Operand first, second, result;
  int first_arg, second_arg, result_arg;
  memory::desc scratchpad;
  size_t scratchpad_offset, bytes = 0;

  explicit Plan(const Convolution& whole);
  void run(const float* a, const float* b, float* out, char* scratch) const;
};

// The numbers of the axes with windows, behind others.
dims along(const Convolution& c, const int64_t* numbers, dims before = {}) {
  before.insert(before.end(), numbers, numbers + c.windows);
  return before;
}

memory::desc activations(const Convolution& c, int64_t depth, const int64_t* size) {
  using tag = memory::format_tag;
  const bool volume = c.windows == 3;
  return {along(c, size, {c.batch, depth}), f32,
          c.channels_first ? (volume ? tag::ncdhw : tag::nchw) : (volume ? tag::ndhwc : tag::nhwc)};
}

dims filter_dims(const Convolution& c) {
  const int64_t in = c.in_depth / c.groups, out = c.out_depth / c.groups;
  return along(c, c.filter, c.groups == 1 ? dims{out, in} : dims{c.groups, out, in});
}

memory::desc our_filter(const Convolution& c) {
  const int64_t in = c.in_depth / c.groups, out = c.out_depth;
  int64_t steps[3], step = in * out;
  for (int64_t i = c.windows - 1; i >= 0; step *= c.filter[i--]) steps[i] = step;
  return {filter_dims(c), f32, along(c, steps, c.groups == 1 ? dims{1, out} : dims{out / c.groups, 1, out})};
}

// Whether the filter's gradient needs one pixel of each stride and no others. oneDNN 3.2's kernel for AVX2 that skips
// the rest writes past its buffer where a pixel's channels do not fill its vectors.
bool skips_pixels(const Convolution& c) {
  bool skips = false;
  for (int64_t i = 0; i < c.windows; ++i) {
    if (c.filter[i] != 1 || c.pad_before[i] != 0 || c.pad_after[i] != 0) return false;
    skips |= c.stride[i] > 1;
  }
  return c.pass == Convolution::kBackwardFilter && skips;
}

// The pixels in use, in the memory of the whole input.
memory::desc used_pixels(const Convolution& c, const memory::desc& input) {
  dims sizes = along(c, c.out, {c.batch, c.in_depth}), steps = input.get_strides();
  for (int64_t i = 0; i < c.windows; ++i) steps[2 + i] *= c.stride[i];
  return {sizes, f32, steps};
}

// Activations keep our layout, the filter takes the one that oneDNN likes: measured, that is at
// least as fast as blocked activations with reorders around, up to twice.
Plan::Plan(const Convolution& whole) {
  Convolution c = whole;
  memory::desc given = activations(c, c.in_depth, c.in);
  if (skips_pixels(c)) {  // a reorder brings them together
    given = used_pixels(c, given);
    for (int64_t i = 0; i < c.windows; ++i) c.in[i] = c.out[i], c.stride[i] = 1;
  }
  const memory::desc input = activations(c, c.in_depth, c.in),
                     output = activations(c, c.out_depth, c.out);
  const memory::desc filter = our_filter(c),
                     any_filter(filter_dims(c), f32, memory::format_tag::any);
  const dims stride = along(c, c.stride), before = along(c, c.pad_before), after = along(c, c.pad_after);
  dims dilation = along(c, c.dilation);
  for (auto& d : dilation) --d;  // oneDNN counts the gaps
  const auto algorithm = dnnl::algorithm::convolution_direct;
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  using forward = dnnl::convolution_forward;
  const auto desc = [&](dnnl::prop_kind kind) {
    return forward::primitive_desc(engine(), kind, algorithm, input, any_filter, output, stride,
                                   dilation, before, after, attributes);
  };
  if (c.pass == Convolution::kForward) {
    const auto d = desc(dnnl::prop_kind::forward_inference);
    primitive = forward(d);
    first.settle(input, d.src_desc(), false, bytes);
    second.settle(filter, d.weights_desc(), false, bytes);
    result.settle(output, d.dst_desc(), true, bytes);
    first_arg = DNNL_ARG_SRC, second_arg = DNNL_ARG_WEIGHTS, result_arg = DNNL_ARG_DST;
    scratchpad = d.scratchpad_desc();
  } else if (c.pass == Convolution::kBackwardInput) {
    const auto hint = desc(dnnl::prop_kind::forward_training);
    const dnnl::convolution_backward_data::primitive_desc d(engine(), algorithm, input, any_filter,
                                                            output, stride, dilation, before, after,
                                                            hint, attributes);
    primitive = dnnl::convolution_backward_data(d);
    first.settle(filter, d.weights_desc(), false, bytes);
    second.settle(output, d.diff_dst_desc(), false, bytes);
    result.settle(input, d.diff_src_desc(), true, bytes);
    first_arg = DNNL_ARG_WEIGHTS, second_arg = DNNL_ARG_DIFF_DST, result_arg = DNNL_ARG_DIFF_SRC;
    scratchpad = d.scratchpad_desc();
  } else {
    const auto hint = desc(dnnl::prop_kind::forward_training);
    const dnnl::convolution_backward_weights::primitive_desc d(engine(), algorithm, input,
                                                               any_filter, output, stride, dilation,
                                                               before, after, hint, attributes);
    primitive = dnnl::convolution_backward_weights(d);
    first.settle(given, d.src_desc(), false, bytes);
    second.settle(output, d.diff_dst_desc(), false, bytes);
    result.settle(filter, d.diff_weights_desc(), true, bytes);
    first_arg = DNNL_ARG_SRC, second_arg = DNNL_ARG_DIFF_DST, result_arg = DNNL_ARG_DIFF_WEIGHTS;
    scratchpad = d.scratchpad_desc();
  }
  scratchpad_offset = bytes;
  bytes += scratchpad.get_size();
}

void Plan::run(const float* a, const float* b, float* out, char* scratch) const {
  dnnl::stream stream(engine());
  const auto bring = [&](const Operand& operand, const float* data) {
    memory ours(operand.ours, engine(), const_cast<float*>(data));
    if (!operand.reorder) return ours;
    memory copy(operand.wanted, engine(), scratch + operand.offset);
    operand.reorder->execute(stream, ours, copy);
    return copy;
  };
  memory ours(result.ours, engine(), out);
  memory to = result.reorder ? memory(result.wanted, engine(), scratch + result.offset) : ours;
  primitive.execute(
      stream, {{first_arg, bring(first, a)},
               {second_arg, bring(second, b)},
               {result_arg, to},
               {DNNL_ARG_SCRATCHPAD, memory(scratchpad, engine(), scratch + scratchpad_offset)}});
  if (result.reorder) result.reorder->execute(stream, to, ours);
  stream.wait();
}

// The plans of the shapes used last. A primitive is made for a number of threads, so that is part
// of the key (a forked child has one).
struct Key {
  int64_t threads;
  Convolution convolution;
  bool operator==(const Key& o) const { return std::memcmp(this, &o, sizeof o) == 0; }
};
struct Hash {
  size_t operator()(const Key& k) const {
    return std::hash<std::string_view>()({reinterpret_cast<const char*>(&k), sizeof k});
  }
};

class Plans {
 public:
  std::shared_ptr<const Plan> get(const Key& key) {
    // Also while a plan is made: a forked child then finds oneDNN's own locks free.
    std::lock_guard lock(mutex_);
    if (auto found = index_.find(key); found != index_.end()) {
      recent_.splice(recent_.begin(), recent_, found->second);
      return found->second->second;
    }
    auto plan = std::make_shared<const Plan>(key.convolution);
    recent_.emplace_front(key, plan);
    index_[key] = recent_.begin();
    if (recent_.size() > kKept) {
      index_.erase(recent_.back().first);
      recent_.pop_back();
    }
    return plan;
  }

  std::mutex& mutex() { return mutex_; }

 private:
  static constexpr size_t kKept = 512;
  std::mutex mutex_;
  std::list<std::pair<Key, std::shared_ptr<const Plan>>> recent_;
  std::unordered_map<Key, decltype(recent_)::iterator, Hash> index_;
};

// Never destroyed: daemon threads may be in a convolution while the process exits.
Plans& plans() {
  static Plans& all = *[] {
    pthread_atfork([] { plans().mutex().lock(); }, [] { plans().mutex().unlock(); }, [] { plans().mutex().unlock(); });
    return new Plans;
  }();
  return all;
}

}  // namespace

bool convolve(int threads, const Convolution& convolution, const float* first, const float* second,
              float* result) {
  use_threads(threads);
  try {
    const auto plan = plans().get({threads, convolution});
    struct Call {
      const Plan& plan;
      const float *first, *second;
      float* result;
      bool done = false;
    } call{*plan, first, second, result};
    with_scratch(
        plan->bytes + 64,
        [](char* memory, void* context) {
          auto& c = *static_cast<Call*>(context);
          try {
            c.plan.run(c.first, c.second, c.result, memory);
            c.done = true;
          } catch (const dnnl::error&) {
          }
        },
        &call);
    return call.done;
  } catch (const dnnl::error&) {
    return false;
  }
}

}  // namespace tapeflow::plugin
