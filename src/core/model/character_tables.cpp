// See character_tables.hpp. Written by a program from the Unicode Character Database, with the
// versions that the reference tokenizer has: the categories are those of Unicode 8.0, the
// decompositions those of 12.0, the lower case that of 17.0. Do not update them: a character that
// changes its class changes the vectors of every text with it.
#include "core/model/character_tables.hpp"

namespace ai::model {
namespace {

/// Cc, Cf and Co of Unicode 8.0 but for tab, line feed and carriage return; U+FFFD.
constexpr CharacterRange kRemovedRanges[] = {
    {0x0, 0x8},          {0xB, 0xC},         {0xE, 0x1F},        {0x7F, 0x9F},
    {0xAD, 0xAD},        {0x600, 0x605},     {0x61C, 0x61C},     {0x6DD, 0x6DD},
    {0x70F, 0x70F},      {0x180E, 0x180E},   {0x200B, 0x200F},   {0x202A, 0x202E},
    {0x2060, 0x2064},    {0x2066, 0x206F},   {0xE000, 0xF8FF},   {0xFEFF, 0xFEFF},
    {0xFFF9, 0xFFFB},    {0xFFFD, 0xFFFD},   {0x110BD, 0x110BD}, {0x1BCA0, 0x1BCA3},
    {0x1D173, 0x1D17A},  {0xE0001, 0xE0001}, {0xE0020, 0xE007F}, {0xF0000, 0xFFFFD},
    {0x100000, 0x10FFFD}};

/// White_Space, without what is removed.
constexpr CharacterRange kSpaceRanges[] = {
    {0x9, 0xA},       {0xD, 0xD},       {0x20, 0x20},     {0xA0, 0xA0},     {0x1680, 0x1680},
    {0x2000, 0x200A}, {0x2028, 0x2029}, {0x202F, 0x202F}, {0x205F, 0x205F}, {0x3000, 0x3000}};

/// The blocks of ideographs that BERT's tokenizer knows.
constexpr CharacterRange kIdeographRanges[] = {
    {0x3400, 0x4DBF},   {0x4E00, 0x9FFF},   {0xF900, 0xFAFF},  {0x20000, 0x2A6DF},
    {0x2A700, 0x2B81F}, {0x2B920, 0x2CEAF}, {0x2F800, 0x2FA1F}};

/// P of Unicode 8.0, and the ASCII symbols.
constexpr CharacterRange kPunctuationRanges[] = {
    {0x21, 0x2F},       {0x3A, 0x40},       {0x5B, 0x60},       {0x7B, 0x7E},
    {0xA1, 0xA1},       {0xA7, 0xA7},       {0xAB, 0xAB},       {0xB6, 0xB7},
    {0xBB, 0xBB},       {0xBF, 0xBF},       {0x37E, 0x37E},     {0x387, 0x387},
    {0x55A, 0x55F},     {0x589, 0x58A},     {0x5BE, 0x5BE},     {0x5C0, 0x5C0},
    {0x5C3, 0x5C3},     {0x5C6, 0x5C6},     {0x5F3, 0x5F4},     {0x609, 0x60A},
    {0x60C, 0x60D},     {0x61B, 0x61B},     {0x61E, 0x61F},     {0x66A, 0x66D},
    {0x6D4, 0x6D4},     {0x700, 0x70D},     {0x7F7, 0x7F9},     {0x830, 0x83E},
    {0x85E, 0x85E},     {0x964, 0x965},     {0x970, 0x970},     {0xAF0, 0xAF0},
    {0xDF4, 0xDF4},     {0xE4F, 0xE4F},     {0xE5A, 0xE5B},     {0xF04, 0xF12},
    {0xF14, 0xF14},     {0xF3A, 0xF3D},     {0xF85, 0xF85},     {0xFD0, 0xFD4},
    {0xFD9, 0xFDA},     {0x104A, 0x104F},   {0x10FB, 0x10FB},   {0x1360, 0x1368},
    {0x1400, 0x1400},   {0x166D, 0x166E},   {0x169B, 0x169C},   {0x16EB, 0x16ED},
    {0x1735, 0x1736},   {0x17D4, 0x17D6},   {0x17D8, 0x17DA},   {0x1800, 0x180A},
    {0x1944, 0x1945},   {0x1A1E, 0x1A1F},   {0x1AA0, 0x1AA6},   {0x1AA8, 0x1AAD},
    {0x1B5A, 0x1B60},   {0x1BFC, 0x1BFF},   {0x1C3B, 0x1C3F},   {0x1C7E, 0x1C7F},
    {0x1CC0, 0x1CC7},   {0x1CD3, 0x1CD3},   {0x2010, 0x2027},   {0x2030, 0x2043},
    {0x2045, 0x2051},   {0x2053, 0x205E},   {0x207D, 0x207E},   {0x208D, 0x208E},
    {0x2308, 0x230B},   {0x2329, 0x232A},   {0x2768, 0x2775},   {0x27C5, 0x27C6},
    {0x27E6, 0x27EF},   {0x2983, 0x2998},   {0x29D8, 0x29DB},   {0x29FC, 0x29FD},
    {0x2CF9, 0x2CFC},   {0x2CFE, 0x2CFF},   {0x2D70, 0x2D70},   {0x2E00, 0x2E2E},
    {0x2E30, 0x2E42},   {0x3001, 0x3003},   {0x3008, 0x3011},   {0x3014, 0x301F},
    {0x3030, 0x3030},   {0x303D, 0x303D},   {0x30A0, 0x30A0},   {0x30FB, 0x30FB},
    {0xA4FE, 0xA4FF},   {0xA60D, 0xA60F},   {0xA673, 0xA673},   {0xA67E, 0xA67E},
    {0xA6F2, 0xA6F7},   {0xA874, 0xA877},   {0xA8CE, 0xA8CF},   {0xA8F8, 0xA8FA},
    {0xA8FC, 0xA8FC},   {0xA92E, 0xA92F},   {0xA95F, 0xA95F},   {0xA9C1, 0xA9CD},
    {0xA9DE, 0xA9DF},   {0xAA5C, 0xAA5F},   {0xAADE, 0xAADF},   {0xAAF0, 0xAAF1},
    {0xABEB, 0xABEB},   {0xFD3E, 0xFD3F},   {0xFE10, 0xFE19},   {0xFE30, 0xFE52},
    {0xFE54, 0xFE61},   {0xFE63, 0xFE63},   {0xFE68, 0xFE68},   {0xFE6A, 0xFE6B},
    {0xFF01, 0xFF03},   {0xFF05, 0xFF0A},   {0xFF0C, 0xFF0F},   {0xFF1A, 0xFF1B},
    {0xFF1F, 0xFF20},   {0xFF3B, 0xFF3D},   {0xFF3F, 0xFF3F},   {0xFF5B, 0xFF5B},
    {0xFF5D, 0xFF5D},   {0xFF5F, 0xFF65},   {0x10100, 0x10102}, {0x1039F, 0x1039F},
    {0x103D0, 0x103D0}, {0x1056F, 0x1056F}, {0x10857, 0x10857}, {0x1091F, 0x1091F},
    {0x1093F, 0x1093F}, {0x10A50, 0x10A58}, {0x10A7F, 0x10A7F}, {0x10AF0, 0x10AF6},
    {0x10B39, 0x10B3F}, {0x10B99, 0x10B9C}, {0x11047, 0x1104D}, {0x110BB, 0x110BC},
    {0x110BE, 0x110C1}, {0x11140, 0x11143}, {0x11174, 0x11175}, {0x111C5, 0x111C9},
    {0x111CD, 0x111CD}, {0x111DB, 0x111DB}, {0x111DD, 0x111DF}, {0x11238, 0x1123D},
    {0x112A9, 0x112A9}, {0x114C6, 0x114C6}, {0x115C1, 0x115D7}, {0x11641, 0x11643},
    {0x1173C, 0x1173E}, {0x12470, 0x12474}, {0x16A6E, 0x16A6F}, {0x16AF5, 0x16AF5},
    {0x16B37, 0x16B3B}, {0x16B44, 0x16B44}, {0x1BC9F, 0x1BC9F}, {0x1DA87, 0x1DA8B}};

/// Mn of Unicode 8.0, and what decomposes into nothing else.
constexpr CharacterRange kNonspacingRanges[] = {
    {0x300, 0x36F},     {0x483, 0x487},     {0x591, 0x5BD},     {0x5BF, 0x5BF},
    {0x5C1, 0x5C2},     {0x5C4, 0x5C5},     {0x5C7, 0x5C7},     {0x610, 0x61A},
    {0x64B, 0x65F},     {0x670, 0x670},     {0x6D6, 0x6DC},     {0x6DF, 0x6E4},
    {0x6E7, 0x6E8},     {0x6EA, 0x6ED},     {0x711, 0x711},     {0x730, 0x74A},
    {0x7A6, 0x7B0},     {0x7EB, 0x7F3},     {0x816, 0x819},     {0x81B, 0x823},
    {0x825, 0x827},     {0x829, 0x82D},     {0x859, 0x85B},     {0x8E3, 0x902},
    {0x93A, 0x93A},     {0x93C, 0x93C},     {0x941, 0x948},     {0x94D, 0x94D},
    {0x951, 0x957},     {0x962, 0x963},     {0x981, 0x981},     {0x9BC, 0x9BC},
    {0x9C1, 0x9C4},     {0x9CD, 0x9CD},     {0x9E2, 0x9E3},     {0xA01, 0xA02},
    {0xA3C, 0xA3C},     {0xA41, 0xA42},     {0xA47, 0xA48},     {0xA4B, 0xA4D},
    {0xA51, 0xA51},     {0xA70, 0xA71},     {0xA75, 0xA75},     {0xA81, 0xA82},
    {0xABC, 0xABC},     {0xAC1, 0xAC5},     {0xAC7, 0xAC8},     {0xACD, 0xACD},
    {0xAE2, 0xAE3},     {0xB01, 0xB01},     {0xB3C, 0xB3C},     {0xB3F, 0xB3F},
    {0xB41, 0xB44},     {0xB4D, 0xB4D},     {0xB56, 0xB56},     {0xB62, 0xB63},
    {0xB82, 0xB82},     {0xBC0, 0xBC0},     {0xBCD, 0xBCD},     {0xC00, 0xC00},
    {0xC3E, 0xC40},     {0xC46, 0xC48},     {0xC4A, 0xC4D},     {0xC55, 0xC56},
    {0xC62, 0xC63},     {0xC81, 0xC81},     {0xCBC, 0xCBC},     {0xCBF, 0xCBF},
    {0xCC6, 0xCC6},     {0xCCC, 0xCCD},     {0xCE2, 0xCE3},     {0xD01, 0xD01},
    {0xD41, 0xD44},     {0xD4D, 0xD4D},     {0xD62, 0xD63},     {0xDCA, 0xDCA},
    {0xDD2, 0xDD4},     {0xDD6, 0xDD6},     {0xE31, 0xE31},     {0xE34, 0xE3A},
    {0xE47, 0xE4E},     {0xEB1, 0xEB1},     {0xEB4, 0xEB9},     {0xEBB, 0xEBC},
    {0xEC8, 0xECD},     {0xF18, 0xF19},     {0xF35, 0xF35},     {0xF37, 0xF37},
    {0xF39, 0xF39},     {0xF71, 0xF7E},     {0xF80, 0xF84},     {0xF86, 0xF87},
    {0xF8D, 0xF97},     {0xF99, 0xFBC},     {0xFC6, 0xFC6},     {0x102D, 0x1030},
    {0x1032, 0x1037},   {0x1039, 0x103A},   {0x103D, 0x103E},   {0x1058, 0x1059},
    {0x105E, 0x1060},   {0x1071, 0x1074},   {0x1082, 0x1082},   {0x1085, 0x1086},
    {0x108D, 0x108D},   {0x109D, 0x109D},   {0x135D, 0x135F},   {0x1712, 0x1714},
    {0x1732, 0x1734},   {0x1752, 0x1753},   {0x1772, 0x1773},   {0x17B4, 0x17B5},
    {0x17B7, 0x17BD},   {0x17C6, 0x17C6},   {0x17C9, 0x17D3},   {0x17DD, 0x17DD},
    {0x180B, 0x180D},   {0x18A9, 0x18A9},   {0x1920, 0x1922},   {0x1927, 0x1928},
    {0x1932, 0x1932},   {0x1939, 0x193B},   {0x1A17, 0x1A18},   {0x1A1B, 0x1A1B},
    {0x1A56, 0x1A56},   {0x1A58, 0x1A5E},   {0x1A60, 0x1A60},   {0x1A62, 0x1A62},
    {0x1A65, 0x1A6C},   {0x1A73, 0x1A7C},   {0x1A7F, 0x1A7F},   {0x1AB0, 0x1ABD},
    {0x1B00, 0x1B03},   {0x1B34, 0x1B34},   {0x1B36, 0x1B3A},   {0x1B3C, 0x1B3C},
    {0x1B42, 0x1B42},   {0x1B6B, 0x1B73},   {0x1B80, 0x1B81},   {0x1BA2, 0x1BA5},
    {0x1BA8, 0x1BA9},   {0x1BAB, 0x1BAD},   {0x1BE6, 0x1BE6},   {0x1BE8, 0x1BE9},
    {0x1BED, 0x1BED},   {0x1BEF, 0x1BF1},   {0x1C2C, 0x1C33},   {0x1C36, 0x1C37},
    {0x1CD0, 0x1CD2},   {0x1CD4, 0x1CE0},   {0x1CE2, 0x1CE8},   {0x1CED, 0x1CED},
    {0x1CF4, 0x1CF4},   {0x1CF8, 0x1CF9},   {0x1DC0, 0x1DF5},   {0x1DFC, 0x1DFF},
    {0x20D0, 0x20DC},   {0x20E1, 0x20E1},   {0x20E5, 0x20F0},   {0x2CEF, 0x2CF1},
    {0x2D7F, 0x2D7F},   {0x2DE0, 0x2DFF},   {0x302A, 0x302D},   {0x3099, 0x309A},
    {0xA66F, 0xA66F},   {0xA674, 0xA67D},   {0xA69E, 0xA69F},   {0xA6F0, 0xA6F1},
    {0xA802, 0xA802},   {0xA806, 0xA806},   {0xA80B, 0xA80B},   {0xA825, 0xA826},
    {0xA8C4, 0xA8C4},   {0xA8E0, 0xA8F1},   {0xA926, 0xA92D},   {0xA947, 0xA951},
    {0xA980, 0xA982},   {0xA9B3, 0xA9B3},   {0xA9B6, 0xA9B9},   {0xA9BC, 0xA9BC},
    {0xA9E5, 0xA9E5},   {0xAA29, 0xAA2E},   {0xAA31, 0xAA32},   {0xAA35, 0xAA36},
    {0xAA43, 0xAA43},   {0xAA4C, 0xAA4C},   {0xAA7C, 0xAA7C},   {0xAAB0, 0xAAB0},
    {0xAAB2, 0xAAB4},   {0xAAB7, 0xAAB8},   {0xAABE, 0xAABF},   {0xAAC1, 0xAAC1},
    {0xAAEC, 0xAAED},   {0xAAF6, 0xAAF6},   {0xABE5, 0xABE5},   {0xABE8, 0xABE8},
    {0xABED, 0xABED},   {0xFB1E, 0xFB1E},   {0xFE00, 0xFE0F},   {0xFE20, 0xFE2F},
    {0x101FD, 0x101FD}, {0x102E0, 0x102E0}, {0x10376, 0x1037A}, {0x10A01, 0x10A03},
    {0x10A05, 0x10A06}, {0x10A0C, 0x10A0F}, {0x10A38, 0x10A3A}, {0x10A3F, 0x10A3F},
    {0x10AE5, 0x10AE6}, {0x11001, 0x11001}, {0x11038, 0x11046}, {0x1107F, 0x11081},
    {0x110B3, 0x110B6}, {0x110B9, 0x110BA}, {0x11100, 0x11102}, {0x11127, 0x1112B},
    {0x1112D, 0x11134}, {0x11173, 0x11173}, {0x11180, 0x11181}, {0x111B6, 0x111BE},
    {0x111CA, 0x111CC}, {0x1122F, 0x11231}, {0x11234, 0x11234}, {0x11236, 0x11237},
    {0x112DF, 0x112DF}, {0x112E3, 0x112EA}, {0x11300, 0x11301}, {0x1133C, 0x1133C},
    {0x11340, 0x11340}, {0x11366, 0x1136C}, {0x11370, 0x11374}, {0x114B3, 0x114B8},
    {0x114BA, 0x114BA}, {0x114BF, 0x114C0}, {0x114C2, 0x114C3}, {0x115B2, 0x115B5},
    {0x115BC, 0x115BD}, {0x115BF, 0x115C0}, {0x115DC, 0x115DD}, {0x11633, 0x1163A},
    {0x1163D, 0x1163D}, {0x1163F, 0x11640}, {0x116AB, 0x116AB}, {0x116AD, 0x116AD},
    {0x116B0, 0x116B5}, {0x116B7, 0x116B7}, {0x1171D, 0x1171F}, {0x11722, 0x11725},
    {0x11727, 0x1172B}, {0x16AF0, 0x16AF4}, {0x16B30, 0x16B36}, {0x16F8F, 0x16F92},
    {0x1BC9D, 0x1BC9E}, {0x1D167, 0x1D169}, {0x1D17B, 0x1D182}, {0x1D185, 0x1D18B},
    {0x1D1AA, 0x1D1AD}, {0x1D242, 0x1D244}, {0x1DA00, 0x1DA36}, {0x1DA3B, 0x1DA6C},
    {0x1DA75, 0x1DA75}, {0x1DA84, 0x1DA84}, {0x1DA9B, 0x1DA9F}, {0x1DAA1, 0x1DAAF},
    {0x1E8D0, 0x1E8D6}, {0xE0100, 0xE01EF}};

constexpr CaseRange kLowerRanges[] = {
    {0x41, 0x5A, 1, 32},         {0xC0, 0xD6, 1, 32},         {0xD8, 0xDE, 1, 32},
    {0x100, 0x12E, 2, 1},        {0x132, 0x136, 2, 1},        {0x139, 0x147, 2, 1},
    {0x14A, 0x176, 2, 1},        {0x178, 0x178, 1, -121},     {0x179, 0x17D, 2, 1},
    {0x181, 0x181, 1, 210},      {0x182, 0x184, 2, 1},        {0x186, 0x186, 1, 206},
    {0x187, 0x187, 1, 1},        {0x189, 0x18A, 1, 205},      {0x18B, 0x18B, 1, 1},
    {0x18E, 0x18E, 1, 79},       {0x18F, 0x18F, 1, 202},      {0x190, 0x190, 1, 203},
    {0x191, 0x191, 1, 1},        {0x193, 0x193, 1, 205},      {0x194, 0x194, 1, 207},
    {0x196, 0x196, 1, 211},      {0x197, 0x197, 1, 209},      {0x198, 0x198, 1, 1},
    {0x19C, 0x19C, 1, 211},      {0x19D, 0x19D, 1, 213},      {0x19F, 0x19F, 1, 214},
    {0x1A0, 0x1A4, 2, 1},        {0x1A6, 0x1A6, 1, 218},      {0x1A7, 0x1A7, 1, 1},
    {0x1A9, 0x1A9, 1, 218},      {0x1AC, 0x1AC, 1, 1},        {0x1AE, 0x1AE, 1, 218},
    {0x1AF, 0x1AF, 1, 1},        {0x1B1, 0x1B2, 1, 217},      {0x1B3, 0x1B5, 2, 1},
    {0x1B7, 0x1B7, 1, 219},      {0x1B8, 0x1B8, 1, 1},        {0x1BC, 0x1BC, 1, 1},
    {0x1C4, 0x1C4, 1, 2},        {0x1C5, 0x1C5, 1, 1},        {0x1C7, 0x1C7, 1, 2},
    {0x1C8, 0x1C8, 1, 1},        {0x1CA, 0x1CA, 1, 2},        {0x1CB, 0x1DB, 2, 1},
    {0x1DE, 0x1EE, 2, 1},        {0x1F1, 0x1F1, 1, 2},        {0x1F2, 0x1F4, 2, 1},
    {0x1F6, 0x1F6, 1, -97},      {0x1F7, 0x1F7, 1, -56},      {0x1F8, 0x21E, 2, 1},
    {0x220, 0x220, 1, -130},     {0x222, 0x232, 2, 1},        {0x23A, 0x23A, 1, 10795},
    {0x23B, 0x23B, 1, 1},        {0x23D, 0x23D, 1, -163},     {0x23E, 0x23E, 1, 10792},
    {0x241, 0x241, 1, 1},        {0x243, 0x243, 1, -195},     {0x244, 0x244, 1, 69},
    {0x245, 0x245, 1, 71},       {0x246, 0x24E, 2, 1},        {0x370, 0x372, 2, 1},
    {0x376, 0x376, 1, 1},        {0x37F, 0x37F, 1, 116},      {0x386, 0x386, 1, 38},
    {0x388, 0x38A, 1, 37},       {0x38C, 0x38C, 1, 64},       {0x38E, 0x38F, 1, 63},
    {0x391, 0x3A1, 1, 32},       {0x3A3, 0x3AB, 1, 32},       {0x3CF, 0x3CF, 1, 8},
    {0x3D8, 0x3EE, 2, 1},        {0x3F4, 0x3F4, 1, -60},      {0x3F7, 0x3F7, 1, 1},
    {0x3F9, 0x3F9, 1, -7},       {0x3FA, 0x3FA, 1, 1},        {0x3FD, 0x3FF, 1, -130},
    {0x400, 0x40F, 1, 80},       {0x410, 0x42F, 1, 32},       {0x460, 0x480, 2, 1},
    {0x48A, 0x4BE, 2, 1},        {0x4C0, 0x4C0, 1, 15},       {0x4C1, 0x4CD, 2, 1},
    {0x4D0, 0x52E, 2, 1},        {0x531, 0x556, 1, 48},       {0x10A0, 0x10C5, 1, 7264},
    {0x10C7, 0x10C7, 1, 7264},   {0x10CD, 0x10CD, 1, 7264},   {0x13A0, 0x13EF, 1, 38864},
    {0x13F0, 0x13F5, 1, 8},      {0x1C89, 0x1C89, 1, 1},      {0x1C90, 0x1CBA, 1, -3008},
    {0x1CBD, 0x1CBF, 1, -3008},  {0x1E00, 0x1E94, 2, 1},      {0x1E9E, 0x1E9E, 1, -7615},
    {0x1EA0, 0x1EFE, 2, 1},      {0x1F08, 0x1F0F, 1, -8},     {0x1F18, 0x1F1D, 1, -8},
    {0x1F28, 0x1F2F, 1, -8},     {0x1F38, 0x1F3F, 1, -8},     {0x1F48, 0x1F4D, 1, -8},
    {0x1F59, 0x1F5F, 2, -8},     {0x1F68, 0x1F6F, 1, -8},     {0x1F88, 0x1F8F, 1, -8},
    {0x1F98, 0x1F9F, 1, -8},     {0x1FA8, 0x1FAF, 1, -8},     {0x1FB8, 0x1FB9, 1, -8},
    {0x1FBA, 0x1FBB, 1, -74},    {0x1FBC, 0x1FBC, 1, -9},     {0x1FC8, 0x1FCB, 1, -86},
    {0x1FCC, 0x1FCC, 1, -9},     {0x1FD8, 0x1FD9, 1, -8},     {0x1FDA, 0x1FDB, 1, -100},
    {0x1FE8, 0x1FE9, 1, -8},     {0x1FEA, 0x1FEB, 1, -112},   {0x1FEC, 0x1FEC, 1, -7},
    {0x1FF8, 0x1FF9, 1, -128},   {0x1FFA, 0x1FFB, 1, -126},   {0x1FFC, 0x1FFC, 1, -9},
    {0x2126, 0x2126, 1, -7517},  {0x212A, 0x212A, 1, -8383},  {0x212B, 0x212B, 1, -8262},
    {0x2132, 0x2132, 1, 28},     {0x2160, 0x216F, 1, 16},     {0x2183, 0x2183, 1, 1},
    {0x24B6, 0x24CF, 1, 26},     {0x2C00, 0x2C2F, 1, 48},     {0x2C60, 0x2C60, 1, 1},
    {0x2C62, 0x2C62, 1, -10743}, {0x2C63, 0x2C63, 1, -3814},  {0x2C64, 0x2C64, 1, -10727},
    {0x2C67, 0x2C6B, 2, 1},      {0x2C6D, 0x2C6D, 1, -10780}, {0x2C6E, 0x2C6E, 1, -10749},
    {0x2C6F, 0x2C6F, 1, -10783}, {0x2C70, 0x2C70, 1, -10782}, {0x2C72, 0x2C72, 1, 1},
    {0x2C75, 0x2C75, 1, 1},      {0x2C7E, 0x2C7F, 1, -10815}, {0x2C80, 0x2CE2, 2, 1},
    {0x2CEB, 0x2CED, 2, 1},      {0x2CF2, 0x2CF2, 1, 1},      {0xA640, 0xA66C, 2, 1},
    {0xA680, 0xA69A, 2, 1},      {0xA722, 0xA72E, 2, 1},      {0xA732, 0xA76E, 2, 1},
    {0xA779, 0xA77B, 2, 1},      {0xA77D, 0xA77D, 1, -35332}, {0xA77E, 0xA786, 2, 1},
    {0xA78B, 0xA78B, 1, 1},      {0xA78D, 0xA78D, 1, -42280}, {0xA790, 0xA792, 2, 1},
    {0xA796, 0xA7A8, 2, 1},      {0xA7AA, 0xA7AA, 1, -42308}, {0xA7AB, 0xA7AB, 1, -42319},
    {0xA7AC, 0xA7AC, 1, -42315}, {0xA7AD, 0xA7AD, 1, -42305}, {0xA7AE, 0xA7AE, 1, -42308},
    {0xA7B0, 0xA7B0, 1, -42258}, {0xA7B1, 0xA7B1, 1, -42282}, {0xA7B2, 0xA7B2, 1, -42261},
    {0xA7B3, 0xA7B3, 1, 928},    {0xA7B4, 0xA7C2, 2, 1},      {0xA7C4, 0xA7C4, 1, -48},
    {0xA7C5, 0xA7C5, 1, -42307}, {0xA7C6, 0xA7C6, 1, -35384}, {0xA7C7, 0xA7C9, 2, 1},
    {0xA7CB, 0xA7CB, 1, -42343}, {0xA7CC, 0xA7DA, 2, 1},      {0xA7DC, 0xA7DC, 1, -42561},
    {0xA7F5, 0xA7F5, 1, 1},      {0xFF21, 0xFF3A, 1, 32},     {0x10400, 0x10427, 1, 40},
    {0x104B0, 0x104D3, 1, 40},   {0x10570, 0x1057A, 1, 39},   {0x1057C, 0x1058A, 1, 39},
    {0x1058C, 0x10592, 1, 39},   {0x10594, 0x10595, 1, 39},   {0x10C80, 0x10CB2, 1, 64},
    {0x10D50, 0x10D65, 1, 32},   {0x118A0, 0x118BF, 1, 32},   {0x16E40, 0x16E5F, 1, 32},
    {0x16EA0, 0x16EB8, 1, 27},   {0x1E900, 0x1E921, 1, 34}};

constexpr BaseRun kBaseRuns[] = {
    {0xC0,
     U"AAAAAA\u00C6CEEEEIIII\u00D0NOOOOO\u00D7\u00D8UUUUY\u00DE\u00DFaaaaaa\u00E6ceeeeiiii\u00F0noo"
     U"ooo\u00F7\u00F8uuuuy\u00FEyAaAaAaCcCcCcCcDd\u0110\u0111EeEeEeEeEeGgGgGgGgHh\u0126\u0127IiIiI"
     U"iIiI\u0131\u0132\u0133JjKk\u0138LlLlLl"},
    {0x143,
     U"NnNnNn\u0149\u014A\u014BOoOoOo\u0152\u0153RrRrRrSsSsSsSsTtTt\u0166\u0167UuUuUuUuUuUuWwYyYZzZ"
     U"zZz"},
    {0x1A0, U"Oo"},
    {0x1AF, U"Uu"},
    {0x1CD,
     U"AaIiOoUuUuUuUuUu\u01DDAaAa\u00C6\u00E6\u01E4\u01E5GgKkOoOo\u01B7\u0292j\u01F1\u01F2\u01F3Gg"
     U"\u01F6\u01F7NnAa\u00C6\u00E6\u00D8\u00F8AaAaEeEeIiIiOoOoRrRrUuUuSsTt\u021C\u021DHh"},
    {0x226, U"AaEeOoOoOoOoYy"},
    {0x374, U"\u02B9"},
    {0x37E, U";"},
    {0x385, U"\u00A8\u0391\u00B7\u0395\u0397\u0399\u038B\u039F\u038D\u03A5\u03A9\u03B9"},
    {0x3AA, U"\u0399\u03A5\u03B1\u03B5\u03B7\u03B9\u03C5"},
    {0x3CA, U"\u03B9\u03C5\u03BF\u03C5\u03C9"},
    {0x3D3, U"\u03D2\u03D2"},
    {0x400, U"\u0415\u0415\u0402\u0413\u0404\u0405\u0406\u0406"},
    {0x40C, U"\u041A\u0418\u0423"},
    {0x419, U"\u0418"},
    {0x439, U"\u0438"},
    {0x450, U"\u0435\u0435\u0452\u0433\u0454\u0455\u0456\u0456"},
    {0x45C, U"\u043A\u0438\u0443"},
    {0x476, U"\u0474\u0475"},
    {0x4C1, U"\u0416\u0436"},
    {0x4D0,
     U"\u0410\u0430\u0410\u0430\u04D4\u04D5\u0415\u0435\u04D8\u04D9\u04D8\u04D9\u0416\u0436\u0417"
     U"\u0437\u04E0\u04E1\u0418\u0438\u0418\u0438\u041E\u043E\u04E8\u04E9\u04E8\u04E9\u042D\u044D"
     U"\u0423\u0443\u0423\u0443\u0423\u0443\u0427\u0447\u04F6\u04F7\u042B\u044B"},
    {0x622, U"\u0627\u0627\u0648\u0627\u064A"},
    {0x6C0, U"\u06D5\u06C1\u06C1"},
    {0x6D3, U"\u06D2"},
    {0x929, U"\u0928"},
    {0x931, U"\u0930\u0932\u0933\u0933"},
    {0x958, U"\u0915\u0916\u0917\u091C\u0921\u0922\u092B\u092F"},
    {0x9DC, U"\u09A1\u09A2\u09DE\u09AF"},
    {0xA33, U"\u0A32\u0A34\u0A35\u0A38"},
    {0xA59, U"\u0A16\u0A17\u0A1C\u0A5C\u0A5D\u0A2B"},
    {0xB48, U"\u0B47"},
    {0xB5C, U"\u0B21\u0B22"},
    {0xCC0, U"\u0CD5"},
    {0xCC7, U"\u0CD5\u0CD6\u0CC9\u0CC2"},
    {0xDDA, U"\u0DD9"},
    {0xF43, U"\u0F42"},
    {0xF4D, U"\u0F4C"},
    {0xF52, U"\u0F51"},
    {0xF57, U"\u0F56"},
    {0xF5C, U"\u0F5B"},
    {0xF69, U"\u0F40"},
    {0x1026, U"\u1025"},
    {0x1B3B, U"\u1B35"},
    {0x1B3D, U"\u1B35"},
    {0x1B43, U"\u1B35"},
    {0x1E00,
     U"AaBbBbBbCcDdDdDdDdDdEeEeEeEeEeFfGgHhHhHhHhHhIiIiKkKkKkLlLlLlLlMmMmMmNnNnNnNnOoOoOoOoPpPpRrRr"
     U"RrRrSsSsSsSsSsTtTtTtTtUuUuUuUuUuVvVvWwWwWwWwWwXxXxYyZzZzZzhtwy\u1E9A\u017F"},
    {0x1EA0,
     U"AaAaAaAaAaAaAaAaAaAaAaAaEeEeEeEeEeEeEeEeIiIiOoOoOoOoOoOoOoOoOoOoOoOoUuUuUuUuUuUuUuYyYyYyYy"},
    {0x1F00,
     U"\u03B1\u03B1\u03B1\u03B1\u03B1\u03B1\u03B1\u03B1\u0391\u0391\u0391\u0391\u0391\u0391\u0391"
     U"\u0391\u03B5\u03B5\u03B5\u03B5\u03B5\u03B5\u1F16\u1F17\u0395\u0395\u0395\u0395\u0395\u0395"
     U"\u1F1E\u1F1F\u03B7\u03B7\u03B7\u03B7\u03B7\u03B7\u03B7\u03B7\u0397\u0397\u0397\u0397\u0397"
     U"\u0397\u0397\u0397\u03B9\u03B9\u03B9\u03B9\u03B9\u03B9\u03B9\u03B9\u0399\u0399\u0399\u0399"
     U"\u0399\u0399\u0399\u0399\u03BF\u03BF\u03BF\u03BF\u03BF\u03BF\u1F46\u1F47\u039F\u039F\u039F"
     U"\u039F\u039F\u039F\u1F4E\u1F4F\u03C5\u03C5\u03C5\u03C5\u03C5\u03C5\u03C5\u03C5\u1F58\u03A5"
     U"\u1F5A\u03A5\u1F5C\u03A5\u1F5E\u03A5\u03C9\u03C9\u03C9\u03C9\u03C9\u03C9\u03C9\u03C9\u03A9"
     U"\u03A9\u03A9\u03A9\u03A9\u03A9\u03A9\u03A9\u03B1\u03B1\u03B5\u03B5\u03B7\u03B7\u03B9\u03B9"
     U"\u03BF\u03BF\u03C5\u03C5\u03C9\u03C9\u1F7E\u1F7F\u03B1\u03B1\u03B1\u03B1\u03B1\u03B1\u03B1"
     U"\u03B1\u0391\u0391\u0391\u0391\u0391\u0391\u0391\u0391\u03B7\u03B7\u03B7\u03B7\u03B7\u03B7"
     U"\u03B7\u03B7\u0397\u0397\u0397\u0397\u0397\u0397\u0397\u0397\u03C9\u03C9\u03C9\u03C9\u03C9"
     U"\u03C9\u03C9\u03C9\u03A9\u03A9\u03A9\u03A9\u03A9\u03A9\u03A9\u03A9\u03B1\u03B1\u03B1\u03B1"
     U"\u03B1\u1FB5\u03B1\u03B1\u0391\u0391\u0391\u0391\u0391\u1FBD\u03B9\u1FBF\u1FC0\u00A8\u03B7"
     U"\u03B7\u03B7\u1FC5\u03B7\u03B7\u0395\u0395\u0397\u0397\u0397\u1FBF\u1FBF\u1FBF\u03B9\u03B9"
     U"\u03B9\u03B9\u1FD4\u1FD5\u03B9\u03B9\u0399\u0399\u0399\u0399\u1FDC\u1FFE\u1FFE\u1FFE\u03C5"
     U"\u03C5\u03C5\u03C5\u03C1\u03C1\u03C5\u03C5\u03A5\u03A5\u03A5\u03A5\u03A1\u00A8\u00A8`"
     U"\u1FF0\u1FF1\u03C9\u03C9\u03C9\u1FF5\u03C9\u03C9\u039F\u039F\u03A9\u03A9\u03A9\u00B4\u1FFE"
     U"\u1FFF\u2002\u2003"},
    {0x2126, U"\u03A9\u2127\u2128\u2129KA"},
    {0x219A, U"\u2190\u2192"},
    {0x21AE, U"\u2194"},
    {0x21CD, U"\u21D0\u21D4\u21D2"},
    {0x2204, U"\u2203"},
    {0x2209, U"\u2208\u220A\u220B\u220B"},
    {0x2224, U"\u2223\u2225\u2225"},
    {0x2241, U"\u223C\u2242\u2243\u2243\u2245\u2246\u2245\u2248\u2248"},
    {0x2260, U"=\u2261\u2261"},
    {0x226D, U"\u224D<>\u2264\u2265\u2272\u2273\u2272\u2273\u2276\u2277\u2276\u2277"},
    {0x2280, U"\u227A\u227B\u2282\u2283\u2282\u2283\u2286\u2287\u2286\u2287"},
    {0x22AC, U"\u22A2\u22A8\u22A9\u22AB"},
    {0x22E0, U"\u227C\u227D\u2291\u2292"},
    {0x22EA, U"\u22B2\u22B3\u22B4\u22B5"},
    {0x2329, U"\u3008\u3009"},
    {0x2ADC, U"\u2ADD"},
    {0x304C,
     U"\u304B\u304D\u304D\u304F\u304F\u3051\u3051\u3053\u3053\u3055\u3055\u3057\u3057\u3059\u3059"
     U"\u305B\u305B\u305D\u305D\u305F\u305F\u3061\u3061\u3063\u3064\u3064\u3066\u3066\u3068\u3068"},
    {0x3070,
     U"\u306F\u306F\u3072\u3072\u3072\u3075\u3075\u3075\u3078\u3078\u3078\u307B\u307B\u307B"},
    {0x3094, U"\u3046"},
    {0x309E, U"\u309D"},
    {0x30AC,
     U"\u30AB\u30AD\u30AD\u30AF\u30AF\u30B1\u30B1\u30B3\u30B3\u30B5\u30B5\u30B7\u30B7\u30B9\u30B9"
     U"\u30BB\u30BB\u30BD\u30BD\u30BF\u30BF\u30C1\u30C1\u30C3\u30C4\u30C4\u30C6\u30C6\u30C8\u30C8"},
    {0x30D0,
     U"\u30CF\u30CF\u30D2\u30D2\u30D2\u30D5\u30D5\u30D5\u30D8\u30D8\u30D8\u30DB\u30DB\u30DB"},
    {0x30F4, U"\u30A6\u30F5\u30F6\u30EF\u30F0\u30F1\u30F2\u30FB\u30FC\u30FD\u30FD"},
    {0xF900,
     U"\u8C48\u66F4\u8ECA\u8CC8\u6ED1\u4E32\u53E5\u9F9C\u9F9C\u5951\u91D1\u5587\u5948\u61F6\u7669"
     U"\u7F85\u863F\u87BA\u88F8\u908F\u6A02\u6D1B\u70D9\u73DE\u843D\u916A\u99F1\u4E82\u5375\u6B04"
     U"\u721B\u862D\u9E1E\u5D50\u6FEB\u85CD\u8964\u62C9\u81D8\u881F\u5ECA\u6717\u6D6A\u72FC\u90CE"
     U"\u4F86\u51B7\u52DE\u64C4\u6AD3\u7210\u76E7\u8001\u8606\u865C\u8DEF\u9732\u9B6F\u9DFA\u788C"
     U"\u797F\u7DA0\u83C9\u9304\u9E7F\u8AD6\u58DF\u5F04\u7C60\u807E\u7262\u78CA\u8CC2\u96F7\u58D8"
     U"\u5C62\u6A13\u6DDA\u6F0F\u7D2F\u7E37\u964B\u52D2\u808B\u51DC\u51CC\u7A1C\u7DBE\u83F1\u9675"
     U"\u8B80\u62CF\u6A02\u8AFE\u4E39\u5BE7\u6012\u7387\u7570\u5317\u78FB\u4FBF\u5FA9\u4E0D\u6CCC"
     U"\u6578\u7D22\u53C3\u585E\u7701\u8449\u8AAA\u6BBA\u8FB0\u6C88\u62FE\u82E5\u63A0\u7565\u4EAE"
     U"\u5169\u51C9\u6881\u7CE7\u826F\u8AD2\u91CF\u52F5\u5442\u5973\u5EEC\u65C5\u6FFE\u792A\u95AD"
     U"\u9A6A\u9E97\u9ECE\u529B\u66C6\u6B77\u8F62\u5E74\u6190\u6200\u649A\u6F23\u7149\u7489\u79CA"
     U"\u7DF4\u806F\u8F26\u84EE\u9023\u934A\u5217\u52A3\u54BD\u70C8\u88C2\u8AAA\u5EC9\u5FF5\u637B"
     U"\u6BAE\u7C3E\u7375\u4EE4\u56F9\u5BE7\u5DBA\u601C\u73B2\u7469\u7F9A\u8046\u9234\u96F6\u9748"
     U"\u9818\u4F8B\u79AE\u91B4\u96B8\u60E1\u4E86\u50DA\u5BEE\u5C3F\u6599\u6A02\u71CE\u7642\u84FC"
     U"\u907C\u9F8D\u6688\u962E\u5289\u677B\u67F3\u6D41\u6E9C\u7409\u7559\u786B\u7D10\u985E\u516D"
     U"\u622E\u9678\u502B\u5D19\u6DEA\u8F2A\u5F8B\u6144\u6817\u7387\u9686\u5229\u540F\u5C65\u6613"
     U"\u674E\u68A8\u6CE5\u7406\u75E2\u7F79\u88CF\u88E1\u91CC\u96E2\u533F\u6EBA\u541D\u71D0\u7498"
     U"\u85FA\u96A3\u9C57\u9E9F\u6797\u6DCB\u81E8\u7ACB\u7B20\u7C92\u72C0\u7099\u8B58\u4EC0\u8336"
     U"\u523A\u5207\u5EA6\u62D3\u7CD6\u5B85\u6D1E\u66B4\u8F3B\u884C\u964D\u898B\u5ED3\u5140\u55C0"
     U"\uFA0E\uFA0F\u585A\uFA11\u6674\uFA13\uFA14\u51DE\u732A\u76CA\u793C\u795E\u7965\u798F\u9756"
     U"\u7CBE\u7FBD\uFA1F\u8612\uFA21\u8AF8\uFA23\uFA24\u9038\u90FD\uFA27\uFA28\uFA29\u98EF\u98FC"
     U"\u9928\u9DB4\u90DE\u96B7\u4FAE\u50E7\u514D\u52C9\u52E4\u5351\u559D\u5606\u5668\u5840\u58A8"
     U"\u5C64\u5C6E\u6094\u6168\u618E\u61F2\u654F\u65E2\u6691\u6885\u6D77\u6E1A\u6F22\u716E\u722B"
     U"\u7422\u7891\u793E\u7949\u7948\u7950\u7956\u795D\u798D\u798E\u7A40\u7A81\u7BC0\u7DF4\u7E09"
     U"\u7E41\u7F72\u8005\u81ED\u8279\u8279\u8457\u8910\u8996\u8B01\u8B39\u8CD3\u8D08\u8FB6\u9038"
     U"\u96E3\u97FF\u983B\u6075\U000242EE\u8218\uFA6E\uFA6F\u4E26\u51B5\u5168\u4F80\u5145\u5180"
     U"\u52C7\u52FA\u559D\u5555\u5599\u55E2\u585A\u58B3\u5944\u5954\u5A62\u5B28\u5ED2\u5ED9\u5F69"
     U"\u5FAD\u60D8\u614E\u6108\u618E\u6160\u61F2\u6234\u63C4\u641C\u6452\u6556\u6674\u6717\u671B"
     U"\u6756\u6B79\u6BBA\u6D41\u6EDB\u6ECB\u6F22\u701E\u716E\u77A7\u7235\u72AF\u732A\u7471\u7506"
     U"\u753B\u761D\u761F\u76CA\u76DB\u76F4\u774A\u7740\u78CC\u7AB1\u7BC0\u7C7B\u7D5B\u7DF4\u7F3E"
     U"\u8005\u8352\u83EF\u8779\u8941\u8986\u8996\u8ABF\u8AF8\u8ACB\u8B01\u8AFE\u8AED\u8B39\u8B8A"
     U"\u8D08\u8F38\u9072\u9199\u9276\u967C\u96E3\u9756\u97DB\u97FF\u980B\u983B\u9B12\u9F9C"
     U"\U0002284A\U00022844\U000233D5\u3B9D\u4018\u4039\U00025249\U00025CD0\U00027ED3\u9F43\u9F8E"},
    {0xFB1D, U"\u05D9"},
    {0xFB1F, U"\u05F2"},
    {0xFB2A,
     U"\u05E9\u05E9\u05E9\u05E9\u05D0\u05D0\u05D0\u05D1\u05D2\u05D3\u05D4\u05D5\u05D6\uFB37\u05D8"
     U"\u05D9\u05DA\u05DB\u05DC\uFB3D\u05DE\uFB3F\u05E0\u05E1\uFB42\u05E3\u05E4\uFB45\u05E6\u05E7"
     U"\u05E8\u05E9\u05EA\u05D5\u05D1\u05DB\u05E4"},
    {0x1109A, U"\U00011099\U0001109B\U0001109B"},
    {0x110AB, U"\U000110A5"},
    {0x114BB, U"\U000114B9"},
    {0x2F800,
     U"\u4E3D\u4E38\u4E41\U00020122\u4F60\u4FAE\u4FBB\u5002\u507A\u5099\u50E7\u50CF\u349E\U0002063A"
     U"\u514D\u5154\u5164\u5177\U0002051C\u34B9\u5167\u518D\U0002054B\u5197\u51A4\u4ECC\u51AC\u51B5"
     U"\U000291DF\u51F5\u5203\u34DF\u523B\u5246\u5272\u5277\u3515\u52C7\u52C9\u52E4\u52FA\u5305"
     U"\u5306\u5317\u5349\u5351\u535A\u5373\u537D\u537F\u537F\u537F\U00020A2C\u7070\u53CA\u53DF"
     U"\U00020B63\u53EB\u53F1\u5406\u549E\u5438\u5448\u5468\u54A2\u54F6\u5510\u5553\u5563\u5584"
     U"\u5584\u5599\u55AB\u55B3\u55C2\u5716\u5606\u5717\u5651\u5674\u5207\u58EE\u57CE\u57F4\u580D"
     U"\u578B\u5832\u5831\u58AC\U000214E4\u58F2\u58F7\u5906\u591A\u5922\u5962\U000216A8\U000216EA"
     U"\u59EC\u5A1B\u5A27\u59D8\u5A66\u36EE\u36FC\u5B08\u5B3E\u5B3E\U000219C8\u5BC3\u5BD8\u5BE7"
     U"\u5BF3\U00021B18\u5BFF\u5C06\u5F53\u5C22\u3781\u5C60\u5C6E\u5CC0\u5C8D\U00021DE4\u5D43"
     U"\U00021DE6\u5D6E\u5D6B\u5D7C\u5DE1\u5DE2\u382F\u5DFD\u5E28\u5E3D\u5E69\u3862\U00022183\u387C"
     U"\u5EB0\u5EB3\u5EB6\u5ECA\U0002A392\u5EFE\U00022331\U00022331\u8201\u5F22\u5F22\u38C7"
     U"\U000232B8\U000261DA\u5F62\u5F6B\u38E3\u5F9A\u5FCD\u5FD7\u5FF9\u6081\u393A\u391C\u6094"
     U"\U000226D4\u60C7\u6148\u614C\u614E\u614C\u617A\u618E\u61B2\u61A4\u61AF\u61DE\u61F2\u61F6"
     U"\u6210\u621B\u625D\u62B1\u62D4\u6350\U00022B0C\u633D\u62FC\u6368\u6383\u63E4\U00022BF1\u6422"
     U"\u63C5\u63A9\u3A2E\u6469\u647E\u649D\u6477\u3A6C\u654F\u656C\U0002300A\u65E3\u66F8\u6649"
     U"\u3B19\u6691\u3B08\u3AE4\u5192\u5195\u6700\u669C\u80AD\u43D9\u6717\u671B\u6721\u675E\u6753"
     U"\U000233C3\u3B49\u67FA\u6785\u6852\u6885\U0002346D\u688E\u681F\u6914\u3B9D\u6942\u69A3\u69EA"
     U"\u6AA8\U000236A3\u6ADB\u3C18\u6B21\U000238A7\u6B54\u3C4E\u6B72\u6B9F\u6BBA\u6BBB\U00023A8D"
     U"\U00021D0B\U00023AFA\u6C4E\U00023CBC\u6CBF\u6CCD\u6C67\u6D16\u6D3E\u6D77\u6D41\u6D69\u6D78"
     U"\u6D85\U00023D1E\u6D34\u6E2F\u6E6E\u3D33\u6ECB\u6EC7\U00023ED1\u6DF9\u6F6E\U00023F5E"
     U"\U00023F8E\u6FC6\u7039\u701E\u701B\u3D96\u704A\u707D\u7077\u70AD\U00020525\u7145\U00024263"
     U"\u719C\U000243AB\u7228\u7235\u7250\U00024608\u7280\u7295\U00024735\U00024814\u737A\u738B"
     U"\u3EAC\u73A5\u3EB8\u3EB8\u7447\u745C\u7471\u7485\u74CA\u3F1B\u7524\U00024C36\u753E\U00024C92"
     U"\u7570\U0002219F\u7610\U00024FA1\U00024FB8\U00025044\u3FFC\u4008\u76F4\U000250F3\U000250F2"
     U"\U00025119\U00025133\u771E\u771F\u771F\u774A\u4039\u778B\u4046\u4096\U0002541D\u784E\u788C"
     U"\u78CC\u40E3\U00025626\u7956\U0002569A\U000256C5\u798F\u79EB\u412F\u7A40\u7A4A\u7A4F"
     U"\U0002597C\U00025AA7\U00025AA7\u7AEE\u4202\U00025BAB\u7BC6\u7BC9\u4227\U00025C80\u7CD2\u42A0"
     U"\u7CE8\u7CE3\u7D00\U00025F86\u7D63\u4301\u7DC7\u7E02\u7E45\u4334\U00026228\U00026247\u4359"
     U"\U000262D9\u7F7A\U0002633E\u7F95\u7FFA\u8005\U000264DA\U00026523\u8060\U000265A8\u8070"
     U"\U0002335F\u43D5\u80B2\u8103\u440B\u813E\u5AB5\U000267A7\U000267B5\U00023393\U0002339C\u8201"
     U"\u8204\u8F9E\u446B\u8291\u828B\u829D\u52B3\u82B1\u82B3\u82BD\u82E6\U00026B3C\u82E5\u831D"
     U"\u8363\u83AD\u8323\u83BD\u83E7\u8457\u8353\u83CA\u83CC\u83DC\U00026C36\U00026D6B\U00026CD5"
     U"\u452B\u84F1\u84F3\u8516\U000273CA\u8564\U00026F2C\u455D\u4561\U00026FB1\U000270D2\u456B"
     U"\u8650\u865C\u8667\u8669\u86A9\u8688\u870E\u86E2\u8779\u8728\u876B\u8786\u45D7\u87E1\u8801"
     U"\u45F9\u8860\u8863\U00027667\u88D7\u88DE\u4635\u88FA\u34BB\U000278AE\U00027966\u46BE\u46C7"
     U"\u8AA0\u8AED\u8B8A\u8C55\U00027CA8\u8CAB\u8CC1\u8D1B\u8D77\U00027F2F\U00020804\u8DCB\u8DBC"
     U"\u8DF0\U000208DE\u8ED4\u8F38\U000285D2\U000285ED\u9094\u90F1\u9111\U0002872E\u911B\u9238"
     U"\u92D7\u92D8\u927C\u93F9\u9415\U00028BFA\u958B\u4995\u95B7\U00028D77\u49E6\u96C3\u5DB2\u9723"
     U"\U00029145\U0002921A\u4A6E\u4A76\u97E0\U0002940A\u4AB2\U00029496\u980B\u980B\u9829\U000295B6"
     U"\u98E2\u4B33\u9929\u99A7\u99C2\u99FE\u4BCE\U00029B30\u9B12\u9C40\u9CFD\u4CCE\u4CED\u9D67"
     U"\U0002A0CE\u4CF8\U0002A105\U0002A20E\U0002A291\u9EBB\u4D56\u9EF9\u9EFE\u9F05\u9F0F\u9F16"
     U"\u9F3B\U0002A600"}};

constexpr BaseRun kSequences[] = {{0x9CB, U"\u09C7\u09BE"},
                                  {0x9CC, U"\u09C7\u09D7"},
                                  {0xB4B, U"\u0B47\u0B3E"},
                                  {0xB4C, U"\u0B47\u0B57"},
                                  {0xB94, U"\u0B92\u0BD7"},
                                  {0xBCA, U"\u0BC6\u0BBE"},
                                  {0xBCB, U"\u0BC7\u0BBE"},
                                  {0xBCC, U"\u0BC6\u0BD7"},
                                  {0xCCB, U"\u0CC2\u0CD5"},
                                  {0xD4A, U"\u0D46\u0D3E"},
                                  {0xD4B, U"\u0D47\u0D3E"},
                                  {0xD4C, U"\u0D46\u0D57"},
                                  {0xDDC, U"\u0DD9\u0DCF"},
                                  {0xDDD, U"\u0DD9\u0DCF"},
                                  {0xDDE, U"\u0DD9\u0DDF"},
                                  {0x1B06, U"\u1B05\u1B35"},
                                  {0x1B08, U"\u1B07\u1B35"},
                                  {0x1B0A, U"\u1B09\u1B35"},
                                  {0x1B0C, U"\u1B0B\u1B35"},
                                  {0x1B0E, U"\u1B0D\u1B35"},
                                  {0x1B12, U"\u1B11\u1B35"},
                                  {0x1B40, U"\u1B3E\u1B35"},
                                  {0x1B41, U"\u1B3F\u1B35"},
                                  {0x1134B, U"\U00011347\U0001133E"},
                                  {0x1134C, U"\U00011347\U00011357"},
                                  {0x114BC, U"\U000114B9\U000114B0"},
                                  {0x114BE, U"\U000114B9\U000114BD"},
                                  {0x115BA, U"\U000115B8\U000115AF"},
                                  {0x115BB, U"\U000115B9\U000115AF"},
                                  {0x1D15E, U"\U0001D157\U0001D165"},
                                  {0x1D15F, U"\U0001D158\U0001D165"},
                                  {0x1D160, U"\U0001D158\U0001D165\U0001D16E"},
                                  {0x1D161, U"\U0001D158\U0001D165\U0001D16F"},
                                  {0x1D162, U"\U0001D158\U0001D165\U0001D170"},
                                  {0x1D163, U"\U0001D158\U0001D165\U0001D171"},
                                  {0x1D164, U"\U0001D158\U0001D165\U0001D172"},
                                  {0x1D1BB, U"\U0001D1B9\U0001D165"},
                                  {0x1D1BC, U"\U0001D1BA\U0001D165"},
                                  {0x1D1BD, U"\U0001D1B9\U0001D165\U0001D16E"},
                                  {0x1D1BE, U"\U0001D1BA\U0001D165\U0001D16E"},
                                  {0x1D1BF, U"\U0001D1B9\U0001D165\U0001D16F"},
                                  {0x1D1C0, U"\U0001D1BA\U0001D165\U0001D16F"}};

}  // namespace

const std::span<const CharacterRange> kRemoved(kRemovedRanges);
const std::span<const CharacterRange> kSpace(kSpaceRanges);
const std::span<const CharacterRange> kIdeograph(kIdeographRanges);
const std::span<const CharacterRange> kPunctuation(kPunctuationRanges);
const std::span<const CharacterRange> kNonspacing(kNonspacingRanges);
const std::span<const CaseRange> kLower(kLowerRanges);
const std::span<const BaseRun> kBase(kBaseRuns);
const std::span<const BaseRun> kBaseSequences(kSequences);

}  // namespace ai::model
