/**
 * Asks who is there, for which all else waits: alone in a file that imports nothing, the browser runs it while it still loads the others. Where another
 * tab is at it, it is left to lib/session.ts, which takes the answer, waits for its turn, and gives up in time.
 */
if (globalThis.soukBegun === undefined) {
  const giveUp = new AbortController()
  const headers = { 'content-type': 'application/json' }
  const ask = () => fetch('/console/session', { method: 'POST', headers, body: '{}', signal: giveUp.signal })
  const inTurn = async () =>
    'locks' in navigator
      ? navigator.locks.request('souk-console-session', { ifAvailable: true }, (lock) => (lock ? ask() : undefined))
      : ask()
  // Where it fails, whoever takes it asks again.
  globalThis.soukBegun = { answer: inTurn().catch(() => undefined), giveUp }
}
