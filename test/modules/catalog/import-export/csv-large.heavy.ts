import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { type CsvSource, readProducts } from '../../../../src/modules/catalog/import-export/csv.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const encoder = new TextEncoder()

describe('a file of 100,000 rows', () => {
  const productCount = 40_000
  /** Returns the number of rows: every second product has three, the others two. */
  const rowsOf = (products: number) => products * 2.5
  const header =
    'Handle,Title,Body (HTML),Vendor,Option1 Name,Option1 Value,Variant SKU,Variant Price,Variant Inventory Qty,Image Src,Ignored\n'
  const rowOf = (product: number, size: number) =>
    size === 0
      ? `product-${product},Product ${product},"<p>Text, of some length, for ${product}</p>",Acme,Size,S,SKU-${product}-0,10.00,5,https://x.test/${product}.jpg,${'i'.repeat(50)}\n`
      : `product-${product},,,,,${'SML'[size]},SKU-${product}-${size},10.00,5,,${'i'.repeat(50)}\n`

  /** Generates two or three rows per product, and interleaves the rows of `interleaved` products at a time. */
  const source = (productCount: number, interleaved: number): CsvSource =>
    async function* () {
      yield encoder.encode(header)
      for (let start = 0; start < productCount; start += interleaved) {
        const products = Array.from({ length: Math.min(interleaved, productCount - start) }, (_, i) => start + i)
        for (const size of [0, 1, 2])
          yield encoder.encode(products.map((product) => (size < 2 || product % 2 === 0 ? rowOf(product, size) : '')).join(''))
      }
    }

  async function measure(productCount: number, interleaved: number) {
    let products = 0
    let variants = 0
    let rows = 0
    let bytesRead = 0
    let bytesBeforeFirst = 0
    const before = process.cpuUsage()
    for await (const item of readProducts(source(productCount, interleaved), {
      currency: 'USD',
      onProgress: (bytes) => (bytesRead = bytes),
    })) {
      if (item.kind === 'rejected') throw new Error(JSON.stringify(item))
      bytesBeforeFirst ||= bytesRead
      products += 1
      variants += item.product.variants.length
      rows += item.rows
    }
    const { user, system } = process.cpuUsage(before)
    return { products, variants, rows, bytesRead, bytesBeforeFirst, cost: user + system }
  }

  test('reads a file of 100,000 rows as a stream, in time that grows linearly', async () => {
    // The first run warms up the compiler.
    await measure(productCount / 10, 100)
    const tenth = await measure(productCount / 10, 100)
    expect(tenth.rows).toBe(rowsOf(productCount / 10))
    const { products, variants, rows, bytesRead, bytesBeforeFirst, cost } = await measure(productCount, 100)
    expect({ products, variants, rows }).toEqual({ products: productCount, variants: 100_000, rows: 100_000 })
    // Quadratic work would cost 100 times as much.
    expect(cost / tenth.cost).toBeLessThan(40)
    expect(bytesRead).toBeGreaterThan(10_000_000)
    // The first product is returned while most of the file is still unread.
    expect(bytesBeforeFirst).toBeLessThan(200_000)
  })

  test('reads a file of 100,000 rows in any order of rows', async () => {
    const { products, variants } = await measure(productCount, productCount)
    expect({ products, variants }).toEqual({ products: productCount, variants: 100_000 })
  })

  test('refuses a file when the unfinished products would exceed the memory limit', async () => {
    const handles = encoder.encode(Array.from({ length: 270_000 }, (_, product) => `p${product}\n`).join(''))
    const source: CsvSource = async function* () {
      yield encoder.encode('Handle\n')
      yield handles
      yield handles
    }
    await expect(readProducts(source, { currency: 'USD' }).next()).rejects.toThrow('Sort the file by handle')
  })
})
