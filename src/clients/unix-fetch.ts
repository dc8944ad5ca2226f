/** Calls a server on a Unix socket. */
import { OutgoingError, type SafeFetch } from '../core/outgoing.ts'

/**
 * Creates a fetch like `createSafeFetch`: complete responses with limits of time and length, no redirects.
 * @param socket its path; the host of a URL is only sent as a header
 */
export const createUnixFetch =
  (socket: string): SafeFetch =>
  async (url, { method = 'GET', headers = {}, body, timeoutMs, bytesMax, signal: sooner }) => {
    const signal = AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(sooner ? [sooner] : [])])
    try {
      const answer = await fetch(url, {
        unix: socket,
        method,
        headers,
        redirect: 'manual',
        signal,
        ...(body === undefined ? {} : { body }),
      })
      const { status } = answer
      if (status >= 300 && status < 400 && status !== 304) throw new OutgoingError('redirect', status)
      return { status, headers: answer.headers, bytes: await readBody(answer, bytesMax) }
    } catch (error) {
      if (error instanceof OutgoingError) throw error
      throw new OutgoingError(signal.aborted ? 'timeout' : 'connection failed', undefined, { cause: error })
    }
  }

async function readBody({ status, body, headers }: Response, bytesMax: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of body ?? []) {
    length += chunk.length
    // Leaving the loop ends the connection.
    if (length > bytesMax) throw new OutgoingError('answer too large', status)
    chunks.push(chunk)
  }
  const declared = headers.get('content-length')
  // Bun treats a truncated body as complete.
  if (declared !== null && length < Number(declared)) throw new OutgoingError('connection failed', status)
  return Buffer.concat(chunks)
}
