# SPDX-License-Identifier: BSD-2-Clause
"""Number formats in JAX: XLA calls libfpemu directly, without copies, under jit, vmap, grad and shard_map.

    import fpemu.jax as fj
    y = fj.quantize(x, "e4m3fn")                                # straight-through gradient
    y = jax.jit(lambda x, step: fj.quantize(x, "bf16", "sr", seed=7, stream=step))(x, step)
    y, n = fj.quantize(x, "mxfp4", axis=0, stats=fj.counters(sums=True)); n.read().sqnr
    c = fj.matmul(a, b, "tc(h100,e4m3fn,promote=128)")
    y = fj.quantize(x, "nvfp4", "sr", sharding=P("data"))       # inside shard_map: the bits of the whole array

**Random bits.** They are a function of seed, stream and the index of an element in the array of the call, in C order.
`seed=`, `stream=` and `offset=` may be traced, so that a compiled function serves every step. Under `vmap` every
example has the bits of a call of its own, as with a key of `jax.random` that is not mapped; for different bits map over
`seed`, `stream` or `offset` too. Under `shard_map` an element's index is that in the shard, unless `sharding=` tells
where the shard lies. Outside `shard_map` an array keeps its indices however it is sharded; XLA then gathers it first.

**Gradients** are those of `jax.custom_vjp`: reverse mode only. **Processors only**: there are no handlers for GPUs.
"""

from ._calls import Counters, counters
from ._functions import *

__all__ = ["Counters", "add", "apply", "counters", "decode", "div", "dot_general", "encode", "fma", "matmul", "maximum",
           "measure", "minimum", "mul", "quantize", "sqrt", "sub"]
