import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync } from 'node:fs'
import fc from 'fast-check'
import { AppError } from '../../../../src/core/errors.ts'
import { csvLine } from '../../../../src/lib/csv-line.ts'
import { type CsvSource, readProducts } from '../../../../src/modules/catalog/import-export/csv.ts'
import type {
  CsvItem,
  ImportedImage,
  ImportedProduct,
  ImportedVariant,
} from '../../../../src/modules/catalog/import-export/csv-import-items.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const encoder = new TextEncoder()

/** Returns a source that yields the same bytes, in chunks, each time it is read. */
function sourceOf(content: string | Uint8Array, chunkBytes = 64 * 1024): CsvSource {
  const bytes = typeof content === 'string' ? encoder.encode(content) : content
  return async function* () {
    for (let start = 0; start < bytes.length; start += chunkBytes) yield bytes.subarray(start, start + chunkBytes)
  }
}

async function itemsOf(content: string | Uint8Array, currency = 'USD', chunkBytes?: number): Promise<CsvItem[]> {
  const items: CsvItem[] = []
  for await (const item of readProducts(sourceOf(content, chunkBytes), { currency })) items.push(item)
  return items
}

async function productsOf(content: string | Uint8Array, currency?: string): Promise<ImportedProduct[]> {
  return (await itemsOf(content, currency)).map((item) => {
    if (item.kind === 'rejected') throw new Error(JSON.stringify(item))
    return item.product
  })
}

async function productOf(content: string, currency?: string): Promise<ImportedProduct> {
  const [product, ...others] = await productsOf(content, currency)
  if (!product || others.length > 0) throw new Error(`expected one product, got ${others.length + (product ? 1 : 0)}`)
  return product
}

async function errorsOf(content: string, currency?: string) {
  return (await itemsOf(content, currency)).flatMap((item) => (item.kind === 'rejected' ? item.errors : []))
}

async function failureOf(content: string | Uint8Array, chunkBytes?: number): Promise<string> {
  const failure = await itemsOf(content, 'USD', chunkBytes).then(
    () => undefined,
    (error: unknown) => error,
  )
  if (!(failure instanceof AppError)) throw new Error(`expected an AppError, got ${String(failure)}`)
  expect(failure.kind).toBe('INVALID')
  return failure.message
}

const lines = (...rows: string[]) => `${rows.join('\n')}\n`

describe('both CSV dialects', () => {
  const expected = {
    row: 2,
    handle: 'tee',
    title: 'Tee',
    descriptionHtml: '<p>Soft, "warm"</p>',
    vendor: 'Acme',
    type: 'Shirts',
    tags: ['a', 'B'],
    status: 'ACTIVE',
    published: true,
    seoTitle: 'Buy tee',
    seoDescription: 'A tee',
    options: [{ name: 'Size', values: ['S', 'M'] }],
    variants: [
      {
        row: 2,
        optionValues: ['S'],
        sku: 'T-S',
        barcode: '123',
        price: 1050,
        compareAtPrice: 1200,
        cost: 300,
        weightGrams: 201,
        taxable: true,
        trackInventory: true,
        allowBackorder: true,
        onHand: -3,
        imageUrl: 'https://x.test/s.jpg',
      },
      {
        row: 3,
        optionValues: ['M'],
        sku: null,
        barcode: null,
        price: null,
        compareAtPrice: null,
        cost: null,
        weightGrams: null,
        taxable: null,
        trackInventory: false,
        allowBackorder: null,
        onHand: null,
        imageUrl: null,
      },
    ],
    images: [
      { url: 'https://x.test/1.jpg', alt: 'Front', position: 1 },
      { url: 'https://x.test/2.jpg', alt: null, position: 2 },
      { url: 'https://x.test/s.jpg', position: 3 },
    ],
  } satisfies ImportedProduct

  test('reads every column of the old CSV dialect', async () => {
    const product = await productOf(
      lines(
        'Handle,Title,Body (HTML),Vendor,Type,Tags,Published,Status,Option1 Name,Option1 Value,Variant SKU,Variant Barcode,Variant Price,Variant Compare At Price,Cost per item,Variant Grams,Variant Weight Unit,Variant Taxable,Variant Inventory Tracker,Variant Inventory Policy,Variant Inventory Qty,Image Src,Image Position,Image Alt Text,Variant Image,SEO Title,SEO Description,Gift Card',
        'Tee,Tee,"<p>Soft, ""warm""</p>",Acme,Shirts,"a, B, A, ",TRUE,active,Size,S,T-S,123,10.50,12,3.00,200.6,kg,true,shopify,continue,-3,https://x.test/2.jpg,2,,https://x.test/s.jpg,Buy tee,A tee,false',
        'tee,,,,,,,,,M,,,,,,,,,,,,https://x.test/1.jpg,1,Front,,,,',
      ),
    )
    expect(product).toEqual({ ...expected, isGiftCard: false })
  })

  test('reads every column of the new CSV dialect', async () => {
    const product = await productOf(
      lines(
        'Title,URL handle,Description,Vendor,Product category,Type,Tags,Published on online store,Status,SKU,Barcode,Option1 name,Option1 value,Option1 Linked To,Price,Compare-at price,Cost per item,Charge tax,Tax code,Inventory tracker,Inventory quantity,Continue selling when out of stock,Weight value (grams),Weight unit for display,Product image URL,Image position,Image alt text,Variant image URL,SEO title,SEO description',
        'Tee,tee,"<p>Soft, ""warm""</p>",Acme,Apparel,Shirts,"a,B",yes,Active,T-S,123,Size,S,,10.5,12.00,3,1,,shopify,-3,TRUE,200.6,lb,https://x.test/1.jpg,1,Front,https://x.test/s.jpg,Buy tee,A tee',
        ',tee,,,,,,,,,,,M,,,,,,,,,,,,https://x.test/2.jpg,,,,,',
      ),
    )
    // Only this dialect has a column for the tax class.
    const variants = expected.variants.map((variant) => ({ ...variant, taxClass: null }))
    expect(product).toEqual({ ...expected, variants })
  })

  test('matches column names regardless of case and spacing, and ignores unknown columns', async () => {
    expect(await productOf(lines(' hANDLE ,TITLE,variant  price,Metafield: custom.x', 'a,A,1,zzz'))).toMatchObject({
      handle: 'a',
      variants: [{ price: 100 }],
    })
  })

  test('leaves the property out for an absent column, and sets null for a blank cell', async () => {
    const bare = await productOf(lines('Title', 'Blue Shirt'))
    expect(bare).toStrictEqual({
      row: 2,
      handle: 'blue-shirt',
      title: 'Blue Shirt',
      options: [],
      variants: [{ row: 2, optionValues: [] }],
      images: undefined,
      optionsAbsent: true,
    })
    expect(Object.keys(bare)).not.toContain('vendor')
    const blank = await productOf(
      lines('Handle,Title,Vendor,Tags,Status,Published,Option1 Name,Option1 Value,Variant Price,Image Src', 'a,,,,,,,,,'),
    )
    expect(blank).toStrictEqual({
      row: 2,
      handle: 'a',
      title: null,
      vendor: null,
      tags: null,
      status: null,
      published: null,
      options: [],
      variants: [{ row: 2, optionValues: [], price: null }],
      images: [],
    })
  })

  test('reads products from a file without a title column', async () => {
    expect(await productOf(lines('Handle,Variant Price', 'a,5'))).toStrictEqual({
      row: 2,
      handle: 'a',
      options: [],
      variants: [{ row: 2, optionValues: [], price: 500 }],
      images: undefined,
      optionsAbsent: true,
    })
  })
})

describe('handles', () => {
  test('groups rows by handle even if rows of other products are between them', async () => {
    const products = await productsOf(
      lines('Handle,Title,Option1 Name,Option1 Value', 'a,A,Size,S', 'b,B,Size,S', 'A,,,M', 'c,C,,', 'b,,,L', 'a,,,L'),
    )
    expect(products.map(({ handle, row, options }) => [handle, row, options[0]?.values])).toEqual([
      ['c', 5, undefined],
      ['b', 3, ['S', 'L']],
      ['a', 2, ['S', 'M', 'L']],
    ])
  })

  test('derives a blank handle from the title', async () => {
    const products = await productsOf(lines('Handle,Title', ',"Crème  Brûlée, 2 pcs!"', ',ПИРОГ', ',हिन्दी किताब', ',한국 Tee'))
    expect(products.map(({ handle }) => handle)).toEqual(['creme-brulee-2-pcs', 'пирог', 'हिन्दी-किताब', '한국-tee'])
  })

  test('groups rows without a handle by title', async () => {
    const product = await productOf(lines('Title,Option1 name,Option1 value', 'Blue Tee,Size,S', 'Blue tee,,M'))
    expect(product.options).toEqual([{ name: 'Size', values: ['S', 'M'] }])
  })

  test('refuses different titles that give the same handle, and reads the other products', async () => {
    const items = await itemsOf(lines('Title', 'Tee (blue)', 'Tee: blue', 'Hat'))
    expect(items).toMatchObject([
      { kind: 'rejected', handle: 'tee-blue', rows: 2, errors: [{ row: 3, column: 'Title' }] },
      { kind: 'product', product: { handle: 'hat' } },
    ])
  })

  test('rows with the same handle may have different titles; the first one counts', async () => {
    expect(await productOf(lines('Handle,Title,Option1 Name,Option1 Value', 'a,One,Size,S', 'a,Two,,M'))).toMatchObject({ title: 'One' })
  })

  test.each([
    ['a handle with a space', 'my tee,Tee', 'Handle'],
    ['a handle with a slash', 'my/tee,Tee', 'Handle'],
    ['a handle of 256 characters', `${'a'.repeat(256)},Tee`, 'Handle'],
    ['a title without a letter', ',!!!', 'Title'],
    ['neither handle nor title', ',,x', 'Handle'],
  ])('%s is reported as a row error that does not repeat the cell', async (_name, row, column) => {
    const items = await itemsOf(lines('Handle,Title,Vendor', row, 'ok,Ok,'))
    expect(items).toMatchObject([{ kind: 'rejected', errors: [{ row: 2, column }] }, { kind: 'product' }])
    expect(items[0]).not.toHaveProperty('handle')
    expect(JSON.stringify(items[0])).not.toContain('tee')
  })

  test('accepts a handle of 255 characters in any script', async () => {
    expect((await productOf(lines('Handle', 'é'.repeat(255)))).handle).toHaveLength(255)
  })
})

describe('options and variants', () => {
  const header = 'Handle,Title,Option1 Name,Option1 Value,Option2 Name,Option2 Value,Option3 Name,Option3 Value,Variant Price'

  test('reads the option Title with the value Default Title as no options', async () => {
    const product = await productOf(lines(header, 'a,A,Title,Default Title,,,,,5'))
    expect(product).toMatchObject({ options: [], variants: [{ optionValues: [], price: 500 }] })
  })

  test('collects three options in the order of first appearance', async () => {
    const product = await productOf(lines(header, 'a,A,Size,M,Color,Red,Fit,Slim,5', 'a,,,S,,Red,,Slim,5', 'a,,,M,,Blue,,Slim,'))
    expect(product.options).toEqual([
      { name: 'Size', values: ['M', 'S'] },
      { name: 'Color', values: ['Red', 'Blue'] },
      { name: 'Fit', values: ['Slim'] },
    ])
    expect(product.variants.map(({ optionValues }) => optionValues.join('/'))).toEqual(['M/Red/Slim', 'S/Red/Slim', 'M/Blue/Slim'])
  })

  test.each([
    ['the same combination twice', ['a,A,Size,S,,,,,5', 'b,B,,,,,,,', 'a,,,S,,,,,6'], { row: 4, column: 'Option1 Value' }],
    ['two variants without options', ['a,A,,,,,,,5', 'a,,,,,,,,6'], { row: 3 }],
    ['a variant that lacks a value', ['a,A,Size,S,Color,Red,,,5', 'a,,,M,,,,,5'], { row: 3, column: 'Option2 Value' }],
    ['a value without a name', ['a,A,,S,,,,,5'], { row: 2, column: 'Option1 Value' }],
    ['a later row with another name', ['a,A,Size,S,,,,,5', 'a,,Colour,M,,,,,5'], { row: 3, column: 'Option1 Name' }],
    ['the same name twice', ['a,A,Size,S,size,Red,,,5'], { row: 2, column: 'Option2 Name' }],
  ])('refuses options and variants with %s', async (_name, rows, error) => {
    const errors = await errorsOf(lines(header, ...rows))
    expect(errors).toMatchObject([error])
  })

  test('accepts 250 variants and refuses 251', async () => {
    const rows = (count: number) => lines(header, ...Array.from({ length: count }, (_, i) => `a,A,Size,${i},,,,,5`))
    expect((await productOf(rows(250))).variants).toHaveLength(250)
    expect(await errorsOf(rows(251))).toMatchObject([{ row: 252, message: expect.stringContaining('at most 250 variants') }])
  })
})

describe('images', () => {
  const header = 'Handle,Title,Option1 Name,Option1 Value,Variant Price,Image Src,Image Position,Image Alt Text,Variant Image'

  test('reads a row without option value and price as an image only', async () => {
    const product = await productOf(lines(header, 'a,A,,,5,https://x.test/1.jpg,,,', 'a,,,,,https://x.test/2.jpg,,Back,'))
    expect(product.variants).toHaveLength(1)
    expect(product.images).toEqual([
      { url: 'https://x.test/1.jpg', alt: null, position: 1 },
      { url: 'https://x.test/2.jpg', alt: 'Back', position: 2 },
    ])
  })

  test('removes duplicate images, sorts and numbers them by position, and puts variant images last', async () => {
    const product = await productOf(
      lines(
        header,
        'a,A,Size,S,5,https://x.test/9.jpg,9,,https://x.test/v.jpg',
        'a,,,M,5,https://x.test/3.jpg,3,Three,https://x.test/9.jpg',
        'a,,,,,https://x.test/9.jpg,1,Nine,',
      ),
    )
    expect(product.images).toEqual([
      { url: 'https://x.test/3.jpg', alt: 'Three', position: 1 },
      { url: 'https://x.test/9.jpg', alt: 'Nine', position: 2 },
      { url: 'https://x.test/v.jpg', position: 3 },
    ])
  })

  test('leaves images undefined without an image column, even if variants have images', async () => {
    const product = await productOf(lines('Handle,Variant Image', 'a,https://x.test/v.jpg'))
    expect(product).toMatchObject({ images: undefined, variants: [{ imageUrl: 'https://x.test/v.jpg' }] })
  })

  test('accepts 250 images and refuses 251', async () => {
    const rows = (count: number) => lines(header, ...Array.from({ length: count }, (_, i) => `a,,,,,https://x.test/${i}.jpg,,,`))
    expect((await productOf(rows(250))).images).toHaveLength(250)
    expect(await errorsOf(rows(251))).toMatchObject([{ message: expect.stringContaining('at most 250 images') }])
  })

  test('refuses a product with more rows than its variants and images can use', async () => {
    const items = await itemsOf(lines(header, ...Array.from({ length: 5_000 }, (_, i) => `a,,Size,${i},5,,,,`), 'b,B,,,,,,,'))
    expect(items).toMatchObject([{ kind: 'rejected', handle: 'a', rows: 5_000, errors: [{ row: 2 }] }, { kind: 'product' }])
  })
})

describe('cells', () => {
  const read = (column: string, cell: string, currency = 'USD') =>
    errorsOf(lines(`Handle,Title,${column}`, `a,A,"${cell.replaceAll('"', '""')}"`), currency)

  test.each([
    ['Variant Price', '1,234.50'],
    ['Variant Price', '$42'],
    ['Variant Price', '-1'],
    ['Variant Price', '1.234'],
    ['Price', '1e3'],
    ['Cost per item', 'USD 9'],
    ['Variant Compare At Price', '9999999999999999'],
    ['Variant Inventory Qty', '1.5'],
    ['Variant Inventory Qty', '1000001'],
    ['Variant Grams', '-1'],
    ['Variant Grams', '100000001'],
    ['Variant Grams', '1 kg'],
    ['Variant Taxable', 'maybe'],
    ['Variant Inventory Policy', 'sometimes'],
    ['Published', 'global'],
    ['Status', 'hidden'],
    ['Vendor', 'v'.repeat(256)],
    ['Type', 'v'.repeat(256)],
    ['Variant SKU', 'v'.repeat(256)],
    ['Barcode', 'v'.repeat(256)],
    ['SEO Title', 'v'.repeat(256)],
    ['SEO Description', 'v'.repeat(1_001)],
    ['Body (HTML)', 'é'.repeat(256 * 1024 + 1)],
    ['Tags', 't'.repeat(256)],
    ['Tags', Array.from({ length: 251 }, (_, i) => `t${i}`).join()],
    ['Image Src', 'ftp://x.test/1.jpg'],
    ['Image Src', 'javascript:alert(1)'],
    ['Image Src', 'https://x.test/a b.jpg'],
    ['Image Src', `https://x.test/${'a'.repeat(2_048)}`],
    ['Variant Image', '//x.test/1.jpg'],
  ])('the column %s refuses an invalid cell with an error that does not repeat it', async (column, cell) => {
    const [error, ...others] = await read(column, cell)
    expect(others).toEqual([])
    expect(error).toMatchObject({ row: 2, column })
    expect(error?.message).not.toContain(cell)
    expect(error?.message.length).toBeLessThan(200)
  })

  test.each([
    ['USD', '1000000000000.01', 'Must be at most 1000000000000 USD.'],
    ['USD', '9'.repeat(400), 'Must be at most 1000000000000 USD.'],
    ['JPY', '100000000000001', 'Must be at most 100000000000000 JPY.'],
    ['USD', '1000000000000.001', 'Must be a plain USD amount of zero or more, with at most 2 decimals'],
  ])('a %s price above the maximum is refused as too large, not as malformed: %s', async (currency, cell, message) => {
    const [error] = await read('Variant Price', cell, currency)
    expect(error?.message).toStartWith(message)
    expect(await read('Variant Price', currency === 'USD' ? '1000000000000.00' : '100000000000000', currency)).toEqual([])
  })

  test.each([
    ['Variant Inventory Qty', '-1000000'],
    ['Variant Inventory Qty', '1000000'],
  ])('the column %s accepts %s', async (column, cell) => {
    const product = await productOf(lines(`Handle,${column},Variant Inventory Policy`, `a,${cell},continue`))
    expect(product.variants[0]?.onHand).toBe(Number(cell))
  })

  test('reads prices with the decimals of the currency', async () => {
    const read = async (currency: string, cell: string) =>
      (await productOf(lines('Handle,Price', `a,${cell}`), currency)).variants[0]?.price
    expect(await read('KWD', '1.234')).toBe(1234)
    expect(await read('JPY', '1234')).toBe(1234)
    expect((await errorsOf(lines('Handle,Price', 'a,12.5'), 'JPY'))[0]?.message).toContain('without decimals')
    expect((await errorsOf(lines('Handle,Price', 'a,"1,5"'), 'KWD'))[0]?.message).toContain('1234.567')
  })

  test('accepts cells of exactly the maximum length', async () => {
    const cells = ['a', 't'.repeat(255), 'd'.repeat(64 * 1024), 's'.repeat(1_000)]
    expect(await productOf(lines('Handle,Title,Description,SEO description', cells.join()))).toMatchObject({
      title: cells[1],
      seoDescription: cells[3],
    })
  })

  test('reports at most 20 errors of a product together, in the order of rows', async () => {
    const rows = Array.from({ length: 15 }, (_, i) => `a,A,Size,${i},x,y`)
    const [item] = await itemsOf(lines('Handle,Title,Option1 Name,Option1 Value,Variant Price,Variant Grams', ...rows))
    expect(item).toMatchObject({ kind: 'rejected', handle: 'a', rows: 15 })
    const errors = item?.kind === 'rejected' ? item.errors : []
    expect(errors.map(({ row }) => row)).toEqual(Array.from({ length: 20 }, (_, i) => 2 + Math.floor(i / 2)))
  })

  test('counts rows like a spreadsheet when cells contain line breaks', async () => {
    const errors = await errorsOf('\uFEFFHandle,Body (HTML),Variant Price\r\n\r\na,"one\r\ntwo\nthree",1\r\n,,\r\nb,,x\r\n')
    expect(errors).toMatchObject([{ row: 5, handle: 'b', column: 'Variant Price' }])
  })
})

describe('files', () => {
  test('reads BOM, CRLF, mixed line ends, blank lines, short rows and a missing last line end, in any chunk size', async () => {
    const content = '\uFEFF\r\nHandle,Title,Vendor,Image Src\r\n\n"a","Größe ""L""\r\n😀",Acme\nb,B,,https://x.test/é.jpg\r\n,,,\r\n\r\nc,C'
    const atOnce = await itemsOf(content)
    expect(atOnce).toMatchObject([
      { product: { handle: 'a', title: 'Größe "L"\r\n😀', row: 4, images: [] } },
      { product: { handle: 'b', row: 5, images: [{ url: 'https://x.test/é.jpg' }] } },
      { product: { handle: 'c', title: 'C', row: 8 } },
    ])
    for (const chunkBytes of [1, 2, 3, 5, 7]) expect(await itemsOf(content, 'USD', chunkBytes)).toEqual(atOnce)
  })

  test.each([
    ['an empty file', '', 'empty'],
    ['a file of blank lines', '\n\n  \n', 'empty'],
    ['only a BOM', '\uFEFF', 'empty'],
    ['a heading', 'Handle of the door\n\nIt is new.\n', 'plain text document'],
    ['one unknown column', 'Secret\na\n', 'no "Title" or "Handle" column'],
    ['lone carriage returns', 'Handle,Title\ra,A\r', 'carriage return'],
    ['neither handle nor title', 'SKU,Price\n1,2\n', 'no "Title" or "Handle" column'],
    ['the same column twice', 'Handle,Title,TITLE \na,A,B\n', 'Columns 2 and 3'],
    ['an unknown column twice', 'Handle,secret,Secret\na,A,B\n', 'Columns 2 and 3'],
    ['two columns of one field', 'Handle,URL handle\na,b\n', '"Handle" and "URL handle"'],
    ['more cells than the header', 'Handle,Title\na,A\nb,B,C\n', 'Row 3 has 3 cells'],
    ['a quote that is never closed', 'Handle,Title\na,A\nb,"B\nc,C\n', 'Row 3 has a quote that is never closed'],
    ['a quote within an unquoted cell', 'Handle,Title\na,A\nb,5" secret\n', 'Row 3 has a quote in the wrong place'],
    ['text after a closing quote', 'Handle,Title\n"a"b,A\n', 'Row 2 has a quote in the wrong place'],
    ['a NUL character', 'Handle,Title\na,"A\n\nB"\nb,B\0\n', 'Row 3 contains a NUL'],
    ['a record over 1 MB in one line', `Handle,Title\na,A\nb,${'x'.repeat(1024 * 1024 + 1)}\n`, 'Row 3 is larger than 1 MB'],
    ['a record over 1 MB in many lines', `Handle,Title\na,A\nb,"${'secret\n'.repeat(200_000)}"\n`, 'Row 3 is larger than 1 MB'],
    ['a line of commas without end', `Handle,Title\n${','.repeat(3_000_000)}\n`, 'Row 2 is larger than 1 MB'],
    ['more than 2,000 columns', `Handle${',x'.repeat(2_000)}\n`, '2000 columns'],
  ])('refuses a file with %s', async (_name, content, message) => {
    const failure = await failureOf(content)
    expect(failure).toContain(message)
    expect(failure).not.toContain('secret')
  })

  test.each([1, 2, 3, 1024])('refuses malformed UTF-8 and names its row, in chunks of %i bytes', async (chunkBytes) => {
    const good = encoder.encode('Handle,Title\na,😀\n')
    const bad = Uint8Array.from([...good, ...encoder.encode('b,é\nc,'), 0xe9, 0x20, 0x0a])
    expect(await failureOf(bad, chunkBytes)).toContain('Row 4 is not valid UTF-8')
    expect(await failureOf(Uint8Array.from([...good, 0xf0, 0x9f]), chunkBytes)).toContain('Row 3 ends in the middle of a character')
  })

  test.each(['utf16le with BOM', 'utf16be with BOM', 'utf16le without'])('refuses %s and names it as UTF-16', async (kind) => {
    const units = Buffer.from(`${kind.endsWith('BOM') ? '\uFEFF' : ''}Handle,Title\na,A\n`, 'utf16le')
    const bytes = new Uint8Array(kind.startsWith('utf16be') ? units.swap16() : units)
    for (const chunkBytes of [1, 64]) expect(await failureOf(bytes, chunkBytes)).toContain('UTF-16')
  })

  test('yields no product from a file that is malformed at its end', async () => {
    const items: CsvItem[] = []
    const read = async () => {
      for await (const item of readProducts(sourceOf('Handle,Title\na,A\nb,"B\n'), { currency: 'USD' })) items.push(item)
    }
    await expect(read()).rejects.toBeInstanceOf(AppError)
    expect(items).toEqual([])
  })

  test('refuses an unknown currency', async () => {
    await expect(itemsOf('Handle\na\n', 'XXX')).rejects.toMatchObject({ kind: 'INVALID' })
  })

  test('forwards the error of a source that fails', async () => {
    const source: CsvSource = async function* () {
      yield encoder.encode('Handle\na\n')
      throw new Error('disk')
    }
    await expect(readProducts(source, { currency: 'USD' }).next()).rejects.toThrow('disk')
  })

  test.each([
    ['grows', 'Handle,Title\na,A\nb,B\n', 'Handle,Title\na,A\nb,B\nc,C\n'],
    ['shrinks', 'Handle,Title\na,A\nb,B\n', 'Handle,Title\na,A\n'],
    ['loses a last row', 'Handle,Title\na,A\nb,B\na,\n', 'Handle,Title\na,A\nb,B\nb,\n'],
  ])('refuses a file that %s between its two passes', async (_name, before, after) => {
    let readCount = 0
    const source: CsvSource = () => sourceOf(readCount++ === 0 ? before : after)()
    const read = async () => {
      for await (const _ of readProducts(source, { currency: 'USD' }));
    }
    await expect(read()).rejects.toThrow('changed while it was read')
  })

  test('closes the source when the reader stops early', async () => {
    let open = 0
    const source: CsvSource = async function* () {
      open += 1
      try {
        for (let i = 0; i < 100; i += 1) yield encoder.encode(i === 0 ? 'Handle,Title\n' : `h${i},T\n`)
      } finally {
        open -= 1
      }
    }
    for await (const _ of readProducts(source, { currency: 'USD' })) break
    expect(open).toBe(0)
  })
})

describe('property tests of the CSV reader', () => {
  type Dialect = 'old' | 'new'
  type Model = { product: Omit<ImportedProduct, 'row' | 'variants'>; variants: Omit<ImportedVariant, 'row'>[] }

  const text = (max: number) =>
    fc
      .string({
        unit: fc.constantFrom('a', 'B', 'é', '😀', '"', ',', '\n', '\r\n', ' ', ';', '0', '中', "'"),
        minLength: 1,
        maxLength: max,
      })
      .map((value) => value.trim())
      // The reader removes an apostrophe before white space, because `csvLine` escapes such a cell with one.
      .filter((value) => value !== '' && !/^'+\s/.test(value))
  const orNull = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null })
  const amount = fc.integer({ min: 0, max: 10_000_000 })

  const url = fc.stringMatching(/^[a-z0-9]{1,8}$/).map((name) => `https://x.test/${name}.jpg`)
  const details = fc.record({
    title: orNull(text(20)),
    descriptionHtml: orNull(text(60)),
    vendor: orNull(text(10)),
    type: orNull(text(10)),
    tags: orNull(fc.uniqueArray(fc.stringMatching(/^[a-z"é]{1,6}$/), { minLength: 1, maxLength: 5 })),
    status: fc.constantFrom('ACTIVE' as const, 'DRAFT' as const, 'ARCHIVED' as const, null),
    published: fc.constantFrom(true, false, null),
    seoTitle: orNull(text(10)),
    seoDescription: orNull(text(10)),
  })
  const optionNames = fc.uniqueArray(fc.constantFrom('Size', 'Color', 'Fit', 'Größe, "EU"'), { maxLength: 3 })
  const variantFields = fc.record({
    sku: orNull(text(8)),
    barcode: orNull(text(8)),
    price: orNull(amount),
    compareAtPrice: orNull(amount),
    cost: orNull(amount),
    weightGrams: orNull(fc.integer({ min: 0, max: 100_000_000 })),
    taxable: fc.constantFrom(true, false, null),
    trackInventory: fc.boolean(),
    allowBackorder: fc.constantFrom(true, false, null),
    onHand: orNull(fc.integer({ min: -1_000_000, max: 1_000_000 })),
    imageUrl: orNull(url),
  })

  const model: fc.Arbitrary<Model> = fc
    .record({
      details,
      names: optionNames,
      images: fc.uniqueArray(fc.record({ url, alt: orNull(text(10)) }), { selector: (image) => image.url, maxLength: 5 }),
    })
    .chain(({ details, names, images }) => {
      const values = fc.uniqueArray(fc.tuple(...names.map(() => text(6))), {
        selector: (combination) => JSON.stringify(combination),
        minLength: 1,
        maxLength: names.length === 0 ? 1 : 5,
      })
      return values.chain((combinations) =>
        fc
          .tuple(...combinations.map((optionValues) => variantFields.map((fields) => ({ optionValues, ...fields }))))
          .map((variants): Model => {
            const options = names.map((name, index) => ({
              name,
              values: [...new Set(variants.flatMap(({ optionValues }) => optionValues[index] ?? []))],
            }))
            return { product: { handle: '', ...details, options, images: withVariantImages(images, variants) }, variants }
          }),
      )
    })

  function withVariantImages(images: { url: string; alt: string | null }[], variants: Omit<ImportedVariant, 'row'>[]): ImportedImage[] {
    const urls = new Set(images.map(({ url }) => url))
    const extra = variants.flatMap(({ imageUrl }) => {
      if (!imageUrl || urls.has(imageUrl)) return []
      urls.add(imageUrl)
      return [{ url: imageUrl, alt: null }]
    })
    return [...images, ...extra].map((image, index) => ({ ...image, position: index + 1 }))
  }

  const decimal = (minor: number | null | undefined) =>
    minor == null ? '' : `${Math.floor(minor / 100)}.${String(minor % 100).padStart(2, '0')}`
  const word = (value: boolean | null | undefined, yes: string, no: string) => (value == null ? '' : value ? yes : no)

  const headers: Record<Dialect, string[]> = {
    old: 'Handle|Title|Body (HTML)|Vendor|Type|Tags|Status|Published|SEO Title|SEO Description|Option1 Name|Option1 Value|Option2 Name|Option2 Value|Option3 Name|Option3 Value|Variant SKU|Variant Barcode|Variant Price|Variant Compare At Price|Cost per item|Variant Grams|Variant Taxable|Variant Inventory Tracker|Variant Inventory Policy|Variant Inventory Qty|Variant Image|Image Src|Image Position|Image Alt Text'.split(
      '|',
    ),
    new: 'URL handle|Title|Description|Vendor|Type|Tags|Status|Published on online store|SEO title|SEO description|Option1 name|Option1 value|Option2 name|Option2 value|Option3 name|Option3 value|SKU|Barcode|Price|Compare-at price|Cost per item|Weight value (grams)|Charge tax|Inventory tracker|Continue selling when out of stock|Inventory quantity|Variant image URL|Product image URL|Image position|Image alt text'.split(
      '|',
    ),
  }

  function rowsOf({ product, variants }: Model, dialect: Dialect): string[][] {
    // Images are written in reverse, with gaps between positions: the position decides, not the row.
    const images = [...(product.images ?? [])].reverse()
    return Array.from({ length: Math.max(variants.length, images.length) }, (_, row) => {
      const variant = variants[row]
      const image = images[row]
      const head = row === 0 ? product : undefined
      const placeholder = product.options.length === 0 && row === 0 ? ['Title', 'Default Title'] : ['', '']
      const options = [0, 1, 2].flatMap((index) => {
        const option = product.options[index]
        if (!option) return index === 0 ? placeholder : ['', '']
        return [row === 0 ? option.name : '', variant?.optionValues[index] ?? '']
      })
      const backorder = dialect === 'old' ? ['continue', 'deny'] : ['TRUE', 'FALSE']
      return [
        product.handle,
        head?.title ?? '',
        head?.descriptionHtml ?? '',
        head?.vendor ?? '',
        head?.type ?? '',
        head?.tags?.join(', ') ?? '',
        head?.status?.toLowerCase() ?? '',
        word(head?.published, 'true', 'FALSE'),
        head?.seoTitle ?? '',
        head?.seoDescription ?? '',
        ...options,
        variant?.sku ?? '',
        variant?.barcode ?? '',
        decimal(variant?.price),
        decimal(variant?.compareAtPrice),
        decimal(variant?.cost),
        String(variant?.weightGrams ?? ''),
        word(variant?.taxable, 'TRUE', 'false'),
        variant?.trackInventory ? 'shopify' : '',
        word(variant?.allowBackorder, backorder[0] ?? '', backorder[1] ?? ''),
        String(variant?.onHand ?? ''),
        variant?.imageUrl ?? '',
        image?.url ?? '',
        image ? String(image.position * 10) : '',
        image?.alt ?? '',
      ]
    })
  }

  /** Merges the rows of all products in the order of `picks`. The rows of a product stay in order. */
  function interleave<T>(lists: T[][], picks: number[]): T[] {
    const remaining = lists.map((list) => [...list]).filter((list) => list.length > 0)
    const merged: T[] = []
    for (let turn = 0; remaining.length > 0; turn += 1) {
      const index = (picks[turn % picks.length] ?? 0) % remaining.length
      const next = remaining[index]?.shift()
      if (next !== undefined) merged.push(next)
      if (remaining[index]?.length === 0) remaining.splice(index, 1)
    }
    return merged
  }

  /** Writes a cell as the product export does, but always in quotes. */
  const quoteCell = (cell: string) => {
    const line = csvLine([cell]).slice(0, -2)
    return line.startsWith('"') ? line : `"${line}"`
  }

  test('random products written in either dialect, interleaved and quoted, read back equal', async () => {
    const input = fc.record({
      models: fc.array(model, { maxLength: 6 }),
      dialect: fc.constantFrom<Dialect>('old', 'new'),
      picks: fc.array(fc.nat(5), { minLength: 1, maxLength: 20 }),
      lineEnd: fc.constantFrom('\n', '\r\n'),
      chunkBytes: fc.integer({ min: 1, max: 400 }),
    })
    await fc.assert(
      fc.asyncProperty(input, async ({ models, dialect, picks, lineEnd, chunkBytes }) => {
        const named = models.map((entry, index) => ({ ...entry, product: { ...entry.product, handle: `product-${index}` } }))
        const rows = interleave(
          named.map((entry) => rowsOf(entry, dialect)),
          picks,
        )
        const content = [headers[dialect], ...rows].map((row) => row.map(quoteCell).join() + lineEnd).join('')
        const items = await itemsOf(content, 'USD', chunkBytes)
        const read = new Map(
          items.map((item) => {
            if (item.kind === 'rejected') throw new Error(JSON.stringify(item))
            return [item.product.handle, item] as const
          }),
        )
        expect(items).toHaveLength(named.length)
        for (const entry of named) {
          const item = read.get(entry.product.handle)
          if (!item) throw new Error('a product is missing')
          const { row, variants, ...product } = item.product
          expect(product).toStrictEqual(entry.product)
          expect(variants.map(({ row: _, ...variant }) => variant)).toStrictEqual(entry.variants)
          expect(item.rows).toBe(rows.filter(([handle]) => handle === product.handle).length)
          expect(rows[row - 2]?.[0]).toBe(product.handle)
        }
      }),
      { numRuns: 200 },
    )
  })

  test('random bytes are either read or refused with an AppError', async () => {
    const piece = fc.constantFrom(
      'Handle',
      'Title',
      'Price',
      ',',
      '\n',
      '\r\n',
      '"',
      'a',
      'b',
      '1',
      '\0',
      '\r',
      ';',
      'é',
      '\uFEFF',
      'x'.repeat(300),
    )
    const content = fc.oneof(
      fc.uint8Array({ maxLength: 200 }),
      fc.array(piece, { maxLength: 40 }).map((pieces) => encoder.encode(pieces.join(''))),
    )
    await fc.assert(
      fc.asyncProperty(content, fc.integer({ min: 1, max: 50 }), async (bytes, chunkBytes) => {
        const failure = await itemsOf(bytes, 'USD', chunkBytes).then(
          () => undefined,
          (error: unknown) => error,
        )
        if (failure !== undefined) expect(failure).toBeInstanceOf(AppError)
      }),
      { numRuns: 500 },
    )
  })
})

describe('real exports', () => {
  const folder = `${import.meta.dir}/../../../../../shared/data`
  const isAbsent = !existsSync(folder)
  // The title contains the reason, because the runner prints the title of a skipped test.
  const reason = isAbsent ? ' (skipped: ../shared/data is absent)' : ''

  test.skipIf(isAbsent).each([
    ['apparel.csv', 20, 22],
    ['jewelery.csv', 20, 23],
  ])(`%s holds %i products and %i variants${reason}`, async (name, products, variants) => {
    const read = await productsOf(new Uint8Array(await Bun.file(`${folder}/${name}`).arrayBuffer()))
    expect(read).toHaveLength(products)
    expect(read.flatMap((product) => product.variants)).toHaveLength(variants)
    expect(read.every(({ title, published, images }) => title && published && images && images.length > 0)).toBe(true)
  })

  test.skipIf(isAbsent)(`a bracelet is read in full${reason}`, async () => {
    const read = await productsOf(new Uint8Array(await Bun.file(`${folder}/jewelery.csv`).arrayBuffer()))
    expect(read.find(({ handle }) => handle === 'leather-anchor')).toMatchObject({
      title: 'Anchor Bracelet Mens',
      tags: ['Anchor', 'Gold', 'Leather', 'Silver'],
      options: [{ name: 'Color', values: ['Gold', 'Silver'] }],
      variants: [
        { price: 6999, compareAtPrice: 8500, onHand: 1, allowBackorder: false, trackInventory: false },
        { price: 5500, onHand: 0 },
      ],
      images: [{ position: 1 }, { position: 2 }, { position: 3 }],
    })
  })
})
