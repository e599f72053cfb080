/* SPDX-License-Identifier: BSD-2-Clause */
/* check_spec.c - spec strings, names of roundings, and the decimals in them. */

#include "suite.h"
#include <fenv.h>
#include <locale.h>

START_TEST(canonical_form)
{
    static const struct {
        const char *spec, *canonical;
    } rows[] =
        LIST(/* names and shorts */
             {"bf16", "bf16"}, {"bfloat16", "bf16"}, {"e8m7", "bf16"}, {"fp(8,7,0)", "bf16"}, {"float(8,7)", "bf16"},
             {"binary16", "fp16"}, {"half", "fp16"}, {"e5m10", "fp16"}, {"float(e=5,m=10,bias=15)", "fp16"},
             {"float", "fp32"}, {"f32", "fp32"}, {"e8m23", "fp32"}, {"double", "fp64"}, {"e11m52", "fp64"},
             {"tf32", "tf32"}, {"e8m10", "tf32"}, {"e5m2", "e5m2"}, {"e4m3", "e4m3"}, {"e4m3fn", "e4m3fn"},
             {"float8_e4m3fn", "e4m3fn"}, {"fp8e4m3", "e4m3fn"}, {"ocp_e4m3", "e4m3fn"}, {"e4m3fnuz", "e4m3fnuz"},
             {"e4m3b11fnuz", "e4m3b11fnuz"}, {"float(4,3,11,fnuz)", "e4m3b11fnuz"}, {"e8m0", "e8m0"},
             {"e8m0fnu", "e8m0"}, {"ue8m0", "e8m0"}, {"float(8,0,specials=e8m0,signed=0)", "e8m0"}, {"ue4m3", "ue4m3"},
             {"float(e=4,m=3,specials=fn,signed=0)", "ue4m3"}, {"dlfloat", "dlfloat16"},
             {"float(e=6,m=9,specials=dlfloat)", "dlfloat16"}, {"e3m2", "e3m2"}, {"float6_e3m2fn", "e3m2"},
             {"fp(3,2,0)", "e3m2"}, {"float4_e2m1fn", "e2m1"}, {"e3m2fn", "float(e=3,m=2,specials=fn)"},
             {"e6m9", "float(e=6,m=9)"}, {"e5m3", "float(e=5,m=3)"}, {"e4m2fnuz", "float(e=4,m=2,specials=fnuz)"},
             {"e8m0fn", "float(e=8,m=0,specials=fn)"}, {"E4M3FN", "e4m3fn"},
             {" \te4m3fn : saturate\n", "e4m3fn:saturate"},
             /* calls */
             {"fp(4,3,4)", "fp(4,3,4)"}, {"float(e=4,m=3,bias=11,specials=finite)", "fp(4,3,4)"},
             {"fp(5,2,0)", "fp(5,2,0)"}, {"fp(e=4, m=3, b=-4)", "fp(4,3,-4)"}, {"fp(b=4,m=3,e=4)", "fp(4,3,4)"},
             {"fp(4,m=3,b=4)", "fp(4,3,4)"}, {"fp(8,7,4)", "float(e=8,m=7,bias=131)"},
             {"float(e=8,m=3,specials=finite)", "float(e=8,m=3,specials=finite)"},
             {"float(e=4,m=3,specials=finite,signed=0)", "float(e=4,m=3,specials=finite,signed=0)"},
             {"float(e=4,m=3,bias=9,specials=ieee,signed=1)", "float(e=4,m=3,bias=9)"},
             {"float(e=0,m=4,bias=1,specials=finite)", "float(e=0,m=4,bias=1,specials=finite)"},
             {"float(e=4,m=3,bias=8,specials=fnuz)", "e4m3fnuz"}, {"p3109(8,4,se)", "p3109(8,4,se)"},
             {"P3109(K=8,P=4,domain=UF)", "p3109(8,4,uf)"}, {"Binary8p4se", "p3109(8,4,se)"},
             {"binary3p1uf", "p3109(3,1,uf)"}, {"float(e=4,m=3,specials=p3109e)", "p3109(8,4,se)"},
             {"float(e=5,m=3,specials=p3109f,signed=0)", "p3109(8,4,uf)"},
             {"float(e=4,m=3,bias=7,specials=p3109f)", "float(e=4,m=3,bias=7,specials=p3109f)"},
             {"fixed(8,4)", "fixed(8,4)"}, {"fixed(8,-4)", "fixed(8,-4)"}, {"fixed( 8 , +4 )", "fixed(8,4)"},
             {"ufixed(8,fl=4)", "ufixed(8,4)"}, {"int8", "int8"}, {"int(8)", "int8"},
             {"int(bits=8,scale=1.0,zero=0)", "int8"}, {"uint(16)", "uint16"}, {"int(5)", "int(5)"},
             {"uint(8,scale=0.10,zero=128)", "uint(8,scale=0.1,zero=128)"},
             {"int(8,scale=1e-5)", "int(8,scale=0.00001)"}, {"int(8,scale=.000001)", "int(8,scale=1e-6)"},
             {"int(8,scale=0.5e1,zero=-3)", "int(8,scale=5,zero=-3)"}, {"int(8,2.5e-300)", "int(8,scale=2.5e-300)"},
             {"int(8,scale=123456789012345678)", "int(8,scale=1.2345678901234568e17)"}, {"posit(16,2)", "posit(16,2)"},
             {"posit(n=8,es=0)", "posit(8,0)"},
             /* modifiers, in the canonical order whatever the order given */
             {"e4m3fn:saturate", "e4m3fn:saturate"}, {"e4m3fn:ieee", "e4m3fn"}, {"bf16:KeepInf", "bf16:keepinf"},
             {"e2m1:nan=max:saturate", "e2m1:saturate:nan=max"}, {"e4m3fn:nan=keep", "e4m3fn"},
             {"fp16:nan = error :nosub", "fp16:nosub:nan=error"}, {"fp(4,3,4):flushin", "fp(4,3,4):flushin"},
             {"bf16:flushout", "bf16:flushout"}, {"fixed(8,4):wrap", "fixed(8,4):wrap"},
             {"int8:symmetric:saturate", "int8:saturate:symmetric"},
             /* of which symmetric leaves out -2^1024 */
             {"fixed(2,-1023):symmetric", "fixed(2,-1023):symmetric"},
             {"fixed(54,-971):saturate:symmetric", "fixed(54,-971):saturate:symmetric"},
             {"int(2,scale=1.7e308):symmetric", "int(2,scale=1.7e308):symmetric"},
             {"uint8:wrap:nan=zero", "uint8:wrap:nan=zero"}, {"fixed(8,4):wrap:ieee", "fixed(8,4):wrap"},
             {"posit(8,2):saturate:nan=signmax", "posit(8,2):saturate:nan=signmax"}, {"e8m0:saturate", "e8m0:saturate"},
             /* blocks, codebooks */
             {"mxfp8", "mxfp8_e4m3"}, {"MXFP4", "mxfp4"}, {"mx(e2m1)", "mxfp4"},
             {"mx(e2m1,block=32,scale=e8m0,rule=floor)", "mxfp4"}, {" mx ( fp(2,1,0) , block = 32 ) ", "mxfp4"},
             {"block(e2m1,block=32,scale=e8m0,rule=floor)", "mxfp4"}, {"mx(e2m1,16)", "mx(e2m1,block=16)"},
             {"mx(e2m1,row,e8m0,rceil)", "mx(e2m1,block=row,rule=rceil)"},
             {"mx(e2m1,rule=ceil,block=tensor)", "mx(e2m1,block=tensor,rule=ceil)"},
             {"mx(e2m1,scale=e4m3fn)", "mx(e2m1,scale=e4m3fn)"}, {"mx(e4m3fn,scale=ue8m0)", "mxfp8_e4m3"},
             {"mx(e5m2:flushout,block=16x16)", "mx(e5m2:flushout,block=16x16)"},
             {"mx(e5m2,block=16x16):flushout", "mx(e5m2:flushout,block=16x16)"},
             {"mxfp8_e5m2:flushout", "mxfp8_e5m2:flushout"}, {"mx(e5m2:flushout)", "mxfp8_e5m2:flushout"},
             {"mx(e2m1:saturate)", "mxfp4:saturate"}, {"mx(fixed(8,6):symmetric)", "mxint8"},
             {"mx(fixed(8,6))", "mx(fixed(8,6))"}, {"mx(fixed(8,6)):symmetric", "mxint8"},
             {"mx(int8,rule=even)", "mx(int8,rule=even)"}, {"mx(int12)", "mx(int(12))"},
             {"mx(posit(8,1))", "mx(posit(8,1))"}, {"mx(table(nf4))", "mx(table(nf4))"}, {"nvfp4", "nvfp4"},
             {"nvfp4(e2m1)", "nvfp4"}, {"nvfp4(block=16x16)", "nvfp4(block=16x16)"},
             {"nvfp4(rule=nvfp4-ao)", "nvfp4(rule=nvfp4-ao)"}, {"nvfp4(rule=4OVER6)", "nvfp4(rule=4over6)"},
             {"nvfp4(block=16x16,rule=4over6-mse,bound=256)", "nvfp4(block=16x16,rule=4over6-mse,bound=256)"},
             {"nvfp4(rule=eden,correct=128)", "nvfp4(rule=eden)"},
             {"nvfp4(block=8,rule=eden,CORRECT=128)", "nvfp4(block=8,rule=eden,correct=128)"},
             {"mx(e2m1,rule=even,correct=256)", "mx(e2m1,rule=even,correct=256)"},
             {"group(int2,tensor,rule=absmean)", "group(int(2),block=tensor,rule=absmean)"},
             {"nvfp4(outer=tensor)", "nvfp4"}, {"nvfp4(rule=4over6,outer=ROW)", "nvfp4(rule=4over6,outer=row)"},
             {"nvfp4(search=-4..+4)", "nvfp4(search=-4..4)"},
             {"mx(e2m1,search=3..1/2,error=Weighted)", "mx(e2m1,search=3..1/2,error=weighted)"},
             {"block(fixed(4,3):symmetric,block=16,exponent=8,rule=floor,search=1..0,error=absolute)",
              "bfp(3,search=1..0,error=absolute)"},
             {"nvfp4(margin=17/16)", "nvfp4(target=5.647058963775635)"}, {"nvfp4(clip=0.75)", "nvfp4(target=8)"},
             {"mx(e2m1,16,e8m0,rceil,3/4)", "mx(e2m1,block=16,rule=rceil,target=8)"},
             {"mx(e2m1,target=7.25)", "mx(e2m1,target=7.25)"}, {"scaled(e5m2,margin=3)", "scaled(e5m2,margin=3)"},
             {"scaled(e5m2,margin=8/7)", "scaled(e5m2,target=50176)"},
             {"nvfp4(e2m1,scale=ue5m3,rule=nvfp4-clamp)", "amdfp4"}, {"float(5,3,15,fn,0)", "ue5m3"},
             {"amdfp4:saturate", "amdfp4:saturate"}, {"nvfp4(e2m3,32,ue4m3)", "nvfp4(e2m3,block=32,scale=ue4m3)"},
             {"bfp(3,16,8,hbfp)", "msfp12"}, {"bfp(7,rule=hbfp)", "msfp16"}, {"hbfp(7,16,8)", "msfp16"},
             {"bfp(m=8,block=16)", "bfp(8)"},
             {"bfp(7,block=row,exponent=5,rule=ceil)", "bfp(7,block=row,exponent=5,rule=ceil)"},
             {"bfp(7):nan=zero", "bfp(7):nan=zero"}, {"block(fixed(8,7):symmetric,16,exponent=8,rule=floor)", "bfp(7)"},
             {"block(fixed(8,7),16,exponent=8,rule=floor)", "block(fixed(8,7),block=16,exponent=8,rule=floor)"},
             {"hbfp(8)", "hbfp(8)"}, {"hbfp(8,24x24)", "hbfp(8,block=24x24)"},
             {"bfp(8,24x24,12,hbfp)", "hbfp(8,block=24x24)"}, {"bm(2,5)", "bm(2,5)"},
             {"bm(e=4,m=3,block=48x48)", "bm(4,3,block=48x48)"},
             {"block(float(2,5,2,finite),32,exponent=8,rule=floor)", "bm(2,5)"},
             {"group(int12,2048)", "group(int(12))"}, {"group(int4:symmetric,128)", "group(int4,block=128)"},
             {"group(int8,128,bf16)", "group(int8,block=128,scale=bf16)"}, {"group(uint8)", "group(uint8)"},
             {"group(fixed(8,0))", "group(fixed(8,0))"}, {"group(int(8,scale=0.5))", "group(int(8,scale=0.5))"},
             {"block(int8,2048,scale=fp32,rule=absmax)", "block(int8,block=2048,scale=fp32,rule=absmax)"},
             {"codebook(dynamic8,2048)", "codebook(dynamic8,block=2048)"},
             {"codebook(UDynamic4)", "codebook(udynamic4)"}, {"codebook(nf4,64)", "nf4"},
             {"group(table(nf4),64)", "nf4"}, {"nf4", "nf4"}, {"table(nf4)", "table(nf4)"},
             {"table(table=dynamic6):nan=zero", "table(dynamic6):nan=zero"},
             {"codebook(dynamic5):nan=max", "codebook(dynamic5):nan=max"}, {"scaled(e4m3fn)", "scaled(e4m3fn)"},
             {"scaled(e5m2,row,2,recipe-pow2)", "scaled(e5m2,block=row,margin=2,rule=recipe-pow2)"},
             {"block(e4m3fn,tensor,scale=fp32,rule=recipe,margin=1)", "scaled(e4m3fn,margin=1)"},
             {"muppet(8)", "muppet(8)"}, {"muppet(12,exponent=8)", "muppet(12,exponent=8)"},
             {"muppet(8):symmetric", "muppet(8):symmetric"},
             {"block(fixed(8,4),tensor,exponent=10,rule=muppet)",
              "block(fixed(8,4),block=tensor,exponent=10,rule=muppet)"},
             {"s2fp8(e5m2)", "s2fp8"}, {"s2fp8(e4m3fn)", "s2fp8(e4m3fn)"},
             {"block(e5m2,tensor,scale=fp32,rule=s2fp8)", "s2fp8"}, {"msfp12", "msfp12"},
             {"bfp(3,block=4294967295)", "bfp(3,block=4294967295)"}, {"uint1", "uint(1)"}, {"INT32", "int(32)"},
             {"int8", "int8"});
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[256];
        REQUIRE(round_trip(rows[i].spec, text), "%s: refused", rows[i].spec);
        REQUIRE(strcmp(text, rows[i].canonical) == 0, "%s prints as %s, not %s", rows[i].spec, text, rows[i].canonical);
    }
}
END_TEST

START_TEST(bad_specs)
{
    static const struct {
        const char *spec;
        uint32_t position;
        const char *mentions; /* part of the message */
    } rows[] =
        LIST(/* no format at all */
             {"", 0, "the end"}, {"   ", 3, "the end"}, {"foo", 0, "'foo'"}, {":saturate", 0, "':'"},
             {"(4,3)", 0, "'('"}, {"int5x", 0, "format"}, {"-e4m3", 0, "'-e4m3'"}, {"\x80", 0, "\\x80"},
             {"e", 0, "format"}, {"binary8", 0, "format"},
             /* shorts */
             {"e4", 2, "'m'"}, {"e4x3", 2, "'m'"}, {"e4m", 3, "mantissa"}, {"e4mfn", 3, "mantissa"},
             {"e4m3xx", 4, "fnuz"}, {"e12m3", 1, "0 to 11"}, {"e99999999999999999999m3", 1, "0 to 11"},
             {"e4m53", 3, "0 to 52"}, {"e0m3", 1, "bias"}, {"e1m0", 3, "m >= 1"}, {"e4m3 fn", 5, "':'"},
             {"bf16x", 0, "'bf16x'"}, {"e4m3fn(3)", 6, "'('"}, {"bf16 (8)", 5, "':' or the end"},
             /* P3109 */
             {"binary8p4", 9, "se, sf"}, {"binary8p4sx", 9, "se, sf"}, {"binary8p9se", 8, "P from 1"},
             {"binary2p1se", 6, "K from 3"}, {"p3109(8,4)", 9, "domain="}, {"p3109(8,8,se)", 8, "P from 1"},
             {"p3109(2,1,se)", 6, "K from 3"}, {"p3109(8,4,sx)", 10, "se, sf"}, {"p3109(64,3,se)", 9, "11 exponent"},
             /* calls */
             {"fixed", 5, "'('"}, {"fixed(", 6, "wl="}, {"fixed()", 6, "wl=, fl="}, {"fixed(8", 7, "fl="},
             {"fixed(8)", 7, "fl="}, {"fixed(8,)", 8, "fl="}, {"fixed(8,4", 9, "')'"},
             {"fixed(8,4,2)", 10, "no further"}, {"fixed(8 4)", 8, "','"}, {"fixed(8.5,4)", 7, "','"},
             {"fixed(x,4)", 6, "whole number"}, {"fixed(-,4)", 7, "whole number"}, {"fixed(0,4)", 6, "word length"},
             {"fixed(55,4)", 6, "1 to 54"}, {"fixed(8,2000)", 8, "fraction length"},
             {"fixed(fl=4,8)", 11, "named argument"}, {"fixed(8,wl=8)", 8, "once"}, {"fixed(wl=8,wl=8)", 11, "once"},
             {"fixed(wl=8,xx=4)", 11, "wl=, fl="}, {"fixed(wl=8,fl=)", 14, "whole number"}, {"fixed(8,4)x", 10, "':'"},
             {"fixed(8,4))", 10, "':'"}, {"float(e=4)", 9, "m="}, {"float(e=20,m=3)", 8, "0 to 11"},
             {"float(e=4,m=60)", 12, "0 to 52"}, {"float(e=4,m=3,bias=9999)", 19, "bias"},
             {"float(e=4,m=3,specials=odd)", 23, "ieee, fn"}, {"float(e=4,m=3,signed=2)", 21, "0 or 1"},
             {"float(e=4,m=3,specials=fnuz,signed=0)", 35, "sign"}, {"float(e=0,m=3,bias=1)", 8, "ieee"},
             {"float(e=0,m=3,specials=finite)", 8, "bias"}, {"float(e=0,m=0,bias=1,specials=finite)", 30, "m >= 1"},
             {"float(e=5,m=2,specials=e8m0)", 23, "e=8"}, {"fp(4,3)", 6, "b="}, {"fp(9,3,0)", 3, "1 to 8"},
             {"fp(0,3,0)", 3, "1 to 8"}, {"fp(4,3,5000)", 7, "bias"}, {"int(0)", 4, "1 to 32"},
             {"int(33)", 4, "1 to 32"}, {"int(8,scale=0)", 12, "above 0"}, {"int(8,scale=-1)", 12, "positive"},
             {"int(8,scale=inf)", 12, "'inf'"}, {"int(8,scale=1e)", 14, "exponent"},
             {"int(8,scale=1e400)", 12, "binary64"}, {"int(8,scale=1e-400)", 12, "above 0"},
             {"int(8,scale=.)", 13, "decimal"}, {"int(8,scale=1,zero=128)", 19, "zero point"},
             {"int(8,scale=1,5", 14, "named argument"}, {"int(8,scale=0,1", 14, "named argument"},
             {"posit(1,0)", 6, "2 to 32"}, {"posit(33,2)", 6, "2 to 32"}, {"posit(8,6)", 8, "0 to 5"},
             {"posit(8)", 7, "es="}, {"float()", 6, ": e=, m="}, {"fp()", 3, ": e=, m=, b="},
             {"p3109()", 6, ": k=, p=, domain="}, {"ufixed()", 7, ": wl=, fl="}, {"int()", 4, ": bits="},
             {"uint()", 5, ": bits="}, {"posit()", 6, ": n=, es="}, {"table()", 6, ": table="},
             /* modifiers */
             {"bf16:", 5, "saturate"}, {"bf16:bogus", 5, "'bogus'"}, {"bf16::saturate", 5, "':'"},
             {"e4m3fn:wrap", 7, "'wrap'"}, {"e4m3fn:symmetric", 7, "nosub"}, {"int8:nosub", 5, "symmetric"},
             {"posit(8,2):wrap", 11, "'wrap'"}, {"posit(8,2):flushin", 11, "keepinf"},
             {"e4m3fn:saturate:ieee", 16, "one overflow"}, {"e4m3fn:saturate:saturate", 16, "one overflow"},
             {"bf16:nosub:flushin", 11, "one reading"}, {"bf16:nan", 8, "'='"}, {"bf16:nan=", 9, "signmax"},
             {"bf16:nan=min", 9, "signmax"}, {"bf16:nan=max:nan=max", 13, "once"}, {"bf16:saturate=1", 13, "':'"},
             {"bf16,saturate", 4, "':'"}, {"fixed(8,4):wrap:symmetric", 16, "cannot wrap"},
             {"fixed(8,4):symmetric:wrap", 21, "cannot wrap"}, {"ufixed(8,4):symmetric", 12, "signed"},
             {"int8:wrap:saturate", 10, "one of them"}, {"int(8,zero=3):symmetric", 14, "zero=0"},
             {"e8m0:nosub", 5, "by nature"}, {"dlfloat16:flushin", 10, "by nature"},
             {"float(e=1,m=3):nosub", 15, "kept"},
             /* what comes first is reported */
             {"float(e=20,m=3):bogus", 8, "0 to 11"},
             /* blocks, codebooks */
             {"mx", 2, "'(' and arguments element="}, {"mx(", 3, "element="}, {"mx()", 3, "element="},
             {"mx(block=32)", 11, "element="}, {"mx(e2m1,)", 8, "argument"}, {"mx(e2m1,block=0)", 14, "block of 1"},
             {"mx(e2m1,block=4294967296)", 14, "block of 1"}, {"mx(e2m1,block=16x0)", 14, "block of 1"},
             {"mx(e2m1,block=16x)", 17, "length of the rows"}, {"mx(e2m1,block=16y16)", 14, "RxC"},
             {"mx(e2m1,block=column)", 14, "channel"}, {"mx(e2m1,exponent=8)", 8, "scale="},
             {"mx(e2m1,scale=int8)", 14, "a float"}, {"mx(e2m1,scale=fp64)", 14, "32 bits"},
             {"mx(e2m1,scale=e4m3fn:saturate)", 14, "policies"}, {"mx(e2m1,scale=e4m3fn:nosub)", 14, "policies"},
             {"mx(e2m1,scale=mxfp4)", 14, "without blocks"},
             {"block(int8,2048,exponent=8,rule=absmax)", 32, "a float as scale with this rule"},
             {"block(e2m1,16,scale=bf16,rule=nvfp4)", 30, "a scale whose largest value"},
             {"nvfp4(e2m1,scale=e8m0,rule=nvfp4-ao)", 27, "a scale whose largest value"},
             {"nvfp4(e2m1,scale=fp32)", 17, "a scale whose largest value"},
             {"mx(e2m1,rule=absmax)", 13, "floor, ceil, even or rceil"}, {"mx(e2m1,rule=flor)", 13, "or another rule"},
             {"mx(e2m1,rule=nvfp4-)", 13, "or another rule"}, {"mx(e2m1,rule=)", 13, "floor"},
             {"mx(mxfp4)", 3, "without blocks"}, {"mx(mx(e2m1))", 3, "without blocks"}, {"mx(mx)", 3, "without blocks"},
             {"mx(e2m1:wrap)", 8, "saturate"}, {"mx(int8:wrap)", 3, "does not wrap"},
             {"mx(int8):wrap", 9, "does not wrap"}, {"mx(e2m1", 7, "',' or ')'"}, {"mx(e2m1 e3m2)", 8, "',' or ')'"},
             {"mx(e2m1))", 8, "the end"}, {"mx(posit(8,1),rule=even)", 19, "precision"},
             {"mx(fixed(1,0))", 3, "positive value"}, {"mxfp4(e2m1)", 5, "':' or the end"},
             {"nvfp4(block=row)", 12, "N or RxC"}, {"nvfp4(rule=floor)", 11, "4over6 or 4over6-mse"},
             {"nvfp4(e2m3,rule=4over6)", 16, "e2m1 with"}, {"nvfp4(e2m1:nosub,rule=4over6)", 22, "e2m1 with"},
             {"nvfp4(block=4097,rule=4over6)", 22, "4096 elements"}, {"nvfp4(block=65x2,rule=4over6)", 22, "64 rows"},
             {"nvfp4(outer=column)", 12, "tensor or row"}, {"nvfp4(block=2x2,outer=row)", 22, "blocks N alone"},
             {"mx(e2m1,search=1)", 16, "FIRST..LAST, two"}, {"mx(e2m1,search=1..1)", 15, "two different"},
             {"mx(e2m1,search=1..40000/2)", 15, "below 32768"}, {"mx(e2m1,search=1..2/0)", 15, "below 65536"},
             {"nvfp4(error=absolute)", 12, "two scales or more"}, {"nvfp4(search=1..256)", 13, "1024 shares"},
             {"nvfp4(search=0..4/2)", 13, "1024 shares"}, {"nvfp4(search=2..33/2)", 13, "1024 shares"},
             {"nvfp4(rule=4over6,search=1..2)", 25, "with 4over6 rules"},
             {"nvfp4(correct=16)", 14, "the rule eden, or"}, {"mx(e2m1,search=0..1,correct=64)", 28, "no search"},
             {"nvfp4(rule=eden,correct=20)", 24, "whole blocks"}, {"nvfp4(block=2x2,rule=eden)", 21, "block N"},
             {"mx(e2m1,search=0..1,error=x)", 26, "squares,"}, {"mx(e2m1,block=row,search=0..1)", 25, "64 rows"},
             {"group(uint4,block=16,scale=fp16,rule=ggml-1k)", 37, "block=32 with"},
             {"group(uint4,block=32,rule=ggml-1k)", 26, "at most 16 bits"},
             {"group(int4,block=32,scale=fp16,rule=ggml-1k)", 36, "int(B) but"},
             {"group(uint4,block=16,scale=fp16,rule=ggml-0k)", 37, "and ggml-0k"},
             {"group(int4,rule=minmax,search=0..1)", 30, "alone"}, {"group(int4,scale=hif8,search=0..1)", 29, "shares"},
             {"scaled(e5m2,search=0..1)", 12, "target=, clip="}, {"nvfp4(bound=449)", 12, "a scale from"},
             {"nvfp4(bound=0)", 12, "above zero"}, {"nvfp4(bound=-2)", 12, "decimal"},
             {"mx(e2m1,bound=2)", 8, "target=,clip="}, {"nvfp4(foo=1)", 6, "error,correct"},
             {"block(e2m1,foo=1)", 11, "outer,search,..."},
             {"block(e2m1,block=32,scale=e8m0,rule=floor,bound=2)", 48, "nvfp4 rules alone"},
             {"mx(e2m1,target=0.37)", 15, "16 times"}, {"mx(e2m1,target=97)", 15, "16 times"},
             {"mx(e2m1,target=0)", 15, "above zero"}, {"mx(e2m1,target=x)", 15, "decimal"},
             {"mx(e2m1,target=6,target=6)", 17, "once"}, {"mx(e2m1,target=6,clip=1)", 22, "one of them"},
             {"mx(e2m1,clip=0)", 13, "16 times"}, {"mx(e2m1,clip=0.9,margin=3/2)", 24, "one of them"},
             {"mx(e2m1,margin=17/0)", 18, "1 to 65535"}, {"mx(e2m1,margin=17/)", 18, "whole number"},
             {"mx(e2m1,margin=2)", 15, "margin=N/D"}, {"mx(e2m1,margin=1/17)", 15, "16 times"},
             {"s2fp8(target=2)", 6, "found"}, {"muppet(8,target=2)", 9, "block="},
             {"block(int8,block=32,exponent=8,rule=muppet,target=127)", 50, "muppet"},
             {"e4m3fn(target=2)", 6, "the end"}, {"bfp(0)", 4, "word length"}, {"bfp(-1)", 4, "word length"},
             {"bfp(60)", 4, "word length"}, {"bfp(7,exponent=1)", 15, "2 to 12"}, {"bfp(7,exponent=13)", 15, "2 to 12"},
             {"bfp(7,exponent=-9)", 15, "2 to 12"}, {"bfp(7,rule=recipe)", 11, "hbfp"},
             {"bfp(7,scale=e8m0)", 6, "exponent="}, {"hbfp(7,rule=floor)", 7, "exponent="}, {"bm(2)", 4, "m="},
             {"bm(0,5)", 3, "a bias"}, {"mx(element=e2m1,32)", 16, "named argument"}, {"codebook(nf5)", 9, "dynamic8"},
             {"codebook(dynamic9)", 9, "dynamic8"}, {"codebook(dynamic)", 9, "dynamic8"},
             {"codebook(e2m1)", 9, "dynamic8"}, {"table(nf4,3)", 10, "no further"},
             {"scaled(e4m3fn,margin=65)", 21, "margin"}, {"scaled(e4m3fn,margin=-1)", 21, "margin"},
             {"scaled(e4m3fn,rule=floor)", 19, "recipe"}, {"muppet(33)", 7, "1 to 32"}, {"s2fp8(int8)", 6, "a float"},
             {"block(e2m1,block=32,rule=floor)", 0, "scale="}, {"block(e2m1,block=32,scale=e8m0)", 30, "rule="},
             {"block(e2m1,block=32,scale=e8m0,exponent=8,rule=floor)", 40, "one of them"},
             {"block(e2m1,block=32,scale=bf16,rule=recipe)", 36, "fp32"},
             {"block(e2m1,block=32,exponent=8,rule=recipe)", 36, "fp32"},
             {"block(e2m1,block=32,exponent=8,rule=nvfp4)", 36, "a float"},
             {"block(e2m1,block=33,scale=e8m0,rule=pairs)", 36, "1 to 32"},
             {"block(e2m1,block=8,scale=fp16,rule=pairs)", 35, "powers of two"},
             {"block(e2m1,block=32,scale=ue6m2,rule=hif4)", 37, "block=64"},
             {"block(int4,block=64,exponent=8,rule=hif4)", 36, "scale=ue6m2"},
             {"block(e2m1,block=64,scale=ue6m2,rule=hif4)", 37, "fixed(4,2)"},
             {"block(e2m1,block=32,scale=e8m0,rule=floor,margin=1)", 49, "margin"},
             {"block(int8,block=32,scale=e8m0,rule=muppet)", 36, "power of two"},
             {"block(int(8,scale=0.3),block=32,exponent=8,rule=muppet)", 48, "power of two"},
             {"block(e5m2,block=32,scale=fp32,rule=s2fp8)", 36, "tensor"},
             {"block(e5m2,block=tensor,scale=fp32,rule=none)", 40, "floor"}, {"int33", 3, "1 to 32"},
             {"int0", 3, "1 to 32"}, {"uint99999999999999999999", 4, "1 to 32"}, {"int5x", 0, "format"},
             {"sint5", 0, "format"}, {"mxfp4(block=16)", 0, "did you mean mx(e2m1,block=16)?"},
             {"nvf4", 0, "did you mean nvfp4 or nf4?"}, {"mx(fp4)", 3, "did you mean e2m1?"});
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        fpemu_format f;
        fpemu_parse_error error;
        char text[256];
        REQUIRE(!round_trip(rows[i].spec, text), "%s: accepted as %s", rows[i].spec, text);
        REQUIRE(fpemu_format_parse(rows[i].spec, &f, &error) == FPEMU_ERROR_SPEC, "%s", rows[i].spec);
        REQUIRE(error.position == rows[i].position, "%s: at %u, not %u: %s", rows[i].spec, error.position,
                rows[i].position, error.message);
        REQUIRE(strstr(error.message, rows[i].mentions), "%s: \"%s\" does not mention %s", rows[i].spec, error.message,
                rows[i].mentions);
        REQUIRE(fpemu_format_parse(rows[i].spec, &f, NULL) == FPEMU_ERROR_SPEC, "%s: without error", rows[i].spec);
    }
}
END_TEST

START_TEST(length)
{
    char text[300];
    fpemu_format f;
    fpemu_parse_error error;
    memset(text, ' ', sizeof text);
    memcpy(text, "e4m3fn", 6);
    text[255] = '\0';
    GIVES_OK(fpemu_format_parse(text, &f, &error));
    ck_assert_uint_eq(error.position, 0);
    ck_assert_str_eq(error.message, "");
    text[255] = ' ';
    text[256] = '\0';
    REFUSES(SPEC, fpemu_format_parse(text, &f, &error));
    ck_assert_uint_eq(error.position, 255);
    ck_assert_ptr_nonnull(strstr(error.message, "255 bytes"));

    /* the longest number that fits */
    memset(text, '9', sizeof text);
    memcpy(text, "int(8,scale=0.", 14);
    text[254] = ')';
    text[255] = '\0';
    GIVES_OK(fpemu_format_parse(text, &f, &error));
    ck_assert(f.scale == 1);
    memcpy(text, "int(8,scale=", 12);
    memset(text + 12, '9', 242);
    GIVES_OK(fpemu_format_parse(text, &f, &error));
    ck_assert(f.scale == 1e242);
}
END_TEST

/* Every kind, parameter and modifier, in generated texts: right ones read back, wrong ones are refused cleanly. */
START_TEST(generated)
{
    static const char *const specials[] = {"ieee",   "fn",   "fnuz",    "finite", "p3109e",
                                           "p3109f", "e8m0", "dlfloat", "hif8"};
    static const char *const policies[] = {"", "", "", ":saturate", ":ieee", ":keepinf"};
    static const char *const low[] = {"", "", ":nosub", ":flushin", ":flushout"};
    static const char *const ends[] = {"", "", "", ":wrap", ":symmetric"};
    static const char *const nans[] = {"", "", ":nan=keep", ":nan=max", ":nan=signmax", ":nan=zero", ":nan=error"};
    static const char *const domains[] = {"se", "sf", "ue", "uf"};
    char spec[256], base[128], text[256];
    int read = 0;
    random_state = 1;
    for (int e = 0; e <= 12; e++)
        for (int m = 0; m <= 53; m += m < 5 ? 1 : 6)
            for (int s = 0; s < 8; s++)
                for (int is_signed = 0; is_signed < 2; is_signed++)
                    for (int i = 0; i < 3; i++) {
                        snprintf(base, sizeof base,
                                 i == 2 ? "float(%d,%d,%d,%s,%d)" : "float(e=%d,m=%d,bias=%d,specials=%s,signed=%d)", e,
                                 m, i == 0 ? (1 << (e > 0 ? e - 1 : 0)) - 1 : (int)below(2400) - 1200, specials[s],
                                 is_signed);
                        snprintf(spec, sizeof spec, "%s%s%s%s", base, policies[below(6)], low[below(5)],
                                 nans[below(7)]);
                        read += round_trip(spec, text);
                    }
    for (int i = 0; i < 10000; i++) {
        switch (below(7)) {
        case 0: snprintf(base, sizeof base, "fixed(%u,%d)", below(60), (int)below(2400) - 1200); break;
        case 1: snprintf(base, sizeof base, "ufixed(%u,%d)", below(60), (int)below(40) - 20); break;
        case 2:
            snprintf(base, sizeof base, "%sint(%u,scale=%u.%ue%d,zero=%d)", below(2) ? "u" : "", below(34), below(100),
                     below(100000), (int)below(660) - 330, (int)below(600) - 300);
            break;
        case 3: snprintf(base, sizeof base, "int(%u,scale=%.17g)", 1 + below(32), 1.0 / (1 + below(100000))); break;
        case 4: snprintf(base, sizeof base, "posit(%u,%u)", below(35), below(6)); break;
        case 5: snprintf(base, sizeof base, "p3109(%u,%u,%s)", below(66), below(60), domains[below(4)]); break;
        default: snprintf(base, sizeof base, "fp(%u,%u,%d)", below(10), below(54), (int)below(1000) - 500); break;
        }
        snprintf(spec, sizeof spec, "%s%s%s%s", base, policies[below(6)], ends[below(5)], nans[below(7)]);
        read += round_trip(spec, text);
    }
    ck_assert_int_gt(read, 6000);
}
END_TEST

/* Texts made of random bytes, and of good ones with bytes changed, cut out and doubled. */
START_TEST(noise)
{
    static const char *const good[] = LIST(
        "e4m3fn:saturate", "float(e=4,m=3,bias=11,specials=finite,signed=1):nan=max", "p3109(8,4,se)",
        "fixed(8,4):wrap", "uint(8,scale=0.1e-3,zero=128)", "Binary8p4se", "posit(16,2):keepinf", "fp(4,3,-4):flushout",
        "mx(e2m1,block=16,scale=e8m0,rule=rceil)", "bfp(7,block=16x16,exponent=8,rule=hbfp):nan=zero",
        "group(int12,2048)", "codebook(dynamic8,block=channel)", "scaled(float(e=4,m=3),row,margin=2,rule=recipe-pow2)",
        "block(fixed(8,7):symmetric,block=tensor,exponent=8,rule=floor,margin=0)", "nvfp4(block=16x16)", "uint12");
    static const char likely[] = "emfnuzpKPbias=(),:.0123456789 -+\t_sxEMrowtl";
    char text[300], canonical[256];
    fpemu_rounding rounding;
    fpemu_parse_error error;
    int accepted = 0;
    random_state = 2;
    for (int i = 0; i < 300000; i++) {
        size_t n;
        if (i % 4 == 0) {
            n = below(i % 400 == 0 ? 299 : 24);
            for (size_t j = 0; j < n; j++)
                text[j] = i % 8 ? likely[below(sizeof likely - 1)] : (char)(1 + below(255));
        } else {
            const char *const from = good[below(sizeof good / sizeof good[0])];
            n = strlen(from);
            memcpy(text, from, n);
            for (uint32_t changes = 1 + below(3); changes > 0 && n > 1; changes--) {
                const size_t at = below((uint32_t)n);
                switch (below(3)) {
                case 0: text[at] = likely[below(sizeof likely - 1)]; break;
                case 1: memmove(text + at, text + at + 1, --n - at); break;
                default: memmove(text + at + 1, text + at, n++ - at); break;
                }
            }
        }
        text[n] = '\0';
        accepted += round_trip(text, canonical);
        if (fpemu_rounding_parse(text, &rounding, &error) != FPEMU_OK)
            REQUIRE(error.position <= n, "%s: position", text);
    }
    ck_assert_int_gt(accepted, 1000);
}
END_TEST

/* The C library reads correctly rounded under "C" and to nearest: scales must agree, and print no longer than %.17g
 * needs. */
START_TEST(decimals)
{
    random_state = 3;
    for (int i = 0; i < 30000; i++) {
        char number[64], spec[96], text[256];
        fpemu_format f;
        double x;
        uint64_t u = split_mix(&random_state) >> 1;
        if (i % 3 == 1) /* near powers of two */
            u = (u & UINT64_C(0x7ff0000000000000)) + below(3) - 1;
        if (i % 3 == 2) /* few digits */
            snprintf(number, sizeof number, "%u.%ue%d", below(1000), below(1000), (int)below(640) - 330);
        else {
            u %= UINT64_C(0x7ff0000000000000);
            memcpy(&x, &u, sizeof x);
            snprintf(number, sizeof number, "%.*e", (int)below(20), x);
        }
        x = strtod(number, NULL);
        snprintf(spec, sizeof spec, "uint(1,scale=%s)", number);
        if (fpemu_format_parse(spec, &f, NULL) != FPEMU_OK) {
            REQUIRE(!(x > 0 && x <= 0x1.fffffffffffffp1023), "%s refused", spec);
            continue;
        }
        REQUIRE(memcmp(&f.scale, &x, sizeof x) == 0, "%s read as %a, not %a", number, f.scale, x);
        REQUIRE(fpemu_format_print(&f, text, sizeof text) == FPEMU_OK, "%s", spec);
        const char *printed = strstr(text, "scale=");
        if (!printed)
            continue;
        printed += 6;
        REQUIRE(strtod(printed, NULL) == x, "%s printed as %s", number, printed);
        int precision = 1, digits = 0, zeros = 0;
        for (; precision < 17; precision++) {
            snprintf(number, sizeof number, "%.*e", precision - 1, x);
            if (strtod(number, NULL) == x)
                break;
        }
        for (const char *c = printed; *c && *c != 'e' && *c != ')'; c++)
            if (*c >= '0' && *c <= '9' && (digits || *c != '0')) {
                digits++;
                zeros = *c == '0' ? zeros + 1 : 0;
            }
        REQUIRE(digits - zeros <= precision, "%s has more than %d digits", printed, precision);
    }
    /* 2^-44, whose nearest 16 digits lie on the narrow side of the power of two and read back as its neighbour; ends
     * of the range; ties */
    static const struct {
        const char *number;
        double value;
        const char *printed;
    } rows[] = LIST({"5.684341886080802e-14", 0x1p-44, "5.684341886080802e-14"},
                    {"4.9406564584124654e-324", 0x1p-1074, "5e-324"}, {"2.4703282292062328e-324", 0x1p-1074, "5e-324"},
                    {"2.2250738585072011e-308", 0x0.fffffffffffffp-1022, "2.225073858507201e-308"},
                    {"1.7976931348623157e308", 0x1.fffffffffffffp1023, "1.7976931348623157e308"},
                    {"9007199254740993", 0x1p53, "9007199254740992"},
                    {"9007199254740993.0000000000000000000000000000000000000000000000000001", 0x1.0000000000001p53,
                     "9007199254740994"},
                    {"9007199254740995", 0x1.0000000000002p53, "9007199254740996"}, {"0.1", 0.1, "0.1"},
                    {"100", 100, "100"}, {"1e23", 1e23, "1e23"}, {"0.000123", 0.000123, "0.000123"});
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char spec[96], text[256], want[96];
        fpemu_format f;
        snprintf(spec, sizeof spec, "uint(1,scale=%s)", rows[i].number);
        snprintf(want, sizeof want, "uint(1,scale=%s)", rows[i].printed);
        REQUIRE(fpemu_format_parse(spec, &f, NULL) == FPEMU_OK && f.scale == rows[i].value, "%s: %a", spec, f.scale);
        fpemu_format_print(&f, text, sizeof text);
        REQUIRE(strcmp(text, want) == 0, "%s prints as %s", spec, text);
    }
}
END_TEST

/* Neither the locale's decimal point nor the rounding direction reach the decimals, or what is derived of them. */
START_TEST(surroundings)
{
    static const char *const locales[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "tr_TR.UTF-8", "C"};
    static const int directions[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO, FE_TONEAREST};
    const fpemu_format want = format_of("int(31,scale=0.1,zero=77)");
    for (size_t i = 0; i < sizeof locales / sizeof locales[0]; i++) {
        if (!setlocale(LC_ALL, locales[i]))
            continue;
        for (int d = 0; d < 4; d++) {
            fpemu_format f;
            char text[256];
            fesetround(directions[d]);
            const fpemu_status status = fpemu_format_parse("INT(31,SCALE=0.1,ZERO=77)", &f, NULL);
            fpemu_format_print(&f, text, sizeof text);
            fesetround(FE_TONEAREST);
            GIVES_OK(status);
            ck_assert(f.scale == 0.1 && memcmp(&f, &want, sizeof f) == 0);
            ck_assert_str_eq(text, "int(31,scale=0.1,zero=77)");
        }
    }
    setlocale(LC_ALL, "C");
}
END_TEST

START_TEST(roundings)
{
    static const struct {
        const char *text;
        int mode, overflow, nan, compat;
    } rows[] =
        LIST({"rne", FPEMU_MODE_RNE, 0, 0, 0}, {"RNA", FPEMU_MODE_RNA, 0, 0, 0}, {" rnz ", FPEMU_MODE_RNZ, 0, 0, 0},
             {"toward-zero", FPEMU_MODE_RTZ, 0, 0, 0}, {"Away-From-Zero", FPEMU_MODE_RAZ, 0, 0, 0},
             {"rtp", FPEMU_MODE_RTP, 0, 0, 0}, {"toward-negative", FPEMU_MODE_RTN, 0, 0, 0},
             {"to-odd", FPEMU_MODE_RTO, 0, 0, 0}, {"nearest-positive", FPEMU_MODE_RNP, 0, 0, 0},
             {"sr", FPEMU_MODE_SR, 0, 0, 0}, {"se", FPEMU_MODE_SE, 0, 0, 0},
             {"qpytorch", FPEMU_MODE_RNA, FPEMU_OVERFLOW_IEEE, FPEMU_NAN_SIGNMAX, FPEMU_COMPAT_QPYTORCH},
             {"qpytorch-sr", FPEMU_MODE_SR, FPEMU_OVERFLOW_IEEE, FPEMU_NAN_SIGNMAX, FPEMU_COMPAT_QPYTORCH},
             {"qpytorch-fixed", FPEMU_MODE_RNE, FPEMU_OVERFLOW_IEEE, FPEMU_NAN_KEEP, FPEMU_COMPAT_QPYTORCH},
             {"lee-inf", FPEMU_MODE_RNA, FPEMU_OVERFLOW_IEEE, FPEMU_NAN_SIGNMAX, FPEMU_COMPAT_LEE_INF},
             {"cpfloat-se", FPEMU_MODE_SE, 0, 0, FPEMU_COMPAT_CPFLOAT},
             {"nvidia", FPEMU_MODE_RNE, FPEMU_OVERFLOW_SATURATE, FPEMU_NAN_MAX, FPEMU_COMPAT_CUDA},
             {"ml-dtypes", FPEMU_MODE_RNE, FPEMU_OVERFLOW_IEEE, 0, FPEMU_COMPAT_ML_DTYPES},
             {"ml-dtypes-sat", FPEMU_MODE_RNE, FPEMU_OVERFLOW_SATURATE_KEEP_INF, 0, FPEMU_COMPAT_ML_DTYPES},
             {"pytorch-divide", FPEMU_MODE_RNE, 0, 0, FPEMU_COMPAT_PYTORCH_DIVIDE},
             {"pytorch-cast", FPEMU_MODE_RNE, 0, 0, FPEMU_COMPAT_PYTORCH_CAST});
    fpemu_rounding r;
    fpemu_parse_error error;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const fpemu_rounding want = {.mode = (uint8_t)rows[i].mode,
                                     .overflow = (uint8_t)rows[i].overflow,
                                     .nan = (uint8_t)rows[i].nan,
                                     .compat = (uint8_t)rows[i].compat};
        REQUIRE(fpemu_rounding_parse(rows[i].text, &r, &error) == FPEMU_OK, "%s", rows[i].text);
        REQUIRE(memcmp(&r, &want, sizeof r) == 0, "%s", rows[i].text);
    }
    for (int mode = 0; mode < FPEMU_MODE_COUNT; mode++) {
        GIVES_OK(fpemu_rounding_parse(fpemu_mode_name((fpemu_mode)mode), &r, NULL));
        ck_assert_int_eq(r.mode, mode);
        GIVES_OK(fpemu_rounding_parse(fpemu_mode_long_name((fpemu_mode)mode), &r, NULL));
        ck_assert_int_eq(r.mode, mode);
    }
    ck_assert_ptr_null(fpemu_mode_name(FPEMU_MODE_COUNT));
    ck_assert_ptr_null(fpemu_mode_long_name((fpemu_mode)-1));
    unsigned n = 0;
    for (const char *name; (name = fpemu_compat_name(n)) != NULL; n++) {
        GIVES_OK(fpemu_rounding_parse(name, &r, NULL));
        ck_assert_uint_ne(r.compat, FPEMU_COMPAT_NONE);
    }
    ck_assert_uint_ge(n, 11);
    ck_assert_ptr_null(fpemu_compat_name(UINT32_MAX));

    REFUSES(SPEC, fpemu_rounding_parse(" up", &r, &error));
    ck_assert_uint_eq(error.position, 1);
    ck_assert_ptr_nonnull(strstr(error.message, "'up'"));
    REFUSES(SPEC, fpemu_rounding_parse("", &r, &error), fpemu_rounding_parse("rne rne", &r, NULL));
    REFUSES(NULL, fpemu_rounding_parse(NULL, &r, &error), fpemu_rounding_parse("rne", NULL, &error));

    const fpemu_rounding zero = {0}, nearest = fpemu_rounding_nearest(), stochastic = fpemu_rounding_stochastic(42, 7);
    ck_assert(memcmp(&zero, &nearest, sizeof zero) == 0);
    ck_assert(stochastic.mode == FPEMU_MODE_SR && stochastic.seed == 42 && stochastic.stream == 7 &&
              stochastic.offset == 0 && stochastic.bits == 0);
}
END_TEST

int main(void)
{
    return RUN_SUITE("spec", NULL, canonical_form, bad_specs, length, generated, noise, decimals, surroundings,
                     roundings);
}
