/** Looks up TXT records. */
import type { TxtAnswer, TxtLookup } from '../core/outgoing.ts'

const absent = ['ENOTFOUND', 'ENODATA']
/** An unreachable server counts as one that does not respond. */
const late = ['ETIMEOUT', 'ECANCELLED', 'ECONNREFUSED']

/**
 * Creates a function that looks up TXT records.
 * @param server `ip[:port]` of a name server; undefined uses those of the system
 * @param timeoutMs for the whole look-up
 */
export function createTxtLookup({ server, timeoutMs = 5_000 }: { server: string | undefined; timeoutMs?: number }): TxtLookup {
  return async (name) => {
    // Loaded on first use, so that the start stays fast.
    const { Resolver } = await import('node:dns/promises')
    // Two attempts of half the time each, so that one lost packet does not fail. One resolver per look-up, so that it
    // can be cancelled alone.
    const resolver = new Resolver({ timeout: Math.ceil(timeoutMs / 2), tries: 2 })
    if (server !== undefined) resolver.setServers([server])
    // The library's timeouts are not exact.
    const timer = setTimeout(() => resolver.cancel(), timeoutMs)
    try {
      return { strings: (await resolver.resolveTxt(name)).flat() }
    } catch (error) {
      return { failure: failureOf((error as { code?: string }).code ?? '') }
    } finally {
      clearTimeout(timer)
    }
  }
}

const failureOf = (code: string): Extract<TxtAnswer, { failure: string }>['failure'] =>
  absent.includes(code) ? 'absent' : late.includes(code) ? 'late' : 'failed'
