/** Platforms of the model: their profiles, and their requests over both transports. */

import { signMessage } from '../../src/lib/http-signatures.ts'
import { parseProfile } from '../../src/lib/ucp/negotiation.ts'
import { type Capability, fullNameOf, newestRelease, type Release, releaseRules } from '../../src/lib/ucp/releases.ts'
import { newSigningKey, openSigningKey } from '../../src/lib/ucp/signing-key.ts'
import { restCall, toolCall } from './agents.ts'
import type { Json, TestApp } from './app.ts'

export const publicUrl = 'https://souk.example'

export type Transport = 'REST' | 'MCP'
export type Platform = {
  readonly nth: number
  /** Null for an unnamed platform, which calls over MCP only. */
  readonly profile: string | null
  readonly release: Release
  readonly capabilities: readonly Capability[]
  /** Signs every request of a platform that proves who it is. */
  readonly key: ReturnType<typeof newSigningKey> | null
}

/** Returns a platform without a profile, which uses the newest release. */
export const unnamedPlatform = (nth: number, capabilities: readonly Capability[]): Platform => ({
  nth,
  profile: null,
  release: newestRelease,
  capabilities,
  key: null,
})

export const platformOf = (nth: number, { release, capabilities, isProven }: Omit<Json, 'nth'>): Platform => ({
  nth,
  profile: `https://platform-${nth}.example/ucp.json`,
  release,
  capabilities,
  key: isProven ? newSigningKey((count) => new Uint8Array(count).fill(nth + 1)) : null,
})

/** Returns the profile that a platform publishes. */
function profileOf({ capabilities, key }: Platform, release: Release): object {
  return {
    ucp: {
      version: release,
      capabilities: Object.fromEntries(capabilities.map((name) => [fullNameOf(name), [{ version: release }]])),
    },
    [releaseRules[release].keysField]: key ? [{ ...key.publicKey, kid: key.kid, use: 'sig', alg: 'ES256' }] : [],
  }
}

/** Serves profiles of platforms to an app without a network. `withRelease` changes the release of one during `work`. */
export function publishProfiles({ deps }: Pick<TestApp, 'deps'>, platforms: readonly Platform[]) {
  const changed = new Map<string, Release>()
  Object.assign(deps.platformProfiles, {
    async read(url: string) {
      const platform = platforms.find(({ profile }) => profile === url)
      if (!platform) throw new Error(`no platform publishes ${url}`)
      return parseProfile(profileOf(platform, changed.get(url) ?? platform.release), new URL(url))
    },
  })
  return {
    async withRelease<Result>({ profile }: Platform, release: Release, work: () => Promise<Result>): Promise<Result> {
      if (profile !== null) changed.set(profile, release)
      try {
        return await work()
      } finally {
        if (profile !== null) changed.delete(profile)
      }
    },
  }
}

export type ToolRequest = {
  readonly tool: string
  readonly id?: string | undefined
  readonly body?: Json
  readonly key?: string | undefined
}
export type ToolAnswer = { readonly status: number; readonly body: Json }

/** Returns the name of the MCP argument that holds the body. */
const payloadOf = (tool: string): string => (tool.endsWith('_checkout') ? 'checkout' : tool.endsWith('_cart') ? 'cart' : 'catalog')

/**
 * Returns a function that sends a request, each from a new address, and validates the response by a release's schema.
 */
export function senderFor(app: TestApp, shopName: string) {
  return async (platform: Platform, transport: Transport, sent: ToolRequest, release: Release = platform.release): Promise<ToolAnswer> => {
    const { tool, id, body, key } = sent
    const from = nextAddress()
    const endpoint = `${publicUrl}/ucp/${shopName}`
    const signed = (method: string, path: string, raw: string, headers: Record<string, string>): Record<string, string> =>
      platform.key
        ? signMessage(
            { method, url: new URL(`${endpoint}${path}`), headers, body: raw },
            { kid: platform.key.kid, privateKey: openSigningKey(platform.key.privateKey) },
            Math.floor(app.clock.now() / 1_000),
          )
        : headers
    const named: Record<string, string> = platform.profile === null ? {} : { 'ucp-agent': `profile="${platform.profile}"` }
    if (transport === 'REST') {
      const [method, path] = restOf(tool, id)
      const raw = method === 'GET' ? '' : JSON.stringify(body ?? {})
      const headers = {
        ...named,
        ...(raw === '' ? {} : { 'content-type': 'application/json' }),
        ...(key === undefined ? {} : { 'idempotency-key': key }),
      }
      const options = { key: key ?? null, profile: platform.profile, release, from, headers: signed(method, path, raw, headers) }
      const answer = await restCall(app, shopName, tool, id, raw === '' ? options : { ...options, raw })
      return { status: answer.status, body: answer.body }
    }
    const meta = {
      ...(platform.profile === null ? {} : { 'ucp-agent': { profile: platform.profile } }),
      ...(key === undefined ? {} : { 'idempotency-key': key }),
    }
    const args = { meta, ...(id === undefined ? {} : { id }), ...(body === undefined ? {} : { [payloadOf(tool)]: body }) }
    const raw = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: tool, arguments: args } })
    const headers = platform.key ? signed('POST', '/mcp', raw, { ...named, 'content-type': 'application/json' }) : {}
    const { status, content, error, text } = await toolCall(app, shopName, tool, args, { from, headers, release })
    if (content === undefined && error?.data === undefined) throw new Error(`${tool} over MCP: ${status} ${text}`)
    return { status, body: content ?? error.data }
  }
}

const restPaths: Readonly<Record<string, string>> = { checkout: '/checkout-sessions', cart: '/carts' }
/** Returns method and path of a tool for sessions and carts, below the endpoint. */
function restOf(tool: string, id: string | undefined): [method: string, path: string] {
  const [verb = '', kind = ''] = tool.split('_')
  const path = `${restPaths[kind]}${id === undefined ? '' : `/${id}`}`
  if (verb === 'get') return ['GET', path]
  return verb === 'update' ? ['PUT', path] : ['POST', ['complete', 'cancel'].includes(verb) ? `${path}/${verb}` : path]
}

let addresses = 0
/** Returns a new address in a new network, because limits count both. */
function nextAddress(): string {
  const nth = addresses++
  return `${11 + (nth % 80)}.${Math.floor(nth / 80) % 250}.${Math.floor(nth / 20_000) % 250}.1`
}
