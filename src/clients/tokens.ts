import { jwt } from '@elysiajs/jwt'
import type { Claims, Tokens } from '../core/tokens.ts'
import type { MasterKey } from '../lib/seal.ts'

const issuer = 'souk'
const audience = 'souk'

/** What of the library we use: signing and verifying with one key. */
type Signer = {
  sign(claims: Record<string, string | number | undefined>): Promise<string>
  verify(token: string, options: object): Promise<false | Record<string, unknown>>
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
  const signers = new Map<string, Signer>()
  /** By the whole token, the oldest first. */
  const verified = new Map<string, Verified>()

  function signerOf({ version, bytes }: MasterKey): Signer {
    const make = () => jwt({ name: 'jwt', secret: bytes.toString('base64'), kid: version, iss: issuer, aud: audience }).decorator.jwt
    return signers.getOrInsertComputed(version, () => make() as unknown as Signer)
  }

  return {
    lifetimeSeconds,
    async sign({ sub, sid, role, shop }: Claims): Promise<string> {
      const [key] = keys()
      if (!key) throw new Error('no key to sign tokens with')
      return signerOf(key).sign({
        sub,
        sid,
        role,
        jti: newTokenId(),
        exp: Math.floor(now() / 1000) + lifetimeSeconds,
        ...(shop ? { shop } : {}),
      })
    },
    async verify(token: string): Promise<Claims | undefined> {
      const known = verified.get(token)
      // It was signed for good; that it has not run out and that its key still counts is asked each time.
      if (known && known.exp > Math.floor(now() / 1000) && keys().some(({ version }) => version === known.version)) return known.claims
      verified.delete(token)
      const key = keys().find(({ version }) => version === kidOf(token))
      if (!key) return undefined
      const claims = await signerOf(key).verify(token, {
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
