import { AppError } from '../../../core/errors.ts'

const csv = 'text/csv'
/** What a file begins with says what it is: of an xlsx that takes its first entries, and of those not more than their names and one small text. */
const headBytes = 64 * 1024

const disagrees = (rule: string) => new AppError('UNSUPPORTED_MEDIA', rule)

/**
 * A file as it comes, once its first bytes are known to be of the type that it was declared as. A CSV is text: UTF-8 to its end, without
 * a NUL. Nothing is unpacked but the list of what is in an xlsx.
 * @param accepted the types that this document may have
 * @throws AppError UNSUPPORTED_MEDIA; INVALID when there is no byte
 */
export async function* checkedFile(
  { type, accepted }: { type: string; accepted: readonly string[] },
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const text = type === csv ? new TextDecoder('utf-8', { fatal: true }) : undefined
  let head: Uint8Array[] | undefined = []
  let length = 0
  for await (const chunk of chunks) {
    if (text) assertText(text, chunk)
    if (head === undefined) {
      yield chunk
      continue
    }
    head.push(Buffer.from(chunk))
    length += chunk.length
    if (length < headBytes) continue
    const begun = head
    head = undefined
    await assertType(Buffer.concat(begun), type, accepted)
    yield* begun
  }
  if (text) assertText(text, undefined)
  if (head === undefined) return
  if (length === 0) throw new AppError('INVALID', 'The file is empty')
  await assertType(Buffer.concat(head), type, accepted)
  yield* head
}

async function assertType(head: Buffer, type: string, accepted: readonly string[]): Promise<void> {
  const found = await typeOf(head.subarray(0, headBytes))
  const isAccepted = found !== undefined && accepted.includes(found)
  // A text may begin with what is the sign of some other format; with that of one that is taken here it is that one in disguise.
  if (type === csv ? !isAccepted : found === type) return
  throw disagrees(
    isAccepted
      ? `content-type (header): the file is ${found}, so declare it as that`
      : `The file is not what its content-type says: send it as ${accepted.join(', ')}`,
  )
}

async function typeOf(head: Uint8Array): Promise<string | undefined> {
  // Loaded with the first document: a start needs none of it.
  const { fileTypeFromBuffer } = await import('file-type')
  try {
    return (await fileTypeFromBuffer(head))?.mime
  } catch {
    // What breaks off while it is looked at is no file that we know.
    return undefined
  }
}

function assertText(decoder: InstanceType<typeof TextDecoder>, chunk: Uint8Array | undefined): void {
  try {
    if (chunk === undefined) decoder.decode()
    else decoder.decode(chunk, { stream: true })
  } catch {
    throw disagrees('The file is not a CSV in UTF-8: save it as that')
  }
  if (chunk?.includes(0)) throw disagrees('The file is not a CSV: it holds a NUL character')
}
