type SigningKey = { readonly keyId: string; readonly secret: string; readonly region: string }

/** Percent-encoding as in RFC 3986, which S3 requires. */
const encodeRfc3986 = (text: string) =>
  encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)

/**
 * Signs a request for S3 (AWS Signature Version 4). The body is not signed; the stored object is compared by length and
 * tag.
 * @param path bucket and object, not encoded
 * @returns the URL and the headers
 */
export async function signRequest(
  { keyId, secret, region }: SigningKey,
  { method, endpoint, path, query }: { method: string; endpoint: string; path: string; query: Readonly<Record<string, string>> },
  now: Date,
): Promise<{ url: string; headers: Record<string, string> }> {
  const { AwsV4Signer } = await import('aws4fetch')
  // Encoded here, since the signer reads a `+` in a path as a space.
  const parameters = Object.entries(query).map(([name, value]) => `${encodeRfc3986(name)}=${encodeRfc3986(value)}`)
  const base = `${endpoint.replace(/\/$/, '')}/${path.split('/').map(encodeRfc3986).join('/')}`
  const url = parameters.length > 0 ? `${base}?${parameters.sort().join('&')}` : base
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
