/** Tests that are the same whatever the engine. */
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const root = join(import.meta.dir, '..', '..')
/** The one place that decides the dialect (test/import-rules.test.ts holds it to that). */
const decider = join(root, 'db', 'columns.ts')

const transpiler = new Bun.Transpiler({ loader: 'ts' })
const known = new Map<string, readonly string[]>()

/** The files of ours that a file loads, at once or on demand. Types load nothing. */
function loadedBy(file: string): readonly string[] {
  const found =
    known.get(file) ??
    transpiler
      .scanImports(readFileSync(file, 'utf8'))
      .filter(({ path }) => path.startsWith('.') && path.endsWith('.ts'))
      .map(({ path }) => resolve(file, '..', path))
  known.set(file, found)
  return found
}

function everythingLoadedBy(file: string): Set<string> {
  const all = new Set([file])
  for (const one of all) for (const next of loadedBy(one)) all.add(next)
  return all
}

const filesThatMatch = (pattern: string): string[] => [...new Bun.Glob(pattern).scanSync(root)].toSorted()

/** The files of tests that plain `bun test` finds, from the root of the checkout. */
export const testFiles = (): string[] => filesThatMatch('test/**/*.test.ts')

/**
 * Returns the test files that are too heavy for plain `bun test`: browser, crash loops, many generated cases. Bun does
 * not find them, because of their name.
 */
export const heavyTestFiles = (): string[] => filesThatMatch('test/**/*.heavy.ts')

/** The files of tests that nowhere load what decides the dialect, from the root of the checkout. */
export const engineNeutralFiles = (): string[] =>
  [...testFiles(), ...heavyTestFiles()].filter((file) => !everythingLoadedBy(join(root, file)).has(decider)).toSorted()

/**
 * Tests of the API's document and its page. They do not depend on the engine: openapi.test.ts compares the document with
 * docs/ on both engines.
 */
export const apiDocumentTests = ['test/http/docs-browser.heavy.ts', 'test/http/openapi-lint.heavy.ts'] as const

/**
 * Buying in the demo's shops. fill.heavy.ts tests the filled demo on both engines; processor-calls.test.ts,
 * invariants.heavy.ts and payments-crash.heavy.ts test the processors on both.
 */
export const demoTests = ['test/demo/paying.test.ts'] as const

/** The storefront of docs/ in a browser. The tests of its routes run on both engines. */
export const storefrontTests = ['test/storefront/storefront.heavy.ts'] as const

/** The console in a browser, and its files. The tests of the routes that it calls run on both engines. */
export const consoleTestFiles = filesThatMatch('test/console/**/*.{test,heavy}.ts')

/** Tests of following and shipping the log of the SQLite file, which they open themselves on either engine. */
export const sqliteFileTests = ['test/db/log-tail.test.ts', 'test/modules/operations/log-shipping/shipping.test.ts'] as const
