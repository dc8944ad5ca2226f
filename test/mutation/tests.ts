/** Which tests answer for which source, and which sources must be held tightly. */
import { existsSync } from 'node:fs'

/** Where amounts of money are made: `bun run mutate` fails when their tests let too much through. */
const moneyFiles = /^src\/(lib\/(money|rounding|decimal)|modules\/(affiliate|cart|fx|gift-card|order)\/domain)\.ts$/

/** Whether mutants of a file must be killed or explained. */
export const holdsMoney = (file: string): boolean => moneyFiles.test(file)

/** Tests that stand elsewhere than their source says, or there too. Quick ones first: the first that fails is the last that runs. */
const elsewhere: Readonly<Record<string, readonly string[]>> = {
  'src/modules/affiliate/domain.ts': ['test/modules/affiliate/domain.test.ts', 'test/modules/affiliate/routes.test.ts'],
  'src/modules/gift-card/domain.ts': [
    'test/modules/gift-card/domain.test.ts',
    'test/modules/gift-card/routes.test.ts',
    'test/modules/gift-card/tries.test.ts',
  ],
}

/** The tests of a source: `src/lib/a.ts` has `test/lib/a.test.ts`, unless the table says otherwise. None when there are none. */
export function testsOf(file: string): readonly string[] {
  const beside = file.replace(/^src\//, 'test/').replace(/\.ts$/, '.test.ts')
  return elsewhere[file] ?? (existsSync(beside) ? [beside] : [])
}
