/** Reads systemd units of this machine with `systemctl show`. */
import { type Provider, ProviderError, type ServiceState, type ServiceStatus } from '../../core/operations.ts'

const properties = ['Id', 'LoadState', 'ActiveState', 'SubState']
const outputMaxBytes = 1024 * 1024
const timeoutMs = 10_000

const stateOf: Readonly<Record<string, ServiceState>> = {
  active: 'steady',
  reloading: 'rolling',
  refreshing: 'rolling',
  activating: 'rolling',
  deactivating: 'rolling',
  inactive: 'degraded',
  failed: 'degraded',
}

/**
 * Creates the provider for systemd units.
 * @param units names such as `souk.service`
 * @param command replaces `systemctl` in tests
 */
export function createSystemd({ units, command = 'systemctl' }: { units: readonly string[]; command?: string }): Provider<ServiceStatus> {
  return {
    name: 'systemd',
    source: `systemd ${units.join()}`,
    async ask() {
      const output = await runCommand([command, 'show', '--no-pager', `--property=${properties.join()}`, '--', ...units])
      const blocks = output.trim().split(/\n\n+/).map(fieldsOf)
      // One block per unit in the same order; an alias shows another name.
      if (blocks.length !== units.length) throw new ProviderError('systemctl listed other units than requested')
      return blocks.map((fields, index) => statusOf(units[index] ?? '', fields))
    },
  }
}

async function runCommand(command: readonly string[]): Promise<string> {
  try {
    const child = Bun.spawn([...command], {
      env: { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C' },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'ignore',
      timeout: timeoutMs,
      killSignal: 'SIGKILL',
    })
    const output = await boundedText(child.stdout)
    if (output === undefined) child.kill('SIGKILL')
    const status = await child.exited
    if (output === undefined) throw new ProviderError('the output of systemctl is too long')
    if (status !== 0) throw new ProviderError(child.signalCode === null ? `systemctl ended with status ${status}` : 'timeout')
    return output
  } catch (error) {
    throw error instanceof ProviderError ? error : new ProviderError('systemctl could not be run', undefined, { cause: error })
  }
}

/** Returns undefined above the limit. */
async function boundedText(stream: ReadableStream<Uint8Array>): Promise<string | undefined> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of stream) {
    length += chunk.length
    if (length > outputMaxBytes) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

const fieldsOf = (block: string): ReadonlyMap<string, string> =>
  new Map(block.split('\n').map((line): [string, string] => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]))

function statusOf(service: string, fields: ReadonlyMap<string, string>): ServiceStatus {
  const active = fields.get('ActiveState')
  if (active === undefined) throw new ProviderError('systemctl gave no state')
  const isLoaded = fields.get('LoadState') === 'loaded'
  const isRunning = active === 'active' || active === 'reloading' || active === 'refreshing'
  return {
    service,
    desired: 1,
    running: isRunning ? 1 : 0,
    pending: active === 'activating' ? 1 : 0,
    revision: 'unknown',
    state: isLoaded ? (stateOf[active] ?? 'unknown') : 'unknown',
  }
}
