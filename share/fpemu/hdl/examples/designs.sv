// SPDX-License-Identifier: BSD-2-Clause
// designs.sv - small units for bench.py, each right, and with DEFECT = 1 wrong in one place.

// size * 2^lsb, with a sign, to a float with EXP and MAN bits; codes from TOP on, by default infinity, become TOP.
// RANDOM = 0: to nearest even; else stochastic, by so many random bits: up where the part that is lost, cut to RANDOM
// bits, plus `random` carries.
module to_float #(parameter int W = 8, EXP = 5, MAN = 10, RANDOM = 0, DEFECT = 0, TOP = ((1 << EXP) - 1) << MAN)
    (input logic sign, input logic [W-1:0] size, input logic signed [15:0] lsb, input logic [15:0] random,
     output logic [EXP+MAN:0] y);
    localparam int EMIN = 2 - (1 << (EXP - 1)), WIDE = W + MAN + 2;
    int e, shift;
    logic up;
    logic [WIDE-1:0] whole, lost, half;
    logic [WIDE+EXP-1:0] code;
    always @* begin
        e = EMIN;
        for (int i = 0; i < W; i++) if (size[i] && i + lsb > EMIN) e = i + lsb;
        shift = e - MAN - lsb; // bits that are lost
        if (shift > W + 1) shift = W + 1;
        whole = shift > 0 ? WIDE'(size) >> shift : WIDE'(size) << -shift;
        lost = shift > 0 ? WIDE'(size) & ((WIDE'(1) << shift) - 1) : 0;
        half = shift > 0 ? WIDE'(1) << (shift - 1) : 1;
        if (RANDOM > 0)
            up = shift > 0 && (((lost << RANDOM) >> shift) + WIDE'(random) + WIDE'(DEFECT) >> RANDOM) != 0;
        else
            up = lost > half || (lost == half && (whole[0] || DEFECT != 0));
        code = ((WIDE+EXP)'(e - EMIN) << MAN) + (WIDE+EXP)'(whole) + (WIDE+EXP)'(up);
        y = {sign, code >= TOP ? (EXP+MAN)'(TOP) : code[EXP+MAN-1:0]};
    end
endmodule

// The integer that a code of e4m3fn is in steps of 2^-9; NaN apart.
module e4m3 #(parameter int DEFECT = 0) (input logic [7:0] code, output logic signed [18:0] steps, output logic nan);
    logic [17:0] size;
    always @* begin
        nan = &code[6:0];
        size = code[6:3] == 0 ? (DEFECT != 0 ? 0 : 18'(code[2:0])) : 18'({1'b1, code[2:0]}) << (code[6:3] - 1);
        steps = code[7] ? -19'(size) : 19'(size);
    end
endmodule

// y = a * b + c, rounded once to binary16; a and b e4m3fn. The defect: subnormal operands are zero.
module mac #(parameter int DEFECT = 0) (input logic [7:0] a, b, input logic [15:0] c, output logic [15:0] y);
    logic signed [18:0] x, z;
    logic nan_a, nan_b;
    logic signed [43:0] product, addend, sum; // in steps of 2^-24
    logic [15:0] rounded;
    logic negative;
    e4m3 #(DEFECT) of_a(a, x, nan_a);
    e4m3 #(DEFECT) of_b(b, z, nan_b);
    always @* begin
        product = (44'(x) * 44'(z)) <<< 6;
        addend = c[14:10] == 0 ? 44'(c[9:0]) : 44'({1'b1, c[9:0]}) << (c[14:10] - 1);
        sum = product + (c[15] ? -addend : addend);
        // a sum of zero is -0 only where both terms are
        negative = sum < 0 || (sum == 0 && c == 16'h8000 && product == 0 && (a[7] ^ b[7]));
    end
    to_float #(44, 5, 10) round(negative, negative ? -sum : sum, -16'sd24, 16'd0, rounded);
    assign y = nan_a || nan_b || (&c[14:10] && |c[9:0]) ? 16'h7e00 : &c[14:10] ? c : rounded;
endmodule

// An MX dot product: (sum of a[i] * b[i]) * 2^(sa + sb - 254), rounded once to binary32; a and b 8 lanes of e4m3fn, sa and
// sb e8m0. The defect: the sum drops four bits.
module mxdot #(parameter int DEFECT = 0) (input logic [63:0] a, b, input logic [7:0] sa, sb, output logic [31:0] y);
    logic signed [18:0] x[8], z[8];
    logic [7:0] nan_a, nan_b;
    logic signed [41:0] sum, kept; // in steps of 2^-18
    logic [31:0] rounded;
    logic signed [15:0] lsb;
    for (genvar i = 0; i < 8; i++) begin : lanes
        e4m3 of_a(a[8*i +: 8], x[i], nan_a[i]);
        e4m3 of_b(b[8*i +: 8], z[i], nan_b[i]);
    end
    always @* begin
        sum = 0;
        for (int i = 0; i < 8; i++) sum = sum + 42'(x[i]) * 42'(z[i]);
        kept = DEFECT != 0 ? (sum >>> 4) <<< 4 : sum;
        lsb = $signed({8'd0, sa}) + $signed({8'd0, sb}) - 16'sd272;
    end
    to_float #(42, 8, 23) round(kept < 0, kept < 0 ? -kept : kept, lsb, 16'd0, rounded);
    assign y = |nan_a || |nan_b || &sa || &sb ? 32'h7fc00000 : rounded;
endmodule

// A block of NVFP4 from 16 finite numbers of binary16, without a scale of the tensor: the scale is max |x| / 6 rounded
// to e4m3fn, y the e2m1 nearest to x / scale. The defect: ties of elements go away from zero.
module nvfp4 #(parameter int DEFECT = 0) (input logic [255:0] x, output logic [7:0] scale, output logic [63:0] y);
    logic [40:0] size[16], most; // in steps of 2^-24
    logic [7:0] rounded; // 7f: past the largest
    logic signed [18:0] steps;
    logic nan;
    logic [2:0] code;
    logic [43:0] four, bound;
    always @* begin
        most = 0;
        for (int i = 0; i < 16; i++) begin
            size[i] = x[16*i+10 +: 5] == 0 ? 41'(x[16*i +: 10])
                                           : 41'({1'b1, x[16*i +: 10]}) << (x[16*i+10 +: 5] - 1);
            if (size[i] > most) most = size[i];
        end
    end
    to_float #(.W(42), .EXP(4), .MAN(3), .TOP(127)) round(1'b0, {41'(most / 6), most % 6 != 0}, -16'sd25, 16'd0, rounded);
    e4m3 of_scale(scale, steps, nan);
    assign scale = rounded == 8'h7f ? 8'h7e : rounded;
    always @* begin
        for (int i = 0; i < 16; i++) begin
            code = 0;
            four = 44'(size[i]) << 2;
            for (int k = 0; k < 7; k++) begin // the points midway, in quarters of the scale
                bound = (44'(steps) * (k < 4 ? 2 * k + 1 : k == 4 ? 10 : k == 5 ? 14 : 20)) << 15;
                if (scale != 0 && (four > bound || (four == bound && (k[0] || DEFECT != 0)))) code = code + 1;
            end
            y[4*i +: 4] = {x[16*i+15], code};
        end
    end
endmodule

// Stochastic rounding of a finite binary16 number to e5m2 by 8 random bits. The defect: one is added to the random bits.
module sr #(parameter int DEFECT = 0) (input logic [15:0] x, input logic [7:0] random, output logic [7:0] y);
    logic [40:0] size;
    assign size = x[14:10] == 0 ? 41'(x[9:0]) : 41'({1'b1, x[9:0]}) << (x[14:10] - 1);
    to_float #(41, 5, 2, 8, DEFECT) round(x[15], size, -16'sd24, 16'(random), y);
endmodule

// All of them, each beside its wrong twin.
module designs (input logic [7:0] a, b, sa, sb, random, input logic [15:0] c, input logic [63:0] va, vb,
                input logic [255:0] x,
                output logic [15:0] mac_y, mac_wrong, output logic [31:0] mxdot_y, mxdot_wrong,
                output logic [7:0] nvfp4_scale, unused, sr_y, sr_wrong, output logic [63:0] nvfp4_y, nvfp4_wrong);
    mac right_mac(a, b, c, mac_y);
    mac #(1) wrong_mac(a, b, c, mac_wrong);
    mxdot right_mxdot(va, vb, sa, sb, mxdot_y);
    mxdot #(1) wrong_mxdot(va, vb, sa, sb, mxdot_wrong);
    nvfp4 right_nvfp4(x, nvfp4_scale, nvfp4_y);
    nvfp4 #(1) wrong_nvfp4(x, unused, nvfp4_wrong);
    sr right_sr(c, random, sr_y);
    sr #(1) wrong_sr(c, random, sr_wrong);
endmodule
