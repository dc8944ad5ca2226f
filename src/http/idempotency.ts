import { Elysia } from 'elysia'
import type { Writer } from '../../db/engine.ts'
import type { Write } from '../core/command-context.ts'
import { AppError, type ErrorCode, statusOf } from '../core/errors.ts'
import type { Attempt, Claim } from '../core/idempotency.ts'
import type { Principal, ShopContext } from '../core/principal.ts'
import { markKeyed, requestOutcome, untracked } from '../core/request-context.ts'
import { withoutUndefined } from '../lib/objects.ts'
import { sha256 } from '../lib/seal.ts'
import type { HttpDeps } from './deps.ts'
import { errorBody } from './errors.ts'

const keyPattern = /^[\x21-\x7e]{1,255}$/
/** Statuses that a retry would get again. Other failures can be retried with the same key. */
const storedFailures = new Set<number>([404, 409, 422])
/** Several times within a lease. */
const renewEveryMs = 10_000

/**
 * The work of an idempotent request. The result of `write` is stored in its commit as the response. Work that makes
 * several writes may use `db.write`: then a final write stores the response.
 */
type Run<T> = (write: Write, attempt: Attempt) => Promise<T>

/**
 * How a stored response is shown again. A replay passes the same permission checks: `access` repeats its own, and this
 * object the rest. Routes whose path names a record need `sees` or `anew`.
 */
export type Replay<T> = {
  /** Replaces the `Idempotency-Key` of HTML forms, which send no headers. */
  readonly key?: string
} & (
  | {
      /** Throws the error of the first request if the caller may no longer see the record. */
      readonly sees?: () => Promise<unknown>
      /** Runs before a stored response with a secret is shown again; its error replaces the response. */
      readonly shown?: () => Promise<unknown>
      readonly anew?: undefined
    }
  | {
      /** Computes the current response instead of storing the first one, which must not be kept. */
      readonly anew: () => Promise<T>
      readonly shown?: undefined
    }
)

/**
 * Adds `{ idempotent: true }`, which gives a route `once(status, run)`: with an `Idempotency-Key` the effect of `run`
 * happens once, and retries get the stored response. `'required'` refuses requests without a key.
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
              return run(db.write, { key: crypto.randomUUID(), isResumed: false, ...storesNothing })
            }
            if (!keyPattern.test(key)) throw new AppError('INVALID', 'idempotency-key (header): 1 to 255 visible ASCII characters')
            const scope = scopeOf({ request, principal, shop })
            const fingerprint = sha256(JSON.stringify(context.body) ?? '')
            markKeyed()
            const claim = await untracked(() => claims.claim({ scope, key, fingerprint }))
            if (claim.kind !== 'claimed') {
              // The state of a key is revealed only to callers who may see the record.
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

type KeyScope = { request: Request; principal: Principal; shop: ShopContext | undefined }

/** The scope in which a key is unique. The path is hashed, because cart ids are secret. */
const scopeOf = ({ request, principal, shop }: KeyScope): string =>
  `${whoOf(principal, shop)} ${request.method} ${sha256(new URL(request.url).pathname)}`

/** Stores only that the request was processed, not the response. */
const withoutAnswer = (claim: Claim): Claim =>
  claim.kind === 'claimed' ? { ...claim, keep: (tx, status) => claim.keep(tx, status, null) } : claim

/** Without a key nothing is stored. */
const storesNothing: Pick<Attempt, 'storeAnswer' | 'storeRefusal'> = {
  storeAnswer: async () => undefined,
  storeRefusal: async () => undefined,
}

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
      // Through the same response schema, so that the bytes are equal.
      if (claim.status < 400) return JSON.parse(claim.body) as T
      throw refusalOf(claim)
    case 'claimed': {
      const renewing = setInterval(() => void untracked(claim.renew).catch(() => undefined), renewEveryMs)
      try {
        return await runAndStore(claim, status, write, run)
      } catch (error) {
        // If the database is unavailable, the end is stored later.
        await untracked(() => settleFailure(claim, error)).catch(() => undefined)
        throw error
      } finally {
        clearInterval(renewing)
      }
    }
  }
}

async function runAndStore<T>(claim: Claim & { kind: 'claimed' }, status: number, write: Write, run: Resumable<T>): Promise<T> {
  let stored: { readonly answer: unknown } | undefined
  const keep = async (tx: Writer, answer: unknown) => {
    if (stored) throw new Error('an idempotent request has one write that stores its answer')
    await claim.keep(tx, status, answer)
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
  const answer = await run(storing, { isResumed: claim.resumed, storeAnswer: keep, storeRefusal: refuse })
  // A retry gets the same.
  return stored ? (stored.answer as T) : untracked(() => storing(async () => answer))
}

async function settleFailure(claim: Claim & { kind: 'claimed' }, error: unknown): Promise<void> {
  const status = error instanceof AppError ? statusOf[error.code] : 500
  if (error instanceof AppError && storedFailures.has(status)) return claim.fail(status, errorBody(error))
  // Work that started, or may have, is resumed by the next request with the key.
  return requestOutcome().outcome === 'NOTHING' ? claim.release() : claim.handOver()
}

/** Recreates a stored refusal with its `error` and `code`. */
function refusalOf({ status, body }: { status: number; body: string }): AppError {
  const { message, error: word, code: answerCode } = JSON.parse(body) as { message: string; error?: string; code?: string }
  return new AppError(codeOf(status), message, withoutUndefined({ word, answerCode }))
}

const codeOf = (status: number): ErrorCode => (Object.keys(statusOf) as ErrorCode[]).find((code) => statusOf[code] === status) ?? 'INTERNAL'

/** Identifies the caller: a principal and a shop. Keys count by kind and shop, so a rotated key continues. */
function whoOf(principal: Principal, shop: ShopContext | undefined): string {
  const who = principal.kind !== 'key' ? principal.id : principal.scopes.includes('server') ? 'secret' : 'publishable'
  return [who, ...(shop ? [shop.id] : [])].join(' ')
}
