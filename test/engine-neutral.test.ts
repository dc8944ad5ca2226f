import { expect, setDefaultTimeout, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { engineNeutralFiles } from './support/engine-neutral.ts'
import { longTestMs } from './support/timeouts.ts'

setDefaultTimeout(longTestMs)

const neutral = engineNeutralFiles()

test('tests that use a database, or start a program that may use one, run on both engines', () => {
  for (const file of [
    'test/db/dialect.test.ts',
    'test/db/write.test.ts',
    'test/cli/check.test.ts',
    'test/demo/fill.heavy.ts',
    'test/faults/saga-crash.heavy.ts',
    'test/http/fuzz.heavy.ts',
    'test/jobs/clock.test.ts',
    'test/modules/selling/order/model.heavy.ts',
  ])
    expect([file, neutral.includes(file)]).toEqual([file, false])
  // A path in a string is not an import, so these files must not start programs.
  const starts = /\btestApp\b|\btestDatabase\b|\bstartChild\b|\bBun\.spawn|\bTEST_DATABASE_URL\b/
  const starting = neutral.filter((file) => starts.test(readFileSync(join(import.meta.dir, '..', file), 'utf8')))
  expect(starting).toEqual([])
})

test('tests that load no engine run once', () => {
  for (const file of ['test/lib/money.test.ts', 'test/modules/catalog/import-export/csv.test.ts', 'test/import-rules.test.ts'])
    expect([file, neutral.includes(file)]).toEqual([file, true])
  expect(neutral.length).toBeLessThan([...new Bun.Glob('**/*.test.ts').scanSync(import.meta.dir)].length / 2)
})
