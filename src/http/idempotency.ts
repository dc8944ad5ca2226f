import { Elysia } from 'elysia'
import { AppError, type ErrorCode, statusOf } from '../core/errors.ts'
import type { Claim, Idempotency, Keep } from '../core/idempotency.ts'
import type { Principal, ShopContext } from '../core/principal.ts'
import { sha256 } from '../lib/seal.ts'
import { errorBody } from './errors.ts'

const keyPattern = /^[\x21-\x7e]{1,255}$/
/** Failures that the same request would meet again; the rest may be tried again under the same key. */
const storedFailures = new Set<number>([404, 409, 422])
const nothingToKeep: Keep = async () => undefined

/**
 * `{ idempotent: true }` gives a route `once(status, run)`: with an `Idempotency-Key` the effect of `run` happens once,
 * and later requests under the key get the stored answer. `'required'` refuses a request without a key. `run` learns whether it
 * goes on where an attempt vanished.
 */
export const idempotency = ({ idempotency: claims }: { idempotency: Idempotency }) =>
  new Elysia({ name: 'http.idempotency' }).macro({
    idempotent: (mode: true | 'required') => ({
      detail: { 'x-idempotent': mode } as object,
      resolve: (context: { request: Request; body: unknown; set: { status?: unknown; headers: Record<string, string | number> } }) => {
        const { request, set } = context
        const { principal, shop } = context as unknown as { principal: Principal; shop: ShopContext | undefined }
        return {
          once: async <T>(status: number, run: (keep: Keep, resumed: boolean) => Promise<T>): Promise<T> => {
            const key = request.headers.get('idempotency-key')
            set.status = status
            if (key === null) {
              if (mode === 'required') throw new AppError('INVALID', 'idempotency-key (header): this route needs one')
              return run(nothingToKeep, false)
            }
            if (!keyPattern.test(key)) throw new AppError('INVALID', 'idempotency-key (header): 1 to 255 visible ASCII characters')
            const fingerprint = sha256(JSON.stringify(context.body) ?? '')
            const claim = await claims.claim({ scope: scopeOf({ request, principal, shop }), key, fingerprint })
            if (claim.kind === 'replay') set.headers['idempotent-replayed'] = 'true'
            return perform(claim, status, run)
          },
        }
      },
    }),
  })

type Asked = { request: Request; principal: Principal; shop: ShopContext | undefined }

/** Where a key means one request. The path is hashed: the id of a cart is a secret, and must not be read from what is stored. */
const scopeOf = ({ request, principal, shop }: Asked): string =>
  `${whoOf(principal, shop)} ${request.method} ${sha256(new URL(request.url).pathname)}`

/** Names the attempt that a request's key stands for, where a record of ours remembers it: the key itself is the caller's. */
export const attemptKeyOf = (asked: Asked): string =>
  sha256(`${scopeOf(asked)} ${asked.request.headers.get('idempotency-key') ?? crypto.randomUUID()}`)

async function perform<T>(claim: Claim, status: number, run: (keep: Keep, resumed: boolean) => Promise<T>): Promise<T> {
  switch (claim.kind) {
    case 'mismatch':
      throw new AppError('INCOMPLETE', 'idempotency-key (header): already used with another body')
    case 'inFlight':
      throw new AppError('CONFLICT', 'A request under this idempotency-key is still at work', undefined, claim.retryAfterSeconds)
    case 'replay':
      // Through the same response schema as the first time, so that the bytes are the same too.
      if (claim.status < 400) return JSON.parse(claim.body) as T
      throw new AppError(codeOf(claim.status), (JSON.parse(claim.body) as { message: string }).message)
    case 'claimed':
      try {
        return await run(claim.keep(status), claim.resumed)
      } catch (error) {
        await settleFailure(claim, error)
        throw error
      }
  }
}

async function settleFailure(claim: Claim & { kind: 'claimed' }, error: unknown): Promise<void> {
  const status = error instanceof AppError ? statusOf[error.code] : 500
  // An unknown outcome keeps its lease: it may have happened, and is looked at again when the lease has run out.
  if (error instanceof AppError && storedFailures.has(status)) await claim.fail(status, errorBody(error))
  else if (error instanceof AppError) await claim.release()
}

const codeOf = (status: number): ErrorCode => (Object.keys(statusOf) as ErrorCode[]).find((code) => statusOf[code] === status) ?? 'INTERNAL'

/** A merchant in one of their shops; for keys their kind and the shop, so that a key's successor goes on where it was. */
function whoOf(principal: Principal, shop: ShopContext | undefined): string {
  const who = principal.kind !== 'key' ? principal.id : principal.scopes.includes('server') ? 'secret' : 'publishable'
  return [who, ...(shop ? [shop.id] : [])].join(' ')
}
