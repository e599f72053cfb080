// SPDX-License-Identifier: BSD-2-Clause
// fpemu_dpi.svh - libfpemu in SystemVerilog, by DPI-C. fpemu_dpi.h says what each function does.
//
// With Verilator, and fpemu_dpi.c beside the bench:
//   $ verilator --binary bench.sv fpemu_dpi.c -CFLAGS "$(pkg-config --cflags fpemu)" \
//         -LDFLAGS "$(pkg-config --libs fpemu)"
`ifndef FPEMU_DPI_SVH
`define FPEMU_DPI_SVH

package fpemu_dpi;
    // Rounding modes, operations, flags.
    localparam int RNE = 0, RNA = 1, RNZ = 2, RTZ = 3, RAZ = 4, RTP = 5, RTN = 6, RTO = 7, SR = 8,
                   RNP = 10;
    localparam int ADD = 0, SUB = 1, MUL = 2, DIV = 3, SQRT = 4, FMA = 5, MINIMUM = 6, MAXIMUM = 7,
                   MINIMUM_NUMBER = 8, MAXIMUM_NUMBER = 9;
    localparam int NX = 1, UF = 2, OF = 4, DZ = 8, NV = 16, SUBNORMAL = 32;

    // Lane i of w bits is v[i*w +: w].
    typedef bit [8191:0] lanes_t;

    // Handles and numbers from texts; -1: fpemu_dpi_error() says why.
    import "DPI-C" function string fpemu_dpi_error();
    import "DPI-C" function int fpemu_dpi_format(input string spec);
    import "DPI-C" function int fpemu_dpi_model(input string text);
    import "DPI-C" function int fpemu_dpi_mode(input string name);
    import "DPI-C" function int fpemu_dpi_bits(input int format);

    // Each returns 0, or -1 where it refuses.
    import "DPI-C" function int fpemu_dpi_convert(input int from, input int to, input int mode, input longint code,
                                                  input int random_bits, input int random, output longint result,
                                                  output int flags);
    import "DPI-C" function int fpemu_dpi_operate(input int operation, input int from_a, input int from_b,
                                                  input int from_c, input int to, input int mode, input longint a,
                                                  input longint b, input longint c, input int random_bits,
                                                  input int random, output longint result, output int flags);
    import "DPI-C" function int fpemu_dpi_dot(input int model, input int from_a, input int from_b, input int scale,
                                              input int to, input int mode, input int length, input lanes_t a,
                                              input lanes_t b, input lanes_t scales_a, input lanes_t scales_b,
                                              input int has_c, input longint c, output longint result,
                                              output int flags);
    import "DPI-C" function int fpemu_dpi_quantise(input int format, input int mode, input int length,
                                                   input lanes_t x, output lanes_t packed_bytes, output int bytes);
endpackage

`endif
