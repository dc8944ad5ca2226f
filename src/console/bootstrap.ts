/**
 * Asks who is there, for which all else waits, and has the page run once it has asked: alone in a file that imports nothing, and is no module, it runs
 * while the others are still on their way. Where it does not come, or late, they do without it (bootstrap-fallback.ts, lib/session/session.ts).
 */
{
  /** For so long a lock that is free is waited for: a browser that takes longer to give it gives none. */
  const lockMaxMs = 2_000
  const script = document.currentScript?.dataset['then']
  // It runs once, however often it is imported; why it does not, stays for whoever looks into the browser.
  const goOn = (): undefined => {
    if (script)
      void import(script).catch((cause: unknown) => {
        document.documentElement.classList.add('cannot-begin')
        throw cause
      })
  }

  const giveUp = new AbortController()
  const headers = { 'content-type': 'application/json' }
  let isAsked = false
  // Where another tab is at it, it is left to lib/session.ts, which takes the answer, waits for its turn, and gives up in time.
  const askInTurn = (lock: unknown): Promise<Response> | undefined => {
    if (!lock || giveUp.signal.aborted) return goOn()
    isAsked = true
    const answer = fetch('/console/session', { method: 'POST', headers, body: '{}', signal: giveUp.signal })
    goOn()
    return answer
  }
  const asked = async () =>
    'locks' in navigator ? navigator.locks.request('souk-console-session', { ifAvailable: true }, askInTurn) : askInTurn(true)
  // Where it fails, or there is no lock to be had, whoever takes it asks again.
  if (globalThis.soukBootstrap === undefined) {
    globalThis.soukBootstrap = { answer: asked().catch(goOn), giveUp, isAsked: () => isAsked }
    setTimeout(goOn, lockMaxMs)
  }
}
