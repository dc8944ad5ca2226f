/** Messages to a Postgres server, written one behind the other until they are taken to be sent. */

/** A value as the server reads it, as the driver would write it; null is null. */
function textOf(value: unknown): string | null {
  if (typeof value === 'string') return value
  if (value === null || value === undefined) return null
  if (typeof value !== 'object') return String(value)
  if (Array.isArray(value)) return listText(value)
  if (ArrayBuffer.isView(value)) return `\\x${Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('hex')}`
  return value instanceof Date ? value.toISOString() : JSON.stringify(value)
}

const listText = (values: readonly unknown[]): string => `{${values.map(elementText).join()}}`

function elementText(value: unknown): string {
  if (Array.isArray(value)) return listText(value)
  const text = textOf(value)
  if (text === null) return 'NULL'
  return typeof value === 'number' || typeof value === 'boolean' ? text : `"${text.replace(/[\\"]/g, '\\$&')}"`
}

/** Bytes of UTF-8 to a code unit, at most. */
const bytesMax = 3

const room = 4_096
/** What has grown beyond this is not kept. */
const roomMax = 65_536

export class Outgoing {
  private bytes = Buffer.allocUnsafe(room)
  length = 0

  /** What was written, which is forgotten here. */
  taken(): Buffer {
    const written = this.bytes.subarray(0, this.length)
    this.length = 0
    if (this.bytes.length <= roomMax) return Buffer.from(written)
    this.bytes = Buffer.allocUnsafe(room)
    return written
  }

  cutBackTo(length: number): void {
    this.length = length
  }

  /** Forgets what stands between two places. */
  cutOut(from: number, to: number): void {
    this.bytes.copyWithin(from, to, this.length)
    this.length -= to - from
  }

  parse(name: string | undefined, text: string): void {
    const start = this.begin(0x50)
    this.string(name ?? '')
    this.string(text)
    this.int16(0)
    this.end(start)
  }

  bind(name: string | undefined, values: readonly unknown[]): void {
    const start = this.begin(0x42)
    this.string('')
    this.string(name ?? '')
    // All values are text, and all that is answered.
    this.int16(0)
    this.int16(values.length)
    for (const value of values) this.value(textOf(value))
    this.int16(0)
    this.end(start)
  }

  /** The rows of what was bound last. */
  describe(): void {
    const start = this.begin(0x44)
    this.byte(0x50)
    this.string('')
    this.end(start)
  }

  execute(): void {
    const start = this.begin(0x45)
    this.string('')
    // All of its rows.
    this.int32(0)
    this.end(start)
  }

  sync(): void {
    this.end(this.begin(0x53))
  }

  query(text: string): void {
    const start = this.begin(0x51)
    this.string(text)
    this.end(start)
  }

  private begin(type: number): number {
    this.byte(type)
    this.int32(0)
    return this.length
  }

  /** The length of a message counts itself, and not the type before it. */
  private end(start: number): void {
    this.bytes.writeInt32BE(this.length - start + 4, start - 4)
  }

  private value(text: string | null): void {
    this.int32(-1)
    if (text === null) return
    const start = this.length
    this.text(text)
    this.bytes.writeInt32BE(this.length - start, start - 4)
  }

  private string(text: string): void {
    this.text(text)
    this.byte(0)
  }

  private text(text: string): void {
    this.makeRoom(text.length * bytesMax)
    this.length += this.bytes.write(text, this.length)
  }

  private byte(value: number): void {
    this.makeRoom(1)
    this.bytes[this.length++] = value
  }

  private int16(value: number): void {
    this.makeRoom(2)
    this.length = this.bytes.writeUInt16BE(value, this.length)
  }

  private int32(value: number): void {
    this.makeRoom(4)
    this.length = this.bytes.writeInt32BE(value, this.length)
  }

  private makeRoom(more: number): void {
    if (this.length + more <= this.bytes.length) return
    const bytes = Buffer.allocUnsafe(2 * (this.length + more))
    this.bytes.copy(bytes, 0, 0, this.length)
    this.bytes = bytes
  }
}
