/**
 * `bun run mutate [FILE …] [TEST …]` runs mutation tests: Stryker changes a file in one small way at a time, and the
 * file's tests run against each mutant. A mutant that passes all tests survives. Without files: all of `lib/` and the
 * domains. The tests are those of test/mutation/tests.ts, or those that the call names (`….test.ts`, `….heavy.ts`).
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { Stryker } from '@stryker-mutator/core'
import { Glob } from 'bun'
import { equivalents } from './equivalents.ts'
import { type Mutation, mutationOf } from './mutation.ts'
import { holdsMoney, testsOf } from './tests.ts'

/** Minimum score of a file that computes money, in percent of the mutants without an explanation. */
const moneyScoreMin = 95

const print = (line: string) => process.stdout.write(`${line}\n`)
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
    // One run per file, because Bun chooses the order of files within a run.
    commandRunner: { command: tests.map((test) => `${runner} ./${test}`).join(' && ') },
    coverageAnalysis: 'off',
    concurrency: 1,
    // Generous, because a timeout counts as killed, and the machine may become busier.
    timeoutMS: 10_000,
    timeoutFactor: 4,
    tempDirName: work,
    ignorePatterns: ['dist', 'data', 'docs/openapi.json', '*.db', '*.db-*'],
    plugins: [],
    reporters: [],
    logLevel: 'error' as NonNullable<Options['logLevel']>,
    disableTypeChecks: false,
    // Without a file, because Stryker reads it by TypeScript's JavaScript API, which TypeScript 7 removed.
    tsconfigFile: 'none',
  })
  const results = await stryker.runMutationTest()
  const of = (status: string) => results.filter((result) => result.status === status).map((result) => mutationOf(source, result))
  const [killed, timeouts, alive] = [of('Killed').length, of('Timeout'), of('Survived')]
  // One entry explains one survivor, because a file can contain the same line twice.
  const reasons = new Set(equivalents.filter((entry) => entry.file === file))
  const survived = alive.filter(({ after }) => {
    const reason = [...reasons].find(({ mutant }) => mutant === after)
    return !reason || !reasons.delete(reason)
  })
  for (const { mutant } of reasons) print(`explained in test/mutation/equivalents.ts, and no survivor any more: ${mutant}`)
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

const args = Bun.argv.slice(2).map((path) => relative(process.cwd(), path))
const isTest = (path: string) => /\.(test|heavy)\.ts$/.test(path)
const testArguments = args.filter(isTest)
const fileArguments = args.filter((path) => !isTest(path))
const missing = args.filter((path) => !existsSync(path))
if (missing.length > 0) {
  print(`no such file: ${missing.join(', ')}`)
  process.exit(1)
}
const sources = [...new Glob('src/**/*.ts').scanSync('.')].sort()
const pure = sources.filter((file) => /^src\/(lib\/|modules\/[^/]+\/[^/]+\/domain\.ts$)/.test(file) && !holdsMoney(file))
const files = fileArguments.length > 0 ? fileArguments : [...sources.filter(holdsMoney), ...pure]

const outcomes: Outcome[] = []
for (const file of files) {
  const tests = testArguments.length > 0 ? testArguments : testsOf(file)
  if (tests.length === 0) {
    print(`${file}: no tests of its own; name them in test/mutation/tests.ts, or behind the file`)
    if (fileArguments.length > 0) process.exitCode = 1
    continue
  }
  const outcome = await mutate(file, tests)
  outcomes.push(outcome)
  print(`${file}: ${outcome.score.toFixed(1)} % of ${outcome.mutants} mutants, by ${tests.join(' ')}`)
  const list = (what: string, mutations: readonly Mutation[]) => {
    for (const { at, before, after } of mutations) print(`  ${what} at ${at}\n    - ${before}\n    + ${after}`)
  }
  list('ran out of time', outcome.timeouts)
  list('survived', outcome.survived)
}

print(`\n${'file'.padEnd(36)}  mutants   killed timeouts survived explained  score`)
for (const outcome of outcomes) {
  const isLow = holdsMoney(outcome.file) && outcome.score < moneyScoreMin
  if (isLow) process.exitCode = 1
  print(report(outcome) + (isLow ? `  below ${moneyScoreMin} %` : ''))
}
process.exit()
