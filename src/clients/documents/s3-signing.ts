export type Signing = { readonly keyId: string; readonly secret: string; readonly region: string }

/** As RFC 3986 has it, and S3 wants it. */
const encoded = (text: string) =>
  encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)

/**
 * A request as S3 takes it (AWS Signature Version 4). The body is not in the signature: what arrives is compared by its length and its tag.
 * @param path of the bucket and the object, as they are called
 * @returns the URL and the headers to send it with
 */
export async function signed(
  { keyId, secret, region }: Signing,
  { method, endpoint, path, query }: { method: string; endpoint: string; path: string; query: Readonly<Record<string, string>> },
  now: Date,
): Promise<{ url: string; headers: Record<string, string> }> {
  const { AwsV4Signer } = await import('aws4fetch')
  // Encoded here: the signer takes a `+` in a path for a space, and what is sent must be what is signed.
  const asked = Object.entries(query).map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
  const whole = `${endpoint.replace(/\/$/, '')}/${path.split('/').map(encoded).join('/')}`
  const url = asked.length > 0 ? `${whole}?${asked.sort().join('&')}` : whole
  const signer = new AwsV4Signer({
    url,
    method,
    accessKeyId: keyId,
    secretAccessKey: secret,
    service: 's3',
    region,
    datetime: now.toISOString().replace(/[-:]|\.\d{3}/g, ''),
  })
  const { headers } = await signer.sign()
  return { url, headers: Object.fromEntries(headers) }
}
