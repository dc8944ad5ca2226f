/** Maps sources to the tests of their mutants, and lists the sources with a minimum score. */
import { existsSync } from 'node:fs'

/** Sources that compute amounts of money. `bun run mutate` fails if too many of their mutants survive. */
const moneyFiles =
  /^src\/(lib\/(money|rounding|decimal)|modules\/((selling|payments)\/(affiliate|cart|fx|gift-card|order|payment)\/domain|selling\/cart\/pricing))\.ts$/

/** Returns whether a file computes money, so that it needs the minimum score. */
export const holdsMoney = (file: string): boolean => moneyFiles.test(file)

/**
 * Tests of sources whose path does not name them all. Fast tests come first, because the first failure ends the run.
 */
export const elsewhere: Readonly<Record<string, readonly string[]>> = {
  'src/lib/etag.ts': ['test/modules/catalog/products/caching.test.ts'],
  'src/modules/selling/affiliate/domain.ts': [
    'test/modules/selling/affiliate/domain.test.ts',
    'test/modules/selling/affiliate/routes.test.ts',
  ],
  'src/modules/identity/auth/domain.ts': ['test/modules/identity/auth/login.test.ts', 'test/modules/identity/merchant/signup.test.ts'],
  'src/modules/selling/checkout/domain.ts': [
    'test/modules/selling/checkout/domain.test.ts',
    'test/modules/selling/checkout/checkout.test.ts',
  ],
  'src/modules/customers/customer/domain.ts': [
    'test/modules/customers/customer/domain.test.ts',
    'test/modules/customers/customer/addresses.test.ts',
  ],
  'src/modules/selling/gift-card/domain.ts': [
    'test/modules/selling/gift-card/domain.test.ts',
    'test/modules/selling/gift-card/routes.test.ts',
    'test/modules/selling/gift-card/tries.test.ts',
  ],
  'src/modules/identity/instance-key/domain.ts': ['test/modules/identity/instance-key/keys.test.ts'],
  'src/modules/shop/countries/domain.ts': ['test/modules/shop/countries/countries.test.ts'],
  'src/modules/payments/sandbox/domain.ts': [
    'test/modules/selling/checkout/checkout.test.ts',
    'test/modules/selling/checkout/webhooks.test.ts',
  ],
  'src/modules/shop/shop/domain.ts': [
    'test/modules/shop/shop/domain.test.ts',
    'test/modules/shop/shop/status.test.ts',
    'test/modules/shop/shop/keys.test.ts',
  ],
  'src/modules/messaging/webhook/domain.ts': [
    'test/modules/messaging/webhook/domain.test.ts',
    'test/modules/messaging/webhook/endpoints.test.ts',
    'test/modules/messaging/webhook/deliveries.test.ts',
  ],
}

/** Returns the tests of a source: those of the table, else `test/lib/a.test.ts` for `src/lib/a.ts` if it exists. */
export function testsOf(file: string): readonly string[] {
  const beside = file.replace(/^src\//, 'test/').replace(/\.ts$/, '.test.ts')
  return elsewhere[file] ?? (existsSync(beside) ? [beside] : [])
}
