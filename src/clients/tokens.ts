import { createHmac } from 'node:crypto'
import { jwt } from '@elysiajs/jwt'
import type { TokenClaims, TokenOptions, Tokens } from '../core/tokens.ts'
import type { MasterKey } from '../lib/seal.ts'

const issuer = 'souk'
const audience = 'souk'

/**
 * Only `verify` of the library is used. Its `sign` sets `iat` from its own clock, and a repeated refresh needs
 * identical bytes.
 */
type Verifier = { verify(token: string, options: object): Promise<false | Record<string, unknown>> }

const secretOf = ({ bytes }: MasterKey): string => bytes.toString('base64')
const encodeJson = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')

/** Encodes claims as a JWT (HS256). The same key and claims give the same bytes. */
function signToken(key: MasterKey, claims: object): string {
  const content = `${encodeJson({ alg: 'HS256', typ: 'JWT', kid: key.version })}.${encodeJson(claims)}`
  return `${content}.${createHmac('sha256', secretOf(key)).update(content).digest('base64url')}`
}

/** The limit of cached verified tokens. Verifying a signature costs more than the rest of a small request. */
const verifiedMax = 1_000
type VerifiedToken = { readonly claims: TokenClaims /** Seconds. */; readonly exp: number; readonly version: string }

/**
 * Creates access tokens: HS256, `kid` naming the key. The newest key signs, every key verifies.
 * @param keys newest first
 * @param now milliseconds since the epoch
 */
export function createTokens(
  keys: () => readonly MasterKey[],
  now: () => number,
  lifetimeSeconds: number,
  newTokenId: () => string,
): Tokens {
  const verifiers = new Map<string, Verifier>()
  /** By token, oldest first. */
  const verified = new Map<string, VerifiedToken>()

  function verifierOf(key: MasterKey): Verifier {
    const make = () => jwt({ name: 'jwt', secret: secretOf(key) }).decorator.jwt
    return verifiers.getOrInsertComputed(key.version, () => make() as unknown as Verifier)
  }

  return {
    lifetimeSeconds,
    sign({ sub, sid, role, shop }: TokenClaims, { id = newTokenId(), at = now(), keyVersion }: TokenOptions = {}): string {
      const key = keyVersion === undefined ? keys()[0] : keys().find(({ version }) => version === keyVersion)
      if (!key) throw new Error('no key to sign tokens with')
      const iat = Math.floor(at / 1000)
      return signToken(key, {
        aud: audience,
        iss: issuer,
        jti: id,
        sub,
        sid,
        role,
        ...(shop ? { shop } : {}),
        iat,
        exp: iat + lifetimeSeconds,
      })
    },
    async verify(token: string): Promise<TokenClaims | undefined> {
      const cached = verified.get(token)
      // The signature stays valid; expiry and key are checked each time.
      if (cached && cached.exp > Math.floor(now() / 1000) && keys().some(({ version }) => version === cached.version)) return cached.claims
      verified.delete(token)
      const key = keys().find(({ version }) => version === kidOf(token))
      if (!key) return undefined
      const claims = await verifierOf(key).verify(token, {
        algorithms: ['HS256'],
        issuer,
        audience,
        requiredClaims: ['exp', 'sub', 'jti', 'sid', 'role'],
        currentDate: new Date(now()),
      })
      if (!claims) return undefined
      const { sub, sid, role, shop } = claims
      if (typeof sub !== 'string' || typeof sid !== 'string') return undefined
      if (role !== 'MERCHANT' && role !== 'CUSTOMER' && role !== 'SUPER_ADMIN') return undefined
      const result: TokenClaims = Object.freeze({ sub, sid, role, ...(typeof shop === 'string' ? { shop } : {}) })
      verified.set(token, { claims: result, exp: Number(claims['exp']), version: key.version })
      const [oldest] = verified.keys()
      if (verified.size > verifiedMax && oldest !== undefined) verified.delete(oldest)
      return result
    },
  }
}

function kidOf(token: string): string | undefined {
  try {
    const header: unknown = JSON.parse(Buffer.from(token.slice(0, token.indexOf('.')), 'base64url').toString('utf8'))
    return typeof header === 'object' && header !== null && 'kid' in header && typeof header.kid === 'string' ? header.kid : undefined
  } catch {
    return undefined
  }
}
