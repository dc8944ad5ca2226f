import {
  covers,
  type HttpMessage,
  isDigestOf,
  type ReceivedSignature,
  signaturesOf,
  verifySignature,
} from '../../../lib/http-signatures.ts'
import { dictionaryOf } from '../../../lib/structured-fields.ts'
import { UcpError } from '../../../lib/ucp/errors.ts'
import { type PlatformKey, webUrlOf } from '../../../lib/ucp/negotiation.ts'
import { isRelease } from '../../../lib/ucp/releases.ts'

/**
 * Returns the URL of the profile that a request names, in the header `UCP-Agent` or in the `meta` of an MCP call.
 * @param header null without one
 * @param inMeta undefined without one
 * @returns undefined if the request names none
 * @throws UcpError if it is no such URL, if the two differ, or for a parameter `version` of another release
 */
export function namedProfile(header: string | null, inMeta: unknown): string | undefined {
  // Most platforms send only this member, which needs no parser.
  const plainUrl = /^profile="([!#-[\]-~]+)"$/.exec(header ?? '')?.[1]
  const member =
    plainUrl !== undefined ? ([plainUrl, new Map()] as const) : header === null ? undefined : dictionaryOf(header)?.get('profile')
  const inHeader = header === null ? undefined : (member?.[0] ?? null)
  const version = member?.[1].get('version')
  if (version !== undefined && !(typeof version === 'string' && isRelease(version)))
    throw new UcpError('version_unsupported', 'The version of the request is not supported.')
  const profile = inHeader === undefined ? inMeta : inHeader
  if (profile === undefined) return undefined
  if (inMeta !== undefined && inMeta !== profile)
    throw new UcpError('invalid_profile_url', 'The header UCP-Agent and the meta of the call name different profiles.')
  if (!webUrlOf(profile)) throw new UcpError('invalid_profile_url', 'The profile must be an https URL without user name and password.')
  return profile as string
}

/** Signatures of agents carry this tag, or none; others are for other readers. */
const agentTag = 'web-bot-auth'
const algorithm = 'ecdsa-p256-sha256'
/** Maximum difference between a signature's times and the server's clock. */
const toleranceSeconds = 5 * 60
/** Keys that are tried where a profile uses one name several times. */
const keysPerNameMax = 2

/** Refuses a body that has another digest than its header says. @throws UcpError */
export function assertDigest(header: string | null, body: Uint8Array): void {
  if (header !== null && !isDigestOf(header, body))
    throw new UcpError('digest_mismatch', 'The header Content-Digest must be the SHA-256 digest of the body as it was sent.')
}

/**
 * Returns the signatures of a request that may prove its platform; empty if it has none.
 * @throws UcpError if they are malformed
 */
export function proofsOf(headers: Pick<Headers, 'get'>): ReceivedSignature[] {
  const [input, signature] = [headers.get('signature-input'), headers.get('signature')]
  if (input === null && signature === null) return []
  const signatures = input === null || signature === null ? undefined : signaturesOf(input, signature)
  if (!signatures) throw new UcpError('signature_invalid', 'The headers Signature-Input and Signature are malformed.')
  return signatures.filter(({ params }) => (params.get('tag') ?? agentTag) === agentTag)
}

function coversAll(signature: ReceivedSignature, { url, headers }: HttpMessage, hasBody: boolean): boolean {
  const fields = ['ucp-agent', 'idempotency-key'].filter((name) => headers.get(name) !== null)
  const required = ['@method', '@authority', '@path', ...(url.search === '' ? [] : ['@query']), ...fields]
  if (hasBody) required.push('content-digest', 'content-type')
  // A signature covers its own member of this dictionary.
  const isAgentCovered = headers.get('signature-agent') === null || covers(signature, 'signature-agent', true)
  return isAgentCovered && required.every((name) => covers(signature, name))
}

function isTimely({ params }: ReceivedSignature, nowSeconds: number): boolean {
  const [created, expires] = [params.get('created') ?? nowSeconds, params.get('expires') ?? nowSeconds]
  if (typeof created !== 'number' || typeof expires !== 'number') return false
  return Math.abs(created - nowSeconds) <= toleranceSeconds && expires >= nowSeconds - toleranceSeconds
}

/** A request, and what its signatures are checked against. */
type ProofContext = {
  readonly message: HttpMessage
  readonly hasBody: boolean
  readonly keys: readonly PlatformKey[]
  readonly nowSeconds: number
}
type ProofFailure = 'signature_invalid' | 'key_not_found' | 'algorithm_unsupported'

function failureOf(signature: ReceivedSignature, { message, hasBody, keys, nowSeconds }: ProofContext): ProofFailure | undefined {
  const { params } = signature
  const keyId = params.get('keyid')
  if (typeof keyId !== 'string' || !isTimely(signature, nowSeconds) || !coversAll(signature, message, hasBody)) return 'signature_invalid'
  const namedKeys = keys.filter(({ kid }) => kid === keyId)
  if (namedKeys.length === 0) return 'key_not_found'
  const usableKeys = (params.get('alg') ?? algorithm) === algorithm ? namedKeys.flatMap(({ key }) => key ?? []) : []
  if (usableKeys.length === 0) return 'algorithm_unsupported'
  return usableKeys.slice(0, keysPerNameMax).some((key) => verifySignature(signature, message, key)) ? undefined : 'signature_invalid'
}

/** Messages of failed proofs, the most important first. Of several failures, the first is reported. */
const failures = {
  key_not_found: 'The profile does not list the key of the signature.',
  signature_invalid: 'No signature is valid. Check the components that it covers, its times and its key.',
  algorithm_unsupported: 'Sign with ES256 (ECDSA by P-256 and SHA-256).',
} as const satisfies Record<ProofFailure, string>

/** Returns why no signature proves the platform; undefined if one does. */
export function proofFailure(signatures: readonly ReceivedSignature[], context: ProofContext): UcpError | undefined {
  const codes = new Set<ProofFailure>()
  for (const signature of signatures) {
    const failure = failureOf(signature, context)
    if (failure === undefined) return undefined
    codes.add(failure)
  }
  const first = (Object.keys(failures) as ProofFailure[]).find((code) => codes.has(code)) ?? 'signature_invalid'
  return new UcpError(first, failures[first])
}
