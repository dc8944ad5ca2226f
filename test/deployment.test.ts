/** The files by which souk is installed: the unit of systemd by systemd's own tools, the Dockerfile by what it says. */
import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const read = (path: string) => readFileSync(join(import.meta.dir, '..', path), 'utf8')
const unit = read('docs/souk.service')
const valuesOf = (name: string) => [...unit.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value]) => value)

const analyze = Bun.which('systemd-analyze')
if (!analyze) process.stderr.write('skipped: the judgement of the unit (no systemd-analyze; Debian has it in its package systemd)\n')

const folder = mkdtempSync(join(tmpdir(), 'souk-unit-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** What systemd says of the unit as it is, but with a program that is there. */
async function judged(...args: readonly string[]) {
  const file = join(folder, 'souk.service')
  writeFileSync(file, unit.replace('/usr/local/bin/souk', '/bin/true'))
  const { exitCode, stdout, stderr } = await Bun.$`systemd-analyze ${args} ${file}`.nothrow().quiet()
  return { exitCode, said: `${stdout}${stderr}` }
}

test.skipIf(!analyze)('systemd finds no fault with the unit, and little that it could do to the machine', async () => {
  expect(await judged('verify', '--man=no')).toEqual({ exitCode: 0, said: '' })
  // Tenths: 2.0 of 10, where 9.6 is a unit without any hardening.
  const { exitCode, said } = await judged('security', '--offline=true', '--no-pager', '--threshold=20')
  expect([exitCode, said]).toEqual([0, expect.stringMatching(/Overall exposure level for souk\.service: 1\.\d/)])
})

test('the unit lets souk say that it is ready and lives, and gives it the time that it takes to stop', () => {
  expect([valuesOf('Type'), valuesOf('NotifyAccess'), valuesOf('WatchdogSec')]).toEqual([['notify'], ['all'], ['60']])
  // Ten seconds for what is in flight, and jobs beside them; DRAIN_SECONDS comes on top.
  expect(Number(valuesOf('TimeoutStopSec')[0])).toBeGreaterThanOrEqual(30)
  // A copy for a backup takes a lower priority.
  expect(valuesOf('SystemCallFilter')).toEqual(['@system-service', '~@privileged @resources', 'setpriority'])
  expect(valuesOf('MemoryMax')).toEqual(['2G'])
})

test('the image runs as a user of its own, and is asked by a command that there is', () => {
  const dockerfile = read('Dockerfile')
  expect(dockerfile).toMatch(/^USER 10001:10001$/m)
  const asked = [...dockerfile.matchAll(/\["\/usr\/local\/bin\/souk", "([a-z-]+)"\]/g)].map(([, command = '']) => command)
  expect(asked).toEqual(['health'])
  expect(read('src/cli/commands.ts')).toMatch(/^ {2}health: \{$/m)
  expect(dockerfile).toMatch(/^HEALTHCHECK .*--timeout=10s/m)
  // Every base image can be set by digest without a change of the file.
  const images = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, image]) => image)
  const given = [...(dockerfile.split(/^FROM /m)[0]?.matchAll(/^ARG (\w+)=\S+$/gm) ?? [])].map(([, name]) => `\${${name}}`)
  expect(images).toEqual(given)
})
