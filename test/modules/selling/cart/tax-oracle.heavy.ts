import { setDefaultTimeout, test } from 'bun:test'
import fc from 'fast-check'
import { checkPurchase } from '../../../support/purchase-checks.ts'
import { purchases } from '../../../support/random-purchases.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

test('prices 100,000 random carts as exact fractions do, and refunds all of each', () => {
  fc.assert(fc.property(purchases, checkPurchase), { numRuns: 100_000 })
})
