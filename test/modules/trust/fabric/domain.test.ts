import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { type SchemaName, schemaNames } from '../../../../src/lib/eas.ts'
import {
  activeTimesOf,
  alwaysActive,
  attestersOf,
  covers,
  firstDifference,
  grantsOf,
  isCounted,
  isGranted,
  mergePeriods,
  type OwnedWallet,
  type Owner,
  overlap,
  registryHash,
} from '../../../../src/modules/trust/fabric/domain.ts'

/** Few moments, so that periods often meet at their ends. */
const last = 24
const moment = fc.integer({ min: 0, max: last })
const moments = Array.from({ length: last + 2 }, (_, at) => at)
const period = fc.record({ fromAt: moment, toAt: fc.option(moment) })
const status = fc.constantFrom('PENDING_KYB', 'ACTIVE', 'SUSPENDED', 'ARCHIVED')
/** Times in any order, as after a clock that stepped back. */
const history = fc.array(fc.record({ status, at: moment }), { maxLength: 8 })
const owner = fc.constantFrom<Owner>('PLATFORM', 'LENDER', 'PROVIDER')
const address = fc.constantFrom('0xaa', '0xbb', '0xcc')
const wallet = fc.record({ address, owner, period, history })
const schema = fc.constantFrom<SchemaName>(...schemaNames)

const wasActive = (entries: readonly { status: string; at: number }[], at: number) =>
  entries.findLast((entry) => entry.at <= at)?.status === 'ACTIVE'
const ownedWalletOf = ({
  address,
  owner,
  period,
  history,
}: typeof wallet extends fc.Arbitrary<infer Wallet> ? Wallet : never): OwnedWallet => ({
  address,
  owner,
  ...period,
  activeTimes: owner === 'PLATFORM' ? alwaysActive : activeTimesOf(history),
})

test('an owner is active at a moment if the last stored entry up to it says so, also after the clock stepped back', () => {
  fc.assert(
    fc.property(history, (entries) => {
      const times = activeTimesOf(entries)
      for (const at of moments) expect([at, times.some((time) => covers(time, at))]).toEqual([at, wasActive(entries, at)])
    }),
  )
})

test('firstDifference returns the first moment at which two lists of periods differ', () => {
  fc.assert(
    fc.property(fc.array(period), fc.array(period), (some, others) => {
      const [one, other] = [mergePeriods(some), mergePeriods(others)]
      const isIn = (all: typeof one, at: number) => all.some((each) => covers(each, at))
      expect(firstDifference(one, other)).toBe(moments.find((at) => isIn(one, at) !== isIn(other, at)))
    }),
  )
})

test('merged periods cover the same moments in order without touching', () => {
  fc.assert(
    fc.property(fc.array(period), (periods) => {
      const merged = mergePeriods(periods)
      for (const at of moments) {
        expect(merged.filter((one) => covers(one, at)).length).toBe(periods.some((one) => covers(one, at)) ? 1 : 0)
      }
      for (const [index, next] of merged.entries()) {
        const before = merged[index - 1]
        if (before) expect(before.toAt !== null && before.toAt < next.fromAt).toBe(true)
      }
    }),
  )
})

test('two periods overlap if some moment is in both', () => {
  fc.assert(
    fc.property(period, period, (one, other) => {
      fc.pre([one, other].every(({ fromAt, toAt }) => toAt === null || fromAt < toAt))
      expect(overlap(one, other)).toBe(moments.some((at) => covers(one, at) && covers(other, at)))
    }),
  )
})

test('an address has a grant while one of its wallets covers the moment and its permitted owner was active', () => {
  fc.assert(
    fc.property(fc.array(wallet, { maxLength: 6 }), (wallets) => {
      const grants = grantsOf(wallets.map(ownedWalletOf))
      for (const name of schemaNames) {
        for (const attester of ['0xaa', '0xbb', '0xcc']) {
          const ofAddress = grants.filter((grant) => grant.address === attester)
          for (const at of moments) {
            const expected = wallets.some(
              ({ address, owner, period, history }) =>
                address === attester &&
                attestersOf[name].includes(owner) &&
                covers(period, at) &&
                (owner === 'PLATFORM' || wasActive(history, at)),
            )
            expect(isGranted(ofAddress, name, at)).toBe(expected)
          }
        }
      }
      // The table's key and the rule "never two that overlap or touch" require this.
      for (const [index, grant] of grants.entries()) {
        const before = grants[index - 1]
        if (before?.address === grant.address && before.schema === grant.schema) {
          expect(before.toAt !== null && before.toAt < grant.fromAt).toBe(true)
        }
        if (before) expect(before.address <= grant.address).toBe(true)
      }
    }),
  )
})

test('a wallet that passes to another owner without a gap is one grant', () => {
  const wallets = [
    { address: '0xaa', owner: 'LENDER', fromAt: 0, toAt: 10, activeTimes: [{ fromAt: 0, toAt: null }] },
    { address: '0xaa', owner: 'PLATFORM', fromAt: 10, toAt: null, activeTimes: alwaysActive },
  ] as const
  expect(grantsOf(wallets)).toEqual([
    { address: '0xaa', schema: 'A', fromAt: 10, toAt: null },
    { address: '0xaa', schema: 'B', fromAt: 0, toAt: 10 },
    { address: '0xaa', schema: 'C', fromAt: 0, toAt: null },
  ])
})

test('an attestation counts while it is not revoked and was granted at its time; one of schema D must be about another address', () => {
  fc.assert(
    fc.property(schema, fc.boolean(), fc.option(moment), moment, fc.array(wallet), (name, isOfSelf, revokedBlock, blockAt, wallets) => {
      const grants = grantsOf(wallets.map((one) => ({ ...ownedWalletOf(one), address: '0xaa' })))
      expect(isCounted({ schema: name, isOfSelf, revokedBlock, blockAt }, grants)).toBe(
        isGranted(grants, name, blockAt) && revokedBlock === null && (name !== 'D' || !isOfSelf),
      )
    }),
  )
})

test('the hash of the registry depends on its lines but not on their order', () => {
  const grants = [
    { address: '0xbb', schema: 'B', fromAt: 1_700_000_000_000, toAt: null },
    { address: '0xaa', schema: 'C', fromAt: 9, toAt: 10 },
    { address: '0xaa', schema: 'C', fromAt: 100, toAt: 200 },
    { address: '0xaa', schema: 'A', fromAt: 100, toAt: null },
  ] as const
  const text = '0xaa A 100 -\n0xaa C 9 10\n0xaa C 100 200\n0xbb B 1700000000000 -\n'
  expect(registryHash(grants)).toBe(new Bun.CryptoHasher('sha256').update(text).digest('hex'))
  expect(registryHash(grants.toReversed())).toBe(registryHash(grants))
  expect(registryHash(grants.slice(1))).not.toBe(registryHash(grants))
  expect(registryHash([])).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855')
})
