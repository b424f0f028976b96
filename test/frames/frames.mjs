// Decode every frame in the folder with fzstd and compare the contents.
//
// usage: node test/frames/frames.mjs DIR

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'

const require = createRequire(new URL('../interop/node/', import.meta.url))
const { decompress } = require('fzstd')

const folder = process.argv[2]
const [frames, contents] = ['frames', 'contents'].map(name => readFileSync(join(folder, name)))
let [at, from, number] = [0, 0, 0]
for (const line of readFileSync(join(folder, 'index'), 'utf8').trim().split('\n')) {
  const [size, length] = line.split(' ').map(Number)
  const found = decompress(frames.subarray(at, at + size))
  if (Buffer.compare(Buffer.from(found), contents.subarray(from, from + length))) {
    throw new Error(`frame ${number}, ${length} bytes, is not what it contains`)
  }
  at += size
  from += length
  number++
}
console.log(`${number} frames`)
