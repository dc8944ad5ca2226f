import { describe, expect, test } from 'bun:test'
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createSystemd } from '../../../src/clients/operations/systemd.ts'
import { ProviderError } from '../../../src/core/operations.ts'
import { temporaryDir } from '../../support/database.ts'

const units = ['souk.service', 'caddy.service', 'old.service', 'next.service', 'gone.service']
const block = (id: string, load: string, active: string, sub: string) =>
  `Id=${id}\nLoadState=${load}\nActiveState=${active}\nSubState=${sub}\n`
/** Output of `systemctl show` of systemd 252. */
const output = [
  block('souk.service', 'loaded', 'active', 'running'),
  block('caddy.service', 'loaded', 'failed', 'failed'),
  block('old.service', 'loaded', 'deactivating', 'stop-sigterm'),
  block('next.service', 'loaded', 'activating', 'start-pre'),
  block('gone.service', 'not-found', 'inactive', 'dead'),
].join('\n')

/** Creates a script that replaces `systemctl` and records its arguments. */
function createSystemctl(script: string): { command: string; args: () => string } {
  const folder = temporaryDir()
  const command = join(folder, 'systemctl')
  writeFileSync(command, `#!/bin/sh\necho "$@" > ${folder}/args\n${script}\n`)
  chmodSync(command, 0o755)
  return { command, args: () => readFileSync(join(folder, 'args'), 'utf8').trim() }
}
const scriptThatPrints = (text: string) => `cat <<'END'\n${text}END`
const failureOf = (script: string) =>
  createSystemd({ units, ...createSystemctl(script) })
    .ask()
    .then(
      () => 'none',
      (error: unknown) => (error instanceof ProviderError ? error.message : error),
    )

describe('the provider systemd', () => {
  test('units are reported by state, and requested by name after the end of the options', async () => {
    const { command, args } = createSystemctl(scriptThatPrints(output))
    const services = await createSystemd({ units, command }).ask()
    expect(services.map(({ service, desired, running, pending, state }) => [service, desired, running, pending, state])).toEqual([
      ['souk.service', 1, 1, 0, 'steady'],
      ['caddy.service', 1, 0, 0, 'degraded'],
      ['old.service', 1, 0, 0, 'rolling'],
      ['next.service', 1, 0, 1, 'rolling'],
      ['gone.service', 1, 0, 0, 'unknown'],
    ])
    expect(args()).toBe(`show --no-pager --property=Id,LoadState,ActiveState,SubState -- ${units.join(' ')}`)
  })

  test('a systemctl that fails, returns invalid or long output or is missing is an error without its output', async () => {
    expect(await failureOf('echo "Failed to connect to bus" >&2; exit 1')).toBe('systemctl ended with status 1')
    expect(await failureOf(scriptThatPrints('hello\n'))).toBe('systemctl listed other units than requested')
    expect(await failureOf(scriptThatPrints('a=1\n\nb=1\n\nc=1\n\nd=1\n\ne=1\n'))).toBe('systemctl gave no state')
    expect(await failureOf('yes')).toBe('the output of systemctl is too long')
    const missing = createSystemd({ units, command: join(temporaryDir(), 'systemctl') })
    await expect(missing.ask()).rejects.toThrow('systemctl could not be run')
  })
})
