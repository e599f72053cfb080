#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The library in SystemVerilog, by share/fpemu/hdl and Verilator: a dot product of four lanes of e2m1 as hardware against
# the model, with and without a planted defect; operations, stochastic rounding by given bits, a quantiser. With cocotb
# and the package fpemu the examples too, each with its planted defect, by Verilator and Icarus.
set -euo pipefail

verilator --version >/dev/null 2>&1 || { echo 'skipped: no verilator'; exit 77; }
[ -e lib/.libs/libfpemu.so ] || { echo 'skipped: no shared library'; exit 77; }
hdl=$(cd "$top_srcdir" && pwd)/share/fpemu/hdl
include=$(cd "$top_srcdir" && pwd)/include
library=$PWD/lib/.libs
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

cat >e2m1_dot4.sv <<'END'
// The exact sum of four products of e2m1, in quarters: fixed(12,2).
module e2m1_dot4 #(parameter bit DEFECT = 0) (input logic [15:0] a, b, output logic signed [11:0] y);
    function automatic logic signed [11:0] halves(input logic [3:0] code);
        logic signed [11:0] size;
        case (code[2:0])
            5: size = DEFECT ? 5 : 6;
            6: size = 8;
            7: size = 12;
            default: size = 12'(code[2:0]);
        endcase
        return code[3] ? -size : size;
    endfunction
    always_comb begin
        y = 0;
        for (int i = 0; i < 4; i++) y += halves(a[4*i +: 4]) * halves(b[4*i +: 4]);
    end
endmodule
END
cat >bench.sv <<'END'
`include "fpemu_dpi.svh"
module bench;
    import fpemu_dpi::*;
    logic [15:0] a, b;
    logic signed [11:0] y, broken;
    e2m1_dot4 right(.a, .b, .y);
    e2m1_dot4 #(.DEFECT(1)) wrong(.a, .b, .y(broken));
    int e2m1, e4m3, fp16, fp32, fixed12, mxfp4, e8m0, model, blocks, flags, bytes, differ = 0, failures = 0, ups;
    longint want;
    string why;
    lanes_t x, packed_bytes;

    task check(input bit holds, input string what);
        if (!holds) begin
            $display("FAILED: %s (%s)", what, fpemu_dpi_error());
            failures++;
        end
    endtask

    // The result and the flags of the last call.
    task gives(input int status, input longint code, input int right_flags, input string what);
        check(status == 0 && want == code && flags == right_flags, $sformatf("%s: %h %h", what, want, flags));
    endtask

    initial begin
        e2m1 = fpemu_dpi_format("e2m1");
        e4m3 = fpemu_dpi_format("e4m3fn");
        fp16 = fpemu_dpi_format("fp16");
        fp32 = fpemu_dpi_format("fp32");
        fixed12 = fpemu_dpi_format("fixed(12,2)");
        mxfp4 = fpemu_dpi_format("mxfp4");
        e8m0 = fpemu_dpi_format("e8m0");
        model = fpemu_dpi_model("seq(fp64)");
        blocks = fpemu_dpi_model("chunk(2,fp32)");
        check(fpemu_dpi_format("fp16") == fp16 && fpemu_dpi_bits(fp16) == 16, "a handle");
        check(fpemu_dpi_mode("toward-zero") == RTZ && fpemu_dpi_mode("sr") == SR, "modes");
        for (int i = 0; i < 20000; i++) begin
            {a, b} = $urandom;
            #1;
            check(fpemu_dpi_dot(model, e2m1, e2m1, -1, fixed12, RNE, 4, lanes_t'(a), lanes_t'(b), '0, '0, 0, 0, want,
                                flags) == 0, "dot");
            check(12'(want) == y, $sformatf("%h . %h is %h, not %h", a, b, want, y));
            if (12'(want) != broken) differ++;
        end
        check(differ > 5000, "the defect is seen");
        // 2^-1 2^1 (1*2 + 3*4) + 2^2 2^1 (6*1 + 0) + 0.5
        gives(fpemu_dpi_dot(blocks, e2m1, e2m1, e8m0, fp32, RNE, 4, lanes_t'(16'h0752), lanes_t'(16'h0264),
                            lanes_t'(16'h817e), lanes_t'(16'h8080), 1, 'h3f000000, want, flags), 'h427a0000, 0,
              "blocks");
        gives(fpemu_dpi_operate(FMA, e4m3, e4m3, fp16, fp16, RNE, 'h38, 'h40, 'h3c00, 0, 0, want, flags), 'h4200, 0,
              "1 * 2 + 1");
        gives(fpemu_dpi_operate(DIV, fp16, fp16, 0, fp16, RNE, 'h3c00, 'h8000, 0, 0, 0, want, flags), 'hfc00, DZ,
              "1 / -0");
        gives(fpemu_dpi_convert(fp16, e4m3, RNE, 'h5f41, 0, 0, want, flags), 'h7f, NX | OF, "464.25");
        gives(fpemu_dpi_convert(fp16, e4m3, RTZ, 'h5f41, 0, 0, want, flags), 'h7e, NX, "464.25 to zero");
        // 1 + 5/128 is 5/16 of the way from 1 to 1.125, -460 6/16 past the largest, 3/4 of the smallest is 12/16
        foreach_of_16('h3f850000, 'h38, 'h39, 5);
        foreach_of_16('hc3e60000, 'hfe, 'h7f, 6);
        foreach_of_16('h3ac00000, 'h00, 'h01, 12);
        foreach_of_16('h3f900000, 'h39, 'h39, 16);
        x = '0;
        x[31:0] = 32'h40c00000;
        x[32*33 +: 32] = 32'hbf800000;
        check(fpemu_dpi_quantise(mxfp4, RNE, 34, x, packed_bytes, bytes) == 0 && bytes == 19, "quantise");
        check(packed_bytes == (lanes_t'(16'h7d7f) | lanes_t'(8'h07) << 16 | lanes_t'(8'he0) << 18 * 8), "packed");
        check(fpemu_dpi_format("nonsense") == -1, "a wrong spec");
        why = fpemu_dpi_error();
        check(why.substr(0, 8) == "nonsense:", "what is wrong with it");
        check(fpemu_dpi_convert(99, e4m3, RNE, 0, 0, 0, want, flags) == -1, "a wrong handle");
        check(fpemu_dpi_convert(fp32, e4m3, SR, 0, 0, 0, want, flags) == -1, "no random bits");
        check(fpemu_dpi_convert(fp32, mxfp4, RNE, 0, 0, 0, want, flags) == -1, "a code of a block");
        if (failures == 0) $display("passed, %0d of 20000 differ with the defect", differ);
        $finish;
    end

    // By all values of four random bits, `often` give the larger magnitude.
    task foreach_of_16(input longint code, input longint low, input longint high, input int often);
        ups = 0;
        for (int random = 0; random < 16; random++) begin
            check(fpemu_dpi_convert(fp32, e4m3, SR, code, 4, random, want, flags) == 0, "sr");
            check(want == low || want == high, "a neighbour");
            if (want == high) ups++;
        end
        check(ups == often, $sformatf("%h: %0d of 16", code, ups));
    endtask
endmodule
END
cp "$hdl/fpemu_dpi.c" "$hdl/fpemu_dpi.h" "$hdl/fpemu_dpi.svh" .
verilator --binary -Wno-fatal --top-module bench bench.sv e2m1_dot4.sv fpemu_dpi.c -CFLAGS "-I$include -I$work" \
    -LDFLAGS "-L$library -lfpemu -Wl,-rpath,$library" >log 2>&1 || { cat log; exit 1; }
obj_dir/Vbench >out || { cat out; exit 1; }
grep -q '^passed, ' out || { cat out; exit 1; }

if iverilog -V >/dev/null 2>&1; then # what doc/hardware.md says
    page=$hdl/../../../doc/hardware.md
    awk '/^```systemverilog/ { p = 1; next } /^```/ { p = 0 } p' "$page" >page.sv
    fpemu() { "$FPEMU" "$@"; }
    sed -n 's/^    dot/dot/p' "$page" >page.sh
    . ./page.sh
    iverilog -g2012 -o page -s bench page.sv "$hdl/examples/designs.sv" 2>log || { cat log; exit 1; }
    ./page | diff <(sed -n 's/^    \(vector\|[0-9]* of\)/\1/p' "$page") -
fi

export OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1
if python3 -c 'import cocotb, fpemu' 2>/dev/null; then
    for simulator in icarus verilator; do
        [ $simulator = verilator ] || iverilog -V >/dev/null 2>&1 || { echo 'no iverilog'; continue; }
        python3 "$hdl/examples/bench.py" $simulator >log 2>&1 || { cat log; exit 1; }
        grep -E '_(y|wrong): ' log
        [ "$(grep -cE '^[a-z0-9]+_wrong: .* found after [0-9]+: .* = .* is .*, not ' log)" -eq 4 ]
    done
else
    echo 'without the examples: no cocotb, or no package fpemu'
fi
