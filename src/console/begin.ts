/**
 * Asks who is there, for which all else waits: alone in a file that imports nothing, and is no module, it runs while the others are still on their
 * way. It sees where those cannot be loaded or run, too. Where it does not come itself, or late, they do without it (lib/session.ts).
 */
{
  // Pictures and styles tell of themselves here as well. Of a page that has drawn itself there is nothing to show by then.
  const note = ({ target }: Event) => {
    if (target === window || (target instanceof HTMLScriptElement && target.type === 'module'))
      document.documentElement.classList.add('cannot-begin')
  }
  addEventListener('error', note, { capture: true })

  const giveUp = new AbortController()
  const headers = { 'content-type': 'application/json' }
  // Where another tab is at it, it is left to lib/session.ts, which takes the answer, waits for its turn, and gives up in time.
  const askInTurn = (lock: unknown) =>
    lock ? fetch('/console/session', { method: 'POST', headers, body: '{}', signal: giveUp.signal }) : undefined
  const asked = async (): Promise<Response | undefined> =>
    'locks' in navigator ? navigator.locks.request('souk-console-session', { ifAvailable: true }, askInTurn) : askInTurn(true)
  // Where it fails, or there is no lock to be had, whoever takes it asks again.
  if (globalThis.soukBegun === undefined) globalThis.soukBegun = { answer: asked().catch(() => undefined), giveUp }
}
