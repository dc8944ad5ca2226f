/**
 * Asks who is there, for which all else waits: alone in a file that imports nothing, the browser runs it while it still loads the others.
 * lib/session.ts takes the answer, and gives up on it in time.
 */
if (globalThis.soukBegun === undefined) {
  const giveUp = new AbortController()
  const headers = { 'content-type': 'application/json' }
  const answer = fetch('/console/session', { method: 'POST', headers, body: '{}', signal: giveUp.signal })
  // Whoever takes it tells of it.
  answer.catch(() => undefined)
  globalThis.soukBegun = { answer, giveUp }
}
