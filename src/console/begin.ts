/**
 * Asks who is there, for which all else waits: alone in a file that imports nothing, and is no module, the browser runs it while it still loads the
 * others, and those run once it has asked. Where another tab is at it, it is left to lib/session.ts, which takes the answer, waits for its turn, and
 * gives up in time.
 */
const rest = document.currentScript?.dataset['then']
/** It runs once, however often it is called for. */
function goOn(): undefined {
  if (rest) void import(rest).catch(say)
}
/** Says that the page does not begin, where the browser could not load or run it; what for stays for whoever looks into the browser. */
function say(cause: unknown): never {
  document.querySelector('.not-begun')?.classList.add('is-sure')
  throw cause
}

const giveUp = new AbortController()
const headers = { 'content-type': 'application/json' }
function askInTurn(lock: unknown): Promise<Response> | undefined {
  const answer = lock ? fetch('/console/session', { method: 'POST', headers, body: '{}', signal: giveUp.signal }) : undefined
  goOn()
  return answer
}
const asked = async () =>
  'locks' in navigator ? navigator.locks.request('souk-console-session', { ifAvailable: true }, askInTurn) : askInTurn(true)
// Where it fails, or there is no lock to be had, whoever takes it asks again.
globalThis.soukBegun = { answer: asked().catch(goOn), giveUp }
