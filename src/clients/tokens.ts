import { createHmac } from 'node:crypto'
import { jwt } from '@elysiajs/jwt'
import type { Claims, Issue, Tokens } from '../core/tokens.ts'
import type { MasterKey } from '../lib/seal.ts'

const issuer = 'souk'
const audience = 'souk'

/**
 * Only `verify` of the library is used. Its `sign` sets `iat` from its own clock, and a repeated refresh needs
 * identical bytes.
 */
type Verifier = { verify(token: string, options: object): Promise<false | Record<string, unknown>> }

const secretOf = ({ bytes }: MasterKey): string => bytes.toString('base64')
const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')

/** Encodes claims as a JWT (HS256). The same key and claims give the same bytes. */
function signed(key: MasterKey, claims: object): string {
  const content = `${encoded({ alg: 'HS256', typ: 'JWT', kid: key.version })}.${encoded(claims)}`
  return `${content}.${createHmac('sha256', secretOf(key)).update(content).digest('base64url')}`
}

/** Tokens that were verified lately: a signature costs more than all else of a small request. */
const verifiedMax = 1_000
type Verified = { readonly claims: Claims /** Seconds. */; readonly exp: number; readonly version: string }

/**
 * Access tokens: HS256, `kid` naming the key. The newest key signs, every key verifies.
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
  /** By the whole token, the oldest first. */
  const verified = new Map<string, Verified>()

  function verifierOf(key: MasterKey): Verifier {
    const make = () => jwt({ name: 'jwt', secret: secretOf(key) }).decorator.jwt
    return verifiers.getOrInsertComputed(key.version, () => make() as unknown as Verifier)
  }

  return {
    lifetimeSeconds,
    sign({ sub, sid, role, shop }: Claims, { id = newTokenId(), at = now(), keyVersion }: Issue = {}): string {
      const key = keyVersion === undefined ? keys()[0] : keys().find(({ version }) => version === keyVersion)
      if (!key) throw new Error('no key to sign tokens with')
      const iat = Math.floor(at / 1000)
      return signed(key, {
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
    async verify(token: string): Promise<Claims | undefined> {
      const known = verified.get(token)
      // It was signed for good; that it has not run out and that its key still counts is asked each time.
      if (known && known.exp > Math.floor(now() / 1000) && keys().some(({ version }) => version === known.version)) return known.claims
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
      const found: Claims = Object.freeze({ sub, sid, role, ...(typeof shop === 'string' ? { shop } : {}) })
      verified.set(token, { claims: found, exp: Number(claims['exp']), version: key.version })
      const [oldest] = verified.keys()
      if (verified.size > verifiedMax && oldest !== undefined) verified.delete(oldest)
      return found
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
