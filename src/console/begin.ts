/**
 * Asks who is there, for which all else waits: alone in a file that imports nothing, and is no module, it runs while the others are still on their
 * way. It sees where those cannot be loaded or run, too. Where it does not come itself, or late, they do without it (lib/session.ts).
 */
{
  // The page runs that script itself; whoever imports it as well gets the same one, or why it is none, which stays for whoever looks for it.
  const script = document.currentScript?.dataset['then']
  const say = (cause: unknown): never => {
    document.documentElement.classList.add('cannot-begin')
    throw cause
  }
  if (script) void import(script).catch(say)

  const giveUp = new AbortController()
  const headers = { 'content-type': 'application/json' }
  let isAsked = false
  // Where another tab is at it, it is left to lib/session.ts, which takes the answer, waits for its turn, and gives up in time.
  const askInTurn = (lock: unknown) => {
    if (!lock || giveUp.signal.aborted) return
    isAsked = true
    return fetch('/console/session', { method: 'POST', headers, body: '{}', signal: giveUp.signal })
  }
  const asked = async (): Promise<Response | undefined> =>
    'locks' in navigator ? navigator.locks.request('souk-console-session', { ifAvailable: true }, askInTurn) : askInTurn(true)
  // Where it fails, or there is no lock to be had, whoever takes it asks again.
  if (globalThis.soukBegun === undefined) globalThis.soukBegun = { answer: asked().catch(() => undefined), giveUp, isAsked: () => isAsked }
}
