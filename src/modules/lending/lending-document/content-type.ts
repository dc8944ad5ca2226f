import { AppError, fieldError } from '../../../core/errors.ts'

const csv = 'text/csv'
/** Detecting an xlsx needs its first entries: their names and one small text. */
const headBytes = 64 * 1024

const typeMismatch = (rule: string) => new AppError('UNSUPPORTED_MEDIA', rule)

/**
 * Passes a file through once its first bytes match the declared type. A CSV must be UTF-8 without NUL to its end.
 * Nothing is unpacked except the entry list of an xlsx.
 * @param accepted the media types that this document accepts
 * @throws AppError UNSUPPORTED_MEDIA; INVALID for an empty file
 */
export async function* checkFileType(
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
    const buffered = head
    head = undefined
    await assertType(Buffer.concat(buffered), type, accepted)
    yield* buffered
  }
  if (text) assertText(text, undefined)
  if (head === undefined) return
  if (length === 0) throw new AppError('INVALID', 'The file is empty')
  await assertType(Buffer.concat(head), type, accepted)
  yield* head
}

async function assertType(head: Buffer, type: string, accepted: readonly string[]): Promise<void> {
  const detected = await detectType(head.subarray(0, headBytes))
  const isAccepted = detected !== undefined && accepted.includes(detected)
  // A CSV may start with the signature of an unrelated format, but not with that of an accepted one.
  if (type === csv ? !isAccepted : detected === type) return
  throw isAccepted
    ? fieldError('UNSUPPORTED_MEDIA', 'content-type', `the file is ${detected}: send it with that content type`)
    : typeMismatch(`The file is not of its content-type: send it as ${accepted.join(', ')}`)
}

async function detectType(head: Uint8Array): Promise<string | undefined> {
  // Loaded with the first document, so that the start stays fast.
  const { fileTypeFromBuffer } = await import('file-type')
  try {
    return (await fileTypeFromBuffer(head))?.mime
  } catch {
    // A file that the detector fails on has no known type.
    return undefined
  }
}

function assertText(decoder: InstanceType<typeof TextDecoder>, chunk: Uint8Array | undefined): void {
  try {
    if (chunk === undefined) decoder.decode()
    else decoder.decode(chunk, { stream: true })
  } catch {
    throw typeMismatch('The file is not a CSV in UTF-8: save it as that')
  }
  if (chunk?.includes(0)) throw typeMismatch('The file is not a CSV: it holds a NUL character')
}
