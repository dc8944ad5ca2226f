/** Finds test files that do not depend on the database engine. */
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const root = join(import.meta.dir, '..', '..')
/** The only file that selects the SQL dialect (checked by test/import-rules.test.ts). */
const dialectFile = join(root, 'db', 'columns.ts')

const transpiler = new Bun.Transpiler({ loader: 'ts' })
const importsByFile = new Map<string, readonly string[]>()

/** Returns the project's files that a file imports, statically or dynamically. Type imports do not count. */
function importsOf(file: string): readonly string[] {
  const found =
    importsByFile.get(file) ??
    transpiler
      .scanImports(readFileSync(file, 'utf8'))
      .filter(({ path }) => path.startsWith('.') && path.endsWith('.ts'))
      .map(({ path }) => resolve(file, '..', path))
  importsByFile.set(file, found)
  return found
}

function allImportsOf(file: string): Set<string> {
  const all = new Set([file])
  for (const one of all) for (const next of importsOf(one)) all.add(next)
  return all
}

const filesThatMatch = (pattern: string): string[] => [...new Bun.Glob(pattern).scanSync(root)].toSorted()

/** Returns the test files that plain `bun test` finds, relative to the repository's root. */
export const testFiles = (): string[] => filesThatMatch('test/**/*.test.ts')

/**
 * Returns the test files that are too heavy for plain `bun test`: browser, crash loops, many generated cases. Their
 * name hides them from Bun.
 */
export const heavyTestFiles = (): string[] => filesThatMatch('test/**/*.heavy.ts')

/** Returns the test files that do not load the dialect, also indirectly, relative to the repository's root. */
export const engineNeutralFiles = (): string[] =>
  [...testFiles(), ...heavyTestFiles()].filter((file) => !allImportsOf(join(root, file)).has(dialectFile)).toSorted()

/**
 * Tests of the OpenAPI document and its page. openapi.test.ts compares the document with docs/ on both engines, so
 * these run once.
 */
export const apiDocumentTests = ['test/http/docs-browser.heavy.ts', 'test/http/openapi-lint.heavy.ts'] as const

/**
 * Tests of purchases in the demo. On both engines, fill.heavy.ts tests the demo's data, and processor-calls.test.ts,
 * invariants.heavy.ts and payments-crash.heavy.ts test the processors.
 */
export const demoTests = ['test/demo/paying.test.ts'] as const

/** Tests of the storefront of docs/ in a browser. The tests of its routes and rendered pages run on both engines. */
export const storefrontTests = ['test/storefront/browse.heavy.ts', 'test/storefront/storefront.heavy.ts'] as const

/** Tests of the console in a browser, and of its files. The tests of its routes run on both engines. */
export const consoleTestFiles = filesThatMatch('test/console/**/*.{test,heavy}.ts')

/** Tests that follow and ship the log of a SQLite file, which they open on both engines. */
export const sqliteFileTests = ['test/db/log-tail.test.ts', 'test/modules/operations/log-shipping/shipping.test.ts'] as const
