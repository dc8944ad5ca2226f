import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { createNewId, encodeSuffix, type IdKind, idBoundary, idPrefixes, newCartId } from '../../src/lib/ids.ts'

const bytesOf = (uuid: string) => new Uint8Array(Buffer.from(uuid.replaceAll('-', ''), 'hex'))

/** valid.yml of the TypeID specification, 0.3. */
const vectors = [
  ['00000000-0000-0000-0000-000000000000', '00000000000000000000000000'],
  ['00000000-0000-0000-0000-000000000001', '00000000000000000000000001'],
  ['00000000-0000-0000-0000-00000000000a', '0000000000000000000000000a'],
  ['00000000-0000-0000-0000-000000000010', '0000000000000000000000000g'],
  ['00000000-0000-0000-0000-000000000020', '00000000000000000000000010'],
  ['ffffffff-ffff-ffff-ffff-ffffffffffff', '7zzzzzzzzzzzzzzzzzzzzzzzzz'],
  ['0110c853-1d09-52d8-d73e-1194e95b5f19', '0123456789abcdefghjkmnpqrs'],
  ['01890a5d-ac96-774b-bcce-b302099a8057', '01h455vb4pex5vsknk084sn02q'],
] as const

describe('ids', () => {
  test('ids are encoded as specified', () => {
    for (const [uuid, suffix] of vectors) expect(encodeSuffix(bytesOf(uuid))).toBe(suffix)
  })

  test('ids sort as their bytes do', () => {
    const sixteen = fc.uint8Array({ minLength: 16, maxLength: 16 })
    fc.assert(
      fc.property(
        sixteen,
        sixteen,
        (a, b) => Math.sign(Buffer.compare(a, b)) === (encodeSuffix(a) < encodeSuffix(b) ? -1 : encodeSuffix(a) > encodeSuffix(b) ? 1 : 0),
      ),
    )
  })

  test('ids sort by time of creation, and within a millisecond by order', () => {
    let now = 1_767_700_800_000
    const newId = createNewId(() => Bun.randomUUIDv7('buffer', now))
    const ids: string[] = []
    for (let nth = 0; nth < 3_000; nth++) {
      if (nth % 100 === 0) now++
      ids.push(newId('product'))
    }
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids).toEqual([...ids].sort())
  })

  test('ids are a prefix, an underscore and 26 base32 characters, the first at most 7', () => {
    const newId = createNewId(() => Bun.randomUUIDv7('buffer'))
    for (const kind of Object.keys(idPrefixes) as IdKind[])
      expect(newId(kind)).toMatch(new RegExp(`^${idPrefixes[kind]}_[0-7][0-9a-hjkmnp-tv-z]{25}$`))
  })

  test('ids of carts are random except for the six fixed bits of a UUIDv4', () => {
    const cartIdOf = (uuid: string) => `cart_${encodeSuffix(bytesOf(uuid))}`
    expect(newCartId((count) => new Uint8Array(count))).toBe(cartIdOf('00000000-0000-4000-8000-000000000000'))
    expect(newCartId((count) => new Uint8Array(count).fill(255))).toBe(cartIdOf('ffffffff-ffff-4fff-bfff-ffffffffffff'))
  })

  test('ids created from a moment on sort after its boundary, and older ones before', () => {
    const at = 1_767_700_800_000
    const idAt = (ms: number) => createNewId(() => Bun.randomUUIDv7('buffer', ms))('message')
    const boundary = idBoundary('message', at)
    expect(boundary).toMatch(/^msg_[0-7][0-9a-hjkmnp-tv-z]{25}$/)
    expect(idAt(at - 1) < boundary).toBe(true)
    expect(idAt(at) > boundary).toBe(true)
  })

  test('ids of two kinds never share a prefix', () => {
    const prefixes = Object.values(idPrefixes)
    expect(new Set(prefixes).size).toBe(prefixes.length)
    expect(idPrefixes).toMatchObject({
      merchant: 'mer',
      user: 'usr',
      shop: 'shop',
      customer: 'cus',
      product: 'prod',
      variant: 'var',
      collection: 'coll',
      blog: 'blog',
    })
  })
})
