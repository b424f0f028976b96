// Read the corpus with JavaScript's readers, hyparquet and Apache Arrow, and record what each found.
//
// usage: npm ci --prefix test/interop/node && node test/interop/node/matrix.mjs CORPUS CELLS
//
// Every value is compared; Object.is distinguishes −0 from 0; all NaNs are equal, as JavaScript may change their bits.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { inflateSync } from 'node:zlib'
import { tableFromIPC } from 'apache-arrow'
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet'
import { compressors } from 'hyparquet-compressors'

const dtypes = {
  0x08: ['getUint8', 1, 'Uint8'],
  0x09: ['getInt8', 1, 'Int8'],
  0x0b: ['getInt16', 2, 'Int16'],
  0x0c: ['getInt32', 4, 'Int32'],
  0x0d: ['getFloat32', 4, 'Float32'],
  0x0e: ['getFloat64', 8, 'Float64'],
}

class Differs extends Error {}

// idx reads an IDX file by the format's definition.
function idx(path) {
  const data = readFileSync(path)
  const view = new DataView(data.buffer, data.byteOffset, data.length)
  const [get, size, name] = dtypes[data[2]]
  const shape = Array.from({ length: data[3] }, (_, i) => view.getUint32(4 + 4 * i))
  const values = new Float64Array(shape.reduce((a, b) => a * b, 1))
  for (let i = 0; i < values.length; i++) values[i] = view[get](4 + 4 * shape.length + i * size)
  return { shape, values, get, size, name }
}

// flat appends the numbers of a value: a number, an array of values, or an Arrow vector.
function flat(value, to) {
  if (typeof value === 'number') to.push(value)
  else if (typeof value === 'bigint') to.push(Number(value))
  else for (const item of value) flat(item, to)
  return to
}

// littleEndian appends the numbers of a record that is bytes.
function littleEndian(bytes, column, to) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  for (let at = 0; at < bytes.length; at += column.size) to.push(view[column.get](at, true))
  return to
}

// png appends the samples of a PNG file without interlacing, whose bit depth is 8 or 16: https://www.w3.org/TR/png-3/
function png(bytes, to) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const [width, height, depth] = [view.getUint32(16), view.getUint32(20), bytes[24]]
  const pixel = ({ 0: 1, 2: 3, 6: 4 }[bytes[25]] * depth) / 8
  const parts = []
  for (let at = 8; at < bytes.length; at += 12 + view.getUint32(at)) {
    if (Buffer.from(bytes.subarray(at + 4, at + 8)).toString() === 'IDAT') parts.push(bytes.subarray(at + 8, at + 8 + view.getUint32(at)))
  }
  const data = inflateSync(Buffer.concat(parts))
  let above = new Uint8Array(width * pixel)
  for (let y = 0; y < height; y++) {
    const start = y * (above.length + 1)
    const row = Uint8Array.from(data.subarray(start + 1, start + 1 + above.length))
    for (let i = 0; i < row.length; i++) row[i] += predicted(data[start], row[i - pixel] ?? 0, above[i], above[i - pixel] ?? 0)
    for (let i = 0; i < row.length; i += depth / 8) to.push(depth === 8 ? row[i] : (row[i] << 8) | row[i + 1])
    above = row
  }
  return to
}

// predicted is what a PNG filter takes off a sample: its left, upper and upper left neighbours are known.
function predicted(filter, left, up, corner) {
  if (filter < 4) return [0, left, up, (left + up) >> 1][filter]
  const [a, b, c] = [Math.abs(up - corner), Math.abs(left - corner), Math.abs(left + up - 2 * corner)]
  return a <= b && a <= c ? left : b <= c ? up : corner
}

// numbers are all values of the tensor's column, by the layout of the file. rows are what the reader calls rows.
function numbers(test, rows, column, names) {
  const to = []
  for (const row of rows) {
    if (test.layout === 'columns') for (const name of names) flat(row[name], to)
    else if (test.layout.endsWith('binary') && column.shape.length > 1) littleEndian(row.image, column, to)
    else if (test.layout === 'huggingface') png(row.image.bytes, to)
    else flat(row.image, to)
  }
  return to
}

function same(found, expected, what) {
  if (found.length !== expected.length) throw new Differs(`${what}: found ${found.length} values, expected ${expected.length}`)
  for (let i = 0; i < expected.length; i++) {
    if (!Object.is(found[i], expected[i])) throw new Differs(`${what}: value ${i}: found ${found[i]}, expected ${expected[i]}`)
  }
}

// check compares the rows that a reader found with the inputs.
function check(test, rows, columns, names) {
  if (rows.length !== columns.image.shape[0]) throw new Differs(`found ${rows.length} rows, expected ${columns.image.shape[0]}`)
  same(numbers(test, rows, columns.image, names.filter((name) => name !== 'label')), columns.image.values, 'image')
  if (columns.label) same(flat(rows.map((row) => row.label), []), columns.label.values, 'label')
}

// kindOf says what a JavaScript value is.
function kindOf(value) {
  if (Array.isArray(value)) return `${kindOf(value[0])}[]`
  return typeof value === 'object' ? value.constructor.name : typeof value
}

async function hyparquet(test, path, columns) {
  const rows = await parquetReadObjects({ file: await asyncBufferFromFile(path), compressors, utf8: false })
  const names = Object.keys(rows[0] ?? {})
  check(test, rows, columns, names)
  const kind = test.layout === 'columns' ? `${kindOf(rows[0]?.pixel0)} columns` : kindOf(rows[0]?.image)
  return { kind, exact: false } // JavaScript has one type of number
}

async function apacheArrow(test, path, columns) {
  const table = tableFromIPC(readFileSync(path))
  const names = table.schema.fields.map((field) => field.name)
  const rows = Array.from(table, (row) => row)
  check(test, rows, columns, names)
  const kind = String(table.schema.fields.find((field) => field.name === (test.layout === 'columns' ? 'pixel0' : 'image'))?.type)
  return { kind: test.layout === 'columns' ? `${kind} columns` : kind, exact: kind.includes(columns.image.name) }
}

const readers = [
  { name: 'hyparquet', formats: ['parquet'], read: hyparquet },
  { name: 'apache-arrow', formats: ['arrow', 'arrows'], read: apacheArrow },
]

async function main(corpus, cells) {
  const tests = readFileSync(join(corpus, 'cases.jsonl'), 'utf8').trim().split('\n').map((line) => JSON.parse(line))
  const inputs = new Map()
  const input = (name) => inputs.get(name) ?? inputs.set(name, idx(join(corpus, name))).get(name)
  mkdirSync(cells, { recursive: true })
  for (const { name, formats, read } of readers) {
    const lines = []
    for (const test of tests.filter((test) => formats.includes(test.format))) {
      const line = { reader: name, file: test.file }
      try {
        const columns = Object.fromEntries(test.columns.map((column) => [column.name, input(column.idx)]))
        Object.assign(line, await read(test, join(corpus, test.file), columns))
      } catch (error) {
        line[error instanceof Differs ? 'differs' : 'refuses'] = `${error.name}: ${error.message}`
      }
      lines.push(line)
    }
    writeFileSync(join(cells, `${name}.jsonl`), lines.map((line) => JSON.stringify(line) + '\n').join(''))
    console.log(`${name}: ${lines.length} files, ${lines.filter((line) => 'kind' in line).length} read with every value as it was`)
  }
}

if (process.argv.length !== 4) {
  console.error('usage: node matrix.mjs CORPUS CELLS')
  process.exit(64)
}
await main(resolve(process.argv[2]), resolve(process.argv[3]))
