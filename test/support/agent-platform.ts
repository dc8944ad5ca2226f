/** A platform on loopback: serves its profile, signs requests with an independent library, and receives messages. */
import { createHash, generateKeyPairSync, sign } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { httpbis } from 'http-message-signatures'
import {
  type Capability,
  capabilities,
  capabilityNames,
  fullNameOf,
  newestRelease,
  type Release,
  releaseRules,
} from '../../src/lib/ucp/releases.ts'

export type ReceivedMessage = { readonly url: string; readonly headers: Headers; readonly body: string }
type PlatformOptions = {
  release?: Release
  capabilities?: readonly Capability[]
  /** Status of the answer to a message. */
  answer?: (message: ReceivedMessage) => number | Promise<number>
}

/** Settings that let an app read the profile of a platform on loopback. */
export const platformSettings = { AGENTS_PROFILE_NETWORKS: '127.0.0.0/8' }

/** Starts a platform. */
export async function startPlatform({
  release = newestRelease,
  capabilities: declared = capabilityNames,
  answer = () => 200,
}: PlatformOptions = {}) {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const messages: ReceivedMessage[] = []
  let reads = 0
  let profile: object = {}
  const server = createServer(async (request, response) => {
    if (request.method === 'GET') {
      reads++
      return response.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'max-age=3600' }).end(JSON.stringify(profile))
    }
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const message = {
      url: request.url ?? '',
      headers: new Headers(Object.entries(request.headers) as [string, string][]),
      body: Buffer.concat(chunks).toString(),
    }
    messages.push(message)
    return response.writeHead(await answer(message)).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const origin = `http://127.0.0.1:${port}`
  const url = `${origin}/profile`
  const schema = 'https://ucp.dev/schema.json'
  profile = {
    ucp: {
      version: release,
      services: {},
      payment_handlers: {},
      capabilities: Object.fromEntries(
        declared.map((name) => {
          const parents = capabilities[name].map(fullNameOf)
          const config = name === 'order' ? { config: { webhook_url: `${origin}/orders` } } : {}
          return [
            fullNameOf(name),
            [{ version: release, spec: schema, schema, ...(parents.length > 0 ? { extends: parents } : {}), ...config }],
          ]
        }),
      ),
    },
    [releaseRules[release].keysField]: [{ kid: 'platform-key', ...publicKey.export({ format: 'jwk' }), use: 'sig', alg: 'ES256' }],
  }
  const unsigned: Record<string, string> = { 'ucp-agent': `profile="${url}"` }

  /** Returns the headers of a signed request. @param address the public URL */
  async function headersOf(
    method: string,
    address: string,
    { body, headers = {} }: { body?: string; headers?: Record<string, string> } = {},
  ) {
    const digest = body === undefined ? undefined : createHash('sha256').update(body).digest('base64')
    const ofBody = digest === undefined ? {} : { 'content-type': 'application/json', 'content-digest': `sha-256=:${digest}:` }
    const all: Record<string, string> = { ...unsigned, ...headers, ...ofBody }
    const query = new URL(address).search === '' ? [] : ['@query']
    const signed = await httpbis.signMessage(
      {
        key: { id: 'platform-key', sign: async (data) => sign('sha256', data, { key: privateKey, dsaEncoding: 'ieee-p1363' }) },
        fields: ['@method', '@authority', '@path', ...query, ...Object.keys(all)],
        params: ['keyid'],
        name: 'sig1',
      },
      { method, url: address, headers: all },
    )
    return signed.headers as Record<string, string>
  }

  return {
    url,
    /** Headers of a request without a signature. */
    unsigned,
    headersOf,
    messages,
    reads: () => reads,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => void server.close(() => resolve())),
  }
}
