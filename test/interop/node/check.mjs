// Convert made-up IDX files with the binary and read every output with JavaScript's readers: hyparquet and Apache Arrow.
//
// usage: npm ci --prefix test/interop/node && node test/interop/node/check.mjs PATH_OF_IDXPORT
//
// Every value is compared as bits. Prints the number of cases; exits with 1 at the first difference.

import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { tableFromIPC } from 'apache-arrow'
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet'
import { compressors } from 'hyparquet-compressors'

// The data types of IDX: their code in the header, the array that holds their values, and how to write one big-endian.
const dtypes = [
  { name: 'uint8', code: 0x08, size: 1, array: Uint8Array, put: 'setUint8' },
  { name: 'int8', code: 0x09, size: 1, array: Int8Array, put: 'setInt8' },
  { name: 'int16', code: 0x0b, size: 2, array: Int16Array, put: 'setInt16' },
  { name: 'int32', code: 0x0c, size: 4, array: Int32Array, put: 'setInt32' },
  { name: 'float32', code: 0x0d, size: 4, array: Float32Array, put: 'setFloat32' },
  { name: 'float64', code: 0x0e, size: 8, array: Float64Array, put: 'setFloat64' },
]

const shapes = [[1003], [0, 3], [1, 7, 9], [301, 7, 9], [57, 2, 3, 5]]

// random returns n values of a type, the same in every run: all bit patterns of integers, and floats of many sizes.
function random(dtype, n) {
  const values = new dtype.array(n)
  let state = 12345
  const next = () => (state = (Math.imul(state, 1103515245) + 12345) >>> 0) >>> 8
  for (let i = 0; i < n; i++) {
    const bits = (next() << 16) ^ next()
    values[i] = dtype.name.startsWith('float') ? (bits / 65536) * 10 ** (next() % 30 - 15) : bits
  }
  if (dtype.name.startsWith('float') && n > 4) values.set([NaN, Infinity, -Infinity, -0])
  return values
}

// idx returns an IDX file: the magic number, the dimensions and the values, all big-endian.
function idx(dtype, shape, values) {
  const head = 4 + 4 * shape.length
  const view = new DataView(new ArrayBuffer(head + values.length * dtype.size))
  view.setUint32(0, (dtype.code << 8) | shape.length)
  shape.forEach((n, i) => view.setUint32(4 + 4 * i, n))
  values.forEach((v, i) => view[dtype.put](head + i * dtype.size, v))
  return Buffer.from(view.buffer)
}

// same compares what was read with what was written; Object.is tells −0 from 0 and takes NaN for NaN.
function same(found, expected, what) {
  if (found.length !== expected.length) throw new Error(`${what}: found ${found.length} values, expected ${expected.length}`)
  for (let i = 0; i < expected.length; i++) {
    if (!Object.is(found[i], expected[i])) throw new Error(`${what}: value ${i}: found ${found[i]}, expected ${expected[i]}`)
  }
}

// flat joins the rows of a column, each of which is a value, an array, or an Arrow vector.
function flat(rows) {
  const values = []
  for (const row of rows) {
    if (typeof row === 'number') values.push(row)
    else values.push(...(row.toArray ? row.toArray() : row))
  }
  return values
}

async function parquetColumn(path) {
  const rows = await parquetReadObjects({ file: await asyncBufferFromFile(path), compressors })
  return rows.map((row) => row.data)
}

function arrowColumn(path) {
  return [...tableFromIPC(readFileSync(path)).getChild('data')]
}

// The outputs that are read, and with what. apache-arrow reads compressed buffers only with a codec that it does not bring along.
const outputs = [
  { name: 'x.parquet', flags: [], read: parquetColumn },
  { name: 'y.parquet', flags: ['--compression', 'none'], read: parquetColumn },
  { name: 'z.parquet', flags: ['--compression', 'snappy'], read: parquetColumn },
  { name: 'x.arrow', flags: [], read: arrowColumn },
  { name: 'x.arrows', flags: [], read: arrowColumn },
]

async function main(binary) {
  const folder = mkdtempSync(join(tmpdir(), 'idxport-node-'))
  let cases = 0
  try {
    for (const dtype of dtypes) {
      for (const shape of shapes) {
        const values = random(dtype, shape.reduce((a, b) => a * b, 1))
        const input = join(folder, `${dtype.name}-${shape.join('x')}.idx`)
        writeFileSync(input, idx(dtype, shape, values))
        for (const { name, flags, read } of outputs) {
          const path = join(folder, name)
          execFileSync(binary, ['convert', `data=${input}`, '-o', path, '--overwrite', '--quiet', ...flags])
          same(flat(await read(path)), values, `${dtype.name} ${shape.join('×')} ${name}`)
          cases++
        }
      }
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
  console.log(`hyparquet and apache-arrow: ${cases} cases, all values equal`)
}

if (process.argv.length !== 3) {
  console.error('usage: node check.mjs PATH_OF_IDXPORT')
  process.exit(64)
}
await main(resolve(process.argv[2]))
