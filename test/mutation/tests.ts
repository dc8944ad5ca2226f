/** Which tests answer for which source, and which sources must be held tightly. */
import { existsSync } from 'node:fs'

/** Where amounts of money are made: `bun run mutate` fails when their tests let too much through. */
const moneyFiles = /^src\/(lib\/(money|rounding|decimal)|modules\/((affiliate|cart|fx|gift-card|order|payment)\/domain|cart\/pricing))\.ts$/

/** Whether mutants of a file must be killed or explained. */
export const holdsMoney = (file: string): boolean => moneyFiles.test(file)

/** Tests that stand elsewhere than their source says, or there too; the quick ones first, because the first that fails is enough. */
export const elsewhere: Readonly<Record<string, readonly string[]>> = {
  'src/lib/etag.ts': ['test/modules/catalog/caching.test.ts'],
  'src/modules/affiliate/domain.ts': ['test/modules/affiliate/domain.test.ts', 'test/modules/affiliate/routes.test.ts'],
  'src/modules/auth/domain.ts': ['test/modules/auth/login.test.ts', 'test/modules/merchant/signup.test.ts'],
  'src/modules/checkout/domain.ts': ['test/modules/checkout/domain.test.ts', 'test/modules/checkout/checkout.test.ts'],
  'src/modules/customer/domain.ts': ['test/modules/customer/domain.test.ts', 'test/modules/customer/addresses.test.ts'],
  'src/modules/gift-card/domain.ts': [
    'test/modules/gift-card/domain.test.ts',
    'test/modules/gift-card/routes.test.ts',
    'test/modules/gift-card/tries.test.ts',
  ],
  'src/modules/instance-key/domain.ts': ['test/modules/instance-key/keys.test.ts'],
  'src/modules/countries/domain.ts': ['test/modules/countries/countries.test.ts'],
  'src/modules/sandbox/domain.ts': ['test/modules/checkout/checkout.test.ts', 'test/modules/checkout/webhooks.test.ts'],
  'src/modules/shop/domain.ts': ['test/modules/shop/domain.test.ts', 'test/modules/shop/status.test.ts', 'test/modules/shop/keys.test.ts'],
  'src/modules/webhook/domain.ts': [
    'test/modules/webhook/domain.test.ts',
    'test/modules/webhook/endpoints.test.ts',
    'test/modules/webhook/deliveries.test.ts',
  ],
}

/** The tests of a source: `src/lib/a.ts` has `test/lib/a.test.ts`, unless the table says otherwise. None when there are none. */
export function testsOf(file: string): readonly string[] {
  const beside = file.replace(/^src\//, 'test/').replace(/\.ts$/, '.test.ts')
  return elsewhere[file] ?? (existsSync(beside) ? [beside] : [])
}
