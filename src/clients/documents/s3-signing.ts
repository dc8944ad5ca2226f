import { createHash, createHmac } from 'node:crypto'

export type Signing = { readonly keyId: string; readonly secret: string; readonly region: string }

const hmac = (key: string | Uint8Array, text: string) => createHmac('sha256', key).update(text).digest()
const digest = (text: string) => createHash('sha256').update(text).digest('hex')
/** As RFC 3986 has it, and S3 wants it. */
const encoded = (text: string) =>
  encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)
/** The body is not in the signature: what arrives is compared by its length and its tag. */
const payload = 'UNSIGNED-PAYLOAD'

/**
 * A request as S3 takes it (AWS Signature Version 4).
 * @param path of the bucket and the object, as they are called
 * @returns the URL and the headers to send it with
 */
export function signed(
  { keyId, secret, region }: Signing,
  { method, endpoint, path, query }: { method: string; endpoint: string; path: string; query: Readonly<Record<string, string>> },
  now: Date,
): { url: string; headers: Record<string, string> } {
  const at = now.toISOString().replace(/[-:]|\.\d{3}/g, '')
  const scope = `${at.slice(0, 8)}/${region}/s3/aws4_request`
  const base = new URL(endpoint)
  const whole = `${base.pathname.replace(/\/$/, '')}/${path}`.split('/').map(encoded).join('/')
  const asked = Object.entries(query)
    .map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
    .sort()
    .join('&')
  const told = { host: base.host, 'x-amz-content-sha256': payload, 'x-amz-date': at }
  const names = Object.keys(told).join(';')
  const lines = Object.entries(told).map(([name, value]) => `${name}:${value}\n`)
  const canonical = [method, whole, asked, lines.join(''), names, payload].join('\n')
  const key = [scope.slice(0, 8), region, 's3', 'aws4_request'].reduce<string | Uint8Array>(
    (sofar, text) => hmac(sofar, text),
    `AWS4${secret}`,
  )
  const signature = hmac(key, `AWS4-HMAC-SHA256\n${at}\n${scope}\n${digest(canonical)}`).toString('hex')
  const { host: _, ...headers } = told
  return {
    url: `${base.origin}${whole}${asked ? `?${asked}` : ''}`,
    headers: { ...headers, authorization: `AWS4-HMAC-SHA256 Credential=${keyId}/${scope}, SignedHeaders=${names}, Signature=${signature}` },
  }
}
