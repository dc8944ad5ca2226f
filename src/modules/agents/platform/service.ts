import { publicUrlOf } from '../../../core/public-url.ts'
import type { HttpMessage } from '../../../lib/http-signatures.ts'
import type { Platform } from '../../../lib/ucp/call.ts'
import { UcpError } from '../../../lib/ucp/errors.ts'
import { commonCapabilities, type PlatformProfile } from '../../../lib/ucp/negotiation.ts'
import { servedCapabilities } from '../../../lib/ucp/profile.ts'
import { type Capability, newestRelease } from '../../../lib/ucp/releases.ts'
import { assertDigest, namedProfile, proofFailure, proofsOf } from './domain.ts'
import type { PlatformDeps } from './providers.ts'

export type PlatformRequest = {
  /** The shop's setting. SIGNED: every call needs a proof. */
  readonly access: 'OPEN' | 'SIGNED'
  /** Reads of orders need a proof in every mode. */
  readonly needsProof?: boolean | undefined
  /** What the shop offers. Default: everything. */
  readonly offered?: ReadonlySet<Capability>
  readonly request: Pick<Request, 'method' | 'url' | 'headers'>
  /** The body as it was received; empty without one. */
  readonly rawBody: Uint8Array
  /** The profile that `meta["ucp-agent"]` of an MCP call names, if any; absent over REST. */
  readonly meta?: { readonly profile: unknown } | undefined
}

/**
 * Identifies the platform that sent a request. In OPEN an MCP call may name no profile: its platform has all
 * capabilities in the newest release, and its signatures, which no profile belongs to, are not read.
 * @throws UcpError
 */
export async function identifyPlatform(
  deps: PlatformDeps,
  { access, needsProof = false, offered = servedCapabilities(true), request, rawBody, meta }: PlatformRequest,
): Promise<Platform> {
  const { headers } = request
  const isProofNeeded = needsProof || access === 'SIGNED'
  const url = namedProfile(headers.get('ucp-agent'), meta?.profile)
  assertDigest(headers.get('content-digest'), rawBody)
  if (url === undefined) {
    if (meta === undefined || isProofNeeded)
      throw new UcpError('invalid_profile_url', 'Name the URL of your profile in the header UCP-Agent, or over MCP in meta.')
    return { profile: null, isProven: false, release: newestRelease, capabilities: offered, webhookUrl: null }
  }
  const proofs = proofsOf(headers)
  // Before the profile is fetched, which costs more.
  if (proofs.length === 0 && isProofNeeded)
    throw new UcpError('signature_missing', 'Sign the request with a key of your profile (RFC 9421).')
  let profile = await deps.platformProfiles.read(url)
  const failure = () =>
    proofFailure(proofs, {
      message: messageOf(deps, request),
      hasBody: rawBody.length > 0,
      keys: profile.keys,
      nowSeconds: deps.clock.now() / 1_000,
    })
  let refusal = proofs.length === 0 ? undefined : failure()
  if (refusal?.code === 'key_not_found') {
    profile = await deps.platformProfiles.read(url, true)
    refusal = failure()
  }
  if (refusal) throw refusal
  const { release, webhookUrl } = profile
  const ofProfile = negotiated.getOrInsertComputed(profile, () => new WeakMap())
  const capabilities = ofProfile.getOrInsertComputed(offered, () => commonCapabilities(offered, profile))
  return { profile: url, isProven: proofs.length > 0, release, capabilities, webhookUrl }
}

/** Capabilities in common with each cached profile, by what the shop offers. */
const negotiated = new WeakMap<PlatformProfile, WeakMap<ReadonlySet<Capability>, ReadonlySet<Capability>>>()

/** Returns a request as its sender addressed it: PUBLIC_URL, and below it the path that arrived here. */
function messageOf(deps: PlatformDeps, { method, url, headers }: PlatformRequest['request']): HttpMessage {
  const { pathname, search } = new URL(url)
  return { method, headers, url: new URL(`${publicUrlOf(deps)}${pathname}${search}`) }
}
