/** Checks the files that install souk: the systemd unit with systemd's tools, and the Dockerfile by its text. */
import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const read = (path: string) => readFileSync(join(import.meta.dir, '..', path), 'utf8')
const unit = read('docs/souk.service')
const valuesOf = (name: string) => [...unit.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value]) => value)

const analyze = Bun.which('systemd-analyze')
if (!analyze) process.stderr.write('skipped: the check of the unit (no systemd-analyze; install the Debian package systemd)\n')

const folder = mkdtempSync(join(tmpdir(), 'souk-unit-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Runs systemd-analyze on the unit, with an existing program in place of souk. */
async function runAnalyze(...args: readonly string[]) {
  const file = join(folder, 'souk.service')
  writeFileSync(file, unit.replace('/usr/local/bin/souk', '/bin/true'))
  const { exitCode, stdout, stderr } = await Bun.$`systemd-analyze ${args} ${file}`.nothrow().quiet()
  return { exitCode, said: `${stdout}${stderr}` }
}

test.skipIf(!analyze)('systemd accepts the unit, and rates its exposure below 2 of 10', async () => {
  expect(await runAnalyze('verify', '--man=no')).toEqual({ exitCode: 0, said: '' })
  // The threshold is in tenths: 20 is 2.0 of 10. A unit without hardening has 9.6.
  const { exitCode, said } = await runAnalyze('security', '--offline=true', '--no-pager', '--threshold=20')
  expect([exitCode, said]).toEqual([0, expect.stringMatching(/Overall exposure level for souk\.service: 1\.\d/)])
})

test('the unit lets souk report readiness and liveness, and allows enough time to stop', () => {
  expect([valuesOf('Type'), valuesOf('NotifyAccess'), valuesOf('WatchdogSec')]).toEqual([['notify'], ['all'], ['60']])
  // Ten seconds for requests in flight, plus running jobs. DRAIN_SECONDS is added to that.
  expect(Number(valuesOf('TimeoutStopSec')[0])).toBeGreaterThanOrEqual(30)
  // A copy for a backup takes a lower priority.
  expect(valuesOf('SystemCallFilter')).toEqual(['@system-service', '~@privileged @resources', 'setpriority'])
  expect(valuesOf('MemoryMax')).toEqual(['2G'])
})

test('the image runs as its own user, and its health check uses an existing command', () => {
  const dockerfile = read('Dockerfile')
  expect(dockerfile).toMatch(/^USER 10001:10001$/m)
  const healthCommands = [...dockerfile.matchAll(/\["\/usr\/local\/bin\/souk", "([a-z-]+)"\]/g)].map(([, command = '']) => command)
  expect(healthCommands).toEqual(['health'])
  expect(read('src/cli/commands.ts')).toMatch(/^ {2}health: \{$/m)
  expect(dockerfile).toMatch(/^HEALTHCHECK .*--timeout=10s/m)
  // Every base image is a build argument, so that it can be pinned by digest without a change of the file.
  const images = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, image]) => image)
  const buildArguments = [...(dockerfile.split(/^FROM /m)[0]?.matchAll(/^ARG (\w+)=\S+$/gm) ?? [])].map(([, name]) => `\${${name}}`)
  expect(images).toEqual(buildArguments)
})
