/**
 * systemd, which has started this process as a service of `Type=notify`: it is told when we are ready, that we live, and that we stop
 * (sd_notify(3)). Bun cannot write to a datagram socket of the file system, so `systemd-notify` does, a child process each time.
 */
import type { Log } from '../lib/log.ts'

type Environment = Readonly<Record<string, string | undefined>>
export type ServiceManager = {
  /** From now on the service has started; and while the event loop turns, the watchdog is told so. */
  ready(status: string): void
  /** It was told to stop. The watchdog goes on being fed, since what is in flight may take a while. */
  stopping(status: string): void
  /** No more is told. */
  end(): void
}

/** systemd-notify waits by itself until systemd has taken the message, so that it still knows whose it was. */
const childMaxMs = 10_000
/** Told so often within the time that the watchdog waits: one that comes late must not end us. */
const timesInTime = 3

/**
 * @param env what systemd has set: `NOTIFY_SOCKET`, and with `WatchdogSec=` `WATCHDOG_USEC` and `WATCHDOG_PID`
 * @returns undefined where nobody is to be told: then nothing is ever started
 */
export function openServiceManager(env: Environment, log: Log, pid = process.pid): ServiceManager | undefined {
  const socket = env['NOTIFY_SOCKET']
  if (socket === undefined || socket === '') return undefined
  const childEnv = { PATH: env['PATH'] ?? '/usr/bin:/bin', NOTIFY_SOCKET: socket, LC_ALL: 'C' }
  let last: Promise<void> = Promise.resolve()
  let isFeeding = false
  let hasFailed = false
  let timer: ReturnType<typeof setInterval> | undefined

  /** One after the other: what comes later must not be overtaken. */
  const tell = (...words: string[]): Promise<void> => {
    last = last.then(() => notify(words, childEnv)).then(succeeded, failed)
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
          'systemd takes the service for one that does not start, or hangs: see that systemd-notify can be run, and NotifyAccess=all in the unit',
      })
    hasFailed = true
  }

  /** Whoever does not come so far in time, because the loop stands still, is not fed. */
  function feed(): void {
    if (isFeeding) return
    isFeeding = true
    void tell('WATCHDOG=1').finally(() => {
      isFeeding = false
    })
  }

  return {
    ready(status) {
      void tell('READY=1', `STATUS=${status}`)
      const everyMs = watchdogMs(env, pid)
      if (everyMs === undefined) return
      timer = setInterval(feed, everyMs)
      timer.unref()
    },
    stopping: (status) => void tell('STOPPING=1', `STATUS=${status}`),
    end: () => clearInterval(timer),
  }
}

/** How often the watchdog is to be told; undefined where there is none, or it watches another process. */
export function watchdogMs(env: Environment, pid: number): number | undefined {
  const { WATCHDOG_USEC: microseconds = '', WATCHDOG_PID: watched = '' } = env
  if (!/^[1-9]\d{0,15}$/.test(microseconds) || (watched !== '' && watched !== String(pid))) return undefined
  // A timer of Bun's takes no longer one.
  return Math.min(Math.max(1, Math.floor(Number(microseconds) / 1_000 / timesInTime)), 2 ** 31 - 1)
}

async function notify(words: readonly string[], env: Record<string, string>): Promise<void> {
  const child = Bun.spawn(['systemd-notify', ...words], {
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
