/**
 * `bun run mutate [FILE …] [TEST …]`: breaks each file in every small way that Stryker knows, one way at a time, and runs
 * the file's own tests against it. What no test notices is a survivor. Without files: all of `lib/` and of the domains.
 * The tests of a file are those that test/mutation/tests.ts names, or those that the call names (`….test.ts`, `….heavy.ts`).
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { Stryker } from '@stryker-mutator/core'
import { Glob } from 'bun'
import { equivalents } from './equivalents.ts'
import { type Mutation, mutationOf } from './mutation.ts'
import { holdsMoney, testsOf } from './tests.ts'

/** Percent of the mutants of a file that holds money, without those that are explained. */
const leastForMoney = 95

const say = (line: string) => process.stdout.write(`${line}\n`)
process.chdir(join(import.meta.dir, '../..'))
const work = mkdtempSync(join(tmpdir(), 'souk-mutate-'))
process.on('exit', () => rmSync(work, { recursive: true, force: true }))

type Options = ConstructorParameters<typeof Stryker>[0]
type Outcome = {
  file: string
  mutants: number
  killed: number
  timeouts: Mutation[]
  survived: Mutation[]
  explained: number
  score: number
}

/** Runs the tests against every mutant of a file. @throws Error when they fail without any mutant */
async function mutate(file: string, tests: readonly string[]): Promise<Outcome> {
  const source = await Bun.file(file).text()
  const runner = `${process.execPath} test --bail --timeout 20000 --preload ./test/mutation/seed.ts`
  const stryker = new Stryker({
    mutate: [file],
    testRunner: 'command',
    // One after the other: within one run, Bun chooses the order of the files.
    commandRunner: { command: tests.map((test) => `${runner} ./${test}`).join(' && ') },
    coverageAnalysis: 'off',
    concurrency: 1,
    // Ample, because what runs out of time counts as killed, and the machine may have become busier.
    timeoutMS: 10_000,
    timeoutFactor: 4,
    tempDirName: work,
    ignorePatterns: ['dist', 'data', 'docs/openapi.json', '*.db', '*.db-*'],
    plugins: [],
    reporters: [],
    logLevel: 'error' as NonNullable<Options['logLevel']>,
    disableTypeChecks: false,
    // Stryker would rewrite paths in it by TypeScript's JavaScript API, which TypeScript 7 no longer has. There are none to rewrite.
    tsconfigFile: 'none',
  })
  const results = await stryker.runMutationTest()
  const of = (status: string) => results.filter((result) => result.status === status).map((result) => mutationOf(source, result))
  const [killed, timeouts, alive] = [of('Killed').length, of('Timeout'), of('Survived')]
  // One entry explains one survivor: the same line may stand in a file twice.
  const reasons = new Set(equivalents.filter((entry) => entry.file === file))
  const survived = alive.filter(({ after }) => {
    const reason = [...reasons].find(({ mutant }) => mutant === after)
    return !reason || !reasons.delete(reason)
  })
  for (const { mutant } of reasons) say(`explained in test/mutation/equivalents.ts, and no survivor any more: ${mutant}`)
  if (reasons.size > 0) process.exitCode = 1
  const mutants = killed + timeouts.length + alive.length
  const explained = alive.length - survived.length
  const score = mutants === explained ? 100 : (100 * (killed + timeouts.length)) / (mutants - explained)
  return { file, mutants, killed, timeouts, survived, explained, score }
}

function report({ file, mutants, killed, timeouts, survived, explained, score }: Outcome): string {
  const cells = [mutants, killed, timeouts.length, survived.length, explained].map((count) => String(count).padStart(9))
  return `${file.padEnd(36)}${cells.join('')}${score.toFixed(1).padStart(8)} %`
}

const given = Bun.argv.slice(2).map((path) => relative(process.cwd(), path))
const isTest = (path: string) => /\.(test|heavy)\.ts$/.test(path)
const givenTests = given.filter(isTest)
const givenFiles = given.filter((path) => !isTest(path))
const missing = given.filter((path) => !existsSync(path))
if (missing.length > 0) {
  say(`no such file: ${missing.join(', ')}`)
  process.exit(1)
}
const sources = [...new Glob('src/**/*.ts').scanSync('.')].sort()
const pure = sources.filter((file) => /^src\/(lib\/|modules\/[^/]+\/[^/]+\/domain\.ts$)/.test(file) && !holdsMoney(file))
const files = givenFiles.length > 0 ? givenFiles : [...sources.filter(holdsMoney), ...pure]

const outcomes: Outcome[] = []
for (const file of files) {
  const tests = givenTests.length > 0 ? givenTests : testsOf(file)
  if (tests.length === 0) {
    say(`${file}: no tests of its own; name them in test/mutation/tests.ts, or behind the file`)
    if (givenFiles.length > 0) process.exitCode = 1
    continue
  }
  const outcome = await mutate(file, tests)
  outcomes.push(outcome)
  say(`${file}: ${outcome.score.toFixed(1)} % of ${outcome.mutants} mutants, by ${tests.join(' ')}`)
  const list = (what: string, mutations: readonly Mutation[]) => {
    for (const { at, before, after } of mutations) say(`  ${what} at ${at}\n    - ${before}\n    + ${after}`)
  }
  list('ran out of time', outcome.timeouts)
  list('survived', outcome.survived)
}

say(`\n${'file'.padEnd(36)}  mutants   killed timeouts survived explained  score`)
for (const outcome of outcomes) {
  const isLow = holdsMoney(outcome.file) && outcome.score < leastForMoney
  if (isLow) process.exitCode = 1
  say(report(outcome) + (isLow ? `  below ${leastForMoney} %` : ''))
}
process.exit()
