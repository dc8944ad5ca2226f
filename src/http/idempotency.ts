import { Elysia } from 'elysia'
import type { Writer } from '../../db/engine.ts'
import type { Write } from '../core/command-context.ts'
import type { ApiErrorCode } from '../core/error-codes.ts'
import { AppError, type ErrorKind, fieldError, invalidField, statusOf } from '../core/errors.ts'
import { type Attempt, type Claim, storesNothing } from '../core/idempotency.ts'
import type { Principal, ShopContext } from '../core/principal.ts'
import { markKeyed, requestOutcome, runUntracked } from '../core/request-context.ts'
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
 * object the rest. Routes whose path names a record need `assertVisible` or `recompute`.
 */
type Replay<T> = {
  /** Replaces the `Idempotency-Key` of HTML forms, which send no headers. */
  readonly key?: string
} & (
  | {
      /** Throws the error of the first request if the caller may no longer see the record. */
      readonly assertVisible?: () => Promise<unknown>
      /** Runs before a stored response with a secret is shown again; its error replaces the response. */
      readonly beforeReplay?: () => Promise<unknown>
      readonly recompute?: undefined
    }
  | {
      /** Computes the current response instead of storing the first one, which must not be kept. */
      readonly recompute: () => Promise<T>
      readonly beforeReplay?: undefined
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
            const current = replay.recompute ?? replay.assertVisible
            if (!current && route.includes(':')) throw new Error(`${route} needs assertVisible or recompute for its replays`)
            const key = replay.key ?? request.headers.get('idempotency-key')
            set.status = status
            if (key === null) {
              if (mode === 'required') throw invalidField('idempotency-key', 'required on this route', { code: 'idempotency_key_required' })
              return run(db.write, keylessAttempt())
            }
            if (!keyPattern.test(key)) throw invalidField('idempotency-key', 'must be 1 to 255 visible ASCII characters')
            const scope = scopeOf({ request, principal, shop })
            const fingerprint = sha256(JSON.stringify(context.body) ?? '')
            markKeyed()
            const claim = await runUntracked(() => claims.claim({ scope, key, fingerprint }))
            if (claim.kind !== 'claimed') {
              // The state of a key is revealed only to callers who may see the record.
              const currentAnswer = await current?.()
              if (claim.kind === 'replay') {
                if (claim.status < 400) await replay.beforeReplay?.()
                set.headers['idempotent-replayed'] = 'true'
                if (replay.recompute && claim.status < 400) return currentAnswer as T
              }
            }
            const work: Resumable<T> = (write, attempt) => run(write, { key: sha256(`${scope} ${key}`), ...attempt })
            return performClaimed(replay.recompute ? withoutAnswer(claim) : claim, status, db.write, work, apiRefusals)
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
  claim.kind === 'claimed' ? { ...claim, storeAnswer: (tx, status, _answer, isSure) => claim.storeAnswer(tx, status, null, isSure) } : claim

/** Returns the attempt of a request without a key. */
export const keylessAttempt = (): Attempt => ({ key: crypto.randomUUID(), isResumed: false, ...storesNothing })

type Resumable<T> = (write: Write, attempt: Omit<Attempt, 'key'>) => Promise<T>

/** The errors of idempotent requests, as the callers of an interface get them. */
export type ClaimRefusals = {
  /** The key was used with another body. */
  readonly mismatch: () => Error
  readonly inFlight: (retryAfterSeconds: number) => Error
  /** Returns how an error is stored for retries; undefined if the key may be used again. */
  readonly storableFailure: (error: unknown) => { readonly status: number; readonly body: unknown } | undefined
  /** Recreates a stored error from its status and body. */
  readonly recreate: (status: number, body: string) => Error
}

/** The refusals of souk's own API. */
const apiRefusals: ClaimRefusals = {
  mismatch: () =>
    fieldError('INCOMPLETE', 'idempotency-key', 'this key was used with another body: use a new key', { code: 'idempotency_key_reused' }),
  inFlight: (retryAfterSeconds) =>
    fieldError('CONFLICT', 'idempotency-key', 'a request with this key is still being processed', {
      code: 'idempotency_in_progress',
      retryAfterSeconds,
    }),
  storableFailure: (error) =>
    error instanceof AppError && storedFailures.has(statusOf[error.kind])
      ? { status: statusOf[error.kind], body: errorBody(error) }
      : undefined,
  recreate: refusalOf,
}

/**
 * Runs the work of a claimed key once: keeps its lease, and stores its answer or its refusal. Otherwise returns the
 * stored answer.
 * @throws what `refusals` make of a key in use and of a stored refusal; errors of `run`
 */
export async function performClaimed<T>(
  claim: Claim,
  status: number,
  write: Write,
  run: Resumable<T>,
  refusals: ClaimRefusals,
): Promise<T> {
  switch (claim.kind) {
    case 'mismatch':
      throw refusals.mismatch()
    case 'inFlight':
      throw refusals.inFlight(claim.retryAfterSeconds)
    case 'replay':
      // Through the same response schema, so that the bytes are equal.
      if (claim.status < 400) return JSON.parse(claim.body) as T
      throw refusals.recreate(claim.status, claim.body)
    case 'claimed': {
      const renewing = setInterval(() => void runUntracked(claim.renew).catch(() => undefined), renewEveryMs)
      try {
        return await runAndStore(claim, status, write, run, refusals)
      } catch (error) {
        await runUntracked(() => settleFailure(claim, error, refusals)).catch((failure: unknown) => {
          if (failure instanceof AppError) throw failure
          // The database is unavailable: the end is stored later.
        })
        throw error
      } finally {
        clearInterval(renewing)
      }
    }
  }
}

type Claimed = Claim & { kind: 'claimed' }

async function runAndStore<T>(claim: Claimed, status: number, write: Write, run: Resumable<T>, refusals: ClaimRefusals): Promise<T> {
  let stored: { readonly answer: unknown } | undefined
  const storeAnswer = async (tx: Writer, answer: unknown, isSure?: boolean) => {
    if (stored) throw new Error('an idempotent request has one write that stores its answer')
    await claim.storeAnswer(tx, status, answer, isSure)
    tx.afterCommit(() => {
      stored = { answer }
    })
  }
  const storingWrite: Write = (work, options) =>
    write(async (tx) => {
      const done = await work(tx)
      await storeAnswer(tx, done)
      return done
    }, options)
  const storeRefusal = async (tx: Writer, refusal: AppError) => {
    const refused = refusals.storableFailure(refusal)
    if (!refused) throw new Error(`${refusal.kind} is not stored`)
    await claim.storeAnswer(tx, refused.status, refused.body)
  }
  const attempt = { isResumed: claim.isResumed, storeAnswer, storeRefusal, assertUnused: claim.assertUnused }
  const answer = await run(storingWrite, attempt)
  // A retry gets the same, or the current answer for a stored null.
  return stored ? ((stored.answer ?? answer) as T) : runUntracked(() => storingWrite(async () => answer))
}

async function settleFailure(claim: Claimed, error: unknown, refusals: ClaimRefusals): Promise<void> {
  const refused = refusals.storableFailure(error)
  if (refused) return claim.storeRefusal(refused.status, refused.body)
  // Work that started, or may have, is resumed by the next request with the key.
  return requestOutcome().outcome === 'NOTHING' ? claim.release() : claim.handOver()
}

type StoredRefusal = { statusCode: number; message: string; error?: string; code?: ApiErrorCode; field?: string }

/** Recreates a stored refusal with its `error`, `code` and further fields. */
function refusalOf(status: number, body: string): AppError {
  const { statusCode: _, message, error: word, code, field, ...extra } = JSON.parse(body) as StoredRefusal
  return new AppError(kindOf(status), message, withoutUndefined({ word, code, field, extra }))
}

const kindOf = (status: number): ErrorKind => (Object.keys(statusOf) as ErrorKind[]).find((kind) => statusOf[kind] === status) ?? 'INTERNAL'

/** Identifies the caller: a principal and a shop. Keys count by kind and shop, so a rotated key continues. */
function whoOf(principal: Principal, shop: ShopContext | undefined): string {
  const who = principal.kind !== 'key' ? principal.id : principal.scopes.includes('server') ? 'secret' : 'publishable'
  return [who, ...(shop ? [shop.id] : [])].join(' ')
}
