/**
 * Reports to systemd as a service of `Type=notify`: ready, alive, stopping (sd_notify(3)). Bun cannot write to Unix
 * datagram sockets, so a `systemd-notify` child process does.
 */
import type { Log } from '../lib/log.ts'

type Environment = Readonly<Record<string, string | undefined>>
type ServiceManager = {
  /** Reports that the service is ready and starts the watchdog messages, which stop if the event loop hangs. */
  ready(status: string): void
  /** Reports that the service stops. Watchdog messages continue while requests are in flight. */
  stopping(status: string): void
  /** Ends the watchdog messages. */
  end(): void
}

/** systemd-notify waits until systemd has read the message, so that its sender is known. */
const childMaxMs = 10_000
/** Messages per watchdog interval, so that a late one does no harm. */
const watchdogShare = 3

/**
 * Opens the connection to systemd.
 * @param env set by systemd: `NOTIFY_SOCKET`, and with `WatchdogSec=` also `WATCHDOG_USEC` and `WATCHDOG_PID`
 * @returns undefined without a socket
 */
export function openServiceManager(env: Environment, log: Log, pid = process.pid): ServiceManager | undefined {
  const socket = env['NOTIFY_SOCKET']
  if (socket === undefined || socket === '') return undefined
  const childEnv = { PATH: env['PATH'] ?? '/usr/bin:/bin', NOTIFY_SOCKET: socket, LC_ALL: 'C' }
  let last: Promise<void> = Promise.resolve()
  let isFeeding = false
  let hasFailed = false
  let timer: ReturnType<typeof setInterval> | undefined

  /** Keeps messages in order. */
  const send = (...assignments: string[]): Promise<void> => {
    last = last.then(() => notify(assignments, childEnv)).then(succeeded, failed)
    return last
  }
  function succeeded(): void {
    hasFailed = false
  }
  function failed(error: unknown): void {
    if (!hasFailed)
      log.error('service_manager.not_told', {
        error,
        advice:
          'systemd regards the service as not started, or as hanging: make systemd-notify executable, and set NotifyAccess=all in the unit',
      })
    hasFailed = true
  }

  /** A process whose event loop hangs sends no message. */
  function feed(): void {
    if (isFeeding) return
    isFeeding = true
    void send('WATCHDOG=1').finally(() => {
      isFeeding = false
    })
  }

  return {
    ready(status) {
      void send('READY=1', `STATUS=${status}`)
      const everyMs = watchdogMs(env, pid)
      if (everyMs === undefined) return
      timer = setInterval(feed, everyMs)
      timer.unref()
    },
    stopping: (status) => void send('STOPPING=1', `STATUS=${status}`),
    end: () => clearInterval(timer),
  }
}

/** Returns the interval of watchdog messages; undefined without a watchdog or for another process. */
export function watchdogMs(env: Environment, pid: number): number | undefined {
  const { WATCHDOG_USEC: microseconds = '', WATCHDOG_PID: watched = '' } = env
  if (!/^[1-9]\d{0,15}$/.test(microseconds) || (watched !== '' && watched !== String(pid))) return undefined
  // The longest timer of Bun.
  return Math.min(Math.max(1, Math.floor(Number(microseconds) / 1_000 / watchdogShare)), 2 ** 31 - 1)
}

async function notify(assignments: readonly string[], env: Record<string, string>): Promise<void> {
  const child = Bun.spawn(['systemd-notify', ...assignments], {
    env,
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'ignore',
    timeout: childMaxMs,
    killSignal: 'SIGKILL',
  })
  const status = await child.exited
  if (status !== 0) throw new Error(`systemd-notify ended with status ${status}`)
}
