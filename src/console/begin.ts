/**
 * Asks who is there, for which all else waits: alone in a file that imports nothing, the browser runs it while it still loads the others.
 * lib/session.ts takes the answer, and gives up on it in time.
 */
if (globalThis.soukBegun === undefined)
  globalThis.soukBegun = fetch('/console/session', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' })
