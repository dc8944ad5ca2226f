import { Elysia } from 'elysia'
import type { Writer } from '../../db/engine.ts'
import type { Write } from '../core/command-context.ts'
import { AppError, type ErrorCode, statusOf } from '../core/errors.ts'
import type { Attempt, Claim } from '../core/idempotency.ts'
import type { Principal, ShopContext } from '../core/principal.ts'
import { aside, noteKeyed, outcome } from '../core/request-context.ts'
import { defined } from '../lib/objects.ts'
import { sha256 } from '../lib/seal.ts'
import type { HttpDeps } from './deps.ts'
import { errorBody } from './errors.ts'

const keyPattern = /^[\x21-\x7e]{1,255}$/
/** Failures that the same request would meet again; the rest may be tried again under the same key. */
const storedFailures = new Set<number>([404, 409, 422])
/** Several times within the lease of a key. */
const renewEveryMs = 10_000

/**
 * What an idempotent request does. What the work of `write` returns is stored in its commit, and is the answer. Whoever makes
 * several writes need not use it: then the answer is stored in a write of its own at the end.
 */
type Run<T> = (write: Write, attempt: Attempt) => Promise<T>

/**
 * How an answer is shown to whoever sends the request again. A replay passes the same checks of who may see what as a first request:
 * `access` makes its own each time, and this says the rest. A route whose path names a record must say `sees` or `anew`.
 */
export type Replay<T> = {
  /** Of a page's form, which sends no headers: what stands in the place of the `Idempotency-Key`. */
  readonly key?: string
} & (
  | {
      /** Throws what the first request would where the caller may not see, or not any more, what the path names. Nothing is told before. */
      readonly sees?: () => Promise<unknown>
      /** Runs before the stored answer is shown again, for one that holds a secret; what it throws is the answer. */
      readonly shown?: () => Promise<unknown>
      readonly anew?: undefined
    }
  | {
      /** The answer as it is now, in place of the first one, which is not stored: for what must not be shown for as long as that would be. */
      readonly anew: () => Promise<T>
      readonly shown?: undefined
    }
)

/**
 * `{ idempotent: true }` gives a route `once(status, run)`: with an `Idempotency-Key` the effect of `run` happens once,
 * and later requests under the key get the stored answer. `'required'` refuses a request without a key.
 */
export const idempotency = ({ idempotency: claims, db }: Pick<HttpDeps, 'idempotency' | 'db'>) =>
  new Elysia({ name: 'http.idempotency' }).macro({
    idempotent: (mode: true | 'required') => ({
      detail: { 'x-idempotent': mode } as object,
      resolve: (context: {
        request: Request
        route: string
        body: unknown
        set: { status?: unknown; headers: Record<string, string | number> }
      }) => {
        const { request, route, set } = context
        const { principal, shop } = context as unknown as { principal: Principal; shop: ShopContext | undefined }
        return {
          once: async <T>(status: number, run: Run<T>, replay: Replay<T> = {}): Promise<T> => {
            const sees = replay.anew ?? replay.sees
            if (!sees && route.includes(':')) throw new Error(`${route} does not say who may see its answer again`)
            const key = replay.key ?? request.headers.get('idempotency-key')
            set.status = status
            if (key === null) {
              if (mode === 'required') throw new AppError('INVALID', 'idempotency-key (header): this route needs one')
              return run(db.write, { key: crypto.randomUUID(), resumed: false, ...keepsNothing })
            }
            if (!keyPattern.test(key)) throw new AppError('INVALID', 'idempotency-key (header): 1 to 255 visible ASCII characters')
            const scope = scopeOf({ request, principal, shop })
            const fingerprint = sha256(JSON.stringify(context.body) ?? '')
            noteKeyed()
            const claim = await aside(() => claims.claim({ scope, key, fingerprint }))
            if (claim.kind !== 'claimed') {
              // Whose key it is and what became of it is told to those only who see what it is about.
              const current = await sees?.()
              if (claim.kind === 'replay') {
                if (claim.status < 400) await replay.shown?.()
                set.headers['idempotent-replayed'] = 'true'
                if (replay.anew && claim.status < 400) return current as T
              }
            }
            const work: Resumable<T> = (write, attempt) => run(write, { key: sha256(`${scope} ${key}`), ...attempt })
            return perform(replay.anew ? withoutAnswer(claim) : claim, status, db.write, work)
          },
        }
      },
    }),
  })

type Asked = { request: Request; principal: Principal; shop: ShopContext | undefined }

/** Where a key means one request. The path is hashed: the id of a cart is a secret, and must not be read from what is stored. */
const scopeOf = ({ request, principal, shop }: Asked): string =>
  `${whoOf(principal, shop)} ${request.method} ${sha256(new URL(request.url).pathname)}`

/** The claim of a request of which only that it was done is stored. */
const withoutAnswer = (claim: Claim): Claim =>
  claim.kind === 'claimed' ? { ...claim, keep: (tx, status, _answer, isSure) => claim.keep(tx, status, null, isSure) } : claim

/** What a request without a key stores of its answer. */
const keepsNothing: Pick<Attempt, 'keep' | 'refuse'> = { keep: async () => undefined, refuse: async () => undefined }

type Resumable<T> = (write: Write, attempt: Omit<Attempt, 'key'>) => Promise<T>

async function perform<T>(claim: Claim, status: number, write: Write, run: Resumable<T>): Promise<T> {
  switch (claim.kind) {
    case 'mismatch':
      throw new AppError('INCOMPLETE', 'idempotency-key (header): already used with another body')
    case 'inFlight':
      throw new AppError('CONFLICT', 'A request under this idempotency-key is still at work', {
        retryAfterSeconds: claim.retryAfterSeconds,
      })
    case 'replay':
      // Through the same response schema as the first time, so that the bytes are the same too.
      if (claim.status < 400) return JSON.parse(claim.body) as T
      throw refusalOf(claim)
    case 'claimed': {
      const renewing = setInterval(() => void aside(claim.renew).catch(() => undefined), renewEveryMs)
      try {
        return await runAndStore(claim, status, write, run)
      } catch (error) {
        // What cannot be told now is remembered, and the answer stays what it is.
        await aside(() => settleFailure(claim, error)).catch(() => undefined)
        throw error
      } finally {
        clearInterval(renewing)
      }
    }
  }
}

async function runAndStore<T>(claim: Claim & { kind: 'claimed' }, status: number, write: Write, run: Resumable<T>): Promise<T> {
  let stored: { readonly answer: unknown } | undefined
  const keep = async (tx: Writer, answer: unknown, isSure?: boolean) => {
    if (stored) throw new Error('an idempotent request has one write that stores its answer')
    await claim.keep(tx, status, answer, isSure)
    tx.afterCommit(() => {
      stored = { answer }
    })
  }
  const storing: Write = (work, options) =>
    write(async (tx) => {
      const done = await work(tx)
      await keep(tx, done)
      return done
    }, options)
  const refuse = async (tx: Writer, refusal: AppError) => {
    const refused = statusOf[refusal.code]
    if (!storedFailures.has(refused)) throw new Error(`${refused} is not stored`)
    await claim.keep(tx, refused, errorBody(refusal))
  }
  const answer = await run(storing, { resumed: claim.resumed, keep, refuse })
  if (!stored) return aside(() => storing(async () => answer))
  if (stored.answer !== answer) throw new Error('an idempotent request was answered with something else than what was stored')
  return answer
}

async function settleFailure(claim: Claim & { kind: 'claimed' }, error: unknown): Promise<void> {
  const status = error instanceof AppError ? statusOf[error.code] : 500
  if (error instanceof AppError && storedFailures.has(status)) return claim.fail(status, errorBody(error))
  // What has begun, or may have, is gone on with by the next request under the key, and not begun anew.
  return outcome().outcome === 'NOTHING' ? claim.release() : claim.handOver()
}

/** The refusal that was stored, with the `error` and the `code` that it was first answered with. */
function refusalOf({ status, body }: { status: number; body: string }): AppError {
  const { message, error: word, code: answerCode } = JSON.parse(body) as { message: string; error?: string; code?: string }
  return new AppError(codeOf(status), message, defined({ word, answerCode }))
}

const codeOf = (status: number): ErrorCode => (Object.keys(statusOf) as ErrorCode[]).find((code) => statusOf[code] === status) ?? 'INTERNAL'

/** A merchant in one of their shops; for keys their kind and the shop, so that a key's successor goes on where it was. */
function whoOf(principal: Principal, shop: ShopContext | undefined): string {
  const who = principal.kind !== 'key' ? principal.id : principal.scopes.includes('server') ? 'secret' : 'publishable'
  return [who, ...(shop ? [shop.id] : [])].join(' ')
}
