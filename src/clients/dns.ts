/** Asks the DNS for TXT records. */
import type { TxtAnswer, TxtLookup } from '../core/outgoing.ts'

const absent = ['ENOTFOUND', 'ENODATA']
/** A server that cannot be reached is reported as one that is silent. */
const late = ['ETIMEOUT', 'ECANCELLED', 'ECONNREFUSED']

/**
 * @param server `ip[:port]` of a name server; undefined: those of the system
 * @param timeoutMs for the whole look-up
 */
export function createTxtLookup({ server, timeoutMs = 5_000 }: { server: string | undefined; timeoutMs?: number }): TxtLookup {
  return async (name) => {
    // Loaded with the first look-up: a start has nothing to ask.
    const { Resolver } = await import('node:dns/promises')
    // Two attempts of half the time each: one lost packet is no failure. One resolver a look-up, so that it alone is called off.
    const resolver = new Resolver({ timeout: Math.ceil(timeoutMs / 2), tries: 2 })
    if (server !== undefined) resolver.setServers([server])
    // The library's own time-outs are not exact.
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
