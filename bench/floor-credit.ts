/**
 * The bare floor of credit: `Bun.serve` on the same file. Its preview of an envelope verifies the token with the same
 * library, looks up the session, parses the body and computes with the same function. It has no limits and schemas. Its
 * preview of an upgrade reads the stored sums with one statement and returns souk's bytes.
 */
import { Database as Sqlite } from 'bun:sqlite'
import { join } from 'node:path'
import { jwt } from '@elysiajs/jwt'
import { parseConfig } from '../src/config.ts'
import { createKeyring } from '../src/keys.ts'
import { computeEnvelope } from '../src/modules/lending/credit/index.ts'
import { ladderPositionOf } from '../src/modules/lending/credit/ladder.ts'
import { benchSettings } from './seed.ts'

const [dataDir = ''] = Bun.argv.slice(2)
const db = new Sqlite(join(dataDir, 'souk.db'), { readonly: true })
const keyring = createKeyring(parseConfig(benchSettings(dataDir)), false)
const [key] = keyring.jwt()
if (!key) throw new Error('no key that tokens were signed with')
type Verifier = { verify(token: string, options: object): Promise<false | { role?: unknown; sid?: unknown }> }
/** Verifies the token of each request anew, as a hand-written program would. */
const tokens = jwt({ name: 'jwt', secret: key.bytes.toString('base64'), kid: key.version, iss: 'souk', aud: 'souk' }).decorator
  .jwt as unknown as Verifier
const required = { algorithms: ['HS256'], issuer: 'souk', audience: 'souk', requiredClaims: ['exp', 'sub', 'jti', 'sid', 'role'] }
const session = db.prepare<{ subject_id: string }, [string, number]>(
  'SELECT subject_id FROM sessions WHERE id = ? AND revoked_at IS NULL AND expires_at > ? LIMIT 1',
)
type SignalRow = {
  total_on_time: number
  total_late: number
  total_defaults: number
  lender_count: number
  most_recent_settlement_at: number | null
  defaults: number
}
const signals = db.prepare<SignalRow, [number, string]>(
  `SELECT s.*, (SELECT coalesce(sum(defaults), 0) FROM merchant_default_days d WHERE d.merchant_id = s.merchant_id AND d.day > ?) AS defaults
   FROM merchant_repayment_signals s WHERE s.merchant_id = ? LIMIT 1`,
)

const headers = { 'x-content-type-options': 'nosniff', 'content-type': 'application/json;charset=utf-8' }
const refused = () => new Response('{}', { status: 401, headers })

const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  routes: {
    '/admin/lending-application/credit-tier/preview': {
      POST: async (request) => {
        const claims = await tokens.verify((request.headers.get('authorization') ?? '').slice('Bearer '.length), required)
        if (claims === false || claims.role !== 'SUPER_ADMIN' || !session.get(String(claims.sid), Date.now())) return refused()
        return new Response(JSON.stringify(computeEnvelope((await request.json()) as never)), {
          headers: { ...headers, 'cache-control': 'no-store', 'x-request-id': crypto.randomUUID() },
        })
      },
    },
    '/v2/merchant/credit-tier/upgrade-preview/:merchantId': (request) => {
      const { merchantId } = request.params
      const row = signals.get(Math.floor(Date.now() / 86_400_000) - 365, merchantId)
      if (!row) return new Response('{}', { status: 404, headers })
      const totals = {
        totalSettledOnTime: row.total_on_time,
        totalLate: row.total_late,
        totalDefaults: row.total_defaults,
        trailingTwelveMonthDefaults: row.defaults,
        lenderCount: row.lender_count,
      }
      const last = row.most_recent_settlement_at
      const body = JSON.stringify({
        merchantId,
        signals: { ...totals, mostRecentSettlementAt: last === null ? null : new Date(last).toISOString() },
        ...ladderPositionOf({ ...totals, mostRecentSettlementAt: last }),
      })
      return new Response(body, {
        headers: {
          ...headers,
          etag: `"${Bun.hash.xxHash3(body).toString(36)}"`,
          'cache-control': 'public, max-age=0, s-maxage=60',
          'access-control-allow-origin': '*',
          'x-request-id': crypto.randomUUID(),
        },
      })
    },
  },
  fetch: () => new Response(null, { status: 404 }),
})
process.stdout.write(`http://127.0.0.1:${server.port}\n`)
