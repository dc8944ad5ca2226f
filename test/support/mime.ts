/** Parses mails in the forms that souk sends: headers with encoded words, and a multipart of text and HTML. */

export type ReadMail = {
  readonly headers: ReadonlyMap<string, string>
  readonly text: string
  readonly html: string
  readonly raw: string
}

/** Parses a mail. @throws Error if it violates RFC 5322 or RFC 2045 */
export function readMail(bytes: Uint8Array): ReadMail {
  const raw = Buffer.from(bytes).toString('latin1')
  if (/(?<!\r)\n|\r(?!\n)/.test(raw)) throw new Error('a line break that is not CRLF')
  if (raw.split('\r\n').some((line) => line.length > 998)) throw new Error('a line of more than 998 characters')
  const { headers, body } = partOf(raw)
  const [, boundary] = /multipart\/alternative;[\s\S]*boundary="([^"]+)"/.exec(headers.get('content-type') ?? '') ?? []
  if (boundary === undefined) throw new Error('not multipart/alternative')
  const parts = body
    .split(`--${boundary}`)
    .slice(1, -1)
    .map((part) => partOf(part.replace(/^\r\n/, '')))
  const bodyOf = (type: string) => {
    const part = parts.find((one) => one.headers.get('content-type')?.startsWith(type))
    if (!part) throw new Error(`no part that is ${type}`)
    return decodeBody(part)
  }
  return { headers, text: bodyOf('text/plain'), html: bodyOf('text/html'), raw }
}

function partOf(raw: string): { headers: Map<string, string>; body: string } {
  const end = raw.indexOf('\r\n\r\n')
  const headers = new Map<string, string>()
  for (const line of raw
    .slice(0, end)
    .replace(/\r\n[ \t]+/g, ' ')
    .split('\r\n')) {
    const at = line.indexOf(':')
    const name = line.slice(0, at).toLowerCase()
    if (at < 1 || headers.has(name)) throw new Error(`a header that is none, or there twice: ${line}`)
    headers.set(name, decodeWords(line.slice(at + 1).trim()))
  }
  return { headers, body: raw.slice(end + 4) }
}

/** Decodes encoded words (RFC 2047). */
const decodeWords = (text: string): string =>
  text
    .replace(/(\?=)\s+(?==\?)/g, '$1')
    .replace(/(?:=\?utf-8\?([bq])\?([^?]*)\?=)+/gi, (run) =>
      Buffer.concat(
        [...run.matchAll(/=\?utf-8\?([bq])\?([^?]*)\?=/gi)].map(([, kind = '', what = '']) =>
          kind.toLowerCase() === 'b' ? Buffer.from(what, 'base64') : decodeQuotedPrintable(what.replaceAll('_', ' ')),
        ),
      ).toString('utf8'),
    )

const decodeQuotedPrintable = (text: string): Buffer =>
  Buffer.from(
    text.replace(/=\r\n/g, '').replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  )

function decodeBody({ headers, body }: { headers: ReadonlyMap<string, string>; body: string }): string {
  const encoding = headers.get('content-transfer-encoding') ?? '7bit'
  const bytes =
    encoding === 'base64'
      ? Buffer.from(body, 'base64')
      : encoding === 'quoted-printable'
        ? decodeQuotedPrintable(body)
        : Buffer.from(body, 'latin1')
  return new TextDecoder('utf-8', { fatal: true }).decode(bytes).replaceAll('\r\n', '\n')
}
