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
 * The files of tests that are too heavy for plain `bun test`: they drive a browser, crash the program again and again, or generate many cases.
 * Bun does not find them by itself, because of their name.
 */
export const heavyTestFiles = (): string[] => filesThatMatch('test/**/*.heavy.ts')

/** The files of tests that nowhere load what decides the dialect, from the root of the checkout. */
export const engineNeutral = (): string[] =>
  [...testFiles(), ...heavyTestFiles()].filter((file) => !everythingLoadedBy(join(root, file)).has(decider)).toSorted()

/**
 * Tests of the API's document and of the page that shows it, which load an engine and ask it nothing: openapi.test.ts, on both engines, holds
 * the document to the one in docs/, byte for byte.
 */
export const ofTheDocument = ['test/http/docs-browser.heavy.ts', 'test/http/openapi-lint.heavy.ts'] as const

/**
 * Buying in the demo's shops, which begins with a fill of its own: what the fill makes is looked at on both engines by fill.heavy.ts, and what
 * processors decide is tried on both by checkout/processor-calls.test.ts, order/invariants.heavy.ts and faults/payments-crash.heavy.ts.
 */
export const ofTheDemo = ['test/demo/paying.test.ts'] as const

/**
 * The storefront of docs/ in a real browser, which takes its time: a browser is told the same whatever the engine, and what the routes answer is
 * tried on both by their own tests. Run by name it runs on either.
 */
export const ofTheStorefront = ['test/storefront/storefront.heavy.ts'] as const

/**
 * The console in a real browser, likewise, and how its files are made and served, which asks the engine nothing. What its screens call is tried
 * on both by the tests of those routes.
 */
export const ofTheConsole = filesThatMatch('test/console/**/*.{test,heavy}.ts')

/** Tests of how the embedded database's log is followed and shipped, which open its file themselves whatever the rest of the suite runs on. */
export const ofTheFile = ['test/db/log-tail.test.ts', 'test/modules/operations/log-shipping/shipping.test.ts'] as const
