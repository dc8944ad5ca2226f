/** Writes files in MaxMind's mmdb format (version 2): strings, maps and numbers, with records of 24 bits. */
import { blockOf } from '../../src/lib/networks.ts'

type Value = string | { readonly [name: string]: Value }

const marker = Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1')
const text = (value: string): Buffer => {
  const bytes = Buffer.from(value)
  if (bytes.length > 28) throw new Error('longer texts are not written here')
  return Buffer.concat([Buffer.of((2 << 5) | bytes.length), bytes])
}
const number = (value: number): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return Buffer.concat([Buffer.of((6 << 5) | 4), bytes])
}
const map = (entries: readonly (readonly [string, Buffer])[]): Buffer =>
  Buffer.concat([Buffer.of((7 << 5) | entries.length), ...entries.flatMap(([name, value]) => [text(name), value])])
const encoded = (value: Value): Buffer =>
  typeof value === 'string' ? text(value) : map(Object.entries(value).map(([name, inner]) => [name, encoded(inner)]))

type Node = { left?: Node | number; right?: Node | number }

/**
 * Writes a database that maps address blocks to values. Of overlapping blocks the first one counts.
 * @param ipVersion a database of version 6 contains IPv4 addresses after 96 zero bits
 */
export function mmdb(places: Readonly<Record<string, Value>>, ipVersion: 4 | 6 = 6): Buffer {
  const root: Node = {}
  const data: Buffer[] = []
  let offset = 0
  for (const [block, place] of Object.entries(places)) {
    const [address, bits] = blockOf(block) ?? [undefined, 0]
    if (!address) throw new Error(`not a block: ${block}`)
    const isMapped = address.kind() === 'ipv4' && ipVersion === 6
    const bytes = [...(isMapped ? new Array<number>(12).fill(0) : []), ...address.toByteArray()]
    const length = bits + (isMapped ? 96 : 0)
    let node = root
    for (let at = 0; at < length; at++) {
      const side = ((bytes[at >> 3] ?? 0) >> (7 - (at & 7))) & 1 ? 'right' : 'left'
      if (at === length - 1) node[side] ??= offset
      else {
        const next = node[side] ?? {}
        node[side] = next
        if (typeof next === 'number') break
        node = next
      }
    }
    const record = encoded(place)
    data.push(record)
    offset += record.length
  }
  const nodes: Node[] = []
  const numberOf = new Map<Node, number>()
  const walk = (node: Node): void => {
    numberOf.set(node, nodes.length)
    nodes.push(node)
    for (const side of [node.left, node.right]) if (typeof side === 'object') walk(side)
  }
  walk(root)
  const record = (side: Node | number | undefined): number =>
    side === undefined ? nodes.length : typeof side === 'number' ? nodes.length + 16 + side : (numberOf.get(side) ?? 0)
  const tree = Buffer.alloc(nodes.length * 6)
  nodes.forEach(({ left, right }, at) => {
    tree.writeUIntBE(record(left), at * 6, 3)
    tree.writeUIntBE(record(right), at * 6 + 3, 3)
  })
  const metadata = map([
    ['node_count', number(nodes.length)],
    ['record_size', number(24)],
    ['ip_version', number(ipVersion)],
    ['database_type', text('Test')],
    ['binary_format_major_version', number(2)],
    ['build_epoch', number(1_767_700_000)],
  ])
  return Buffer.concat([tree, Buffer.alloc(16), ...data, marker, metadata])
}
