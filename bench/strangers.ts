/**
 * Sends searches of unknown platforms, each from another address. Each names another profile, or all name the same one.
 * Ends when every request is answered.
 */
type Input = { url: string; strangersUrl: string; count: number; perSecond: number; isNew?: boolean }

export {}

const { url, strangersUrl, count, perSecond, isNew = true }: Input = JSON.parse(Bun.argv[2] ?? '{}')
const connections = 16
const body = '{"query":"shirt","pagination":{"limit":1}}'
const base = Math.floor(Math.random() * 2 ** 24)
const startedAt = performance.now()
let requestCount = 0

async function sender(): Promise<void> {
  while (requestCount < count) {
    const nth = requestCount++
    if (perSecond > 0) await Bun.sleep(Math.max(0, (nth * 1_000) / perSecond - (performance.now() - startedAt)))
    const address = base + nth
    const headers = {
      'content-type': 'application/json',
      'ucp-agent': `profile="${strangersUrl}${isNew ? crypto.randomUUID() : 'one'}"`,
      'x-forwarded-for': `${100 + (nth & 63)}.${(address >> 16) & 255}.${(address >> 8) & 255}.${address & 255}`,
    }
    const answer = await fetch(url, { method: 'POST', headers, body })
    await answer.arrayBuffer()
    if (answer.status >= 500 && answer.status !== 503) throw new Error(`a stranger got ${answer.status}`)
  }
}

await Promise.all(Array.from({ length: connections }, sender))
