#!/bin/sh
# Makes the files of this folder with gzip 1.12, zstd 1.5.4, xz 5.4.1 and bzip2 1.0.8.
# Files of one prefix hold the same data: "small" (an IDX file of 8 images of 5×5 and one line of text), "long" (3,000,000 bytes,
# the 14 characters "0123456789abc\n" repeated), "empty" (nothing). Names tell what is special.
set -eu
cd "$(dirname "$0")"

{
	printf '\0\0\010\003\0\0\0\010\0\0\0\005\0\0\0\005'
	for i in 0 1 2 3 4 5 6 7; do printf '\0\0\376\0\0\0\010\377\007\0\0\0\201%s\0\0\003\375\0\0\0\0\177\0\0' "$i"; done
	printf 'the quick brown fox jumps over the lazy dog\n'
} > small.plain
split -n 2 small.plain half.

gzip -9 -k -S .gz -c small.plain > small.gz # with name and time
{ gzip -c -n half.aa; gzip -c -n half.ab; } > small-members.gz
{ gzip -c -n small.plain; printf '\0\0\0\0\0\0\0'; } > small-padded.gz
gzip -n -c < /dev/null > empty.gz

zstd -q -19 -c small.plain > small.zst
zstd -q -19 -c --no-check small.plain > small-nocheck.zst
{ printf '\120\052\115\030\003\0\0\0abc'; zstd -q -c half.aa; printf '\137\052\115\030\0\0\0\0'; zstd -q -c < half.ab; } > small-frames.zst
zstd -q -c < /dev/null > empty.zst

xz -0 -k -c small.plain > small.xz # CRC64
xz -0 -c --check=none small.plain > small-nocheck.xz
{ xz -0 -c --check=crc32 half.aa; printf '\0\0\0\0'; xz -0 -c --check=sha256 half.ab; printf '\0\0\0\0\0\0\0\0'; } > small-streams.xz
xz -0 -c -T2 --block-size=96 small.plain > small-blocks.xz # sizes in the block headers
xz -0 -c < /dev/null > empty.xz
xz -0 -c --delta=dist=25 --lzma2=preset=0 small.plain > small-delta.xz
xz -c --lzma2=preset=0,dict=96MiB small.plain > unsupported-dictionary.xz
zstd -q -c --long=28 < small.plain > unsupported-window.zst

bzip2 -1 -c small.plain > small.bz2
{ bzip2 -1 -c half.aa; bzip2 -2 -c half.ab; } > small-streams.bz2
bzip2 -c < /dev/null > empty.bz2

yes 0123456789abc | head -c 3000000 > long
gzip -9 -n -c long > long.gz
zstd -q -c long > long.zst
xz -0 -c long > long.xz
bzip2 -c long > long.bz2
rm -f long half.aa half.ab
